#include "sim/core.h"
#include "sim/semihosting.h"
#include "sim/shared.h"
#include <cstddef>
#include <cstring>
#include <fmt/format.h>

namespace dougong::sim {

Core::Core(Shared &shared, int number) : shared(shared), number(number), engines(*this) {
  const Machine &machine = shared.machine;
  lm_bytes = machine.lm_bytes();
  checked = shared.options.check_races || shared.options.check_memory;
  lm_limit = checked ? 0 : lm_bytes - 7;
  lm_storage = std::make_unique<uint8_t[]>(lm_bytes + 64);
  lm = reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(lm_storage.get()) + 63) / 64 * 64);
  acc = std::make_unique<uint8_t[]>(machine.acc_bytes());
  if (shared.options.check_races)
    check = std::make_unique<RaceCheck>(lm_bytes, machine.acc_bytes());
  if (shared.options.check_memory)
    written = std::make_unique<WrittenMemory>(lm_bytes, machine.acc_bytes());
  issue_step = cycle / machine.core.issue_width;
  branch_miss_cycles = machine.core.branch_miss_cycles;
  cache_miss_cycles = machine.core.cache_miss_cycles;
}

void Core::reset() {
  std::fill(std::begin(x), std::end(x), 0);
  std::memset(v, 0, sizeof(v));
  std::memset(m, 0, sizeof(m));
  std::memset(ready, 0, sizeof(ready));
  std::memset(vector_ready, 0, sizeof(vector_ready));
  std::memset(mask_ready, 0, sizeof(mask_ready));
  std::memset(unit_free, 0, sizeof(unit_free));
  pipe_lead = 0;
  frm = fflags = 0;
  std::fill(std::begin(windows), std::end(windows), Window{});
  ops = nullptr, code_begin = code_bytes = 0;
  time = 0;
  state = State::running;
  exit_code = 0;
  std::fill(std::begin(csr_scratch), std::end(csr_scratch), 0);
  engines.reset();
  reference_base = 0, instructions_before = count.instructions;
  if (check)
    check->reset();
  if (written)
    written->reset();
  if (shared.options.timing) {
    data_cache.reset(shared.machine.core.data_cache_kib);
    instruction_cache.reset(shared.machine.core.instruction_cache_kib);
    predictor.reset();
  }
}

const Op *Core::enter(const Op *from, uint64_t address, int64_t left, uint64_t now) {
  if (shared.kernel && address == DG_KERNEL_RETURN) {
    state = State::returned;
    remaining = left;
    time = now;
    return nullptr;
  }
  Code *code = shared.code_at(address);
  if (!code) {
    const Region *data = shared.memory.find(address);
    std::string place = data                              ? fmt::format("data in {} [{:#x}, {:#x})", data->name, data->begin, data->end())
                        : address - DG_LM_BASE < lm_bytes ? "local memory holds data only"
                                                          : shared.memory.describe(address);
    fault(from, fmt::format("jumps to {:#x}, which is not code ({})", address, place));
  }
  ops = code->ops.get();
  code_begin = code->begin;
  code_bytes = code->bytes;
  return ops + (address - code_begin) / 2;
}

void Core::misaligned(const Op *at, uint64_t address, uint64_t size) {
  fault(at, fmt::format("atomic access of {} bytes at {:#x}, which is not a multiple of {}", size, address, size));
}

void Core::check_access(const Op *at, uint64_t address, uint64_t size, bool write) {
  if (!check || check->lm_access(address - DG_LM_BASE, size, write))
    return;
  throw Trap{Trap::Kind::race, pc_of(at),
             fmt::format("{} local memory [{:#x}, {:#x}), and no wait orders it with another access at {:#x}: {}",
                         write ? "writes" : "reads", address, address + size, DG_LM_BASE + check->found.offset, check->found.other)};
}

void Core::check_written(uint64_t pc, const char *who, Core &own, uint64_t offset, uint64_t size, bool write) {
  if (int64_t at = own.written->lm_access(offset, size, write); at >= 0)
    throw Trap{Trap::Kind::fault, pc,
               fmt::format("{} reads local memory{} [{:#x}, {:#x}), and nothing has written {:#x} since the launch began", who,
                           this == &own ? "" : fmt::format(" of core {}", own.number), DG_LM_BASE + offset, DG_LM_BASE + offset + size,
                           DG_LM_BASE + uint64_t(at))};
}

