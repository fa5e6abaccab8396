// What C says in wider lanes and one packed instruction does. See DougongPackedLanes.h.
//
//   trunc((ext(a) + ext(b) + 1) >> 1)    the average: vavg
//   trunc((ext(a) * ext(b)) >> 16)       the high half of a product: vmulh
//
// Both extend by sign, or both by zeros; one may be a constant. The width in between does not matter: nothing is lost in it.
#include "DougongPackedLanes.h"
#include "DougongSubtarget.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::packed;
using namespace llvm::PatternMatch;

// What `Wide`, an extension or a constant, is in lanes of type `T`; null if it is no such.
static Value *narrowed(Value *Wide, bool Signed, Type *T, const DataLayout &Layout) {
  Value *Narrow = nullptr;
  if (Signed ? match(Wide, m_SExt(m_Value(Narrow))) : match(Wide, m_ZExt(m_Value(Narrow))))
    return Narrow->getType() == T ? Narrow : nullptr;
  auto *C = dyn_cast<Constant>(Wide);
  Constant *Cut = C ? ConstantFoldCastOperand(Instruction::Trunc, C, T, Layout) : nullptr;
  Constant *Again = Cut ? ConstantFoldCastOperand(Signed ? Instruction::SExt : Instruction::ZExt, Cut, C->getType(), Layout) : nullptr;
  return Again == C ? Cut : nullptr;
}

std::optional<Fusion> packed::fusionOf(const Instruction &I) {
  std::optional<Shape> S = shapeOf(I.getType());
  const APInt *Distance;
  Value *Shifted;
  if (!S || I.getOpcode() != Instruction::Trunc || I.getOperand(0)->getType()->getScalarSizeInBits() < 2 * S->Width ||
      !match(I.getOperand(0), m_Shr(m_Value(Shifted), m_APInt(Distance))))
    return std::nullopt;
  bool Bytes = S->Width == 8;
  Value *X, *Y, *Z;
  Fusion Found;
  Found.Inside = {cast<Instruction>(I.getOperand(0)), dyn_cast<Instruction>(Shifted)};
  bool High = *Distance == 16 && !Bytes && match(Shifted, m_Mul(m_Value(X), m_Value(Y)));
  if (!High) {
    if (*Distance != 1 || !match(Shifted, m_c_Add(m_Add(m_Value(X), m_Value(Y)), m_Value(Z))))
      return std::nullopt;
    for (Value *Inner : cast<Instruction>(Shifted)->operands())
      if (match(Inner, m_Add(m_Specific(X), m_Specific(Y))))
        Found.Inside.push_back(cast<Instruction>(Inner));
    if (match(X, m_One()))
      std::swap(X, Z);
    else if (match(Y, m_One()))
      std::swap(Y, Z);
    if (!match(Z, m_One()))
      return std::nullopt;
  }
  for (bool Signed : {false, true}) {
    Value *A = narrowed(X, Signed, I.getType(), I.getDataLayout()), *B = narrowed(Y, Signed, I.getType(), I.getDataLayout());
    if (!A || !B || (isa<Constant>(A) && isa<Constant>(B)))
      continue;
    Found.Record = High    ? (Signed ? Dougong::VMULH_I16 : Dougong::VMULH_U16)
                   : Bytes ? (Signed ? Dougong::VAVG_I8 : Dougong::VAVG_U8)
                           : (Signed ? Dougong::VAVG_I16 : Dougong::VAVG_U16);
    Found.Operands = {A, B};
    for (Value *Extension : {X, Y})
      if (isa<Instruction>(Extension) && !is_contained(Found.Inside, Extension))
        Found.Inside.push_back(cast<Instruction>(Extension));
    return Found;
  }
  return std::nullopt;
}
