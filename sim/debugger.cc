#include "isa/compressed.h"
#include "sim/debugger.h"
#include <cstring>

namespace dougong::sim {
namespace {

DG_HANDLER run_breakpoint(const Op *op, Core *core, int64_t remaining, uint64_t time) {
  core->op = op;
  core->remaining = remaining;
  core->time = time;
}

int64_t sign_extended(uint32_t value, int bits) { return int64_t(uint64_t(value) << (64 - bits)) >> (64 - bits); }

// The immediates of RISC-V's branches and jumps.
int64_t branch_offset(uint32_t w) {
  return sign_extended((w >> 31 & 1) << 12 | (w >> 7 & 1) << 11 | (w >> 25 & 63) << 5 | (w >> 8 & 15) << 1, 13);
}
int64_t jump_offset(uint32_t w) {
  return sign_extended((w >> 31 & 1) << 20 | (w >> 12 & 255) << 12 | (w >> 20 & 1) << 11 | (w >> 21 & 1023) << 1, 21);
}

} // namespace

Op *Debugger::operation(uint64_t address) {
  Code *code = address % 2 ? nullptr : shared.code_at(address);
  return code ? &code->ops[(address - code->begin) / 2] : nullptr;
}

bool Debugger::set_breakpoint(uint64_t address) {
  if (!operation(address))
    return false;
  breakpoints.insert(address);
  return true;
}

void Debugger::clear_breakpoint(uint64_t address) { breakpoints.erase(address); }

// An armed operation has lost its own handler; what is undecoded is decoded when it is reached again.
void Debugger::arm() {
  for (const std::set<uint64_t> *set : {&breakpoints, &temporary})
    for (uint64_t address : *set)
      if (Op *op = operation(address))
        op->run = run_breakpoint;
}

void Debugger::disarm() {
  for (const std::set<uint64_t> *set : {&breakpoints, &temporary})
    for (uint64_t address : *set)
      if (Op *op = operation(address); op && op->run == run_breakpoint)
        op->run = undecoded(shared.options.timing);
}

// Where the instruction at the core's pc may go on.
std::vector<uint64_t> Debugger::successors(const Core &core) const {
  uint64_t at = pc(core);
  uint16_t half;
  std::memcpy(&half, shared.memory.host(at), 2);
  bool compressed = (half & 3) != 3;
  uint32_t word = half;
  if (compressed)
    word = compressed::expand(half);
  else
    std::memcpy(&word, shared.memory.host(at), 4);
  uint64_t next = at + (compressed ? 2 : 4);
  switch (word & 0x7f) {
  case 0x63:
    return {next, at + uint64_t(branch_offset(word))};
  case 0x6f:
    return {at + uint64_t(jump_offset(word))};
  case 0x67: {
    uint32_t base = word >> 15 & 31;
    return {((base ? core.x[base] : 0) + uint64_t(sign_extended(word >> 20, 12))) & ~uint64_t(1)};
  }
  default:
    return {next};
  }
}

void Debugger::set_pc(Core &core, uint64_t address) {
  if (shared.code_at(address))
    core.op = core.enter(core.op, address, 0, core.time);
}

// One quantum. Only the core's own state, and whether it now stands at an armed operation, say why it ended.
Debugger::Outcome Debugger::run_core(Core &core) {
  constexpr int64_t quantum = 5000;
  try {
    core.run(quantum);
  } catch (const Trap &trap) {
    set_pc(core, trap.pc);
    return {Stop::trap, &core, trap.text};
  }
  if (core.state == Core::State::running && core.op->run == run_breakpoint)
    return {temporary.count(pc(core)) ? Stop::step : Stop::breakpoint, &core, {}};
  return {Stop::done, nullptr, {}};
}

Debugger::Outcome Debugger::resume(Core *stepped, const std::function<bool()> &interrupted) {
  // First every core leaves the place it stands at, then the breakpoints are in force.
  for (auto &core : shared.cores) {
    if (core->state != Core::State::running || (stepped && core.get() != stepped))
      continue;
    std::vector<uint64_t> next = successors(*core);
    temporary = {next.begin(), next.end()};
    uint64_t here = pc(*core);
    bool loops = temporary.count(here); // a jump to itself: one turn is the step
    temporary.erase(here);
    std::set<uint64_t> others;
    std::swap(others, breakpoints);
    arm();
    Outcome outcome{Stop::done, nullptr, {}};
    core->time_limit = ~0ull;
    do
      outcome = run_core(*core);
    while (!loops && outcome.why == Stop::done && core->state == Core::State::running && !interrupted());
    disarm();
    temporary.clear();
    std::swap(others, breakpoints);
    if (outcome.why == Stop::trap)
      return outcome;
  }
  if (stepped)
    return stepped->state == Core::State::running ? Outcome{Stop::step, stepped, {}} : Outcome{Stop::done, stepped, {}};

  arm();
  Outcome outcome{Stop::done, nullptr, {}};
  for (bool any = true; any && outcome.why == Stop::done;) {
    any = false;
    for (auto &core : shared.cores) {
      if (core->state != Core::State::running)
        continue;
      outcome = run_core(*core);
      any |= core->state == Core::State::running;
      if (outcome.why == Stop::done && interrupted())
        outcome = {Stop::interrupted, core.get(), {}};
      if (outcome.why != Stop::done)
        break;
    }
  }
  disarm();
  return outcome;
}

void Debugger::resume_freely() {
  for (bool any = true; any;) {
    any = false;
    for (auto &core : shared.cores) {
      if (core->state != Core::State::running)
        continue;
      core->run(5000);
      any |= core->state == Core::State::running;
    }
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

} // namespace dougong::sim
