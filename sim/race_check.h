// Finds races on a core's local and accumulator memory: two accesses to a byte, one of them a write, by two of {the core, its queues},
// with no wait that puts one before the other. The model executes commands in one valid order and so would never show them; hardware would.
//
// Every access has a *clock*: of each agent, how far it is known to be done when the access happens.
//
//   agents 0..5: a queue, in commands completed     agent 6: the core, in steps (a step ends where it issues, raises or waits)
//
//   core issues X on q        clock(X) = clock(command before X in q) ∪ the core's clock ∪ clocks of q's waits;  then X itself is q's t-th
//   qwait q, f, n / await     joins clock(n-th command of queue f), or, of a program's own flag, the clock of the core when it raised it
//
// An earlier access by agent r at its time t is before this one iff t <= clock[r] (vector clocks, as in race detectors for threads).
#pragma once
#include "isa/commands.h"
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dougong::sim {

class RaceCheck {
public:
  static constexpr int agents = DG_QUEUES + 1, core_agent = DG_QUEUES;
  using Clock = std::array<uint32_t, agents>;

  RaceCheck(uint64_t lm_bytes, uint64_t acc_bytes) : lm(lm_bytes), acc(acc_bytes / 4) {}
  void reset();

  // Order. `pc` is where the program says so.
  Clock issue(uint64_t pc);                                // the core's clock, for a command it issues here
  void begin(int queue, const Clock &issued, uint64_t pc); // the queue's next command starts: what it accesses follows
  void end();
  void queue_waits(int queue, int flag, uint64_t value);
  void core_waits(int flag, uint64_t value);
  void raises(int flag, uint64_t value);

  // Accesses of the command begun, or of the core if none is. The address of the first racing byte and who raced, or nothing.
  struct Race {
    uint64_t offset = 0;
    std::string other;
  };
  bool lm_access(uint64_t offset, uint64_t bytes, bool write) { return access(lm, offset, bytes, write); }
  bool acc_access(uint64_t offset, uint64_t bytes, bool write) { return access(acc, offset / 4, bytes / 4, write); }
  Race found; // set when an access returned false
  int running_agent() const { return agent; }
  const Clock &running_clock() const { return agent == core_agent ? core : current; }
  uint64_t running() const { return agent == core_agent ? 0 : pcs[agent].back(); } // where the command begun was issued

private:
  // Of each byte (or word of ACC): the last write, and the last read by each agent; 0: none in this launch.
  struct Shadow {
    explicit Shadow(uint64_t size) : writer(size), written(size) {
      for (auto &times : read)
        times.resize(size);
    }
    std::vector<uint8_t> writer;
    std::vector<uint32_t> written;
    std::array<std::vector<uint32_t>, agents> read;
  };
  bool access(Shadow &shadow, uint64_t first, uint64_t count, bool write);
  bool race(uint64_t at, int other, uint32_t when, bool write);
  Clock flag_clock(int flag, uint64_t value) const;
  static void join(Clock &into, const Clock &from);

  Shadow lm, acc;
  Clock core{}, current{};
  int agent = core_agent;
  std::array<Clock, DG_QUEUES> queues{};
  std::array<std::vector<Clock>, DG_QUEUES> completed; // by ticket - 1
  std::array<std::vector<uint64_t>, agents> pcs;       // of each command, of each step of the core
  std::array<std::vector<std::pair<uint64_t, Clock>>, 32> raised;
};

} // namespace dougong::sim
