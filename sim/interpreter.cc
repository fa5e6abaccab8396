// Decodes instructions and runs them: the handlers of all scalar and engine instructions, generated from the records.
#include "isa/compressed.h"
#include "sim/environment.h"
#include "sim/host_level.h"
#include "sim/shared.h"
#include "sim/vector_handlers.h"
#include <fmt/format.h>

namespace dougong::sim {

struct ScalarHandlers {
  Handler functional, timing, functional_compressed, timing_compressed;
};

namespace scalar {
#include "sim/scalar.inc"
}

namespace {

constexpr uint8_t sink(uint32_t rd) { return rd ? rd : 32; }

struct Found {
  enum { none, scalar, vector } kind = none;
  int index = 0;
};

Found decode_word(uint32_t word, Op &op) {
  auto found = [](bool vector, int index) { return Found{vector ? Found::vector : Found::scalar, index}; };
#include "sim/decode.inc"
  return {};
}

// What stands where nothing has been decoded yet, and after the last instruction of a segment.
template <bool timing> DG_HANDLER run_undecoded(const Op *op, Core *core, int64_t remaining, uint64_t time) {
  decode(*core, const_cast<Op *>(op));
  [[clang::musttail]] return op->run(op, core, remaining, time);
}

} // namespace

Handler undecoded(bool timing) { return timing ? run_undecoded<true> : run_undecoded<false>; }

std::unique_ptr<Op[]> undecoded_operations(uint64_t count, bool timing) {
  auto ops = std::make_unique_for_overwrite<Op[]>(count);
  for (uint64_t i = 0; i < count; ++i)
    ops[i] = Op{undecoded(timing), 0, 0, 0, 0, 0};
  return ops;
}

void decode(Core &core, Op *op) {
  uint64_t pc = core.pc_of(op), left = core.code_begin + core.code_bytes - pc;
  if (pc >= core.code_begin + core.code_bytes)
    core.fault(op, fmt::format("execution runs over the end of its code at {:#x}", pc));
  const uint8_t *bytes = core.shared.memory.host(pc);
  uint16_t half;
  std::memcpy(&half, bytes, 2);
  uint32_t word = half;
  bool compressed = (half & 3) != 3;
  if (compressed) {
    word = compressed::expand(half);
  } else {
    if (left < 4)
      core.fault(op, "an instruction runs over the end of its code");
    std::memcpy(&word, bytes, 4);
  }
  Op decoded{};
  Found found = word ? decode_word(word, decoded) : Found{};
  if (found.kind == Found::none)
    core.fault(op, compressed ? fmt::format("illegal instruction {:#06x}", half) : fmt::format("illegal instruction {:#010x}", word));
  bool timing = core.shared.options.timing;
  if (found.kind == Found::vector) {
    const VectorHandlers &handlers = host_level().vector[found.index];
    decoded.run = timing ? handlers.timing : handlers.functional;
  } else {
    const ScalarHandlers &handlers = scalar::scalar_handlers[found.index];
    decoded.run = compressed ? (timing ? handlers.timing_compressed : handlers.functional_compressed)
                             : (timing ? handlers.timing : handlers.functional);
  }
  *op = decoded;
}

void Core::run(int64_t instructions) {
  quantum = remaining = instructions;
  reservation = ~0ull;
  op->run(op, this, remaining, time);
  count.instructions += uint64_t(quantum - remaining);
  quantum = remaining = 0;
}

} // namespace dougong::sim
