// Vectors of lanes of 8 and 16 bits, whole registers of them: <64 x i16>, <64 x half>, <64 x bfloat>, <128 x i8>, and 2, 4, … times as many
// lanes.
//
// Such a value is wide, several registers of 32 lanes of 32 bits each, or packed, one register (its carrier, a <32 x i32>) for 64 or 128
// lanes. Selection knows only the wide form (DougongVectorLowering.cpp); the pass in DougongPackedLanes.cpp rewrites what is cheaper packed
// into calls of single instructions:
//
//   %x = add <64 x i16> %a, %b        %x = call <32 x i32> @__dg_op.VADD_I16(<32 x i32> %a, <32 x i32> %b)
#pragma once
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/CodeGen/TargetLowering.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include <optional>

namespace llvm::packed {

// A function of this name and a record's is that instruction, without side effects; what follows another dot only tells functions of
// different types apart.
constexpr StringLiteral CallPrefix = "__dg_op.";
Value *callInstruction(IRBuilderBase &B, StringRef Record, ArrayRef<Value *> Operands, Type *Result);

// Lanes of `Width` bits, 8 or 16, in so many registers.
struct Shape {
  unsigned Width, Registers;
  unsigned lanes() const { return 1024 / Width * Registers; }
  unsigned wide() const { return lanes() / 32; } // registers of the wide form
  bool operator==(const Shape &) const = default;
};
std::optional<Shape> shapeOf(const Type *T);

// The record that does what `I` says of operands and result of one shape, or 0.
unsigned recordOf(const Instruction &I);

// A comparison of packed lanes: `Record` on the operands, exchanged if `Swap`; if `Either`, also on the operands exchanged, and the masks
// are united; if `Negate`, the mask then tells the lanes for which the predicate is false.
struct Comparison {
  unsigned Record;
  bool Swap, Either, Negate;
};
std::optional<Comparison> comparisonOf(const CmpInst &I);

// One register of a shuffle's result, from one or two registers of its operands (those of the first operand come first). Without a first it
// is poison. With a record it is that of both and `Immediate`; else with lanes, lane i is lane Lanes[i] of the first followed by the
// second; else it is the first.
struct RegisterShuffle {
  int First = -1, Second = -1;
  unsigned Record = 0, Immediate = 0;
  SmallVector<int, 128> Lanes;
  unsigned instructions() const { return Record || (!Lanes.empty() && Second < 0) ? 1 : Lanes.empty() ? 0 : 4; }
};
// Empty if a register of the result needs more than two.
SmallVector<RegisterShuffle, 4> registersOf(const ShuffleVectorInst &I);

// Several instructions that one record is, of operands of the shape of the last one's result. `Inside` are the others, users first.
struct Fusion {
  unsigned Record = 0;
  SmallVector<Value *, 2> Operands;
  SmallVector<Instruction *, 6> Inside;
};
std::optional<Fusion> fusionOf(const Instruction &I);

// The instructions of a function to be packed, whole webs, and what they are that are fused with others (DougongPackedWebs.cpp).
struct Choice {
  SmallSetVector<Instruction *, 32> Packed;
  DenseMap<const Instruction *, Fusion> Fusions;
};
Choice choosePacked(Function &F);

inline bool isMask(const Value *V) { return V->getType()->isVectorTy() && V->getType()->getScalarType()->isIntegerTy(1); }
// The complement of a mask.
inline bool isNot(const Instruction &I) {
  return I.getOpcode() == Instruction::Xor && isa<Constant>(I.getOperand(1)) && cast<Constant>(I.getOperand(1))->isAllOnesValue();
}
// The scalar that a shuffle copies to all lanes, if it is of that kind.
inline Value *splatScalar(const Instruction &I) { return isa<ShuffleVectorInst>(I) ? getSplatValue(&I) : nullptr; }
// What a call of `CallPrefix` becomes: the operands, in the order of the record, are registers or constants. Without a value, `Why` says
// what is wrong with the call.
SDValue lowerCall(StringRef Name, TargetLowering::CallLoweringInfo &CLI, std::string &Why);

} // namespace llvm::packed
