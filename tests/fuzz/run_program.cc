// A program on the device model, and nothing else: what `dougong sim` does, without LLVM, so that the sanitizers' build of it is quick.
//
//     run_program [--timing] [--check-memory] [--check-races] PROGRAM     in the folder whose files the program may use
#include "sim/device.h"
#include <cstdio>
#include <fstream>
#include <iterator>

using namespace dougong;

int main(int argc, char **argv) {
  sim::Options options;
  std::string program;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--timing")
      options.timing = true;
    else if (argument == "--check-memory")
      options.check_memory = true;
    else if (argument == "--check-races")
      options.check_races = true;
    else
      program = argument;
  }
  std::ifstream file(program, std::ios::binary);
  std::string elf{std::istreambuf_iterator<char>(file), {}};
  sim::DeviceModel device(Machine::load("phone"), options);
  sim::Result result = device.run_program(device.load(elf), {program}, ".");
  std::fprintf(stderr, "%s", result.message.c_str());
  return result.status == sim::Result::Status::exited ? result.exit_code : 200;
}
