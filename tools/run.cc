// `dougong run MODEL`: inputs in, outputs out, and where the time, the bytes and the energy went.
#include "models/host_tensor.h"
#include "tools/model_inputs.h"
#include "tools/npy.h"
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace dougong;
using models::SessionPort;
namespace fs = std::filesystem;

namespace {

struct Arguments {
  int repeat = 1;
  std::string model, report_format, report_file;
  InputArguments inputs;
  std::vector<std::string> outputs;
};

struct OutputFile {
  std::string name, file; // of an output, and where it goes
};

// --output DIR: all of them, as DIR/NAME.npy; --output NAME=FILE: that one. Where they go is looked at before the model runs.
llvm::Expected<std::vector<OutputFile>> plan_outputs(const models::Session &session, const std::vector<std::string> &wanted) {
  std::vector<OutputFile> plan;
  for (const std::string &text : wanted) {
    std::error_code code;
    if (text.find('=') == std::string::npos) {
      fs::path around = fs::absolute(text.substr(0, text.find_last_not_of('/') + 1)).lexically_normal().parent_path();
      if (fs::exists(text, code) && !fs::is_directory(text, code))
        return fail(Status::Invalid, "--output {}: it is a file; give a folder, or NAME=FILE.npy for one output", text);
      if (!fs::is_directory(around, code))
        return fail(Status::Invalid, "--output {}: there is no folder '{}' to put it in", text, around.string());
      for (const SessionPort &port : session.outputs()) {
        std::string file = port.name;
        std::replace(file.begin(), file.end(), '/', '_');
        plan.push_back({port.name, (fs::path(text) / (file + ".npy")).string()});
      }
      continue;
    }
    auto parts = split_assignment(text, "NAME=FILE.npy, or a folder");
    if (!parts)
      return parts.takeError();
    auto &[name, file] = *parts;
    if (std::none_of(session.outputs().begin(), session.outputs().end(), [&](const SessionPort &port) { return port.name == name; }))
      return fail(Status::Invalid, "the model has no output '{}'; its outputs are {}", name, names_of(session.outputs()));
    if (fs::path folder = fs::path(file).parent_path(); !folder.empty() && !fs::is_directory(folder, code))
      return fail(Status::Invalid, "--output {}: there is no folder '{}'", text, folder.string());
    plan.push_back({name, file});
  }
  return plan;
}

// A line an output, for people: "y f32 1x40x6625  from 0 to 0.9986, mean 0.000151".
void print_outputs(const std::map<std::string, Tensor> &outputs) {
  for (auto &[name, tensor] : outputs) {
    double least = INFINITY, most = -INFINITY, sum = 0;
    int64_t count = element_count(tensor.shape), nans = 0;
    for (int64_t i = 0; i < count; ++i) {
      double value = models::real_at(tensor, i);
      if (std::isnan(value)) {
        ++nans;
        continue;
      }
      least = std::min(least, value), most = std::max(most, value), sum += value;
    }
    std::string range = count > nans ? fmt::format("  from {:.4g} to {:.4g}, mean {:.4g}", least, most, sum / double(count - nans)) : "";
    fmt::print("{} {} {}{}{}\n", name, dougong::name(tensor.type), shape_text(tensor.shape), range,
               nans ? fmt::format(", {} NaN", nans) : "");
  }
}

llvm::Error run(const Arguments &arguments, const models::SessionOptions &options) {
  auto session = models::Session::open(arguments.model, options);
  if (!session)
    return session.takeError();
  auto inputs = gather_inputs(**session, arguments.inputs);
  if (!inputs)
    return inputs.takeError();
  auto files = plan_outputs(**session, arguments.outputs);
  if (!files)
    return files.takeError();
  auto outputs = (*session)->run(*inputs);
  for (int i = 1; outputs && i < arguments.repeat; ++i)
    outputs = (*session)->run(*inputs);
  if (!outputs)
    return outputs.takeError();
  for (const auto &[name, file] : *files) {
    std::error_code code; // a failure shows in the next line
    fs::create_directory(fs::path(file).parent_path(), code);
    if (llvm::Error error = write_npy(file, outputs->at(name)))
      return error;
  }
  const RunReport &report = (*session)->report();
  if (options.timing && !report.timed)
    std::fprintf(stderr, "dougong run: nothing of this model ran on the NPU, so that --timing had nothing to time\n");
  if (arguments.report_format == "none")
    return llvm::Error::success();
  std::string text = arguments.report_format == "json" ? report.json().dump(2) + "\n" : report.text();
  if (!arguments.report_file.empty())
    return write_text(arguments.report_file, text);
  if (arguments.report_format == "text")
    print_outputs(*outputs);
  std::fputs(text.c_str(), stdout);
  return llvm::Error::success();
}

} // namespace

int run_main(int argc, char **argv) {
  CLI::App app("Runs a model (.onnx or .dgx) and reports where time, bytes and energy went.");
  Arguments arguments;
  models::SessionOptions options;
  app.add_option("MODEL", arguments.model, "an ONNX file or a .dgx that `dougong compile` made")->required();
  add_session_options(app, options);
  add_input_options(app, arguments.inputs);
  app.add_option("--output", arguments.outputs, "a folder for all outputs, or NAME=FILE.npy for one");
  app.add_option("--repeat", arguments.repeat, "runs; the report is of the last, when caches are warm")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--trace", options.trace, "with --timing: a file for the timeline of the NPU's cores and engines, for ui.perfetto.dev");
  arguments.report_format = "text";
  app.add_option("--report", arguments.report_format, "text, json or none")
      ->check(CLI::IsMember({"text", "json", "none"}))
      ->capture_default_str();
  app.add_option("--report-to", arguments.report_file, "a file for the report; standard output without it");
  if (auto status = parse_arguments(app, argc, argv))
    return *status;
  Progress progress;
  options.progress = [&](const std::string &now) { progress(now); };
  if (llvm::Error error = check_choice(app, arguments.model, options))
    return report_failure(argv[0], std::move(error));
  if (llvm::Error error = run(arguments, options))
    return report_failure(argv[0], std::move(error));
  return 0;
}
