// One core: what an instruction can see and change, in the order in which it is hot.
//
// The interpreter runs *handlers* over pre-decoded operations, one every two bytes of code, each of which jumps to the
// next one's handler (references: device-model-speed.md). What passes from handler to handler in registers:
//
//   op          the operation at pc            remaining   instructions left of the quantum
//   core        this                           time        timing mode: when the next instruction may issue
//
// Time is counted in units of 1/32 cycle, so that a single maximum over "ready" times gives the issue slot and the reason
// for the wait at once:
//
//   | cycle ............ | slot (2 bits) | cause (3 bits) |      slot: which of the cycle's four issue slots
//                                                              cause: 1 + Stall, of a ready time; 0 in `time`
#pragma once
#include "machines/machine.h"
#include "sim/engines.h"
#include "sim/memory.h"
#include "sim/race_check.h"
#include "sim/registers.h"
#include "sim/statistics.h"
#include "sim/written_memory.h"
#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace dougong::sim {

struct Core;
struct Op;
struct Shared;

#define DG_HANDLER __attribute__((preserve_none)) void
using Handler = __attribute__((preserve_none)) void (*)(const Op *, Core *, int64_t remaining, uint64_t time);

// A decoded instruction. Register numbers, or small immediates, in the bytes; rd 32 is where writes to x0 go.
struct Op {
  Handler run;
  uint8_t rd, rs1, rs2, rs3;
  int32_t imm;
};
static_assert(sizeof(Op) == 16);

// Executable memory and its decoded form: ops[i] is the instruction at begin + 2·i, decoded when it is first reached.
struct Code {
  uint64_t begin = 0, bytes = 0;
  std::unique_ptr<Op[]> ops;
};

// A device fault, a deadlock, a limit: unwinds to the launch.
struct Trap {
  enum class Kind { fault, deadlock, limit, race } kind;
  uint64_t pc;
  std::string text;
};

constexpr uint64_t cycle = 32, cause_mask = 7;
constexpr uint64_t cause(Stall stall) { return 1 + uint64_t(stall); }
constexpr uint64_t cycle_of(uint64_t time) { return time / cycle * cycle; }

enum UnitIndex { unit_scalar, unit_a, unit_b, unit_memory, unit_ab }; // as isa/Units.td

// The small cache beside the scalar side, in tags only: four ways, the most recent first.
struct Cache {
  static constexpr uint64_t line = 64;
  std::vector<std::array<uint64_t, 4>> sets; // line number · 2 + dirty, + 2 so that 0 is empty
  struct Outcome {
    bool hit;
    uint64_t evicted_dirty_line;
  }; // 0: none
  void reset(int kib) { sets.assign(std::max(1, kib * 1024 / int(line) / 4), {}); }
  bool hit_first(uint64_t address, bool write) {
    uint64_t number = address / line, &first = sets[number % sets.size()][0];
    if (first >> 1 != number + 1)
      return false;
    first |= write;
    return true;
  }
  Outcome access(uint64_t address, bool write);
};

struct Predictor {
  uint8_t counters[1024]; // two bits: taken from 2 on
  uint64_t targets[256];  // of indirect jumps
  uint64_t returns[16];
  unsigned depth;
  void reset();
};

struct alignas(64) Core {
  Core(Shared &shared, int number);

  uint64_t x[33] = {};
  const Op *ops = nullptr; // of the code segment pc is in
  uint64_t code_begin = 0, code_bytes = 0;
  // DRAM regions, the one last touched first: an access at `address` is inside one if address - begin < limit, whatever its size up to 8.
  struct Window {
    uint64_t begin = 0, limit = 0;
    uint8_t *host = nullptr;
  };
  Window windows[4];
  uint8_t *lm = nullptr;
  uint64_t lm_limit = 0, lm_bytes = 0;
  CoreStatistics count;
  uint64_t frm = 0, fflags = 0;
  uint64_t reservation = ~0ull; // lr's address; ~0: none

  Vector v[32] = {};
  Mask m[8] = {};

