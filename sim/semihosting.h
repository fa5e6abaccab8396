// Semihosting: what a C program asks of the host (console, files, arguments, heap, time, exit), by the RISC-V convention that picolibc and
// QEMU share: operation in a0, parameter block at a1, result in a0.
#pragma once
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

namespace dougong::sim {

struct Core;

struct Semihosting {
  std::string command_line;
  uint64_t heap_begin = 0, heap_end = 0, stack_top = 0, stack_begin = 0;

  uint64_t call(Core &core, uint64_t operation, uint64_t parameter);
  ~Semihosting();

private:
  uint64_t open(Core &core, uint64_t name, uint64_t mode, uint64_t length);
  std::map<uint64_t, std::FILE *> files; // handles from 1 on
  uint64_t next_handle = 1;
  int last_error = 0;
};

} // namespace dougong::sim
