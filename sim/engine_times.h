// The real times of one core's commands, in timing mode.
//
// Engines execute a command's values as soon as they may (engines.h), and put it down here. A DMA command gets its times when its
// turn comes to meet memory (service_order.h); the others when all that they wait for have theirs. So the times of a core's
// commands are known later than their values, and a core that awaits one whose time is not known yet is set aside until it is.
#pragma once
#include "sim/memory_timing.h"
#include "sim/schedule.h"
#include <deque>
#include <string>
#include <vector>

namespace dougong::sim {

struct Core;

size_t queue_depth(const Machine &machine, int queue);

class EngineTimes {
public:
  explicit EngineTimes(Core &core);
  void reset();

  struct Command {
    uint64_t issued = 0;
    uint64_t startup = 0;                // cycles, of a DMA command, before its first byte
    uint64_t cycles = 0;                 // its engine is taken for at least so long, by itself and what else crowds local memory
    uint64_t port_bytes = 0;             // of a DMA command
    uint64_t receivers = 0;              // set of other cores to which these bytes go
    std::vector<MemoryTiming::Run> runs; // of global memory
    MemoryTiming::Access access = MemoryTiming::Access::read; // of them all
    std::string details;                                      // for the trace
  };
  // In the order of execution.
  void wait(int queue, int flag, uint64_t value);
  void raised(int flag, uint64_t value, uint64_t now) { real.flags[flag].raised(value, now); }
  void command(int queue, Command command);

  bool known(int flag, uint64_t value); // is the time in which the flag reached this value
  bool started(int queue, uint64_t number);
  uint64_t when(int flag, uint64_t value) const { return real.flags[flag].when(value); }
  uint64_t start_of(int queue, uint64_t number) const { return real.started(queue, number); }
  uint64_t done() const { return real.done(); }
  // The DMA command at the front of the queue meets memory.
  void serve(int queue);
  // Another core's copy brings bytes here, in its turn: when they are through the port.
  uint64_t receive(uint64_t begin, uint64_t bytes) { return load_port.take(begin, bytes); }

private:
  struct Item { // a wait, or a command
    int flag = -1;
    uint64_t value = 0;
    Command command;
  };
  void advance(); // everything that does not wait for a DMA command's turn
  void finish(int queue, const Command &command, uint64_t start, uint64_t until, uint64_t completes);

  Core &core;
  Schedule real;
  std::array<std::deque<Item>, DG_QUEUES> items;
  Meter load_port, store_port; // of the core, to L2, DRAM and other cores: each direction has a width of its own
};

} // namespace dougong::sim
