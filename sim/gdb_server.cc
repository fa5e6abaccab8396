#include "sim/gdb_server.h"
#include "sim/gdb_description.h"
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace dougong::sim {
namespace {

using namespace gdb;

// gdb's own numbers, not the host's.
enum Signal { signal_interrupt = 2, signal_illegal = 4, signal_trap = 5, signal_abort = 6, signal_segment = 11, signal_limit = 24 };

constexpr uint64_t most_memory = 0x3000; // bytes of an answer in hex, well within a packet

std::string to_hex(std::string_view bytes) {
  std::string hex;
  for (char c : bytes)
    hex += fmt::format("{:02x}", uint8_t(c));
  return hex;
}
std::string to_hex(const void *data, size_t bytes) { return to_hex({static_cast<const char *>(data), bytes}); }

std::optional<std::string> from_hex(std::string_view hex) {
  std::string bytes;
  for (; !hex.empty(); hex.remove_prefix(2)) {
    uint8_t value;
    if (hex.size() < 2 || std::from_chars(hex.data(), hex.data() + 2, value, 16).ptr != hex.data() + 2)
      return std::nullopt;
    bytes += char(value);
  }
  return bytes;
}

// Takes a number in hex off the front.
std::optional<uint64_t> take_number(std::string_view &text) {
  uint64_t value;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc())
    return std::nullopt;
  text.remove_prefix(size_t(end - text.data()));
  return value;
}

bool take(std::string_view &text, std::string_view prefix) {
  if (!text.starts_with(prefix))
    return false;
  text.remove_prefix(prefix.size());
  return true;
}

struct Range {
  uint64_t address, length;
};
// Takes "ADDRESS,LENGTH" off the front.
std::optional<Range> take_range(std::string_view &text) {
  auto address = take_number(text);
  if (!address || !take(text, ","))
    return std::nullopt;
  auto length = take_number(text);
  return length ? std::optional(Range{*address, *length}) : std::nullopt;
}

// The part "OFFSET,LENGTH" of a text, as qXfer answers it.
std::string part_of(const std::string &text, std::string_view where) {
  auto range = take_range(where);
  if (!range)
    return "E01";
  if (range->address >= text.size())
    return "l";
  std::string_view rest = std::string_view(text).substr(range->address);
  std::string_view part = rest.substr(0, std::min<uint64_t>(range->length, most_memory));
  return (part.size() < rest.size() ? "m" : "l") + GdbConnection::escaped(part);
}

bool done(const Core &core) { return core.state == Core::State::returned || core.state == Core::State::exited; }

constexpr const char *wrong_request = "E01", *no_memory = "E14";

} // namespace

GdbServer::GdbServer(Shared &shared, int port, std::function<void(const Core &)> check_limit)
    : shared(shared), debugger(shared), connection(port), check_limit(std::move(check_limit)) {
  stopped = {Debugger::Stop::step, shared.cores[0].get(), {}};
}

// ---- The client -------------------------------------------------------------------------------------------------------------

void GdbServer::wait_for_client() {
  std::fprintf(stderr, "waiting for gdb: target remote :%d\n", connection.port());
  connection.accept();
}

bool GdbServer::interrupted(const Core &moved) {
  chosen = moved.number;
  check_limit(moved);
  return connection.interrupted();
}

// On, without a client; until one comes, for whom it stops.
void GdbServer::run_detached() {
  connection.drop();
  detached = false;
  bool back = false;
  debugger.resume_freely([&](const Core &moved) {
    chosen = moved.number;
    check_limit(moved);
    return back = connection.client_waits();
  });
  finished = !back;
  if (back)
    connection.accept();
}

void GdbServer::serve() {
  try {
    wait_for_client();
    while (!finished)
      try {
        std::string packet = connection.receive();
        if (packet == "\x03")
          continue;
        connection.send(answer(packet));
        if (packet == "QStartNoAckMode")
          connection.acknowledge(false);
        if (detached)
          run_detached();
      } catch (const GdbConnection::Lost &) {
        if (!finished)
          wait_for_client();
      }
  } catch (const Killed &) {
    if (shared.kernel)
      throw Trap{Trap::Kind::limit, debugger.pc(core()), "the debugger has ended the launch"};
    for (auto &each : shared.cores)
      if (!done(*each))
        each->state = Core::State::exited, each->exit_code = 1;
  }
}

// ---- Requests --------------------------------------------------------------------------------------------------------------

