// Rewrites operations on whole registers of 8- and 16-bit lanes into packed instructions, those that DougongPackedWebs.cpp chooses. See
// DougongPackedLanes.h.
//
//   %a = load <64 x i16>, ptr %p, align 2          %a = load <32 x i32>, ptr %p, align 2
//   %m = icmp slt <64 x i16> %a, %b                %m = call <32 x i1> @__dg_op.VCMPLT_I16(%a, %b)
//   %x = select <64 x i1> %m, <64 x i16> %a, %b    %x = call <32 x i32> @__dg_op.VSEL_16(%m, %a, %b)
//   %y = udiv <64 x i16> %x, %c                    %l = call <32 x i16> @__dg_op.VWIDEN_U16(%x, 0), %h = …(%x, 1); the udiv of both, wide
//
// A <32 x i1> that a packed compare writes holds 64 or 128 lanes, of which LLVM knows 32: only calls read it, so that nothing folds by what
// it knows.
#include "DougongPackedLanes.h"
#include "DougongPasses.h"
#include "DougongSubtarget.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DebugInfo.h"
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
      : F(F), TII(TII), Words(FixedVectorType::get(Type::getInt32Ty(F.getContext()), 32)), Chosen(choosePacked(F)), Packed(Chosen.Packed) {}
  bool run();

private:
  Function &F;
  const TargetInstrInfo &TII;
  FixedVectorType *Words;
  Choice Chosen;
  const SmallSetVector<Instruction *, 32> &Packed;
  DenseMap<Value *, Pieces> Carriers;
  DenseSet<Value *> Negated; // masks whose carrier tells the other lanes

  Value *call(IRBuilder<> &B, unsigned Record, ArrayRef<Value *> Operands, Type *Result = nullptr);
  Pieces &carriers(Value *V);
  Pieces constantCarriers(Constant *C, Shape S);
  Constant *constantCarrier(unsigned Width, function_ref<uint64_t(unsigned)> Lane);
  Pieces pack(IRBuilder<> &B, Value *V, Type *To);
  Value *widen(IRBuilder<> &B, ArrayRef<Value *> Carried, unsigned Record, Type *Element);
  Value *unpack(IRBuilder<> &B, ArrayRef<Value *> Carried, Type *T, bool Signed);
  void rewrite(Instruction &I);
  Pieces rewriteMask(IRBuilder<> &B, Instruction &I);
  void rewriteMaskBits(IRBuilder<> &B, Instruction &I);
  Pieces rewriteFusion(IRBuilder<> &B, Instruction &I, const Fusion &Fused);
  Pieces rewriteMemory(IRBuilder<> &B, Instruction &I);
  Pieces rewriteLane(IRBuilder<> &B, Instruction &I);
  Pieces rewriteShuffle(IRBuilder<> &B, Instruction &I);
  Pieces rewriteConversion(IRBuilder<> &B, Instruction &I);
  Pieces rewriteChoice(IRBuilder<> &B, Instruction &I);
  Pieces rewriteOperation(IRBuilder<> &B, Instruction &I);
  void finish();
};

Value *PackedLanes::call(IRBuilder<> &B, unsigned Record, ArrayRef<Value *> Operands, Type *Result) {
  return callInstruction(B, TII.getName(Record), Operands, Result ? Result : Words);
}

// Lanes `32 * Part` and the following, of a wide vector.
Value *part(IRBuilder<> &B, Value *V, unsigned Part) {
  return B.CreateExtractVector(FixedVectorType::get(V->getType()->getScalarType(), 32), V, uint64_t(32 * Part));
}

