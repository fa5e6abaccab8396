// One side of the border: every function of border.h. Compiled twice, with -DSIDE=left and -DSIDE=right.
#include "border.h"

static One one(One x) {
  x.c += 3;
  return x;
}
static Three three(int i, Three x) {
  x.c[i] += 1;
  return x;
}
static Padded padded(Padded x, double d) {
  x.s -= 5;
  x.i *= 7;
  x.c += (char)d;
  return x;
}
static Floats floats(Floats x, float y) {
  x.f *= y;
  x.g -= y;
  return x;
}
static Double number(Double x) {
  x.d = x.d / 3 + 1;
  return x;
}
static Mixed mixed(Mixed x, Mixed y) {
  x.d += y.d;
  x.c ^= y.c;
  return x;
}
static Sixteen sixteen(int a, int b, int c, int d, int e, int f, int g, Sixteen x) {
  x.a += a + b + c + d;
  x.b -= e * f * g;
  return x;
}
static Seventeen seventeen(Seventeen x) {
  x.a = -x.a;
  x.b *= 3;
  x.c++;
  return x;
}
static Hundred hundred(Hundred x, int k) {
  for (int i = 0; i < 100; i++)
    x.c[i] += i * k;
  return x;
}
static Bits bits(Bits x) {
  x.a += 3;
  x.b ^= 0x1555;
  x.c -= 9;
  return x;
}
static Union either(Union x) {
  x.bytes[0] ^= 1;
  x.bytes[11] += 7;
  return x;
}
static Wide wide(int k, Wide x, __int128 y) {
  x.wide = x.wide * k - y;
  return x;
}
static int empty(Empty e, int x) { return x + sizeof e; }
static _Bool truth(_Bool a, signed char b, unsigned char c, short d, unsigned short e) { return a ? b + c == d + e : b - c == d - e; }
static unsigned word(unsigned a, int b) { return a * 3 + (b >> 4); }
static float real(float a, double b, _Float16 c) { return a * (float)b + (float)c; }
static _Float16 half(_Float16 x) { return x * (_Float16)1.5 + (_Float16)0.25; }
static double many(double a, float b, long c, char d, Sixteen e, int f, double g, Hundred h, float i, __int128 j, short k) {
  return a + 2 * b + 3 * c + 5 * d + 7 * e.a + 11 * e.b + 13 * f + 17 * g + 19 * h.c[99] + 23 * i + 29 * (long)(j >> 66) + 31 * k;
}
static double list(const char *format, va_list a) {
  double sum = 0;
  for (int weight = 1; *format; format++, weight++)
    switch (*format) {
    case 'i':
      sum += weight * va_arg(a, int);
      break;
    case 'l':
      sum += weight * va_arg(a, long);
      break;
    case 'd':
      sum += weight * va_arg(a, double);
      break;
    case 'q':
      sum += weight * (double)(va_arg(a, __int128) >> 70);
      break;
    case 's': {
      Sixteen x = va_arg(a, Sixteen);
      sum += weight * (x.a - x.b);
      break;
    }
    case 'h': {
      Hundred x = va_arg(a, Hundred);
      sum += weight * x.c[7];
      break;
    }
    case 'f': {
      Floats x = va_arg(a, Floats);
      sum += weight * (x.f + x.g);
      break;
    }
    case 'p':
      sum += weight * *va_arg(a, int *);
      break;
    }
  return sum;
}
static double variable(const char *format, ...) {
  va_list a;
  va_start(a, format);
  double sum = list(format, a);
  va_end(a);
  return sum;
}
static long callback(long (*f)(void *, long), void *context, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++)
    sum = sum * 3 + f(context, i);
  return sum;
}
const Functions SIDE = {one,  three, padded, floats, number, mixed, sixteen, seventeen, hundred, bits,    either,
                        wide, empty, truth,  word,   real,   half,  many,    variable,  list,    callback};
