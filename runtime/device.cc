// Opening a device by its spec, and what all devices share.
#include "runtime/device.h"
#include "runtime/devices.h"
#include <charconv>
#include <cstring>

namespace dougong {

void Statistics::add(const Statistics &other) {
  launches += other.launches;
  programs += other.programs;
  host_seconds += other.host_seconds;
  timed |= other.timed;
  if (other.timed)
    l2_dirty = other.l2_dirty, l2_dirty_joule = other.l2_dirty_joule; // the latest
  cycles += other.cycles;
  seconds += other.seconds;
  for (auto &[name, engine] : other.engines) {
    engines[name].busy += engine.busy;
    engines[name].stalled += engine.stalled;
    engines[name].idle += engine.idle;
  }
  for (auto &[name, count] : other.stalls)
    stalls[name] += count;
  for (auto &[name, joule] : other.energy_joule)
    energy_joule[name] += joule;
  instructions += other.instructions;
  tensor_macs += other.tensor_macs;
  tensor_int_macs += other.tensor_int_macs;
  vector_instructions += other.vector_instructions;
  for (auto &[name, count] : other.bytes)
    bytes[name] += count;
}

double Statistics::energy() const {
  double total = 0;
  for (auto &[name, joule] : energy_joule)
    total += joule;
  return total;
}

llvm::Error Device::copy_in(uint64_t address, const void *source, uint64_t bytes) {
  auto host = map(address, bytes);
  if (!host)
    return host.takeError();
  if (bytes)
    std::memcpy(*host, source, bytes);
  return llvm::Error::success();
}

llvm::Error Device::copy_out(void *destination, uint64_t address, uint64_t bytes) {
  auto host = map(address, bytes);
  if (!host)
    return host.takeError();
  if (bytes)
    std::memcpy(destination, *host, bytes);
  return llvm::Error::success();
}

llvm::Expected<uint64_t> program_count(const std::array<uint64_t, 3> &grid) {
  uint64_t count = 1;
  for (uint64_t extent : grid)
    if (extent > UINT32_MAX || __builtin_mul_overflow(count, extent, &count))
      return fail(Status::Invalid,
                  "launch: a grid of {}x{}x{} programs is too large; each extent is at most 2^32-1, and all together below 2^64", grid[0],
                  grid[1], grid[2]);
  return count;
}

std::vector<std::string> Device::available() { return {"npu", "cpu", "null"}; }

namespace {

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value > 0 ? std::optional(value) : std::nullopt;
}

} // namespace

llvm::Expected<std::shared_ptr<Device>> Device::open(std::string_view spec) {
  std::string_view kind = spec.substr(0, spec.find(':'));
  std::string_view rest = spec.substr(std::min(spec.size(), kind.size() + 1));
  if (kind == "null" && rest.empty())
    return open_null_device();
  if (kind == "cpu") {
    std::optional<int> threads = rest.empty() ? 0 : whole_number(rest);
    if (!threads || *threads > 1024)
      return fail(Status::Invalid, "device '{}': after 'cpu:' stands a number of threads from 1 to 1024", spec);
    return open_cpu_device(unsigned(*threads));
  }
  if (kind == "npu") {
    NpuOptions options;
    std::string_view part = rest.substr(0, rest.find(','));
    if (!part.empty() && part != "timing" && part != "check-races" && part != "check-memory" && !part.starts_with("cores=") &&
        !part.starts_with("gdb=") && !part.starts_with("trace=")) {
      options.machine = part;
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    while (!rest.empty()) {
      if (rest.starts_with("trace=")) { // the last one: a file's name may have commas
        options.trace = rest.substr(6);
        break;
      }
      part = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      if (part == "timing")
        options.timing = true;
      else if (part == "check-races")
        options.check_races = true;
      else if (part == "check-memory")
        options.check_memory = true;
      else if (auto cores = part.starts_with("cores=") ? whole_number(part.substr(6)) : std::nullopt)
        options.cores = *cores;
      else if (part == "gdb=0") // any port
        options.gdb = 0;
      else if (auto port = part.starts_with("gdb=") ? whole_number(part.substr(4)) : std::nullopt; port && *port < 65536)
        options.gdb = *port;
      else
        return fail(Status::Invalid,
                    "device '{}': '{}' is no option of an NPU; options are 'timing', 'check-races', 'check-memory', 'cores=N', 'gdb=PORT' "
                    "and 'trace=FILE'",
                    spec, part);
    }
    if (!options.trace.empty() && !options.timing)
      return fail(Status::Invalid, "device '{}': a trace shows times, so it needs 'timing'", spec);
    return open_npu_device(options);
  }
  return fail(Status::Invalid,
              "no device '{}'; devices are cpu, cpu:THREADS, npu, "
              "npu:MACHINE[,timing][,check-races][,check-memory][,cores=N][,gdb=PORT][,trace=FILE] and null",
              spec);
}

} // namespace dougong
