// Huffman coding of generated text: code lengths by merging, canonical codes, bits out and in again.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
enum { length = 16000 };
static uint8_t text[length], packed[length], back[length];
static int parent[512], weight[512], bits[256];
static uint16_t code[256];
int main(void) {
  uint32_t seed = 1;
  for (int i = 0; i < length; i++) {
    seed = seed * 1664525 + 1013904223;
    int skew = __builtin_clz(seed | 1);
    text[i] = (uint8_t)('a' + skew + (seed >> 5 & 3));
  }
  for (int i = 0; i < length; i++)
    weight[text[i]]++;
  int next = 256, alive = 0;
  for (int i = 0; i < 256; i++)
    alive += weight[i] > 0;
  for (; alive > 1; alive--) {
    int first = -1, second = -1;
    for (int i = 0; i < next; i++) {
      if (!weight[i] || parent[i])
        continue;
      if (first < 0 || weight[i] < weight[first])
        second = first, first = i;
      else if (second < 0 || weight[i] < weight[second])
        second = i;
    }
    weight[next] = weight[first] + weight[second];
    parent[first] = parent[second] = next++;
  }
  int longest = 0;
  for (int i = 0; i < 256; i++) {
    if (!weight[i])
      continue;
    for (int p = i; parent[p]; p = parent[p])
      bits[i]++;
    if (bits[i] > longest)
      longest = bits[i];
  }
  unsigned value = 0;
  for (int n = 1; n <= longest; n++, value <<= 1)
    for (int i = 0; i < 256; i++)
      if (bits[i] == n)
        code[i] = (uint16_t)value++;
  uint64_t buffer = 0;
  int held = 0, size = 0;
  for (int i = 0; i < length; i++) {
    buffer = buffer << bits[text[i]] | code[text[i]];
    for (held += bits[text[i]]; held >= 8; held -= 8)
      packed[size++] = (uint8_t)(buffer >> (held - 8));
  }
  if (held)
    packed[size++] = (uint8_t)(buffer << (8 - held));
  int position = 0;
  for (int i = 0; i < length; i++) {
    unsigned seen = 0;
    for (int n = 1;; n++, position++) {
      seen = seen << 1 | (packed[position >> 3] >> (7 - (position & 7)) & 1);
      int symbol = 0;
      for (; symbol < 128; symbol++)
        if (bits[symbol] == n && code[symbol] == seen)
          break;
      if (symbol < 128) {
        back[i] = (uint8_t)symbol;
        position++;
        break;
      }
    }
    if (i > 400)
      break; // the slow way back, for a start of it
  }
  printf("%d -> %d bytes, %s\n", length, size, memcmp(text, back, 400) ? "different" : "same");
}
