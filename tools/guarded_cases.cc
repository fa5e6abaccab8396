// Child j of n does cases j, j + n, … and writes a line for each to its pipe: "kind why". When it dies or takes too long, the
// case it was at has failed, and a new child takes over behind it.
#include "tools/guarded_cases.h"
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  size_t at; // the case it does
  pid_t process = 0;
  int pipe = -1;
  std::string pending;     // read, and not yet a whole line
  Clock::time_point since; // when it began with that case
};

struct Run {
  size_t count, stride;
  int seconds;
  const std::function<CaseOutcome(size_t)> &run;
  const std::function<void(size_t, const CaseOutcome &)> &done;
  size_t told = 0;                       // cases before this one have been handed to `done`
  std::map<size_t, CaseOutcome> waiting; // later ones that are ready

  void finish(Child &child, const CaseOutcome &outcome) {
    waiting[child.at] = outcome;
    child.at += stride;
    child.since = Clock::now();
    for (auto next = waiting.begin(); next != waiting.end() && next->first == told; next = waiting.erase(next), ++told)
      done(next->first, next->second);
  }

  void start(Child &child) {
    int ends[2];
    if (::pipe(ends) != 0)
      std::perror("pipe"), std::exit(1);
    child.process = fork();
    if (child.process < 0)
      std::perror("fork"), std::exit(1);
    if (child.process == 0) {
      close(ends[0]);
      FILE *out = fdopen(ends[1], "w");
      for (size_t i = child.at; i < count; i += stride) {
        CaseOutcome outcome = run(i);
        std::fprintf(out, "%c %s\n", outcome.kind, outcome.why.c_str());
        std::fflush(out);
      }
      _exit(0);
    }
    close(ends[1]);
    child.pipe = ends[0];
    child.pending.clear();
    child.since = Clock::now();
  }

  // The child is gone or must go; what it was at, if anything, has failed.
  void end(Child &child, bool late) {
    if (late)
      kill(child.process, SIGKILL);
    int status = 0;
    waitpid(child.process, &status, 0);
    close(child.pipe);
    child.process = 0;
    if (child.at >= count)
      return;
    finish(child, {'f', late                  ? "not done after " + std::to_string(seconds) + " s"
                        : WIFSIGNALED(status) ? std::string("crashed: ") + strsignal(WTERMSIG(status))
                                              : "the process ended with status " + std::to_string(WEXITSTATUS(status))});
    if (child.at < count)
      start(child);
  }

  void read_from(Child &child) {
    char bytes[4096];
    ssize_t got = read(child.pipe, bytes, sizeof bytes);
    if (got <= 0)
      return end(child, false);
    child.pending.append(bytes, size_t(got));
    for (size_t newline; (newline = child.pending.find('\n')) != std::string::npos; child.pending.erase(0, newline + 1))
      finish(child, {child.pending[0], child.pending.substr(2, newline - 2)});
  }
};

} // namespace

void run_guarded(size_t count, unsigned children, int seconds, const std::function<CaseOutcome(size_t)> &run,
                 const std::function<void(size_t, const CaseOutcome &)> &done) {
  Run all{count, std::min<size_t>(children, count), seconds, run, done, 0, {}};
  std::vector<Child> list;
  for (size_t j = 0; j < all.stride; ++j)
    all.start(list.emplace_back(Child{j, 0, -1, "", {}}));
  for (;;) {
    std::vector<pollfd> waits;
    std::vector<Child *> of;
    for (Child &child : list)
      if (child.process)
        waits.push_back({child.pipe, POLLIN, 0}), of.push_back(&child);
    if (waits.empty())
      return;
    poll(waits.data(), waits.size(), 500);
    for (size_t i = 0; i < waits.size(); ++i)
      if (waits[i].revents)
        all.read_from(*of[i]);
      else if (Clock::now() - of[i]->since > std::chrono::seconds(seconds))
        all.end(*of[i], true);
  }
}
