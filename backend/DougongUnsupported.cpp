// What LLVM IR can say and this target has not: told to the user with its place before code generation, which would only abort.
#include "DougongPasses.h"
#include "DougongSubtarget.h"
#include "mc/DougongInstPrinter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

unsigned llvm::registerNumber(StringRef Name) {
  if (Name == "fp")
    return 8;
  unsigned Number = 0;
  while (Number < 32 && Name != DougongInstPrinter::getRegisterName(Dougong::X0 + Number) && Name != ("x" + Twine(Number)).str())
    ++Number;
  return Number;
}

bool llvm::isReservedByUser(const Function &F, unsigned Number) {
  StringRef Features = F.getFnAttribute("target-features").getValueAsString();
  std::string Feature = ("+reserve-x" + Twine(Number)).str();
  for (StringRef Rest = Features; !Rest.empty();) {
    auto [First, Others] = Rest.split(',');
    if (First == Feature)
      return true;
    Rest = Others;
  }
  return false;
}

Register DougongTargetLowering::getRegisterByName(const char *Name, LLT, const MachineFunction &) const {
  return Dougong::X0 + registerNumber(Name); // refuseUnsupported has seen it
}

// A register that a program may name as a variable: one that the allocator leaves alone.
static bool isNameable(const Function &F, unsigned Number) {
  return Number == 0 || (Number >= 2 && Number <= 4) || isReservedByUser(F, Number) ||
         (Number == 8 && F.getFnAttribute("frame-pointer").getValueAsString() == "all");
}

// Why `I` cannot be compiled; empty if it can.
static std::string objection(const Instruction &I) {
  if (I.getType()->isScalableTy() || any_of(I.operands(), [](const Use &U) { return U->getType()->isScalableTy(); }))
    return "vectors of scalable length; the NPU's are of fixed length";
  auto *Alloca = dyn_cast<AllocaInst>(&I);
  if (Alloca && Alloca->getAllocatedType()->isScalableTy())
    return "vectors of scalable length; the NPU's are of fixed length";
  // Wider than a register: a routine's work, and LLVM knows none by name for bf16.
  auto *Cast = dyn_cast<CastInst>(&I);
  if (Cast && ((Cast->getDestTy()->isBFloatTy() && Cast->getSrcTy()->isIntegerTy() && Cast->getSrcTy()->getIntegerBitWidth() > 64 &&
                !isa<BitCastInst>(Cast)) ||
               (Cast->getSrcTy()->isBFloatTy() && Cast->getDestTy()->isIntegerTy() && Cast->getDestTy()->getIntegerBitWidth() > 64)))
    return "a conversion between bf16 and an integer of more than 64 bits; convert through float";
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call)
    return "";
  switch (Call->getIntrinsicID()) {
  case Intrinsic::experimental_stackmap:
  case Intrinsic::experimental_patchpoint_void:
  case Intrinsic::experimental_patchpoint:
  case Intrinsic::experimental_gc_statepoint:
    return "stack maps; there is no runtime that reads them";
  case Intrinsic::eh_sjlj_setjmp:
  case Intrinsic::eh_sjlj_longjmp:
  case Intrinsic::eh_sjlj_setup_dispatch:
    return "__builtin_setjmp and __builtin_longjmp; the C library has setjmp and longjmp";
  case Intrinsic::get_fpmode:
  case Intrinsic::set_fpmode:
    return "floating-point modes as one value; the rounding mode alone is there";
  case Intrinsic::pcmarker:
  case Intrinsic::swift_async_context_addr:
    return ("a call of " + Call->getCalledFunction()->getName() + "; the core has nothing for it").str();
  case Intrinsic::init_trampoline:
  case Intrinsic::adjust_trampoline:
    return "trampolines; code is not written while a program runs";
  case Intrinsic::read_register:
  case Intrinsic::read_volatile_register:
  case Intrinsic::write_register: {
    auto *Node = cast<MDNode>(cast<MetadataAsValue>(Call->getArgOperand(0))->getMetadata());
    StringRef Name = cast<MDString>(Node->getOperand(0))->getString();
    unsigned Number = registerNumber(Name);
    if (Number == 32)
      return ("a variable in register '" + Name + "', which the core has not").str();
    if (!isNameable(*I.getFunction(), Number))
      return ("a variable in register '" + Name + "', which the compiler uses; -ffixed-x" + Twine(Number) + " keeps it free").str();
    return "";
  }
  default:
    return "";
  }
}

void llvm::refuseUnsupported(const Module &M) {
  auto Refuse = [&](const Function &F, const Twine &Why, DebugLoc Place = DebugLoc()) {
    M.getContext().diagnose(DiagnosticInfoUnsupported(F, Why, Place));
  };
  for (const Function &F : M) {
    if (F.isDeclaration())
      continue;
    if (F.hasFnAttribute("interrupt"))
      Refuse(F, "a handler of interrupts; the core has none");
    // Calls and returns pass values in these, whatever the user says.
    for (unsigned Number : {1u, 10u, 11u, 12u, 13u, 14u, 15u, 16u, 17u})
      if (isReservedByUser(F, Number))
        Refuse(F, "-ffixed-x" + Twine(Number) + ": calls need that register; x5 to x9 and x18 to x31 can be kept free");
    if (F.getReturnType()->isScalableTy() || any_of(F.args(), [](const Argument &A) { return A.getType()->isScalableTy(); }))
      Refuse(F, "vectors of scalable length; the NPU's are of fixed length");
    for (const Instruction &I : instructions(F))
      if (std::string Why = objection(I); !Why.empty())
        Refuse(F, Why, I.getDebugLoc());
  }
}
