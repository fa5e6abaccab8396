// The device model: an NPU of a given machine description that runs machine code with real numerics, and, in timing
// mode, says how long it would take.
//
// One object is one device: its cores, DRAM, and what is loaded. Not thread-safe; calls return when the device is done.
// Functional and timing mode, and any number of cores, give the same bits (D5, D6).
#pragma once
#include "isa/machine_layout.h"
#include "machines/machine.h"
#include "sim/statistics.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dougong::sim {

struct Options {
  bool timing = false;
  bool check_races = false;          // find accesses to LM, ACC and (by copies) DRAM that no wait orders (slower): Status::race
  bool check_memory = false;         // find reads of LM and ACC that nothing has written since the launch began (slower): Status::fault
  int cores = 0;                     // 0: all that the machine has
  uint64_t max_instructions = 0;     // of one launch or program, all cores together; 0: no limit
  uint64_t dram_bytes = 64ull << 30; // address space only: a page costs host memory when it is touched
  std::optional<int> gdb_port =
      {};                      // a program or launch waits for gdb on this port of the loopback address, and runs under it; 0: any free one
  std::string trace_file = {}; // Perfetto (Chrome JSON) trace of engines and cores; timing mode only
};

// An ELF executable in the device's memory.
struct Image {
  uint64_t begin = 0, end = 0; // what it covers in DRAM
  uint64_t entry = 0;
  std::map<std::string, uint64_t, std::less<>> symbols; // functions and objects, where they are now
};

// The file is not a program for this device: says what is wrong with it.
struct LoadError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Result {
  enum class Status { done, exited, fault, deadlock, limit, race } status = Status::done;
  int exit_code = 0;     // of a program that exited
  std::string message;   // fault, deadlock, limit, race: what, on which core, at which pc, symbol and source line
  Statistics statistics; // of this launch or program alone
  bool ok() const { return status == Status::done || (status == Status::exited && exit_code == 0); }
};

class DeviceModel {
public:
  explicit DeviceModel(const Machine &machine, Options options = {});
  ~DeviceModel();
  DeviceModel(const DeviceModel &) = delete;

  const Machine &machine() const;
  int cores() const;

  // Global memory. Device address DG_DRAM_BASE + i is host byte dram()[i], so the host beside the NPU works in the same memory.
  uint8_t *dram();
  uint64_t dram_bytes() const;

  // Regions that device code may touch, by any scalar or DMA access; outside them it faults. `map` of a range that overlaps
  // a mapped one throws std::invalid_argument, and so does a range outside DRAM. `name` appears in faults.
  void map(uint64_t address, uint64_t bytes, std::string name);
  void unmap(uint64_t address);

  // Places an ELF executable: at the addresses it is linked for, or moved so that it begins at `address` (128-byte aligned) if it
  // is position independent (ET_DYN, or linked with --emit-relocs). Maps it; unload unmaps it. Throws LoadError.
  const Image &load(std::string_view elf, std::optional<uint64_t> address = {});
  void unload(const Image &image);
  // Bytes of DRAM an ELF executable wants, for whoever chooses its address. Throws LoadError.
  static uint64_t image_bytes(std::string_view elf);

  // Runs a kernel on all cores (isa/machine_layout.h): core c of N runs programs [c·programs/N, (c+1)·programs/N), step 1.
  Result launch(uint64_t entry, uint64_t launch_block, uint64_t programs);

  // Runs a C program from the image's entry on core 0, with semihosting (its output goes to the host's stdout and stderr). The first of
  // `arguments` is its name. It may open the host's files in the folder `files` (empty: none). Its heap lies from its end to the symbol
  // __heap_end, its stack from __stack_begin to __stack, and what is between faults (backend/device/program.ld). An image without these
  // symbols has 1 GiB above it for both.
  Result run_program(const Image &image, const std::vector<std::string> &arguments, const std::string &files = "");

  const Statistics &statistics() const; // since construction

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace dougong::sim
