// `dougong explain MODEL`: what each fused operator is, where it runs and why, its tiles, work and bytes; nothing is run.
#include "tools/model_arguments.h"
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

using namespace dougong;

namespace {

uint64_t macs_of(const Specialisation::Kernel &kernel) { return kernel.tensor_macs + kernel.vector_macs; }

void print_text(const Specialisation &program) {
  uint64_t macs[2] = {}, all = 0;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const auto &step = program.steps[i];
    const auto &kernel = program.kernels[step.kernel];
    bool npu = program.target(step) == Target::Npu;
    macs[npu] += macs_of(kernel);
    all += macs_of(kernel);
    fmt::print("{:>4} {:<3} {}\n", i, npu ? "npu" : "cpu", step.name);
    fmt::print("         does {}\n", fmt::join(step.nodes, " + "));
    if (!step.reason.empty())
      fmt::print("         on the CPU because {}\n", step.reason);
    fmt::print("         {} MACs ({} tensor, {} vector), {} elementwise, {} compulsory bytes, {} programs{}{}\n", macs_of(kernel), kernel.tensor_macs,
               kernel.vector_macs, kernel.vector_elements, kernel.compulsory_bytes, kernel.grid[0] * kernel.grid[1] * kernel.grid[2],
               kernel.tile.empty() ? "" : ", tile ", kernel.tile);
    for (auto &[what, bytes] : kernel.local_bytes)
      fmt::print("         on chip {:>8} bytes  {}\n", bytes, what);
  }
  fmt::print("{} fused operators; {} MACs, {:.2f}% on the NPU; arena {:.1f} MB\n", program.steps.size(), all, all ? 100. * double(macs[1]) / double(all) : 0.,
             double(program.arena_bytes) / 1e6);
}

nlohmann::json to_json(const Specialisation &program) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto &step : program.steps) {
    const auto &kernel = program.kernels[step.kernel];
    list.push_back({{"name", step.name}, {"nodes", step.nodes}, {"device", program.target(step) == Target::Npu ? "npu" : "cpu"}, {"reason", step.reason},
                    {"tile", kernel.tile}, {"tensor_macs", kernel.tensor_macs}, {"vector_macs", kernel.vector_macs}, {"vector_elements", kernel.vector_elements},
                    {"compulsory_bytes", kernel.compulsory_bytes}, {"grid", kernel.grid}, {"local_bytes", kernel.local_bytes}});
  }
  return {{"operators", list}, {"arena_bytes", program.arena_bytes}};
}

llvm::Error explain_model(const std::string &model, const std::vector<std::string> &shape_texts, bool json, const models::SessionOptions &options) {
  auto session = models::Session::open(model, options);
  if (!session)
    return session.takeError();
  auto shapes = parse_shapes(shape_texts);
  if (!shapes)
    return shapes.takeError();
  auto program = (*session)->prepare(*shapes);
  if (!program)
    return program.takeError();
  if (json)
    std::printf("%s\n", to_json(**program).dump(2).c_str());
  else
    print_text(**program);
  return llvm::Error::success();
}

}  // namespace

int explain_main(int argc, char **argv) {
  CLI::App app("Lists a model's fused operators: their ONNX nodes, device and reason, tile, multiply-adds and bytes.");
  std::string model, format = "text";
  std::vector<std::string> shapes;
  models::SessionOptions options;
  app.add_option("MODEL", model, "an ONNX file or a .dgx")->required();
  app.add_option("--shape", shapes, "NAME=1x3x640x640: the shape of an input whose dimensions are open");
  app.add_option("--report", format, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
  add_session_options(app, options);
  if (auto status = parse_arguments(app, argc, argv))
    return *status;
  Progress progress;
  options.progress = [&](const std::string &now) { progress(now); };
  if (llvm::Error error = check_choice(app, model))
    return report_failure(argv[0], std::move(error));
  if (llvm::Error error = explain_model(model, shapes, format == "json", options))
    return report_failure(argv[0], std::move(error));
  return 0;
}
