// Bit tricks: population counts, reversals, Gray codes, parity, Morton order, leading zeros, rotations, in 8 to 64 bits.
#include <stdint.h>
#include <stdio.h>
static uint32_t reverse(uint32_t x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}
static uint64_t spread(uint32_t x) {
  uint64_t v = x;
  v = (v | v << 16) & 0x0000ffff0000ffff;
  v = (v | v << 8) & 0x00ff00ff00ff00ff;
  v = (v | v << 4) & 0x0f0f0f0f0f0f0f0f;
  v = (v | v << 2) & 0x3333333333333333;
  return (v | v << 1) & 0x5555555555555555;
}
int main(void) {
  uint64_t mix = 0;
  uint32_t x = 12345;
  for (int i = 0; i < 20000; i++) {
    x = x * 1103515245 + 12345;
    uint16_t half = (uint16_t)(x >> 8);
    uint8_t byte = (uint8_t)(x >> 13);
    mix += reverse(x) ^ spread(x ^ (x >> 1));
    mix = mix << 7 | mix >> 57;
    mix ^= (uint64_t)__builtin_popcount(x) << 40 | (uint64_t)__builtin_clz(x | 1) << 20 | __builtin_ctzll(mix | 1ull << 60);
    mix += (uint16_t)(half << 3 | half >> 13) - (uint8_t)(byte * 5) + (int8_t)byte + (int16_t)half;
    if (__builtin_parity(x))
      mix ^= ~(uint64_t)x & 0xff00ff;
    mix += x & 4 ? 17 : 5;
    mix -= (int32_t)x < 0 ? 1 : 0;
  }
  printf("%016llx\n", (unsigned long long)mix);
}
