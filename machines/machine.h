// A machine description: what a device is made of, how fast its parts are, and what they cost in energy.
//
// The one C++ view of the files in machines/*.toml. The model's timing and the compiler's choices both read it; results
// never depend on it. Key names carry their unit, and a field here has the name of its key.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dougong {

struct Machine {
  std::string name;

  struct Device {
    int cores;         // identical NPU cores
    double clock_ghz;  // one clock for cores, engines, L2
    int launch_cycles; // from a launch reaching the device to the first instruction of its cores
  } device;

  struct Core {
    int issue_width;           // instructions a cycle: 1 scalar/branch, 2 vector arithmetic, 1 memory
    int lm_kib;                // local memory
    int acc_kib;               // accumulator memory of the tensor engine
    int lm_banks;              // LM is interleaved over its banks
    int lm_bank_bytes;         // bytes a bank gives or takes in a cycle
    int instruction_cache_kib; // timing only
    int prefetch_lines;        // that follow one which the instruction cache missed, and are fetched with it
    int data_cache_kib;        // timing only; scalar accesses to DRAM
    int cache_miss_cycles;     // beyond the latency of L2 or DRAM
    int branch_miss_cycles;
  } core;

  struct Tensor {
    int rows;                                        // output rows (m) and
    int columns;                                     // columns (n) of one step; int8 MAC a cycle = rows x columns
    int startup_cycles;                              // from a command's start to its first step
    double int8_rate, fp8_rate, f16_rate, bf16_rate; // steps (k) a cycle
    int drain_bytes_per_cycle;                       // read from ACC
    int drain_startup_cycles;
    int queue_depth; // commands an engine's queue holds before issue stalls
  } tensor;

  struct Dma {
    int queues;          // per core; half of them loads, half stores
    int bytes_per_cycle; // a core's port to L2 or DRAM
    int startup_cycles;
    int queue_depth;
  } dma;

  struct L2 {
    int kib;             // 0: the machine has none
    int bytes_per_cycle; // all cores together
    int latency_cycles;
    int line_bytes;
    int ways;
  } l2;

  struct Dram {
    double gb_per_s;
    double latency_ns;
    int burst_bytes; // smallest transfer: a shorter one costs as much
    int row_bytes;   // row buffer, per bank
    int banks;
    double row_miss_ns; // a row opened anew
  } dram;

  struct Energy { // picojoule
    double int8_mac_pj, f16_mac_pj;
    double scalar_instruction_pj, vector_instruction_pj;
    double lm_pj_per_byte, acc_pj_per_byte, l2_pj_per_byte, dram_pj_per_byte;
    double static_w; // watt, for as long as the device runs
  } energy;

  int64_t lm_bytes() const { return int64_t(core.lm_kib) * 1024; }
  int64_t acc_bytes() const { return int64_t(core.acc_kib) * 1024; }
  int64_t l2_bytes() const { return int64_t(l2.kib) * 1024; }
  double dram_bytes_per_cycle() const { return dram.gb_per_s / device.clock_ghz; }

  // A shipped name ("phone") or the path of a file. Throws MachineError, which names the file, the key, the value and what is allowed.
  static Machine load(std::string_view name_or_file);
  static std::vector<std::string> shipped(); // the names that load() knows
};

struct MachineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace dougong
