// Where intermediate values lie: largest first, each at the lowest place that is free for as long as it lives.
#include "models/compile.h"
#include <algorithm>
#include <numeric>

namespace dougong::models {

static constexpr uint64_t alignment = 128;

std::vector<uint64_t> place_in_arena(const std::vector<Lifetime> &values, uint64_t &total) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return values[a].bytes != values[b].bytes ? values[a].bytes > values[b].bytes : a < b; });
  std::vector<uint64_t> offsets(values.size(), 0);
  std::vector<size_t> placed; // by offset
  total = 0;
  for (size_t value : order) {
    const Lifetime &own = values[value];
    uint64_t size = (own.bytes + alignment - 1) / alignment * alignment, offset = 0;
    for (size_t other : placed) {
      const Lifetime &its = values[other];
      if (its.last < own.first || own.last < its.first)
        continue;
      if (offsets[other] >= offset + size)
        break; // it fits into the gap before
      offset = std::max(offset, offsets[other] + (its.bytes + alignment - 1) / alignment * alignment);
    }
    offsets[value] = offset;
    total = std::max(total, offset + size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset, [&](uint64_t o, size_t p) { return o < offsets[p]; }), value);
  }
  return offsets;
}

} // namespace dougong::models
