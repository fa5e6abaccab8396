#include "sim/gdb_server.h"
#include <arpa/inet.h>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dougong::sim {
namespace {

constexpr unsigned first_vector = 33, first_mask = first_vector + 32, register_count = first_mask + 8; // x0..x31, pc before
constexpr int interrupt_signal = 2, trap_signal = 5, fault_signal = 11;

std::string to_hex(const void *data, size_t bytes) {
  std::string hex;
  for (size_t i = 0; i < bytes; ++i)
    hex += fmt::format("{:02x}", static_cast<const uint8_t *>(data)[i]);
  return hex;
}

bool from_hex(const std::string &hex, uint8_t *into, size_t bytes) {
  if (hex.size() < bytes * 2)
    return false;
  for (size_t i = 0; i < bytes; ++i) {
    unsigned value;
    if (std::sscanf(hex.c_str() + 2 * i, "%2x", &value) != 1)
      return false;
    into[i] = uint8_t(value);
  }
  return true;
}

// "ADDRESS,LENGTH" in hex; the rest after a ':' or ';' is left.
bool parse_range(const char *text, uint64_t &address, uint64_t &length) {
  char *end;
  address = std::strtoull(text, &end, 16);
  if (*end != ',')
    return false;
  length = std::strtoull(end + 1, &end, 16);
  return true;
}

const char *queue_names[] = {"tensor", "drain", "load 0", "store 0", "load 1", "store 1"};

} // namespace

GdbServer::GdbServer(Shared &shared, int port) : shared(shared), debugger(shared) {
  listener = socket(AF_INET, SOCK_STREAM, 0);
  int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(uint16_t(port));
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr *>(&address), size) || listen(listener, 1) ||
      getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size))
    throw std::runtime_error(fmt::format("--gdb: cannot listen on port {}: {}", port, std::strerror(errno)));
  std::fprintf(stderr, "waiting for gdb: target remote :%d\n", int(ntohs(address.sin_port)));
  client = accept(listener, nullptr, nullptr);
  if (client < 0)
    throw std::runtime_error(fmt::format("--gdb: no client: {}", std::strerror(errno)));
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

GdbServer::~GdbServer() {
  if (client >= 0)
    close(client);
  if (listener >= 0)
    close(listener);
}

// ---- Packets: $body#checksum, each answered with + ------------------------------------------------------------------------

std::string GdbServer::receive() {
  auto next = [&]() -> char {
    char c;
    if (recv(client, &c, 1, 0) != 1)
      throw Killed();
    return c;
  };
  for (;;) {
    char c = next();
    if (c == 3)
      return "\x03";
    if (c != '$')
      continue;
    std::string body;
    uint8_t sum = 0;
    while ((c = next()) != '#')
      body += c, sum = uint8_t(sum + uint8_t(c));
    char digits[3] = {next(), next(), 0};
    bool good = std::strtoul(digits, nullptr, 16) == sum;
    if (acknowledge && ::send(client, good ? "+" : "-", 1, MSG_NOSIGNAL) != 1)
      throw Killed();
    if (good)
      return body;
  }
}

void GdbServer::send(const std::string &body) {
  uint8_t sum = 0;
  for (char c : body)
    sum = uint8_t(sum + uint8_t(c));
  std::string packet = fmt::format("${}#{:02x}", body, sum);
  for (size_t sent = 0; sent < packet.size();) {
    ssize_t n = ::send(client, packet.data() + sent, packet.size() - sent, MSG_NOSIGNAL);
    if (n <= 0)
      throw Killed();
    sent += size_t(n);
  }
}

bool GdbServer::interrupted() {
  pollfd waiting{client, POLLIN, 0};
  if (poll(&waiting, 1, 0) <= 0)
    return false;
  char c;
  ssize_t n = recv(client, &c, 1, MSG_PEEK);
  if (n <= 0)
    throw Killed();
  if (c != 3)
    return false;
  recv(client, &c, 1, 0);
  return true;
}

void GdbServer::serve() {
  try {
    while (!finished) {
      std::string packet = receive();
      if (packet == "\x03")
        continue;
      send(answer(packet));
      if (packet == "QStartNoAckMode")
        acknowledge = false;
    }
    if (detached)
      debugger.resume_freely();
  } catch (const Killed &) {
    for (auto &each : shared.cores)
      if (each->state == Core::State::running)
        each->state = Core::State::exited, each->exit_code = 1;
  }
}

// ---- Requests --------------------------------------------------------------------------------------------------------------

