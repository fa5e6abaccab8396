// An NPU: the device model behind the device API. Its DRAM is one allocation range; whatever is allocated is mapped for kernels.
#include "runtime/device_memory.h"
#include "runtime/devices.h"
#include "runtime/handle_table.h"
#include "runtime/launch_totals.h"
#include "sim/device.h"
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <set>

namespace dougong {
namespace {

using Clock = std::chrono::steady_clock;
constexpr uint64_t launch_block_slots = 512;

sim::Options model_options(const NpuOptions &options) {
  sim::Options out;
  out.timing = options.timing;
  out.check_races = options.check_races;
  out.check_memory = options.check_memory;
  out.cores = options.cores;
  out.trace_file = options.trace;
  out.gdb_port = options.gdb;
  return out;
}

Statistics converted(const sim::Statistics &from, bool timed) {
  Statistics to;
  to.launches = from.launches;
  to.timed = timed;
  to.instructions = from.instructions();
  to.tensor_macs = from.tensor_macs();
  to.vector_instructions = from.vector_instructions();
  uint64_t lm_read = 0, lm_written = 0, acc_read = 0, acc_written = 0;
  for (const sim::CoreStatistics &core : from.cores) {
    lm_read += core.lm_read, lm_written += core.lm_written;
    to.tensor_int_macs += core.int_macs;
    acc_read += core.acc_read, acc_written += core.acc_written;
  }
  to.bytes = {{"lm read", lm_read},         {"lm written", lm_written},       {"acc read", acc_read},
              {"acc written", acc_written}, {"dram read", from.dram_read},    {"dram written", from.dram_written},
              {"dma read", from.dma_read},  {"dma written", from.dma_written}};
  if (!timed)
    return to;
  to.bytes["l2 read"] = from.l2_read;
  to.bytes["l2 written"] = from.l2_written;
  to.l2_dirty = from.l2_dirty, to.l2_dirty_joule = from.l2_dirty_joule;
  to.cycles = from.cycles;
  to.seconds = from.seconds;
  for (const sim::CoreStatistics &core : from.cores) {
    Statistics::Engine &issue = to.engines["core"];
    issue.busy += core.busy;
    issue.idle += core.idle;
    for (int cause = 0; cause < int(sim::Stall::count); ++cause) {
      issue.stalled += core.stalls[cause];
      to.stalls[std::string(name(sim::Stall(cause)))] += core.stalls[cause];
    }
    for (int queue = 0; queue < DG_QUEUES; ++queue) {
      Statistics::Engine &engine = to.engines[std::string(sim::engine_name(queue))];
      engine.busy += core.engines[queue].busy;
      engine.stalled += core.engines[queue].stalled;
      engine.idle += core.engines[queue].idle;
    }
  }
  const auto &energy = from.energy;
  to.energy_joule = {{"tensor", energy.tensor}, {"scalar", energy.scalar}, {"vector", energy.vector}, {"lm", energy.lm},
                     {"acc", energy.acc},       {"l2", energy.l2},         {"dram", energy.dram},     {"standing", energy.standing}};
  return to;
}

class NpuDevice : public Device {
public:
  NpuDevice(const Machine &machine, const NpuOptions &options)
      : model(machine, model_options(options)), memory(model.dram(), DG_DRAM_BASE, model.dram_bytes()), timing(options.timing) {
    block = llvm::cantFail(memory.allocate(launch_block_slots * 8));
    model.map(block, launch_block_slots * 8, "launch block");
  }

  DeviceInfo info() const override {
    const Machine &m = model.machine();
    return {"npu",
            fmt::format("model of '{}', {}: {} cores x {:.1f} GHz", m.name, timing ? "timing" : "functional", model.cores(),
                        m.device.clock_ghz),
            m.name, unsigned(model.cores()), memory.capacity()};
  }
  const Machine *machine() const override { return &model.machine(); }

  llvm::Expected<uint64_t> allocate(uint64_t bytes) override {
    std::lock_guard lock(launching);
    auto address = memory.allocate(bytes);
    if (address && bytes) {
      model.map(*address, bytes, fmt::format("buffer of {} bytes", bytes));
      mapped.insert(*address);
    }
    return address;
  }
  llvm::Error free(uint64_t address) override {
    std::lock_guard lock(launching);
    bool ours = address == block;
    for (auto &[id, image] : images)
      ours |= image.address == address;
    if (ours)
      return fail(Status::Invalid, "device memory: no allocation begins at {:#x}; free takes the address that allocate gave, once",
                  address);
    if (llvm::Error error = memory.free(address))
      return error;
    if (mapped.erase(address))
      model.unmap(address);
    return llvm::Error::success();
  }
  llvm::Expected<uint8_t *> map(uint64_t address, uint64_t bytes) override { return memory.map(address, bytes); }

