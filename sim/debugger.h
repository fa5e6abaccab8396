// Stopping and looking: breakpoints, watchpoints, single steps, registers and memory of a device whose cores are not running.
//
// A breakpoint is a handler: it stands in the decoded operation in place of the instruction's own, and leaves the interpreter. So running
// with breakpoints costs nothing until one is reached. A step puts one behind the instruction and gives the core a quantum of one
// instruction, which a taken jump ends. While there are watchpoints, everything runs in steps.
#pragma once
#include "sim/turns.h"
#include <functional>
#include <set>

namespace dougong::sim {

class Debugger {
public:
  explicit Debugger(Shared &shared) : shared(shared), motions(shared.cores.size()) {}

  // What a core is to do. In a step over a range the core goes on until its pc is outside [begin, end).
  struct Motion {
    enum Kind { stay, step, run } kind = run;
    uint64_t begin = 0, end = 0;
  };
  enum class Stop { breakpoint, watchpoint, step, interrupted, done, trap };
  struct Outcome {
    Stop why = Stop::done;
    Core *core = nullptr;                // that stopped
    std::string text;                    // of a trap: what is wrong
    Trap::Kind kind = Trap::Kind::fault; // of a trap
    uint64_t address = 0;                // of a watchpoint
  };
  // Asked now and then, with the core that moved last: whether all are to stop. May throw.
  using Pause = std::function<bool(const Core &)>;
  // Moves the cores, `motions` says how, until one has a reason to stop. A core that stands at a breakpoint does not pass it unless it
  // steps. Beside a core that steps, those that run execute one instruction for each of its.
  Outcome resume(const std::vector<Motion> &motions, const Pause &pause);

  // With no breakpoints, until all are done or `pause` says so; a Trap is thrown on.
  void resume_freely(const Pause &pause);

  // On the stack of a program it may stand too, where gdb lets a function return that it has called. False where neither is.
  bool set_breakpoint(uint64_t address);
  void clear_breakpoint(uint64_t address);
  // Stops after an instruction that changes these bytes, as `core` sees them. False where there is no memory.
  bool set_watchpoint(Core &core, uint64_t address, uint64_t bytes);
  void clear_watchpoint(Core &core, uint64_t address, uint64_t bytes);

  uint64_t pc(const Core &core) const { return core.op ? core.pc_of(core.op) : 0; }
  bool set_pc(Core &core, uint64_t address); // false where there is no code

  // Local memory at DG_LM_BASE, accumulators at `acc_base` (for the debugger only), mapped DRAM. Null if any of it is none of these.
  static constexpr uint64_t acc_base = 0x18000000;
  uint8_t *memory(Core &core, uint64_t address, uint64_t bytes);
  // False if any of it is no memory. Code that is written is decoded anew.
  bool write(Core &core, uint64_t address, std::string_view bytes);

private:
  struct Watchpoint {
    Core *core; // null for DRAM, which all see alike
    uint64_t address;
    std::string value;
  };

  Op *operation(uint64_t address);
  void arm();
  void disarm();
  Outcome step(Core &core);
  Outcome run(const Turn &turn);
  Outcome trapped(Core &core, const Trap &trap);
  Outcome step_round(const Pause &pause);
  const Watchpoint *changed_watchpoint();

  Shared &shared;
  std::vector<Motion> motions;
  std::set<uint64_t> breakpoints;
  std::vector<Watchpoint> watchpoints;
};

} // namespace dougong::sim