std::string GdbServer::answer(const std::string &packet) {
  switch (packet.empty() ? 0 : packet[0]) {
  case '?':
    return stop_reply(trap_signal);
  case 'g':
    return read_registers();
  case 'p':
    return read_register(unsigned(std::strtoul(packet.c_str() + 1, nullptr, 16)));
  case 'P': {
    size_t equals = packet.find('=');
    return equals != packet.npos && write_register(unsigned(std::strtoul(packet.c_str() + 1, nullptr, 16)), packet.substr(equals + 1))
               ? "OK"
               : "E01";
  }
  case 'm':
    return read_memory(packet);
  case 'M':
    return write_memory(packet);
  case 'Z':
  case 'z':
    return breakpoint(packet);
  case 'c':
    return resume(false);
  case 's':
    return resume(true);
  case 'k':
    throw Killed();
  case 'D':
    detached = finished = true;
    return "OK";
  case 'H': {
    long thread = std::strtol(packet.c_str() + 2, nullptr, 16);
    if (thread > long(shared.cores.size()))
      return "E01";
    if (thread > 0)
      chosen = int(thread) - 1;
    return "OK";
  }
  case 'T': {
    unsigned long thread = std::strtoul(packet.c_str() + 1, nullptr, 16);
    return thread >= 1 && thread <= shared.cores.size() ? "OK" : "E01";
  }
  case 'q':
  case 'Q':
    return query(packet);
  case 'v':
    if (packet == "vCont?")
      return "vCont;c;C;s;S";
    if (packet.starts_with("vCont;c") || packet.starts_with("vCont;C"))
      return resume(false);
    if (packet.starts_with("vCont;s") || packet.starts_with("vCont;S")) {
      size_t colon = packet.find(':');
      if (colon != packet.npos)
        if (unsigned long thread = std::strtoul(packet.c_str() + colon + 1, nullptr, 16); thread >= 1 && thread <= shared.cores.size())
          chosen = int(thread) - 1;
      return resume(true);
    }
    return "";
  default:
    return "";
  }
}

std::string GdbServer::stop_reply(int signal) const { return fmt::format("T{:02x}thread:{:x};", signal, chosen + 1); }

std::string GdbServer::resume(bool step) {
  if (!trapped.empty()) { // nothing can go on after a fault: end as the program would have without a debugger
    finished = true;
    send("W" + fmt::format("{:02x}", 200));
    throw Trap{Trap::Kind::fault, trap_pc, trapped};
  }
  Debugger::Outcome outcome = debugger.resume(step ? &core() : nullptr, [&] { return interrupted(); });
  if (outcome.core)
    chosen = outcome.core->number;
  switch (outcome.why) {
  case Debugger::Stop::interrupted:
    return stop_reply(interrupt_signal);
  case Debugger::Stop::trap: {
    trapped = outcome.text;
    trap_pc = debugger.pc(core());
    std::string text = "dougong: " + trapped + "\n";
    send("O" + to_hex(text.data(), text.size()));
    return stop_reply(fault_signal);
  }
  case Debugger::Stop::done:
    finished = true;
    return fmt::format("W{:02x}", core().exit_code & 255);
  default:
    return stop_reply(trap_signal);
  }
}

std::string GdbServer::query(const std::string &packet) {
  if (packet.starts_with("qSupported"))
    return "PacketSize=8000;qXfer:features:read+;QStartNoAckMode+;vContSupported+;hwbreak+;swbreak+";
  if (packet == "QStartNoAckMode")
    return "OK";
  if (packet == "qAttached")
    return "1";
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
  if (packet.starts_with("qThreadExtraInfo,")) {
    unsigned long thread = std::strtoul(packet.c_str() + 17, nullptr, 16);
    if (thread < 1 || thread > shared.cores.size())
      return "E01";
    std::string text = fmt::format("core {}{}", thread - 1, shared.cores[thread - 1]->state == Core::State::running ? "" : ", not running");
    return to_hex(text.data(), text.size());
  }
  if (packet.starts_with("qXfer:features:read:target.xml:")) {
    uint64_t offset, length;
    if (!parse_range(packet.c_str() + 31, offset, length))
      return "E01";
    std::string xml = description();
    if (offset >= xml.size())
      return "l";
    return (offset + length < xml.size() ? "m" : "l") + xml.substr(offset, length);
  }
  if (packet.starts_with("qRcmd,")) {
    std::string command(packet.size() / 2 - 3, 0);
    if (!from_hex(packet.substr(6), reinterpret_cast<uint8_t *>(command.data()), command.size()))
      return "E01";
    std::string text = monitor(command);
    return to_hex(text.data(), text.size());
  }
  return "";
}

