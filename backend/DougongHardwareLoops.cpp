// Gives counted loops a counter that the end of a hardware loop can count (isa/Loop.td). It runs behind loop strength reduction, which was
// told that the compare costs nothing.
//
//   loop:                                             loop:
//     %p = phi ptr [ %a, %entry ], [ %q, %loop ]        %left = phi i64 [ %n, %entry ], [ %less, %loop ]
//     …                                                 %p = phi ptr [ %a, %entry ], [ %q, %loop ]
//     %q = getelementptr i8, ptr %p, i64 4       →      …
//     %c = icmp ne ptr %q, %end                         %q = getelementptr i8, ptr %p, i64 4
//     br i1 %c, label %loop, label %exit                %less = add i64 %left, -1
//                                                       %c = icmp ne i64 %less, 0
//                                                       br i1 %c, label %loop, label %exit
//
// Up to its last passes code generation sees a subtraction and a branch, so that it can analyse, pipeline and place the loop like any
// other; DougongLoopEnds makes one instruction of the two.
#include "DougongHardwareLoops.h"
#include "DougongPasses.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

// Instructions before the loop. It saves about as many cycles where it ends, as the last branch is not mispredicted; a loop of vector code
// can be pipelined too.
constexpr unsigned MaxScalarSetup = 4, MaxVectorSetup = 8, TooMuch = 100;

// How many instructions an expression takes, more or less; TooMuch if it is not for a preheader at all.
unsigned setupCost(const SCEV *S) {
  unsigned Sum = 0;
  switch (S->getSCEVType()) {
  case scConstant:
  case scUnknown:
    return 0;
  case scTruncate:
    return setupCost(S->operands()[0]);
  case scZeroExtend:
  case scSignExtend:
  case scPtrToInt:
    return setupCost(S->operands()[0]) + (S->getSCEVType() != scPtrToInt);
  case scUDivExpr:
    if (auto *By = dyn_cast<SCEVConstant>(S->operands()[1]); !By || !By->getAPInt().isPowerOf2())
      return TooMuch;
    return setupCost(S->operands()[0]) + 1;
  case scAddExpr:
  case scMulExpr:
  case scUMaxExpr:
  case scSMaxExpr:
  case scUMinExpr:
  case scSMinExpr:
    for (const SCEV *Operand : S->operands())
      Sum += setupCost(Operand);
    return Sum + unsigned(S->operands().size() - 1) * (isa<SCEVMinMaxExpr>(S) ? 2 : 1);
  default:
    return TooMuch;
  }
}

// Engine commands are single instructions; what else is called may be long, and a register across it is dear.
bool isCall(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  if (!Call || isa<IntrinsicInst>(Call) || Call->isInlineAsm())
    return false;
  const Function *Callee = Call->getCalledFunction();
  return !Callee || !Callee->getName().starts_with("__dg_");
}

// One way round, perhaps with ways out: the blocks of other loops may be placed so that the latch does not come last, and its branch is no
// loop's end.
bool isOneWay(const Loop &L) {
  return all_of(L.blocks(), [&](const BasicBlock *Block) {
    return count_if(successors(Block), [&](const BasicBlock *To) { return L.contains(To); }) == 1;
  });
}

// The compare of n = n - 1; if (n != 0) …, where nothing else looks at n: such a loop wants nothing more.
ICmpInst *countsDown(const BranchInst &Branch) {
  auto *Compare = dyn_cast<ICmpInst>(Branch.getCondition());
  auto *Next = Compare && Compare->isEquality() ? dyn_cast<BinaryOperator>(Compare->getOperand(0)) : nullptr;
  auto *Zero = Compare ? dyn_cast<ConstantInt>(Compare->getOperand(1)) : nullptr;
  auto *Step = Next && Next->getOpcode() == Instruction::Add ? dyn_cast<ConstantInt>(Next->getOperand(1)) : nullptr;
  bool Counts = Zero && Zero->isZero() && Zero->getType()->isIntegerTy(64) && Step && Step->isMinusOne() &&
                isa<PHINode>(Next->getOperand(0)) && Next->hasNUses(2);
  return Counts ? Compare : nullptr;
}