std::string GdbServer::answer(const std::string &packet) {
  std::string_view rest = packet;
  char request = rest.empty() ? '\0' : rest[0];
  if (request)
    rest.remove_prefix(1);
  switch (request) {
  case '?':
    return stop_reply();
  case 'g':
    return read_registers();
  case 'G':
    return write_registers(rest) ? "OK" : wrong_request;
  case 'p': {
    auto number = take_number(rest);
    return number && *number < register_count ? read_register(unsigned(*number)) : wrong_request;
  }
  case 'P': {
    auto number = take_number(rest);
    return number && *number < register_count && take(rest, "=") && write_register(unsigned(*number), rest) ? "OK" : wrong_request;
  }
  case 'm':
  case 'x':
    return read_memory(packet);
  case 'M':
  case 'X':
    return write_memory(packet);
  case 'Z':
  case 'z':
    return breakpoint(packet);
  case 'c':
  case 's': // from an address, if there is one
    if (auto address = take_number(rest); address && !debugger.set_pc(core(), *address))
      return wrong_request;
    return act(request == 'c' ? "c" : fmt::format("s:{:x}", chosen + 1));
  case 'C':
  case 'S': // with a signal, which cores do not have
    return act(request == 'C' ? "c" : fmt::format("s:{:x}", chosen + 1));
  case 'k':
    throw Killed();
  case 'D':
    detached = true;
    return "OK";
  case 'H': {
    if (rest.empty())
      return wrong_request;
    rest.remove_prefix(1);
    return rest == "0" || rest == "-1" || choose(rest) ? "OK" : wrong_request;
  }
  case 'T': {
    auto thread = take_number(rest);
    return thread && *thread - 1 < shared.cores.size() ? "OK" : wrong_request;
  }
  case 'q':
  case 'Q':
    return query(packet);
  case 'v':
    if (rest == "Cont?")
      return "vCont;c;C;s;S;r";
    if (take(rest, "Cont;"))
      return act(std::string(rest));
    if (take(rest, "Kill")) {
      connection.send("OK");
      throw Killed();
    }
    return "";
  default: // what an empty answer means is: no such request. Backwards (bs, bc) is one of these.
    return "";
  }
}

bool GdbServer::choose(std::string_view thread) {
  auto number = take_number(thread);
  if (!number || *number - 1 >= shared.cores.size())
    return false;
  chosen = int(*number) - 1;
  return true;
}

// "s:2;c": what threads are to do; the first that fits a thread counts, one without a thread fits all. The others stay.
std::string GdbServer::act(const std::string &actions) {
  if (actions.empty())
    return wrong_request;
  std::vector<Debugger::Motion> motions(shared.cores.size(), {Debugger::Motion::stay});
  std::vector<bool> told(shared.cores.size());
  for (std::string_view rest = actions; !rest.empty();) {
    std::string_view action = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), action.size() + 1));
    Debugger::Motion motion;
    char kind = action.empty() ? '\0' : action[0];
    if (kind)
      action.remove_prefix(1);
    if (kind == 'C' || kind == 'S')
      take_number(action);
    else if (kind == 'r') {
      auto begin = take_number(action);
      auto end = begin && take(action, ",") ? take_number(action) : std::nullopt;
      if (!end)
        return wrong_request;
      motion.begin = *begin, motion.end = *end;
    } else if (kind != 'c' && kind != 's')
      return wrong_request;
    motion.kind = kind == 'c' || kind == 'C' ? Debugger::Motion::run : Debugger::Motion::step;
    std::optional<uint64_t> thread;
    if (take(action, ":") && action != "-1") {
      thread = take_number(action);
      if (!thread || *thread - 1 >= shared.cores.size())
        return wrong_request;
      if (motion.kind == Debugger::Motion::step)
        chosen = int(*thread) - 1;
    }
    for (size_t i = 0; i < motions.size(); ++i)
      if ((!thread || *thread - 1 == i) && !told[i])
        motions[i] = motion, told[i] = true;
  }
  return resume(motions);
}

std::string GdbServer::resume(const std::vector<Debugger::Motion> &motions) {
  using Stop = Debugger::Stop;
  if (stopped.why == Stop::trap) { // nothing can go on after a fault: end as the program would have without a debugger
    finished = true;
    connection.send(fmt::format("W{:02x}", 200));
    throw Trap{stopped.kind, debugger.pc(core()), stopped.text};
  }
  stopped = {Stop::interrupted, &core(), {}}; // if the client is lost meanwhile
  try {
    stopped = debugger.resume(motions, [&](const Core &moved) { return interrupted(moved); });
  } catch (const Trap &trap) { // a limit
    stopped = {Stop::trap, &core(), trap.text, trap.kind, 0};
  }
  if (stopped.core)
    chosen = stopped.core->number;
  bool running = false;
  for (auto &each : shared.cores)
    running |= !done(*each);
  if (!running && stopped.why != Stop::trap) {
    finished = true;
    return fmt::format("W{:02x}", shared.cores[0]->exit_code & 255);
  }
  if (stopped.why == Stop::trap)
    connection.send("O" + to_hex("dougong: " + stopped.text + "\n"));
  return stop_reply();
}

