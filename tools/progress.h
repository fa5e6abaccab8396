// Progress on stderr for what takes over two seconds: one line that is rewritten on a terminal, a line every few seconds elsewhere.
#pragma once
#include <chrono>
#include <string>

class Progress {
public:
  ~Progress();
  void operator()(const std::string &now);

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now(), last{};
  bool shown = false;
};
