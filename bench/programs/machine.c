// An interpreter of a small stack machine, with a switch over its operations: prime factors of numbers.
#include <stdio.h>
enum { PUSH, LOAD, STORE, ADD, SUB, MUL, REM, DIV, LESS, JUMP, JUMPZ, HALT };
static const long code[] = {
    PUSH, 2, STORE, 1,                                                 /* 4: d = 2 */
    LOAD, 1, LOAD,  1, MUL, LOAD,  0,  PUSH, 1, ADD,  LESS, JUMPZ, 39, /* while d*d < n+1 */
    LOAD, 0, LOAD,  1, REM, JUMPZ, 30, LOAD, 1, PUSH, 1,    ADD,   JUMP, 2, LOAD, 0, LOAD, 1, DIV, STORE, 0, JUMP, 4, HALT,
};
static long run(long n) {
  long stack[16], memory[4] = {n}, steps = 0;
  int sp = 0, pc = 0;
  for (;; steps++) {
    switch (code[pc++]) {
    case PUSH:
      stack[sp++] = code[pc++];
      break;
    case LOAD:
      stack[sp++] = memory[code[pc++]];
      break;
    case STORE:
      memory[code[pc++]] = stack[--sp];
      break;
    case ADD:
      sp--;
      stack[sp - 1] += stack[sp];
      break;
    case SUB:
      sp--;
      stack[sp - 1] -= stack[sp];
      break;
    case MUL:
      sp--;
      stack[sp - 1] *= stack[sp];
      break;
    case REM:
      sp--;
      stack[sp - 1] %= stack[sp];
      break;
    case DIV:
      sp--;
      stack[sp - 1] /= stack[sp];
      break;
    case LESS:
      sp--;
      stack[sp - 1] = stack[sp - 1] < stack[sp];
      break;
    case JUMP:
      pc = (int)code[pc];
      break;
    case JUMPZ:
      pc = stack[--sp] ? pc + 1 : (int)code[pc];
      break;
    case HALT:
      return memory[0] * 1000 + steps % 1000;
    }
  }
}
int main(void) {
  long sum = 0;
  for (long n = 90000; n < 90100; n++)
    sum = sum * 31 + run(n);
  printf("%ld\n", sum);
}
