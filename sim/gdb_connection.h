// The packets of gdb's remote protocol over TCP: $body#checksum, each answered with +, until the client does without.
#pragma once
#include <string>

namespace dougong::sim {

class GdbConnection {
public:
  struct Lost {}; // thrown by receive, send and interrupted: the client has gone

  // Listens on the loopback address. Port 0: any free one. Throws std::runtime_error.
  explicit GdbConnection(int port);
  ~GdbConnection();
  GdbConnection(const GdbConnection &) = delete;

  int port() const { return bound_port; }
  void accept();             // waits for a client, in the place of the one before
  bool client_waits() const; // so that accept would not wait
  bool connected() const { return client >= 0; }
  void drop();

  // The next packet's body; "\x03" for the interrupt that a client sends outside of packets. One that is longer than any that is meant
  // comes as an empty body, which is answered as an unknown request.
  std::string receive();
  void send(const std::string &body);
  bool interrupted(); // looks only: whether the client wants the running program to stop
  void acknowledge(bool wanted) { acknowledges = wanted; }

  static constexpr size_t most_bytes = 0x8000; // of a packet
  // Bytes as packets carry them: # $ } * become } and the byte xor 0x20.
  static std::string escaped(std::string_view bytes);
  static std::string unescaped(std::string_view bytes);

private:
  char next();
  void transmit(std::string_view bytes);

  int listener = -1, client = -1, bound_port = 0;
  bool acknowledges = true;
  std::string buffer, last; // received and not yet read; the last packet sent
  size_t at = 0;            // in the buffer
};

} // namespace dougong::sim
