// See progress.h.
#include "tools/progress.h"
#include <cstdio>
#include <unistd.h>

void Progress::operator()(const std::string &now) {
  using namespace std::chrono_literals;
  static const bool terminal = isatty(2);
  Clock::time_point time = Clock::now();
  if (time - start < 2s || time - last < (terminal ? 100ms : 5000ms))
    return;
  last = time;
  shown = true;
  double seconds = std::chrono::duration<double>(time - start).count();
  if (terminal)
    std::fprintf(stderr, "\r\x1b[K%s (%.0f s)", now.c_str(), seconds), std::fflush(stderr);
  else
    std::fprintf(stderr, "%s (%.0f s)\n", now.c_str(), seconds);
}

Progress::~Progress() {
  if (shown && isatty(2))
    std::fprintf(stderr, "\r\x1b[K");
}
