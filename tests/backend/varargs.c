// What the program prints on the device model, at O0 and O2, is what it prints on the host.
// RUN: clang -w -O0 -funsigned-char -ffp-contract=off %s -o %t.host -lm && %t.host > %t.expected
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O0 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
#include <stdarg.h>
#include <stdio.h>

__attribute__((noinline)) static long sum(int n, ...) {
  va_list list, copy;
  va_start(list, n);
  va_copy(copy, list);
  long s = 0;
  for (int i = 0; i < n; i++)
    s += i & 1 ? (long)(va_arg(list, double) * 10) : va_arg(list, long);
  va_end(list);
  for (int i = 0; i < n; i++)
    s = s * 3 + (i & 1 ? (long)va_arg(copy, double) : va_arg(copy, long));
  return s;
}
/* Twice a register's size: at an even register. */
__attribute__((noinline)) static __int128 wide(int n, ...) {
  va_list list;
  va_start(list, n);
  __int128 x = va_arg(list, __int128);
  long y = va_arg(list, long);
  __int128 z = va_arg(list, __int128);
  va_end(list);
  return x + y + z;
}
typedef struct {
  long a, b, c;
} Big;
__attribute__((noinline)) static long structs(const char *format, ...) {
  va_list list;
  va_start(list, format);
  Big x = va_arg(list, Big);
  int y = va_arg(list, int);
  Big z = va_arg(list, Big);
  va_end(list);
  return x.a + 10 * x.b + 100 * x.c + 1000 * y + 10000 * z.a + 100000 * z.b + 1000000 * z.c;
}
int main(void) {
  printf("%ld\n", sum(6, 1L, 2.5, 3L, 4.5, 5L, 6.5));
  printf("%ld\n", sum(14, 1L, 2.5, 3L, 4.5, 5L, 6.5, 7L, 8.5, 9L, 10.5, 11L, 12.5, 13L, 14.5));
  __int128 q = wide(3, ((__int128)5 << 70) + 3, 9L, ((__int128)7 << 65) + 1);
  printf("%lx %lx\n", (long)(q >> 64), (long)q);
  printf("%ld\n", structs("", (Big){1, 2, 3}, 4, (Big){5, 6, 7}));
  printf("%d %s %c %5.2f %lx %e %p\n", -7, "text", 'c', 3.14159, 0x123456789abcL, 1e-300, (void *)0x1234);
}
