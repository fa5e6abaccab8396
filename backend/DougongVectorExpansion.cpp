// What vectors can say and the machine cannot do in a few instructions, as other IR, before selection takes it apart lane by lane.
//
//   frem, sin, cos, tan, pow            vector code (DougongVectorMathematics.cpp); of f16 and bf16 through f32
//   asin and the like                   arrays on the stack, and a loop of calls of asinf through them
//   powi of f16 and bf16                that of f32
//   <96 x T>: divisions, masked         of 64 and of 32 lanes: LLVM would take such numbers of registers apart lane by lane
//   accesses, gathers, sums in order
//   expandload(%p, %mask, %else)        gather at %p[the number of lanes set before this one]
//   compressstore(%v, %p, %mask)        scatter to there; the numbers come from five shifted additions
//   load, store aligned less than an    by vectors of bytes to or from an aligned array on the stack
//   element
//
// Before: 7 to 97 instructions a lane. As everywhere in vector code, memory and stack are local memory.
#include "DougongPasses.h"
#include "DougongVectorMathematics.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Pass.h"

using namespace llvm;

namespace {

constexpr unsigned Lanes = 32; // of a register

class DougongVectorExpansion : public FunctionPass {
public:
  static char ID;
  DougongVectorExpansion() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Dougong vector expansion"; }
  bool runOnFunction(Function &F) override;

private:
  bool expand(Instruction &I);
  void inVectorCode(Instruction &I, FixedVectorType *Type);
  void loopOverLanes(Instruction &I, FixedVectorType *Type);
  bool inPowersOfTwo(Instruction &I);
  void packedAccess(IntrinsicInst &I);
  void unalignedAccess(Instruction &I, FixedVectorType *Type);
  AllocaInst *array(Instruction &I, Type *Of);
};

// A vector of whole registers of elements that vector loads know.
FixedVectorType *whole(Type *T) {
  auto *Vector = dyn_cast<FixedVectorType>(T);
  if (!Vector || Vector->getNumElements() % Lanes)
    return nullptr;
  Type *Element = Vector->getElementType();
  bool Known = Element->isHalfTy() || Element->isBFloatTy() || Element->isFloatTy() || Element->isIntegerTy(8) ||
               Element->isIntegerTy(16) || Element->isIntegerTy(32);
  return Known ? Vector : nullptr;
}

unsigned bytesOf(Type *Element) { return Element->getScalarSizeInBits() / 8; }

bool isIntrinsic(const Instruction &I, ArrayRef<Intrinsic::ID> Which) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && is_contained(Which, Call->getIntrinsicID());
}

bool hasAFormula(const Instruction &I) {
  return I.getOpcode() == Instruction::FRem || isIntrinsic(I, {Intrinsic::sin, Intrinsic::cos, Intrinsic::tan, Intrinsic::pow});
}

bool wantsALoop(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call)
    return false;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::asin:
  case Intrinsic::acos:
  case Intrinsic::atan:
  case Intrinsic::atan2:
  case Intrinsic::sinh:
  case Intrinsic::cosh:
    return true;
  default:
    return false;
  }
}

// An array on the stack, in the entry block, aligned for vectors.
AllocaInst *DougongVectorExpansion::array(Instruction &I, Type *Of) {
  IRBuilder<> Entry(&*I.getFunction()->getEntryBlock().getFirstInsertionPt());
  AllocaInst *Array = Entry.CreateAlloca(Of);
  Array->setAlignment(Align(16)); // a full 128 is faster, but would align every frame
  return Array;
}

