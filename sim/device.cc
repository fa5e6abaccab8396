#include "sim/device.h"
#include "sim/default_floats.h"
#include "sim/elf.h"
#include "sim/gdb_server.h"
#include "sim/semihosting.h"
#include "sim/shared.h"
#include "sim/turns.h"
#include <cstring>
#include <fmt/format.h>
#include <list>

namespace dougong::sim {

struct DeviceModel::Impl {
  struct Loaded {
    Image image;
    std::string file; // for source lines
    uint64_t moved_by = 0, thread_local_bytes = 0;
  };

  Impl(const Machine &machine, const Options &options) : shared(machine, options) {
    int count = options.cores ? options.cores : machine.device.cores;
    if (count < 1 || count > machine.device.cores)
      throw std::invalid_argument(fmt::format("{} cores: machine '{}' has 1 to {}", count, machine.name, machine.device.cores));
    for (int i = 0; i < count; ++i)
      shared.cores.push_back(std::make_unique<Core>(shared, i));
    total.cores.resize(count);
    shared.line = [this](uint64_t pc) { return line_of(pc); };
    if (!options.trace_file.empty()) {
      trace = std::make_unique<Trace>(options.trace_file, count, machine.device.clock_ghz);
      shared.trace = trace.get();
    }
  }

  Result run(bool kernel);
  void run_cores();
  void check_limit() const;
  Statistics account(bool kernel);
  std::string explain(const Core *core, const Trap &trap) const;
  std::string line_of(uint64_t pc) const;

