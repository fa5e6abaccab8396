// Handles → objects, checked: a stale or made-up handle finds nothing.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace dougong {

template <typename Handle, typename Object> class HandleTable {
public:
  Handle add(Object object) {
    std::lock_guard lock(mutex);
    objects.emplace(++last, std::move(object));
    return Handle(last);
  }
  // Map nodes stay where they are; the object lives until it is removed.
  Object *find(Handle handle) {
    std::lock_guard lock(mutex);
    auto found = objects.find(uint64_t(handle));
    return found == objects.end() ? nullptr : &found->second;
  }
  bool remove(Handle handle) {
    std::lock_guard lock(mutex);
    return objects.erase(uint64_t(handle)) != 0;
  }
  template <typename Predicate> void remove_if(Predicate predicate) {
    std::lock_guard lock(mutex);
    std::erase_if(objects, [&](const auto &entry) { return predicate(entry.second); });
  }

private:
  std::mutex mutex;
  uint64_t last = 0;
  std::map<uint64_t, Object> objects;
};

} // namespace dougong
