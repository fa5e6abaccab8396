// The handlers of all vector instructions, generated from the records. Built once per host level.
#include "sim/environment.h"
#include "sim/host_level.h"
#include "sim/vector_handlers.h"

namespace dougong::sim::DOUGONG_LEVEL {

#include "sim/vector.inc"

extern const VectorHandlers *const vector_table;
const VectorHandlers *const vector_table = vector_handlers;

} // namespace dougong::sim::DOUGONG_LEVEL
