// The handlers of one vector instruction, of one host level.
#pragma once
#include "sim/core.h"

namespace dougong::sim {

struct VectorHandlers {
  Handler functional, timing;
};

} // namespace dougong::sim
