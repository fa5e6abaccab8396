#include "sim/gdb_connection.h"
#include <arpa/inet.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace dougong::sim {
namespace {

constexpr char interrupt_byte = 3;

uint8_t checksum(std::string_view body) {
  uint8_t sum = 0;
  for (char c : body)
    sum = uint8_t(sum + uint8_t(c));
  return sum;
}

bool readable(int socket) {
  pollfd waiting{socket, POLLIN, 0};
  return poll(&waiting, 1, 0) > 0;
}

int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

} // namespace

GdbConnection::GdbConnection(int port) {
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(uint16_t(port));
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr *>(&address), size) || listen(listener, 1) ||
      getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size)) {
    std::string why = std::strerror(errno);
    close(listener);
    throw std::runtime_error(fmt::format("--gdb: cannot listen on port {}: {}; choose another port, or 0 for any", port, why));
  }
  bound_port = ntohs(address.sin_port);
}

GdbConnection::~GdbConnection() {
  drop();
  close(listener);
}

void GdbConnection::drop() {
  if (client >= 0)
    close(client);
  client = -1;
  buffer.clear(), last.clear();
  at = 0;
  acknowledges = true;
}

void GdbConnection::accept() {
  drop();
  do
    client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  while (client < 0 && (errno == EINTR || errno == ECONNABORTED));
  if (client < 0)
    throw std::runtime_error(fmt::format("--gdb: no client: {}", std::strerror(errno)));
  int yes = 1;
  setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

bool GdbConnection::client_waits() const { return readable(listener); }

char GdbConnection::next() {
  if (at == buffer.size()) {
    buffer.resize(4096);
    ssize_t got;
    do
      got = recv(client, buffer.data(), buffer.size(), 0);
    while (got < 0 && errno == EINTR);
    buffer.resize(size_t(std::max<ssize_t>(0, got)));
    at = 0;
    if (got <= 0)
      throw Lost();
  }
  return buffer[at++];
}

std::string GdbConnection::receive() {
  for (;;) {
    char c = next();
    if (c == interrupt_byte)
      return std::string(1, c);
    if (c == '-' && acknowledges && !last.empty())
      transmit(last);
    if (c != '$')
      continue;
    std::string body;
    uint8_t sum = 0;
    bool too_long = false;
    while ((c = next()) != '#') {
      if (c == '$') { // the client begins anew
        body.clear(), sum = 0, too_long = false;
        continue;
      }
      sum = uint8_t(sum + uint8_t(c));
      too_long |= body.size() >= 2 * most_bytes;
      if (!too_long)
        body += c;
    }
    int high = hex_digit(next()), low = hex_digit(next());
    bool good = high >= 0 && low >= 0 && (high << 4 | low) == sum;
    if (acknowledges)
      transmit(good ? "+" : "-");
    else if (!good)
      continue;
    if (good)
      return too_long ? "" : body;
  }
}

void GdbConnection::transmit(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      throw Lost();
    bytes.remove_prefix(size_t(sent));
  }
}

void GdbConnection::send(const std::string &body) {
  last = fmt::format("${}#{:02x}", body, checksum(body));
  transmit(last);
}

// What comes while the program runs is an interrupt, acknowledgements, or a request of a client that does not wait for its answer: the
// program stops for that too, and it is read next.
bool GdbConnection::interrupted() {
  while (at < buffer.size() || readable(client)) {
    char c = next();
    if (c == interrupt_byte)
      return true;
    if (c != '+' && c != '-') {
      --at;
      return true;
    }
  }
  return false;
}

std::string GdbConnection::escaped(std::string_view bytes) {
  std::string text;
  for (char c : bytes) {
    bool special = c == '#' || c == '$' || c == '}' || c == '*';
    if (special)
      text += '}';
    text += special ? char(c ^ 0x20) : c;
  }
  return text;
}

std::string GdbConnection::unescaped(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i)
    text += bytes[i] == '}' && i + 1 < bytes.size() ? char(bytes[++i] ^ 0x20) : bytes[i];
  return text;
}

} // namespace dougong::sim
