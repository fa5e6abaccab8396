// A kernel that all cores run at once on the same counters. arguments: counters (six of 64 bits, zero), a list's cells, rounds.
#include <dougong_npu.h>

struct counters {
  uint64_t added, swapped, locked, lock, largest;
  uint64_t head;
};
struct cell {
  uint64_t next, owner;
};
struct arguments {
  struct counters *counters;
  struct cell *cells;
  uint64_t rounds;
};

void count(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  struct arguments g = *(const struct arguments *)launch->arguments;
  struct counters *c = g.counters;
  uint64_t core = __dg_core();
  for (uint64_t i = 0; i < g.rounds; i++) {
    __atomic_fetch_add(&c->added, core + i, __ATOMIC_RELAXED);      // amoadd
    uint64_t seen = __atomic_load_n(&c->swapped, __ATOMIC_RELAXED); // lr, sc
    while (!__atomic_compare_exchange_n(&c->swapped, &seen, seen * 3 + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
    while (__atomic_exchange_n(&c->lock, 1, __ATOMIC_ACQUIRE)) {
    } // a lock: the addition inside is not atomic
    *(volatile uint64_t *)&c->locked = *(volatile uint64_t *)&c->locked + 1;
    __atomic_store_n(&c->lock, 0, __ATOMIC_RELEASE);
    __atomic_fetch_max(&c->largest, core * 1000 + i, __ATOMIC_RELAXED); // amomaxu
    struct cell *mine = &g.cells[core * g.rounds + i];                  // a list that grows at its head
    uint64_t head = __atomic_load_n(&c->head, __ATOMIC_RELAXED);
    mine->owner = core;
    do
      mine->next = head;
    while (!__atomic_compare_exchange_n(&c->head, &head, (uint64_t)mine, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
  }
}
