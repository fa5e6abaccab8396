// What the device model counts. Values never depend on it; only timing mode fills the parts that are times.
//
// Counters only grow. A launch's own figures are the difference of two snapshots: `after - before`.
#pragma once
#include "isa/commands.h"
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

namespace dougong::sim {

// Why a core issued nothing in a cycle. Every cycle of a launch is busy, stalled for one of these causes, or idle.
enum class Stall { scalar, vector, memory, unit, fetch, queue, await, count };
std::string_view name(Stall cause); // "scalar": waits for a scalar result; "unit": for a unit in use; "queue": an engine's queue is full; …
std::string_view engine_name(int queue); // "tensor", "drain", "load 0", "store 0", "load 1", "store 1"

struct EngineStatistics {
  uint64_t commands = 0;
  uint64_t busy = 0, stalled = 0, idle = 0; // cycles; stalled: a command is queued and waits for a flag
};

struct CoreStatistics {
  uint64_t instructions = 0, vector_instructions = 0;
  uint64_t cycles = 0, busy = 0, idle = 0; // cycles of the launches = busy + stalls + idle
  std::array<uint64_t, int(Stall::count)> stalls{};
  std::array<EngineStatistics, DG_QUEUES> engines{};                   // busy + stalled + idle = cycles, each
  uint64_t int_macs = 0, fp8_macs = 0, float_macs = 0;                 // of the tensor engine: 8-bit integers; 8-bit floats; f16 and bf16
  uint64_t lm_read = 0, lm_written = 0, acc_read = 0, acc_written = 0; // bytes, by vector unit and engines
};

struct Statistics {
  uint64_t launches = 0;
  uint64_t cycles = 0; // timing mode: launch overhead + until the last core and engine are done
  double seconds = 0;  // cycles by the machine's clock
  std::vector<CoreStatistics> cores;
  // Bytes. In functional mode L2 is not modelled: everything DMA moves counts as DRAM traffic.
  uint64_t l2_read = 0, l2_written = 0, dram_read = 0, dram_written = 0;
  uint64_t dma_read = 0, dma_written = 0; // what DMA commands asked of global memory, before L2 and bursts
  uint64_t row_misses = 0;
  uint64_t l2_dirty = 0;     // no counter: what L2 has at the end and DRAM has not, which is to be written some day
  double l2_dirty_joule = 0; // what that will take of DRAM's energy; in no part of `energy`

  struct Energy {                                                                               // joule; timing mode
    double tensor = 0, scalar = 0, vector = 0, lm = 0, acc = 0, l2 = 0, dram = 0, standing = 0; // standing: static power × time
    double total() const { return tensor + scalar + vector + lm + acc + l2 + dram + standing; }
  } energy;

  uint64_t instructions() const;
  uint64_t tensor_macs() const;
  uint64_t vector_instructions() const;
  Statistics operator-(const Statistics &before) const;
  nlohmann::json json() const;
};

} // namespace dougong::sim
