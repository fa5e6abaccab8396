// Crashes, hangs and early ends in a child are that case's failure; order and everything else stay.
#include "tools/guarded_cases.h"
#include <gtest/gtest.h>
#include <unistd.h>

TEST(GuardedCases, FailuresAreTheCasesOwn) {
  for (unsigned children : {1u, 2u, 3u, 50u}) {
    std::string order;
    std::vector<std::string> whys;
    run_guarded(
        12, children, 1,
        [](size_t i) -> CaseOutcome {
          if (i == 3)
            abort();
          if (i == 4 || i == 11)
            _exit(7);
          if (i == 6)
            sleep(30);
          return {i % 2 ? 's' : 'p', "case " + std::to_string(i)};
        },
        [&](size_t i, const CaseOutcome &outcome) {
          EXPECT_EQ(i, order.size());
          order += outcome.kind;
          whys.push_back(outcome.why);
        });
    EXPECT_EQ(order, "pspffsfspspf");
    EXPECT_EQ(whys.at(3), "crashed: Aborted");
    EXPECT_EQ(whys.at(4), "the process ended with status 7");
    EXPECT_EQ(whys.at(6), "not done after 1 s");
    EXPECT_EQ(whys.at(7), "case 7");
  }
}

TEST(GuardedCases, NoCasesAreDoneAtOnce) {
  run_guarded(0, 4, 1, [](size_t) -> CaseOutcome { return {'p', ""}; }, [](size_t, const CaseOutcome &) { ADD_FAILURE(); });
}
