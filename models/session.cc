// Sessions: the part that ONNX files and .dgx files share (ports, checks, devices, running), then the two kinds.
#include "models/session.h"
#include "machines/machine.h"
#include "models/cache.h"
#include "models/compile.h"
#include "models/model_error.h"
#include "llvm/Support/xxhash.h"
#include <fmt/ranges.h>

namespace dougong::models {
namespace {

using Shapes = std::map<std::string, std::vector<int64_t>>;

std::string text_of(const SessionPort &port) {
  std::vector<std::string> extents;
  for (size_t d = 0; d < port.shape.size(); ++d)
    extents.push_back(port.shape[d] >= 0                                                    ? std::to_string(port.shape[d])
                      : d < port.dimension_names.size() && !port.dimension_names[d].empty() ? port.dimension_names[d]
                                                                                            : "?");
  return fmt::format("'{}' {} [{}]", port.name, name(port.type), fmt::join(extents, ", "));
}

// The NPU if the device wants one, and the CPU; opened when first needed.
class Devices {
public:
  explicit Devices(const SessionOptions &options) : options(options) {}

  llvm::Expected<std::shared_ptr<Device>> npu() {
    if (!opened_npu) {
      auto device = Device::open(fmt::format("npu:{}{}{}{}{}{}", options.machine, options.timing ? ",timing" : "",
                                             options.check_races ? ",check-races" : "", options.check_memory ? ",check-memory" : "",
                                             options.cores ? fmt::format(",cores={}", options.cores) : "",
                                             options.trace.empty() ? "" : ",trace=" + options.trace));
      if (!device)
        return device.takeError();
      opened_npu = *device;
    }
    return opened_npu;
  }
  llvm::Expected<std::shared_ptr<Device>> cpu() {
    if (!opened_cpu) {
      auto device = Device::open(options.threads ? fmt::format("cpu:{}", options.threads) : "cpu");
      if (!device)
        return device.takeError();
      opened_cpu = *device;
    }
    return opened_cpu;
  }

private:
  const SessionOptions &options;
  std::shared_ptr<Device> opened_npu, opened_cpu;
};

// One specialisation, ready to launch.
struct Loaded {
  std::shared_ptr<const Artifact> artifact;
  size_t index = 0;
  std::unique_ptr<Executor> executor; // made at the first run
  const Specialisation &program() const { return artifact->specialisations[index]; }
};

bool wants(const Specialisation &program, Target target) {
  return std::any_of(program.images.begin(), program.images.end(), [&](const auto &image) { return image.target == target; });
}

class CommonSession : public Session {
public:
  CommonSession(SessionOptions given) : options(std::move(given)), devices(options) {}

  const std::vector<SessionPort> &inputs() const override { return input_ports; }
  const std::vector<SessionPort> &outputs() const override { return output_ports; }
  const std::map<std::string, std::string> &properties() const override { return own_properties; }
  const RunReport &report() const override { return last_report; }

  llvm::Expected<const Specialisation *> prepare(const Shapes &shapes) override {
    auto complete = complete_shapes(shapes);
    if (!complete)
      return complete.takeError();
    auto loaded = find(*complete, {});
    if (!loaded)
      return loaded.takeError();
    return &(*loaded)->program();
  }

  llvm::Expected<std::map<std::string, Tensor>> run(const std::map<std::string, Tensor> &inputs) override {
    Shapes shapes;
    if (llvm::Error error = check(inputs, shapes))
      return error;
    auto loaded = find(shapes, inputs);
    if (!loaded)
      return loaded.takeError();
    if (llvm::Error error = make_executor(**loaded))
      return error;
    const Specialisation &program = (*loaded)->program();
    std::vector<Tensor> ordered;
    for (const auto &port : program.inputs)
      ordered.push_back(inputs.at(port.name));
    RunProfile profile;
    auto results = (*loaded)->executor->run(ordered, &profile);
    if (!results)
      return results.takeError();
    const Machine *machine = nullptr;
    std::string device = options.device;
    if (wants(program, Target::Npu)) {
      auto npu = devices.npu();
      if (!npu)
        return npu.takeError();
      machine = (*npu)->machine();
      device = (*npu)->info().description;
    }
    last_report = RunReport::make(*(*loaded)->artifact, program, profile, machine, device);
    std::map<std::string, Tensor> named;
    for (size_t i = 0; i < results->size(); ++i)
      named[program.outputs[i].name] = std::move((*results)[i]);
    return named;
  }

