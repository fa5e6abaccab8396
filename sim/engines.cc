#include "sim/engines.h"
#include "sim/dma.h"
#include "sim/element_types.h"
#include "sim/host_level.h"
#include "sim/shared.h"
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace dougong::sim {

Engines::Engines(Core &core) : core(core), times(core), lm(core.shared.machine.core.lm_banks * core.shared.machine.core.lm_bank_bytes) {}

void Engines::reset() {
  lm.reset();
  flags.fill(0), issued.fill(0);
  for (auto &queue : pending)
    queue.clear();
  reference.reset();
  times.reset();
  awaited.reset();
  lm_until = 0;
}

bool Engines::blocked() const {
  return std::any_of(pending.begin(), pending.end(), [](const auto &queue) { return !queue.empty(); });
}

uint64_t Engines::done() {
  core.shared.serve_before(~0ull);
  for (int queue = 0; queue < DG_QUEUES; ++queue)
    times.known(queue, flags[queue]);
  return times.done();
}

std::string Engines::situation() const {
  std::string text;
  for (int q = 0; q < DG_QUEUES; ++q) {
    if (pending[q].empty())
      continue;
    const Wait &wait = std::get<Wait>(pending[q].front().what);
    size_t held =
        std::count_if(pending[q].begin(), pending[q].end(), [](const Entry &entry) { return !std::holds_alternative<Wait>(entry.what); });
    text += fmt::format("\n  queue {} ({}) holds {} command{} behind `dg.qwait` at {}: flag {} >= {}, and it is {}", q, engine_name(q),
                        held, held == 1 ? "" : "s", core.shared.place(pending[q].front().pc), wait.flag, wait.value, flags[wait.flag]);
  }
  return text;
}

uint64_t Engines::tensor(const dg_tensor_command &command, uint64_t now) {
  check(command);
  dg_tensor_command given = command;
  // No k at all: so that nothing loops over the other counts, which may be any.
  if (!given.k[0] || !given.k[1] || !given.k[2])
    given.k[0] = given.k[1] = given.k[2] = 0;
  return submit(DG_TENSOR, {given, now, core.reference(), core.pc_of(core.at)});
}

uint64_t Engines::drain(const dg_drain_command &command, uint64_t now) {
  check(command);
  return submit(DG_DRAIN, {command, now, core.reference(), core.pc_of(core.at)});
}

uint64_t Engines::dma(int queue, const dg_dma_command &command, uint64_t now) {
  if (queue < DG_LOAD0 || queue >= DG_LOAD0 + core.shared.machine.dma.queues)
    core.fault(core.at, fmt::format("dg.dma: queue {} is not a DMA queue of this machine; it has {} to {}", queue, int(DG_LOAD0),
                                    DG_LOAD0 + core.shared.machine.dma.queues - 1));
  check(queue, command);
  return submit(queue, {command, now, core.reference(), core.pc_of(core.at)});
}

uint64_t Engines::submit(int queue, Entry entry) {
  size_t depth = queue_depth(core.shared.machine, queue);
  uint64_t ticket = ++issued[queue];
  if (core.check)
    entry.clock = core.check->issue(entry.pc);
  if (!pending[queue].empty()) {
    size_t held =
        std::count_if(pending[queue].begin(), pending[queue].end(), [](const Entry &e) { return !std::holds_alternative<Wait>(e.what); });
    if (held >= depth)
      throw Trap{Trap::Kind::deadlock, entry.pc,
                 fmt::format("the {} queue is full ({} commands) and waits for a flag that only this core can raise{}", engine_name(queue),
                             held, situation())};
    pending[queue].push_back(std::move(entry));
    return ticket;
  }
  // The command so many before this one must have started.
  if (uint64_t number = reference.commands[queue] + 1; number > depth) {
    awaited = Awaited{true, queue, number - depth};
    core.pass_reference(reference.started(queue, number - depth) + 1);
  }
  execute(queue, entry);
  retry();
  return ticket;
}

bool Engines::ready(int queue, const Wait &wait) {
  if (flags[wait.flag] < wait.value)
    return false;
  if (core.shared.options.timing) {
    reference.wait(queue, wait.flag, wait.value);
    times.wait(queue, wait.flag, wait.value);
  }
  if (core.check)
    core.check->queue_waits(queue, wait.flag, wait.value);
  return true;
}

void Engines::wait(int queue, int flag, uint64_t value, uint64_t now) {
  if (queue >= DG_QUEUES || flag >= 32)
    core.fault(core.at,
               fmt::format("dg.qwait: queue {} or flag {} does not exist; queues are 0 to {}, flags 0 to 31", queue, flag, DG_QUEUES - 1));
  Wait wait{flag, value};
  if (pending[queue].empty() && ready(queue, wait))
    return;
  pending[queue].push_back({wait, now, core.reference(), core.pc_of(core.at)});
}

void Engines::add(int flag, uint64_t value, uint64_t now) {
  if (flag < 8 || flag > 31)
    core.fault(core.at, fmt::format("dg.flag.add: flag {} is not the program's to raise; those are 8 to 31", flag));
  flags[flag] += value;
  if (core.check)
    core.check->raises(flag, flags[flag]);
  if (core.shared.options.timing) {
    reference.flags[flag].raised(flags[flag], core.reference());
    times.raised(flag, flags[flag], now);
  }
  retry();
}

void Engines::retry() {
  for (bool moved = true; moved;) {
    moved = false;
    for (int queue = 0; queue < DG_QUEUES; ++queue)
      while (!pending[queue].empty()) {
        Entry &front = pending[queue].front();
        if (const Wait *wait = std::get_if<Wait>(&front.what)) {
          if (!ready(queue, *wait))
            break;
        } else {
          execute(queue, front);
        }
        pending[queue].pop_front();
        moved = true;
      }
  }
}

void Engines::execute(int queue, const Entry &entry) {
  bool timing = core.shared.options.timing;
  ++core.count.engines[queue].commands;
  ++flags[queue];
  if (core.check)
    core.check->begin(queue, entry.clock, entry.pc);
  if (core.checked)
    check_accesses(entry);
  if (timing)
    count_vector_accesses();
  uint64_t start = timing ? reference.start(queue, entry.reference) : 0;
  EngineTimes::Command command;
  if (const auto *tensor = std::get_if<dg_tensor_command>(&entry.what))
    command = run(*tensor, start);
  else if (const auto *drain = std::get_if<dg_drain_command>(&entry.what))
    command = run(*drain, start);
  else
    command = run(std::get<dg_dma_command>(entry.what), start, entry.pc);
  if (core.check)
    core.check->end();
  if (!timing)
    return;
  lm_counted = core.count.lm_read + core.count.lm_written;
  uint64_t moving = uint64_t(std::ceil(double(command.port_bytes) / core.shared.machine.dma.bytes_per_cycle));
  uint64_t until = start + std::max(command.cycles, command.startup + moving);
  reference.run(queue, queue_depth(core.shared.machine, queue), start, until, until + (command.runs.empty() ? 0 : reference_latency));
  if (command.port_bytes)
    core.shared.order.add(start, core.number, queue);
  command.issued = entry.issued;
  if (core.shared.trace)
    command.details = details(entry);
  times.command(queue, std::move(command));
}

std::string Engines::details(const Entry &entry) const {
  std::string text = fmt::format("\"from\":\"{}\"", core.shared.where(entry.pc));
  if (const auto *c = std::get_if<dg_tensor_command>(&entry.what))
    text += fmt::format(",\"m\":{},\"k\":{},\"n\":{}", c->m[0] * c->m[1], c->k[0] * c->k[1] * c->k[2], c->n);
  else if (const auto *c = std::get_if<dg_drain_command>(&entry.what))
    text += fmt::format(",\"m\":{},\"n\":{}", c->m[0] * c->m[1], c->n);
  else if (const auto *c = std::get_if<dg_dma_command>(&entry.what))
    text += fmt::format(",\"bytes\":{}", uint64_t(c->element_bytes) * c->count[0] * c->count[1] * c->count[2] * c->count[3] * c->count[4]);
  if (const auto *c = std::get_if<dg_dma_command>(&entry.what); c && c->listed)
    text += fmt::format(",\"list\":\"{}\"", c->listed == DG_LIST_SRC ? "gather" : "scatter");
  if (const auto *c = std::get_if<dg_dma_command>(&entry.what); c && c->add)
    text += fmt::format(",\"adds\":\"{}\"", type_name(c->add_type));
  if (const auto *c = std::get_if<dg_dma_command>(&entry.what); c && c->cores)
    text += fmt::format(",\"cores\":\"{:#x}\"", c->cores);
  return text;
}

namespace {
// An engine asks for its operands at the pace at which it uses them, not all at once.
double bytes_per_cycle(uint64_t bytes, uint64_t begin, uint64_t end) { return double(bytes) / double(std::max<uint64_t>(1, end - begin)); }
} // namespace

// What the vector unit has read and written since the last command goes into the calendar, from then on and at the pace of the time
// since. It does not wait for the engines; where a command has taken all there was, the next one pays for it.
void Engines::count_vector_accesses() {
  uint64_t bytes = core.count.lm_read + core.count.lm_written, now = core.reference();
  lm.take(lm_until, double(bytes - lm_counted), bytes_per_cycle(bytes - lm_counted, lm_until, now));
  lm_counted = bytes;
  lm_until = now;
}

void Engines::await(int flag, uint64_t value) {
  count_vector_accesses();
  awaited = Awaited{false, flag, value};
  core.pass_reference(reference.flags[flag].when(value));
}

bool Engines::known() {
  return awaited->place ? times.started(awaited->index, awaited->value) : times.known(awaited->index, awaited->value);
}

uint64_t Engines::when() const {
  return awaited->place ? times.start_of(awaited->index, awaited->value) : times.when(awaited->index, awaited->value);
}

// ---- Checks: what a wrong descriptor says -----------------------------------------------------------------------------

namespace {

// The offsets, low to high, that dimensions of a count and a stride can reach.
struct Reach {
  int64_t low = 0, high = 0;
  void dimension(uint64_t count, int64_t stride) { (stride < 0 ? low : high) += stride * int64_t(count ? count - 1 : 0); }
};

// Of three numbers, any of which may be 0; the largest number if it does not fit.
uint64_t product(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t result;
  if (!a || !b || !c)
    return 0;
  return __builtin_mul_overflow(a, b, &result) || __builtin_mul_overflow(result, c, &result) ? ~0ull : result;
}

bool is_float_operand(uint8_t type) { return type == DG_F16 || type == DG_BF16 || type == DG_F8E4M3 || type == DG_F8E5M2; }
bool is_int_operand(uint8_t type) { return type == DG_I8 || type == DG_U8; }

} // namespace

void Engines::check_lm(const char *command, const char *field, int64_t low, int64_t high) const {
  if (low < int64_t(DG_LM_BASE) || high > int64_t(DG_LM_BASE + core.lm_bytes))
    core.fault(core.at, fmt::format("{}: {} reaches [{:#x}, {:#x}), outside local memory, [{:#x}, {:#x})", command, field, low, high,
                                    DG_LM_BASE, DG_LM_BASE + core.lm_bytes));
}

void Engines::check(const dg_tensor_command &c) const {
  if (!(is_float_operand(c.a_type) && c.a_type == c.b_type) && !(is_int_operand(c.a_type) && is_int_operand(c.b_type)))
    core.fault(
        core.at,
        fmt::format("dg.tensor: a_type {} ({}) with b_type {} ({}); both must be the same of F16, BF16, F8E4M3, F8E5M2, or each I8 or U8",
                    c.a_type, type_name(c.a_type), c.b_type, type_name(c.b_type)));
  if (c.accumulate > 1)
    core.fault(core.at, fmt::format("dg.tensor: accumulate is {}; it must be 0 or 1", c.accumulate));
  uint64_t m = uint64_t(c.m[0]) * c.m[1], k = product(c.k[0], c.k[1], c.k[2]);
  if (m == 0 || c.n == 0)
    return;
  if (m >= 1u << 24 || k >= 1u << 24 || c.n >= 1u << 24)
    core.fault(core.at, fmt::format("dg.tensor: counts m {} x {}, k {} x {} x {}, n {}: each product must be below 2^24", c.m[0], c.m[1],
                                    c.k[0], c.k[1], c.k[2], c.n));
  if (m * k > DG_TENSOR_MOST_ELEMENTS || k * c.n > DG_TENSOR_MOST_ELEMENTS || product(m, k, c.n) > DG_TENSOR_MOST_STEPS)
    core.fault(core.at,
               fmt::format("dg.tensor: m {}, k {}, n {}: one command takes at most {} elements of A and of B, and {} multiply-adds", m, k,
                           c.n, DG_TENSOR_MOST_ELEMENTS, DG_TENSOR_MOST_STEPS));
  Reach a, b, acc;
  for (int i = 0; i < 2; ++i)
    a.dimension(c.m[i], c.a_m_stride[i]);
  for (int i = 0; i < 3; ++i)
    a.dimension(c.k[i], c.a_k_stride[i]), b.dimension(c.k[i], c.b_k_stride[i]);
  b.dimension(c.n, c.b_n_stride);
  acc.dimension(m, c.acc_m_stride);
  if (k > 0) {
    check_lm("dg.tensor", "operand a", c.a + a.low, c.a + a.high + type_bytes(c.a_type));
    check_lm("dg.tensor", "operand b", c.b + b.low, c.b + b.high + type_bytes(c.b_type));
  }
  int64_t low = c.acc + acc.low, high = c.acc + acc.high + 4 * int64_t(c.n), size = core.shared.machine.acc_bytes();
  if (low < 0 || high > size)
    core.fault(core.at, fmt::format("dg.tensor: acc reaches [{}, {}), outside accumulator memory, [0, {})", low, high, size));
  if (c.acc % 4 || c.acc_m_stride % 4)
    core.fault(core.at, fmt::format("dg.tensor: acc {} and acc_m_stride {} must be multiples of 4", c.acc, c.acc_m_stride));
}

void Engines::check(const dg_drain_command &c) const {
  if (c.acc_type != DG_F32 && c.acc_type != DG_I32)
    core.fault(core.at, fmt::format("dg.drain: acc_type is {} ({}); it must be F32 or I32", c.acc_type, type_name(c.acc_type)));
  bool known = c.out_type == DG_F32 || c.out_type == DG_BF16 || c.out_type == DG_F16 || c.out_type == DG_I8 || c.out_type == DG_U8 ||
               c.out_type == DG_I32;
  if (!known)
    core.fault(core.at,
               fmt::format("dg.drain: out_type is {} ({}); it must be F32, BF16, F16, I8, U8 or I32", c.out_type, type_name(c.out_type)));
  if (c.residual && c.residual_type != DG_F32 && c.residual_type != DG_BF16 && c.residual_type != DG_F16)
    core.fault(core.at,
               fmt::format("dg.drain: residual_type is {} ({}); it must be F32, BF16 or F16", c.residual_type, type_name(c.residual_type)));
  uint64_t m = uint64_t(c.m[0]) * c.m[1];
  if (m == 0 || c.n == 0)
    return;
  if (m >= 1u << 24 || c.n >= 1u << 24)
    core.fault(core.at, fmt::format("dg.drain: counts m {}, n {}: each must be below 2^24", m, c.n));
  Reach acc, out, residual;
  acc.dimension(m, c.acc_m_stride);
  for (int i = 0; i < 2; ++i)
    out.dimension(c.m[i], c.out_m_stride[i]), residual.dimension(c.m[i], c.residual_m_stride[i]);
  int64_t low = c.acc + acc.low, high = c.acc + acc.high + 4 * int64_t(c.n), size = core.shared.machine.acc_bytes();
  if (low < 0 || high > size)
    core.fault(core.at, fmt::format("dg.drain: acc reaches [{}, {}), outside accumulator memory, [0, {})", low, high, size));
  if (c.acc % 4 || c.acc_m_stride % 4)
    core.fault(core.at, fmt::format("dg.drain: acc {} and acc_m_stride {} must be multiples of 4", c.acc, c.acc_m_stride));
  check_lm("dg.drain", "out", c.out + out.low, c.out + out.high + int64_t(c.n) * type_bytes(c.out_type));
  if (c.residual)
    check_lm("dg.drain", "residual", c.residual + residual.low, c.residual + residual.high + int64_t(c.n) * type_bytes(c.residual_type));
  if (c.scale)
    check_lm("dg.drain", "scale", c.scale, c.scale + 4 * int64_t(c.n));
  if (c.bias)
    check_lm("dg.drain", "bias", c.bias, c.bias + 4 * int64_t(c.n));
}

void Engines::check(int queue, const dg_dma_command &c) const {
  bool load = queue == DG_LOAD0 || queue == DG_LOAD1;
  if (std::string problem = dma_problem(c, load, core); !problem.empty())
    core.fault(core.at, "dg.dma: " + problem);
}

// ---- What commands do, and how long they take ---------------------------------------------------------------------------

EngineTimes::Command Engines::run(const dg_tensor_command &c, uint64_t start) {
  uint64_t m = uint64_t(c.m[0]) * c.m[1], k = uint64_t(c.k[0]) * c.k[1] * c.k[2];
  if (m == 0 || c.n == 0)
    return {};
  host_level().tensor(c, core.lm, core.acc.get());
  const Machine &machine = core.shared.machine;
  const auto &shape = machine.tensor;
  uint64_t tiles_m = (m + shape.rows - 1) / shape.rows, tiles_n = (c.n + shape.columns - 1) / shape.columns;
  // Operands are read again for every tile of the other one.
  uint64_t bytes = k * (tiles_n * m * type_bytes(c.a_type) + tiles_m * c.n * type_bytes(c.b_type));
  bool integer = is_int_operand(c.a_type);
  bool wide_float = c.a_type == DG_F16 || c.a_type == DG_BF16;
  (integer ? core.count.int_macs : wide_float ? core.count.float_macs : core.count.fp8_macs) += m * k * c.n;
  core.count.lm_read += bytes;
  core.count.acc_written += 4 * m * c.n;
  if (c.accumulate)
    core.count.acc_read += 4 * m * c.n;
  double rate = integer ? shape.int8_rate : c.a_type == DG_F16 ? shape.f16_rate : c.a_type == DG_BF16 ? shape.bf16_rate : shape.fp8_rate;
  uint64_t begin = start + shape.startup_cycles, end = begin + uint64_t(std::ceil(double(tiles_m * tiles_n * k) / rate));
  if (core.shared.options.timing)
    end = std::max(end, lm.take(begin, double(bytes), bytes_per_cycle(bytes, begin, end)));
  EngineTimes::Command cost;
  cost.cycles = end - start;
  return cost;
}

EngineTimes::Command Engines::run(const dg_drain_command &c, uint64_t start) {
  uint64_t m = uint64_t(c.m[0]) * c.m[1];
  if (m == 0 || c.n == 0)
    return {};
  host_level().drain(c, core.lm, core.acc.get());
  const Machine &machine = core.shared.machine;
  uint64_t written = m * c.n * type_bytes(c.out_type),
           read = (c.residual ? m * c.n * type_bytes(c.residual_type) : 0) + (c.scale ? 4 * c.n : 0) + (c.bias ? 4 * c.n : 0);
  core.count.acc_read += 4 * m * c.n;
  core.count.lm_read += read;
  core.count.lm_written += written;
  uint64_t begin = start + machine.tensor.drain_startup_cycles,
           end = begin + uint64_t(std::ceil(4.0 * m * c.n / machine.tensor.drain_bytes_per_cycle));
  if (core.shared.options.timing)
    end = std::max(end, lm.take(begin, double(read + written), bytes_per_cycle(read + written, begin, end)));
  EngineTimes::Command cost;
  cost.cycles = end - start;
  return cost;
}

EngineTimes::Command Engines::run(const dg_dma_command &c, uint64_t start, uint64_t pc) {
  Shared &shared = core.shared;
  Copied copied = dma_copy(c, core, pc);
  if (!copied.problem.empty())
    throw Trap{Trap::Kind::fault, pc, "dg.dma: " + copied.problem};
  uint64_t places = c.cores ? std::popcount(c.cores) : 1;
  core.count.lm_read += copied.lm_read + copied.added_bytes * (places - 1);
  core.count.lm_written += copied.lm_written * places;
  shared.dma_read += copied.global_read;
  shared.dma_written += copied.global_written;
  if (!shared.options.timing)
    return {};
  // An index list comes from local memory, not through the port, and before the rows: their addresses are made of it.
  auto listing = uint64_t(std::ceil(double(copied.list_bytes) / shared.machine.dma.bytes_per_cycle));
  uint64_t startup = shared.machine.dma.startup_cycles + listing, begin = start + startup;
  uint64_t port = std::max(copied.lm_read - copied.list_bytes - copied.added_bytes, copied.lm_written);
  auto fastest = uint64_t(std::ceil(double(port) / shared.machine.dma.bytes_per_cycle));
  uint64_t bytes = copied.lm_read + copied.lm_written, end = lm.take(begin, double(bytes), bytes_per_cycle(bytes, begin, begin + fastest));
  EngineTimes::Command cost;
  cost.startup = startup;
  cost.cycles = end - start;
  cost.port_bytes = port;
  cost.receivers = copied.receivers;
  using enum MemoryTiming::Access;
  cost.access = !copied.global_written ? read : copied.global_read ? add : write;
  cost.runs = std::move(copied.runs);
  return cost;
}

} // namespace dougong::sim
