// Global memory: DRAM as one lazily backed host mapping, and the regions of it that device code may touch.
//
//   device address DG_DRAM_BASE + i   =   host byte base + i
//
// So the host shares the memory (a phone's unified memory), and a checked access costs a comparison and an addition.
#pragma once
#include "isa/machine_layout.h"
#include <cstdint>
#include <map>
#include <string>

namespace dougong::sim {

struct Region {
  uint64_t begin = 0, bytes = 0;
  std::string name;
  uint64_t end() const { return begin + bytes; }
  bool holds(uint64_t address, uint64_t size) const { return address >= begin && size <= bytes && address - begin <= bytes - size; }
};

class GlobalMemory {
public:
  explicit GlobalMemory(uint64_t bytes);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory &) = delete;

  uint8_t *base() const { return bytes_base; }
  uint64_t bytes() const { return byte_count; }
  uint8_t *host(uint64_t address) const { return bytes_base + (address - DG_DRAM_BASE); }
  bool inside(uint64_t address, uint64_t size) const {
    return address >= DG_DRAM_BASE && size <= byte_count && address - DG_DRAM_BASE <= byte_count - size;
  }

  void clear(uint64_t address, uint64_t size); // to zeros; pages that are cleared as a whole cost nothing

  void map(uint64_t address, uint64_t size, std::string name); // throws std::invalid_argument
  void unmap(uint64_t address);
  const Region *find(uint64_t address) const;                // the region that holds this byte, or null
  const Region *find(uint64_t address, uint64_t size) const; // that holds all of it
  uint64_t next_mapped(uint64_t address) const;              // where the first region at or above address begins; the end of DRAM if none
  const std::map<uint64_t, Region> &mapped() const { return regions; } // by where they begin
  std::string describe(uint64_t address) const;                        // for faults: what is mapped around an address

private:
  uint8_t *bytes_base;
  uint64_t byte_count;
  std::map<uint64_t, Region> regions; // by begin; disjoint
};

} // namespace dougong::sim
