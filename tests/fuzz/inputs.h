// What the fuzz programs share: inputs are numbered, each from a random generator of its own, so that one can be run again by itself; a
// crash, a report of a sanitizer or an input that takes too long ends the program with the input's number.
//
//   fuzz_NAME [--seed N] [--first N] [--count N] ...
#pragma once
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

// Of the sanitizers' run time, where the program is built with it.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)());

namespace dougong::fuzz {

using Random = std::mt19937_64;

inline uint64_t below(Random &random, uint64_t limit) { return random() % limit; }
inline bool one_in(Random &random, uint64_t n) { return random() % n == 0; }

// Numbers at which code goes wrong: around powers of two, of either sign; or any.
inline uint64_t number(Random &random) {
  switch (below(random, 6)) {
  case 0:
    return below(random, 9);
  case 1:
    return random();
  case 2:
    return ~below(random, 9);
  default:
    return (uint64_t(1) << below(random, 64)) + below(random, 5) - 2;
  }
}

// A file cut short, with bytes and numbers changed, and with parts repeated or left out.
inline std::string mutated(std::string bytes, Random &random, size_t header = 256) {
  for (uint64_t changes = 1 + below(random, 4); changes > 0 && !bytes.empty(); --changes) {
    size_t range = one_in(random, 2) ? std::min(header, bytes.size()) : bytes.size(), at = below(random, range);
    switch (below(random, 7)) {
    case 0:
      bytes[at] = char(random());
      break;
    case 1:
      bytes[at] = char(bytes[at] ^ 1 << below(random, 8));
      break;
    case 2:
    case 3: {
      uint64_t value = number(random);
      size_t size = size_t(1) << below(random, 4);
      if (at + size <= bytes.size())
        std::memcpy(&bytes[at], &value, size);
      break;
    }
    case 4:
      bytes.erase(at, 1 + below(random, 16));
      break;
    case 5:
      bytes.insert(at, bytes.substr(below(random, bytes.size()), 1 + below(random, 16)));
      break;
    default:
      if (one_in(random, 3))
        bytes.resize(at);
    }
  }
  return bytes;
}

inline std::string read_file(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read '%s'\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

inline uint64_t current_input = 0;

inline void say_input() {
  char text[64];
  int length = std::snprintf(text, sizeof text, "fuzz: in input %llu\n", static_cast<unsigned long long>(current_input));
  [[maybe_unused]] auto written = write(2, text, size_t(length));
}

// What must hold of an input does not.
[[noreturn]] inline void wrong(const std::string &what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  say_input();
  std::exit(1);
}

struct Arguments {
  uint64_t seed = 1, first = 0, count = 1000;
  std::vector<std::string> others;

  Arguments(int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
      std::string name = argv[i];
      uint64_t *number = name == "--seed" ? &seed : name == "--first" ? &first : name == "--count" ? &count : nullptr;
      if (number && i + 1 < argc)
        *number = std::strtoull(argv[++i], nullptr, 10);
      else
        others.push_back(name);
    }
  }
};

// Calls input(random) for each number. No single input may take longer than `seconds`.
template <typename F> void run_inputs(const Arguments &arguments, unsigned seconds, F input) {
  auto died = [](int signal) {
    const char *text = signal == SIGALRM ? "fuzz: it takes too long\n" : "fuzz: it crashes\n";
    [[maybe_unused]] auto written = write(2, text, std::strlen(text));
    say_input();
    _exit(1);
  };
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(say_input);
  else
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE})
      std::signal(signal, died);
  for (int signal : {SIGILL, SIGABRT, SIGALRM})
    std::signal(signal, died);
  for (uint64_t i = arguments.first; i < arguments.first + arguments.count; ++i) {
    current_input = i;
    std::seed_seq seed{uint32_t(arguments.seed), uint32_t(arguments.seed >> 32), uint32_t(i), uint32_t(i >> 32)};
    Random random(seed);
    alarm(seconds);
    input(random);
  }
  alarm(0);
}

} // namespace dougong::fuzz
