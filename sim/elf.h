// ELF executables for the device: read, checked, placed. 64-bit little-endian RISC-V; a file that is not that, or that is cut off or
// inconsistent, is refused with what is wrong with it (LoadError).
#pragma once
#include "sim/device.h"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dougong::sim {

struct ElfFile {
  struct Segment {
    uint64_t address, offset, file_bytes, memory_bytes;
    bool executable;
  };
  struct Symbol {
    std::string name;
    uint64_t address;
    bool function; // or a label of assembly code
    bool typed;    // says itself that it is a function
  };
  struct Relocation {
    uint64_t address;
    uint64_t value; // what is written there, before the move is added
    int bytes;
  };
  uint64_t entry = 0, begin = 0, end = 0;
  bool movable = false;
  uint64_t thread_local_bytes = 0;
  std::vector<Segment> segments; // loaded ones, in DRAM
  std::vector<Symbol> symbols;
  std::vector<Relocation> relocations; // absolute addresses that a move changes

  explicit ElfFile(std::string_view bytes);
};

// The contents of the sections of debug information that lie within the file, by name ("debug_line").
std::map<std::string, std::string_view> debug_sections(std::string_view elf);

// "kernels.c:12", from the DWARF lines of an ELF file; empty if it has none for the address.
std::string source_line(std::string_view elf, uint64_t address);

// Which functions that were inlined the address lies in, innermost first: "reads, inlined at kernels.c:19"; from the same.
std::vector<std::string> inlined_calls(std::string_view elf, uint64_t address);

} // namespace dougong::sim