// In as many registers as it takes, a power of two of them at a time: what LLVM takes apart well.
void DougongVectorExpansion::inVectorCode(Instruction &I, FixedVectorType *Type) {
  IRBuilder<> B(&I);
  bool Remainder = I.getOpcode() == Instruction::FRem, Power = isIntrinsic(I, {Intrinsic::pow});
  unsigned Count = Type->getNumElements(), Whole = Remainder ? Lanes * PowerOf2Ceil(divideCeil(Count, Lanes)) : alignTo(Count, Lanes);
  auto *Floats = FixedVectorType::get(B.getFloatTy(), Whole);
  // How often a remainder loops depends on all lanes, so that those which are not used must have values too.
  auto Resized = [&](Value *V, unsigned To) {
    SmallVector<int, 64> Numbers;
    for (unsigned Lane = 0; Lane < To; ++Lane)
      Numbers.push_back(Lane < Count || Remainder ? int(Lane % Count) : -1);
    return Count == Whole ? V : B.CreateShuffleVector(V, Numbers);
  };
  auto Operand = [&](unsigned Number) { return B.CreateFPExt(Resized(I.getOperand(Number), Whole), Floats); };
  Value *X = Operand(0), *Y = Remainder || Power ? Operand(1) : nullptr, *Result = PoisonValue::get(Floats);
  for (uint64_t First = 0, Size; First < Whole; First += Size) {
    Size = Remainder || Power ? bit_floor(Whole - First) : Lanes;
    auto *Register = FixedVectorType::get(B.getFloatTy(), Size);
    B.SetInsertPoint(&I);
    Value *PartX = B.CreateExtractVector(Register, X, First), *PartY = Y ? B.CreateExtractVector(Register, Y, First) : nullptr;
    Value *Part = Remainder ? vectorRemainder(I, PartX, PartY)
                  : Power   ? vectorPower(B, PartX, PartY)
                            : vectorSine(B, cast<IntrinsicInst>(I).getIntrinsicID(), PartX);
    B.SetInsertPoint(&I);
    Result = B.CreateInsertVector(Floats, Result, Part, First);
  }
  Result = Resized(Result, Count);
  I.replaceAllUsesWith(B.CreateFPTrunc(Result, Type));
}

bool DougongVectorExpansion::inPowersOfTwo(Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  Intrinsic::ID Id = Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic;
  bool Divides = is_contained({Instruction::SDiv, Instruction::UDiv, Instruction::SRem, Instruction::URem}, I.getOpcode());
  bool Adds = Id == Intrinsic::vector_reduce_fadd || Id == Intrinsic::vector_reduce_fmul;
  bool Gathers = Id == Intrinsic::masked_gather, Scatters = Id == Intrinsic::masked_scatter;
  bool Loads = Id == Intrinsic::masked_load, Stores = Id == Intrinsic::masked_store;
  if (!Divides && !Adds && !Gathers && !Scatters && !Loads && !Stores)
    return false;
  FixedVectorType *Type = whole(Adds ? I.getOperand(1)->getType() : Scatters || Stores ? I.getOperand(0)->getType() : I.getType());
  if (!Type || isPowerOf2_32(Type->getNumElements()))
    return false;
  IRBuilder<> B(&I);
  llvm::Type *Element = Type->getElementType();
  Align Alignment = Call ? Call->getParamAlign(Scatters || Stores ? 1 : 0).valueOrOne() : Align();
  Value *Result = Adds ? I.getOperand(0) : PoisonValue::get(Type);
  for (uint64_t First = 0, Size; First < Type->getNumElements(); First += Size) {
    Size = bit_floor(Type->getNumElements() - First);
    auto *PartType = FixedVectorType::get(Element, Size);
    auto PartOf = [&](Value *V) { return B.CreateExtractVector(FixedVectorType::get(V->getType()->getScalarType(), Size), V, First); };
    auto Part = [&](unsigned Operand) -> Value * {
      // A pointer and numbers stay what they are, which one instruction takes.
      auto *Places = dyn_cast<GetElementPtrInst>(I.getOperand(Operand));
      if (Places && Places->getNumIndices() == 1 && !Places->getPointerOperandType()->isVectorTy())
        return B.CreateGEP(Places->getSourceElementType(), Places->getPointerOperand(), PartOf(Places->getOperand(1)));
      return PartOf(I.getOperand(Operand));
    };
    auto Pointer = [&](unsigned Operand) { return B.CreateConstGEP1_64(Element, I.getOperand(Operand), First); };
    Align Here = commonAlignment(Alignment, First * bytesOf(Element));
    Value *Computed = nullptr;
    if (Divides)
      Computed = B.CreateBinOp(Instruction::BinaryOps(I.getOpcode()), Part(0), Part(1));
    else if (Adds)
      Result = B.CreateIntrinsic(Id, {PartType}, {Result, Part(1)}, &I);
    else if (Gathers)
      Computed = B.CreateMaskedGather(PartType, Part(0), Alignment, Part(1), Part(2));
    else if (Loads)
      Computed = B.CreateMaskedLoad(PartType, Pointer(0), Here, Part(1), Part(2));
    else if (Scatters)
      B.CreateMaskedScatter(Part(0), Part(1), Alignment, Part(2));
    else
      B.CreateMaskedStore(Part(0), Pointer(1), Here, Part(2));
    if (Computed)
      Result = B.CreateInsertVector(Type, Result, Computed, First);
  }
  if (!Scatters && !Stores)
    I.replaceAllUsesWith(Result);
  return true;
}