void Core::check_written_acc(uint64_t pc, const char *who, uint64_t offset, uint64_t size, bool write) {
  if (int64_t at = written->acc_access(offset, size, write); at >= 0)
    throw Trap{Trap::Kind::fault, pc,
               fmt::format("{} reads accumulator memory [{:#x}, {:#x}), and nothing has written {:#x} since the launch began", who, offset,
                           offset + size, at)};
}

uint8_t *Core::access(const Op *at, uint64_t address, uint64_t size, bool write) {
  if (address - DG_LM_BASE < lm_bytes && size <= lm_bytes - (address - DG_LM_BASE)) {
    if (written)
      check_written(pc_of(at), "the core", *this, address - DG_LM_BASE, size, write);
    check_access(at, address, size, write);
    return lm + (address - DG_LM_BASE);
  }
  for (Window *at_hand = windows + 1; at_hand != std::end(windows); ++at_hand)
    if (address - at_hand->begin < at_hand->limit) {
      std::rotate(windows, at_hand, at_hand + 1);
      return windows->host + (address - windows->begin);
    }
  const Region *region = shared.memory.find(address, size);
  if (!region) {
    bool remote = address >= DG_REMOTE_LM_BASE && (address - DG_REMOTE_LM_BASE) / DG_REMOTE_LM_STRIDE < shared.cores.size();
    std::string place = remote ? "local memory of a core, seen from outside, is for DMA only"
                        : address >= DG_REMOTE_LM_BASE || address < DG_LM_BASE
                            ? shared.memory.describe(address)
                            : fmt::format("local memory is [{:#x}, {:#x})", DG_LM_BASE, DG_LM_BASE + lm_bytes);
    constexpr uint64_t near = 1 << 17;
    bool stack_is_memory = shared.memory.find(x[2]) || x[2] - DG_LM_BASE <= lm_bytes;
    if (!stack_is_memory && address - x[2] + near < 2 * near)
      place += fmt::format("; sp is {:#x}: the stack has overflown{}", x[2], x[2] < DG_DRAM_BASE ? "" : shared.stack);
    fault(at, fmt::format("{} of {} byte{} at {:#x}: {}", write ? "write" : "read", size, size == 1 ? "" : "s", address, place));
  }
  if (region->bytes >= 8) {
    std::rotate(windows, std::end(windows) - 1, std::end(windows));
    windows[0] = {region->begin, region->bytes - 7, shared.memory.host(region->begin)};
  }
  return shared.memory.host(address);
}

uint8_t *Core::vector_access(const Op *at, uint64_t address, uint64_t size) {
  std::string why =
      address >= DG_DRAM_BASE ? "vector loads and stores work on local memory only; DMA brings data there" : "it is outside local memory";
  fault(at, fmt::format("vector access of {} bytes at {:#x}: {}, [{:#x}, {:#x})", size, address, why, DG_LM_BASE, DG_LM_BASE + lm_bytes));
}

uint8_t *Core::access_vector_checked(const Op *at, uint64_t address, uint64_t size, bool write) {
  if (address - DG_LM_BASE >= lm_bytes || size > lm_bytes - (address - DG_LM_BASE))
    return vector_access(at, address, size);
  if (written && write)
    written->lm_access(address - DG_LM_BASE, size, true);
  check_access(at, address, size, write);
  return lm + (address - DG_LM_BASE);
}

// ---- Engines ------------------------------------------------------------------------------------------------------------

// The fields of a descriptor that mean nothing (a copy's `list`: most often), and so need not be written: offset and bytes.
template <typename Command> constexpr std::array<std::pair<size_t, size_t>, 2> reserved_fields() {
  if constexpr (std::is_same_v<Command, dg_dma_command>)
    return {{{offsetof(dg_dma_command, list), 4}, {}}};
  else
    return {{{offsetof(Command, reserved0), 1}, {offsetof(Command, reserved1), 4}}};
}

template <typename Command> Command Core::descriptor(uint64_t address) {
  Command command;
  if (address % alignof(Command))
    fault(at, fmt::format("the command descriptor at {:#x} is not aligned to {} bytes", address, alignof(Command)));
  if (written && address - DG_LM_BASE <= lm_bytes - sizeof(Command))
    for (auto [offset, bytes] : reserved_fields<Command>())
      written->lm_access(address - DG_LM_BASE + offset, bytes, true);
  std::memcpy(&command, access(at, address, sizeof(Command), false), sizeof(Command));
  return command;
}

