// What happened when, for people: a Chrome-JSON trace (Perfetto reads it) of engines and cores.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

namespace dougong::sim {

class Trace {
public:
  // Throws std::runtime_error if the file cannot be written. Times are in cycles; the file has microseconds.
  Trace(const std::string &path, int cores, double clock_ghz);
  ~Trace();
  void span(int core, int track, const char *name, uint64_t begin, uint64_t end,
            const std::string &details); // track: a queue, or `core_track`
  static constexpr int core_track = 100;

private:
  std::string path;
  std::FILE *file;
  double microseconds_per_cycle;
};

} // namespace dougong::sim