std::string GdbServer::monitor(const std::string &command) const {
  if (command != "engines")
    return "monitor commands: engines (queues and flags of every core)\n";
  std::string text;
  for (auto &each : shared.cores) {
    const Engines &engines = each->engines;
    text += fmt::format("core {}\n", each->number);
    for (int q = 0; q < DG_QUEUES; ++q)
      text += fmt::format("  {:8} flag {} = {}: {} issued, {} waiting\n", queue_names[q], q, engines.value(q), engines.issued_on(q),
                          engines.waiting_on(q));
    for (int f = DG_QUEUES; f < 32; ++f)
      if (engines.value(f))
        text += fmt::format("  flag {} = {}\n", f, engines.value(f));
    if (std::string held = engines.situation(); !held.empty())
      text += held.substr(1) + "\n";
  }
  return text;
}

std::string GdbServer::description() const {
  std::string xml =
      R"(<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target><architecture>riscv:rv64</architecture><feature name="org.gnu.gdb.riscv.cpu">)";
  for (int i = 0; i < 32; ++i)
    xml += fmt::format(R"(<reg name="x{}" bitsize="64" type="int" regnum="{}"/>)", i, i);
  xml +=
      R"(<reg name="pc" bitsize="64" type="code_ptr" regnum="32"/></feature><feature name="org.dougong.vector">)"
      R"(<vector id="v32f" type="ieee_single" count="32"/><vector id="v32i" type="int32" count="32"/><vector id="v64i" type="int16" count="64"/><vector id="v128i" type="int8" count="128"/>)"
      R"(<union id="dougong_vector"><field name="f32" type="v32f"/><field name="i32" type="v32i"/><field name="i16" type="v64i"/><field name="i8" type="v128i"/></union>)";
  for (int i = 0; i < 32; ++i)
    xml += fmt::format(R"(<reg name="v{}" bitsize="1024" type="dougong_vector" group="vector" regnum="{}"/>)", i, first_vector + i);
  for (int i = 0; i < 8; ++i)
    xml += fmt::format(R"(<reg name="m{}" bitsize="128" type="uint128" group="vector" regnum="{}"/>)", i, first_mask + i);
  return xml + "</feature></target>";
}

// ---- Registers and memory -------------------------------------------------------------------------------------------------

std::string GdbServer::read_register(unsigned number) const {
  const Core &c = core();
  if (number < 32) {
    uint64_t value = number ? c.x[number] : 0;
    return to_hex(&value, 8);
  }
  if (number == 32) {
    uint64_t value = debugger.pc(c);
    return to_hex(&value, 8);
  }
  if (number < first_mask)
    return to_hex(&c.v[number - first_vector], 128);
  if (number < register_count)
    return to_hex(&c.m[number - first_mask], 16);
  return "E01";
}

std::string GdbServer::read_registers() const {
  std::string all;
  for (unsigned i = 0; i < register_count; ++i)
    all += read_register(i);
  return all;
}

bool GdbServer::write_register(unsigned number, const std::string &hex) {
  Core &c = core();
  if (number == 32) {
    uint64_t value;
    if (!from_hex(hex, reinterpret_cast<uint8_t *>(&value), 8) || !shared.code_at(value))
      return false;
    debugger.set_pc(c, value);
    return true;
  }
  if (number == 0)
    return true;
  if (number < 32)
    return from_hex(hex, reinterpret_cast<uint8_t *>(&c.x[number]), 8);
  if (number < first_mask)
    return from_hex(hex, reinterpret_cast<uint8_t *>(&c.v[number - first_vector]), 128);
  return number < register_count && from_hex(hex, reinterpret_cast<uint8_t *>(&c.m[number - first_mask]), 16);
}

std::string GdbServer::read_memory(const std::string &packet) {
  uint64_t address, length;
  if (!parse_range(packet.c_str() + 1, address, length))
    return "E01";
  length = std::min<uint64_t>(length, 0x3000);
  const uint8_t *bytes = debugger.memory(core(), address, length);
  return bytes ? to_hex(bytes, length) : "E14";
}

std::string GdbServer::write_memory(const std::string &packet) {
  uint64_t address, length;
  size_t colon = packet.find(':');
  if (colon == packet.npos || !parse_range(packet.c_str() + 1, address, length))
    return "E01";
  uint8_t *bytes = debugger.memory(core(), address, length);
  if (!bytes || shared.code_at(address))
    return "E14"; // decoded code does not change
  return from_hex(packet.substr(colon + 1), bytes, length) ? "OK" : "E01";
}

// Z0,ADDRESS,KIND and z0: software or hardware, it is all one here. Watchpoints are not supported.
std::string GdbServer::breakpoint(const std::string &packet) {
  if (packet.size() < 3 || (packet[1] != '0' && packet[1] != '1'))
    return "";
  uint64_t address, kind;
  if (!parse_range(packet.c_str() + 3, address, kind))
    return "E01";
  if (packet[0] == 'z') {
    debugger.clear_breakpoint(address);
    return "OK";
  }
  return debugger.set_breakpoint(address) ? "OK" : "E02";
}

} // namespace dougong::sim
