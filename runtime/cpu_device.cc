// The host CPU as a device: object files loaded through ORC, programs shared out over a pool of threads.
#include "isa/machine_layout.h"
#include "runtime/devices.h"
#include "runtime/handle_table.h"
#include "runtime/host_memory.h"
#include "runtime/launch_totals.h"
#include "runtime/thread_pool.h"
#include "sim/default_floats.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include <chrono>
#include <fmt/format.h>

namespace dougong {
namespace {

using KernelFunction = void (*)(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step);
using Clock = std::chrono::steady_clock;

struct Region {
  KernelFunction function;
  const dg_launch *launch;
};

void run_range(void *context, uint64_t first, uint64_t last) {
  auto *region = static_cast<const Region *>(context);
  sim::DefaultFloats floats;
  region->function(region->launch, first, last, 1);
}

class CpuDevice : public Device {
public:
  CpuDevice(std::unique_ptr<HostMemory> host, std::unique_ptr<llvm::orc::LLJIT> jit, unsigned threads)
      : host(std::move(host)), jit(std::move(jit)), pool(threads) {
    this->jit->getExecutionSession().setErrorReporter([this](llvm::Error error) { complaint += llvm::toString(std::move(error)) + "\n"; });
  }

  DeviceInfo info() const override {
    return {"cpu", fmt::format("this host's CPU, {} thread{}", pool.threads(), pool.threads() == 1 ? "" : "s"), "", pool.threads(),
            host->memory.capacity()};
  }

  llvm::Expected<uint64_t> allocate(uint64_t bytes) override { return host->memory.allocate(bytes); }
  llvm::Error free(uint64_t address) override { return host->memory.free(address); }
  llvm::Expected<uint8_t *> map(uint64_t address, uint64_t bytes) override { return host->memory.map(address, bytes); }

  llvm::Expected<ModuleHandle> load(std::string_view image) override {
    // ORC trusts what it links: look first at what it is.
    llvm::MemoryBufferRef bytes(llvm::StringRef(image.data(), image.size()), "module");
    auto object = llvm::object::ObjectFile::createELFObjectFile(bytes);
    if (!object)
      return fail(Status::Invalid, "cpu: the image is not an object file: {}", llvm::toString(object.takeError()));
    if (!(*object)->isRelocatableObject() || (*object)->getArch() != jit->getTargetTriple().getArch())
      return fail(Status::Invalid, "cpu: the image is not a relocatable object file for {}, but {}",
                  std::string(jit->getTargetTriple().getArchName()), std::string((*object)->getFileFormatName()));
    std::lock_guard lock(launching);
    auto library = jit->createJITDylib(fmt::format("module{}", ++loaded));
    if (!library)
      return library.takeError();
    if (llvm::Error error =
            jit->addObjectFile(*library, llvm::MemoryBuffer::getMemBufferCopy(bytes.getBuffer(), fmt::format("module{}", loaded))))
      return fail(Status::Invalid, "cpu: the image could not be loaded: {}", llvm::toString(std::move(error)));
    return modules.add(&*library);
  }

  llvm::Error unload(ModuleHandle module) override {
    std::lock_guard lock(launching);
    llvm::orc::JITDylib **library = modules.find(module);
    if (!library)
      return fail(Status::Invalid, "cpu: {} is no loaded module", uint64_t(module));
    llvm::orc::JITDylib *gone = *library;
    kernels.remove_if([&](const Kernel &kernel) { return kernel.library == gone; });
    modules.remove(module);
    return jit->getExecutionSession().removeJITDylib(*gone);
  }

  llvm::Expected<KernelHandle> kernel(ModuleHandle module, std::string_view name) override {
    std::lock_guard lock(launching);
    llvm::orc::JITDylib **library = modules.find(module);
    if (!library)
      return fail(Status::Invalid, "cpu: {} is no loaded module", uint64_t(module));
    complaint.clear();
    auto address = jit->lookup(**library, llvm::StringRef(name.data(), name.size()));
    if (!address)
      return fail(Status::Invalid, "cpu: kernel '{}' could not be linked: {}{}{}", name, llvm::toString(address.takeError()),
                  complaint.empty() ? "" : "; ", complaint);
    return kernels.add(Kernel{*library, address->toPtr<KernelFunction>()});
  }

  llvm::Expected<Statistics> launch(KernelHandle handle, std::array<uint64_t, 3> grid, std::span<const uint64_t> arguments) override {
    auto programs = program_count(grid);
    if (!programs)
      return programs.takeError();
    std::lock_guard lock(launching);
    Kernel *kernel = kernels.find(handle);
    if (!kernel)
      return fail(Status::Invalid, "cpu: {} is no kernel of a loaded module", uint64_t(handle));
    block.assign(grid.begin(), grid.end());
    block.insert(block.end(), arguments.begin(), arguments.end());
    Region region{kernel->function, reinterpret_cast<const dg_launch *>(block.data())};
    Clock::time_point start = Clock::now();
    pool.run(*programs, run_range, &region);
    Statistics one;
    one.host_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return totals.add(one, *programs);
  }

  Statistics statistics() const override { return totals.get(); }

private:
  struct Kernel {
    llvm::orc::JITDylib *library;
    KernelFunction function;
  };
  std::unique_ptr<HostMemory> host;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  ThreadPool pool;
  std::mutex launching;
  uint64_t loaded = 0;
  std::string complaint;       // what ORC reports on the side
  std::vector<uint64_t> block; // the launch block being run
  HandleTable<ModuleHandle, llvm::orc::JITDylib *> modules;
  HandleTable<KernelHandle, Kernel> kernels;
  LaunchTotals totals;
};

} // namespace

llvm::Expected<std::shared_ptr<Device>> open_cpu_device(unsigned threads) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  auto host = HostMemory::reserve(physical_memory_bytes());
  if (!host)
    return host.takeError();
  if (!threads)
    threads = std::max(1u, std::thread::hardware_concurrency());
  return std::make_shared<CpuDevice>(std::move(*host), std::move(*jit), threads);
}

} // namespace dougong
