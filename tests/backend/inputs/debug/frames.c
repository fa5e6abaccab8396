// Frames of every shape: arrays, alloca, many arguments, aligned objects, wide integers, volatile and small types.
#include "probe.h"
__attribute__((noinline)) int crowded(int a, long b, short c, char d, unsigned e, long f, int g, int h, int i, long j, short k) {
  int first = a + (int)b + c + d;
  probe(first);
  int second = (int)e + (int)f + g + h;
  probe(second);
  int third = i + (int)j + k;
  return first * second - third;
}
__attribute__((noinline)) int variable(int n) {
  int list[n];
  for (int i = 0; i < n; ++i)
    list[i] = i * i;
  char *aside = __builtin_alloca(n * 2);
  aside[n] = (char)n;
  probe(list[n - 1]);
  int result = list[n / 2] + aside[n];
  probe(result);
  return result;
}
__attribute__((noinline)) long large(int seed) {
  long table[700];
  long sum = 0;
  for (int i = 0; i < 700; ++i)
    table[i] = (seed = seed * 5 + 1) & 255;
  probe(seed);
  for (int i = 0; i < 700; i += 7)
    sum += table[i];
  probe((int)sum);
  return sum;
}
__attribute__((noinline)) int aligned(int v) {
  _Alignas(64) int line[16];
  for (int i = 0; i < 16; ++i)
    line[i] = v + i;
  probe(line[3]);
  int kept = line[v & 15];
  probe(kept);
  return kept;
}
__attribute__((noinline)) unsigned __int128 wide(unsigned long a, unsigned long b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  probe((int)(product >> 64));
  unsigned long low = (unsigned long)product;
  probe((int)low);
  return product + low;
}
__attribute__((noinline)) int small(signed char s, unsigned short u, _Bool yes) {
  volatile short kept = s;
  int mixed = yes ? kept + u : kept - u;
  probe(mixed);
  unsigned char wrapped = (unsigned char)(mixed * 7);
  probe(wrapped);
  return wrapped;
}
int main(int argc, char **argv) {
  int a = crowded(argc, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), b = variable(argc + 5), d = aligned(argc);
  long c = large(argc);
  unsigned __int128 w = wide(0x123456789abcdefUL * argc, 0xfedcba987654321UL);
  int s = small(-5, 60000, argc);
  probe(a + b + d);
  return (a + b + d + (int)c + (int)w + s) & 63;
}
