// Reads machine descriptions. Every field of Machine is one line of `read` below: key, and the range that makes sense.
#include "machines/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

// With NDEBUG toml++ has the compiler assume what it did not check: that `[ = 3` goes on with a key, say.
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? void() : throw std::logic_error("not understood"))
#include <toml++/toml.h>

namespace fs = std::filesystem;

namespace dougong {
namespace {

// Takes values out of one file's tables, and afterwards knows which keys nobody asked for, and which were not there.
class Reader {
public:
  Reader(std::string file, toml::table table) : file(std::move(file)), table(std::move(table)) {}

  template <typename T> bool number(T &into, std::string_view section, std::string_view key, double least, double most) {
    known.insert(fmt::format("{}.{}", section, key));
    toml::node_view node = table[section][key];
    if (!node) {
      if (missing.empty())
        missing = fmt::format("{}: key '{}.{}' is missing; it takes a number from {} to {}", file, section, key, least, most);
      return false;
    }
    std::optional<double> value = node.template value<double>();
    if (!value || !(*value >= least && *value <= most) || (std::is_integral_v<T> && *value != std::floor(*value)))
      wrong(section, key, fmt::format("{} from {} to {}", std::is_integral_v<T> ? "a whole number" : "a number", least, most));
    into = static_cast<T>(*value);
    return true;
  }

  void one_of(int &into, std::string_view section, std::string_view key, const std::vector<int> &allowed) {
    if (number(into, section, key, allowed.front(), allowed.back()) && std::find(allowed.begin(), allowed.end(), into) == allowed.end())
      wrong(section, key, fmt::format("one of {}", fmt::join(allowed, ", ")));
  }

  // What addresses are divided by.
  void power_of_two(int &into, std::string_view section, std::string_view key, int least, int most) {
    if (number(into, section, key, least, most) && !std::has_single_bit(unsigned(into)))
      wrong(section, key, fmt::format("a power of two from {} to {}", least, most));
  }

  // After all keys were asked for: what is misspelt is unknown before it is missing.
  void finish() const {
    refuse_unknown_keys();
    if (!missing.empty())
      throw MachineError(missing);
  }

private:
  void refuse_unknown_keys() const {
    for (auto &&[section, node] : table) {
      const toml::table *inner = node.as_table();
      if (!inner) {
        if (section.str() != "name")
          refuse(section.str(), node);
        continue;
      }
      for (auto &&[key, value] : *inner)
        if (std::string full = fmt::format("{}.{}", section.str(), key.str()); !known.count(full))
          refuse(full, value);
    }
  }

  [[noreturn]] void wrong(std::string_view section, std::string_view key, const std::string &takes) const {
    const toml::node &node = *table[section][key].node();
    std::ostringstream given;
    node.visit([&](auto &value) { given << value; });
    throw MachineError(
        fmt::format("{}:{}: '{}.{}' takes {}, not {}", file, node.source().begin.line, section, key, takes, shortened(given.str())));
  }

  static std::string shortened(const std::string &text) {
    constexpr size_t most = 60;
    return text.size() > most ? text.substr(0, most) + "..." : text;
  }

  void refuse(std::string_view key, const toml::node &node) const {
    auto near = std::min_element(known.begin(), known.end(), [&](auto &a, auto &b) { return edits(key, a) < edits(key, b); });
    std::string hint = edits(key, *near) <= 2 ? fmt::format(", perhaps '{}'", *near) : "";
    throw MachineError(
        fmt::format("{}:{}: unknown key '{}'{}; known keys are {}", file, node.source().begin.line, key, hint, fmt::join(known, ", ")));
  }

  // How many characters must be put in, taken away or changed to make the one of the other.
  static size_t edits(std::string_view from, std::string_view to) {
    std::vector<size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (size_t i = 1; i <= from.size(); ++i) {
      size_t diagonal = std::exchange(row[0], i);
      for (size_t j = 1; j <= to.size(); ++j) {
        size_t changed = diagonal + (from[i - 1] != to[j - 1]);
        diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
      }
    }
    return row[to.size()];
  }