  llvm::Expected<ModuleHandle> load(std::string_view elf) override {
    std::lock_guard lock(launching);
    uint64_t address = 0;
    try {
      auto place = memory.allocate(sim::DeviceModel::image_bytes(elf));
      if (!place)
        return place.takeError();
      address = *place;
      const sim::Image &image = model.load(elf, address);
      images[++loaded] = LoadedImage{address, &image};
      return ModuleHandle(loaded);
    } catch (const std::exception &error) {
      if (address)
        llvm::cantFail(memory.free(address));
      return fail(Status::Invalid, "npu: the image could not be loaded: {}", error.what());
    }
  }

  llvm::Error unload(ModuleHandle module) override {
    std::lock_guard lock(launching);
    auto found = images.find(uint64_t(module));
    if (found == images.end())
      return fail(Status::Invalid, "npu: {} is no loaded module", uint64_t(module));
    kernels.remove_if([&](const Kernel &kernel) { return kernel.module == module; });
    model.unload(*found->second.image);
    uint64_t address = found->second.address;
    images.erase(found);
    return memory.free(address);
  }

  llvm::Expected<KernelHandle> kernel(ModuleHandle module, std::string_view name) override {
    std::lock_guard lock(launching);
    auto found = images.find(uint64_t(module));
    if (found == images.end())
      return fail(Status::Invalid, "npu: {} is no loaded module", uint64_t(module));
    auto symbol = found->second.image->symbols.find(name);
    if (symbol == found->second.image->symbols.end())
      return fail(Status::Invalid, "npu: the module has no kernel '{}'", name);
    return kernels.add(Kernel{module, symbol->second, std::string(name)});
  }

  llvm::Expected<Statistics> launch(KernelHandle handle, std::array<uint64_t, 3> grid, std::span<const uint64_t> arguments) override {
    auto programs = program_count(grid);
    if (!programs)
      return programs.takeError();
    if (arguments.size() > launch_block_slots - 3)
      return fail(Status::Invalid, "npu: a kernel takes at most {} arguments, not {}", launch_block_slots - 3, arguments.size());
    std::lock_guard lock(launching);
    Kernel *kernel = kernels.find(handle);
    if (!kernel)
      return fail(Status::Invalid, "npu: {} is no kernel of a loaded module", uint64_t(handle));
    auto *slots = reinterpret_cast<uint64_t *>(model.dram() + (block - DG_DRAM_BASE));
    std::copy(grid.begin(), grid.end(), slots);
    std::copy(arguments.begin(), arguments.end(), slots + 3);
    Clock::time_point start = Clock::now();
    sim::Result result = model.launch(kernel->entry, block, *programs);
    Statistics one = converted(result.statistics, timing);
    one.host_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    one = totals.add(one, *programs);
    if (!result.ok())
      return fail(Status::DeviceFault, "npu: kernel '{}' failed: {}", kernel->name, result.message);
    return one;
  }

  Statistics statistics() const override { return totals.get(); }

private:
  struct LoadedImage {
    uint64_t address;
    const sim::Image *image;
  };
  struct Kernel {
    ModuleHandle module;
    uint64_t entry;
    std::string name;
  };
  sim::DeviceModel model;
  DeviceMemory memory;
  bool timing;
  uint64_t block = 0;        // where launch blocks are put
  std::mutex launching;      // the model is not thread-safe
  std::set<uint64_t> mapped; // allocations that kernels may touch
  uint64_t loaded = 0;
  std::map<uint64_t, LoadedImage> images;
  HandleTable<KernelHandle, Kernel> kernels;
  LaunchTotals totals;
};

} // namespace

llvm::Expected<std::shared_ptr<Device>> open_npu_device(const NpuOptions &options) {
  try {
    Machine machine = Machine::load(options.machine);
    if (options.cores > machine.device.cores)
      return fail(Status::Invalid, "npu: machine '{}' has {} cores, {} were asked for", machine.name, machine.device.cores, options.cores);
    return std::make_shared<NpuDevice>(machine, options);
  } catch (const std::exception &error) {
    return fail(Status::Invalid, "npu: {}", error.what());
  }
}

} // namespace dougong
