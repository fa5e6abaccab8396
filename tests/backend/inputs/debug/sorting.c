// Quick sort, a matrix product, a sieve, text into numbers: what real code does with registers.
#include "probe.h"
static void swap(int *a, int *b) {
  int kept = *a;
  *a = *b;
  *b = kept;
}
__attribute__((noinline)) void quick(int *list, int low, int high) {
  if (low >= high)
    return;
  int pivot = list[(low + high) / 2], i = low, j = high;
  while (i <= j) {
    while (list[i] < pivot)
      ++i;
    while (list[j] > pivot)
      --j;
    if (i <= j)
      swap(&list[i++], &list[j--]);
  }
  probe(pivot);
  quick(list, low, j);
  quick(list, i, high);
}
__attribute__((noinline)) int product(int n, const int *a, const int *b, int *c) {
  int trace = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int k = 0; k < n; ++k)
        sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
      if (i == j) {
        trace += sum;
        probe(sum);
      }
    }
  return trace;
}
__attribute__((noinline)) int primes(unsigned char *composite, int limit) {
  int found = 0;
  for (int candidate = 2; candidate < limit; ++candidate) {
    if (composite[candidate])
      continue;
    ++found;
    for (int multiple = candidate * candidate; multiple < limit; multiple += candidate)
      composite[multiple] = 1;
    probe(candidate);
  }
  return found;
}
__attribute__((noinline)) long parse(const char *text, int base, const char **end) {
  long value = 0;
  int negative = *text == '-';
  if (negative)
    ++text;
  while (*text >= '0' && *text <= '9') {
    int digit = *text++ - '0';
    value = value * base + digit;
    probe(digit);
  }
  *end = text;
  return negative ? -value : value;
}
int main(int argc, char **argv) {
  int list[9] = {5, 2, 8, 1, 9, argc, 7, 3, 6}, a[9], b[9], c[9];
  unsigned char composite[40] = {0};
  const char *rest;
  quick(list, 0, 8);
  for (int i = 0; i < 9; ++i)
    a[i] = i + argc, b[i] = 9 - i;
  int trace = product(3, a, b, c), count = primes(composite, 40);
  long number = parse("-1234 and more", 10, &rest);
  probe(trace + count);
  return (trace + count + list[4] + (int)number + *rest) & 63;
}
