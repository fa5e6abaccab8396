// Loads an artifact's images and constants once, resolves every step's arguments to addresses, and then only launches.
#include "runtime/executor.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <sstream>

namespace dougong {
namespace {

using Clock = std::chrono::steady_clock;
using Region = Specialisation::Buffer::Region;

struct LaunchableStep {
  Device *device = nullptr;
  KernelHandle kernel = KernelHandle::None;
  std::array<uint64_t, 3> grid{};
  std::vector<uint64_t> arguments;
};

std::set<std::string> words(const std::string &text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

llvm::Error check_host(const Artifact &artifact) {
  std::set<std::string> needed = words(artifact.host), here = words(host_features());
  std::vector<std::string> missing;
  std::set_difference(needed.begin(), needed.end(), here.begin(), here.end(), std::back_inserter(missing));
  if (missing.empty())
    return llvm::Error::success();
  return fail(Status::Unsupported, "'{}' was compiled for a CPU with {}{}, which this one lacks; compile the model on this computer",
              artifact.model, missing.front(), missing.size() > 1 ? fmt::format(" and {} more features", missing.size() - 1) : "");
}

} // namespace

struct Executor::State {
  std::shared_ptr<const Artifact> artifact;
  const Specialisation *program = nullptr;
  std::shared_ptr<Device> npu, cpu;
  std::shared_ptr<Device> memory; // one of the two
  std::vector<uint64_t> allocations;
  std::map<uint64_t, std::shared_ptr<const SharedConstants::Constant>> constants; // by offset in the artifact's
  std::vector<uint64_t> inputs, outputs;                                          // addresses
  uint64_t arena = 0;
  std::vector<std::pair<Device *, ModuleHandle>> modules;
  std::vector<LaunchableStep> steps;

  ~State() {
    for (auto [device, module] : modules)
      llvm::consumeError(device->unload(module));
    for (uint64_t address : allocations)
      llvm::consumeError(memory->free(address));
  }

  llvm::Error allocate(uint64_t bytes, uint64_t &address) {
    auto place = memory->allocate(bytes);
    if (!place)
      return place.takeError();
    allocations.push_back(address = *place);
    return llvm::Error::success();
  }

  // The host gives pages when they are first written: better now than within the first run.
  llvm::Error touch(uint64_t address, uint64_t bytes) {
    auto host = memory->map(address, bytes);
    if (!host)
      return host.takeError();
    for (uint64_t at = 0; at < bytes; at += 4096)
      const_cast<volatile uint8_t *>(*host)[at] = 0;
    return llvm::Error::success();
  }

  // Only what this specialisation reads: the artifact's constants are those of all of them.
  llvm::Error place_constants(SharedConstants &shared) {
    std::map<uint64_t, uint64_t> sizes; // by offset: a reshape is a further buffer at the same place
    for (const auto &buffer : program->buffers)
      if (buffer.region == Region::Constant)
        sizes[buffer.offset] = std::max(sizes[buffer.offset], buffer.bytes);
    for (auto [offset, bytes] : sizes) {
      auto constant = shared.place(memory, artifact->constants().subspan(offset, bytes));
      if (!constant)
        return constant.takeError();
      constants[offset] = std::move(*constant);
    }
    return llvm::Error::success();
  }

