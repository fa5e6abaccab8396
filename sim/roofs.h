// Which part of the machine bounds a program: the least cycles that what it did takes each part at its full rate.
#pragma once
#include "machines/machine.h"
#include "sim/statistics.h"

namespace dougong::sim {

struct Roof {
  std::string_view name; // "issue", "vector", "tensor", "lm": of the core that has most to do; "l2", "dram": of all cores together
  double cycles;         // counted work / the part's peak rate
};

// The roofs in the order above, "l2" only of a machine that has one. No program is done in fewer cycles than the highest, which is the
// roof that binds it. Only timing mode counts what "l2" and "dram" need.
std::vector<Roof> roofs(const Statistics &counted, const Machine &machine);

// {"issue": {"cycles": …, "share": … of the cycles it took}, …}
nlohmann::json json(const std::vector<Roof> &roofs, uint64_t cycles);

} // namespace dougong::sim