void Core::wait_for_engines() {
  if (!engines.awaits())
    return;
  shared.serve_before(std::min(reference(), shared.horizon));
  if (!engines.known()) {
    state = State::waiting;
    return;
  }
  state = State::running;
  time = advance(time, engines.when() * cycle, engines.awaits_place() ? Stall::queue : Stall::await);
  engines.came();
}

uint64_t Core::issue_tensor(uint64_t address) {
  uint64_t ticket = engines.tensor(descriptor<dg_tensor_command>(address), time / cycle);
  wait_for_engines();
  return ticket;
}

uint64_t Core::issue_drain(uint64_t address) {
  uint64_t ticket = engines.drain(descriptor<dg_drain_command>(address), time / cycle);
  wait_for_engines();
  return ticket;
}

uint64_t Core::issue_dma(uint64_t queue, uint64_t address) {
  uint64_t ticket = engines.dma(int(queue), descriptor<dg_dma_command>(address), time / cycle);
  wait_for_engines();
  return ticket;
}

void Core::queue_wait(uint64_t queue, uint64_t flag, uint64_t value) { engines.wait(int(queue), int(flag), value, time / cycle); }

void Core::await(uint64_t flag, uint64_t value) {
  if (engines.value(int(flag)) < value)
    throw Trap{Trap::Kind::deadlock, pc_of(at),
               fmt::format("core {} waits for flag {} >= {}, which is at {} and which nothing left to run can raise{}", number, flag, value,
                           engines.value(int(flag)), engines.situation())};
  if (check)
    check->core_waits(int(flag), value);
  if (shared.options.timing)
    engines.await(int(flag), value);
  wait_for_engines();
}

// Reading a flag counts as waiting for all that has been issued: its value must not depend on timing (D6).
uint64_t Core::flag(uint64_t flag) {
  uint64_t value = engines.value(int(flag));
  if (check)
    check->core_waits(int(flag), value);
  if (shared.options.timing)
    engines.await(int(flag), value);
  wait_for_engines();
  return value;
}

void Core::flag_add(uint64_t flag, uint64_t value) { engines.add(int(flag), value, time / cycle); }

// ---- Control registers -----------------------------------------------------------------------------------------------------

namespace {
// Kept and without effect: mstatus, mie, mtvec, mscratch, mepc, mcause, mtval.
int scratch_index(uint64_t number) {
  switch (number) {
  case 0x300:
    return 0;
  case 0x304:
    return 1;
  case 0x305:
    return 2;
  case 0x340:
    return 3;
  case 0x341:
    return 4;
  case 0x342:
    return 5;
  case 0x343:
    return 6;
  default:
    return -1;
  }
}
} // namespace

uint64_t Core::csr_read(uint64_t csr) {
  bool timed = shared.options.timing;
  switch (csr) {
  case 0x001:
    return fflags;
  case 0x002:
    return frm;
  case 0x003:
    return frm << 5 | fflags;
  case 0x301:
    return uint64_t(2) << 62 | 1 << 0 | 1 << 2 | 1 << 8 | 1 << 12 | 1 << 23; // RV64, A C I M, and X: extensions of our own
  case 0xB00:
  case 0xC00:
    return timed ? time / cycle : retired();
  case 0xC01:
    return timed ? uint64_t(double(time) / cycle / shared.machine.device.clock_ghz) : retired();
  case 0xB02:
  case 0xC02:
    return retired();
  case 0xCC0:
    return shared.kernel ? shared.cores.size() : 1;
  case 0xF14:
    return number;
  }
  if (int i = scratch_index(csr); i >= 0)
    return csr_scratch[i];
  fault(at, fmt::format("illegal instruction: control register {:#05x} does not exist", csr));
}

void Core::csr_write(uint64_t csr, uint64_t value) {
  switch (csr) {
  case 0x001:
    fflags = value & 31;
    return;
  case 0x002:
    frm = value & 7;
    return;
  case 0x003:
    frm = value >> 5 & 7, fflags = value & 31;
    return;
  }
  if (int i = scratch_index(csr); i >= 0) {
    csr_scratch[i] = value;
    return;
  }
  csr_read(csr); // does not return if there is no such register
  fault(at, fmt::format("illegal instruction: control register {:#05x} is read only", csr));
}

