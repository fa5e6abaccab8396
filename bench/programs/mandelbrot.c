// The Mandelbrot set in double, and in 32.32 fixed point.
#include <stdint.h>
#include <stdio.h>
static int steps_double(double cx, double cy) {
  double x = 0, y = 0;
  int n = 0;
  for (; n < 100 && x * x + y * y < 4; n++) {
    double t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
  }
  return n;
}
static int64_t times(int64_t a, int64_t b) { return (int64_t)(((__int128)a * b) >> 32); }
static int steps_fixed(int64_t cx, int64_t cy) {
  int64_t x = 0, y = 0;
  int n = 0;
  for (; n < 100; n++) {
    int64_t xx = times(x, x), yy = times(y, y);
    if (xx + yy >= 4ll << 32)
      break;
    y = 2 * times(x, y) + cy;
    x = xx - yy + cx;
  }
  return n;
}
int main(void) {
  long sum = 0, fixed = 0;
  for (int i = 0; i < 60; i++)
    for (int j = 0; j < 60; j++) {
      sum += steps_double(-2 + j * 0.05, -1.5 + i * 0.05);
      fixed += steps_fixed(-(2ll << 32) + j * 214748365ll, -(3ll << 31) + i * 214748365ll);
    }
  printf("%ld %ld\n", sum, fixed);
}
