// Shapes as people write them.
#include "runtime/element_type.h"
#include <fmt/format.h>

namespace dougong {

std::string shape_text(const std::vector<int64_t> &shape) { return shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x")); }

} // namespace dougong
