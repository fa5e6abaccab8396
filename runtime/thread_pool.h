// Threads that share the programs of one launch. Waiting threads spin briefly, then park: a region costs about a microsecond
// while launches come one after another, and nothing when they do not.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace dougong {

class ThreadPool {
public:
  using Body = void (*)(void *context, uint64_t first, uint64_t last);

  explicit ThreadPool(unsigned threads); // the caller of run() is one of them
  ~ThreadPool();
  unsigned threads() const { return unsigned(workers.size()) + 1; }

  // Calls body on ranges that cover [0, count) once, and returns when all are done. One caller at a time.
  void run(uint64_t count, Body body, void *context);

private:
  void work();
  void take_ranges();

  std::vector<std::thread> workers;
  // The region being run. `generation` is written last, and odd means "end".
  Body body = nullptr;
  void *context = nullptr;
  uint64_t count = 0, range = 0;
  alignas(64) std::atomic<uint64_t> next{0};
  alignas(64) std::atomic<uint32_t> generation{0};
  alignas(64) std::atomic<uint32_t> running{0}; // workers not yet back from this region
};

} // namespace dougong
