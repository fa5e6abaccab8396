// How a 64-bit constant is made: for the assembler's `li`, and for code generation.
#pragma once
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace llvm::DougongConstant {
// The instructions that make a constant: (opcode, immediate) pairs, each but the first applied to the result so far.
struct Step {
  unsigned Opcode;
  int64_t Immediate;
};
SmallVector<Step, 8> steps(int64_t Value);
} // namespace llvm::DougongConstant
