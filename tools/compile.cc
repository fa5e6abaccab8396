// `dougong compile MODEL.onnx -o MODEL.dgx`: a model for one or more sets of input shapes, as one file that starts at once.
#include "tools/model_arguments.h"
#include <filesystem>

using namespace dougong;

namespace {

// "x 1x3x640x640: 94 fused operators (94 on the NPU), 82 kernels"
std::string summary(const Specialisation &program) {
  std::string inputs;
  for (const auto &port : program.inputs)
    inputs += (inputs.empty() ? "" : ", ") + fmt::format("{} {}", port.name, shape_text(port.shape));
  size_t on_npu =
      std::count_if(program.steps.begin(), program.steps.end(), [&](auto &step) { return program.target(step) == Target::Npu; });
  return fmt::format("{}: {} fused operators ({} on the NPU), {} kernels", inputs.empty() ? "no inputs" : inputs, program.steps.size(),
                     on_npu, program.kernels.size());
}

llvm::Error compile(const std::string &model, const std::string &output, const std::vector<std::string> &shape_texts,
                    const models::SessionOptions &options) {
  auto session = models::Session::open(model, options);
  if (!session)
    return session.takeError();
  auto sets = parse_shape_sets(shape_texts);
  if (!sets)
    return sets.takeError();
  std::vector<std::string> lines;
  for (const auto &shapes : *sets) {
    auto prepared = (*session)->prepare(shapes);
    if (!prepared)
      return prepared.takeError();
    lines.push_back(summary(**prepared));
  }
  if (llvm::Error error = (*session)->save(output))
    return error;
  for (const std::string &line : lines)
    std::printf("%s\n", line.c_str());
  std::printf("%s: %.1f MB\n", output.c_str(), double(std::filesystem::file_size(output)) / 1e6);
  return llvm::Error::success();
}

} // namespace

int compile_main(int argc, char **argv) {
  CLI::App app("Compiles an ONNX model to a .dgx file.");
  std::string model, output;
  std::vector<std::string> shapes;
  models::SessionOptions options;
  app.add_option("MODEL", model, "an ONNX file")->required();
  app.add_option("-o,--output", output, "the .dgx to write")->required();
  app.add_option("--shape", shapes, "NAME=1x3x640x640: the shape of an input whose dimensions are open; again for another set of shapes");
  add_compile_options(app, options);
  if (auto status = parse_arguments(app, argc, argv))
    return *status;
  Progress progress;
  options.progress = [&](const std::string &now) { progress(now); };
  if (llvm::Error error = check_choice(app, model, options))
    return report_failure(argv[0], std::move(error));
  if (llvm::Error error = compile(model, output, shapes, options))
    return report_failure(argv[0], std::move(error));
  return 0;
}
