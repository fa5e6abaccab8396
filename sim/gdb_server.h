// gdb's remote protocol over TCP: `gdb-multiarch PROGRAM -ex 'target remote :PORT'`.
//
// Cores are threads (core c is thread c + 1); vector and mask registers come with a target description; local memory is at 0x10000000,
// the accumulators at 0x18000000 (for gdb only); `monitor engines` shows queues and flags.
#pragma once
#include "sim/debugger.h"

namespace dougong::sim {

class GdbServer {
public:
  // Listens on the loopback address and waits for a client. Port 0: any; the one it got is told on stderr. Throws std::runtime_error.
  GdbServer(Shared &shared, int port);
  ~GdbServer();

  // Until the program is done or killed; a client that detaches leaves it running to its end. A trap that the client continues from is
  // thrown on as it was.
  void serve();

private:
  struct Killed {};
  std::string receive();
  void send(const std::string &body);
  bool interrupted();
  std::string answer(const std::string &packet);
  std::string resume(bool step);
  std::string stop_reply(int signal) const;
  std::string query(const std::string &packet);
  std::string monitor(const std::string &command) const;
  std::string description() const;
  std::string read_registers() const;
  std::string read_register(unsigned number) const;
  bool write_register(unsigned number, const std::string &hex);
  std::string read_memory(const std::string &packet);
  std::string write_memory(const std::string &packet);
  std::string breakpoint(const std::string &packet);
  Core &core() const { return *shared.cores[size_t(chosen)]; }

  Shared &shared;
  Debugger debugger;
  int listener = -1, client = -1;
  int chosen = 0; // the core that register and memory packets mean
  bool acknowledge = true;
  bool finished = false, detached = false;
  std::string trapped; // the text of the trap the program stands at
  uint64_t trap_pc = 0;
};

} // namespace dougong::sim
