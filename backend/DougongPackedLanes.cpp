// Rewrites operations on whole registers of 8- and 16-bit lanes into packed instructions. See DougongPackedLanes.h.
//
//   %a = load <64 x i16>, ptr %p, align 2                  %a = load <32 x i32>, ptr %p, align 2
//   %m = icmp slt <64 x i16> %a, %b                        %m = call <32 x i1> @__dg_op.VCMPLT_I16(%a, %b)
//   %x = select <64 x i1> %m, <64 x i16> %a, %b            %x = call <32 x i32> @__dg_op.VSEL_16(%m, %a, %b)
//   %y = udiv <64 x i16> %x, %c                            %l = call <32 x i16> @__dg_op.VWIDEN_U16(%x, 0), %h = …(%x, 1); udiv of both,
//   wide
//
// Values connected by operations that have packed instructions form a web, which is packed as a whole or not at all: its value to the
// program is what its operations save, less what changes form at its border, each weighed by the depth of its loop. A <32 x i1> that a
// packed compare writes holds 64 or 128 lanes, of which LLVM knows 32: only calls read it, so that nothing folds by what it knows.
#include "DougongPackedLanes.h"
#include "DougongPasses.h"
#include "DougongSubtarget.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Pass.h"

using namespace llvm;
using namespace llvm::packed;

namespace {

using Pieces = SmallVector<Value *, 4>; // one carrier a register

class PackedLanes {
public:
  PackedLanes(Function &F, const TargetInstrInfo &TII)
      : F(F), TII(TII), Words(FixedVectorType::get(Type::getInt32Ty(F.getContext()), 32)), Tree(F), Loops(Tree) {}
  bool run();

private:
  Function &F;
  const TargetInstrInfo &TII;
  FixedVectorType *Words;
  DominatorTree Tree;
  LoopInfo Loops;

  SmallSetVector<Instruction *, 32> Candidates; // what can be packed; later, what is
  DenseMap<Value *, unsigned> MaskWidth;        // masks that packed compares and what joins them write: the lanes they tell of
  EquivalenceClasses<Value *> Webs;
  DenseMap<Value *, Pieces> Carriers;
  DenseSet<Value *> Negated; // masks whose carrier tells the other lanes

  // Which instructions are candidates.
  bool canPack(Instruction &I);
  bool readsMasks(const Instruction &I) const;
  void dropUnmatchedMasks();

  // Which webs pay.
  SmallVector<Value *, 4> carried(Instruction &I) const;
  int64_t weight(const Instruction &I) const;
  int64_t saved(const Instruction &I) const;
  void chooseWebs();

  // Rewriting.
  Value *call(IRBuilder<> &B, unsigned Record, ArrayRef<Value *> Operands, Type *Result = nullptr);
  Pieces &carriers(Value *V);
  Pieces constantCarriers(Constant *C, Shape S);
  Pieces pack(IRBuilder<> &B, Value *V, Shape S);
  Value *unpack(IRBuilder<> &B, ArrayRef<Value *> Carried, Type *T);
  void rewrite(Instruction &I);
  Pieces rewriteMask(IRBuilder<> &B, Instruction &I);
  Pieces rewriteMemory(IRBuilder<> &B, Instruction &I);
  Pieces rewriteLane(IRBuilder<> &B, Instruction &I);
  void finish();
};

bool isMask(const Value *V) { return V->getType()->isVectorTy() && V->getType()->getScalarType()->isIntegerTy(1); }
bool isNot(const Instruction &I) {
  return I.getOpcode() == Instruction::Xor && isa<Constant>(I.getOperand(1)) && cast<Constant>(I.getOperand(1))->isAllOnesValue();
}

// A vector of one scalar: what splats it.
Value *splatScalar(const Instruction &I) { return isa<ShuffleVectorInst>(I) ? getSplatValue(&I) : nullptr; }

//===-- Candidates -------------------------------------------------------------------------------------------------===//

bool PackedLanes::readsMasks(const Instruction &I) const {
  return any_of(I.operands(), [](const Use &U) { return isMask(U.get()); });
}

bool PackedLanes::canPack(Instruction &I) {
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
    return S && isMask(I.getOperand(0));
  case Instruction::BitCast: {
    auto *From = dyn_cast<FixedVectorType>(I.getOperand(0)->getType());
    if (!From || !isa<FixedVectorType>(I.getType()))
      return false;
    std::optional<Shape> Source = shapeOf(From);
    return (S && Source) || (S && S->Registers == 1 && !isMask(I.getOperand(0))) || (Source && Source->Registers == 1 && !isMask(&I));
  }
  case Instruction::ExtractElement:
  case Instruction::InsertElement: {
    std::optional<Shape> Vector = shapeOf(I.getOperand(0)->getType());
    return Vector && (Vector->Registers == 1 || isa<ConstantInt>(I.getOperand(I.getNumOperands() - 1)));
  }
  case Instruction::ShuffleVector:
    return S && splatScalar(I);
  default:
    return recordOf(I) && Same(0);
  }
}

