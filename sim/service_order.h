// In which order the DMA commands of all cores meet L2, DRAM and their ports: in that of their starts in the reference schedule
// (schedule.h); those that start together by core and queue.
//
//   cores run in turn                  a command executes: its values are there, it is added here
//   all cores have come to cycle T     what started before T is served: no command that is yet to come can be before it
//
// First come, first served by real times would be an order too, but one that a faster memory changes; and then it may be the other
// core that waits, the one that all wait for in the end (Graham's anomaly).
#pragma once
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

namespace dougong::sim {

class ServiceOrder {
public:
  void reset() { commands = {}; }
  void add(uint64_t reference_start, int core, int queue) { commands.emplace(reference_start, core, queue); }
  // Calls serve(core, queue) for the next command of that queue, for all that start before `reference`.
  template <typename F> void serve_before(uint64_t reference, F serve) {
    while (!commands.empty() && std::get<0>(commands.top()) < reference) {
      auto [start, core, queue] = commands.top();
      commands.pop();
      serve(core, queue);
    }
  }

private:
  using Command = std::tuple<uint64_t, int, int>;
  std::priority_queue<Command, std::vector<Command>, std::greater<>> commands;
};

} // namespace dougong::sim
