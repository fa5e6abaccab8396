// CRC-32 by table and bit by bit.
#include <stdint.h>
#include <stdio.h>
static uint32_t table[256];
int main(void) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++)
      c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  static uint8_t data[100000];
  for (int i = 0; i < 100000; i++)
    data[i] = (uint8_t)(i * 7 + (i >> 8));
  uint32_t c = ~0u;
  for (int pass = 0; pass < 5; pass++)
    for (int i = 0; i < 100000; i++)
      c = table[(c ^ data[i]) & 255] ^ (c >> 8);
  printf("%08x\n", ~c);
}
