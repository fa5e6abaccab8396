// The null device: it accepts all and computes nothing. What a run costs on it is what the runtime itself costs; it is also
// the device to copy when a new one is written.
#include "runtime/devices.h"
#include "runtime/handle_table.h"
#include "runtime/host_memory.h"
#include "runtime/launch_totals.h"

namespace dougong {
namespace {

class NullDevice : public Device {
public:
  explicit NullDevice(std::unique_ptr<HostMemory> host) : host(std::move(host)) {}

  DeviceInfo info() const override { return {"null", "accepts all, computes nothing", "", 0, host->memory.capacity()}; }

  llvm::Expected<uint64_t> allocate(uint64_t bytes) override { return host->memory.allocate(bytes); }
  llvm::Error free(uint64_t address) override { return host->memory.free(address); }
  llvm::Expected<uint8_t *> map(uint64_t address, uint64_t bytes) override { return host->memory.map(address, bytes); }

  llvm::Expected<ModuleHandle> load(std::string_view image) override {
    if (image.empty())
      return fail(Status::Invalid, "null device: an empty image is no module");
    return modules.add(std::string(image.substr(0, 4)));
  }

  llvm::Error unload(ModuleHandle module) override {
    if (!modules.remove(module))
      return fail(Status::Invalid, "null device: {} is no loaded module", uint64_t(module));
    kernels.remove_if([&](ModuleHandle of) { return of == module; });
    return llvm::Error::success();
  }

  llvm::Expected<KernelHandle> kernel(ModuleHandle module, std::string_view name) override {
    if (!modules.find(module))
      return fail(Status::Invalid, "null device: {} is no loaded module", uint64_t(module));
    return kernels.add(module);
  }

  llvm::Expected<Statistics> launch(KernelHandle kernel, std::array<uint64_t, 3> grid, std::span<const uint64_t> arguments) override {
    if (!kernels.find(kernel))
      return fail(Status::Invalid, "null device: {} is no kernel of a loaded module", uint64_t(kernel));
    auto programs = program_count(grid);
    if (!programs)
      return programs.takeError();
    return totals.add({}, *programs);
  }

  Statistics statistics() const override { return totals.get(); }

private:
  std::unique_ptr<HostMemory> host;
  HandleTable<ModuleHandle, std::string> modules;
  HandleTable<KernelHandle, ModuleHandle> kernels;
  LaunchTotals totals;
};

} // namespace

llvm::Expected<std::shared_ptr<Device>> open_null_device() {
  auto host = HostMemory::reserve(physical_memory_bytes());
  if (!host)
    return host.takeError();
  return std::make_shared<NullDevice>(std::move(*host));
}

} // namespace dougong
