// Words of a text counted in a hash table with chains, then sorted by a comparison function.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct word {
  char text[12];
  int count;
  struct word *next;
};
static struct word *buckets[256];
static int by_count(const void *a, const void *b) {
  const struct word *x = *(struct word *const *)a, *y = *(struct word *const *)b;
  return x->count != y->count ? y->count - x->count : strcmp(x->text, y->text);
}
int main(void) {
  unsigned seed = 7;
  int distinct = 0;
  for (int i = 0; i < 20000; i++) {
    char text[12];
    seed = seed * 1103515245u + 12345;
    int length = 2 + (seed >> 16) % 3;
    for (int k = 0; k < length; k++)
      seed = seed * 1103515245u + 12345, text[k] = (char)('a' + (seed >> 16) % 6);
    text[length] = 0;
    unsigned hash = 5381;
    for (char *p = text; *p; p++)
      hash = hash * 33 + (unsigned char)*p;
    struct word **at = &buckets[hash & 255];
    while (*at && strcmp((*at)->text, text))
      at = &(*at)->next;
    if (!*at) {
      *at = calloc(1, sizeof **at);
      strcpy((*at)->text, text);
      distinct++;
    }
    (*at)->count++;
  }
  struct word **all = malloc(sizeof *all * (size_t)distinct);
  int n = 0;
  for (int b = 0; b < 256; b++)
    for (struct word *w = buckets[b]; w; w = w->next)
      all[n++] = w;
  qsort(all, (size_t)n, sizeof *all, by_count);
  printf("%d %s %d\n", n, all[0]->text, all[0]->count);
}
