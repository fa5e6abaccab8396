// What test_gdb.py walks through. The lines that it names have a comment with a letter.
#include <stdio.h>
#include <string.h>
struct reading {
  int place;
  double value;
  char name[8];
};
struct reading readings[3];
volatile int limit = 3;
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } // F
static double average(const struct reading *list, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += list[i].value; // S
  return sum / count;
}
int main(int argc, char **argv) {
  int total = 0;
  for (int i = 0; i < 10; ++i)
    total += fib(i); // T
  for (int i = 0; i < limit; ++i) {
    readings[i] = (struct reading){i, i * 1.5, "r"}; // R
    readings[i].name[1] = '0' + i;
  }
  double mean = average(readings, 3);
  printf("total %d, mean %g\n", total, mean); // P
  if (argc > 1) {
    if (!strcmp(argv[1], "read"))
      total = *(volatile int *)16; // N
    if (!strcmp(argv[1], "stop"))
      __builtin_trap();
    if (!strcmp(argv[1], "illegal"))
      __asm__ volatile(".word 0xffffffff");
    if (!strcmp(argv[1], "spin"))
      for (;;)
        ++limit;
  }
  return 7;
}
