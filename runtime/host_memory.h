// The memory of a device that works in the host's own address space: a range reserved once, filled page by page as it is touched.
#pragma once
#include "runtime/device_memory.h"
#include <memory>

namespace dougong {

class HostMemory {
public:
  static llvm::Expected<std::unique_ptr<HostMemory>> reserve(uint64_t bytes);
  ~HostMemory();
  DeviceMemory memory;

private:
  HostMemory(uint8_t *start, uint64_t bytes) : memory(start, reinterpret_cast<uint64_t>(start), bytes), start(start), bytes(bytes) {}
  uint8_t *start;
  uint64_t bytes;
};

uint64_t physical_memory_bytes();

} // namespace dougong
