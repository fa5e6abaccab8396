// When data arrives from global memory: L2 in tags, DRAM's banks and rows, and the bandwidth of both, shared by the cores.
//
// Cores are simulated one after another, in quanta, so that requests do not arrive in order of time. Bandwidth is therefore a
// calendar: time is cut into epochs, each with a capacity in bytes, and a request takes what is left from its start on.
//
//   epoch      0      1      2      3
//   taken   |####  |######|##    |      |     a request at epoch 0 of more than is left there goes on in 2 and 3
#pragma once
#include "machines/machine.h"
#include <cstdint>
#include <vector>

namespace dougong::sim {

class Calendar {
public:
  static constexpr uint64_t epoch = 64; // cycles
  explicit Calendar(double bytes_per_cycle) : rate(bytes_per_cycle) {}
  void reset() { taken.clear(); }
  // Takes `bytes` from cycle `start` on, at most `most_rate` bytes a cycle; returns when the last has passed.
  uint64_t take(uint64_t start, double bytes, double most_rate);

private:
  double rate;
  std::vector<float> taken; // bytes, by epoch
};

class MemoryTiming {
public:
  explicit MemoryTiming(const Machine &machine);
  void reset_time(); // a new launch: calendars empty, L2 stays as it is

  // What one DMA command or cache line asks: collected piece by piece, then scheduled as a whole.
  struct Traffic {
    uint64_t l2_read = 0, l2_written = 0, dram_read = 0, dram_written = 0, row_misses = 0;
    bool missed = false;
  };
  void touch(Traffic &traffic, uint64_t address, uint64_t bytes, bool write);
  struct Passed {
    uint64_t transferred, arrived;
  }; // when the port is free again; when the data is there
  Passed schedule(const Traffic &traffic, uint64_t start, double port_bytes, double port_rate);
  // One cache line for the scalar side: cycles until it is there.
  uint64_t line(uint64_t address, bool write, uint64_t start);
  Traffic write_back(); // all dirty lines, to DRAM

  Traffic total; // since construction

private:
  void dram(Traffic &traffic, uint64_t address, uint64_t bytes, bool write);
  // Each further `sets` lines begin elsewhere, as shared caches do it, so that a matrix whose rows lie a power of two apart
  // does not fall on a few sets: of 4 MiB, 4096 sets, rows of 4096 bytes would otherwise use those of one column block only.
  uint64_t set_of(uint64_t number) const { return (number + number / sets * 40503) % sets; }

  const Machine &machine;
  Calendar l2_calendar, dram_calendar;
  double row_miss_cycles, dram_latency_cycles;
  uint64_t line_bytes;
  // L2: per set `ways` entries.
  uint64_t sets = 0, ways = 0;
  std::vector<uint64_t> tags;   // line number + 1; 0: empty
  std::vector<uint32_t> stamps; // last use
  std::vector<uint8_t> dirty;
  uint32_t clock = 0;
  std::vector<uint64_t> open_rows;   // by bank, row + 1
  std::vector<uint32_t> bank_misses; // of the traffic being collected
  std::vector<uint32_t> touched_banks;
};

} // namespace dougong::sim