std::string GdbServer::stop_reply() const {
  using Stop = Debugger::Stop;
  int signal = signal_trap;
  std::string reason;
  switch (stopped.why) {
  case Stop::interrupted:
    signal = signal_interrupt;
    break;
  case Stop::breakpoint:
    reason = "swbreak:;";
    break;
  case Stop::watchpoint:
    reason = fmt::format("watch:{:x};", stopped.address);
    break;
  case Stop::trap:
    signal = stopped.kind == Trap::Kind::limit                 ? signal_limit
             : stopped.kind != Trap::Kind::fault               ? signal_abort
             : stopped.text.starts_with("illegal instruction") ? signal_illegal
             : stopped.text.starts_with("ebreak")              ? signal_trap
                                                               : signal_segment;
    break;
  default:
    break;
  }
  return fmt::format("T{:02x}thread:{:x};{}", signal, chosen + 1, reason);
}

std::string GdbServer::query(const std::string &packet) {
  std::string_view rest = packet;
  if (take(rest, "qSupported"))
    return fmt::format("PacketSize={:x};qXfer:features:read+;qXfer:threads:read+;QStartNoAckMode+;vContSupported+;swbreak+;hwbreak+;"
                       "binary-upload+",
                       GdbConnection::most_bytes);
  if (packet == "QStartNoAckMode")
    return "OK";
  if (packet == "qAttached") // so that a client that ends lets the program go on
    return "1";
  if (packet == "qOffsets") { // a kernel's image lies where there was room for it
    const Region *image = shared.kernel ? shared.memory.find(debugger.pc(core())) : nullptr;
    return image ? fmt::format("TextSeg={:x}", image->begin) : "";
  }
  if (packet == "qC")
    return fmt::format("QC{:x}", chosen + 1);
  if (packet == "qsThreadInfo")
    return "l";
  if (packet == "qfThreadInfo") {
    std::string list = "m";
    for (auto &each : shared.cores)
      list += fmt::format("{}{:x}", list.size() > 1 ? "," : "", each->number + 1);
    return list;
  }
  if (take(rest, "qXfer:features:read:target.xml:"))
    return part_of(target_description(), rest);
  if (take(rest, "qXfer:threads:read::"))
    return part_of(threads(), rest);
  if (take(rest, "qRcmd,")) {
    auto command = from_hex(rest);
    return command ? to_hex(monitor(*command)) : wrong_request;
  }
  return "";
}

std::string GdbServer::threads() const {
  std::string xml = "<?xml version=\"1.0\"?><threads>";
  for (auto &each : shared.cores)
    xml += fmt::format(R"(<thread id="{:x}" core="{}" name="core {}">{}</thread>)", each->number + 1, each->number, each->number,
                       done(*each) ? "not running" : "running");
  return xml + "</threads>";
}

// ---- What gdb has no commands for ------------------------------------------------------------------------------------------

std::string GdbServer::monitor(const std::string &command) const {
  std::string text;
  if (command == "engines") {
    for (auto &each : shared.cores) {
      const Engines &engines = each->engines;
      text += fmt::format("core {}\n", each->number);
      for (int q = 0; q < DG_QUEUES; ++q)
        text += fmt::format("  {:8} flag {} = {}: {} issued, {} waiting\n", engine_name(q), q, engines.value(q), engines.issued_on(q),
                            engines.waiting_on(q));
      for (int f = DG_QUEUES; f < 32; ++f)
        if (engines.value(f))
          text += fmt::format("  flag {} = {}\n", f, engines.value(f));
      if (std::string held = engines.situation(); !held.empty())
        text += held.substr(1) + "\n";
    }
    return text;
  }
  if (command == "memory") {
    text = fmt::format("{:#x}  {} bytes of local memory, the selected core's\n{:#x}  {} bytes of accumulators, the selected core's\n",
                       DG_LM_BASE, core().lm_bytes, Debugger::acc_base, shared.machine.acc_bytes());
    for (const auto &[begin, region] : shared.memory.mapped())
      text += fmt::format("{:#x}  {} bytes: {}\n", begin, region.bytes, region.name);
    return text;
  }
  if (command == "cores") {
    for (auto &each : shared.cores)
      text += fmt::format("core {} {} at {}, {} instructions{}\n", each->number, done(*each) ? "is done, last" : "is",
                          shared.where(debugger.pc(*each)), each->count.instructions,
                          shared.options.timing ? fmt::format(", cycle {}", each->time / cycle) : "");
    return text;
  }
  if (command != "help")
    text = fmt::format("no monitor command '{}'\n", command);
  return text + "monitor commands:\n"
                "  engines  queues, flags and what waits for what, of every core\n"
                "  memory   what is mapped where\n"
                "  cores    where every core is, and how far\n"
                "  help     this list\n";
}

