// The passes of this target, and the names the generated tables give to registers and instructions.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CodeGen.h"
#include <memory>

namespace llvm {

class AsmPrinter;
class DougongTargetMachine;
class Function;
class FunctionPass;
class MCStreamer;
class Module;
class TargetMachine;

FunctionPass *createDougongISelDag(DougongTargetMachine &TM, CodeGenOptLevel OptLevel);
FunctionPass *createDougongExpandPseudos();
FunctionPass *createDougongPostIncrement();
FunctionPass *createDougongHardwareLoops();
FunctionPass *createDougongLoopEnds();
FunctionPass *createDougongRemoveExtensions();
FunctionPass *createDougongVectorExpansion();
FunctionPass *createDougongPackedLanes();
// Tells what of a module this target has not, with its place (DougongUnsupported.cpp).
void refuseUnsupported(const Module &M);
// Whether the user keeps register x`Number` out of `F` (-ffixed-x7).
bool isReservedByUser(const Function &F, unsigned Number);
// The number of the register with this name, x7 or t2; 32 if there is none.
unsigned registerNumber(StringRef Name);
AsmPrinter *createDougongAsmPrinter(TargetMachine &TM, std::unique_ptr<MCStreamer> &&Streamer);

} // namespace llvm
