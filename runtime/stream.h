// An in-order queue of work for a device, and events in it. The same for every device.
//
// A stream has a thread that does its commands one after another. The first failure stops the stream: later commands are
// dropped until `synchronise` has reported it, and then the stream is usable again.
#pragma once
#include "runtime/device.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace dougong {

class Stream {
public:
  using Event = uint64_t; // a place in one stream's order; 0 has always happened

  explicit Stream(std::shared_ptr<Device> device);
  ~Stream(); // finishes what is queued

  // Each returns the event that happens when the command is done. `source` and `destination` must live until then.
  Event copy_in(uint64_t address, const void *source, uint64_t bytes);
  Event copy_out(void *destination, uint64_t address, uint64_t bytes);
  Event launch(KernelHandle kernel, std::array<uint64_t, 3> grid, std::vector<uint64_t> arguments);
  Event call(std::function<llvm::Error()> command); // anything else, in order

  bool happened(Event event) const;
  llvm::Error wait(Event event); // an event this stream has not given is an error; a failure before it is reported by synchronise
  llvm::Error synchronise();     // waits for all; reports the first failure since the last call
  Statistics statistics() const; // of the launches done

private:
  void work();
  std::shared_ptr<Device> device;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<llvm::Error()>> queue;
  Event given = 0, done = 0;
  bool ending = false;
  llvm::Error failure = llvm::Error::success();
  bool failed = false;
  Statistics total;
  std::thread worker;
};

} // namespace dougong
