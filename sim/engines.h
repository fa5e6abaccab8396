// The engines of one core: queues, flags, and what commands do.
//
// A command is executed when it is issued, unless its queue is blocked by a wait for a flag that is not there yet; then it
// stays queued and is retried when a flag rises. Any order that respects the waits gives the same memory in a program free of
// races, so eager execution is enough for values; *when* things happen is computed beside it, in timing mode: a command starts at
//     max(issued, engine free, when the flags it waits for were raised)
// and its flag rises when it completes. `await` then moves the core's time forward instead of blocking.
//
// Flags belong to one core and only its own engines and instructions raise them: a core that waits for a flag which nothing
// executed so far has raised waits for ever, and that is reported at once.
#pragma once
#include "isa/commands.h"
#include "sim/memory_timing.h"
#include "sim/race_check.h"
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <variant>

namespace dougong::sim {

struct Core;

// When a flag reached which value; monotone in both. Only the recent part is kept: what is older is earlier.
class FlagHistory {
public:
  void reset();
  void raised(uint64_t value, uint64_t when);
  uint64_t when(uint64_t value) const; // 0 for a value never waited for

private:
  struct Raise {
    uint64_t value, when;
  };
  std::deque<Raise> raises;
  uint64_t forgotten = 0; // when the latest of the forgotten ones was
};

class Engines {
public:
  explicit Engines(Core &core);
  void reset();

  // Issue a command in cycle `now`, which moves on while the queue is full; returns the ticket. Descriptors are checked here, and fault.
  uint64_t tensor(const dg_tensor_command &command, uint64_t &now);
  uint64_t drain(const dg_drain_command &command, uint64_t &now);
  uint64_t dma(int queue, const dg_dma_command &command, uint64_t &now);
  void wait(int queue, int flag, uint64_t value, uint64_t now);
  void add(int flag, uint64_t value, uint64_t now);
  uint64_t value(int flag) const { return flags[flag]; }
  uint64_t when(int flag, uint64_t value) const { return history[flag].when(value); }
  uint64_t issued_on(int queue) const { return issued[queue]; } // commands, since the start
  uint64_t waiting_on(int queue) const { return pending[queue].size(); }
  bool blocked() const;
  uint64_t done() const;         // the cycle in which the last engine is done
  std::string situation() const; // for a deadlock: what each blocked queue waits for

private:
  struct Wait {
    int flag;
    uint64_t value;
  };
  struct Entry {
    std::variant<dg_tensor_command, dg_drain_command, dg_dma_command, Wait> what;
    uint64_t issued, pc;
    RaceCheck::Clock clock{}; // of the core, when it issued this
  };
  // What a command costs: the engine is taken from its start to `free`; what it wrote is there at `complete`.
  struct Times {
    uint64_t free, complete;
  };

  void check(const dg_tensor_command &c) const;
  void check(const dg_drain_command &c) const;
  void check(int queue, const dg_dma_command &c) const;
  void check_lm(const char *command, const char *field, int64_t low, int64_t high) const;
  uint64_t submit(int queue, Entry entry, uint64_t &now);
  bool ready(int queue, const Wait &wait);
  void retry();
  void execute(int queue, const Entry &entry);
  void check_accesses(const Entry &entry); // for races
  Times run(const dg_tensor_command &c, uint64_t start);
  Times run(const dg_drain_command &c, uint64_t start);
  Times run(int queue, const dg_dma_command &c, uint64_t start);

  Core &core;
  std::array<uint64_t, 32> flags{};
  std::array<uint64_t, DG_QUEUES> issued{};
  std::array<std::deque<Entry>, DG_QUEUES> pending; // empty, or a wait that holds up the rest at the front
  // Timing, in cycles.
  Calendar lm; // the banks of local memory, which the engines share
  std::array<FlagHistory, 32> history;
  std::array<uint64_t, DG_QUEUES> waited{};           // when the flags waited for so far were there
  std::array<uint64_t, DG_QUEUES> free{};             // when the engine can start its next command
  std::array<uint64_t, DG_QUEUES> complete{};         // when its last one completes
  std::array<std::deque<uint64_t>, DG_QUEUES> starts; // of the last `queue_depth` commands
};

} // namespace dougong::sim
