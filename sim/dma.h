// The DMA engine's copies: an affine walk over five dimensions, moved in the longest runs that are contiguous on both sides. Of a
// multicast, bytes written to LM are counted for one receiver.
#pragma once
#include "isa/commands.h"
#include "sim/memory_timing.h"
#include <string>

namespace dougong::sim {

struct Core;

// What is wrong with a descriptor, for a load or a store queue of `core`; empty if nothing.
std::string dma_problem(const dg_dma_command &c, bool load, Core &core);

struct Copied {
  uint64_t lm_read = 0, lm_written = 0, global_read = 0, global_written = 0; // bytes; "lm" may be another core's
  uint64_t list_bytes = 0;                                                   // of lm_read: an index list
  uint64_t added_bytes = 0;                                                  // of lm_read: what the copy adds to
  uint64_t receivers = 0;                                                    // set of other cores whose LM it wrote
  std::vector<MemoryTiming::Run> runs;                                       // of global memory, in timing mode
  std::string problem;                                                       // an access between mapped regions, found on the way
};
Copied dma_copy(const dg_dma_command &c, Core &core, uint64_t pc); // pc: where it was issued

} // namespace dougong::sim