  // Timing. Ready times with their cause.
  uint64_t ready[33] = {}, vector_ready[32] = {}, mask_ready[8] = {};
  uint64_t unit_free[4] = {};
  // By how much more of late, in cycles, vector pipe A has been given than B. What either can do goes to the one with less: by the
  // program's order, so that no time has a part in the choice (memory_timing.h).
  int pipe_lead = 0;
  uint64_t issue_step = 8;                              // a slot; more on machines that issue fewer a cycle
  uint64_t reference_base = 0, instructions_before = 0; // of the reference schedule (schedule.h): waits, and instructions of other launches
  uint64_t branch_miss_cycles = 0, cache_miss_cycles = 0;
  Cache data_cache, instruction_cache;
  Predictor predictor;

  // Between quanta, and around instructions that may leave the interpreter.
  enum class State { running, waiting, returned, exited } state = State::running; // waiting: for a time that is not known yet
  const Op *op = nullptr;                                                         // where to go on
  const Op *at = nullptr; // the instruction that called one of the functions for snippets below
  int64_t remaining = 0;
  int64_t quantum = 0;
  uint64_t time = 0;
  int exit_code = 0;
  uint64_t csr_scratch[8] = {};

  Shared &shared;
  const int number;
  std::unique_ptr<uint8_t[]> lm_storage, acc;
  std::unique_ptr<RaceCheck> check;       // if races are looked for
  std::unique_ptr<WrittenMemory> written; // if reads of what nobody has written are
  bool checked = false;                   // either: every access to LM takes the slow path
  Engines engines;

  void reset();                   // as at the start of a launch: registers, flags and time 0
  void run(int64_t instructions); // a quantum, until a jump after it is used up, or the state changes

  uint64_t pc_of(const Op *at) const { return code_begin + uint64_t(at - ops) * 2; }
  // Where execution goes on at `address`, outside the current code segment; null if the kernel has returned. Faults if that is not code.
  const Op *enter(const Op *from, uint64_t address, int64_t left, uint64_t now);
  uint64_t retired() const { return count.instructions + uint64_t(quantum - remaining); }
  uint64_t reference() const { return reference_base + reference_cycles(retired() - instructions_before); } // the cycle there
  void pass_reference(uint64_t cycle) { reference_base += std::max(cycle, reference()) - reference(); }
  // What the engines have made the core wait for: time moves there, if it is known, else the core is set aside until it is.
  void wait_for_engines();

  [[noreturn]] void fault(const Op *at, std::string text) { throw Trap{Trap::Kind::fault, pc_of(at), std::move(text)}; }
  [[noreturn]] void misaligned(const Op *at, uint64_t address, uint64_t size); // an atomic access
  // The core touches its LM: a race?
  void check_access(const Op *at, uint64_t address, uint64_t size, bool write);
  // The same of `who`, a command issued at `pc`, and memory that nobody has written; `own` is the core whose LM it is.
  void check_written(uint64_t pc, const char *who, Core &own, uint64_t offset, uint64_t size, bool write);
  void check_written_acc(uint64_t pc, const char *who, uint64_t offset, uint64_t size, bool write);
  uint8_t *access(const Op *at, uint64_t address, uint64_t size, bool write); // slow path of scalar accesses
  uint8_t *vector_access(const Op *at, uint64_t address, uint64_t size);
  uint8_t *access_vector_checked(const Op *at, uint64_t address, uint64_t size, bool write);

  // For the semantics snippets of isa/*.td.
  uint64_t issue_tensor(uint64_t address);
  uint64_t issue_drain(uint64_t address);
  uint64_t issue_dma(uint64_t queue, uint64_t address);
  void queue_wait(uint64_t queue, uint64_t flag, uint64_t value);
  void await(uint64_t flag, uint64_t value);
  uint64_t flag(uint64_t flag);
  void flag_add(uint64_t flag, uint64_t value);
  uint64_t csr_read(uint64_t number);
  void csr_write(uint64_t number, uint64_t value);
  void trap(uint64_t cause); // ebreak: 3 (semihosting, if the magic sequence is around it); ecall: 11

