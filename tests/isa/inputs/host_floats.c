// The float instructions of the scalar base on the host's processor: the rows that scalar_tables.py lists, by C's arithmetic in C's
// rounding modes, with C's exception flags. NaN results are canonical, as the instruction set has them, but of sign injection, which moves
// bits.
//
//     host_floats LISTS CASES ROWS           CASES: lines "fadd.s 2 s s" of mnemonic, rounding mode 0..3, and the lists of the operands
//                                            LISTS: lines "s 3f800000 bf800000 ..." of name and values
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma STDC FENV_ACCESS ON

enum { inexact = 1, underflow = 2, overflow = 4, divide_by_zero = 8, invalid = 16 };
static uint64_t more_flags; // what RISC-V raises and this arithmetic does not

static uint64_t raised(void) {
  int f = fetestexcept(FE_ALL_EXCEPT);
  return (f & FE_INEXACT ? inexact : 0) | (f & FE_UNDERFLOW ? underflow : 0) | (f & FE_OVERFLOW ? overflow : 0) |
         (f & FE_DIVBYZERO ? divide_by_zero : 0) | (f & FE_INVALID ? invalid : 0);
}

// An integer as the conversion to `digits` bits (of magnitude) leaves it: rounded in the host's mode, else invalid and the nearest end.
static uint64_t to_integer(double x, int digits, int is_signed) {
  double beyond = ldexp(1, digits), whole = nearbyint(x);
  uint64_t greatest = digits == 64 ? ~0ull : (1ull << digits) - 1, least = is_signed ? ~greatest : 0;
  if (isnan(x) || whole >= beyond)
    return more_flags = invalid, greatest;
  if (is_signed ? whole < -beyond : whole < 0)
    return more_flags = invalid, least;
  more_flags = whole != x ? inexact : 0;
  return is_signed ? (uint64_t)(int64_t)whole : whole >= 0x1p63 ? (uint64_t)(whole - 0x1p63) + (1ull << 63) : (uint64_t)whole;
}
static uint64_t word(uint64_t x) { return (uint64_t)(int64_t)(int32_t)x; }

#define MIN_FIRST(a, b) ((a) < (b) || ((a) == (b) && signbit(a)))

