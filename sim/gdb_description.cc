#include "sim/gdb_description.h"
#include <fmt/format.h>

namespace dougong::sim::gdb {

// The vector registers stand in RISC-V's own feature: so gdb finds variables that DWARF says are in one of them.
std::string target_description() {
  std::string xml = R"(<?xml version="1.0"?><!DOCTYPE target SYSTEM "gdb-target.dtd"><target><architecture>riscv:rv64</architecture>)"
                    R"(<feature name="org.gnu.gdb.riscv.cpu">)";
  for (unsigned i = 0; i < 32; ++i)
    xml += fmt::format(R"(<reg name="x{}" bitsize="64" type="int" regnum="{}"/>)", i, i);
  xml += fmt::format(R"(<reg name="pc" bitsize="64" type="code_ptr" regnum="{}"/></feature>)", pc_register);

  static constexpr struct {
    const char *name, *element;
    int count;
  } lanes[] = {{"v32f32", "ieee_single", 32}, {"v32i32", "int32", 32}, {"v32u32", "uint32", 32}, {"v64f16", "ieee_half", 64},
               {"v64bf16", "bfloat16", 64},   {"v64i16", "int16", 64}, {"v128i8", "int8", 128}};
  xml += R"(<feature name="org.gnu.gdb.riscv.vector">)";
  for (const auto &type : lanes)
    xml += fmt::format(R"(<vector id="{}" type="{}" count="{}"/>)", type.name, type.element, type.count);
  xml += R"(<union id="dougong_vector">)";
  for (const auto &type : lanes)
    xml += fmt::format(R"(<field name="{}" type="{}"/>)", type.name, type.name);
  xml += "</union>";
  for (unsigned i = 0; i < 32; ++i)
    xml += fmt::format(R"(<reg name="v{}" bitsize="1024" type="dougong_vector" group="vector" regnum="{}"/>)", i, first_vector + i);

  // A bit a lane. `lanes` lists those of 32-bit elements that are set.
  xml += R"(</feature><feature name="org.dougong.masks"><flags id="mask_lanes" size="4">)";
  for (int lane = 0; lane < 32; ++lane)
    xml += fmt::format(R"(<field name="l{}" start="{}" end="{}"/>)", lane, lane, lane);
  xml += R"(</flags><union id="dougong_mask"><field name="lanes" type="mask_lanes"/><field name="bits" type="uint128"/></union>)";
  for (unsigned i = 0; i < 8; ++i)
    xml += fmt::format(R"(<reg name="m{}" bitsize="128" type="dougong_mask" group="vector" regnum="{}"/>)", i, first_mask + i);
  return xml + "</feature></target>";
}

} // namespace dougong::sim::gdb