// before: ... I ...    after: stores of the operands; a block that runs 32 times; the load of the result; ...
void DougongVectorExpansion::loopOverLanes(Instruction &I, FixedVectorType *Type) {
  llvm::Type *Element = Type->getElementType();
  SmallVector<AllocaInst *, 2> Arrays;
  IRBuilder<> B(&I);
  for (unsigned Operand = 0; Operand < cast<CallBase>(I).arg_size(); ++Operand) {
    Arrays.push_back(array(I, Type));
    B.CreateAlignedStore(I.getOperand(Operand), Arrays.back(), Align(16));
  }
  BasicBlock *Before = I.getParent(), *After = Before->splitBasicBlock(&I);
  BasicBlock *Body = BasicBlock::Create(I.getContext(), "lane", Before->getParent(), After);
  Before->getTerminator()->setSuccessor(0, Body);
  B.SetInsertPoint(Body);
  PHINode *Lane = B.CreatePHI(B.getInt64Ty(), 2);
  SmallVector<Value *, 2> Scalars, Places;
  for (AllocaInst *Array : Arrays) {
    Places.push_back(B.CreateInBoundsGEP(Element, Array, Lane));
    Scalars.push_back(B.CreateLoad(Element, Places.back()));
  }
  B.CreateStore(B.CreateIntrinsic(cast<IntrinsicInst>(I).getIntrinsicID(), {Element}, Scalars), Places[0]);
  Value *Next = B.CreateAdd(Lane, B.getInt64(1));
  B.CreateCondBr(B.CreateICmpULT(Next, B.getInt64(Type->getNumElements())), Body, After);
  Lane->addIncoming(B.getInt64(0), Before);
  Lane->addIncoming(Next, Body);
  B.SetInsertPoint(&I);
  I.replaceAllUsesWith(B.CreateAlignedLoad(Type, Arrays[0], Align(16)));
}

// expandload and compressstore, a register at a time: lane i's element is number (lanes set in 0..i) - 1.
void DougongVectorExpansion::packedAccess(IntrinsicInst &I) {
  bool Load = I.getIntrinsicID() == Intrinsic::masked_expandload;
  Value *Pointer = I.getArgOperand(Load ? 0 : 1), *Mask = I.getArgOperand(Load ? 1 : 2), *Data = I.getArgOperand(Load ? 2 : 0);
  auto *Type = cast<FixedVectorType>(Data->getType());
  llvm::Type *Element = Type->getElementType();
  IRBuilder<> B(&I);
  auto *Words = FixedVectorType::get(B.getInt32Ty(), Lanes);
  Value *Result = PoisonValue::get(Type);
  for (unsigned First = 0; First < Type->getNumElements(); First += Lanes) {
    Value *PartOfMask = B.CreateExtractVector(FixedVectorType::get(B.getInt1Ty(), Lanes), Mask, uint64_t(First));
    Value *PartOfData = B.CreateExtractVector(FixedVectorType::get(Element, Lanes), Data, uint64_t(First));
    Value *Count = B.CreateZExt(PartOfMask, Words);
    for (int Step = 1; Step < int(Lanes); Step *= 2) {
      SmallVector<int, Lanes> Shifted;
      for (int Lane = 0; Lane < int(Lanes); ++Lane)
        Shifted.push_back(int(Lanes) + Lane - Step);
      Count = B.CreateAdd(Count, B.CreateShuffleVector(Constant::getNullValue(Words), Count, Shifted));
    }
    Value *Places =
        B.CreateGEP(Element, Pointer, B.CreateAdd(Count, ConstantVector::getSplat(ElementCount::getFixed(Lanes), B.getInt32(-1))));
    if (Load)
      Result = B.CreateInsertVector(Type, Result,
                                    B.CreateMaskedGather(PartOfData->getType(), Places, Align(bytesOf(Element)), PartOfMask, PartOfData),
                                    uint64_t(First));
    else
      B.CreateMaskedScatter(PartOfData, Places, Align(bytesOf(Element)), PartOfMask);
    Pointer = B.CreateGEP(Element, Pointer, B.CreateExtractElement(Count, uint64_t(Lanes - 1)));
  }
  if (Load)
    I.replaceAllUsesWith(Result);
}

