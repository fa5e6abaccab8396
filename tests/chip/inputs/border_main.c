// Calls all of both sides and prints what comes back; its own functions are called back, and qsort's comparisons cross too.
#include "border.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int shared_number = 77, *shared_pointer = &shared_number;

static jmp_buf away;
static long step(void *context, long i) {
  long *calls = context;
  if (++*calls == 40)
    longjmp(away, (int)i + 100);
  return i * i - *calls;
}
static long nested(void *context, long i) { return i + right.callback(step, context, 3) - left.callback(step, context, 2); }
static double pass(const Functions *f, const char *format, ...) {
  va_list a;
  va_start(a, format);
  double sum = f->list(format, a);
  va_end(a);
  return sum;
}

static void all(const Functions *f) {
  printf("%d ", f->one((One){5}).c);
  Three t = f->three(1, (Three){"ab"});
  printf("%d %d %d ", t.c[0], t.c[1], t.c[2]);
  Padded p = f->padded((Padded){-3, 100000, 'x'}, 2.5);
  printf("%d %d %d\n", p.s, p.i, p.c);
  Floats g = f->floats((Floats){1.25f, -8}, 3.5f);
  printf("%.9g %.9g %.15g ", g.f, g.g, f->number((Double){10}).d);
  Mixed m = f->mixed((Mixed){1e300, 'a'}, (Mixed){-1e299, 'B'});
  printf("%.15g %d\n", m.d, m.c);
  Sixteen s = f->sixteen(1, 2, 3, 4, 5, 6, 7, (Sixteen){1L << 40, -9});
  Seventeen v = f->seventeen((Seventeen){1, 1L << 60, 'z'});
  printf("%ld %ld %ld %ld %d\n", s.a, s.b, v.a, v.b, v.c);
  Hundred h;
  memset(&h, 1, sizeof h);
  h = f->hundred(h, 2);
  Bits b = f->bits((Bits){6, 1000, -1234567});
  Union u = f->either((Union){.d = 1.5});
  printf("%d %d %u %u %ld %.15g\n", h.c[3], h.c[99], b.a, b.b, (long)b.c, u.d);
  __int128 w = f->wide(-3, (Wide){(__int128)5 << 80}, ((__int128)1 << 90) + 7).wide;
  printf("%lx %lx %d ", (long)(w >> 64), (long)w, f->empty((Empty){}, 9));
  printf("%d %d %u %.9g %.9g\n", f->truth(1, -1, 255, -2, 256), f->truth(0, -128, 1, -130, 65535), f->word(4000000000u, -77),
         f->real(1.5f, 2.25, (_Float16)0.125), (double)f->half((_Float16)3));
  printf("%.15g\n", f->many(0.5, 1.5f, -7, 'c', (Sixteen){3, -4}, -1, 1e10, h, -2.5f, (__int128)9 << 68, -32768));
  printf("%.15g ", f->variable("idlsqhfpiid", -1, 2.5, 1L << 50, (Sixteen){8, 9}, (__int128)3 << 71, h, (Floats){1.5f, 2.5f},
                               shared_pointer, 3, 4, 0.125));
  printf("%.15g\n", pass(f, "qildhd", (__int128)-5 << 71, 7, -8L, 1e5, h, 1e-3));
  long calls = 0;
  printf("%ld ", f->callback(step, &calls, 5));
  printf("%ld ", f->callback(nested, &calls, 2));
  int back = setjmp(away);
  if (!back)
    printf("%ld not reached\n", f->callback(nested, &calls, 50));
  else
    printf("%d %ld\n", back, calls);
}
int main(void) {
  all(&left);
  all(&right);
  printf("%d %d\n", ++*shared_pointer, shared_number);
}
