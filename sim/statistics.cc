#include "sim/statistics.h"
#include <nlohmann/json.hpp>

namespace dougong::sim {

std::string_view name(Stall cause) {
  static constexpr std::string_view names[] = {"scalar", "vector", "memory", "unit", "fetch", "queue", "await"};
  return names[int(cause)];
}

std::string_view engine_name(int queue) {
  static constexpr std::string_view names[] = {"tensor", "drain", "load 0", "store 0", "load 1", "store 1"};
  return names[queue];
}

uint64_t Statistics::instructions() const {
  uint64_t sum = 0;
  for (const CoreStatistics &core : cores)
    sum += core.instructions;
  return sum;
}
uint64_t Statistics::tensor_macs() const {
  uint64_t sum = 0;
  for (const CoreStatistics &core : cores)
    sum += core.int_macs + core.fp8_macs + core.float_macs;
  return sum;
}
uint64_t Statistics::vector_instructions() const {
  uint64_t sum = 0;
  for (const CoreStatistics &core : cores)
    sum += core.vector_instructions;
  return sum;
}

Statistics Statistics::operator-(const Statistics &before) const {
  Statistics d = *this;
  auto minus = [](auto &a, const auto &b) { a -= b; };
  minus(d.launches, before.launches), minus(d.cycles, before.cycles), minus(d.seconds, before.seconds);
  for (size_t i = 0; i < d.cores.size() && i < before.cores.size(); ++i) {
    CoreStatistics &a = d.cores[i];
    const CoreStatistics &b = before.cores[i];
    minus(a.instructions, b.instructions), minus(a.vector_instructions, b.vector_instructions);
    minus(a.cycles, b.cycles), minus(a.busy, b.busy), minus(a.idle, b.idle);
    for (size_t s = 0; s < a.stalls.size(); ++s)
      minus(a.stalls[s], b.stalls[s]);
    for (size_t e = 0; e < a.engines.size(); ++e) {
      minus(a.engines[e].commands, b.engines[e].commands), minus(a.engines[e].busy, b.engines[e].busy);
      minus(a.engines[e].stalled, b.engines[e].stalled), minus(a.engines[e].idle, b.engines[e].idle);
    }
    minus(a.int_macs, b.int_macs), minus(a.fp8_macs, b.fp8_macs), minus(a.float_macs, b.float_macs);
    minus(a.lm_read, b.lm_read), minus(a.lm_written, b.lm_written), minus(a.acc_read, b.acc_read), minus(a.acc_written, b.acc_written);
  }
  minus(d.l2_read, before.l2_read), minus(d.l2_written, before.l2_written);
  minus(d.dram_read, before.dram_read), minus(d.dram_written, before.dram_written);
  minus(d.dma_read, before.dma_read), minus(d.dma_written, before.dma_written), minus(d.row_misses, before.row_misses);
  Energy &e = d.energy;
  const Energy &f = before.energy;
  minus(e.tensor, f.tensor), minus(e.scalar, f.scalar), minus(e.vector, f.vector), minus(e.lm, f.lm);
  minus(e.acc, f.acc), minus(e.l2, f.l2), minus(e.dram, f.dram), minus(e.standing, f.standing);
  return d;
}

nlohmann::json Statistics::json() const {
  using nlohmann::json;
  json result = {{"launches", launches},
                 {"cycles", cycles},
                 {"seconds", seconds},
                 {"instructions", instructions()},
                 {"vector_instructions", vector_instructions()},
                 {"tensor_macs", tensor_macs()},
                 {"bytes",
                  {{"l2_read", l2_read},
                   {"l2_written", l2_written},
                   {"dram_read", dram_read},
                   {"dram_written", dram_written},
                   {"dma_read", dma_read},
                   {"dma_written", dma_written}}},
                 {"l2_dirty_bytes", l2_dirty},
                 {"l2_dirty_joule", l2_dirty_joule},
                 {"dram_row_misses", row_misses},
                 {"energy_joule",
                  {{"tensor", energy.tensor},
                   {"scalar", energy.scalar},
                   {"vector", energy.vector},
                   {"lm", energy.lm},
                   {"acc", energy.acc},
                   {"l2", energy.l2},
                   {"dram", energy.dram},
                   {"static", energy.standing},
                   {"total", energy.total()}}},
                 {"cores", json::array()}};
  for (const CoreStatistics &core : cores) {
    json stalls, engines;
    for (int s = 0; s < int(Stall::count); ++s)
      stalls[std::string(name(Stall(s)))] = core.stalls[s];
    for (int q = 0; q < DG_QUEUES; ++q) {
      const EngineStatistics &e = core.engines[q];
      double utilisation = core.cycles ? double(e.busy) / double(core.cycles) : 0;
      engines[std::string(engine_name(q))] = {
          {"commands", e.commands}, {"busy", e.busy}, {"stalled", e.stalled}, {"idle", e.idle}, {"utilisation", utilisation}};
    }
    result["cores"].push_back({{"instructions", core.instructions},
                               {"vector_instructions", core.vector_instructions},
                               {"cycles", core.cycles},
                               {"busy", core.busy},
                               {"idle", core.idle},
                               {"stalls", stalls},
                               {"engines", engines},
                               {"int_macs", core.int_macs},
                               {"fp8_macs", core.fp8_macs},
                               {"float_macs", core.float_macs},
                               {"lm_read", core.lm_read},
                               {"lm_written", core.lm_written},
                               {"acc_read", core.acc_read},
                               {"acc_written", core.acc_written}});
  }
  return result;
}

} // namespace dougong::sim
