#include "sim/debugger.h"
#include <cstring>

namespace dougong::sim {
namespace {

DG_HANDLER run_breakpoint(const Op *op, Core *core, int64_t remaining, uint64_t time) {
  core->op = op;
  core->remaining = remaining;
  core->time = time;
}

} // namespace

Op *Debugger::operation(uint64_t address) {
  Code *code = shared.code_at(address);
  return code ? &code->ops[(address - code->begin) / 2] : nullptr;
}

bool Debugger::set_breakpoint(uint64_t address) {
  if (shared.kernel && address == DG_KERNEL_RETURN)
    return true; // where a debugger waits for the end of a kernel: there the core is done
  constexpr uint64_t landing_bytes = 4;
  if (!operation(address)) {
    if (address % 2 || !shared.memory.find(address, landing_bytes))
      return false;
    shared.codes.push_back({address, landing_bytes, undecoded_operations(landing_bytes / 2 + 2, shared.options.timing)});
  }
  breakpoints.insert(address);
  return true;
}

void Debugger::clear_breakpoint(uint64_t address) { breakpoints.erase(address); }

bool Debugger::set_watchpoint(Core &core, uint64_t address, uint64_t bytes) {
  const uint8_t *at = memory(core, address, bytes);
  if (!at)
    return false;
  watchpoints.push_back({address < DG_DRAM_BASE ? &core : nullptr, address, std::string(reinterpret_cast<const char *>(at), bytes)});
  return true;
}

void Debugger::clear_watchpoint(Core &core, uint64_t address, uint64_t bytes) {
  std::erase_if(watchpoints,
                [&](const Watchpoint &w) { return w.address == address && w.value.size() == bytes && (!w.core || w.core == &core); });
}

const Debugger::Watchpoint *Debugger::changed_watchpoint() {
  const Watchpoint *changed = nullptr;
  for (Watchpoint &w : watchpoints)
    if (const uint8_t *at = memory(w.core ? *w.core : *shared.cores[0], w.address, w.value.size());
        at && std::memcmp(at, w.value.data(), w.value.size())) {
      w.value.assign(reinterpret_cast<const char *>(at), w.value.size());
      changed = &w;
    }
  return changed;
}

// An armed operation has lost its own handler; what is undecoded is decoded when it is reached again.
void Debugger::arm() {
  for (uint64_t address : breakpoints)
    if (Op *op = operation(address))
      op->run = run_breakpoint;
}

void Debugger::disarm() {
  for (uint64_t address : breakpoints)
    if (Op *op = operation(address); op && op->run == run_breakpoint)
      op->run = undecoded(shared.options.timing);
}

bool Debugger::set_pc(Core &core, uint64_t address) {
  if (!shared.code_at(address))
    return false;
  core.op = core.enter(core.op, address, 0, core.time);
  return true;
}

Debugger::Outcome Debugger::trapped(Core &core, const Trap &trap) {
  if (core.ops) // it stands where the trap says, which may be right behind its code
    core.op = core.ops + (trap.pc - core.code_begin) / 2;
  return {Stop::trap, &core, trap.text, trap.kind, 0};
}

// One instruction; but from a load-reserved to its store-conditional in one go, which could never succeed otherwise.
Debugger::Outcome Debugger::step(Core &core) {
  constexpr int longest_sequence = 16;
  int steps = 0;
  core.reservation = ~0ull;
  shared.horizon = ~0ull; // what the core waits for is known then
  core.wait_for_engines();
  do {
    uint64_t at = pc(core);
    const uint8_t *bytes = shared.memory.host(at);
    Op *following = const_cast<Op *>(core.op) + ((*bytes & 3) == 3 ? 2 : 1); // there are two operations behind the last instruction
    Handler kept = following->run;
    following->run = run_breakpoint;
    core.quantum = core.remaining = 1;
    try {
      core.op->run(core.op, &core, core.remaining, core.time);
    } catch (const Trap &trap) {
      following->run = kept;
      return trapped(core, trap);
    }
    following->run = kept;
    core.count.instructions += uint64_t(core.quantum - core.remaining);
    core.quantum = core.remaining = 0;
  } while (core.reservation != ~0ull && core.state == Core::State::running && ++steps < longest_sequence);
  return {Stop::step, &core, {}};
}

// Only the core's own state, and whether it now stands at an armed operation, say why the quantum ended.
Debugger::Outcome Debugger::run(const Turn &turn) {
  Core &core = *turn.core;
  try {
    turn.take();
  } catch (const Trap &trap) {
    return trapped(core, trap);
  }
  return {core.state == Core::State::running && core.op->run == run_breakpoint ? Stop::breakpoint : Stop::done, &core, {}};
}

// Every core that moves executes one instruction, those that step first. The step is over when all that step are where they were to go.
Debugger::Outcome Debugger::step_round(const Pause &pause) {
  bool stepping = false;
  for (const Motion &motion : motions)
    stepping |= motion.kind == Motion::step;
  for (uint64_t round = 1;; ++round) {
    Outcome arrived;
    Core *last = nullptr;
    bool under_way = false;
    for (Motion::Kind kind : {Motion::step, Motion::run})
      for (auto &core : shared.cores) {
        const Motion &motion = motions[size_t(core->number)];
        if (motion.kind != kind || !moves(*core))
          continue;
        if (kind == Motion::run && breakpoints.count(pc(*core)))
          return {Stop::breakpoint, core.get(), {}};
        last = core.get();
        if (Outcome outcome = step(*core); outcome.why == Stop::trap)
          return outcome;
        if (const Watchpoint *changed = changed_watchpoint())
          return {Stop::watchpoint, core.get(), {}, {}, changed->address};
        if (kind == Motion::run)
          continue;
        uint64_t now = pc(*core);
        if (moves(*core) && now - motion.begin < motion.end - motion.begin && !breakpoints.count(now))
          under_way = true;
        else
          arrived = {Stop::step, core.get(), {}};
      }
    if (!last)
      return {Stop::done, nullptr, {}};
    if (stepping && !under_way)
      return arrived;
    if (round % 256 == 0 && pause(*last))
      return {Stop::interrupted, last, {}};
  }
}

Debugger::Outcome Debugger::resume(const std::vector<Motion> &wanted, const Pause &pause) {
  motions = wanted;
  bool stepping = !watchpoints.empty();
  for (const Motion &motion : motions)
    stepping |= motion.kind == Motion::step;
  if (stepping)
    return step_round(pause);

  struct Armed {
    Debugger &debugger;
    explicit Armed(Debugger &debugger) : debugger(debugger) { debugger.arm(); }
    ~Armed() { debugger.disarm(); }
  } armed(*this);
  Core *last = nullptr;
  while (Turn turn = next_turn(shared, last, [&](const Core &core) { return motions[size_t(core.number)].kind == Motion::run; })) {
    last = turn.core;
    Outcome outcome = run(turn);
    if (outcome.why != Stop::done)
      return outcome;
    if (pause(*last))
      return {Stop::interrupted, last, {}};
  }
  return {Stop::done, last, {}};
}

void Debugger::resume_freely(const Pause &pause) {
  Core *last = nullptr;
  while (Turn turn = next_turn(shared, last, [](const Core &) { return true; })) {
    last = turn.core;
    turn.take();
    if (pause(*last))
      return;
  }
}

uint8_t *Debugger::memory(Core &core, uint64_t address, uint64_t bytes) {
  auto within = [&](uint64_t base, uint64_t size) { return address >= base && bytes <= size && address - base <= size - bytes; };
  if (within(DG_LM_BASE, core.lm_bytes))
    return core.lm + (address - DG_LM_BASE);
  if (within(acc_base, uint64_t(shared.machine.acc_bytes())))
    return core.acc.get() + (address - acc_base);
  return shared.memory.find(address, bytes) ? shared.memory.host(address) : nullptr;
}

bool Debugger::write(Core &core, uint64_t address, std::string_view bytes) {
  uint8_t *to = memory(core, address, bytes.size());
  if (!to)
    return false;
  std::memcpy(to, bytes.data(), bytes.size());
  // An instruction begins up to two bytes before what it covers.
  for (Code &code : shared.codes)
    for (uint64_t at = std::max(code.begin, (address - 2) & ~uint64_t(1)); at < std::min(code.begin + code.bytes, address + bytes.size());
         at += 2)
      code.ops[(at - code.begin) / 2] = Op{undecoded(shared.options.timing), 0, 0, 0, 0, 0};
  return true;
}

} // namespace dougong::sim
