// The race check's other half: global memory, as far as copies touch it. Cores of a launch are not ordered at all, so what one writes no
// other may touch, but for adding to what it adds to; queues of one core are ordered by waits, as on chip (race_check.h). A read is
// remembered once a byte, the latest.
#pragma once
#include "sim/race_check.h"
#include <memory>
#include <string>
#include <unordered_map>

namespace dougong::sim {

class GlobalRaces {
public:
  void reset() { pages.clear(); }
  // An access by `core`'s queue `agent`, with its clock; what it races with, or nothing. `adds`: a write that commutes with all of the same
  // number; 0: with none.
  std::string access(int core, int agent, const RaceCheck::Clock &clock, uint64_t address, uint64_t bytes, bool write, uint8_t adds = 0);

private:
  struct Page {
    uint16_t writer[4096] = {}, reader[4096] = {}; // core * 8 + agent + 1; 0: none
    uint32_t written[4096] = {}, read[4096] = {};  // the agent's time
    bool several[4096] = {};                       // more than one core has read
    uint8_t adds[4096] = {};                       // of the last write, and of all since the last that does not commute
    bool several_added[4096] = {};                 // more than one core has added since
  };
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
};

} // namespace dougong::sim
