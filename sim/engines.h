// The engines of one core: queues, flags, and what commands do.
//
// A command is executed when it is issued, unless its queue is blocked by a wait for a flag that is not there yet; then it
// stays queued and is retried when a flag rises. Any order that respects the waits gives the same memory in a program free of
// races, so eager execution is enough for values. When things happen is computed beside it, in timing mode: at once in the reference
// schedule (schedule.h), later in real time (engine_times.h). `await` then moves the core's time forward, or sets the core aside
// until the time is known.
//
// Flags belong to one core and only its own engines and instructions raise them: a core that waits for a flag which nothing
// executed so far has raised waits for ever, and that is reported at once.
#pragma once
#include "isa/commands.h"
#include "sim/calendar.h"
#include "sim/engine_times.h"
#include "sim/race_check.h"
#include "sim/schedule.h"
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>

namespace dougong::sim {

struct Core;

class Engines {
public:
  explicit Engines(Core &core);
  void reset();

  // Issue a command in cycle `now`; returns the ticket. Descriptors are checked here, and fault. The core then waits for a place in the
  // queue, if it must.
  uint64_t tensor(const dg_tensor_command &command, uint64_t now);
  uint64_t drain(const dg_drain_command &command, uint64_t now);
  uint64_t dma(int queue, const dg_dma_command &command, uint64_t now);
  void wait(int queue, int flag, uint64_t value, uint64_t now);
  void add(int flag, uint64_t value, uint64_t now);
  uint64_t value(int flag) const { return flags[flag]; }
  // Timing mode: what the core waits for, a flag or a place in the queue of the command just issued.
  void await(int flag, uint64_t value);
  bool awaits() const { return awaited.has_value(); }
  bool awaits_place() const { return awaited && awaited->place; }
  bool known(); // is it known when that happens
  uint64_t when() const;
  void came() { awaited.reset(); }
  void serve(int queue) { times.serve(queue); }
  uint64_t receive(uint64_t begin, uint64_t bytes) { return times.receive(begin, bytes); }
  uint64_t issued_on(int queue) const { return issued[queue]; } // commands, since the start
  uint64_t waiting_on(int queue) const { return pending[queue].size(); }
  bool blocked() const;
  uint64_t done();               // the cycle in which the last engine is done; all cores must have come to their ends
  std::string situation() const; // for a deadlock: what each blocked queue waits for

private:
  struct Wait {
    int flag;
    uint64_t value;
  };
  struct Entry {
    std::variant<dg_tensor_command, dg_drain_command, dg_dma_command, Wait> what;
    uint64_t issued, reference, pc; // cycles of the two schedules
    RaceCheck::Clock clock{};       // of the core, when it issued this
  };
  void check(const dg_tensor_command &c) const;
  void check(const dg_drain_command &c) const;
  void check(int queue, const dg_dma_command &c) const;
  void check_lm(const char *command, const char *field, int64_t low, int64_t high) const;
  uint64_t submit(int queue, Entry entry);
  bool ready(int queue, const Wait &wait);
  void retry();
  void execute(int queue, const Entry &entry);
  void check_accesses(const Entry &entry); // for races
  // Does it, and says what it costs if it starts in that cycle of the reference schedule.
  EngineTimes::Command run(const dg_tensor_command &c, uint64_t start);
  EngineTimes::Command run(const dg_drain_command &c, uint64_t start);
  EngineTimes::Command run(const dg_dma_command &c, uint64_t start, uint64_t pc);
  void count_vector_accesses();
  std::string details(const Entry &entry) const; // for the trace

  Core &core;
  std::array<uint64_t, 32> flags{};
  std::array<uint64_t, DG_QUEUES> issued{};
  std::array<std::deque<Entry>, DG_QUEUES> pending; // empty, or a wait that holds up the rest at the front
  // Timing.
  Schedule reference;
  EngineTimes times;
  Calendar lm;                           // the banks of local memory, in the reference schedule
  uint64_t lm_counted = 0, lm_until = 0; // how many bytes of all accesses are in it, and up to which cycle the vector unit's
  struct Awaited {
    bool place; // in the queue: the start of the command of that number; else the flag
    int index;
    uint64_t value;
  };
  std::optional<Awaited> awaited;
};

} // namespace dougong::sim
