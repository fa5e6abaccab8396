// Inputs of a model from the command line.
#include "tools/model_inputs.h"
#include "tools/npy.h"
#include <cstring>
#include <random>

namespace dougong {
using models::SessionPort;

// Floats are uniform in [0, 1), integers in [0, 10), for any type the same sequence of draws.
static Tensor random_tensor(ElementType type, const std::vector<int64_t> &shape, std::mt19937_64 &random) {
  Tensor tensor(type, shape);
  size_t size = size_in_bytes(type);
  for (int64_t i = 0; i < element_count(shape); ++i) {
    double unit = double(random() >> 11) * 0x1p-53;
    uint8_t *at = tensor.bytes.data() + i * size;
    auto put = [&](auto value) { std::memcpy(at, &value, size); };
    switch (type) {
    case ElementType::F32:
      put(float(unit));
      break;
    case ElementType::F64:
      put(unit);
      break;
    case ElementType::F16:
      put(__builtin_bit_cast(uint16_t, _Float16(unit)));
      break;
    case ElementType::BF16:
      put(uint16_t(__builtin_bit_cast(uint32_t, float(unit)) >> 16));
      break;
    case ElementType::Bool:
      put(uint8_t(unit < 0.5));
      break;
    default:
      put(uint64_t(unit * 10));
      break;
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

void add_input_options(CLI::App &app, InputArguments &arguments) {
  app.add_option("--input", arguments.files, "NAME=FILE.npy, once for each input");
  app.add_flag("--random", arguments.random, "fill the inputs that are not given with random numbers");
  app.add_option("--seed", arguments.seed, "of the random numbers: another one draws others")->capture_default_str();
  app.add_option("--shape", arguments.shapes, "NAME=1x3x640x640: the shape of a random input whose dimensions are open");
}

llvm::Expected<std::map<std::string, Tensor>> gather_inputs(const models::Session &session, const InputArguments &arguments) {
  std::map<std::string, Tensor> inputs;
  auto known = [&](const std::string &name) {
    return std::any_of(session.inputs().begin(), session.inputs().end(), [&](const SessionPort &port) { return port.name == name; });
  };
  for (const std::string &text : arguments.files) {
    auto parts = split_assignment(text, "NAME=FILE.npy");
    if (!parts)
      return parts.takeError();
    if (!known(parts->first))
      return fail(Status::Invalid, "the model has no input '{}'; its inputs are {}", parts->first, names_of(session.inputs()));
    if (inputs.count(parts->first))
      return fail(Status::Invalid, "--input gives '{}' more than once", parts->first);
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
      return fail(Status::Invalid, "input {} is missing; give it with --input {}=FILE.npy, or fill it with --random", port_text(port),
                  port.name);
    auto shape = concrete_shape(port, *shapes);
    if (!shape)
      return shape.takeError();
    inputs[port.name] = random_tensor(port.type, *shape, random);
  }
  return inputs;
}

} // namespace dougong
