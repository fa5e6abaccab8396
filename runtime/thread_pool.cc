// One atomic counter hands out ranges; two more start and end a region.
#include "runtime/thread_pool.h"
#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#define SPIN_PAUSE() _mm_pause()
#else
#define SPIN_PAUSE() std::this_thread::yield()
#endif

namespace dougong {
namespace {

constexpr int spins = 4000; // some 50 µs

// Returns once `word` is no longer `old`.
uint32_t wait_for_change(const std::atomic<uint32_t> &word, uint32_t old) {
  for (int i = 0; i < spins; ++i) {
    uint32_t now = word.load(std::memory_order_acquire);
    if (now != old)
      return now;
    SPIN_PAUSE();
  }
  word.wait(old, std::memory_order_acquire);
  return word.load(std::memory_order_acquire);
}

} // namespace

ThreadPool::ThreadPool(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i)
    workers.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  generation.fetch_or(1, std::memory_order_release);
  generation.notify_all();
  for (std::thread &worker : workers)
    worker.join();
}

void ThreadPool::run(uint64_t total, Body function, void *its_context) {
  body = function;
  context = its_context;
  count = total;
  // A few ranges a thread, so that an uneven one does not hold up the rest.
  range = std::max<uint64_t>(1, total / (uint64_t(threads()) * 8));
  next.store(0, std::memory_order_relaxed);
  if (total <= range || workers.empty()) {
    take_ranges();
    return;
  }
  running.store(uint32_t(workers.size()), std::memory_order_relaxed);
  generation.fetch_add(2, std::memory_order_release);
  generation.notify_all();
  take_ranges();
  for (uint32_t left; (left = running.load(std::memory_order_acquire)) != 0;)
    wait_for_change(running, left);
}

void ThreadPool::take_ranges() {
  for (;;) {
    uint64_t first = next.fetch_add(range, std::memory_order_relaxed);
    if (first >= count)
      return;
    body(context, first, std::min(first + range, count));
  }
}

void ThreadPool::work() {
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_change(generation, seen);
    if (seen & 1)
      return;
    take_ranges();
    if (running.fetch_sub(1, std::memory_order_acq_rel) == 1)
      running.notify_all();
  }
}

} // namespace dougong
