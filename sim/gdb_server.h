// gdb's remote protocol: `gdb-multiarch PROGRAM -ex 'target remote :PORT'`. docs/debugging.md shows what it is good for.
//
// Cores are threads (core c is thread c + 1); vector and mask registers come with a target description; local memory is at 0x10000000,
// the accumulators at 0x18000000 (for gdb only); `monitor help` lists what gdb has no commands for.
#pragma once
#include "sim/debugger.h"
#include "sim/gdb_connection.h"

namespace dougong::sim {

class GdbServer {
public:
  // Listens on the loopback address; the port is told on stderr. Port 0: any. Throws std::runtime_error. `check_limit` is called after each
  // quantum of instructions, and may throw a Trap.
  GdbServer(Shared &shared, int port, std::function<void(const Core &)> check_limit);

  // Waits for a client, and serves it until the program is done or killed. One that detaches leaves the program running, one that is lost
  // leaves it where it stands; both may come back. A trap that the client goes on from is thrown on as it was.
  void serve();
  const Core *selected() const { return &core(); } // after a trap: the core that it was in

private:
  struct Killed {};
  bool interrupted(const Core &moved);
  void wait_for_client();
  void run_detached();
  std::string answer(const std::string &packet);
  std::string act(const std::string &actions);
  std::string resume(const std::vector<Debugger::Motion> &motions);
  std::string stop_reply() const;
  std::string query(const std::string &packet);
  std::string monitor(const std::string &command) const;
  std::string threads() const;
  std::string read_register(unsigned number) const;
  std::string read_registers() const;
  bool write_register(unsigned number, std::string_view hex);
  bool write_registers(std::string_view hex);
  std::string read_memory(const std::string &packet);
  std::string write_memory(const std::string &packet);
  std::string breakpoint(const std::string &packet);
  bool choose(std::string_view thread);
  Core &core() const { return *shared.cores[size_t(chosen)]; }

  Shared &shared;
  Debugger debugger;
  GdbConnection connection;
  std::function<void(const Core &)> check_limit;
  int chosen = 0; // the core that register and memory packets mean
  bool finished = false, detached = false;
  Debugger::Outcome stopped; // why, last
};

} // namespace dougong::sim
