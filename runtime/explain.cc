// See explain.h.
#include "runtime/explain.h"
#include "llvm/ADT/StringRef.h"
#include <fmt/ranges.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace dougong {

static constexpr size_t longest_shown = 60; // bytes of a property's value

static uint64_t macs_of(const Specialisation::Kernel &kernel) { return kernel.tensor_macs + kernel.vector_macs; }

std::string properties_text(const Properties &properties) {
  std::string out;
  for (const auto &[name, value] : properties) {
    std::string shown;
    for (char c : llvm::StringRef(value).take_front(longest_shown))
      shown += c == '\n' ? "\\n" : std::string(1, c);
    if (value.size() > longest_shown) {
      while (!shown.empty() && (shown.back() & 0xc0) == 0x80) // the end of a character that was cut
        shown.pop_back();
      if (!shown.empty() && (shown.back() & 0x80))
        shown.pop_back();
      shown += fmt::format("… ({} bytes)", value.size());
    }
    out += fmt::format("{}{} {}", out.empty() ? "" : "; ", name, shown);
  }
  return out;
}

std::string explain_text(const Specialisation &program, const Properties &properties) {
  std::string out;
  auto print = [&]<typename... T>(fmt::format_string<T...> format, T &&...values) {
    fmt::format_to(std::back_inserter(out), format, std::forward<T>(values)...);
  };
  if (!properties.empty())
    print("the ONNX file says: {}\n", properties_text(properties));
  uint64_t macs[2] = {}, all = 0;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const auto &step = program.steps[i];
    const auto &kernel = program.kernels[step.kernel];
    bool npu = program.target(step) == Target::Npu;
    macs[npu] += macs_of(kernel);
    all += macs_of(kernel);
    print("{:>4} {:<3} {}\n", i, npu ? "npu" : "cpu", step.name);
    print("         does {}\n", fmt::join(step.nodes, " + "));
    if (!step.reason.empty())
      print("         on the CPU because {}\n", step.reason);
    print("         {} MACs ({} tensor, {} vector), {} elementwise, {} compulsory bytes, {} programs{}{}\n", macs_of(kernel),
          kernel.tensor_macs, kernel.vector_macs, kernel.vector_elements, kernel.compulsory_bytes,
          kernel.grid[0] * kernel.grid[1] * kernel.grid[2], kernel.tile.empty() ? "" : ", tile ", kernel.tile);
    for (auto &[what, bytes] : kernel.local_bytes)
      print("         on chip {:>8} bytes  {}\n", bytes, what);
  }
  print("{} fused operators; {} MACs, {:.2f}% on the NPU; arena {:.1f} MB\n", program.steps.size(), all,
        all ? 100. * double(macs[1]) / double(all) : 0., double(program.arena_bytes) / 1e6);
  return out;
}

nlohmann::json explain_json(const Specialisation &program, const Properties &properties) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto &step : program.steps) {
    const auto &kernel = program.kernels[step.kernel];
    list.push_back({{"name", step.name},
                    {"nodes", step.nodes},
                    {"device", program.target(step) == Target::Npu ? "npu" : "cpu"},
                    {"reason", step.reason},
                    {"tile", kernel.tile},
                    {"tensor_macs", kernel.tensor_macs},
                    {"vector_macs", kernel.vector_macs},
                    {"vector_elements", kernel.vector_elements},
                    {"compulsory_bytes", kernel.compulsory_bytes},
                    {"grid", kernel.grid},
                    {"local_bytes", kernel.local_bytes}});
  }
  return {{"operators", list}, {"arena_bytes", program.arena_bytes}, {"properties", properties}};
}

} // namespace dougong
