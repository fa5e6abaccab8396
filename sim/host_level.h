// What is compiled once per level of the host's instruction set and chosen when the process starts: without FMA or wide
// vectors a 32-lane operation costs ten times as much, yet the program must run on every host (CMakeLists.txt).
//
// Sources of a level define everything in namespace DOUGONG_LEVEL, so that no inline function of theirs can be merged with
// one that other hosts run.
#pragma once
#include "isa/commands.h"
#include <cstdint>

namespace dougong::sim {

struct VectorHandlers;

struct HostLevel {
  const char *name;
  void (*tensor)(const dg_tensor_command &, const uint8_t *lm, uint8_t *acc); // lm: host address of DG_LM_BASE
  void (*drain)(const dg_drain_command &, uint8_t *lm, const uint8_t *acc);
  void (*dma_add)(uint8_t type, uint8_t *out, const uint8_t *in, uint64_t count); // out[i] += in[i]; they do not overlap
  const VectorHandlers *vector;
};

const HostLevel &host_level();                 // the best this host runs; DOUGONG_HOST_LEVEL=base|v3|v4 overrides
const HostLevel *host_level(const char *name); // null: unknown, or not for this host

} // namespace dougong::sim
