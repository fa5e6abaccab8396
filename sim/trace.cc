#include "sim/trace.h"
#include "sim/statistics.h"
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>

namespace dougong::sim {

Trace::Trace(const std::string &path, int cores, double clock_ghz)
    : path(path), file(std::fopen(path.c_str(), "w")), microseconds_per_cycle(1e-3 / clock_ghz) {
  if (!file)
    throw std::runtime_error(fmt::format("cannot write the trace '{}': {}", path, std::strerror(errno)));
  fmt::print(file, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  for (int core = 0; core < cores; ++core) {
    fmt::print(file, "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":\"core {}\"}}}},\n", core, core);
    for (int queue = 0; queue < DG_QUEUES; ++queue)
      fmt::print(file, "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"{}\"}}}},\n", core, queue,
                 engine_name(queue));
    fmt::print(file, "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":\"core\"}}}},\n", core,
               int(core_track));
  }
}

Trace::~Trace() {
  fmt::print(file, "{{\"ph\":\"M\",\"name\":\"end\",\"pid\":0}}\n]}}\n");
  bool good = !std::ferror(file);
  if (std::fclose(file) != 0 || !good)
    fmt::print(stderr, "the trace '{}' is not complete: {}\n", path, std::strerror(errno));
}

void Trace::span(int core, int track, const char *name, uint64_t begin, uint64_t end, const std::string &details) {
  fmt::print(file, "{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.4f},\"dur\":{:.4f},\"args\":{{{}}}}},\n", name, core,
             track, double(begin) * microseconds_per_cycle, double(end - begin) * microseconds_per_cycle, details);
}

} // namespace dougong::sim
