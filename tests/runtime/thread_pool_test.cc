// Every program is run once, whatever the number of threads; parked threads wake again.
#include "runtime/thread_pool.h"
#include <chrono>
#include <gtest/gtest.h>

using dougong::ThreadPool;

TEST(ThreadPool, CoversEveryCountOnce) {
  for (unsigned threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (uint64_t count : {0, 1, 2, 7, 63, 64, 65, 1000}) {
      std::vector<std::atomic<int>> hits(count);
      pool.run(
          count,
          [](void *context, uint64_t first, uint64_t last) {
            for (uint64_t i = first; i < last; ++i)
              ++(*static_cast<std::vector<std::atomic<int>> *>(context))[i];
          },
          &hits);
      for (auto &hit : hits)
        ASSERT_EQ(hit, 1);
    }
  }
}

TEST(ThreadPool, ParkedThreadsWake) {
  ThreadPool pool(4);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<uint64_t> sum = 0;
    pool.run(
        100,
        [](void *context, uint64_t first, uint64_t last) {
          for (uint64_t p = first; p < last; ++p)
            *static_cast<std::atomic<uint64_t> *>(context) += p;
        },
        &sum);
    EXPECT_EQ(sum, 4950u);
  }
}
