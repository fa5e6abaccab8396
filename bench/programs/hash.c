// A hash table of words with open addressing, FNV-1a, and its own generator of words: counts, then the most frequent.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
enum { slots = 4096, words = 20000 };
static struct {
  char word[8];
  uint32_t count;
} table[slots];
static uint64_t state = 88172645463325252ull;
static uint64_t random_bits(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}
static uint32_t hash(const char *s) {
  uint32_t h = 2166136261u;
  for (; *s; s++)
    h = (h ^ (uint8_t)*s) * 16777619u;
  return h;
}
int main(void) {
  int used = 0;
  for (int n = 0; n < words; n++) {
    char word[8];
    int length = 1 + random_bits() % 3;
    for (int i = 0; i < length; i++)
      word[i] = 'a' + random_bits() % 10;
    word[length] = 0;
    uint32_t slot = hash(word) & (slots - 1);
    while (table[slot].count && strcmp(table[slot].word, word))
      slot = (slot + 1) & (slots - 1);
    if (!table[slot].count)
      strcpy(table[slot].word, word), used++;
    table[slot].count++;
  }
  int best = 0;
  for (int i = 1; i < slots; i++)
    if (table[i].count > table[best].count)
      best = i;
  printf("%d words, %s %u times\n", used, table[best].word, table[best].count);
}
