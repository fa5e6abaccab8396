// `dougong run MODEL`: inputs in, outputs out, and where the time, the bytes and the energy went.
#include "models/host_tensor.h"
#include "tools/model_arguments.h"
#include "tools/npy.h"
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

using namespace dougong;
using models::SessionPort;

namespace {

struct Arguments {
  std::string model, report_format, report_file;
  std::vector<std::string> inputs, shapes, outputs;
  bool random = false;
  uint64_t seed = 1;
};

// Floats are uniform in [0, 1), integers in [0, 10), for any type the same sequence of draws.
Tensor random_tensor(ElementType type, const std::vector<int64_t> &shape, std::mt19937_64 &random) {
  Tensor tensor(type, shape);
  size_t size = size_in_bytes(type);
  for (int64_t i = 0; i < element_count(shape); ++i) {
    double unit = double(random() >> 11) * 0x1p-53;
    uint8_t *at = tensor.bytes.data() + i * size;
    auto put = [&](auto value) { std::memcpy(at, &value, size); };
    switch (type) {
    case ElementType::F32: put(float(unit)); break;
    case ElementType::F64: put(unit); break;
    case ElementType::F16: put(__builtin_bit_cast(uint16_t, _Float16(unit))); break;
    case ElementType::BF16: put(uint16_t(__builtin_bit_cast(uint32_t, float(unit)) >> 16)); break;
    case ElementType::Bool: put(uint8_t(unit < 0.5)); break;
    default: put(uint64_t(unit * 10)); break;
    }
  }
  return tensor;
}

std::string names_of(const std::vector<SessionPort> &ports) {
  std::string list;
  for (const SessionPort &port : ports)
    list += (list.empty() ? "" : ", ") + port_text(port);
  return list.empty() ? "none" : list;
}

llvm::Expected<std::map<std::string, Tensor>> gather_inputs(const models::Session &session, const Arguments &arguments) {
  std::map<std::string, Tensor> inputs;
  auto known = [&](const std::string &name) {
    return std::any_of(session.inputs().begin(), session.inputs().end(), [&](const SessionPort &port) { return port.name == name; });
  };
  for (const std::string &text : arguments.inputs) {
    auto parts = split_assignment(text, "NAME=FILE.npy");
    if (!parts)
      return parts.takeError();
    if (!known(parts->first))
      return fail(Status::Invalid, "the model has no input '{}'; its inputs are {}", parts->first, names_of(session.inputs()));
    auto tensor = read_npy(parts->second);
    if (!tensor)
      return tensor.takeError();
    inputs[parts->first] = std::move(*tensor);
  }
  auto shapes = parse_shapes(arguments.shapes);
  if (!shapes)
    return shapes.takeError();
  for (auto &[name, shape] : *shapes)
    if (!known(name))
      return fail(Status::Invalid, "--shape: the model has no input '{}'; its inputs are {}", name, names_of(session.inputs()));
  std::mt19937_64 random(arguments.seed);
  for (const SessionPort &port : session.inputs()) {
    if (inputs.count(port.name))
      continue;
    if (!arguments.random)
      return fail(Status::Invalid, "input {} is missing; give it with --input {}=FILE.npy, or fill it with --random", port_text(port), port.name);
    auto shape = concrete_shape(port, *shapes);
    if (!shape)
      return shape.takeError();
    inputs[port.name] = random_tensor(port.type, *shape, random);
  }
  return inputs;
}

// --output DIR: all of them, as DIR/NAME.npy; --output NAME=FILE: that one.
llvm::Error write_outputs(const models::Session &session, const std::map<std::string, Tensor> &outputs, const std::vector<std::string> &wanted) {
  for (const std::string &text : wanted) {
    if (text.find('=') != std::string::npos) {
      auto parts = split_assignment(text, "NAME=FILE.npy, or a folder");
      if (!parts)
        return parts.takeError();
      if (llvm::Error error = write_npy(parts->second, outputs.at(parts->first)))
        return error;
      continue;
    }
    std::error_code code;
    std::filesystem::create_directories(text, code);
    if (code)
      return fail(Status::Invalid, "--output {}: {}", text, code.message());
    for (auto &[name, tensor] : outputs) {
      std::string file = name;
      std::replace(file.begin(), file.end(), '/', '_');
      if (llvm::Error error = write_npy((std::filesystem::path(text) / (file + ".npy")).string(), tensor))
        return error;
    }
  }
  return llvm::Error::success();
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
    fmt::print("{} {} {}{}{}\n", name, dougong::name(tensor.type), shape_text(tensor.shape), range, nans ? fmt::format(", {} NaN", nans) : "");
  }
}

llvm::Error check_output_names(const models::Session &session, const std::vector<std::string> &wanted) {
  for (const std::string &text : wanted) {
    size_t equals = text.rfind('=');
    if (equals == std::string::npos)
      continue;
    std::string name = text.substr(0, equals);
    if (std::none_of(session.outputs().begin(), session.outputs().end(), [&](const SessionPort &port) { return port.name == name; }))
      return fail(Status::Invalid, "the model has no output '{}'; its outputs are {}", name, names_of(session.outputs()));
  }
  return llvm::Error::success();
}

llvm::Error run(const Arguments &arguments, const models::SessionOptions &options) {
  auto session = models::Session::open(arguments.model, options);
  if (!session)
    return session.takeError();
  if (llvm::Error error = check_output_names(**session, arguments.outputs))
    return error;
  auto inputs = gather_inputs(**session, arguments);
  if (!inputs)
    return inputs.takeError();
  auto outputs = (*session)->run(*inputs);
  if (!outputs)
    return outputs.takeError();
  if (llvm::Error error = write_outputs(**session, *outputs, arguments.outputs))
    return error;
  const RunReport &report = (*session)->report();
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

}  // namespace

int run_main(int argc, char **argv) {
  CLI::App app("Runs a model (.onnx or .dgx) and reports where time, bytes and energy went.");
  Arguments arguments;
  models::SessionOptions options;
  app.add_option("MODEL", arguments.model, "an ONNX file or a .dgx that `dougong compile` made")->required();
  add_session_options(app, options);
  app.add_option("--input", arguments.inputs, "NAME=FILE.npy, once for each input");
  app.add_flag("--random", arguments.random, "fill the inputs that are not given with random numbers");
  app.add_option("--seed", arguments.seed, "of the random numbers")->capture_default_str();
  app.add_option("--shape", arguments.shapes, "NAME=1x3x640x640: the shape of a random input whose dimensions are open");
  app.add_option("--output", arguments.outputs, "a folder for all outputs, or NAME=FILE.npy for one");
  arguments.report_format = "text";
  app.add_option("--report", arguments.report_format, "text, json or none")->check(CLI::IsMember({"text", "json", "none"}))->capture_default_str();
  app.add_option("--report-to", arguments.report_file, "a file for the report; standard output without it");
  if (auto status = parse_arguments(app, argc, argv))
    return *status;
  Progress progress;
  options.progress = [&](const std::string &now) { progress(now); };
  if (llvm::Error error = check_choice(app, arguments.model))
    return report_failure(argv[0], std::move(error));
  if (llvm::Error error = run(arguments, options))
    return report_failure(argv[0], std::move(error));
  return 0;
}
