// Which core runs next, and for how long: the same with and without a debugger, so that times are too.
#pragma once
#include "sim/shared.h"

namespace dougong::sim {

inline bool moves(const Core &core) { return core.state == Core::State::running || core.state == Core::State::waiting; }

struct Turn {
  Core *core = nullptr; // null: none moves
  int64_t instructions = 0;
  explicit operator bool() const { return core; }

  // Lets it run. Throws what the core traps with.
  void take() const {
    core->wait_for_engines();
    core->run(instructions);
  }
};

// The turn after that of `last` (null: the first), among the cores that move and that `may_run` allows.
Turn next_turn(Shared &shared, const Core *last, const std::function<bool(const Core &)> &may_run);

} // namespace dougong::sim