  std::string file;
  toml::table table;
  std::set<std::string> known;
  std::string missing; // the first key without a value
};

constexpr double big = 1e9;

void read(Machine &m, Reader &r) {
  r.number(m.device.cores, "device", "cores", 1, 256);
  r.number(m.device.clock_ghz, "device", "clock_ghz", 0.001, 10);
  r.number(m.device.launch_cycles, "device", "launch_cycles", 0, big);
  r.one_of(m.core.issue_width, "core", "issue_width", {1, 2, 4}); // the model divides a cycle into four slots
  r.number(m.core.lm_kib, "core", "lm_kib", 64, 16384);
  r.number(m.core.acc_kib, "core", "acc_kib", 4, 16384);
  r.number(m.core.lm_banks, "core", "lm_banks", 1, 256);
  r.power_of_two(m.core.lm_bank_bytes, "core", "lm_bank_bytes", 4, 256);
  r.number(m.core.instruction_cache_kib, "core", "instruction_cache_kib", 1, 1024);
  r.number(m.core.prefetch_lines, "core", "prefetch_lines", 0, 64);
  r.number(m.core.data_cache_kib, "core", "data_cache_kib", 1, 1024);
  r.number(m.core.cache_miss_cycles, "core", "cache_miss_cycles", 0, 10000);
  r.number(m.core.branch_miss_cycles, "core", "branch_miss_cycles", 0, 100);
  r.number(m.tensor.rows, "tensor", "rows", 1, 1024);
  r.number(m.tensor.columns, "tensor", "columns", 1, 1024);
  r.number(m.tensor.startup_cycles, "tensor", "startup_cycles", 0, 10000);
  r.number(m.tensor.int8_rate, "tensor", "int8_rate", 0.01, 16);
  r.number(m.tensor.fp8_rate, "tensor", "fp8_rate", 0.01, 16);
  r.number(m.tensor.f16_rate, "tensor", "f16_rate", 0.01, 16);
  r.number(m.tensor.bf16_rate, "tensor", "bf16_rate", 0.01, 16);
  r.number(m.tensor.drain_bytes_per_cycle, "tensor", "drain_bytes_per_cycle", 1, 65536);
  r.number(m.tensor.drain_startup_cycles, "tensor", "drain_startup_cycles", 0, 10000);
  r.number(m.tensor.queue_depth, "tensor", "queue_depth", 1, 1024);
  r.one_of(m.dma.queues, "dma", "queues", {2, 4}); // one half loads, the other stores
  r.number(m.dma.bytes_per_cycle, "dma", "bytes_per_cycle", 1, 65536);
  r.number(m.dma.startup_cycles, "dma", "startup_cycles", 0, 10000);
  r.number(m.dma.queue_depth, "dma", "queue_depth", 1, 1024);
  r.number(m.l2.kib, "l2", "kib", 0, 4e6);
  r.number(m.l2.bytes_per_cycle, "l2", "bytes_per_cycle", 1, 1e6);
  r.number(m.l2.latency_cycles, "l2", "latency_cycles", 0, 100000);
  r.power_of_two(m.l2.line_bytes, "l2", "line_bytes", 16, 4096);
  r.number(m.l2.ways, "l2", "ways", 1, 64);
  r.number(m.dram.gb_per_s, "dram", "gb_per_s", 0.01, 100000);
  r.number(m.dram.latency_ns, "dram", "latency_ns", 0, 100000);
  r.power_of_two(m.dram.burst_bytes, "dram", "burst_bytes", 8, 4096);
  r.power_of_two(m.dram.row_bytes, "dram", "row_bytes", 64, 1 << 20);
  r.number(m.dram.banks, "dram", "banks", 1, 65536);
  r.number(m.dram.row_miss_ns, "dram", "row_miss_ns", 0, 100000);
  r.number(m.energy.int8_mac_pj, "energy", "int8_mac_pj", 0, big);
  r.number(m.energy.f16_mac_pj, "energy", "f16_mac_pj", 0, big);
  r.number(m.energy.scalar_instruction_pj, "energy", "scalar_instruction_pj", 0, big);
  r.number(m.energy.vector_instruction_pj, "energy", "vector_instruction_pj", 0, big);
  r.number(m.energy.lm_pj_per_byte, "energy", "lm_pj_per_byte", 0, big);
  r.number(m.energy.acc_pj_per_byte, "energy", "acc_pj_per_byte", 0, big);
  r.number(m.energy.l2_pj_per_byte, "energy", "l2_pj_per_byte", 0, big);
  r.number(m.energy.dram_pj_per_byte, "energy", "dram_pj_per_byte", 0, big);
  r.number(m.energy.static_w, "energy", "static_w", 0, big);
}

// Where the shipped descriptions lie: $DOUGONG_MACHINES, or the source tree this was built from.
fs::path folder() {
  if (const char *set = std::getenv("DOUGONG_MACHINES"))
    return set;
  return DOUGONG_MACHINES_DIR;
}

} // namespace

std::vector<std::string> Machine::shipped() {
  std::set<std::string> names;
  std::error_code none;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder(), none))
    if (entry.path().extension() == ".toml")
      names.insert(entry.path().stem());
  return {names.begin(), names.end()};
}

// Beyond ASCII there are comments at most; and toml++ has places it takes for unreachable, which some of those characters reach.
static std::string ascii_of(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw MachineError(fmt::format("machine file '{}' cannot be read", path.string()));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c > 127; }, '?');
  return text;
}

Machine Machine::load(std::string_view name_or_file) {
  bool is_file = name_or_file.ends_with(".toml") || name_or_file.find('/') != std::string_view::npos;
  fs::path path = is_file ? fs::path(name_or_file) : folder() / fmt::format("{}.toml", name_or_file);
  if (!fs::is_regular_file(path))
    throw MachineError(is_file ? fmt::format("machine file '{}' {}", name_or_file, fs::exists(path) ? "is no file" : "does not exist")
                               : fmt::format("unknown machine '{}'; known machines are {}, or give the path of a .toml file", name_or_file,
                                             fmt::join(shipped(), ", ")));
  try {
    Machine machine;
    machine.name = path.stem();
    Reader reader(path, toml::parse(ascii_of(path), path.string()));
    read(machine, reader);
    reader.finish();
    return machine;
  } catch (const toml::parse_error &error) {
    throw MachineError(fmt::format("{}:{}: {}", path.string(), error.source().begin.line, error.description()));
  } catch (const std::logic_error &error) {
    throw MachineError(fmt::format("{}: no TOML: {}", path.string(), error.what()));
  }
}

} // namespace dougong
