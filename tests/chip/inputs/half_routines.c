// The two routines that the stock backend calls for _Float16 and libgcc for this base lacks, in our instructions.
float __extendhfsf2(unsigned short bits) { return (float)__builtin_bit_cast(_Float16, bits); }
unsigned short __truncsfhf2(float value) { return __builtin_bit_cast(unsigned short, (_Float16)value); }
