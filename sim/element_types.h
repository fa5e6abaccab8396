// The element types of commands (enum dg_type), for whoever checks and counts them.
#pragma once
#include "isa/commands.h"

namespace dougong::sim {

inline const char *type_name(uint8_t type) {
  static const char *const names[] = {"I8", "U8", "I16", "I32", "F16", "BF16", "F32", "F8E4M3", "F8E5M2"};
  return type < 9 ? names[type] : "unknown";
}
inline int type_bytes(uint8_t type) {
  static const int bytes[] = {1, 1, 2, 4, 2, 2, 4, 1, 1};
  return type < 9 ? bytes[type] : 0;
}

} // namespace dougong::sim