  llvm::Error allocate_memory() {
    inputs.resize(program->inputs.size());
    outputs.resize(program->outputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (llvm::Error error = allocate(program->inputs[i].bytes(), inputs[i]))
        return error;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (llvm::Error error = allocate(program->outputs[i].bytes(), outputs[i]))
        return error;
    if (llvm::Error error = allocate(program->arena_bytes, arena))
      return error;
    return touch(arena, program->arena_bytes);
  }

  uint64_t address_of(const Specialisation::Buffer &buffer) const {
    switch (buffer.region) {
    case Region::Arena:
      return arena + buffer.offset;
    case Region::Constant:
      return constants.at(buffer.offset)->address;
    case Region::Input:
      return inputs[buffer.offset];
    case Region::Output:
      return outputs[buffer.offset];
    }
    return 0;
  }

  llvm::Error load_images() {
    for (const auto &image : program->images) {
      Device *device = image.target == Target::Npu ? npu.get() : cpu.get();
      auto module = device->load(image.bytes);
      if (!module)
        return module.takeError();
      modules.emplace_back(device, *module);
    }
    return llvm::Error::success();
  }

  llvm::Error prepare_steps() {
    std::vector<KernelHandle> handles;
    for (const auto &kernel : program->kernels) {
      auto [device, module] = modules[kernel.image];
      auto handle = device->kernel(module, kernel.name);
      if (!handle)
        return handle.takeError();
      handles.push_back(*handle);
    }
    for (const auto &step : program->steps) {
      const auto &kernel = program->kernels[step.kernel];
      LaunchableStep launchable{modules[kernel.image].first, handles[step.kernel], kernel.grid, {}};
      for (uint32_t index : step.buffers) {
        const auto &buffer = program->buffers[index];
        uint64_t address = address_of(buffer);
        if (launchable.device != memory.get()) { // a kernel on the CPU works in the NPU's memory
          auto host = memory->map(address, buffer.bytes);
          if (!host)
            return host.takeError();
          address = reinterpret_cast<uint64_t>(*host);
        }
        launchable.arguments.push_back(address);
      }
      steps.push_back(std::move(launchable));
    }
    return llvm::Error::success();
  }
};

llvm::Expected<std::unique_ptr<Executor>> Executor::create(std::shared_ptr<const Artifact> artifact, size_t specialisation,
                                                           std::shared_ptr<Device> npu, std::shared_ptr<Device> cpu,
                                                           SharedConstants *shared) {
  if (specialisation >= artifact->specialisations.size())
    return fail(Status::Invalid, "'{}' has {} specialisations, there is no number {}", artifact->model, artifact->specialisations.size(),
                specialisation);
  auto state = std::make_unique<State>();
  state->program = &artifact->specialisations[specialisation];
  bool wants_npu = false, wants_cpu = false;
  for (const auto &image : state->program->images)
    (image.target == Target::Npu ? wants_npu : wants_cpu) = true;
  if (wants_npu && !npu)
    return fail(Status::Invalid, "'{}' was compiled for the NPU '{}': it cannot run without one", artifact->model, artifact->machine);
  if (wants_npu && npu->machine() && npu->info().machine != artifact->machine)
    return fail(Status::Invalid,
                "'{}' was compiled for the machine '{}', the device is a '{}'; compile it for that, or run it with --machine {}",
                artifact->model, artifact->machine, npu->info().machine, artifact->machine);
  if (wants_cpu)
    if (llvm::Error error = check_host(*artifact))
      return error;
  state->memory = wants_npu ? npu : cpu;
  state->artifact = std::move(artifact);
  state->npu = std::move(npu);
  state->cpu = std::move(cpu);
  if (llvm::Error error = state->allocate_memory())
    return error;
  SharedConstants own;
  if (llvm::Error error = state->place_constants(shared ? *shared : own))
    return error;
  if (llvm::Error error = state->load_images())
    return error;
  if (llvm::Error error = state->prepare_steps())
    return error;
  return std::unique_ptr<Executor>(new Executor(std::move(state)));
}

Executor::Executor(std::unique_ptr<State> state) : state(std::move(state)) {}
Executor::~Executor() = default;

const Specialisation &Executor::specialisation() const { return *state->program; }
const Artifact &Executor::artifact() const { return *state->artifact; }

llvm::Expected<std::span<const uint8_t>> Executor::peek(uint32_t index) const {
  const Specialisation::Buffer &buffer = state->program->buffers[index];
  auto host = state->memory->map(state->address_of(buffer), buffer.bytes);
  if (!host)
    return host.takeError();
  return std::span<const uint8_t>(*host, buffer.bytes);
}

llvm::Expected<std::vector<Tensor>> Executor::run(std::span<const Tensor> inputs, RunProfile *profile) {
  const Specialisation &program = *state->program;
  if (inputs.size() != program.inputs.size())
    return fail(Status::Invalid, "'{}' takes {} inputs, not {}", state->artifact->model, program.inputs.size(), inputs.size());
  Clock::time_point start = Clock::now();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto &port = program.inputs[i];
    if (inputs[i].type != port.type || inputs[i].shape != port.shape || inputs[i].bytes.size() != port.bytes())
      return fail(Status::Invalid, "input '{}' takes {} {}, not {} {}", port.name, shape_text(port.shape), name(port.type),
                  shape_text(inputs[i].shape), name(inputs[i].type));
    if (llvm::Error error = state->memory->copy_in(state->inputs[i], inputs[i].bytes.data(), inputs[i].bytes.size()))
      return error;
  }
  if (profile)
    profile->steps.clear();
  for (size_t i = 0; i < state->steps.size(); ++i) {
    if (progress)
      progress(i, state->steps.size());
    const LaunchableStep &step = state->steps[i];
    auto cost = step.device->launch(step.kernel, step.grid, step.arguments);
    if (!cost) {
      auto [code, text] = explain(cost.takeError());
      return fail(code, "step {} of {}, '{}': {}", i + 1, state->steps.size(), program.steps[i].name, text);
    }
    if (profile)
      profile->steps.push_back({uint32_t(i), std::move(*cost)});
    if (after_step)
      if (llvm::Error error = after_step(i))
        return error;
  }
  if (progress)
    progress(state->steps.size(), state->steps.size());
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    Tensor &tensor = outputs.emplace_back(program.outputs[i].type, program.outputs[i].shape);
    if (llvm::Error error = state->memory->copy_out(tensor.bytes.data(), state->outputs[i], tensor.bytes.size()))
      return error;
  }
  if (profile)
    profile->host_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return outputs;
}

} // namespace dougong
