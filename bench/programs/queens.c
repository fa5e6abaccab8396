// The ten queens problem, by recursion on bit masks.
#include <stdio.h>
static int solve(unsigned all, unsigned columns, unsigned left, unsigned right) {
  if (columns == all)
    return 1;
  int found = 0;
  for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
    unsigned bit = free & -free;
    found += solve(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
  }
  return found;
}
int main(void) { printf("%d\n", solve((1u << 10) - 1, 0, 0, 0)); }
