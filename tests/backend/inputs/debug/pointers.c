// Lists, function pointers, pointers to pointers, strings.
#include "probe.h"
struct item {
  struct item *next;
  const char *name;
  int value;
};
typedef int (*order)(const struct item *, const struct item *);
static struct item items[5] = {{0, "pear", 4}, {0, "fig", 9}, {0, "plum", 1}, {0, "apple", 7}, {0, "date", 3}};
struct item *head;
static int by_value(const struct item *a, const struct item *b) { return a->value - b->value; }
static int by_name(const struct item *a, const struct item *b) {
  const char *left = a->name, *right = b->name;
  while (*left && *left == *right)
    ++left, ++right;
  return *left - *right;
}
__attribute__((noinline)) void insert(struct item **list, struct item *fresh, order before) {
  struct item **at = list;
  int passed = 0;
  while (*at && before(*at, fresh) < 0) {
    at = &(*at)->next;
    ++passed;
  }
  fresh->next = *at;
  *at = fresh;
  probe(passed);
}
__attribute__((noinline)) int reverse(struct item **list) {
  struct item *done = 0, *rest = *list;
  int length = 0;
  while (rest) {
    struct item *next = rest->next;
    rest->next = done;
    done = rest;
    rest = next;
    ++length;
    probe(length);
  }
  *list = done;
  return length;
}
__attribute__((noinline)) long apply(long (*function)(long), long start, int times) {
  long value = start;
  for (int i = 0; i < times; ++i) {
    value = function(value);
    probe((int)value);
  }
  return value;
}
static long collatz(long n) { return n % 2 ? 3 * n + 1 : n / 2; }
int main(int argc, char **argv) {
  order orders[2] = {by_value, by_name};
  for (int i = 0; i < 5; ++i)
    insert(&head, &items[i], orders[argc > 1]);
  int length = reverse(&head);
  long last = apply(collatz, 6 + argc, 5);
  probe(head->value + length);
  return (head->value + length + (int)last) & 63;
}
