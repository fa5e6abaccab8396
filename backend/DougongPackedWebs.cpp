// What of a function is packed. See DougongPackedLanes.h.
//
// Values connected by operations that have packed instructions form a web, which is packed as a whole or not at all: its value to the
// program is what its operations save, less what changes form at its border, each weighed by the depth of its loop.
#include "DougongPackedLanes.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace llvm::packed;

namespace {

class Webs {
public:
  explicit Webs(Function &F) : F(F), Tree(F), Loops(Tree) {}
  Choice packed();

private:
  Function &F;
  DominatorTree Tree;
  LoopInfo Loops;
  SmallSetVector<Instruction *, 32> Candidates;
  DenseMap<Value *, unsigned> MaskWidth; // masks that packed compares and what joins them write: the lanes they tell of
  DenseMap<const Instruction *, Fusion> Fusions;
  DenseSet<const User *> Absorbed; // what goes when the fusion that it is inside of is made
  EquivalenceClasses<Value *> Sets;

  bool canPack(Instruction &I);
  bool readsMasks(const Instruction &I) const;
  void dropUnmatchedMasks();
  void findFusions();
  SmallVector<Value *, 4> carriedOperands(const Instruction &I) const;
  int64_t weight(const Instruction &I) const;
  int64_t saved(const Instruction &I) const;
  void choose();
};

//===-- Candidates -------------------------------------------------------------------------------------------------===//

bool Webs::readsMasks(const Instruction &I) const {
  return any_of(I.operands(), [](const Use &U) { return isMask(U.get()); });
}

bool Webs::canPack(Instruction &I) {
  std::optional<Shape> S = shapeOf(I.getType());
  auto Same = [&](unsigned Operand) { return shapeOf(I.getOperand(Operand)->getType()) == S; };
  switch (I.getOpcode()) {
  case Instruction::Load:
  case Instruction::Store: {
    Type *T = getLoadStoreType(&I);
    std::optional<Shape> Accessed = shapeOf(T);
    return Accessed && !I.isVolatile() && !I.isAtomic() && getLoadStoreAlignment(&I).value() * 8 >= Accessed->Width;
  }
  case Instruction::PHI:
  case Instruction::Freeze:
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::Select:
    return S || (isMask(&I) && I.isBitwiseLogicOp());
  case Instruction::ICmp:
  case Instruction::FCmp:
    return shapeOf(I.getOperand(0)->getType()) && comparisonOf(cast<CmpInst>(I));
  case Instruction::SExt:
  case Instruction::ZExt:
    if (S && isMask(I.getOperand(0)))
      return true;
    [[fallthrough]];
  case Instruction::Trunc: {
    std::optional<Shape> From = shapeOf(I.getOperand(0)->getType());
    if (S && From)
      return true; // between bytes and halves
    return (S || From) && (From ? &I : I.getOperand(0))->getType()->getScalarType()->isIntegerTy(32);
  }
  case Instruction::FPExt:
  case Instruction::FPTrunc:
  case Instruction::SIToFP:
  case Instruction::UIToFP: {
    bool From = shapeOf(I.getOperand(0)->getType()).has_value(); // SIToFP, UIToFP: to packed floats they are not packed
    if (I.getOpcode() == Instruction::FPTrunc)
      return S && I.getOperand(0)->getType()->getScalarType()->isFloatTy();
    return From && I.getType()->getScalarType()->isFloatTy();
  }
  case Instruction::BitCast: // bits stay what they are, NaNs' too
    return isMask(I.getOperand(0)) ? I.getType()->isIntegerTy() : S || shapeOf(I.getOperand(0)->getType());
  case Instruction::ExtractElement:
  case Instruction::InsertElement: {
    std::optional<Shape> Vector = shapeOf(I.getOperand(0)->getType());
    return Vector && (Vector->Registers == 1 || isa<ConstantInt>(I.getOperand(I.getNumOperands() - 1)));
  }
  case Instruction::ShuffleVector:
    return S && (splatScalar(I) || (shapeOf(I.getOperand(0)->getType()) && !registersOf(cast<ShuffleVectorInst>(I)).empty()));
  default:
    return recordOf(I) && Same(0);
  }
}

// A mask is packed if all that reads it is, and what reads masks if they are, of lanes of its own width.
void Webs::dropUnmatchedMasks() {
  for (Instruction *I : Candidates)
    if (auto *Compare = dyn_cast<CmpInst>(I))
      MaskWidth[I] = shapeOf(Compare->getOperand(0)->getType())->Width;
  auto WidthOf = [&](Value *V) { return MaskWidth.lookup(V); };
  bool Changed = true;
  while (Changed) {
    Changed = false;
    for (Instruction *I : Candidates) {
      if (!isMask(I) || isa<CmpInst, BitCastInst>(I))
        continue;
      unsigned Width = WidthOf(I->getOperand(0));
      if (!isNot(*I) && WidthOf(I->getOperand(1)) != Width)
        Width = 0;
      Changed |= Width != WidthOf(I);
      MaskWidth[I] = Width;
    }
    SmallVector<Instruction *> Dropped;
    for (Instruction *I : Candidates) {
      bool Drop = isMask(I) && !isa<BitCastInst>(I) &&
                  (!WidthOf(I) || any_of(I->users(), [&](User *U) { return !Candidates.contains(cast<Instruction>(U)); }));
      if (std::optional<Shape> S = shapeOf(I->getType()); S && readsMasks(*I))
        Drop |= WidthOf(I->getOperand(0)) != S->Width;
      else if (isa<BitCastInst>(I) && isMask(I->getOperand(0)))
        Drop |= !WidthOf(I->getOperand(0));
      if (Drop)
        Dropped.push_back(I);
    }
    for (Instruction *I : Dropped) {
      Candidates.remove(I);
      MaskWidth.erase(I);
      Changed = true;
    }
  }
}

void Webs::findFusions() {
  for (Instruction &I : instructions(F)) {
    std::optional<Fusion> Found = fusionOf(I);
    if (!Found)
      continue;
    DenseSet<const User *> Within = {&I};
    for (Instruction *Inner : Found->Inside)
      if (all_of(Inner->users(), [&](User *U) { return Within.contains(U); })) {
        Within.insert(Inner);
        Absorbed.insert(Inner);
      }
    Fusions[&I] = std::move(*Found);
  }
}

//===-- Webs -------------------------------------------------------------------------------------------------------===//

// The operands that a candidate takes as carriers, without constants.
SmallVector<Value *, 4> Webs::carriedOperands(const Instruction &I) const {
  SmallVector<Value *, 4> Operands;
  if (splatScalar(I))
    return Operands;
  auto Fused = Fusions.find(&I);
  SmallVector<Value *, 4> All(I.op_begin(), I.op_end());
  if (Fused != Fusions.end())
    All.assign(Fused->second.Operands.begin(), Fused->second.Operands.end());
  for (Value *Operand : All)
    if (!isa<Constant>(Operand) && (shapeOf(Operand->getType()) || isMask(Operand)))
      Operands.push_back(Operand);
  return Operands;
}

int64_t Webs::weight(const Instruction &I) const { return int64_t(1) << 3 * std::min(Loops.getLoopDepth(I.getParent()), 5u); }

// Instructions of the wide form less those of the packed one.
int64_t Webs::saved(const Instruction &I) const {
  Type *T = isa<StoreInst>(I) || isa<CmpInst>(I) ? I.getOperand(0)->getType() : I.getType();
  std::optional<Shape> S = shapeOf(T), From = isa<CastInst>(I) ? shapeOf(I.getOperand(0)->getType()) : std::nullopt;
  int64_t Registers = S ? S->Registers : 0, Wide = S ? S->wide() : From ? From->wide() : 0;
  // The wide form extends as it loads and truncates as it stores.
  bool Loads = isa<CastInst>(I) && isa<LoadInst>(I.getOperand(0)) && I.getOperand(0)->hasOneUse();
  if (Fusions.contains(&I)) // the operation and the shift, and most often an extension
    return 3 * Wide - Registers;
  switch (I.getOpcode()) {
  case Instruction::PHI:
  case Instruction::Freeze:
  case Instruction::ExtractElement:
  case Instruction::InsertElement:
    return 0;
  case Instruction::BitCast: // most go through the stack
    return 4;
  case Instruction::ShuffleVector: {
    if (splatScalar(I))
      return 0;
    int64_t Saved = 0;
    for (const RegisterShuffle &R : registersOf(cast<ShuffleVectorInst>(I)))
      Saved += R.instructions() ? 3 * Wide / Registers - R.instructions() : 0;
    return Saved;
  }
  case Instruction::SExt:
    if (isMask(I.getOperand(0)))
      break;
    return (Loads ? 0 : 2 * Wide) - (S ? Registers + Registers / 2 : Wide);
  case Instruction::ZExt:
    if (isMask(I.getOperand(0)))
      break;
    return (Loads ? 0 : Wide) - (S ? Registers : Wide);
  case Instruction::SIToFP:
    return Loads ? -Wide : Wide;
  case Instruction::UIToFP:
    return Loads ? -Wide : 0;
  case Instruction::FPExt:
    return -Wide;
  case Instruction::Trunc:
    return -(S->Width == 8 && !From ? 3 * Registers : Registers);
  case Instruction::FPTrunc:
    return (I.hasOneUse() && isa<StoreInst>(*I.user_begin()) ? 0 : Wide) - Registers;
  }
  return S ? Wide - Registers : 1;
}

void Webs::choose() {
  for (Instruction *I : Candidates) {
    Sets.insert(I);
    for (Value *Operand : carriedOperands(*I))
      Sets.unionSets(I, Operand);
  }
  DenseMap<Value *, int64_t> Gain;
  SmallSetVector<Value *, 16> Seen;
  DenseSet<Value *> Refused;
  auto Border = [&](Value *V) { // V, of a shape, where it is defined
    Shape S = *shapeOf(V->getType());
    auto *Def = dyn_cast<Instruction>(V);
    int64_t Often = Def ? weight(*Def) : 1;
    Value *Web = Sets.getLeaderValue(V);
    if (!Def || !Candidates.contains(Def)) {
      Gain[Web] -= Often * S.Registers * (S.Width == 8 ? 3 : 1);
      if (Def && !Def->getInsertionPointAfterDef())
        Refused.insert(Web);
    } else if (any_of(V->users(), [&](User *U) { return !Candidates.contains(cast<Instruction>(U)) && !Absorbed.contains(U); })) {
      Gain[Web] -= Often * S.wide();
    }
  };
  for (Instruction *I : Candidates) {
    Gain[Sets.getLeaderValue(I)] += saved(*I) * weight(*I);
    if (shapeOf(I->getType()))
      Border(I);
    for (Value *Operand : carriedOperands(*I))
      if (!isMask(Operand) && !(isa<Instruction>(Operand) && Candidates.contains(cast<Instruction>(Operand))) && Seen.insert(Operand))
        Border(Operand);
  }
  Candidates.remove_if([&](Instruction *I) {
    Value *Web = Sets.getLeaderValue(I);
    return Gain.lookup(Web) <= 0 || Refused.contains(Web);
  });
}

Choice Webs::packed() {
  findFusions();
  for (Instruction &I : instructions(F))
    if (Tree.isReachableFromEntry(I.getParent()) && !Absorbed.contains(&I) && (Fusions.contains(&I) || canPack(I)))
      Candidates.insert(&I);
  dropUnmatchedMasks();
  choose();
  return {std::move(Candidates), std::move(Fusions)};
}

} // namespace

Choice packed::choosePacked(Function &F) { return Webs(F).packed(); }
