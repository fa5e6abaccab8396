#include "sim/calendar.h"
#include <algorithm>
#include <cmath>

namespace dougong::sim {

uint64_t Calendar::take(uint64_t start, double bytes, double most_rate) {
  if (bytes <= 0)
    return start;
  double rate_here = std::min(rate, most_rate);
  uint64_t index = start / epoch;
  double from = double(start % epoch); // within the epoch
  for (;; ++index, from = 0) {
    if (index >= taken.size())
      taken.resize(std::max<size_t>(index + 1, taken.size() * 2), 0.0f);
    double room = rate * epoch - taken[index], possible = rate_here * (epoch - from);
    double now = std::min({room, possible, bytes});
    if (now <= 0)
      continue;
    taken[index] += float(now);
    bytes -= now;
    if (bytes > 1e-3)
      continue;
    // The epoch's bytes pass in order: not before those that were there already, nor faster than the requester takes them.
    double offset = std::max(from + now / rate_here, double(taken[index]) / rate);
    return index * epoch + uint64_t(std::ceil(std::min(offset, double(epoch)) - 1e-6));
  }
}

} // namespace dougong::sim
