// Sines, powers and remainders of vectors of f32, in vector code: DougongVectorMathematics.cpp.
#pragma once
#include "llvm/IR/IRBuilder.h"

namespace llvm {

// sin, cos or tan of <32 x float>, of any size: within 1.5 ulp (tan: 3.5).
Value *vectorSine(IRBuilder<> &B, Intrinsic::ID Which, Value *X);

// X to the power of Y, of <N x float>, within 1 ulp.
Value *vectorPower(IRBuilder<> &B, Value *X, Value *Y);

// fmod(X, Y) of <N x float>, exact; ends the block in front of `Before`.
Value *vectorRemainder(Instruction &Before, Value *X, Value *Y);

} // namespace llvm
