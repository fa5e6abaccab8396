// What of a core's local and accumulator memory has been written since its launch began: to find who reads a byte that nobody has
// written, on demand, as a memory sanitizer does. The model keeps LM and ACC from launch to launch, and begins with zeros; a chip has
// what was left there. Vector loads are not looked at: vectors run over the ends of rows, tiles over the edges of their tensors, and what
// is computed there the clipped store leaves out. (What becomes of such a value in registers is not followed.)
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace dougong::sim {

class WrittenMemory {
public:
  WrittenMemory(uint64_t lm_bytes, uint64_t acc_bytes) : lm(lm_bytes), acc(acc_bytes) {}
  void reset() {
    std::fill(lm.begin(), lm.end(), 0);
    std::fill(acc.begin(), acc.end(), 0);
  }
  // An access; of a read, the first byte that nobody has written, or -1.
  int64_t lm_access(uint64_t offset, uint64_t bytes, bool write) { return access(lm, offset, bytes, write); }
  int64_t acc_access(uint64_t offset, uint64_t bytes, bool write) { return access(acc, offset, bytes, write); }

private:
  static int64_t access(std::vector<uint8_t> &written, uint64_t offset, uint64_t bytes, bool write) {
    auto first = written.begin() + int64_t(offset), end = first + int64_t(bytes);
    if (write)
      std::fill(first, end, 1);
    auto unwritten = std::find(first, end, 0);
    return unwritten == end ? -1 : unwritten - written.begin();
  }
  std::vector<uint8_t> lm, acc; // 1: written
};

} // namespace dougong::sim
