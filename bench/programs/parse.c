// A recursive-descent calculator and a tokenizer: character classes, mutual recursion, calls in tail position, global state.
#include <stdio.h>
#include <string.h>
static const char *at;
static int depth, deepest, errors;
static long expression(void);
static void skip(void) {
  while (*at == ' ' || *at == '\t')
    at++;
}
static long number(void) {
  long value = 0;
  while (*at >= '0' && *at <= '9')
    value = value * 10 + (*at++ - '0');
  return value;
}
static long atom(void) {
  skip();
  if (*at == '(') {
    at++;
    if (++depth > deepest)
      deepest = depth;
    long value = expression();
    depth--;
    if (*at == ')')
      at++;
    else
      errors++;
    skip();
    return value;
  }
  if (*at == '-') {
    at++;
    return -atom();
  }
  long value = number();
  skip();
  return value;
}
static long term(void) {
  long value = atom();
  while (*at == '*' || *at == '/' || *at == '%') {
    char operation = *at++;
    long right = atom();
    if (operation == '*')
      value *= right;
    else if (!right)
      errors++;
    else
      value = operation == '/' ? value / right : value % right;
  }
  return value;
}
static long expression(void) {
  long value = term();
  for (;;)
    switch (*at) {
    case '+':
      at++;
      value += term();
      break;
    case '-':
      at++;
      value -= term();
      break;
    default:
      return value;
    }
}
__attribute__((noinline)) static long even(long n);
__attribute__((noinline)) static long odd(long n) { return n == 0 ? 0 : even(n - 1); }
__attribute__((noinline)) static long even(long n) { return n == 0 ? 1 : odd(n - 1); }
int main(void) {
  static const char *const texts[] = {"1 + 2 * (3 - 4) * 5", "((((7))))*(2+3*(4+5*(6+7)))", "1000 / 7 % 9 - -3 * (2 + 2)", "12 * (3 + ",
                                      "8/0 + 1"};
  long sum = 0;
  for (int round = 0; round < 300; round++)
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
      at = texts[i];
      sum = sum * 3 + expression();
    }
  printf("%ld %d %d %ld\n", sum, deepest, errors, even(3000));
}
