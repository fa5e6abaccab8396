// What a device's launches add up to.
#pragma once
#include "runtime/device.h"
#include <mutex>

namespace dougong {

class LaunchTotals {
public:
  // Counts one launch of so many programs in, and gives its figures back.
  Statistics add(Statistics one, uint64_t programs) {
    one.launches = 1;
    one.programs = programs;
    std::lock_guard lock(mutex);
    total.add(one);
    return one;
  }
  Statistics get() const {
    std::lock_guard lock(mutex);
    return total;
  }

private:
  mutable std::mutex mutex;
  Statistics total;
};

} // namespace dougong
