// `dougong sim`: runs a program on the device model, with the program's exit status.
#include "machines/machine.h"
#include "sim/device.h"
#include "sim/roofs.h"
#include "tools/npy.h"
#include "tools/subcommand.h"
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace dougong;

namespace {

constexpr int device_fault_status = 200;

std::optional<std::string> read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  if (!file || !(bytes << file.rdbuf()))
    return std::nullopt;
  return bytes.str();
}

// How many of the arguments are ours: what follows the program's name is the program's, even if it begins with a dash.
int own_arguments(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with("-"))
      return i + 1;
    bool takes_value = argument != "--timing" && argument != "--check-races" && argument != "--check-memory" && argument != "--help" &&
                       argument != "-h" && argument.find('=') == argument.npos;
    if (takes_value)
      ++i;
  }
  return argc;
}

// A number without a sign: what is read as unsigned would wrap.
const CLI::Validator whole_number(
    [](std::string &text) {
      return text.find_first_not_of("0123456789") == text.npos ? "" : "'" + text + "' is no whole number from 0 on";
    },
    "");

int mistake(const std::string &text) {
  std::fprintf(stderr, "dougong sim: %s\n", text.c_str());
  return 2;
}

// What was counted, and in timing mode what bounds it.
nlohmann::json statistics(const sim::DeviceModel &device) {
  const sim::Statistics &counted = device.statistics();
  nlohmann::json result = counted.json();
  if (!counted.cycles)
    return result;
  std::vector<sim::Roof> roofs = sim::roofs(counted, device.machine());
  result["roofs"] = json(roofs, counted.cycles);
  result["roof"] = std::ranges::max_element(roofs, {}, &sim::Roof::cycles)->name;
  return result;
}

} // namespace

int sim_main(int argc, char **argv) {
  CLI::App app(
      "Runs a program (an ELF executable made by dougong-cc) on the device model: its first core, with the host's console.\n"
      "The exit status is the program's; 200 after a device fault, a deadlock or a race, which is explained on stderr; 2 after a mistake "
      "in the arguments.");
  std::string machine_name = "phone", statistics_file, program_file, files;
  sim::Options options;
  std::vector<std::string> arguments;
  app.add_option("--machine", machine_name, "a machine that `dougong devices` lists, or the path of a .toml file")->capture_default_str();
  app.add_flag("--timing", options.timing, "count cycles (slower)");
  app.add_flag("--check-races", options.check_races, "find accesses to local memory that no wait orders (slower)");
  app.add_flag("--check-memory", options.check_memory, "find reads of local memory that nothing has written (slower)");
  app.add_option("--cores", options.cores, "cores of the machine to build; 0: all")->capture_default_str();
  app.add_option("--stats", statistics_file, "write what was counted to this JSON file");
  app.add_option("--trace", options.trace_file, "write a trace for Perfetto to this file (with --timing)");
  app.add_option("--gdb", options.gdb_port, "wait for gdb-multiarch on this port (0: any), and run under it")->check(CLI::Range(0, 65535));
  app.add_option("--max-instructions", options.max_instructions, "stop with a fault after so many; 0: never")
      ->check(whole_number)
      ->capture_default_str();
  app.add_option("--files", files, "a folder of the host: the program may use the files in it, by names that begin there; without it none")
      ->check(CLI::ExistingDirectory);
  app.add_option("program", program_file, "the ELF executable")->required();
  app.add_option("arguments", arguments, "what the program gets in argv, options of its own included");
  int own = own_arguments(argc, argv);
  if (auto status = parse_arguments(app, own, argv))
    return *status;
  arguments.assign(argv + own, argv + argc);
  arguments.insert(arguments.begin(), program_file);
  if (!options.trace_file.empty() && !options.timing)
    return mistake("--trace needs --timing: without it nothing has a time");

  std::optional<std::string> elf = read_file(program_file);
  if (!elf)
    return mistake("cannot read the program '" + program_file + "'");
  try {
    sim::DeviceModel device(Machine::load(machine_name), options);
    const sim::Image &image = device.load(*elf);
    if (!statistics_file.empty() && !std::ofstream(statistics_file, std::ios::app))
      return mistake("'" + statistics_file + "' cannot be written: " + std::strerror(errno));
    sim::Result result = device.run_program(image, arguments, files);
    if (!statistics_file.empty())
      if (llvm::Error error = write_text(statistics_file, statistics(device).dump(1) + "\n"))
        return mistake(llvm::toString(std::move(error)));
    if (result.status == sim::Result::Status::exited)
      return result.exit_code;
    std::fprintf(stderr, "%s\n", result.message.c_str());
    return device_fault_status;
  } catch (const MachineError &error) {
    return mistake(error.what());
  } catch (const sim::LoadError &error) {
    return mistake(program_file + ": " + error.what());
  } catch (const std::invalid_argument &error) {
    return mistake(error.what());
  } catch (const std::runtime_error &error) {
    return mistake(error.what());
  }
}