void Core::trap(uint64_t cause) {
  if (cause == 3 && shared.host) {
    // slli x0, x0, 31; ebreak; srai x0, x0, 7: a call of the host.
    uint64_t pc = pc_of(at);
    if (pc >= code_begin + 4 && pc + 8 <= code_begin + code_bytes) {
      uint32_t words[3];
      std::memcpy(words, shared.memory.host(pc - 4), 12);
      if (words[0] == 0x01f01013 && words[1] == 0x00100073 && words[2] == 0x40705013) {
        x[10] = shared.host->call(*this, x[10], x[11]);
        return;
      }
    }
  }
  fault(at, cause == 3 ? "ebreak: the program stopped itself (a failed assertion or __builtin_trap)"
                       : "ecall: there is no operating system to call");
}

// ---- Timing of the scalar side --------------------------------------------------------------------------------------------

Cache::Outcome Cache::access(uint64_t address, bool write) {
  uint64_t number = address / line;
  auto &set = sets[number % sets.size()];
  for (int way = 0; way < 4; ++way) {
    if (set[way] >> 1 != number + 1)
      continue;
    std::rotate(set.begin(), set.begin() + way, set.begin() + way + 1);
    set[0] |= write;
    return {true, 0};
  }
  uint64_t evicted = set[3];
  std::rotate(set.begin(), set.begin() + 3, set.end());
  set[0] = (number + 1) << 1 | uint64_t(write);
  return {false, evicted & 1 ? (evicted >> 1) - 1 : 0};
}

void Predictor::reset() {
  std::memset(counters, 1, sizeof(counters));
  std::memset(targets, 0, sizeof(targets));
  std::memset(returns, 0, sizeof(returns));
  depth = 0;
}

uint64_t Core::data_miss(uint64_t address, bool write, uint64_t at) {
  Cache::Outcome outcome = data_cache.access(address, write);
  if (outcome.hit)
    return 0;
  uint64_t now = at / cycle;
  if (outcome.evicted_dirty_line)
    shared.timing.line(outcome.evicted_dirty_line * Cache::line, true, now);
  return (shared.timing.line(address, false, now) - now + cache_miss_cycles) * cycle;
}

uint64_t Core::fetch(uint64_t then, uint64_t target) {
  if (instruction_cache.access(target, false).hit)
    return then;
  uint64_t now = then / cycle, there = shared.timing.line(target, false, now) + cache_miss_cycles;
  // The next lines come right behind it; they count as there when it is.
  for (int i = 1; i <= shared.machine.core.prefetch_lines; ++i)
    if (uint64_t next = target + uint64_t(i) * Cache::line; next / Cache::line * Cache::line < code_begin + code_bytes)
      if (!instruction_cache.access(next, false).hit)
        shared.timing.line(next, false, now);
  return advance(then, then + (there - now) * cycle, Stall::fetch);
}

uint64_t Core::jump_indirect(uint64_t at, uint64_t pc, uint64_t target, int rd, int rs1, uint64_t next) {
  uint64_t predicted;
  if (rs1 == 1 && rd != 1) {
    predicted = predictor.depth ? predictor.returns[--predictor.depth % 16] : 0;
  } else {
    uint64_t &entry = predictor.targets[pc / 2 % 256];
    predicted = entry;
    entry = target;
  }
  if (rd == 1)
    predictor.returns[predictor.depth++ % 16] = next;
  return redirect(at, target, predicted == target);
}

// ---- What cores share -------------------------------------------------------------------------------------------------------

Code *Shared::code_at(uint64_t address) {
  for (Code &code : codes)
    if (address - code.begin < code.bytes && address % 2 == 0)
      return &code;
  return nullptr;
}

std::pair<Core *, uint64_t> Shared::lm_owner(uint64_t address, Core &own) {
  if (address < DG_REMOTE_LM_BASE)
    return {&own, address - DG_LM_BASE};
  uint64_t number = (address - DG_REMOTE_LM_BASE) / DG_REMOTE_LM_STRIDE;
  return {number < cores.size() ? cores[number].get() : nullptr, (address - DG_REMOTE_LM_BASE) % DG_REMOTE_LM_STRIDE};
}

uint8_t *Shared::lm_of(uint64_t address, uint64_t bytes, Core &own) {
  auto [core, offset] = lm_owner(address, own);
  return core && offset < core->lm_bytes && bytes <= core->lm_bytes - offset ? core->lm + offset : nullptr;
}

std::string Shared::where(uint64_t pc) const {
  auto above = symbols.upper_bound(pc);
  if (above == symbols.begin() || std::prev(above)->second.empty())
    return fmt::format("{:#x}", pc);
  return fmt::format("{:#x} ({}+{})", pc, std::prev(above)->second, pc - std::prev(above)->first);
}

} // namespace dougong::sim
