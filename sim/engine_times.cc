#include "sim/engine_times.h"
#include "sim/shared.h"
#include <bit>
#include <cassert>
#include <fmt/format.h>

namespace dougong::sim {

void FlagHistory::reset() {
  raises.clear();
  forgotten = 0;
}

void FlagHistory::raised(uint64_t value, uint64_t when) {
  if (raises.size() == 8192) {
    forgotten = raises.front().when;
    raises.pop_front();
  }
  raises.push_back({value, when});
}

uint64_t FlagHistory::when(uint64_t value) const {
  if (value == 0)
    return 0;
  auto at = std::lower_bound(raises.begin(), raises.end(), value, [](const Raise &raise, uint64_t wanted) { return raise.value < wanted; });
  if (at == raises.begin())
    return raises.empty() ? 0 : raises.front().value == value ? raises.front().when : forgotten;
  return at == raises.end() ? raises.back().when : at->when;
}

void Schedule::run(int queue, size_t depth, uint64_t start, uint64_t until, uint64_t completes) {
  free[queue] = until;
  complete[queue] = std::max(complete[queue], completes);
  flags[queue].raised(++commands[queue], complete[queue]);
  starts[queue].push_back(start);
  if (starts[queue].size() > depth + 1)
    starts[queue].pop_front();
}

size_t queue_depth(const Machine &machine, int queue) { return queue <= DG_DRAIN ? machine.tensor.queue_depth : machine.dma.queue_depth; }

// Two queues of a core share its port as two requests share L2, within less time.
constexpr uint64_t port_slack = 128;

EngineTimes::EngineTimes(Core &core) : core(core), load_port(core.shared.machine.dma.bytes_per_cycle, port_slack), store_port(load_port) {}

void EngineTimes::reset() {
  real.reset();
  for (auto &queue : items)
    queue.clear();
  load_port.reset();
  store_port.reset();
}

void EngineTimes::wait(int queue, int flag, uint64_t value) { items[queue].push_back({flag, value, {}}); }

void EngineTimes::command(int queue, Command command) { items[queue].push_back({-1, 0, std::move(command)}); }

bool EngineTimes::known(int flag, uint64_t value) {
  if (flag < DG_QUEUES && real.commands[flag] < value)
    advance();
  return flag >= DG_QUEUES || real.commands[flag] >= value;
}

bool EngineTimes::started(int queue, uint64_t number) {
  if (real.commands[queue] < number)
    advance();
  return real.commands[queue] >= number;
}

void EngineTimes::advance() {
  for (bool moved = true; moved;) {
    moved = false;
    for (int queue = 0; queue < DG_QUEUES; ++queue)
      for (; !items[queue].empty(); items[queue].pop_front(), moved = true) {
        const Item &item = items[queue].front();
        if (item.flag >= 0) {
          if (item.flag < DG_QUEUES && real.commands[item.flag] < item.value)
            break;
          real.wait(queue, item.flag, item.value);
          continue;
        }
        if (item.command.port_bytes)
          break;
        uint64_t start = real.start(queue, item.command.issued), until = start + item.command.cycles;
        finish(queue, item.command, start, until, until);
      }
  }
}

void EngineTimes::serve(int queue) {
  advance();
  assert(!items[queue].empty() && items[queue].front().flag < 0 && "the reference schedule puts what a command waits for before it");
  const Command &command = items[queue].front().command;
  bool store = queue == DG_STORE0 || queue == DG_STORE1;
  uint64_t start = real.start(queue, command.issued), begin = start + command.startup;
  Meter &port = store ? store_port : load_port;
  MemoryTiming::Passed passed{begin, 0};
  if (!command.runs.empty())
    passed = core.shared.timing.copy(command.runs, command.access, begin, port);
  uint64_t until = std::max({passed.transferred, port.take(begin, command.port_bytes), start + command.cycles});
  for (uint64_t rest = command.receivers; rest; rest &= rest - 1)
    until = std::max(until, core.shared.cores[std::countr_zero(rest)]->engines.receive(begin, command.port_bytes));
  finish(queue, command, start, until, std::max(until + passed.latency, passed.under_way));
  items[queue].pop_front();
}

void EngineTimes::finish(int queue, const Command &command, uint64_t start, uint64_t until, uint64_t completes) {
  EngineStatistics &count = core.count.engines[queue];
  count.stalled += start - real.could(queue, command.issued);
  count.busy += until - start;
  real.run(queue, queue_depth(core.shared.machine, queue), start, until, completes);
  if (core.shared.trace)
    core.shared.trace->span(core.number, queue,
                            queue == DG_TENSOR  ? "tensor"
                            : queue == DG_DRAIN ? "drain"
                                                : "copy",
                            core.shared.launch_start + start, core.shared.launch_start + until,
                            fmt::format("\"ticket\":{},{}", real.commands[queue], command.details));
}

} // namespace dougong::sim
