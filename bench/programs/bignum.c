// Long integers in 32- and 64-bit limbs: 2000 digits of e, and a factorial's digit sum.
#include <stdint.h>
#include <stdio.h>
enum { limbs = 220 };
static uint32_t term[limbs], sum[limbs];
static uint64_t product[64];
int main(void) {
  term[0] = sum[0] = 1;
  for (uint32_t n = 1; n < 400; n++) {
    uint64_t rest = 0;
    for (int i = 0; i < limbs; i++) {
      rest = rest << 32 | term[i];
      term[i] = (uint32_t)(rest / n);
      rest %= n;
    }
    uint64_t carry = 0;
    for (int i = limbs - 1; i >= 0; i--) {
      carry += (uint64_t)sum[i] + term[i];
      sum[i] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  unsigned digits = 0;
  for (int k = 0; k < 300; k++) {
    sum[0] = 0;
    uint64_t carry = 0;
    for (int i = limbs - 1; i >= 0; i--) {
      carry += (uint64_t)sum[i] * 10;
      sum[i] = (uint32_t)carry;
      carry >>= 32;
    }
    digits = digits * 31 + sum[0];
  }
  product[0] = 1;
  for (uint64_t n = 2; n < 450; n++) {
    unsigned __int128 carry = 0;
    for (int i = 0; i < 64; i++) {
      carry += (unsigned __int128)product[i] * n;
      product[i] = (uint64_t)carry;
      carry >>= 64;
    }
  }
  uint64_t mix = 0;
  for (int i = 0; i < 64; i++)
    mix = mix * 1099511628211ull ^ product[i];
  printf("%u %016llx\n", digits, (unsigned long long)mix);
}
