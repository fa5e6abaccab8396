// When data arrives from global memory: L2 in tags, DRAM's banks and rows, and the bandwidth of both, shared by the cores.
//
// Requests come here in a fixed order (service_order.h), which no speed of memory has a part in. So which lines L2 has, what is
// evicted and which rows are open never depend on time, and every time below is made of those before it by `max` and `+` alone:
// a faster memory makes none of them later.
#pragma once
#include "machines/machine.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace dougong::sim {

// A resource that moves so many bytes a cycle, and serves requests in the order in which they come here:
//
//   passed = max(passed, begin - slack) + bytes / rate         when all that was asked so far has passed
//
// A request that begins late does not hold up those behind it unless it is more than `slack` late: the order of requests that
// close is the controller's affair. What has passed is never more than rate * time, since `passed` counts all bytes from cycle 0 on.
class Meter {
public:
  Meter(double bytes_per_cycle, uint64_t slack)
      : cost(std::max<uint64_t>(1, uint64_t((1 << fraction) / bytes_per_cycle + 0.999999))), slack(slack << fraction) {}
  void reset() { passed = 0; }
  // The cycle, rounded up, in which the bytes that are wanted from `begin` on have passed.
  uint64_t take(uint64_t begin, uint64_t bytes) {
    passed = std::max(passed, std::max(begin << fraction, slack) - slack) + bytes * cost;
    return std::max(up(passed), begin + alone(bytes));
  }
  uint64_t alone(uint64_t bytes) const { return up(bytes * cost); } // cycles, if nobody else asks

private:
  // Whole numbers, of 2^-24 cycles: sums of them are exact, and so is the order of two times.
  static constexpr int fraction = 24;
  static uint64_t up(uint64_t time) { return (time + (1 << fraction) - 1) >> fraction; }
  uint64_t cost, slack, passed = 0;
};

class MemoryTiming {
public:
  // Requests to L2 and DRAM closer than this may be served in either order.
  static constexpr uint64_t slack = 1024;

  explicit MemoryTiming(const Machine &machine);
  void reset_time(uint64_t launch_start); // a new launch, at the device's cycle `launch_start`; L2 stays as it is

  struct Run {
    uint64_t address, bytes;
  };
  struct Passed {
    uint64_t transferred;   // when its last byte has passed
    uint64_t latency;       // after which the data is there
    uint64_t under_way = 0; // when the last line has come that it found on its way to L2
    uint64_t arrived() const { return std::max(transferred + latency, under_way); }
  };
  enum class Access { read, write, add };
  // A DMA command's runs of global memory, which begin to move in cycle `begin`, not faster than the port.
  Passed copy(const std::vector<Run> &runs, Access access, uint64_t begin, const Meter &port);
  // One line of a core's cache: the cycle in which it is there.
  uint64_t line(uint64_t address, bool write, uint64_t begin);

  struct Traffic {
    uint64_t l2_read = 0, l2_written = 0, dram_read = 0, dram_written = 0, row_misses = 0;
  };
  Traffic total;                                                    // since construction
  uint64_t dirty_bytes() const { return dirty_lines * line_bytes; } // in L2, and not yet in DRAM

private:
  struct Request { // being served
    Access access;
    uint64_t begin, passed, under_way = 0;
    bool missed = false;
    bool reads() const { return access != Access::write; }
    bool writes() const { return access != Access::read; }
  };
  void touch(Request &request, uint64_t address, uint64_t bytes, uint64_t moved_before, const Meter &port);
  void dram(Request &request, uint64_t address, uint64_t bytes, bool write);
  Passed finish(const Request &request);
  // Each further `sets` lines begin elsewhere, as shared caches do it, so that a matrix whose rows lie a power of two apart
  // does not fall on a few sets: of 4 MiB, 4096 sets, rows of 4096 bytes would otherwise use those of one column block only.
  uint64_t set_of(uint64_t number) const { return (number + number / sets * 40503) % sets; }

  const Machine &machine;
  Meter l2_meter, dram_meter;
  uint64_t l2_latency, dram_latency; // cycles
  double row_miss_cycles;
  uint64_t line_bytes;
  uint64_t launch_start = 0;
  // L2: per set `ways` entries.
  uint64_t sets = 0, ways = 0;
  std::vector<uint64_t> tags;   // line number + 1; 0: empty
  std::vector<uint32_t> stamps; // last use
  std::vector<uint8_t> dirty;
  std::vector<uint64_t> arrival; // the device's cycle in which DRAM has delivered it
  uint32_t clock = 0;
  uint64_t dirty_lines = 0;
  std::vector<uint64_t> open_rows;   // by bank, row + 1
  std::vector<uint32_t> bank_misses; // of the request being served
  std::vector<uint32_t> touched_banks;
};

} // namespace dougong::sim
