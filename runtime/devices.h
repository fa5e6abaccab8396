// The devices, one function each, and what they share.
#pragma once
#include "runtime/device.h"
#include <optional>

namespace dougong {

struct NpuOptions {
  std::string machine = "phone";
  bool timing = false;
  bool check_memory = false; // find reads of on-chip memory that nothing has written: a launch with one fails
  bool check_races = false;  // find accesses to on-chip memory that no wait orders: a launch with one fails
  int cores = 0;             // 0: as many as the machine has
  std::optional<int> gdb;    // a port of the loopback address, 0 for any: each launch waits there for gdb-multiarch, and runs under it
  std::string trace;         // a file for a timeline of cores and engines (Perfetto reads it); needs timing
};

llvm::Expected<std::shared_ptr<Device>> open_null_device();                  // accepts all, computes nothing
llvm::Expected<std::shared_ptr<Device>> open_cpu_device(unsigned threads);   // 0: one a hardware thread
llvm::Expected<std::shared_ptr<Device>> open_npu_device(const NpuOptions &); // the device model

// x * y * z, or an error if that is no sensible number.
llvm::Expected<uint64_t> program_count(const std::array<uint64_t, 3> &grid);

} // namespace dougong
