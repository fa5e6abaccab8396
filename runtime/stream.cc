// One thread, one queue, one condition variable.
#include "runtime/stream.h"

namespace dougong {

Stream::Stream(std::shared_ptr<Device> device) : device(std::move(device)), worker([this] { work(); }) {}

Stream::~Stream() {
  {
    std::lock_guard lock(mutex);
    ending = true;
  }
  changed.notify_all();
  worker.join();
  llvm::consumeError(std::move(failure));
}

Stream::Event Stream::call(std::function<llvm::Error()> command) {
  std::unique_lock lock(mutex);
  queue.push_back(std::move(command));
  Event event = ++given;
  lock.unlock();
  changed.notify_all();
  return event;
}

Stream::Event Stream::copy_in(uint64_t address, const void *source, uint64_t bytes) {
  return call([=, this] { return device->copy_in(address, source, bytes); });
}

Stream::Event Stream::copy_out(void *destination, uint64_t address, uint64_t bytes) {
  return call([=, this] { return device->copy_out(destination, address, bytes); });
}

Stream::Event Stream::launch(KernelHandle kernel, std::array<uint64_t, 3> grid, std::vector<uint64_t> arguments) {
  return call([=, this, arguments = std::move(arguments)]() -> llvm::Error {
    auto cost = device->launch(kernel, grid, arguments);
    if (!cost)
      return cost.takeError();
    std::lock_guard lock(mutex);
    total.add(*cost);
    return llvm::Error::success();
  });
}

bool Stream::happened(Event event) const {
  std::lock_guard lock(mutex);
  return event <= done;
}

llvm::Error Stream::wait(Event event) {
  std::unique_lock lock(mutex);
  if (event > given)
    return fail(Status::Invalid, "stream: event {} is not of this stream, which has given {}", event, given);
  changed.wait(lock, [&] { return event <= done; });
  return llvm::Error::success();
}

llvm::Error Stream::synchronise() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&, last = given] { return last <= done; });
  failed = false;
  return std::exchange(failure, llvm::Error::success());
}

Statistics Stream::statistics() const {
  std::lock_guard lock(mutex);
  return total;
}

void Stream::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return ending || !queue.empty(); });
    if (queue.empty())
      return;
    auto command = std::move(queue.front());
    queue.pop_front();
    if (!failed) {
      lock.unlock();
      llvm::Error error = command();
      lock.lock();
      if (error) {
        llvm::consumeError(std::move(failure));
        failure = std::move(error);
        failed = true;
      }
    }
    ++done;
    changed.notify_all();
  }
}

} // namespace dougong
