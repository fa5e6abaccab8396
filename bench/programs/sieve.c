// Primes below a million, and how often the gap between two of them is a multiple of 6.
#include <stdio.h>
static char composite[1000000];
int main(void) {
  int count = 0, sixes = 0, last = 2;
  for (int i = 2; i < 1000000; i++) {
    if (composite[i])
      continue;
    count++;
    sixes += (i - last) % 6 == 0;
    last = i;
    for (long j = (long)i * i; j < 1000000; j += i)
      composite[j] = 1;
  }
  printf("%d %d\n", count, sixes);
}