  Shared shared;
  std::unique_ptr<Trace> trace;
  std::list<Loaded> images;
  Statistics total;
  MemoryTiming::Traffic counted; // of shared.timing.total, what is in `total` already
  std::vector<CoreStatistics> counted_cores;
  const Core *running = nullptr;
  std::string kernel_name; // of the launch
};

DeviceModel::DeviceModel(const Machine &machine, Options options) : impl(std::make_unique<Impl>(machine, options)) {}
DeviceModel::~DeviceModel() = default;
const Machine &DeviceModel::machine() const { return impl->shared.machine; }
int DeviceModel::cores() const { return int(impl->shared.cores.size()); }
uint8_t *DeviceModel::dram() { return impl->shared.memory.base(); }
uint64_t DeviceModel::dram_bytes() const { return impl->shared.memory.bytes(); }
void DeviceModel::map(uint64_t address, uint64_t bytes, std::string name) { impl->shared.memory.map(address, bytes, std::move(name)); }
void DeviceModel::unmap(uint64_t address) { impl->shared.memory.unmap(address); }
const Statistics &DeviceModel::statistics() const { return impl->total; }

// ---- Images -----------------------------------------------------------------------------------------------------------------

uint64_t DeviceModel::image_bytes(std::string_view elf) {
  ElfFile file(elf);
  return file.end - file.begin;
}

const Image &DeviceModel::load(std::string_view elf, std::optional<uint64_t> address) {
  ElfFile file(elf);
  Shared &shared = impl->shared;
  uint64_t moved_by = address ? *address - file.begin : 0;
  if (moved_by && !file.movable)
    throw LoadError(
        fmt::format("linked for {:#x} and not movable; link it with --emit-relocs, or as position-independent executable", file.begin));
  if (moved_by % 128)
    throw LoadError(
        fmt::format("cannot be moved from {:#x} to {:#x}: a move must be a multiple of 128 bytes", file.begin, file.begin + moved_by));
  uint64_t begin = file.begin + moved_by, size = file.end - file.begin;
  if (!shared.memory.inside(begin, size))
    throw LoadError(fmt::format("its memory [{:#x}, {:#x}) is outside the device's DRAM, [{:#x}, {:#x})", begin, begin + size, DG_DRAM_BASE,
                                DG_DRAM_BASE + dram_bytes()));
  try {
    shared.memory.map(begin, size, "the program");
  } catch (const std::invalid_argument &error) {
    throw LoadError(error.what());
  }
  shared.memory.clear(begin, size);
  for (const ElfFile::Segment &segment : file.segments) {
    std::memcpy(shared.memory.host(segment.address + moved_by), elf.data() + segment.offset, segment.file_bytes);
    if (segment.executable)
      shared.codes.push_back({segment.address + moved_by, segment.file_bytes / 2 * 2,
                              undecoded_operations(segment.file_bytes / 2 + 2, shared.options.timing)});
  }
  for (const ElfFile::Relocation &relocation : file.relocations) {
    if (relocation.address < file.begin || relocation.bytes > int64_t(file.end - relocation.address))
      continue;
    uint64_t value = relocation.value + moved_by;
    std::memcpy(shared.memory.host(relocation.address + moved_by), &value, relocation.bytes);
  }
  Impl::Loaded loaded{{begin, begin + size, file.entry + moved_by, {}}, std::string(elf), moved_by, file.thread_local_bytes};
  for (const ElfFile::Symbol &symbol : file.symbols) {
    loaded.image.symbols[symbol.name] = symbol.address + moved_by;
    if (!symbol.function)
      continue;
    if (symbol.typed)
      shared.symbols[symbol.address + moved_by] = symbol.name;
    else
      shared.symbols.try_emplace(symbol.address + moved_by, symbol.name);
  }
  shared.symbols.try_emplace(begin + size); // nothing beyond belongs to the last symbol
  impl->images.push_back(std::move(loaded));
  return impl->images.back().image;
}

void DeviceModel::unload(const Image &image) {
  Shared &shared = impl->shared;
  uint64_t begin = image.begin, end = image.end;
  shared.memory.unmap(begin);
  shared.symbols.erase(shared.symbols.lower_bound(begin), shared.symbols.upper_bound(end));
  std::erase_if(shared.codes, [&](const Code &code) { return code.begin >= begin && code.begin < end; });
  impl->images.remove_if([&](const Impl::Loaded &loaded) { return &loaded.image == &image; });
}

// ---- Running ------------------------------------------------------------------------------------------------------------------

Result DeviceModel::launch(uint64_t entry, uint64_t launch_block, uint64_t programs) {
  Shared &shared = impl->shared;
  shared.kernel = true;
  shared.host = nullptr;
  if (!shared.code_at(entry))
    return {Result::Status::fault, 0, fmt::format("device fault: the kernel's entry {:#x} is not code", entry), {}};
  auto symbol = shared.symbols.find(entry);
  impl->kernel_name = symbol == shared.symbols.end() ? "kernel" : symbol->second;
  for (const Impl::Loaded &loaded : impl->images)
    if (loaded.thread_local_bytes && entry >= loaded.image.begin && entry < loaded.image.end)
      return {Result::Status::fault,
              0,
              fmt::format(
                  "device fault: the image of kernel '{}' has thread-local variables ({} bytes), for which a kernel has no memory; make "
                  "them static, or do without what defines them",
                  impl->kernel_name, loaded.thread_local_bytes),
              {}};
  uint64_t count = shared.cores.size();
  for (auto &core : shared.cores) {
    core->reset();
    uint64_t c = core->number;
    core->x[1] = DG_KERNEL_RETURN;
    core->x[2] = DG_LM_BASE + core->lm_bytes;
    core->x[10] = launch_block;
    // c·P/N without overflow
    auto share = [&](uint64_t i) { return uint64_t((unsigned __int128)i * programs / count); };
    core->x[11] = share(c);
    core->x[12] = share(c + 1);
    core->x[13] = 1;
    core->op = core->enter(nullptr, entry, 0, 0);
  }
  return impl->run(true);
}

namespace {

// The memory of a program beside its image.
struct ProgramMemory {
  uint64_t heap_begin, heap_end, stack_begin, stack_end;

