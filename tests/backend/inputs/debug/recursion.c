// Deep and mutual recursion, tail calls, variadic arguments.
#include "probe.h"
#include <stdarg.h>
__attribute__((noinline)) int ackermann(int m, int n) {
  if (m == 0) {
    probe(n);
    return n + 1;
  }
  if (n == 0)
    return ackermann(m - 1, 1);
  int inner = ackermann(m, n - 1);
  return ackermann(m - 1, inner);
}
int odd(unsigned n);
__attribute__((noinline)) int even(unsigned n) {
  if (n == 0) {
    probe(1);
    return 1;
  }
  return odd(n - 1);
}
__attribute__((noinline)) int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
__attribute__((noinline)) int permutations(int *items, int count, int at) {
  if (at == count) {
    probe(items[0] * 100 + items[1] * 10 + items[2]);
    return 1;
  }
  int found = 0;
  for (int i = at; i < count; ++i) {
    int kept = items[at];
    items[at] = items[i];
    items[i] = kept;
    found += permutations(items, count, at + 1);
    kept = items[at];
    items[at] = items[i];
    items[i] = kept;
  }
  return found;
}
__attribute__((noinline)) long sum(int count, ...) {
  va_list list;
  va_start(list, count);
  long total = 0;
  for (int i = 0; i < count; ++i) {
    long item = va_arg(list, long);
    total += item * (i + 1);
    probe(i);
  }
  va_end(list);
  return total;
}
int main(int argc, char **argv) {
  int items[3] = {1, 2, argc + 2};
  int a = ackermann(2, argc + 1), e = even(argc + 6), p = permutations(items, 3, 0);
  long s = sum(4, 10L, 20L, (long)argc, 40L);
  probe(a + e + p);
  return (a + e + p + (int)s) & 63;
}