// ---- Registers and memory -------------------------------------------------------------------------------------------------

std::string GdbServer::read_register(unsigned number) const {
  const Core &c = core();
  if (number < pc_register)
    return to_hex(&c.x[number], 8); // x[0] is never written
  if (number == pc_register) {
    uint64_t value = debugger.pc(c);
    return to_hex(&value, 8);
  }
  return number < first_mask ? to_hex(&c.v[number - first_vector], 128) : to_hex(&c.m[number - first_mask], 16);
}

std::string GdbServer::read_registers() const {
  std::string all;
  for (unsigned i = 0; i < register_count; ++i)
    all += read_register(i);
  return all;
}

bool GdbServer::write_register(unsigned number, std::string_view hex) {
  Core &c = core();
  auto bytes = from_hex(hex);
  if (!bytes || bytes->size() != register_bytes(number))
    return false;
  if (number == pc_register) {
    uint64_t value;
    std::memcpy(&value, bytes->data(), 8);
    return value == debugger.pc(c) || debugger.set_pc(c, value);
  }
  if (number == 0)
    return true;
  std::memcpy(number < pc_register  ? static_cast<void *>(&c.x[number])
              : number < first_mask ? static_cast<void *>(&c.v[number - first_vector])
                                    : static_cast<void *>(&c.m[number - first_mask]),
              bytes->data(), bytes->size());
  return true;
}

bool GdbServer::write_registers(std::string_view hex) {
  for (unsigned i = 0; i < register_count; ++i) {
    size_t digits = 2 * register_bytes(i);
    if (hex.size() < digits || !write_register(i, hex.substr(0, digits)))
      return false;
    hex.remove_prefix(digits);
  }
  return hex.empty();
}

// "mADDRESS,LENGTH" in hex, "x…" in binary.
std::string GdbServer::read_memory(const std::string &packet) {
  std::string_view rest = std::string_view(packet).substr(1);
  auto range = take_range(rest);
  if (!range)
    return wrong_request;
  bool binary = packet[0] == 'x';
  uint64_t length = std::min(range->length, most_memory);
  const uint8_t *bytes = debugger.memory(core(), range->address, length);
  if (!bytes)
    return no_memory;
  return binary ? "b" + GdbConnection::escaped({reinterpret_cast<const char *>(bytes), length}) : to_hex(bytes, length);
}

// "MADDRESS,LENGTH:BYTES", the bytes in hex; "X…" in binary.
std::string GdbServer::write_memory(const std::string &packet) {
  std::string_view rest = std::string_view(packet).substr(1);
  auto range = take_range(rest);
  if (!range || !take(rest, ":"))
    return wrong_request;
  auto bytes = packet[0] == 'X' ? std::optional(GdbConnection::unescaped(rest)) : from_hex(rest);
  if (!bytes || bytes->size() != range->length)
    return wrong_request;
  return debugger.write(core(), range->address, *bytes) ? "OK" : no_memory;
}

// Z0 (breakpoint, in software), Z1 (in hardware: the same here), Z2 (watchpoint, of changes); z… takes it away.
std::string GdbServer::breakpoint(const std::string &packet) {
  constexpr uint64_t most_watched = 4096;
  bool set = packet[0] == 'Z';
  if (packet.size() < 3 || packet[1] < '0' || packet[1] > '2' || packet[2] != ',')
    return "";
  std::string_view rest = std::string_view(packet).substr(3);
  auto range = take_range(rest);
  if (!range)
    return wrong_request;
  auto [address, length] = *range;
  if (packet[1] == '2') {
    if (set)
      return length >= 1 && length <= most_watched && debugger.set_watchpoint(core(), address, length) ? "OK" : no_memory;
    debugger.clear_watchpoint(core(), address, length);
    return "OK";
  }
  if (set)
    return debugger.set_breakpoint(address) ? "OK" : no_memory;
  debugger.clear_breakpoint(address);
  return "OK";
}

} // namespace dougong::sim
