// When the commands of a core's engines run: the rule, which the model follows twice.
//
//   start = max(issued, the queue is free, the flags that it waits for were raised)
//
// The *reference schedule* says in which order commands meet what cores share, and how they crowd local memory. In it an instruction
// takes half a cycle, a DMA command has its core's port to itself and a fixed latency, and nobody waits for another core. It is a
// plausible course of things in which the speed of L2 and DRAM has no part. The *real* one (engine_times.h) has the model's times.
#pragma once
#include "isa/commands.h"
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>

namespace dougong::sim {

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

struct Schedule {
  std::array<FlagHistory, 32> flags;
  std::array<uint64_t, DG_QUEUES> waited{};           // when the flags waited for so far were there
  std::array<uint64_t, DG_QUEUES> free{};             // when the engine can start its next command
  std::array<uint64_t, DG_QUEUES> complete{};         // when its last one completes
  std::array<uint64_t, DG_QUEUES> commands{};         // scheduled so far
  std::array<std::deque<uint64_t>, DG_QUEUES> starts; // of the last of them, one more than the queue holds

  void reset() { *this = {}; }
  void wait(int queue, int flag, uint64_t value) { waited[queue] = std::max(waited[queue], flags[flag].when(value)); }
  uint64_t could(int queue, uint64_t issued) const { return std::max(issued, free[queue]); }
  uint64_t start(int queue, uint64_t issued) const { return std::max(could(queue, issued), waited[queue]); }
  // The queue's next command: its engine is taken from `start` to `until`, its flag rises at `completes` or after the one before.
  void run(int queue, size_t depth, uint64_t start, uint64_t until, uint64_t completes);
  // When the queue's command of that number (1, 2, ...), one of the last, started.
  uint64_t started(int queue, uint64_t number) const { return starts[queue][starts[queue].size() - 1 - (commands[queue] - number)]; }
  uint64_t done() const { return *std::max_element(complete.begin(), complete.end()); }
};

// The reference schedule's memory and instructions.
constexpr uint64_t reference_latency = 128; // cycles, of a DMA command
constexpr uint64_t reference_cycles(uint64_t instructions) { return instructions / 2; }

} // namespace dougong::sim
