// Allocation from one range of device memory that the host sees: first fit over a list of holes.
//
// Every device has one. Freed memory is zeroed at once, so that an allocation is always zero and nobody sees another's data.
#pragma once
#include "runtime/status.h"
#include <cstdint>
#include <map>
#include <mutex>

namespace dougong {

class DeviceMemory {
public:
  static constexpr uint64_t alignment = 128;

  // `host` is where the host sees device address `base`; the range must read as zeros.
  DeviceMemory(uint8_t *host, uint64_t base, uint64_t bytes);

  llvm::Expected<uint64_t> allocate(uint64_t bytes);
  llvm::Error free(uint64_t address);
  llvm::Expected<uint8_t *> map(uint64_t address, uint64_t bytes) const;
  uint64_t size_of(uint64_t address) const; // of a live allocation that begins there, rounded up; else 0
  uint64_t capacity() const { return bytes; }
  uint64_t in_use() const;

private:
  uint8_t *const host;
  const uint64_t base, bytes;
  mutable std::mutex mutex;
  struct Allocation {
    uint64_t asked, held;
  };
  std::map<uint64_t, Allocation> live; // by address
  std::map<uint64_t, uint64_t> holes;  // address → bytes; no two touch
};

} // namespace dougong
