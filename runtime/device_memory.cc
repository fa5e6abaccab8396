// First fit, holes merged when memory comes back.
#include "runtime/device_memory.h"
#include <cstring>
#include <iterator>
#include <sys/mman.h>

namespace dougong {
namespace {

constexpr uint64_t page = 4096;

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// Zero again; whole pages go back to the system.
void zero(uint8_t *from, uint64_t bytes) {
  auto begin = round_up(reinterpret_cast<uintptr_t>(from), page), end = (reinterpret_cast<uintptr_t>(from) + bytes) / page * page;
  if (bytes < 16 * page || madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED) != 0) {
    std::memset(from, 0, bytes);
    return;
  }
  std::memset(from, 0, begin - reinterpret_cast<uintptr_t>(from));
  std::memset(reinterpret_cast<void *>(end), 0, reinterpret_cast<uintptr_t>(from) + bytes - end);
}

} // namespace

DeviceMemory::DeviceMemory(uint8_t *host, uint64_t base, uint64_t bytes) : host(host), base(base), bytes(bytes / alignment * alignment) {
  if (this->bytes)
    holes[base] = this->bytes;
}

llvm::Expected<uint64_t> DeviceMemory::allocate(uint64_t asked) {
  std::lock_guard lock(mutex);
  if (asked > bytes)
    return fail(Status::OutOfMemory, "device memory: {} bytes were asked for, the device has {} in all", asked, bytes);
  uint64_t held = std::max(round_up(asked, alignment), alignment);
  for (auto hole = holes.begin(); hole != holes.end(); ++hole) {
    auto [address, room] = *hole;
    if (room < held)
      continue;
    holes.erase(hole);
    if (room > held)
      holes[address + held] = room - held;
    live[address] = {asked, held};
    return address;
  }
  uint64_t largest = 0, total = 0;
  for (auto [address, room] : holes)
    largest = std::max(largest, room), total += room;
  return fail(Status::OutOfMemory, "device memory: {} bytes were asked for; {} of {} are free, the largest piece has {}", asked, total,
              bytes, largest);
}

llvm::Error DeviceMemory::free(uint64_t address) {
  std::lock_guard lock(mutex);
  auto found = live.find(address);
  if (found == live.end())
    return fail(Status::Invalid, "device memory: no allocation begins at {:#x}; free takes the address that allocate gave, once", address);
  uint64_t held = found->second.held;
  live.erase(found);
  zero(host + (address - base), held);
  auto next = holes.lower_bound(address);
  if (next != holes.end() && next->first == address + held) {
    held += next->second;
    next = holes.erase(next);
  }
  if (next != holes.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == address) {
      before->second += held;
      return llvm::Error::success();
    }
  }
  holes[address] = held;
  return llvm::Error::success();
}

llvm::Expected<uint8_t *> DeviceMemory::map(uint64_t address, uint64_t wanted) const {
  std::lock_guard lock(mutex);
  auto after = live.upper_bound(address);
  if (after == live.begin())
    return fail(Status::Invalid, "device memory: {:#x} is in no allocation", address);
  auto [start, allocation] = *std::prev(after);
  if (address - start > allocation.asked || (address - start == allocation.asked && wanted && allocation.asked))
    return fail(Status::Invalid, "device memory: {:#x} is in no allocation", address);
  if (wanted > allocation.asked - (address - start))
    return fail(Status::Invalid, "device memory: {} bytes at {:#x} go beyond their allocation of {} bytes at {:#x}", wanted, address,
                allocation.asked, start);
  return host + (address - base);
}

uint64_t DeviceMemory::size_of(uint64_t address) const {
  std::lock_guard lock(mutex);
  auto found = live.find(address);
  return found == live.end() ? 0 : found->second.held;
}

uint64_t DeviceMemory::in_use() const {
  std::lock_guard lock(mutex);
  uint64_t total = 0;
  for (auto &[address, allocation] : live)
    total += allocation.held;
  return total;
}

} // namespace dougong