  llvm::Error save(const std::string &path) override {
    Artifact all;
    for (const auto &[key, loaded] : specialisations) {
      if (loaded.program().inputs.size() != input_ports.size())
        return fail(Status::Unsupported,
                    "{}: the model was compiled for values of an input, not only its shape; such a specialisation cannot be saved", path);
      merge(*loaded.artifact, loaded.program(), all);
    }
    if (all.specialisations.empty())
      return fail(Status::Invalid, "{}: nothing has been compiled yet; give the shapes of the inputs", path);
    return all.save(path);
  }

protected:
  virtual llvm::Expected<Loaded *> find(const Shapes &shapes, const std::map<std::string, Tensor> &values) = 0;

  const SessionPort *find_input(const std::string &name) const {
    for (const SessionPort &port : input_ports)
      if (port.name == name)
        return &port;
    return nullptr;
  }

  std::string inputs_text() const {
    std::vector<std::string> texts;
    for (const SessionPort &port : input_ports)
      texts.push_back(text_of(port));
    return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
  }

  llvm::Error check_shape(const SessionPort &port, const std::vector<int64_t> &shape) const {
    bool open_rank = port.shape.size() == 1 && port.shape[0] == any_rank;
    if (open_rank)
      return llvm::Error::success();
    bool fits = shape.size() == port.shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d)
      fits = shape[d] >= 0 && (port.shape[d] < 0 || port.shape[d] == shape[d]);
    if (fits)
      return llvm::Error::success();
    return fail(Status::Invalid, "input '{}': the shape {} does not fit; allowed is {}", port.name, shape_text(shape), text_of(port));
  }

  llvm::Error check(const std::map<std::string, Tensor> &inputs, Shapes &shapes) const {
    for (const auto &[name, tensor] : inputs) {
      const SessionPort *port = find_input(name);
      if (!port)
        return fail(Status::Invalid, "the model has no input '{}'; its inputs are: {}", name, inputs_text());
      if (tensor.type != port->type)
        return fail(Status::Invalid, "input '{}': the type is {}, wanted is {}", name, dougong::name(tensor.type),
                    dougong::name(port->type));
      if (llvm::Error error = check_shape(*port, tensor.shape))
        return error;
      if (tensor.bytes.size() != uint64_t(element_count(tensor.shape)) * size_in_bytes(tensor.type))
        return fail(Status::Invalid, "input '{}': {} bytes for the shape {}", name, tensor.bytes.size(), shape_text(tensor.shape));
      shapes[name] = tensor.shape;
    }
    for (const SessionPort &port : input_ports)
      if (!inputs.count(port.name))
        return fail(Status::Invalid, "input {} is missing; the model's inputs are: {}", text_of(port), inputs_text());
    return llvm::Error::success();
  }

  llvm::Expected<Shapes> complete_shapes(const Shapes &given) const {
    Shapes shapes = given;
    for (const auto &[name, shape] : given) {
      const SessionPort *port = find_input(name);
      if (!port)
        return fail(Status::Invalid, "the model has no input '{}'; its inputs are: {}", name, inputs_text());
      if (llvm::Error error = check_shape(*port, shape))
        return error;
    }
    for (const SessionPort &port : input_ports)
      if (!shapes.count(port.name)) {
        if (std::any_of(port.shape.begin(), port.shape.end(), [](int64_t extent) { return extent < 0; }))
          return fail(Status::Invalid, "input {}: its open dimensions must be given, as in --shape {}=1x3x640x640", text_of(port),
                      port.name);
        shapes[port.name] = port.shape;
      }
    return shapes;
  }

  llvm::Error make_executor(Loaded &loaded) {
    if (loaded.executor)
      return llvm::Error::success();
    std::shared_ptr<Device> npu, cpu;
    if (wants(loaded.program(), Target::Npu)) {
      auto device = devices.npu();
      if (!device)
        return device.takeError();
      npu = *device;
    }
    auto device = devices.cpu();
    if (!device)
      return device.takeError();
    cpu = *device;
    auto executor = Executor::create(loaded.artifact, loaded.index, npu, cpu, &constants);
    if (!executor)
      return executor.takeError();
    loaded.executor = std::move(*executor);
    if (options.progress)
      loaded.executor->progress = [this](size_t done, size_t all) { options.progress(fmt::format("running step {} of {}", done, all)); };
    return llvm::Error::success();
  }

  // Adds a specialisation of one artifact to another, which gets the constants it uses.
  static void merge(const Artifact &from, const Specialisation &program, Artifact &to) {
    to.model = from.model;
    to.properties = from.properties;
    to.dimension_names = from.dimension_names;
    if (!from.machine.empty())
      to.machine = from.machine;
    if (!from.host.empty())
      to.host = from.host;
    Specialisation copy = program;
    for (Specialisation::Buffer &buffer : copy.buffers)
      if (buffer.region == Specialisation::Buffer::Region::Constant)
        buffer.offset = to.add_constant(from.constants().subspan(buffer.offset, buffer.bytes));
    to.specialisations.push_back(std::move(copy));
  }

