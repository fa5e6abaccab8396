// What C++ calls without saying so: the heap, the first pass through a local static, what stands where a pure virtual function is not.
// No library of C++ is shipped, so nothing throws: a `new` that finds no room ends the program with a line that says so, and only
// `new (std::nothrow)`, whose tag the program declares, gives a null pointer.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

namespace std {
enum class align_val_t : size_t {};
struct nothrow_t; // complete in the program, which declares it: only its address comes here
} // namespace std

static void *room(size_t bytes, size_t alignment) {
  size_t wanted = bytes ? bytes : 1; // distinct objects have distinct addresses
  return alignment <= alignof(max_align_t) ? malloc(wanted) : aligned_alloc(alignment, (wanted + alignment - 1) & -alignment);
}
static void *room_or_end(size_t bytes, size_t alignment = 1) {
  void *place = room(bytes, alignment);
  if (place)
    return place;
  fprintf(stderr, "operator new: no room for %zu bytes\n", bytes);
  abort();
}

#define WEAK __attribute__((weak)) // a program may have its own
WEAK void *operator new(size_t bytes) { return room_or_end(bytes); }
WEAK void *operator new[](size_t bytes) { return operator new(bytes); }
WEAK void *operator new(size_t bytes, std::align_val_t alignment) { return room_or_end(bytes, size_t(alignment)); }
WEAK void *operator new[](size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }
WEAK void *operator new(size_t bytes, const std::nothrow_t &) noexcept { return room(bytes, 1); }
WEAK void *operator new[](size_t bytes, const std::nothrow_t &) noexcept { return room(bytes, 1); }
WEAK void *operator new(size_t bytes, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  return room(bytes, size_t(alignment));
}
WEAK void *operator new[](size_t bytes, std::align_val_t alignment, const std::nothrow_t &) noexcept {
  return room(bytes, size_t(alignment));
}
WEAK void operator delete(void *place) noexcept { free(place); }
WEAK void operator delete[](void *place) noexcept { operator delete(place); }
WEAK void operator delete(void *place, size_t) noexcept { operator delete(place); }
WEAK void operator delete[](void *place, size_t) noexcept { operator delete[](place); }
WEAK void operator delete(void *place, std::align_val_t) noexcept { operator delete(place); }
WEAK void operator delete[](void *place, std::align_val_t) noexcept { operator delete[](place); }
WEAK void operator delete(void *place, size_t, std::align_val_t) noexcept { operator delete(place); }
WEAK void operator delete[](void *place, size_t, std::align_val_t) noexcept { operator delete[](place); }
WEAK void operator delete(void *place, const std::nothrow_t &) noexcept { operator delete(place); }
WEAK void operator delete[](void *place, const std::nothrow_t &) noexcept { operator delete[](place); }
WEAK void operator delete(void *place, std::align_val_t, const std::nothrow_t &) noexcept { operator delete(place); }
WEAK void operator delete[](void *place, std::align_val_t, const std::nothrow_t &) noexcept { operator delete[](place); }

extern "C" {

// A local static's guard: the first byte says that it is there, the second that it is being made. One thread: who comes back while it is
// being made calls itself without end.
int __cxa_guard_acquire(uint8_t *guard) {
  if (guard[0])
    return 0;
  if (guard[1]) {
    fprintf(stderr, "a local static variable's initialiser needs that variable\n");
    abort();
  }
  guard[1] = 1;
  return 1;
}
void __cxa_guard_release(uint8_t *guard) { guard[0] = 1, guard[1] = 0; }
void __cxa_guard_abort(uint8_t *guard) { guard[1] = 0; }

[[noreturn]] void __cxa_pure_virtual() {
  fprintf(stderr, "a pure virtual function was called\n");
  abort();
}
[[noreturn]] void __cxa_deleted_virtual() {
  fprintf(stderr, "a deleted virtual function was called\n");
  abort();
}
}
