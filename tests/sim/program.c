// RUN: %python %S/inputs/build.py %s %t
// RUN: %t.host one "-two" > %t.expected
// RUN: dougong sim %t.elf one -two > %t.functional
// RUN: dougong sim --timing %t.elf one -two > %t.timing
// RUN: dougong sim %t.compressed.elf one -two > %t.compressed
// RUN: diff %t.expected %t.functional && diff %t.expected %t.timing && diff %t.expected %t.compressed
//
// An ordinary C program: what it prints on the device is what it prints on the host, as plain and as compressed instructions.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252ull;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

struct Node {
  struct Node *left, *right;
  int key;
};
static struct Node *insert(struct Node *node, int key) {
  if (!node) {
    node = malloc(sizeof *node);
    node->left = node->right = 0;
    node->key = key;
  } else if (key < node->key)
    node->left = insert(node->left, key);
  else
    node->right = insert(node->right, key);
  return node;
}
static long walk(const struct Node *node, int depth) {
  return node ? walk(node->left, depth + 1) + walk(node->right, depth + 1) + (long)node->key * depth : 0;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    printf("argument %d: %s\n", i, argv[i]);
  int numbers[200];
  for (int i = 0; i < 200; ++i)
    numbers[i] = (int)(next() % 2001) - 1000;
  qsort(numbers, 200, sizeof(int), compare);
  struct Node *root = 0;
  for (int i = 0; i < 200; ++i)
    root = insert(root, numbers[(i * 37) % 200]);
  printf("%d %d %d %ld\n", numbers[0], numbers[100], numbers[199], walk(root, 0));
  uint64_t mixed = 1;
  for (int i = 0; i < 20000; ++i) {
    uint64_t a = next(), b = next() >> (a & 63);
    mixed = mixed * 31 + a / (b | 1) + (uint64_t)((int64_t)a / (int64_t)(b | 3)) + a % (b | 1) + (uint32_t)a / (uint32_t)(b | 1) +
            ((int32_t)a >> (b & 31)) + (a << (b & 63));
    mixed ^= (uint64_t)(((unsigned __int128)a * b) >> 64) + (uint64_t)(((__int128)(int64_t)a * (int64_t)b) >> 64);
    switch (a % 7) {
    case 0:
      mixed += 11;
      break;
    case 1:
      mixed ^= 0x1234;
      break;
    case 3:
      mixed = mixed << 3 | mixed >> 61;
      break;
    case 6:
      mixed -= (int8_t)b;
      break;
    default:
      mixed += (int16_t)a;
    }
  }
  printf("%llx\n", (unsigned long long)mixed);
  double sum = 0;
  float product = 1;
  for (int i = 1; i < 1000; ++i)
    sum += 1.0 / i - (double)(int64_t)next() * 1e-19, product *= 1.0f + (float)i * 1e-6f;
  uint64_t bits;
  memcpy(&bits, &sum, 8);
  printf("%.9g %llx %.6g %d\n", sum, (unsigned long long)bits, product, (int)(sum * 1000));
  char text[64];
  snprintf(text, sizeof text, "%-8s|%8.3f|%04x", "left", 3.14159, 0xbe);
  puts(text);
  printf("%zu %s\n", strlen(text), strstr(text, "3.1"));
  return 0;
}
