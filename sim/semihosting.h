// Semihosting: what a C program asks of the host (console, files, arguments, heap, time, exit), by the RISC-V convention that picolibc and
// QEMU share: operation in a0, parameter block at a1, result in a0.
#pragma once
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dougong::sim {

struct Core;

struct Semihosting {
  std::filesystem::path folder; // the program's files lie in it; empty: it has none
  uint64_t heap_begin = 0, heap_end = 0, stack_top = 0, stack_begin = 0;

  void set_arguments(const std::vector<std::string> &arguments); // the first is the program's name
  uint64_t call(Core &core, uint64_t operation, uint64_t parameter);
  ~Semihosting();

private:
  uint64_t open(Core &core, uint64_t name, uint64_t mode, uint64_t length);
  // The host's name of a file that the program may use; none, with last_error set, if it may not.
  std::optional<std::filesystem::path> allowed(const std::string &name);

  std::string command_line, name;
  std::map<uint64_t, std::FILE *> files; // by handle
  int last_error = 0;
  bool refused = false; // a file, and said so
};

} // namespace dougong::sim