// The wide form, or lanes of 32 bits, to lanes of `To`.
Pieces PackedLanes::pack(IRBuilder<> &B, Value *V, Type *To) {
  Type *Element = To->getScalarType();
  unsigned Record = Element->isHalfTy() ? Dougong::VPACK_F16 : Element->isBFloatTy() ? Dougong::VPACK_BF16 : Dougong::VPACK_I16;
  Pieces Halves;
  for (unsigned Part = 0; Part < shapeOf(To)->wide(); Part += 2)
    Halves.push_back(call(B, Record, {part(B, V, Part), part(B, V, Part + 1)}));
  if (shapeOf(To)->Width == 16)
    return Halves;
  Pieces Carried;
  for (unsigned I = 0; I < Halves.size(); I += 2)
    Carried.push_back(call(B, Dougong::VPACK_I8, {Halves[I], Halves[I + 1]}));
  return Carried;
}

// All lanes of the carriers, by an instruction that widens 32 of them, as `Element`s.
Value *PackedLanes::widen(IRBuilder<> &B, ArrayRef<Value *> Carried, unsigned Record, Type *Element) {
  bool Bytes = Record == Dougong::VWIDEN_I8 || Record == Dougong::VWIDEN_U8;
  SmallVector<Value *, 8> Parts;
  for (Value *Carrier : Carried)
    for (unsigned Part = 0; Part < (Bytes ? 4 : 2); ++Part)
      Parts.push_back(call(B, Record, {Carrier, B.getInt32(Part)}, FixedVectorType::get(Element, 32)));
  return concatenateVectors(B, Parts);
}

unsigned widening(Type *Element, bool Signed) {
  return Element->isHalfTy()        ? Dougong::VWIDEN_F16
         : Element->isBFloatTy()    ? Dougong::VWIDEN_BF16
         : Element->isIntegerTy(16) ? Signed ? Dougong::VWIDEN_I16 : Dougong::VWIDEN_U16
         : Signed                   ? Dougong::VWIDEN_I8
                                    : Dougong::VWIDEN_U8;
}

Value *PackedLanes::unpack(IRBuilder<> &B, ArrayRef<Value *> Carried, Type *T, bool Signed) {
  return widen(B, Carried, widening(T->getScalarType(), Signed), T->getScalarType());
}

// Whether a user reads the lanes as signed numbers: what it need not extend again.
bool readsSigned(const User *U) {
  auto *Call = dyn_cast<IntrinsicInst>(U);
  if (Call)
    return is_contained({Intrinsic::smin, Intrinsic::smax, Intrinsic::abs, Intrinsic::sadd_sat, Intrinsic::ssub_sat,
                         Intrinsic::vector_reduce_smin, Intrinsic::vector_reduce_smax},
                        Call->getIntrinsicID());
  auto *Compare = dyn_cast<ICmpInst>(U);
  return (Compare && Compare->isSigned()) || isa<SIToFPInst, SExtInst>(U) ||
         is_contained({Instruction::SDiv, Instruction::SRem, Instruction::AShr}, cast<Instruction>(U)->getOpcode());
}

// 128 bytes, by lanes.
Constant *PackedLanes::constantCarrier(unsigned Width, function_ref<uint64_t(unsigned)> Lane) {
  uint32_t Bits[32] = {};
  for (unsigned I = 0; I < 1024 / Width; ++I)
    Bits[I * Width / 32] |= uint32_t(Lane(I) & ((1u << Width) - 1)) << I * Width % 32;
  return ConstantDataVector::get(F.getContext(), Bits);
}

