// Stopping and looking: breakpoints, single steps, registers and memory of a device whose cores are not running.
//
// A breakpoint is a handler: it stands in the decoded operation in place of the instruction's own, and leaves the
// interpreter. So running with breakpoints costs nothing until one is reached. A step puts breakpoints behind every place where
// the instruction may go on, and runs.
#pragma once
#include "sim/shared.h"
#include <functional>
#include <set>

namespace dougong::sim {

class Debugger {
public:
  explicit Debugger(Shared &shared) : shared(shared) {}

  enum class Stop { breakpoint, step, interrupted, done, trap };
  struct Outcome {
    Stop why;
    Core *core = nullptr; // that stopped
    std::string text;     // of a trap: what is wrong
  };
  // Lets all cores run until one stops. `stepped`: that core executes one instruction, the others none. `interrupted` is asked now and
  // then.
  Outcome resume(Core *stepped, const std::function<bool()> &interrupted);

  // To the end, with no breakpoints; a Trap is thrown on.
  void resume_freely();

  // False where there is no code.
  bool set_breakpoint(uint64_t address);
  void clear_breakpoint(uint64_t address);

  uint64_t pc(const Core &core) const { return core.op ? core.pc_of(core.op) : 0; }
  void set_pc(Core &core, uint64_t address);

  // Local memory at DG_LM_BASE, accumulators at `acc_base` (for the debugger only), mapped DRAM. Null if any of it is none of these.
  static constexpr uint64_t acc_base = 0x18000000;
  uint8_t *memory(Core &core, uint64_t address, uint64_t bytes);

private:
  Op *operation(uint64_t address);
  std::vector<uint64_t> successors(const Core &core) const;
  void arm();
  void disarm();
  Outcome run_core(Core &core);

  Shared &shared;
  std::set<uint64_t> breakpoints, temporary;
};

} // namespace dougong::sim
