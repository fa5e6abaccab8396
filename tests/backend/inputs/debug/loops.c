// Nested loops, arrays local and global, a loop that ends early.
#include "probe.h"
int grid[6][5];
static int histogram[8];
__attribute__((noinline)) int fill(int rows, int columns, int seed) {
  int total = 0;
  for (int row = 0; row < rows; ++row) {
    int sum = 0;
    for (int column = 0; column < columns; ++column) {
      seed = seed * 1103515245 + 12345;
      int value = (unsigned)seed >> 28;
      grid[row][column] = value;
      histogram[value & 7]++;
      sum += value;
    }
    probe(row);
    total += sum;
  }
  return total;
}
__attribute__((noinline)) int find(const int *list, int count, int wanted) {
  int steps = 0;
  for (int i = 0; i < count; ++i) {
    ++steps;
    if (list[i] == wanted) {
      probe(100 + i);
      return i + steps;
    }
  }
  probe(99);
  return -steps;
}
__attribute__((noinline)) long gcd(long a, long b) {
  long rounds = 0;
  while (b) {
    long rest = a % b;
    a = b;
    b = rest;
    ++rounds;
    probe((int)rounds);
  }
  return a + rounds;
}
int main(int argc, char **argv) {
  int list[7] = {3, 1, 4, 1, 5, 9, 2};
  int total = fill(6, 5, argc);
  int at = find(list, 7, 9), none = find(list, 7, 8);
  long divisor = gcd(1071 * argc, 462);
  probe(total + at);
  list[argc] = none;
  probe(list[1]);
  return (int)(total + at + none + divisor) & 63;
}
