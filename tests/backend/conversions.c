// 16-bit floats link and round alike whichever compiler made the object: stock objects call what libgcc lacks, ours have instructions.
// RUN: dougong-cc -O0 %s -o %t0.elf && dougong sim %t0.elf | FileCheck %s
// RUN: dougong-cc -O2 %s -o %t2.elf && dougong sim %t2.elf | FileCheck %s
// RUN: clang @%S/inputs/stock.txt -O0 -c %s -o %t0.o && dougong-cc %t0.o -o %t0.elf && dougong sim %t0.elf | FileCheck %s
// RUN: clang @%S/inputs/stock.txt -O2 -c %s -o %t2.o && dougong-cc %t2.o -o %t2.elf && dougong sim %t2.elf | FileCheck %s
// RUN: llvm-nm %t0.o | FileCheck %s --check-prefix=CALLS
// CALLS-DAG: U __extendhfsf2
// CALLS-DAG: U __truncdfbf2
// CALLS-DAG: U __truncdfhf2
// CALLS-DAG: U __truncsfbf2
// CALLS-DAG: U __truncsfhf2
// CALLS-DAG: U __trunctfbf2
// CALLS-DAG: U __trunctfhf2
#include <stdio.h>
#include <string.h>

static unsigned half_bits(_Float16 x) {
  unsigned short bits;
  memcpy(&bits, &x, 2);
  return bits;
}
static unsigned brain_bits(__bf16 x) {
  unsigned short bits;
  memcpy(&bits, &x, 2);
  return bits;
}
// 1 + 2^-11 lies halfway between two f16, 1 + 2^-8 between two bf16; the least f16 is 2^-24.
static volatile float singles[] = {1.0f,      0x1.002p0f, 0x1.002002p0f, 0x1.01p0f,  0x1.010002p0f,
                                   65519.99f, 65520.0f,   0x1p-25f,      0x1.8p-25f, -__builtin_inff()};
static volatile double doubles[] = {0x1.002p0, 0x1.0020000001p0, 0x1.0100000001p0,   0x1.00fffffff8p0, 65519.99999,
                                    1e300,     0x1p-25,          0x1.0000000001p-25, -0x1p-200};
static volatile long double quads[] = {
    0x1.002p0L, 0x1.002p0L + 0x1p-100L, 0x1.002p0L - 0x1p-100L, -0x1.01p0L - 0x1p-110L, 1e4000L, 0x1p-25L, 0x1p-25L + 0x1p-130L, -1.5L};
#define COUNT(a) (sizeof(a) / sizeof *(a))

int main(void) {
  // CHECK: 3c00:3f80 3c00:3f80 3c01:3f80 3c04:3f80 3c04:3f81 7bff:4780 7c00:4780 0000:3300 0001:3340 fc00:ff80
  for (unsigned i = 0; i < COUNT(singles); ++i)
    printf("%04x:%04x ", half_bits((_Float16)singles[i]), brain_bits((__bf16)singles[i]));
  // CHECK-NEXT: 3c00:3f80 3c01:3f80 3c04:3f81 3c04:3f80 7bff:4780 7c00:7f80 0000:3300 0001:3300 8000:8000
  puts("");
  for (unsigned i = 0; i < COUNT(doubles); ++i)
    printf("%04x:%04x ", half_bits((_Float16)doubles[i]), brain_bits((__bf16)doubles[i]));
  // CHECK-NEXT: 3c00:3f80 3c01:3f80 3c00:3f80 bc04:bf81 7c00:7f80 0000:3300 0001:3300 be00:bfc0
  puts("");
  for (unsigned i = 0; i < COUNT(quads); ++i)
    printf("%04x:%04x ", half_bits((_Float16)quads[i]), brain_bits((__bf16)quads[i]));
  // CHECK-NEXT: 1 1 1 1.0029296875
  puts("");
  _Float16 h = (_Float16)singles[3];
  __bf16 b = (__bf16)singles[4];
  _Float16 tiny = (_Float16)doubles[7];
  h += tiny; // rounds back
  printf("%d %d %d ", (float)h == 0x1.01p0f, (long double)h == 0x1.01p0L, (float)b == 0x1.02p0f);
  printf("%.10f\n", (double)(h * (_Float16)0x1.ffcp-1)); // 0x1.00dfep0, between 0x1.00cp0 and 0x1.010p0
  return 0;
}