// A mask is packed if all that reads it is, and what reads masks if they are, of lanes of its own width.
void PackedLanes::dropUnmatchedMasks() {
  for (Instruction *I : Candidates)
    if (auto *Compare = dyn_cast<CmpInst>(I))
      MaskWidth[I] = shapeOf(Compare->getOperand(0)->getType())->Width;
  auto WidthOf = [&](Value *V) { return MaskWidth.lookup(V); };
  bool Changed = true;
  while (Changed) {
    Changed = false;
    for (Instruction *I : Candidates) {
      if (!isMask(I) || isa<CmpInst>(I))
        continue;
      unsigned Width = WidthOf(I->getOperand(0));
      if (!isNot(*I) && WidthOf(I->getOperand(1)) != Width)
        Width = 0;
      Changed |= Width != WidthOf(I);
      MaskWidth[I] = Width;
    }
    SmallVector<Instruction *> Dropped;
    for (Instruction *I : Candidates) {
      bool Drop = isMask(I) && (!WidthOf(I) || any_of(I->users(), [&](User *U) { return !Candidates.contains(cast<Instruction>(U)); }));
      if (std::optional<Shape> S = shapeOf(I->getType()); S && readsMasks(*I))
        Drop |= WidthOf(I->getOperand(0)) != S->Width;
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

//===-- Webs -------------------------------------------------------------------------------------------------------===//

// The operands that a candidate takes as carriers, without constants.
SmallVector<Value *, 4> PackedLanes::carried(Instruction &I) const {
  SmallVector<Value *, 4> Operands;
  if (splatScalar(I))
    return Operands;
  for (Value *Operand : I.operands())
    if (!isa<Constant>(Operand) && (shapeOf(Operand->getType()) || isMask(Operand)))
      Operands.push_back(Operand);
  return Operands;
}

int64_t PackedLanes::weight(const Instruction &I) const { return int64_t(1) << 3 * std::min(Loops.getLoopDepth(I.getParent()), 5u); }

// Instructions of the wide form less those of the packed one.
int64_t PackedLanes::saved(const Instruction &I) const {
  Type *T = isa<StoreInst>(I) || isa<CmpInst>(I) ? I.getOperand(0)->getType() : I.getType();
  std::optional<Shape> S = shapeOf(T);
  switch (I.getOpcode()) {
  case Instruction::PHI:
  case Instruction::Freeze:
  case Instruction::ShuffleVector:
  case Instruction::ExtractElement:
  case Instruction::InsertElement:
    return 0;
  case Instruction::BitCast: // most go through the stack
    return 4;
  default:
    return S ? int64_t(S->wide()) - S->Registers : 1;
  }
}

void PackedLanes::chooseWebs() {
  for (Instruction *I : Candidates) {
    Webs.insert(I);
    for (Value *Operand : carried(*I))
      Webs.unionSets(I, Operand);
  }
  DenseMap<Value *, int64_t> Gain;
  SmallSetVector<Value *, 16> Seen;
  DenseSet<Value *> Refused;
  auto Border = [&](Value *V) { // V, of a shape, where it is defined
    Shape S = *shapeOf(V->getType());
    auto *Def = dyn_cast<Instruction>(V);
    int64_t Often = Def ? weight(*Def) : 1;
    Value *Web = Webs.getLeaderValue(V);
    if (!Def || !Candidates.contains(Def)) {
      Gain[Web] -= Often * S.Registers * (S.Width == 8 ? 3 : 1);
      if (Def && !Def->getInsertionPointAfterDef())
        Refused.insert(Web);
    } else if (any_of(V->users(), [&](User *U) { return !Candidates.contains(cast<Instruction>(U)); })) {
      Gain[Web] -= Often * S.wide();
    }
  };
  for (Instruction *I : Candidates) {
    Gain[Webs.getLeaderValue(I)] += saved(*I) * weight(*I);
    if (shapeOf(I->getType()))
      Border(I);
    for (Value *Operand : carried(*I))
      if (!isMask(Operand) && !(isa<Instruction>(Operand) && Candidates.contains(cast<Instruction>(Operand))) && Seen.insert(Operand))
        Border(Operand);
  }
  Candidates.remove_if([&](Instruction *I) {
    Value *Web = Webs.getLeaderValue(I);
    return Gain.lookup(Web) <= 0 || Refused.contains(Web);
  });
}

//===-- Rewriting --------------------------------------------------------------------------------------------------===//

Value *PackedLanes::call(IRBuilder<> &B, unsigned Record, ArrayRef<Value *> Operands, Type *Result) {
  if (!Result)
    Result = Words;
  SmallVector<Type *, 4> Types;
  for (Value *Operand : Operands)
    Types.push_back(Operand->getType());
  std::string Name = (CallPrefix + TII.getName(Record)).str();
  auto *Signature = FunctionType::get(Result, Types, false);
  Module *M = F.getParent();
  for (unsigned Other = 1; M->getFunction(Name) && M->getFunction(Name)->getFunctionType() != Signature; ++Other)
    Name = (CallPrefix + TII.getName(Record) + "." + Twine(Other)).str();
  auto *Callee = cast<Function>(M->getOrInsertFunction(Name, Signature).getCallee());
  Callee->setDoesNotAccessMemory();
  Callee->setDoesNotThrow();
  Callee->setWillReturn();
  Callee->addFnAttr(Attribute::Speculatable);
  Callee->addFnAttr(Attribute::NoCallback);
  Callee->addFnAttr(Attribute::NoFree);
  Callee->addFnAttr(Attribute::NoSync);
  return B.CreateCall(Callee, Operands);
}

// Lanes `32 * Part` and the following, of a wide vector.
Value *part(IRBuilder<> &B, Value *V, unsigned Part) {
  return B.CreateExtractVector(FixedVectorType::get(V->getType()->getScalarType(), 32), V, uint64_t(32 * Part));
}
Value *concatenate(IRBuilder<> &B, ArrayRef<Value *> Parts) {
  SmallVector<Value *, 8> All(Parts);
  return concatenateVectors(B, All);
}

Pieces PackedLanes::pack(IRBuilder<> &B, Value *V, Shape S) {
  Type *Element = V->getType()->getScalarType();
  unsigned Record = Element->isHalfTy() ? Dougong::VPACK_F16 : Element->isBFloatTy() ? Dougong::VPACK_BF16 : Dougong::VPACK_I16;
  Pieces Halves;
  for (unsigned Part = 0; Part < S.wide(); Part += 2)
    Halves.push_back(call(B, Record, {part(B, V, Part), part(B, V, Part + 1)}));
  if (S.Width == 16)
    return Halves;
  Pieces Carried;
  for (unsigned I = 0; I < Halves.size(); I += 2)
    Carried.push_back(call(B, Dougong::VPACK_I8, {Halves[I], Halves[I + 1]}));
  return Carried;
}

Value *PackedLanes::unpack(IRBuilder<> &B, ArrayRef<Value *> Carried, Type *T) {
  Type *Element = T->getScalarType();
  unsigned Record = Element->isHalfTy()        ? Dougong::VWIDEN_F16
                    : Element->isBFloatTy()    ? Dougong::VWIDEN_BF16
                    : Element->isIntegerTy(16) ? Dougong::VWIDEN_U16
                                               : Dougong::VWIDEN_U8;
  SmallVector<Value *, 8> Parts;
  for (Value *Carrier : Carried)
    for (unsigned Part = 0; Part < shapeOf(T)->wide() / Carried.size(); ++Part)
      Parts.push_back(call(B, Record, {Carrier, B.getInt32(Part)}, FixedVectorType::get(Element, 32)));
  return concatenate(B, Parts);
}

// A constant's bits, 128 bytes a carrier. Empty if it is none that can be written down, such as a symbol's.
Pieces PackedLanes::constantCarriers(Constant *C, Shape S) {
  unsigned Lanes = 1024 / S.Width;
  Pieces Carried;
  if (isa<UndefValue>(C)) // poison too
    return Pieces(S.Registers, isa<PoisonValue>(C) ? PoisonValue::get(Words) : Constant::getNullValue(Words));
  for (unsigned Register = 0; Register < S.Registers; ++Register) {
    SmallVector<uint32_t, 32> Bits(32);
    for (unsigned Lane = 0; Lane < Lanes; ++Lane) {
      Constant *Element = C->getAggregateElement(Register * Lanes + Lane);
      APInt Value(S.Width, 0);
      if (auto *Integer = dyn_cast_or_null<ConstantInt>(Element))
        Value = Integer->getValue();
      else if (auto *Float = dyn_cast_or_null<ConstantFP>(Element))
        Value = Float->getValueAPF().bitcastToAPInt();
      else if (!isa_and_nonnull<UndefValue>(Element))
        return {};
      Bits[Lane * S.Width / 32] |= uint32_t(Value.getZExtValue()) << Lane * S.Width % 32;
    }
    Carried.push_back(ConstantDataVector::get(F.getContext(), Bits));
  }
  return Carried;
}

// A reference to be used before the next carrier is made.
Pieces &PackedLanes::carriers(Value *V) {
  if (auto Found = Carriers.find(V); Found != Carriers.end())
    return Found->second;
  Shape S = *shapeOf(V->getType());
  Pieces Carried;
  if (auto *C = dyn_cast<Constant>(V))
    Carried = constantCarriers(C, S);
  if (Carried.empty()) {
    auto *Def = dyn_cast<Instruction>(V);
    IRBuilder<> B(Def ? &**Def->getInsertionPointAfterDef() : &*F.getEntryBlock().getFirstInsertionPt());
    if (!Def || Def->getDebugLoc())
      B.SetCurrentDebugLocation(Def ? Def->getDebugLoc() : DebugLoc());
    Carried = pack(B, V, S);
  }
  return Carriers[V] = Carried;
}

// Compares, and what joins masks.
Pieces PackedLanes::rewriteMask(IRBuilder<> &B, Instruction &I) {
  Type *Mask = FixedVectorType::get(B.getInt1Ty(), 32);
  Pieces Results;
  if (auto *Compare = dyn_cast<CmpInst>(&I)) {
    Comparison How = *comparisonOf(*Compare);
    Pieces L = carriers(I.getOperand(0)), R = carriers(I.getOperand(1));
    if (How.Swap)
      std::swap(L, R);
    for (auto [A, C] : zip_equal(L, R)) {
      Value *M = call(B, How.Record, {A, C}, Mask);
      Results.push_back(How.Either ? call(B, Dougong::MOR, {M, call(B, How.Record, {C, A}, Mask)}, Mask) : M);
    }
    if (How.Negate)
      Negated.insert(&I);
    return Results;
  }
  Value *X = I.getOperand(0), *Y = I.getOperand(1);
  bool NotX = Negated.contains(X);
  if (isNot(I)) {
    if (!NotX)
      Negated.insert(&I);
    return Carriers.lookup(X);
  }
  bool NotY = Negated.contains(Y), Negate = NotX && NotY;
  bool And = I.getOpcode() == Instruction::And;
  unsigned Record = And ? Dougong::MAND : Dougong::MOR;
  if (I.getOpcode() == Instruction::Xor) {
    Record = Dougong::MXOR;
    Negate = NotX != NotY;
  } else if (NotX && NotY) { // !x & !y = !(x | y)
    Record = And ? Dougong::MOR : Dougong::MAND;
  } else if (NotX || NotY) {
    Record = And ? Dougong::MANDN : Dougong::MORN;
    if (NotX)
      std::swap(X, Y);
  }
  for (auto [A, C] : zip_equal(Carriers.lookup(X), Carriers.lookup(Y)))
    Results.push_back(call(B, Record, {A, C}, Mask));
  if (Negate)
    Negated.insert(&I);
  return Results;
}

Pieces PackedLanes::rewriteMemory(IRBuilder<> &B, Instruction &I) {
  Type *T = getLoadStoreType(&I);
  Value *Pointer = const_cast<Value *>(getLoadStorePointerOperand(&I));
  Align Alignment = getLoadStoreAlignment(&I);
  Pieces Values;
  if (auto *Store = dyn_cast<StoreInst>(&I))
    Values = carriers(Store->getValueOperand());
  for (unsigned Register = 0; Register < shapeOf(T)->Registers; ++Register) {
    Value *At = Register ? B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Pointer, 128 * Register) : Pointer;
    Align Here = commonAlignment(Alignment, 128 * Register);
    Instruction *Access = isa<LoadInst>(I) ? static_cast<Instruction *>(B.CreateAlignedLoad(Words, At, Here))
                                           : B.CreateAlignedStore(Values[Register], At, Here);
    Access->setAAMetadata(I.getAAMetadata());
    if (isa<LoadInst>(I))
      Values.push_back(Access);
  }
  return Values;
}

// Single lanes.
Pieces PackedLanes::rewriteLane(IRBuilder<> &B, Instruction &I) {
  Pieces Carried = carriers(I.getOperand(0));
  Type *Vector = I.getOperand(0)->getType(), *Element = Vector->getScalarType();
  Shape S = *shapeOf(Vector);
  unsigned Lanes = 1024 / S.Width, Register = 0;
  Value *Index = I.getOperand(I.getNumOperands() - 1);
  auto *Known = dyn_cast<ConstantInt>(Index);
  if (Known) {
    uint64_t Lane = Known->getValue().getLimitedValue(S.lanes() - 1); // beyond: poison
    Register = unsigned(Lane) / Lanes;
    Index = B.getInt32(unsigned(Lane) % Lanes);
  } else {
    Index = B.CreateZExtOrTrunc(Index, B.getInt64Ty());
  }
  bool Bytes = S.Width == 8;
  Type *Integer = B.getIntNTy(S.Width);
  if (isa<ExtractElementInst>(I)) {
    unsigned Record = Known   ? (Bytes ? Dougong::VEXTRACT_8_I : Dougong::VEXTRACT_16_I)
                      : Bytes ? Dougong::VEXTRACT_8_X
                              : Dougong::VEXTRACT_16_X;
    Value *Scalar = B.CreateTrunc(call(B, Record, {Carried[Register], Index}, B.getInt64Ty()), Integer);
    I.replaceAllUsesWith(B.CreateBitCast(Scalar, Element));
    return {};
  }
  unsigned Record = Known ? (Bytes ? Dougong::VINSERT_8_I : Dougong::VINSERT_16_I) : Bytes ? Dougong::VINSERT_8_X : Dougong::VINSERT_16_X;
  Value *Scalar = B.CreateZExt(B.CreateBitCast(I.getOperand(1), Integer), B.getInt64Ty());
  Carried[Register] = call(B, Record, {Carried[Register], Scalar, Index});
  return Carried;
}

void PackedLanes::rewrite(Instruction &I) {
  IRBuilder<> B(&I);
  std::optional<Shape> S = shapeOf(I.getType());
  Pieces Results;
  switch (I.getOpcode()) {
  case Instruction::Load:
  case Instruction::Store:
    Results = rewriteMemory(B, I);
    break;
  case Instruction::PHI: // the incoming values come last
    for (unsigned Register = 0; Register < S->Registers; ++Register)
      Results.push_back(B.CreatePHI(Words, I.getNumOperands()));
    break;
  case Instruction::ExtractElement:
  case Instruction::InsertElement:
    Results = rewriteLane(B, I);
    break;
  case Instruction::ShuffleVector: {
    Value *Scalar = splatScalar(I);
    Scalar = B.CreateZExt(B.CreateBitCast(Scalar, B.getIntNTy(S->Width)), B.getInt64Ty());
    Results.assign(S->Registers, call(B, S->Width == 8 ? Dougong::VSPLAT_8 : Dougong::VSPLAT_16, {Scalar}));
    break;
  }
  case Instruction::BitCast:
    if (S && shapeOf(I.getOperand(0)->getType()))
      Results = carriers(I.getOperand(0));
    else if (S)
      Results = {B.CreateBitCast(I.getOperand(0), Words)};
    else
      I.replaceAllUsesWith(B.CreateBitCast(carriers(I.getOperand(0))[0], I.getType()));
    break;
  case Instruction::Freeze:
    for (Value *Carrier : Pieces(carriers(I.getOperand(0))))
      Results.push_back(B.CreateFreeze(Carrier));
    break;
  case Instruction::Select:
  case Instruction::SExt:
  case Instruction::ZExt: {
    Value *Condition = I.getOperand(0);
    Pieces Then, Else;
    if (isa<SelectInst>(I)) {
      Then = carriers(I.getOperand(1)), Else = carriers(I.getOperand(2));
    } else {
      Then = constantCarriers(ConstantInt::get(I.getType(), isa<SExtInst>(I) ? -1 : 1, true), *S);
      Else = constantCarriers(Constant::getNullValue(I.getType()), *S);
    }
    if (Negated.contains(Condition))
      std::swap(Then, Else);
    for (unsigned Register = 0; Register < S->Registers; ++Register)
      Results.push_back(isMask(Condition) ? call(B, S->Width == 8 ? Dougong::VSEL_8 : Dougong::VSEL_16,
                                                 {Carriers.lookup(Condition)[Register], Then[Register], Else[Register]})
                                          : B.CreateSelect(Condition, Then[Register], Else[Register]));
    break;
  }
  default:
    if (isMask(&I)) {
      Results = rewriteMask(B, I);
      break;
    }
    SmallVector<Pieces, 3> Operands;
    for (Value *Operand : I.operands())
      if (shapeOf(Operand->getType())) // the flag of abs and the callee are none
        Operands.push_back(carriers(Operand));
    for (unsigned Register = 0; Register < S->Registers; ++Register) {
      SmallVector<Value *, 3> Of;
      for (const Pieces &Operand : Operands)
        Of.push_back(Operand[Register]);
      Results.push_back(I.isBitwiseLogicOp() ? B.CreateBinOp(Instruction::BinaryOps(I.getOpcode()), Of[0], Of[1])
                                             : call(B, recordOf(I), Of));
    }
  }
  if (!I.getType()->isVoidTy())
    Carriers[&I] = Results;
}

// Phis get their values; what is not packed reads the wide form; the old instructions go.
void PackedLanes::finish() {
  for (Instruction *I : Candidates)
    if (auto *Phi = dyn_cast<PHINode>(I))
      for (unsigned From = 0; From < Phi->getNumIncomingValues(); ++From) {
        Pieces Values = carriers(Phi->getIncomingValue(From));
        for (auto [To, Value] : zip_equal(Carriers.lookup(Phi), Values))
          cast<PHINode>(To)->addIncoming(Value, Phi->getIncomingBlock(From));
      }
  for (Instruction *I : Candidates) {
    if (!shapeOf(I->getType()) || Carriers.lookup(I).empty())
      continue;
    Pieces Carried = Carriers.lookup(I);
    auto IsWide = [&](Use &U) { return !Candidates.contains(cast<Instruction>(U.getUser())); };
    if (any_of(I->uses(), IsWide)) {
      IRBuilder<> B(&**I->getInsertionPointAfterDef());
      if (I->getDebugLoc())
        B.SetCurrentDebugLocation(I->getDebugLoc());
      I->replaceUsesWithIf(unpack(B, Carried, I->getType()), IsWide);
    }
    SmallVector<DbgVariableRecord *> Told;
    findDbgUsers(I, Told);
    for (DbgVariableRecord *Record : Told)
      if (Carried.size() == 1) // as many bits
        Record->replaceVariableLocationOp(I, Carried[0]);
      else
        Record->setKillLocation();
  }
  for (Instruction *I : Candidates)
    I->dropAllReferences();
  for (Instruction *I : Candidates)
    I->eraseFromParent();
}

bool PackedLanes::run() {
  for (Instruction &I : instructions(F))
    if (Tree.isReachableFromEntry(I.getParent()) && canPack(I))
      Candidates.insert(&I);
  dropUnmatchedMasks();
  chooseWebs();
  if (Candidates.empty())
    return false;
  for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F)) {
    SmallVector<Instruction *> Old;
    for (Instruction &I : *Block)
      if (Candidates.contains(&I))
        Old.push_back(&I);
    for (Instruction *I : Old)
      rewrite(*I);
  }
  finish();
  return true;
}

class DougongPackedLanes : public FunctionPass {
public:
  static char ID;
  DougongPackedLanes() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Dougong packed lanes"; }
  void getAnalysisUsage(AnalysisUsage &Usage) const override {
    Usage.addRequired<TargetPassConfig>();
    Usage.setPreservesCFG();
  }
  bool runOnFunction(Function &F) override {
    if (none_of(instructions(F), [](Instruction &I) {
          return shapeOf(I.getType()) || any_of(I.operands(), [](Use &U) { return shapeOf(U->getType()).has_value(); });
        }))
      return false;
    const auto &TM = getAnalysis<TargetPassConfig>().getTM<TargetMachine>();
    return PackedLanes(F, *TM.getSubtargetImpl(F)->getInstrInfo()).run();
  }
};

} // namespace

char DougongPackedLanes::ID = 0;

FunctionPass *llvm::createDougongPackedLanes() { return new DougongPackedLanes(); }
