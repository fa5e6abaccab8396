// `dougong explain MODEL`: what each fused operator is, where it runs and why, its tiles, work and bytes; nothing is run.
#include "runtime/explain.h"
#include "tools/model_arguments.h"
#include <nlohmann/json.hpp>

using namespace dougong;

namespace {

llvm::Error explain_model(const std::string &model, const std::vector<std::string> &shape_texts, bool json,
                          const models::SessionOptions &options) {
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
    std::printf("%s\n", explain_json(**program, (*session)->properties()).dump(2).c_str());
  else
    std::fputs(explain_text(**program, (*session)->properties()).c_str(), stdout);
  return llvm::Error::success();
}

} // namespace

int explain_main(int argc, char **argv) {
  CLI::App app("Lists a model's fused operators: their ONNX nodes, device and reason, tile, multiply-adds and bytes.");
  std::string model, format = "text";
  std::vector<std::string> shapes;
  models::SessionOptions options;
  app.add_option("MODEL", model, "an ONNX file or a .dgx")->required();
  app.add_option("--shape", shapes, "NAME=1x3x640x640: the shape of an input whose dimensions are open");
  app.add_option("--report", format, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
  add_compile_options(app, options);
  if (auto status = parse_arguments(app, argc, argv))
    return *status;
  Progress progress;
  options.progress = [&](const std::string &now) { progress(now); };
  if (llvm::Error error = check_choice(app, model, options))
    return report_failure(argv[0], std::move(error));
  if (llvm::Error error = explain_model(model, shapes, format == "json", options))
    return report_failure(argv[0], std::move(error));
  return 0;
}