  static constexpr int64_t any_rank = -2;
  SessionOptions options;
  Devices devices;
  std::vector<SessionPort> input_ports, output_ports;
  std::map<std::string, std::string> own_properties;
  SharedConstants constants;                     // of all specialisations
  std::map<std::string, Loaded> specialisations; // by the text of shapes (and values)
  RunReport last_report;
};

// ---- ONNX ----------------------------------------------------------------------------------------------------------

class OnnxSession : public CommonSession {
public:
  OnnxSession(Model given, SessionOptions options) : CommonSession(std::move(options)), model(std::move(given)) {
    for (const auto *interfaces : {&model.inputs, &model.outputs})
      for (const Interface &interface : *interfaces) {
        if (!interface.problem.empty())
          unsupported("'{}': {}", interface.name, interface.problem);
        SessionPort port{interface.name, interface.type, interface.shape, interface.dimension_names};
        if (!interface.has_rank)
          port.shape = {any_rank}, port.dimension_names = {"any rank"};
        (interfaces == &model.inputs ? input_ports : output_ports).push_back(std::move(port));
      }
    own_properties = model.properties;
    if (this->options.device != "cpu")
      machine = Machine::load(this->options.machine);
  }

protected:
  llvm::Expected<Loaded *> find(const Shapes &shapes, const std::map<std::string, Tensor> &values) override {
    try {
      return &find_or_compile(shapes, values);
    } catch (const NeedsInputValues &error) {
      return fail(Status::Invalid, "{}; the values come from the inputs {}: run the model with them", error.what(),
                  fmt::join(error.inputs, ", "));
    } catch (const ModelError &error) {
      return fail(error.status, "{}", error.what());
    }
  }

private:
  // What the result depends on: the shapes, and the values of those inputs whose values some op wants at compile time.
  std::string key_of(const Shapes &shapes, const std::map<std::string, Tensor> &values) const {
    std::string key;
    for (const auto &[name, shape] : shapes)
      key += fmt::format("{}={};", name, shape_text(shape));
    for (const std::string &name : by_value) {
      const Tensor &tensor = values.at(name);
      key += fmt::format("{}:{:016x};", name,
                         llvm::xxh3_64bits(llvm::StringRef(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size())));
    }
    return key;
  }

  Loaded &find_or_compile(const Shapes &shapes, const std::map<std::string, Tensor> &values) {
    for (;;) {
      bool have_values = std::all_of(by_value.begin(), by_value.end(), [&](const std::string &name) { return values.count(name); });
      if (!have_values)
        throw NeedsInputValues("some operator needs values at compile time", by_value);
      std::string key = key_of(shapes, values);
      if (auto found = specialisations.find(key); found != specialisations.end())
        return found->second;
      try {
        return specialisations[key] = load_or_compile(key, shapes, values);
      } catch (const NeedsInputValues &error) {
        size_t before = by_value.size();
        for (const std::string &name : error.inputs) {
          if (!values.count(name))
            throw;
          if (element_count(values.at(name).shape) > largest_value)
            throw ModelError(Status::Unsupported, fmt::format("{}: it depends on all {} elements of input '{}'", error.what(),
                                                              element_count(values.at(name).shape), name));
          by_value.insert(name);
        }
        if (by_value.size() == before)
          throw ModelError(Status::Unsupported, error.what());
      }
    }
  }

  Loaded load_or_compile(const std::string &key, const Shapes &shapes, const std::map<std::string, Tensor> &values) {
    std::string place = options.cache ? cache_path(fmt::format("{:016x}|{}|{}|{}|{}|{}", model.hash, key, options.device, machine_text(),
                                                               host_features(), compiler_version()))
                                      : "";
    if (auto cached = find_in_cache(place))
      return {std::make_shared<Artifact>(std::move(*cached)), 0, nullptr};
    std::map<std::string, Tensor> known;
    for (const std::string &name : by_value)
      known[name] = values.at(name);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    if (options.progress)
      options.progress(fmt::format("importing '{}'", model.name));
    CompileOptions how;
    how.device = options.device;
    how.machine = options.device == "cpu" ? nullptr : &machine;
    how.threads = options.threads;
    how.progress = options.progress;
    Artifact artifact;
    artifact.model = model.name;
    artifact.properties = model.properties;
    for (const auto *ports : {&input_ports, &output_ports})
      for (const SessionPort &port : *ports)
        artifact.dimension_names[port.name] = port.dimension_names;
    artifact.specialisations.push_back(compile_model(import_model(model, shapes, known, context), how, artifact));
    if (llvm::Error error = artifact.validate(model.name))
      throw ModelError(Status::Unsupported, llvm::toString(std::move(error)));
    leave_in_cache(artifact, place);
    if (auto cached = find_in_cache(place)) // its constants lie in the file, where they cost no memory
      artifact = std::move(*cached);
    return {std::make_shared<Artifact>(std::move(artifact)), 0, nullptr};
  }