void DougongVectorExpansion::unalignedAccess(Instruction &I, FixedVectorType *Type) {
  IRBuilder<> B(&I);
  auto *Bytes = FixedVectorType::get(B.getInt8Ty(), Lanes);
  Value *Memory = const_cast<Value *>(getLoadStorePointerOperand(&I)), *Aside = array(I, Type);
  auto Copy = [&](Value *To, Value *From) {
    for (unsigned At = 0; At < Type->getNumElements() * bytesOf(Type->getElementType()); At += Lanes)
      B.CreateAlignedStore(B.CreateAlignedLoad(Bytes, B.CreateConstGEP1_64(B.getInt8Ty(), From, At), Align(1)),
                           B.CreateConstGEP1_64(B.getInt8Ty(), To, At), Align(1));
  };
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    B.CreateAlignedStore(Store->getValueOperand(), Aside, Align(16));
    return Copy(Memory, Aside);
  }
  Copy(Aside, Memory);
  I.replaceAllUsesWith(B.CreateAlignedLoad(Type, Aside, Align(16)));
}

bool DougongVectorExpansion::expand(Instruction &I) {
  if (auto *Call = dyn_cast<IntrinsicInst>(&I)) {
    Intrinsic::ID Id = Call->getIntrinsicID();
    bool Load = Id == Intrinsic::masked_expandload;
    FixedVectorType *Type = Load                                    ? whole(I.getType())
                            : Id == Intrinsic::masked_compressstore ? whole(Call->getArgOperand(0)->getType())
                                                                    : nullptr;
    unsigned Size = Type ? bytesOf(Type->getElementType()) : 0;
    if (Type && Call->getParamAlign(Load ? 0 : 1).valueOrOne() >= Align(Size)) // else an element may lie across words: left to LLVM
      return packedAccess(*Call), true;
  }
  if (auto *Type = dyn_cast<FixedVectorType>(I.getType()); Type && Type->getNumElements() >= Lanes && hasAFormula(I))
    if (llvm::Type *Element = Type->getElementType(); Element->isFloatTy() || Element->isHalfTy() || Element->isBFloatTy())
      return inVectorCode(I, Type), true;
  if (inPowersOfTwo(I))
    return true;
  // There is no routine for the 16-bit floats, and LLVM does not look for that of f32.
  if (llvm::Type *Element = I.getType()->getScalarType();
      isIntrinsic(I, {Intrinsic::powi}) && (Element->isHalfTy() || Element->isBFloatTy())) {
    IRBuilder<> B(&I);
    llvm::Type *Wide = I.getType()->getWithNewType(B.getFloatTy());
    Value *X = B.CreateFPExt(I.getOperand(0), Wide);
    Value *Power = B.CreateIntrinsic(Intrinsic::powi, {Wide, I.getOperand(1)->getType()}, {X, I.getOperand(1)});
    return I.replaceAllUsesWith(B.CreateFPTrunc(Power, I.getType())), true;
  }
  if (FixedVectorType *Type = whole(I.getType()); Type && wantsALoop(I))
    return loopOverLanes(I, Type), true;
  if (isa<LoadInst, StoreInst>(I) && !I.isVolatile() && !I.isAtomic())
    if (FixedVectorType *Type = whole(getLoadStoreType(&I)); Type && getLoadStoreAlignment(&I) < Align(bytesOf(Type->getElementType())))
      return unalignedAccess(I, Type), true;
  return false;
}

bool DougongVectorExpansion::runOnFunction(Function &F) {
  SmallVector<Instruction *> Work;
  for (Instruction &I : instructions(F))
    Work.push_back(&I);
  bool Changed = false;
  for (Instruction *I : Work)
    if (expand(*I)) {
      I->eraseFromParent();
      Changed = true;
    }
  return Changed;
}

} // namespace

char DougongVectorExpansion::ID = 0;

FunctionPass *llvm::createDougongVectorExpansion() { return new DougongVectorExpansion(); }