// One function a format: F the type, U its bits, quiet the bit of a quiet NaN, fma and so on of <math.h> with its suffix.
#define FORMAT(name, F, U, quiet, suffix, as_register)                                                                                     \
  static F name##_of(uint64_t x) {                                                                                                         \
    U low = (U)x;                                                                                                                          \
    F f;                                                                                                                                   \
    memcpy(&f, &low, sizeof(F));                                                                                                           \
    return f;                                                                                                                              \
  }                                                                                                                                        \
  static uint64_t name##_bits(F f) {                                                                                                       \
    U low;                                                                                                                                 \
    memcpy(&low, &f, sizeof(F));                                                                                                           \
    return as_register(low);                                                                                                               \
  }                                                                                                                                        \
  static int name##_signals(uint64_t x) { return isnan(name##_of(x)) && !(x >> quiet & 1); }                                               \
  static uint64_t name##_number(F f) { return isnan(f) ? name##_bits((F)NAN) & ~(1ull << (sizeof(F) * 8 - 1)) : name##_bits(f); }          \
  static uint64_t name(const char *op, uint64_t x, uint64_t y, uint64_t z, int *known) {                                                   \
    volatile F a = name##_of(x), b = name##_of(y), c = name##_of(z), r;                                                                    \
    int zero_times_infinity = (isinf(a) && b == 0) || (a == 0 && isinf(b)); /* invalid even where the addend is a quiet NaN */             \
    *known = 1;                                                                                                                            \
    feclearexcept(FE_ALL_EXCEPT);                                                                                                          \
    if (!strcmp(op, "fadd"))                                                                                                               \
      r = a + b;                                                                                                                           \
    else if (!strcmp(op, "fsub"))                                                                                                          \
      r = a - b;                                                                                                                           \
    else if (!strcmp(op, "fmul"))                                                                                                          \
      r = a * b;                                                                                                                           \
    else if (!strcmp(op, "fdiv"))                                                                                                          \
      r = a / b;                                                                                                                           \
    else if (!strcmp(op, "fsqrt"))                                                                                                         \
      r = sqrt##suffix(a);                                                                                                                 \
    else if (!strcmp(op, "fmadd"))                                                                                                         \
      more_flags = zero_times_infinity ? invalid : 0, r = fma##suffix(a, b, c);                                                            \
    else if (!strcmp(op, "fmsub"))                                                                                                         \
      more_flags = zero_times_infinity ? invalid : 0, r = fma##suffix(a, b, -c);                                                           \
    else if (!strcmp(op, "fnmsub"))                                                                                                        \
      more_flags = zero_times_infinity ? invalid : 0, r = fma##suffix(-a, b, c);                                                           \
    else if (!strcmp(op, "fnmadd"))                                                                                                        \
      more_flags = zero_times_infinity ? invalid : 0, r = fma##suffix(-a, b, -c);                                                          \
    else if (!strcmp(op, "fmin") || !strcmp(op, "fmax")) {                                                                                 \
      more_flags = name##_signals(x) || name##_signals(y) ? invalid : 0;                                                                   \
      r = isnan(a) ? b : isnan(b) ? a : MIN_FIRST(a, b) == (op[2] == 'i') ? a : b;                                                         \
      uint64_t result = name##_number(r);                                                                                                  \
      feclearexcept(FE_ALL_EXCEPT);                                                                                                        \
      return result;                                                                                                                       \
    } else if (!strcmp(op, "fsgnj"))                                                                                                       \
      return as_register((U)(((U)x & ~((U)1 << (sizeof(F) * 8 - 1))) | ((U)y & (U)1 << (sizeof(F) * 8 - 1))));                             \
    else if (!strcmp(op, "fsgnjn"))                                                                                                        \
      return as_register((U)(((U)x & ~((U)1 << (sizeof(F) * 8 - 1))) | (~(U)y & (U)1 << (sizeof(F) * 8 - 1))));                            \
    else if (!strcmp(op, "fsgnjx"))                                                                                                        \
      return as_register((U)((U)x ^ ((U)y & (U)1 << (sizeof(F) * 8 - 1))));                                                                \
    else if (!strcmp(op, "feq"))                                                                                                           \
      return a == b;                                                                                                                       \
    else if (!strcmp(op, "flt"))                                                                                                           \
      return a < b;                                                                                                                        \
    else if (!strcmp(op, "fle"))                                                                                                           \
      return a <= b;                                                                                                                       \
    else if (!strcmp(op, "fclass")) {                                                                                                      \
      int negative = signbit(a) != 0;                                                                                                      \
      uint64_t kind = isnan(a)                        ? (name##_signals(x) ? 8 : 9)                                                        \
                      : isinf(a)                      ? (negative ? 0 : 7)                                                                 \
                      : a == 0                        ? (negative ? 3 : 4)                                                                 \
                      : fpclassify(a) == FP_SUBNORMAL ? (negative ? 2 : 5)                                                                 \
                                                      : (negative ? 1 : 6);                                                                \
      feclearexcept(FE_ALL_EXCEPT);                                                                                                        \
      return 1ull << kind;                                                                                                                 \
    } else if (!strncmp(op, "to.", 3)) {                                                                                                   \
      const char *type = op + 3;                                                                                                           \
      int is_signed = type[1] != 'u', is_long = type[0] == 'l';                                                                            \
      uint64_t result = to_integer(a, (is_long ? 64 : 32) - is_signed, is_signed);                                                         \
      feclearexcept(FE_ALL_EXCEPT);                                                                                                        \
      return is_long ? result : word(result);                                                                                              \
    } else if (!strcmp(op, "from.w"))                                                                                                      \
      r = (F)(int32_t)x;                                                                                                                   \
    else if (!strcmp(op, "from.wu"))                                                                                                       \
      r = (F)(uint32_t)x;                                                                                                                  \
    else if (!strcmp(op, "from.l"))                                                                                                        \
      r = (F)(int64_t)x;                                                                                                                   \
    else if (!strcmp(op, "from.lu"))                                                                                                       \
      r = (F)x;                                                                                                                            \
    else                                                                                                                                   \
      return *known = 0;                                                                                                                   \
    return name##_number(r);                                                                                                               \
  }
#define WHOLE(x) (x)
FORMAT(single_precision, float, uint32_t, 22, f, word)
FORMAT(double_precision, double, uint64_t, 51, , WHOLE)

static uint64_t compute(const char *mnemonic, uint64_t x, uint64_t y, uint64_t z, int *known) {
  more_flags = 0;
  if (!strcmp(mnemonic, "fcvt.s.d")) {
    volatile double a = double_precision_of(x);
    feclearexcept(FE_ALL_EXCEPT);
    volatile float r = (float)a;
    return *known = 1, single_precision_number(r);
  }
  if (!strcmp(mnemonic, "fcvt.d.s")) {
    volatile float a = single_precision_of(x);
    feclearexcept(FE_ALL_EXCEPT);
    volatile double r = a;
    return *known = 1, double_precision_number(r);
  }
  char op[16] = "", type[4] = "";
  const char *last = strrchr(mnemonic, '.') + 1;
  if (sscanf(mnemonic, "fcvt.%2[wlu].", type) == 1) // fcvt.wu.s: a float to u32
    snprintf(op, sizeof op, "to.%s", type);
  else if (!strncmp(mnemonic, "fcvt.", 5)) // fcvt.s.wu
    snprintf(op, sizeof op, "from.%s", last), last = mnemonic + 5;
  else
    snprintf(op, sizeof op, "%.*s", (int)(last - 1 - mnemonic), mnemonic);
  return (*last == 's' ? single_precision : double_precision)(op, x, y, z, known);
}

struct List {
  char name[4];
  int count;
  uint64_t values[100];
} lists[8];

static const struct List *list(const char *name) {
  static const struct List none = {"-", 1, {0}};
  for (int i = 0; i < 8; ++i)
    if (!strcmp(lists[i].name, name))
      return &lists[i];
  return &none;
}

int main(int argc, char **argv) {
  FILE *file = argc == 4 ? fopen(argv[1], "r") : NULL, *cases = argc == 4 ? fopen(argv[2], "r") : NULL,
       *rows = argc == 4 ? fopen(argv[3], "wb") : NULL;
  if (!file || !cases || !rows)
    return 2;
  char line[4096];
  for (int n = 0; n < 8 && fgets(line, sizeof line, file); ++n) {
    char *at = strtok(line, " \n");
    snprintf(lists[n].name, sizeof lists[n].name, "%s", at);
    while ((at = strtok(NULL, " \n")))
      lists[n].values[lists[n].count++] = strtoull(at, NULL, 16);
  }
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  char mnemonic[16], names[3][4];
  int mode;
  while (fgets(line, sizeof line, cases)) {
    strcpy(names[1], "-"), strcpy(names[2], "-");
    if (sscanf(line, "%15s %d %3s %3s %3s", mnemonic, &mode, names[0], names[1], names[2]) < 3)
      return 2;
    const struct List *a = list(names[0]), *b = list(names[1]), *c = list(names[2]);
    for (int i = 0; i < a->count; ++i)
      for (int j = 0; j < b->count; ++j)
        for (int k = 0; k < c->count; ++k) {
          int known;
          fesetround(modes[mode]);
          uint64_t row[2] = {compute(mnemonic, a->values[i], b->values[j], c->values[k], &known)};
          row[1] = raised() | more_flags;
          fesetround(FE_TONEAREST);
          if (!known)
            return fprintf(stderr, "%s is not known here\n", mnemonic), 3;
          fwrite(row, sizeof row, 1, rows);
        }
  }
}
