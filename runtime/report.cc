// The arithmetic and the layout of a run's report.
#include "runtime/report.h"
#include "machines/machine.h"
#include "runtime/explain.h"
#include <algorithm>
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

namespace dougong {

std::string_view name(Roof roof) {
  constexpr std::string_view names[] = {"tensor peak", "vector peak", "DRAM", "L2", "host"};
  return names[unsigned(roof)];
}

namespace {

constexpr double vector_lanes = 32; // of f32, in which the compiler computes
constexpr double vector_pipes = 2;  // of which one multiplies and adds

// The step's least time under each roof. DRAM counts the bytes that must move, but not those that L2 kept from moving.
void set_roof(StepReport &step, const Specialisation::Kernel &kernel, const Machine &m) {
  const Statistics &s = step.statistics;
  double cycle = 1e-9 / m.device.clock_ghz, cores = m.device.cores;
  double integer = s.tensor_macs ? double(s.tensor_int_macs) / double(s.tensor_macs) : 0;
  double macs_per_step = double(m.tensor.rows) * m.tensor.columns * cores;
  double tensor = double(kernel.tensor_macs) / macs_per_step *
                  (integer / m.tensor.int8_rate + (1 - integer) / std::max(m.tensor.f16_rate, m.tensor.bf16_rate));
  double vector =
      std::max(double(kernel.vector_macs), double(kernel.vector_macs + kernel.vector_elements) / vector_pipes) / (vector_lanes * cores);
  auto dram_bytes = double(s.bytes.at("dram read") + s.bytes.at("dram written"));
  double dram = std::min(double(kernel.compulsory_bytes), dram_bytes) / m.dram_bytes_per_cycle();
  double near_width = double(m.dma.bytes_per_cycle) * 2 * cores; // a port of a core takes so much in each direction
  if (m.l2.kib)
    near_width = std::min(near_width, double(m.l2.bytes_per_cycle));
  double l2 = double(kernel.compulsory_bytes) / near_width;
  const std::pair<double, Roof> roofs[] = {{tensor, Roof::TensorPeak}, {vector, Roof::VectorPeak}, {dram, Roof::Dram}, {l2, Roof::L2}};
  auto highest = std::max_element(std::begin(roofs), std::end(roofs), [](auto &a, auto &b) { return a.first < b.first; });
  step.roof = highest->second;
  step.bound_seconds = highest->first * cycle;
}

std::string si(double value, std::string_view unit) {
  constexpr std::pair<double, const char *> prefixes[] = {{1e12, "T"}, {1e9, "G"},  {1e6, "M"},  {1e3, "k"},  {1, ""},
                                                          {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}};
  for (auto [scale, prefix] : prefixes)
    if (value >= scale)
      return fmt::format("{:.4g} {}{}", value / scale, prefix, unit);
  return fmt::format("{:.3g} {}", value, unit);
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string shortened(const std::string &text, size_t width) { return text.size() <= width ? text : text.substr(0, width - 3) + "..."; }

} // namespace

RunReport RunReport::make(const Artifact &artifact, const Specialisation &program, const RunProfile &profile, const Machine *machine,
                          std::string device) {
  RunReport report;
  report.model = artifact.model;
  report.properties = artifact.properties;
  report.device = std::move(device);
  for (const StepProfile &measured : profile.steps) {
    const auto &step = program.steps[measured.step];
    const auto &kernel = program.kernels[step.kernel];
    StepReport &out = report.steps.emplace_back();
    out.name = step.name;
    out.nodes = step.nodes;
    out.target = program.target(step);
    out.reason = step.reason;
    out.tile = kernel.tile;
    out.macs = kernel.tensor_macs + kernel.vector_macs;
    out.compulsory_bytes = kernel.compulsory_bytes;
    out.statistics = measured.statistics;
    out.seconds = measured.statistics.timed ? measured.statistics.seconds : measured.statistics.host_seconds;
    report.seconds += out.seconds;
    if (out.target == Target::Cpu) {
      report.cpu_seconds += out.seconds;
      report.cpu_macs += out.macs;
      continue;
    }
    report.timed |= out.statistics.timed;
    report.npu_seconds += out.seconds;
    report.npu_macs += out.macs;
    report.npu.add(out.statistics);
    if (machine && out.statistics.timed)
      set_roof(out, kernel, *machine);
    report.bound_seconds += out.bound_seconds;
  }
  return report;
}

std::string RunReport::text(size_t slowest) const {
  std::string out;
  auto line = [&]<typename... T>(fmt::format_string<T...> format, T &&...values) {
    fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
    out += '\n';
  };
  size_t on_cpu = std::count_if(steps.begin(), steps.end(), [](auto &step) { return step.target == Target::Cpu; });
  line("{} on {}: {} fused operators, {} on the NPU, {} on the CPU", model, device, steps.size(), steps.size() - on_cpu, on_cpu);
  if (!properties.empty())
    line("  the ONNX file says: {}", properties_text(properties));
  line("  latency      {}{}", si(seconds, "s"),
       timed          ? ""
       : npu.launches ? "  (host time of the functional model: --timing gives the NPU's)"
                      : "");
  if (on_cpu && npu.launches)
    line("    NPU {}, CPU {} (by the host's clock)", si(npu_seconds, "s"), si(cpu_seconds, "s"));
  if (npu_macs + cpu_macs)
    line("  multiply-adds {}, {:.1f}% on the NPU; its tensor engines did {} (padding included)", si(double(npu_macs + cpu_macs), "MAC"),
         percent(double(npu_macs), double(npu_macs + cpu_macs)), si(double(npu.tensor_macs), "MAC"));
  if (timed) {
    line("  NPU cycles   {}, roofline bound {} ({:.1f}% of it reached)", npu.cycles, si(bound_seconds, "s"),
         percent(bound_seconds, npu_seconds));
    line("  engine          busy  stalled   idle");
    for (auto &[engine, time] : npu.engines) {
      auto all = double(time.busy + time.stalled + time.idle);
      line("    {:<10} {:6.1f}%  {:6.1f}% {:5.1f}%", engine, percent(double(time.busy), all), percent(double(time.stalled), all),
           percent(double(time.idle), all));
    }
    auto stalled = double(
        std::accumulate(npu.stalls.begin(), npu.stalls.end(), uint64_t(0), [](uint64_t sum, auto &cause) { return sum + cause.second; }));
    std::string causes;
    for (auto &[cause, cycles] : npu.stalls)
      if (cycles)
        causes += fmt::format("  {} {:.1f}%", cause, percent(double(cycles), stalled));
    if (!causes.empty())
      line("  cores stalled for{}", causes);
  }
  if (npu.launches) {
    line("  bytes moved");
    for (auto &[level, count] : npu.bytes)
      if (count)
        line("    {:<14} {}", level, si(double(count), "B"));
  }
  if (timed && npu.l2_dirty)
    line("    left in L2 to be written to DRAM: {}, {} (not counted above, nor below)", si(double(npu.l2_dirty), "B"),
         si(npu.l2_dirty_joule, "J"));
  if (timed) {
    line("  energy       {}", si(npu.energy(), "J"));
    for (auto &[part, joule] : npu.energy_joule)
      line("    {:<10} {:>10}  {:5.1f}%", part, si(joule, "J"), percent(joule, npu.energy()));
  }
  std::vector<const StepReport *> order;
  for (const StepReport &step : steps)
    order.push_back(&step);
  std::sort(order.begin(), order.end(), [](auto *a, auto *b) { return a->seconds != b->seconds ? a->seconds > b->seconds : a < b; });
  order.resize(std::min(order.size(), slowest));
  if (!order.empty())
    line("  the {} slowest fused operators", order.size());
  if (!order.empty())
    line("    {:<44} {:>10} {:>6}  {:<4} {:<12} {:>7} {:>10} {:>10}", "operator", "time", "share", "on", "roof", "of roof", "MACs",
         "bytes");
  for (const StepReport *step : order)
    line("    {:<44} {:>10} {:5.1f}%  {:<4} {:<12} {:>7} {:>10} {:>10}", shortened(step->name, 44), si(step->seconds, "s"),
         percent(step->seconds, seconds), step->target == Target::Npu ? "npu" : "cpu", step->bound_seconds > 0 ? name(step->roof) : "-",
         step->bound_seconds > 0 ? fmt::format("{:.1f}%", percent(step->bound_seconds, step->seconds)) : "-", si(double(step->macs), ""),
         si(double(step->compulsory_bytes), "B"));
  bool heading = false;
  for (const StepReport &step : steps) {
    if (step.target != Target::Cpu || step.reason.empty())
      continue;
    if (!std::exchange(heading, true))
      line("  on the CPU, and why");
    line("    {:<44} {:>10}  {}", shortened(step.name, 44), si(step.seconds, "s"), step.reason);
  }
  return out;
}

nlohmann::json to_json(const Statistics &s) {
  nlohmann::json engines = nlohmann::json::object();
  for (auto &[engine, time] : s.engines)
    engines[engine] = {{"busy_cycles", time.busy}, {"stalled_cycles", time.stalled}, {"idle_cycles", time.idle}};
  return {{"launches", s.launches},
          {"programs", s.programs},
          {"host_seconds", s.host_seconds},
          {"timed", s.timed},
          {"cycles", s.cycles},
          {"seconds", s.seconds},
          {"engines", engines},
          {"stall_cycles", s.stalls},
          {"energy_joule", s.energy_joule},
          {"energy_total_joule", s.energy()},
          {"instructions", s.instructions},
          {"tensor_macs", s.tensor_macs},
          {"vector_instructions", s.vector_instructions},
          {"bytes", s.bytes},
          {"l2_dirty_bytes", s.l2_dirty},
          {"l2_dirty_joule", s.l2_dirty_joule}};
}

nlohmann::json RunReport::json() const {
  nlohmann::json out{{"model", model},
                     {"properties", properties},
                     {"device", device},
                     {"timed", timed},
                     {"latency_seconds", seconds},
                     {"npu_seconds", npu_seconds},
                     {"cpu_seconds", cpu_seconds},
                     {"roofline_bound_seconds", bound_seconds},
                     {"npu_macs", npu_macs},
                     {"cpu_macs", cpu_macs},
                     {"npu", to_json(npu)}};
  nlohmann::json &list = out["operators"] = nlohmann::json::array();
  for (const StepReport &step : steps)
    list.push_back({{"name", step.name},
                    {"nodes", step.nodes},
                    {"device", step.target == Target::Npu ? "npu" : "cpu"},
                    {"reason", step.reason},
                    {"tile", step.tile},
                    {"macs", step.macs},
                    {"compulsory_bytes", step.compulsory_bytes},
                    {"seconds", step.seconds},
                    {"roof", step.bound_seconds > 0 ? std::string(dougong::name(step.roof)) : ""},
                    {"roofline_bound_seconds", step.bound_seconds},
                    {"statistics", to_json(step.statistics)}});
  return out;
}

} // namespace dougong
