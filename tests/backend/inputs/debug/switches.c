// A small machine: switch tables, enumerations, characters, strings.
#include "probe.h"
enum operation { PUSH, ADD, MULTIPLY, SWAP, DUPLICATE, NEGATE, JUMP_IF, HALT };
struct instruction {
  enum operation operation;
  int argument;
};
static const char *const names[] = {"push", "add", "multiply", "swap", "duplicate", "negate", "jump if", "halt"};
__attribute__((noinline)) int execute(const struct instruction *program, int *stack, int limit) {
  int pc = 0, top = 0, steps = 0;
  for (;;) {
    struct instruction now = program[pc++];
    const char *name = names[now.operation];
    probe(now.operation);
    if (++steps > limit)
      return -1;
    switch (now.operation) {
    case PUSH:
      stack[top++] = now.argument;
      break;
    case ADD: {
      int right = stack[--top], left = stack[--top];
      stack[top++] = left + right;
      probe(left + right + name[0]);
      break;
    }
    case MULTIPLY: {
      int right = stack[--top], left = stack[--top];
      stack[top++] = left * right;
      break;
    }
    case SWAP: {
      int kept = stack[top - 1];
      stack[top - 1] = stack[top - 2];
      stack[top - 2] = kept;
      break;
    }
    case DUPLICATE:
      stack[top] = stack[top - 1];
      ++top;
      break;
    case NEGATE:
      stack[top - 1] = -stack[top - 1];
      break;
    case JUMP_IF:
      if (stack[--top] > 0)
        pc = now.argument;
      break;
    case HALT:
      return stack[top - 1];
    }
  }
}
__attribute__((noinline)) int words(const char *text) {
  int count = 0, inside = 0;
  for (const char *at = text; *at; ++at) {
    char c = *at;
    _Bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter && !inside) {
      ++count;
      probe(c);
    }
    inside = letter;
  }
  return count;
}
int main(int argc, char **argv) {
  struct instruction program[] = {{PUSH, 3 + argc}, {DUPLICATE, 0}, {MULTIPLY, 0}, {PUSH, 5}, {SWAP, 0},
                                  {NEGATE, 0},      {ADD, 0},       {NEGATE, 0},   {HALT, 0}};
  int stack[8];
  int result = execute(program, stack, 100);
  int count = words("two words and Three more");
  probe(result + count);
  return (result + count) & 63;
}