// A constant's bits. Empty if it is none that can be written down, such as a symbol's.
Pieces PackedLanes::constantCarriers(Constant *C, Shape S) {
  Pieces Carried;
  if (isa<UndefValue>(C)) // poison too
    return Pieces(S.Registers, isa<PoisonValue>(C) ? PoisonValue::get(Words) : Constant::getNullValue(Words));
  bool Known = true;
  auto Bits = [&](unsigned Lane) -> uint64_t {
    Constant *Element = C->getAggregateElement(Lane);
    if (auto *Integer = dyn_cast_or_null<ConstantInt>(Element))
      return Integer->getZExtValue();
    if (auto *Float = dyn_cast_or_null<ConstantFP>(Element))
      return Float->getValueAPF().bitcastToAPInt().getZExtValue();
    Known &= isa_and_nonnull<UndefValue>(Element);
    return 0;
  };
  for (unsigned Register = 0; Register < S.Registers; ++Register)
    Carried.push_back(constantCarrier(S.Width, [&](unsigned Lane) { return Bits(Register * (1024 / S.Width) + Lane); }));
  return Known ? Carried : Pieces();
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
    Carried = pack(B, V, V->getType());
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

// A mask as an integer, lane i in bit i.
void PackedLanes::rewriteMaskBits(IRBuilder<> &B, Instruction &I) {
  Value *Mask = I.getOperand(0), *Bits = nullptr;
  Pieces Carried = Carriers.lookup(Mask);
  unsigned Lanes = I.getType()->getIntegerBitWidth() / Carried.size();
  for (unsigned Word = 0; Word < I.getType()->getIntegerBitWidth() / 64; ++Word) {
    unsigned Record = Lanes == 128 && Word % 2 ? Dougong::MTOXH : Dougong::MTOX;
    Value *Part = B.CreateZExt(call(B, Record, {Carried[Word * 64 / Lanes]}, B.getInt64Ty()), I.getType());
    Bits = Bits ? B.CreateOr(Bits, B.CreateShl(Part, 64 * Word)) : Part;
  }
  I.replaceAllUsesWith(Negated.contains(Mask) ? B.CreateNot(Bits) : Bits);
}

Pieces PackedLanes::rewriteFusion(IRBuilder<> &B, Instruction &I, const Fusion &Fused) {
  Pieces Results, L = carriers(Fused.Operands[0]), R = carriers(Fused.Operands[1]);
  for (auto [A, C] : zip_equal(L, R))
    Results.push_back(call(B, Fused.Record, {A, C}));
  I.setOperand(0, PoisonValue::get(I.getOperand(0)->getType()));
  for (Instruction *Inner : Fused.Inside)
    if (!Packed.contains(Inner) && Inner->use_empty())
      Inner->eraseFromParent();
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

Pieces PackedLanes::rewriteShuffle(IRBuilder<> &B, Instruction &I) {
  Shape S = *shapeOf(I.getType());
  bool Bytes = S.Width == 8;
  if (Value *Scalar = splatScalar(I)) {
    Scalar = B.CreateZExt(B.CreateBitCast(Scalar, B.getIntNTy(S.Width)), B.getInt64Ty());
    return Pieces(S.Registers, call(B, Bytes ? Dougong::VSPLAT_8 : Dougong::VSPLAT_16, {Scalar}));
  }
  Pieces Sources = carriers(I.getOperand(0));
  if (!isa<PoisonValue>(I.getOperand(1)))
    Sources.append(Pieces(carriers(I.getOperand(1))));
  Pieces Results;
  for (const RegisterShuffle &R : registersOf(cast<ShuffleVectorInst>(I))) {
    auto Source = [&](int Register) -> Value * {
      return Register >= 0 && Register < int(Sources.size()) ? Sources[Register] : PoisonValue::get(Words);
    };
    Value *First = Source(R.First), *Second = Source(R.Second);
    if (R.Record) {
      Results.push_back(call(B, R.Record, {First, Second, B.getInt32(R.Immediate)}));
    } else if (R.Lanes.empty()) {
      Results.push_back(First);
    } else {
      unsigned Permutes = Bytes ? Dougong::VPERM_8 : Dougong::VPERM_16;
      Value *Numbers = constantCarrier(S.Width, [&](unsigned Lane) { return R.Lanes[Lane]; });
      Value *Permuted = call(B, Permutes, {First, Numbers});
      if (R.Second >= 0) { // numbers count both, and the permutation counts them modulo one
        Value *Limit = constantCarrier(S.Width, [&](unsigned) { return 1024 / S.Width; });
        Value *OfFirst =
            call(B, Bytes ? Dougong::VCMPLT_U8 : Dougong::VCMPLT_U16, {Numbers, Limit}, FixedVectorType::get(B.getInt1Ty(), 32));
        Permuted = call(B, Bytes ? Dougong::VSEL_8 : Dougong::VSEL_16, {OfFirst, Permuted, call(B, Permutes, {Second, Numbers})});
      }
      Results.push_back(Permuted);
    }
  }
  return Results;
}

// Bit casts, and conversions between packed lanes of different widths or with lanes of 32 bits.
Pieces PackedLanes::rewriteConversion(IRBuilder<> &B, Instruction &I) {
  Value *V = I.getOperand(0);
  std::optional<Shape> S = shapeOf(I.getType()), From = shapeOf(V->getType());
  Type *Element = (From ? V : &I)->getType()->getScalarType();
  bool Signed = I.getOpcode() == Instruction::SExt || I.getOpcode() == Instruction::SIToFP;
  if (!From && I.getOpcode() == Instruction::BitCast) {
    Value *Words = B.CreateBitCast(V, FixedVectorType::get(B.getInt32Ty(), 32 * S->Registers));
    Pieces Parts;
    for (unsigned Register = 0; Register < S->Registers; ++Register)
      Parts.push_back(part(B, Words, Register));
    return Parts;
  }
  if (!From) // from lanes of 32 bits
    return pack(B, V, I.getType());
  Pieces Carried = carriers(V), Results;
  if (I.getOpcode() == Instruction::BitCast) {
    if (S)
      return Carried;
    I.replaceAllUsesWith(B.CreateBitCast(concatenateVectors(B, Carried), I.getType()));
  } else if (!S) {
    Value *Wide = widen(B, Carried, widening(Element, Signed), Element->isIntegerTy() ? B.getInt32Ty() : B.getFloatTy());
    if (isa<SIToFPInst, UIToFPInst>(I))
      Wide = B.CreateSIToFP(Wide, I.getType()); // of at most 16 bits: never negative by mistake
    I.replaceAllUsesWith(Wide);
  } else if (I.getOpcode() == Instruction::Trunc) {
    for (unsigned Register = 0; Register < Carried.size(); Register += 2)
      Results.push_back(call(B, Dougong::VPACK_I8, {Carried[Register], Carried[Register + 1]}));
  } else { // bytes to halves: above each byte comes one of zeros or of its sign
    for (Value *Carrier : Carried) {
      Value *Above = Constant::getNullValue(Words);
      if (Signed)
        Above = call(B, Dougong::VSRA_I8, {Carrier, constantCarrier(8, [](unsigned) { return 7; })});
      for (unsigned Upper : {0, 1})
        Results.push_back(call(B, Dougong::VZIP_8, {Carrier, Above, B.getInt32(Upper)}));
    }
  }
  return Results;
}

// Selects, and masks as numbers.
Pieces PackedLanes::rewriteChoice(IRBuilder<> &B, Instruction &I) {
  Shape S = *shapeOf(I.getType());
  Value *Condition = I.getOperand(0);
  Pieces Then, Else, Results;
  if (isa<SelectInst>(I)) {
    Then = carriers(I.getOperand(1)), Else = carriers(I.getOperand(2));
  } else {
    Then.assign(S.Registers, constantCarrier(S.Width, [&](unsigned) { return isa<SExtInst>(I) ? ~uint64_t(0) : 1; }));
    Else.assign(S.Registers, Constant::getNullValue(Words));
  }
  if (Negated.contains(Condition))
    std::swap(Then, Else);
  for (unsigned Register = 0; Register < S.Registers; ++Register)
    Results.push_back(isMask(Condition) ? call(B, S.Width == 8 ? Dougong::VSEL_8 : Dougong::VSEL_16,
                                               {Carriers.lookup(Condition)[Register], Then[Register], Else[Register]})
                                        : B.CreateSelect(Condition, Then[Register], Else[Register]));
  return Results;
}

// What one record, or an operation on bits, does register by register.
Pieces PackedLanes::rewriteOperation(IRBuilder<> &B, Instruction &I) {
  SmallVector<Pieces, 3> Operands;
  for (Value *Operand : I.operands())
    if (shapeOf(Operand->getType())) // the flag of abs and the callee have none
      Operands.push_back(carriers(Operand));
  Pieces Results;
  for (unsigned Register = 0; Register < shapeOf(I.getType())->Registers; ++Register) {
    SmallVector<Value *, 3> Of;
    for (const Pieces &Operand : Operands)
      Of.push_back(Operand[Register]);
    Results.push_back(isa<FreezeInst>(I)     ? B.CreateFreeze(Of[0])
                      : I.isBitwiseLogicOp() ? B.CreateBinOp(Instruction::BinaryOps(I.getOpcode()), Of[0], Of[1])
                                             : call(B, recordOf(I), Of));
  }
  return Results;
}

void PackedLanes::rewrite(Instruction &I) {
  IRBuilder<> B(&I);
  Pieces Results;
  if (auto Fused = Chosen.Fusions.find(&I); Fused != Chosen.Fusions.end())
    Results = rewriteFusion(B, I, Fused->second);
  else if (isa<LoadInst, StoreInst>(I))
    Results = rewriteMemory(B, I);
  else if (isa<PHINode>(I)) // the incoming values come last
    for (unsigned Register = 0; Register < shapeOf(I.getType())->Registers; ++Register)
      Results.push_back(B.CreatePHI(Words, I.getNumOperands()));
  else if (isa<ExtractElementInst, InsertElementInst>(I))
    Results = rewriteLane(B, I);
  else if (isa<ShuffleVectorInst>(I))
    Results = rewriteShuffle(B, I);
  else if (isa<BitCastInst>(I) && isMask(I.getOperand(0)))
    rewriteMaskBits(B, I);
  else if (isa<SelectInst>(I) || (isa<CastInst>(I) && isMask(I.getOperand(0))))
    Results = rewriteChoice(B, I);
  else if (isa<CastInst>(I))
    Results = rewriteConversion(B, I);
  else if (isMask(&I))
    Results = rewriteMask(B, I);
  else
    Results = rewriteOperation(B, I);
  if (!Results.empty())
    Carriers[&I] = Results;
}

// Phis get their values; what is not packed reads the wide form; the old instructions go.
void PackedLanes::finish() {
  for (Instruction *I : Packed)
    if (auto *Phi = dyn_cast<PHINode>(I))
      for (unsigned From = 0; From < Phi->getNumIncomingValues(); ++From) {
        Pieces Values = carriers(Phi->getIncomingValue(From));
        for (auto [To, Value] : zip_equal(Carriers.lookup(Phi), Values))
          cast<PHINode>(To)->addIncoming(Value, Phi->getIncomingBlock(From));
      }
  for (Instruction *I : Packed) {
    if (!shapeOf(I->getType()) || Carriers.lookup(I).empty())
      continue;
    Pieces Carried = Carriers.lookup(I);
    auto IsWide = [&](Use &U) { return !Packed.contains(cast<Instruction>(U.getUser())); };
    if (any_of(I->uses(), IsWide)) {
      IRBuilder<> B(&**I->getInsertionPointAfterDef());
      if (I->getDebugLoc())
        B.SetCurrentDebugLocation(I->getDebugLoc());
      bool Signed = all_of(I->users(), [&](User *U) { return Packed.contains(cast<Instruction>(U)) || readsSigned(U); });
      I->replaceUsesWithIf(unpack(B, Carried, I->getType(), Signed), IsWide);
    }
    SmallVector<DbgVariableRecord *> Told;
    findDbgUsers(I, Told);
    for (DbgVariableRecord *Record : Told)
      if (Carried.size() == 1) // as many bits
        Record->replaceVariableLocationOp(I, Carried[0]);
      else
        Record->setKillLocation();
  }
  for (Instruction *I : Packed)
    I->dropAllReferences();
  for (Instruction *I : Packed)
    I->eraseFromParent();
}

bool PackedLanes::run() {
  if (Packed.empty())
    return false;
  for (BasicBlock *Block : ReversePostOrderTraversal<Function *>(&F)) {
    SmallVector<Instruction *> Old;
    for (Instruction &I : *Block)
      if (Packed.contains(&I))
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
