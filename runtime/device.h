// One device API (D11): an NPU, the CPU and the null device through the same few verbs.
//
// Verbs here are synchronous; `stream.h` queues them in order and gives events. Addresses are the device's own. On an NPU
// memory is the model's DRAM, which the host sees too (`map`), as on a phone whose NPU and CPU share one memory: a kernel on
// the CPU may work on memory of the NPU without a copy. On `cpu` and `null` an address is a host pointer.
//
// A failed call leaves the device usable. Calls may come from several threads; launches on one device run one at a time.
#pragma once
#include "runtime/status.h"
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dougong {

struct Machine;

// What a launch, or everything since the device was opened, cost. Counters that a device does not have are 0 or empty.
struct Statistics {
  struct Engine { // summed over cores; busy + stalled + idle = cycles x cores of the device
    uint64_t busy = 0, stalled = 0, idle = 0;
  };
  uint64_t launches = 0;
  uint64_t programs = 0;
  double host_seconds = 0;                    // by the host's clock: what running (or simulating) took
  bool timed = false;                         // the device kept time: cycles, seconds, engines, stalls and energy are valid
  uint64_t cycles = 0;                        // from the launch reaching the device to its last core being done
  double seconds = 0;                         // cycles by the device's clock
  std::map<std::string, Engine> engines;      // "core" (issuing), "tensor", "drain", "load 0", …
  std::map<std::string, uint64_t> stalls;     // of "core", by cause
  std::map<std::string, double> energy_joule; // by part ("dram", "lm", "static", …); the total is their sum
  uint64_t instructions = 0;
  uint64_t tensor_macs = 0;     // multiply-adds the tensor engine did
  uint64_t tensor_int_macs = 0; // of these, on 8-bit integers
  uint64_t vector_instructions = 0;
  uint64_t l2_dirty = 0;                 // bytes that L2 has at the end and DRAM has not: still to be written, and in no counter
  double l2_dirty_joule = 0;             // what that will take of DRAM's energy; in no part of `energy_joule`
  std::map<std::string, uint64_t> bytes; // by level and direction: "dram read", "dram written", "l2 read", "lm read", …

  void add(const Statistics &other);
  double energy() const; // joule
};

struct DeviceInfo {
  std::string kind;        // "npu", "cpu", "null"
  std::string description; // one line for people
  std::string machine;     // of an NPU: the machine's name
  unsigned cores = 0;
  uint64_t memory_bytes = 0;
};

// Handles are numbers that the device checks: a stale or made-up one is an error, never a crash. 0 is none.
enum class ModuleHandle : uint64_t { None = 0 };
enum class KernelHandle : uint64_t { None = 0 };

class Device {
public:
  // "cpu", "cpu:4" (threads), "npu", "npu:phone", "npu:server,timing", "npu:my.toml,timing,cores=2", "npu:phone,gdb=1234" (launches wait
  // for a debugger), "null"; an NPU's last option may be "trace=FILE".
  static llvm::Expected<std::shared_ptr<Device>> open(std::string_view spec);
  static std::vector<std::string> available(); // specs worth showing to people

  virtual ~Device() = default;
  virtual DeviceInfo info() const = 0;
  virtual const Machine *machine() const { return nullptr; } // of an NPU

  // Zeroed memory, aligned to 128 bytes (a vector). 0 bytes is a valid allocation with an address of its own.
  virtual llvm::Expected<uint64_t> allocate(uint64_t bytes) = 0;
  virtual llvm::Error free(uint64_t address) = 0;
  // The host's view of memory within one allocation; valid until that is freed.
  virtual llvm::Expected<uint8_t *> map(uint64_t address, uint64_t bytes) = 0;
  llvm::Error copy_in(uint64_t address, const void *source, uint64_t bytes);
  llvm::Error copy_out(void *destination, uint64_t address, uint64_t bytes);

  // `image` is what compiler/kernel.h's CompiledModule has for this kind of device.
  virtual llvm::Expected<ModuleHandle> load(std::string_view image) = 0;
  virtual llvm::Error unload(ModuleHandle module) = 0; // its kernels' handles end with it
  virtual llvm::Expected<KernelHandle> kernel(ModuleHandle module, std::string_view name) = 0;

  // Runs the whole grid and returns when it is done. `arguments` are launch slots (isa/machine_layout.h).
  virtual llvm::Expected<Statistics> launch(KernelHandle kernel, std::array<uint64_t, 3> grid, std::span<const uint64_t> arguments) = 0;

  virtual Statistics statistics() const = 0; // since the device was opened
};

} // namespace dougong
