// The banks of a core's local memory, which its engines and its vector unit share, as a calendar of the reference schedule
// (schedule.h): time is cut into epochs, each with a capacity in bytes, and a command takes what is left from its start on.
//
//   epoch      0      1      2      3
//   taken   |####  |######|##    |      |     a command at epoch 0 of more than is left there goes on in 2 and 3
#pragma once
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

} // namespace dougong::sim
