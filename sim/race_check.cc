#include "sim/race_check.h"
#include "sim/statistics.h"
#include <algorithm>
#include <fmt/format.h>

namespace dougong::sim {

void RaceCheck::reset() {
  for (Shadow *shadow : {&lm, &acc}) {
    std::fill(shadow->written.begin(), shadow->written.end(), 0);
    for (auto &times : shadow->read)
      std::fill(times.begin(), times.end(), 0);
  }
  core = {};
  core[core_agent] = 1;
  agent = core_agent;
  queues.fill({});
  for (auto &clocks : completed)
    clocks.clear();
  for (auto &list : pcs)
    list.clear();
  for (auto &list : raised)
    list.clear();
}

void RaceCheck::join(Clock &into, const Clock &from) {
  for (int a = 0; a < agents; ++a)
    into[a] = std::max(into[a], from[a]);
}

RaceCheck::Clock RaceCheck::issue(uint64_t pc) {
  Clock clock = core;
  ++core[core_agent];
  pcs[core_agent].push_back(pc);
  return clock;
}

void RaceCheck::begin(int queue, const Clock &issued, uint64_t pc) {
  agent = queue;
  join(queues[queue], issued);
  current = queues[queue];
  current[queue] = uint32_t(completed[queue].size()) + 1; // its own earlier commands are before it, and it is not before itself
  pcs[queue].push_back(pc);
}

void RaceCheck::end() {
  completed[agent].push_back(current);
  queues[agent] = current;
  agent = core_agent;
}

RaceCheck::Clock RaceCheck::flag_clock(int flag, uint64_t value) const {
  if (value == 0)
    return {};
  if (flag < DG_QUEUES)
    return completed[flag][std::min<uint64_t>(value, completed[flag].size()) - 1];
  auto at = std::lower_bound(raised[flag].begin(), raised[flag].end(), value,
                             [](const auto &entry, uint64_t wanted) { return entry.first < wanted; });
  return at == raised[flag].end() ? Clock{} : at->second;
}

void RaceCheck::queue_waits(int queue, int flag, uint64_t value) { join(queues[queue], flag_clock(flag, value)); }
void RaceCheck::core_waits(int flag, uint64_t value) { join(core, flag_clock(flag, value)); }
void RaceCheck::raises(int flag, uint64_t value) { raised[flag].push_back({value, issue(0)}); }

bool RaceCheck::access(Shadow &shadow, uint64_t first, uint64_t count, bool write) {
  const Clock &clock = agent == core_agent ? core : current;
  uint32_t now = clock[agent];
  uint8_t self = uint8_t(agent);
  uint64_t end = std::min<uint64_t>(first + count, shadow.written.size());
  for (uint64_t i = first; i < end; ++i)
    if (shadow.written[i] > clock[shadow.writer[i]])
      return race(i, shadow.writer[i], shadow.written[i], true);
  if (!write) {
    std::fill(shadow.read[agent].begin() + first, shadow.read[agent].begin() + end, now);
    return true;
  }
  for (int other = 0; other < agents; ++other) {
    const uint32_t *times = shadow.read[other].data();
    uint32_t known = clock[other], late = 0;
    for (uint64_t i = first; i < end; ++i)
      late |= times[i] > known;
    if (late)
      for (uint64_t i = first; i < end; ++i)
        if (times[i] > known)
          return race(i, other, times[i], false);
  }
  std::fill(shadow.writer.begin() + first, shadow.writer.begin() + end, self);
  std::fill(shadow.written.begin() + first, shadow.written.begin() + end, now);
  return true;
}

bool RaceCheck::race(uint64_t at, int other, uint32_t when, bool write) {
  found.offset = at;
  const auto &places = pcs[other];
  uint64_t pc = when - 1 < places.size() ? places[when - 1] : 0;
  if (other == core_agent)
    found.other = pc ? fmt::format("the core {} it, before it issues the command at {:#x}", write ? "writes" : "reads", pc)
                     : fmt::format("the core {} it", write ? "writes" : "reads");
  else
    found.other =
        fmt::format("command {} of the {} queue, issued at {:#x}, {} it", when, engine_name(other), pc, write ? "writes" : "reads");
  return false;
}

} // namespace dougong::sim
