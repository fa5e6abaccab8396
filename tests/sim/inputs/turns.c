// A kernel whose cores add their numbers under a lock, for gdb to look at. argument: {lock, sum}.
#include <dougong_npu.h>
void turns(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  volatile uint64_t *shared = (volatile uint64_t *)launch->arguments[0];
  uint64_t core = __dg_core();
  while (__atomic_exchange_n(&shared[0], 1, __ATOMIC_ACQUIRE)) {
  }
  shared[1] += core + 1;                             // L
  __atomic_store_n(&shared[0], 0, __ATOMIC_RELEASE); // U
}
