// One core of a machine on the bench: engines are driven directly, without a program.
#pragma once
#include "sim/host_level.h"
#include "sim/shared.h"
#include <cstring>
#include <random>

namespace dougong::sim {

struct BenchCore {
  explicit BenchCore(const Machine &machine, Options options = {}) : shared(machine, options) {
    int count = options.cores ? options.cores : 1;
    for (int i = 0; i < count; ++i)
      shared.cores.push_back(std::make_unique<Core>(shared, i));
    // Somewhere for faults to point at.
    shared.codes.push_back({DG_DRAM_BASE, 64, undecoded_operations(34, options.timing)});
    for (auto &core : shared.cores) {
      core->reset();
      core->at = core->enter(nullptr, DG_DRAM_BASE, 0, 0);
    }
  }
  Core &core(int i = 0) { return *shared.cores[i]; }
  Engines &engines() { return core().engines; }
  uint8_t *lm(uint64_t address) { return core().lm + (address - DG_LM_BASE); }
  template <typename T> T &lm_as(uint64_t address) { return *reinterpret_cast<T *>(lm(address)); }

  // When a flag of a core's queue reached the value.
  uint64_t when(int flag, uint64_t value, int i = 0) {
    Engines &engines = core(i).engines;
    engines.await(flag, value);
    shared.serve_before(~0ull);
    uint64_t cycle = engines.known() ? engines.when() : ~0ull;
    engines.came();
    return cycle;
  }

  // The message of the fault or deadlock that `action` ends in; empty if none.
  template <typename F> std::string trapped(F action) {
    try {
      action();
      return "";
    } catch (const Trap &trap) {
      return trap.text;
    }
  }

  Shared shared;
  uint64_t now = 0;
};

inline Machine phone() { return Machine::load("phone"); }

// Bytes in one run.
inline dg_dma_command copy(uint64_t src, uint64_t dst, uint32_t bytes) {
  dg_dma_command c{};
  c.src = src, c.dst = dst, c.element_bytes = 1;
  for (int d = 0; d < 5; ++d)
    c.count[d] = 1, c.high[d] = 1;
  c.count[4] = bytes, c.high[4] = int(bytes), c.src_stride[4] = c.dst_stride[4] = 1;
  return c;
}

// 4x4x4, i8.
inline dg_tensor_command multiply(uint32_t a, uint32_t b, uint32_t acc) {
  dg_tensor_command c{};
  c.a = a, c.b = b, c.acc = acc, c.a_type = c.b_type = DG_I8;
  c.m[0] = c.k[0] = c.k[1] = 1, c.m[1] = c.k[2] = c.n = 4;
  c.a_m_stride[1] = 4, c.a_k_stride[2] = 1, c.b_k_stride[2] = 4, c.b_n_stride = 1, c.acc_m_stride = 16;
  return c;
}

} // namespace dougong::sim
