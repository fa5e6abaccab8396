// Runs cases in child processes, a few at a time, so that a crash or a hang is one case's failure and the rest goes on.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

struct CaseOutcome {
  char kind; // 'p'assed, 'f'ailed, 's'kipped
  std::string why;
};

// `run` is called in a child, for each of `count` cases; `done` here, in the order of the cases. The process must have no
// other threads yet: children are forks of it.
void run_guarded(size_t count, unsigned children, int seconds, const std::function<CaseOutcome(size_t)> &run,
                 const std::function<void(size_t, const CaseOutcome &)> &done);
