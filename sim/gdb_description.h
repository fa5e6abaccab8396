// The core's registers as gdb numbers and types them: x0..x31, pc, v0..v31, m0..m7.
#pragma once
#include <string>

namespace dougong::sim::gdb {

constexpr unsigned pc_register = 32, first_vector = 33, first_mask = first_vector + 32, register_count = first_mask + 8;
constexpr unsigned register_bytes(unsigned number) { return number < first_vector ? 8 : number < first_mask ? 128 : 16; }

// The target description, XML.
std::string target_description();

} // namespace dougong::sim::gdb
