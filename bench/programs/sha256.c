// SHA-256 of 64 KiB.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static uint32_t k[64], h[8];
static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }
static void constants(void) { // the fractional parts of cube and square roots of primes, by integer Newton steps
  int n = 0;
  for (int p = 2; n < 64; p++) {
    int prime = 1;
    for (int d = 2; d * d <= p; d++)
      prime &= p % d != 0;
    if (!prime)
      continue;
    unsigned __int128 low = 0, high = (unsigned __int128)8 << 32;
    while (high - low > 1) {
      unsigned __int128 middle = (low + high) / 2;
      if (middle * middle * middle <= (unsigned __int128)p << 96)
        low = middle;
      else
        high = middle;
    }
    k[n] = (uint32_t)low;
    if (n < 8) {
      low = 0, high = (unsigned __int128)8 << 32;
      while (high - low > 1) {
        unsigned __int128 middle = (low + high) / 2;
        if (middle * middle <= (unsigned __int128)p << 64)
          low = middle;
        else
          high = middle;
      }
      h[n] = (uint32_t)low;
    }
    n++;
  }
}
static void block(const uint8_t *p) {
  uint32_t w[64], s[8];
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
  }
  memcpy(s, h, sizeof s);
  for (int i = 0; i < 64; i++) {
    uint32_t t = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
    uint32_t u = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += t;
    s[0] = t + u;
  }
  for (int i = 0; i < 8; i++)
    h[i] += s[i];
}
int main(void) {
  static uint8_t data[65536 + 64];
  for (int i = 0; i < 65536; i++)
    data[i] = (uint8_t)(i ^ i >> 7);
  data[65536] = 0x80;
  data[65536 + 61] = 0x08; // the length in bits: 0x80000
  constants();
  for (int i = 0; i < 65536 + 64; i += 64)
    block(data + i);
  for (int i = 0; i < 8; i++)
    printf("%08x", h[i]);
  printf("\n");
}
