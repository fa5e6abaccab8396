// What the program prints on the device model, at O0 and O2, is what it prints on the host.
// RUN: clang -w -O0 -funsigned-char -ffp-contract=off %s -o %t.host -lm && %t.host > %t.expected
// RUN: dougong-cc -w -O2 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
// RUN: dougong-cc -w -O0 %s -o %t.elf -mllvm -verify-machineinstrs && dougong sim %t.elf > %t.out && diff %t.expected %t.out
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) int dense(int x) {
  switch (x) {
  case 1:
    return 10;
  case 2:
    return 7;
  case 3:
    return x * x;
  case 4:
    return 99;
  case 5:
    return x - 100;
  case 6:
    return x ^ 0x55;
  case 7:
    puts("seven");
    return 1;
  case 8:
    return -8;
  case 20:
    return 3;
  }
  return 0;
}
__attribute__((noinline)) int sparse(long x) {
  switch (x) {
  case -5000000000:
    return 1;
  case 3:
    return 2;
  case 1000:
    return 3;
  case 70000:
    return 4;
  case 0x7fffffffffffffff:
    return 5;
  }
  return 6;
}
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
static int constructed;
__attribute__((constructor)) static void construct(void) { constructed = 77; }
static void goodbye(void) { puts("goodbye"); }
static int computed(int n) { /* computed goto */
  static const void *const table[] = {&&a, &&b, &&c};
  int r = 0;
  goto *table[n % 3];
a:
  r += 1;
b:
  r += 10;
c:
  r += 100;
  return r;
}
static jmp_buf buffer;
__attribute__((noinline)) static void deep(int n) { n == 0 ? longjmp(buffer, 5) : deep(n - 1); }
int main(void) {
  for (int i = -1; i < 22; i++)
    printf("%d ", dense(i));
  printf("\n%d %d %d %d\n", sparse(-5000000000), sparse(70000), sparse(0x7fffffffffffffff), sparse(71000));
  int (*volatile pointer)(int) = fib;
  printf("%d %d\n", pointer(17), constructed);
  int a[] = {5, 3, 9, -1, 0, 22, 8};
  qsort(a, 7, sizeof *a, compare);
  for (int i = 0; i < 7; i++)
    printf("%d ", a[i]);
  for (int i = 0; i < 3; i++)
    printf("%d ", computed(i));
  int code = setjmp(buffer);
  if (code == 0)
    deep(5);
  printf("\njumped %d\n", code);
  atexit(goodbye);
  char text[64];
  memset(text, 'x', 63), text[63] = 0;
  memmove(text + 3, text, 20), memcpy(text, "hello", 5);
  printf("%s %zu %d\n", text, strlen(text), strcmp(text, "hellp") < 0);
}
