// What code generation is generated from: the instruction records of isa/, and what only the compiler knows.
include "Dougong.td"
include "DougongPseudos.td"
include "DougongScalarPatterns.td"
include "DougongVectorPatterns.td"

// lp64: what a call preserves. No vector or mask register is among them.
def CSR_LP64 : CalleeSavedRegs<(add X1, X8, X9, (sequence "X%u", 18, 27))>;
