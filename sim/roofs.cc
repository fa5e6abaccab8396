#include "sim/roofs.h"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace dougong::sim {

constexpr double vector_units = 3; // both pipes, and the memory unit for loads and stores
constexpr double loop_ends = 1;    // dg.loop, which takes none of the issue slots

std::vector<Roof> roofs(const Statistics &counted, const Machine &machine) {
  const Machine::Tensor &engine = machine.tensor;
  const double macs_of_a_step = double(engine.rows) * engine.columns;
  const double lm_width = double(machine.core.lm_banks) * machine.core.lm_bank_bytes;
  double issue = 0, vector = 0, tensor = 0, lm = 0;
  for (const CoreStatistics &core : counted.cores) {
    issue = std::max(issue, double(core.instructions) / (machine.core.issue_width + loop_ends));
    vector = std::max(vector, double(core.vector_instructions) / vector_units);
    double steps = double(core.int_macs) / engine.int8_rate + double(core.fp8_macs) / engine.fp8_rate +
                   double(core.float_macs) / std::max(engine.f16_rate, engine.bf16_rate);
    tensor = std::max(tensor, steps / macs_of_a_step);
    lm = std::max(lm, double(core.lm_read + core.lm_written) / lm_width);
  }
  std::vector<Roof> result = {{"issue", issue}, {"vector", vector}, {"tensor", tensor}, {"lm", lm}};
  if (machine.l2.kib)
    result.push_back({"l2", double(counted.l2_read + counted.l2_written) / machine.l2.bytes_per_cycle});
  result.push_back({"dram", double(counted.dram_read + counted.dram_written) / machine.dram_bytes_per_cycle()});
  return result;
}

nlohmann::json json(const std::vector<Roof> &roofs, uint64_t cycles) {
  nlohmann::json result;
  for (const Roof &roof : roofs)
    result[std::string(roof.name)] = {{"cycles", roof.cycles}, {"share", roof.cycles / double(cycles)}};
  return result;
}

} // namespace dougong::sim
