// What ordinary C programs lean on: qsort, setjmp out of deep recursion, malloc, 64- and 128-bit division, and printf of doubles. The
// host's C library and picolibc agree on up to 15 digits; beyond 17 picolibc prints zeros, and it rounds exact ties up.
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252ull;
static uint64_t next(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}
typedef struct {
  double key;
  int id;
  char text[9];
} Record;
static int by_key(const void *a, const void *b) {
  const Record *x = a, *y = b;
  return x->key < y->key ? -1 : x->key > y->key ? 1 : x->id - y->id;
}
static jmp_buf top;
static int deep(int n, volatile int *unwound) {
  char frame[100];
  memset(frame, n, sizeof frame);
  if (n == 0)
    longjmp(top, 42);
  int r = deep(n - 1, unwound) + frame[n % 100];
  *unwound = 1;
  return r;
}
int main(void) {
  int n = 500;
  Record *records = malloc(n * sizeof *records);
  for (int i = 0; i < n; i++)
    records[i].key = (double)(int64_t)next() / 1e15, records[i].id = i, snprintf(records[i].text, 9, "r%d", i % 37);
  for (int i = 0; i < n; i += 5)
    records[i].key = records[(i * 7 + 3) % n].key;
  qsort(records, n, sizeof *records, by_key);
  long order = 0;
  for (int i = 0; i < n; i++)
    order = order * 31 + records[i].id;
  printf("%ld %s %s\n", order, records[0].text, records[n - 1].text);
  free(records);

  volatile int unwound = 0;
  volatile int before = 5;
  int back = setjmp(top);
  if (!back)
    before = 6, deep(200, &unwound);
  printf("%d %d %d\n", back, before, unwound);

  uint64_t sum = 0;
  __uint128_t wide_sum = 0;
  for (int i = 0; i < 20000; i++) {
    uint64_t a = next() >> (next() & 63), b = (next() >> (next() & 63)) | 1;
    int64_t c = (int64_t)next() >> (next() & 63), d = ((int64_t)next() >> (next() & 63)) | 1;
    sum = sum * 33 + a / b + 3 * (a % b);
    if (!(c == INT64_MIN && d == -1))
      sum += c / d * 5 + c % d * 7;
    __uint128_t e = ((__uint128_t)a << 64 | next()) >> (next() & 127), f = (((__uint128_t)b << 64 | next()) >> (next() & 127)) | 1;
    __int128_t g = ((__int128_t)c << 64 | next()) >> (next() & 127), h = (((__int128_t)d << 64 | next()) >> (next() & 127)) | 1;
    wide_sum = wide_sum * 37 + e / f + 3 * (e % f) + 5 * (g / h) + 7 * (g % h);
  }
  printf("%llu %llx %llx\n", (unsigned long long)sum, (unsigned long long)(wide_sum >> 64), (unsigned long long)wide_sum);

  const double numbers[] = {0,          -0.0, 1,   0.1, 1.0 / 3, 1e22,  1e23, 2.2250738585072014e-308, 1.7976931348623157e308,
                            123456.789, -9.5, 0.5, 1.5, 2.5,     99.995};
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
    printf("%g %.15g %.3f %e %10.2f|%-12.4g|%+.1f\n", numbers[i], numbers[i], numbers[i] > 1e15 ? 0 : numbers[i], numbers[i],
           numbers[i] > 1e15 ? 0 : numbers[i], numbers[i], numbers[i] > 1e15 ? 0 : numbers[i]);
  printf("%s\n", strtod("0.1000000000000000055511151231257827", 0) == 0.1 && strtod("1e-310", 0) > 0 && atof("-12.5e1") == -125
                     ? "read back"
                     : "misread");
}