  ProgramMemory(const Image &image, const GlobalMemory &memory) : heap_begin((image.end + 15) / 16 * 16) {
    uint64_t room = memory.next_mapped(heap_begin);
    auto symbol = [&](const char *name) {
      auto at = image.symbols.find(name);
      return at == image.symbols.end() ? 0 : at->second;
    };
    heap_end = symbol("__heap_end"), stack_begin = symbol("__stack_begin"), stack_end = symbol("__stack");
    if (heap_begin > heap_end || heap_end > stack_begin || stack_begin >= stack_end || stack_end > room)
      heap_end = stack_begin = stack_end = std::min<uint64_t>(heap_begin + (1ull << 30), room);
  }
  bool apart() const { return stack_begin < stack_end; }
};

} // namespace

Result DeviceModel::run_program(const Image &image, const std::vector<std::string> &arguments, const std::string &files) {
  Shared &shared = impl->shared;
  Semihosting host;
  host.set_arguments(arguments);
  host.folder = files;
  ProgramMemory memory(image, shared.memory);
  shared.memory.map(memory.heap_begin, memory.heap_end - memory.heap_begin, memory.apart() ? "the heap" : "heap and stack");
  if (memory.apart())
    shared.memory.map(memory.stack_begin, memory.stack_end - memory.stack_begin, "the stack");
  host.heap_begin = memory.heap_begin;
  host.heap_end = memory.heap_end;
  host.stack_top = memory.stack_end;
  host.stack_begin = memory.stack_begin;
  shared.stack = memory.apart() ? fmt::format(", which is {} KiB (to change that, link with -Wl,--defsym=__stack_size=BYTES)",
                                              (memory.stack_end - memory.stack_begin) >> 10)
                                : "";
  shared.kernel = false;
  shared.host = &host;
  Result result;
  Core &core = *shared.cores[0];
  for (auto &each : shared.cores)
    each->reset(), each->state = Core::State::returned;
  core.state = Core::State::running;
  if (!shared.code_at(image.entry)) {
    result = {Result::Status::fault, 0, fmt::format("device fault: the program's entry {:#x} is not code", image.entry), {}};
  } else {
    core.op = core.enter(nullptr, image.entry, 0, 0);
    result = impl->run(false);
    if (result.status == Result::Status::done)
      result.status = Result::Status::exited, result.exit_code = core.exit_code;
  }
  if (memory.heap_begin < memory.heap_end)
    shared.memory.unmap(memory.heap_begin);
  if (memory.apart())
    shared.memory.unmap(memory.stack_begin);
  shared.stack.clear();
  shared.host = nullptr;
  std::fflush(stdout);
  return result;
}

Result DeviceModel::Impl::run(bool kernel) {
  DefaultFloats floats;
  shared.timing.reset_time(shared.launch_start);
  shared.order.reset();
  shared.horizon = ~0ull;
  if (shared.global_races)
    shared.global_races->reset();
  counted_cores.clear();
  for (auto &core : shared.cores)
    counted_cores.push_back(core->count);
  Statistics before = total;
  Result result;
  try {
    run_cores();
  } catch (const Trap &trap) {
    result.status = trap.kind == Trap::Kind::fault      ? Result::Status::fault
                    : trap.kind == Trap::Kind::deadlock ? Result::Status::deadlock
                    : trap.kind == Trap::Kind::race     ? Result::Status::race
                                                        : Result::Status::limit;
    result.message = explain(running, trap);
  }
  total = account(kernel);
  result.statistics = total - before;
  return result;
}

std::string DeviceModel::Impl::explain(const Core *core, const Trap &trap) const {
  const char *what = trap.kind == Trap::Kind::fault      ? "device fault"
                     : trap.kind == Trap::Kind::deadlock ? "deadlock"
                     : trap.kind == Trap::Kind::race     ? "race"
                                                         : "limit";
  return fmt::format("{}: core {} at {}: {}", what, core->number, shared.place(trap.pc), trap.text);
}

std::string DeviceModel::Impl::line_of(uint64_t pc) const {
  for (const Loaded &loaded : images)
    if (pc >= loaded.image.begin && pc < loaded.image.end) {
      std::string line = source_line(loaded.file, pc - loaded.moved_by);
      for (const std::string &call : inlined_calls(loaded.file, pc - loaded.moved_by))
        line += " in " + call;
      return line;
    }
  return "";
}

void DeviceModel::Impl::check_limit() const {
  uint64_t done = 0;
  for (size_t i = 0; i < shared.cores.size(); ++i)
    done += shared.cores[i]->count.instructions - counted_cores[i].instructions;
  if (shared.options.max_instructions && done >= shared.options.max_instructions)
    throw Trap{Trap::Kind::limit, running->pc_of(running->op),
               fmt::format("{} instructions, the most that were allowed, and not done", shared.options.max_instructions)};
}

void DeviceModel::Impl::run_cores() {
  if (shared.options.gdb_port) {
    GdbServer server(shared, *shared.options.gdb_port, [this](const Core &moved) {
      running = &moved;
      check_limit();
    });
    try {
      server.serve();
    } catch (const Trap &) {
      running = server.selected();
      throw;
    }
  } else {
    for (Turn turn; (turn = next_turn(shared, turn.core, [](const Core &) { return true; }));) {
      running = turn.core;
      turn.take();
      check_limit();
    }
  }
  for (auto &core : shared.cores) {
    running = core.get();
    if (core->engines.blocked())
      throw Trap{Trap::Kind::deadlock, core->pc_of(core->op ? core->op : core->ops),
                 "the core is done, but commands are left that nothing will start" + core->engines.situation()};
  }
}

Statistics DeviceModel::Impl::account(bool kernel) {
  const Machine &machine = shared.machine;
  bool timed = shared.options.timing;
  Statistics now = total;
  ++now.launches;
  uint64_t cycles = 0, overhead = kernel ? machine.device.launch_cycles : 0;
  for (auto &core : shared.cores)
    if (timed)
      cycles = std::max({cycles, (core->time + cycle - 1) / cycle, core->engines.done()});
  cycles += timed ? overhead : 0;
  Statistics::Energy &energy = now.energy;
  const auto &cost = machine.energy;
  constexpr double pico = 1e-12;
  for (size_t i = 0; i < shared.cores.size(); ++i) {
    Core &core = *shared.cores[i];
    CoreStatistics &count = core.count;
    const CoreStatistics &before = counted_cores[i];
    if (timed) {
      uint64_t stalled = 0;
      for (size_t s = 0; s < count.stalls.size(); ++s)
        stalled += count.stalls[s] - before.stalls[s];
      uint64_t last = (core.time + cycle - 1) / cycle, busy = last - std::min(last, stalled);
      count.cycles += cycles;
      count.busy += busy;
      count.idle += cycles - busy - stalled;
      for (int q = 0; q < DG_QUEUES; ++q)
        count.engines[q].idle +=
            cycles - (count.engines[q].busy - before.engines[q].busy) - (count.engines[q].stalled - before.engines[q].stalled);
      energy.tensor += pico * ((count.int_macs - before.int_macs) * cost.int8_mac_pj +
                               (count.fp8_macs + count.float_macs - before.fp8_macs - before.float_macs) * cost.f16_mac_pj);
      uint64_t vector = count.vector_instructions - before.vector_instructions;
      energy.vector += pico * vector * cost.vector_instruction_pj;
      energy.scalar += pico * (count.instructions - before.instructions - vector) * cost.scalar_instruction_pj;
      energy.lm += pico * (count.lm_read + count.lm_written - before.lm_read - before.lm_written) * cost.lm_pj_per_byte;
      energy.acc += pico * (count.acc_read + count.acc_written - before.acc_read - before.acc_written) * cost.acc_pj_per_byte;
    }
    now.cores[i] = count;
    if (shared.trace && core.time)
      shared.trace->span(int(i), Trace::core_track, kernel ? kernel_name.c_str() : "program", shared.launch_start,
                         shared.launch_start + core.time / cycle, "");
  }
  const MemoryTiming::Traffic &traffic = shared.timing.total;
  now.l2_read = traffic.l2_read, now.l2_written = traffic.l2_written;
  now.dma_read = shared.dma_read, now.dma_written = shared.dma_written;
  now.dram_read = timed ? traffic.dram_read : shared.dma_read;
  now.dram_written = timed ? traffic.dram_written : shared.dma_written;
  now.row_misses = traffic.row_misses;
  now.l2_dirty = shared.timing.dirty_bytes();
  now.l2_dirty_joule = pico * double(now.l2_dirty) * cost.dram_pj_per_byte;
  if (timed) {
    now.cycles += cycles;
    now.seconds = double(now.cycles) / (machine.device.clock_ghz * 1e9);
    energy.l2 = pico * (now.l2_read + now.l2_written) * cost.l2_pj_per_byte;
    energy.dram = pico * (now.dram_read + now.dram_written) * cost.dram_pj_per_byte;
    energy.standing = now.seconds * cost.static_w;
    shared.launch_start += cycles;
  }
  return now;
}

} // namespace dougong::sim
