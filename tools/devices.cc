// `dougong devices`: what `--device` and `--machine` can name.
#include "machines/machine.h"
#include "runtime/device.h"
#include "tools/subcommand.h"

using namespace dougong;

int devices_main(int argc, char **argv) {
  CLI::App app("Lists the devices that --device can name and the machines that --machine can name.");
  if (auto status = parse_arguments(app, argc, argv))
    return *status;
  std::printf("devices\n");
  for (const std::string &spec : Device::available()) {
    auto device = Device::open(spec);
    if (!device) {
      std::printf("  %-12s not available: %s\n", spec.c_str(), explain(device.takeError()).second.c_str());
      continue;
    }
    std::printf("  %-12s %s\n", spec.c_str(), (*device)->info().description.c_str());
  }
  std::printf("machines (for an NPU: --machine NAME, or a file like those in machines/)\n");
  for (const std::string &name : Machine::shipped()) {
    Machine machine = Machine::load(name);
    std::printf("  %-12s %d cores x %.1f GHz, %d int8 MAC/cycle/core, LM %d KiB, L2 %d KiB, DRAM %.1f GB/s\n", name.c_str(),
                machine.device.cores, machine.device.clock_ghz,
                int(machine.tensor.rows * machine.tensor.columns * machine.tensor.int8_rate), machine.core.lm_kib, machine.l2.kib,
                machine.dram.gb_per_s);
  }
  return 0;
}
