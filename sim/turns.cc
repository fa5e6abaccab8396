#include "sim/turns.h"

namespace dougong::sim {

constexpr int64_t quantum_instructions = 5000;

// Without timing cores take turns. With it, by the reference schedule: the core that is furthest behind runs, until it is a little ahead of
// the next. What all cores have passed is served, so what that core waits for is known.
Turn next_turn(Shared &shared, const Core *last, const std::function<bool(const Core &)> &may_run) {
  constexpr uint64_t lead = 500;
  size_t count = shared.cores.size(), begin = last && !shared.options.timing ? size_t(last->number) + 1 : 0;
  Core *first = nullptr;
  uint64_t next = ~0ull - lead;
  for (size_t i = 0; i < count; ++i) {
    Core *core = shared.cores[(begin + i) % count].get();
    if (!moves(*core) || !may_run(*core))
      continue;
    if (!shared.options.timing)
      return {core, quantum_instructions};
    if (!first || core->reference() < first->reference()) {
      if (first)
        next = std::min(next, first->reference());
      first = core;
    } else {
      next = std::min(next, core->reference());
    }
  }
  shared.horizon = next;
  if (!first)
    return {};
  return {first, int64_t(std::min<uint64_t>(next + lead - first->reference(), quantum_instructions))};
}

} // namespace dougong::sim