  // `time` moves to a later cycle; the cycles between, in which nothing issues, are the cause's.
  uint64_t advance(uint64_t from, uint64_t to, Stall why) {
    to = cycle_of(to + cycle - 1);
    if (to <= from)
      return from;
    int64_t gap = int64_t(to / cycle) - (int64_t(from - 1) >> 5) - 1;
    if (gap > 0)
      count.stalls[int(why)] += gap;
    return to;
  }
  // The slot in which an instruction issues whose operands are ready at `needed`, on `unit`.
  template <int unit, int occupancy> __attribute__((always_inline)) uint64_t issue(uint64_t from, uint64_t needed) {
    int u = unit;
    if constexpr (unit == unit_ab)
      u = pipe_lead >= 0 ? unit_b : unit_a;
    if constexpr (unit == unit_a || unit == unit_b || unit == unit_ab)
      pipe_lead = std::clamp(pipe_lead + (u == unit_a ? occupancy : -occupancy), -8, 8);
    uint64_t at = std::max(std::max(from, needed), unit_free[u]);
    int64_t gap = int64_t(at / cycle) - (int64_t(from - 1) >> 5) - 1;
    if (gap > 0)
      count.stalls[(at & cause_mask) - 1] += gap;
    at &= ~cause_mask;
    unit_free[u] = cycle_of(at) + occupancy * cycle + cause(Stall::unit);
    return at;
  }
  // The same of what takes no slot and no unit: the end of a hardware loop.
  uint64_t issue_free(uint64_t from, uint64_t needed) {
    uint64_t at = std::max(from, needed);
    int64_t gap = int64_t(at / cycle) - (int64_t(from - 1) >> 5) - 1;
    if (gap > 0)
      count.stalls[(at & cause_mask) - 1] += gap;
    return at & ~cause_mask;
  }
  // Extra time of a scalar access to DRAM.
  uint64_t data_delay(uint64_t address, bool write, uint64_t at) {
    if (address < DG_DRAM_BASE || data_cache.hit_first(address, write))
      return 0;
    return data_miss(address, write, at);
  }
  uint64_t data_miss(uint64_t address, bool write, uint64_t at);
  // When the instruction after a jump that issued at `at` may issue: the predictor's and the instruction cache's part.
  uint64_t branch_taken(uint64_t at, uint64_t pc, uint64_t target) {
    uint8_t &counter = predictor.counters[pc / 2 % 1024];
    bool predicted = counter >= 2;
    counter = counter < 3 ? counter + 1 : 3;
    return redirect(at, target, predicted);
  }
  uint64_t branch_not_taken(uint64_t at, uint64_t pc) {
    uint8_t &counter = predictor.counters[pc / 2 % 1024];
    bool predicted = counter < 2;
    counter = counter > 0 ? counter - 1 : 0;
    return predicted ? at + issue_step : mispredicted(at);
  }
  uint64_t loop_back(uint64_t at, uint64_t target) { return instruction_cache.hit_first(target, false) ? at : fetch(at, target); }
  uint64_t jump_direct(uint64_t at, uint64_t target, int rd, uint64_t next) {
    if (rd == 1)
      predictor.returns[predictor.depth++ % 16] = next;
    return redirect(at, target, true);
  }
  uint64_t jump_indirect(uint64_t at, uint64_t pc, uint64_t target, int rd, int rs1, uint64_t next);
  uint64_t redirect(uint64_t at, uint64_t target, bool predicted) {
    uint64_t then = predicted ? cycle_of(at) + cycle : mispredicted(at);
    return instruction_cache.hit_first(target, false) ? then : fetch(then, target);
  }
  uint64_t mispredicted(uint64_t at) { return advance(at + issue_step, cycle_of(at) + (1 + branch_miss_cycles) * cycle, Stall::fetch); }
  uint64_t fetch(uint64_t then, uint64_t target);

private:
  template <typename Command> Command descriptor(uint64_t address);
};

} // namespace dougong::sim
