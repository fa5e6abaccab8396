// `dougong compare MODEL`: the NPU's fused operators one by one beside the CPU in f32, each from the inputs that the NPU had.
#include "models/compare.h"
#include "tools/model_inputs.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using namespace dougong;
using models::OperatorDifference;

namespace {

void print_text(std::vector<OperatorDifference> lines, size_t shown) {
  std::sort(lines.begin(), lines.end(), [](const auto &a, const auto &b) { return a.roundings > b.roundings; });
  fmt::print("{:<44} {:>10} {:>12} {:>12} {:>10}\n", "operator", "elements", "largest", "difference", "roundings");
  for (const OperatorDifference &line : std::span(lines).first(std::min(shown, lines.size())))
    fmt::print("{:<44} {:>10} {:>12.4g} {:>12.4g} {:>10.2f}\n", line.name.substr(0, 44), line.elements, line.largest, line.difference,
               line.roundings);
  if (lines.size() > shown)
    fmt::print("… and {} more; --all shows them\n", lines.size() - shown);
  fmt::print("{} operators on the NPU; the worst is {:.2f} roundings of its type from f32\n", lines.size(),
             lines.empty() ? 0. : lines[0].roundings);
}

void print_json(const std::vector<OperatorDifference> &lines) {
  nlohmann::json list = nlohmann::json::array();
  for (const OperatorDifference &line : lines)
    list.push_back({{"name", line.name},
                    {"nodes", line.nodes},
                    {"elements", line.elements},
                    {"largest", line.largest},
                    {"difference", line.difference},
                    {"roundings", line.roundings}});
  std::printf("%s\n", list.dump(2).c_str());
}

llvm::Expected<std::vector<OperatorDifference>> compare(const std::string &model, const InputArguments &arguments,
                                                        const models::SessionOptions &options) {
  auto session = models::Session::open(model, options);
  if (!session)
    return session.takeError();
  auto inputs = gather_inputs(**session, arguments);
  if (!inputs)
    return inputs.takeError();
  return models::compare_operators(model, options.machine, *inputs, options.progress);
}

} // namespace

int compare_main(int argc, char **argv) {
  CLI::App app("Runs a model on the NPU, and each of its fused operators on the CPU in f32 from the same inputs; lists how far apart the "
               "results are, worst first, in "
               "half spacings of the result's type (1 is what one correct rounding may cost).");
  std::string model, format = "text";
  InputArguments arguments;
  models::SessionOptions options;
  bool all = false;
  app.add_option("MODEL", model, "an ONNX file")->required()->check(CLI::ExistingFile);
  app.add_option("--machine", options.machine, "the NPU's machine: a name that `dougong devices` lists, or a file")->capture_default_str();
  add_input_options(app, arguments);
  app.add_flag("--all", all, "every operator, not the worst twenty only");
  app.add_option("--report", format, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
  if (auto status = parse_arguments(app, argc, argv))
    return *status;
  Progress progress;
  options.progress = [&](const std::string &now) { progress(now); };
  auto lines = compare(model, arguments, options);
  if (!lines)
    return report_failure(argv[0], lines.takeError());
  if (format == "json")
    print_json(*lines);
  else
    print_text(*lines, all ? lines->size() : 20);
  return 0;
}