  // A machine of the same name may have other numbers: what the compiler reads of it is in the key.
  std::string machine_text() const {
    if (options.device == "cpu")
      return "";
    const Machine &m = machine;
    return fmt::format("{} {} {} {} {}x{} {} {}", m.name, m.device.cores, m.core.lm_kib, m.core.acc_kib, m.tensor.rows, m.tensor.columns,
                       m.dram_bytes_per_cycle(), m.l2_bytes());
  }

  static constexpr int64_t largest_value = 1 << 16;
  Model model;
  Machine machine;
  std::set<std::string> by_value;
};

// ---- .dgx ----------------------------------------------------------------------------------------------------------

// Ports that all specialisations agree on; a dimension that differs is open, and has the name that the ONNX file gave it.
std::vector<SessionPort> common_ports(const Artifact &artifact, std::vector<Specialisation::Port> Specialisation::*list) {
  std::vector<SessionPort> ports;
  for (const Specialisation &program : artifact.specialisations)
    for (const Specialisation::Port &port : program.*list) {
      auto known = std::find_if(ports.begin(), ports.end(), [&](const SessionPort &other) { return other.name == port.name; });
      if (known == ports.end()) {
        ports.push_back({port.name, port.type, port.shape, std::vector<std::string>(port.shape.size())});
        continue;
      }
      auto names = artifact.dimension_names.find(port.name);
      for (size_t d = 0; d < port.shape.size() && d < known->shape.size(); ++d)
        if (known->shape[d] != port.shape[d]) {
          known->shape[d] = -1;
          if (names != artifact.dimension_names.end() && d < names->second.size())
            known->dimension_names[d] = names->second[d];
        }
    }
  return ports;
}

class ArtifactSession : public CommonSession {
public:
  ArtifactSession(Artifact given, SessionOptions options)
      : CommonSession(std::move(options)), artifact(std::make_shared<Artifact>(std::move(given))) {
    input_ports = common_ports(*artifact, &Specialisation::inputs);
    output_ports = common_ports(*artifact, &Specialisation::outputs);
    own_properties = artifact->properties;
    if (!artifact->machine.empty()) // it runs on what it was compiled for
      this->options.machine = artifact->machine;
    for (size_t i = 0; i < artifact->specialisations.size(); ++i)
      specialisations[std::to_string(i)] = Loaded{artifact, i, nullptr};
  }

protected:
  llvm::Expected<Loaded *> find(const Shapes &shapes, const std::map<std::string, Tensor> &) override {
    std::vector<std::string> known;
    for (auto &[key, loaded] : specialisations) {
      bool fits = true;
      std::vector<std::string> texts;
      for (const auto &port : loaded.program().inputs) {
        fits &= shapes.at(port.name) == port.shape;
        texts.push_back(fmt::format("{}={}", port.name, shape_text(port.shape)));
      }
      if (fits)
        return &loaded;
      known.push_back(fmt::format("{}", fmt::join(texts, " ")));
    }
    return fail(Status::Invalid, "'{}' was compiled for {}; compile the ONNX file for other shapes", artifact->model,
                fmt::join(known, " or "));
  }

private:
  std::shared_ptr<Artifact> artifact;
};

} // namespace

llvm::Expected<std::unique_ptr<Session>> Session::open(const std::string &path, const SessionOptions &options) {
  if (options.device != "npu" && options.device != "cpu" && options.device != "auto")
    return fail(Status::Invalid, "a model cannot run on '{}'; devices for models are npu, cpu and auto", options.device);
  try {
    if (llvm::StringRef(path).ends_with(".dgx")) {
      auto artifact = Artifact::load(path);
      if (!artifact)
        return artifact.takeError();
      return std::make_unique<ArtifactSession>(std::move(*artifact), options);
    }
    return std::make_unique<OnnxSession>(Model::load(path), options);
  } catch (const ModelError &error) {
    return fail(error.status, "{}", error.what());
  } catch (const MachineError &error) {
    return fail(Status::Invalid, "{}", error.what());
  }
}

} // namespace dougong::models
