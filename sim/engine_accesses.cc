// What a tensor or drain command touches, for the checks of races and of memory that nobody has written: the same walks as the command's
// own, in runs. (A copy tells as it goes, dma.cc.)
#include "sim/element_types.h"
#include "sim/shared.h"
#include <fmt/format.h>

namespace dougong::sim {
namespace {

// Tells the checks, and explains a race they find.
struct Teller {
  Core &core;
  uint64_t pc;
  const char *command;

  void lm(uint64_t address, uint64_t bytes, bool write) {
    if (core.written)
      core.check_written(pc, command, core, address - DG_LM_BASE, bytes, write);
    if (core.check && !core.check->lm_access(address - DG_LM_BASE, bytes, write))
      explain("local memory", DG_LM_BASE + core.check->found.offset, write);
  }
  void acc(uint64_t offset, uint64_t bytes, bool write) {
    if (core.written)
      core.check_written_acc(pc, command, offset, bytes, write);
    if (core.check && !core.check->acc_access(offset, bytes, write))
      explain("accumulator memory", core.check->found.offset * 4, write);
  }
  [[noreturn]] void explain(const char *memory, uint64_t at, bool write) {
    throw Trap{Trap::Kind::race, pc,
               fmt::format("{} {} {} at {:#x}, and no wait orders it with another access: {}", command, write ? "writes" : "reads", memory,
                           at, core.check->found.other)};
  }
};

// Both rows of a two-dimensional m, with the offset of each.
template <typename F> void for_rows(const uint32_t (&m)[2], const int32_t (&stride)[2], F row) {
  for (uint32_t m0 = 0; m0 < m[0]; ++m0)
    for (uint32_t m1 = 0; m1 < m[1]; ++m1)
      row(m0 * m[1] + m1, int64_t(m0) * stride[0] + int64_t(m1) * stride[1]);
}

void line(Teller &tell, int64_t address, uint32_t count, int64_t stride, int bytes, bool write) {
  if (stride == bytes)
    return tell.lm(address, uint64_t(count) * bytes, write);
  for (uint32_t i = 0; i < count; ++i)
    tell.lm(address + i * stride, bytes, write);
}

void touch(Teller &tell, const dg_tensor_command &c) {
  uint64_t m = uint64_t(c.m[0]) * c.m[1], k = uint64_t(c.k[0]) * c.k[1] * c.k[2];
  if (m == 0 || c.n == 0)
    return;
  if (k > 0) {
    for_rows(c.m, c.a_m_stride, [&](uint32_t, int64_t offset) {
      for (uint32_t k0 = 0; k0 < c.k[0]; ++k0)
        for (uint32_t k1 = 0; k1 < c.k[1]; ++k1)
          line(tell, c.a + offset + int64_t(k0) * c.a_k_stride[0] + int64_t(k1) * c.a_k_stride[1], c.k[2], c.a_k_stride[2],
               type_bytes(c.a_type), false);
    });
    for (uint32_t k0 = 0; k0 < c.k[0]; ++k0)
      for (uint32_t k1 = 0; k1 < c.k[1]; ++k1)
        for (uint32_t k2 = 0; k2 < c.k[2]; ++k2)
          line(tell, c.b + int64_t(k0) * c.b_k_stride[0] + int64_t(k1) * c.b_k_stride[1] + int64_t(k2) * c.b_k_stride[2], c.n, c.b_n_stride,
               type_bytes(c.b_type), false);
  }
  for (uint64_t row = 0; row < m; ++row) {
    uint64_t at = uint64_t(c.acc + int64_t(row) * c.acc_m_stride);
    if (c.accumulate)
      tell.acc(at, 4 * uint64_t(c.n), false);
    tell.acc(at, 4 * uint64_t(c.n), true);
  }
}

void touch(Teller &tell, const dg_drain_command &c) {
  if (uint64_t(c.m[0]) * c.m[1] == 0 || c.n == 0)
    return;
  if (c.scale)
    tell.lm(c.scale, 4 * uint64_t(c.n), false);
  if (c.bias)
    tell.lm(c.bias, 4 * uint64_t(c.n), false);
  if (c.residual)
    for_rows(c.m, c.residual_m_stride,
             [&](uint32_t, int64_t offset) { tell.lm(c.residual + offset, uint64_t(c.n) * type_bytes(c.residual_type), false); });
  for_rows(c.m, c.out_m_stride, [&](uint32_t row, int64_t offset) {
    tell.acc(uint64_t(c.acc + int64_t(row) * c.acc_m_stride), 4 * uint64_t(c.n), false);
    tell.lm(c.out + offset, uint64_t(c.n) * type_bytes(c.out_type), true);
  });
}

} // namespace

void Engines::check_accesses(const Entry &entry) {
  Teller tell{core, entry.pc, "dg.tensor"};
  if (const auto *c = std::get_if<dg_tensor_command>(&entry.what))
    return touch(tell, *c);
  if (const auto *c = std::get_if<dg_drain_command>(&entry.what))
    return tell.command = "dg.drain", touch(tell, *c);
}

} // namespace dougong::sim