class DougongHardwareLoops : public FunctionPass {
public:
  static char ID;
  DougongHardwareLoops() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Dougong hardware loops"; }
  void getAnalysisUsage(AnalysisUsage &AU) const override {
    AU.addRequired<LoopInfoWrapperPass>();
    AU.addRequired<ScalarEvolutionWrapperPass>();
    AU.setPreservesCFG();
  }
  bool runOnFunction(Function &F) override;

private:
  bool convert(Loop &L, ScalarEvolution &SE);
};

char DougongHardwareLoops::ID = 0;

} // namespace

FunctionPass *llvm::createDougongHardwareLoops() { return new DougongHardwareLoops(); }

const SCEV *llvm::hardwareTripCount(Loop &L, ScalarEvolution &SE) {
  BasicBlock *Latch = L.getLoopLatch();
  if (!L.isInnermost() || !L.getLoopPreheader() || !Latch || !L.isLoopExiting(Latch))
    return nullptr;
  auto *Branch = dyn_cast<BranchInst>(Latch->getTerminator());
  if (!Branch || !Branch->isConditional())
    return nullptr;
  if (!isOneWay(L))
    return nullptr;
  for (BasicBlock *Block : L.blocks())
    if (any_of(*Block, isCall))
      return nullptr;
  const SCEV *Back = SE.getExitCount(&L, Latch);
  if (isa<SCEVCouldNotCompute>(Back) || SE.getTypeSizeInBits(Back->getType()) > 64)
    return nullptr;
  const SCEV *Count = SE.getTripCountFromExitCount(Back, Type::getInt64Ty(Latch->getContext()), &L);
  bool Vector =
      any_of(L.blocks(), [](BasicBlock *Block) { return any_of(*Block, [](Instruction &I) { return I.getType()->isVectorTy(); }); });
  return setupCost(Count) <= (Vector ? MaxVectorSetup : MaxScalarSetup) ? Count : nullptr;
}

bool DougongHardwareLoops::convert(Loop &L, ScalarEvolution &SE) {
  const SCEV *Count = hardwareTripCount(L, SE);
  if (!Count)
    return false;
  BasicBlock *Preheader = L.getLoopPreheader(), *Header = L.getHeader(), *Latch = L.getLoopLatch();
  auto *Branch = cast<BranchInst>(Latch->getTerminator());
  if (ICmpInst *Compare = countsDown(*Branch))
    return Compare->swapOperands(), true; // as below
  SCEVExpander Expander(SE, "loop");
  if (!Expander.isSafeToExpandAt(Count, Preheader->getTerminator()))
    return false;
  Value *Start = Expander.expandCodeFor(Count, Type::getInt64Ty(Header->getContext()), Preheader->getTerminator());
  IRBuilder<> B(Header, Header->begin());
  PHINode *Left = B.CreatePHI(B.getInt64Ty(), 2, "left");
  B.SetInsertPoint(Branch);
  Value *Less = B.CreateAdd(Left, B.getInt64(-1), "less");
  Left->addIncoming(Start, Preheader);
  Left->addIncoming(Less, Latch);
  Value *Old = Branch->getCondition();
  // 0 on the left: the folding of terminating conditions, which would have a pointer end the loop, takes no such compare.
  Branch->setCondition(B.CreateICmp(Branch->getSuccessor(0) == Header ? ICmpInst::ICMP_NE : ICmpInst::ICMP_EQ, B.getInt64(0), Less));
  SE.forgetLoop(&L);
  RecursivelyDeleteTriviallyDeadInstructions(Old);
  for (PHINode &Phi : make_early_inc_range(Header->phis()))
    RecursivelyDeleteDeadPHINode(&Phi);
  return true;
}

bool DougongHardwareLoops::runOnFunction(Function &F) {
  if (skipFunction(F))
    return false;
  auto &Loops = getAnalysis<LoopInfoWrapperPass>().getLoopInfo();
  auto &SE = getAnalysis<ScalarEvolutionWrapperPass>().getSE();
  bool Changed = false;
  for (Loop *L : Loops.getLoopsInPreorder())
    Changed |= convert(*L, SE);
  return Changed;
}
