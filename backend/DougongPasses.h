// The passes of this target, and the names the generated tables give to registers and instructions.
#pragma once
#include "llvm/Support/CodeGen.h"
#include <memory>

namespace llvm {

class AsmPrinter;
class DougongTargetMachine;
class FunctionPass;
class MCStreamer;
class TargetMachine;

FunctionPass *createDougongISelDag(DougongTargetMachine &TM, CodeGenOptLevel OptLevel);
FunctionPass *createDougongExpandPseudos();
FunctionPass *createDougongPostIncrement();
FunctionPass *createDougongHardwareLoops();
FunctionPass *createDougongLoopEnds();
FunctionPass *createDougongRemoveExtensions();
FunctionPass *createDougongVectorExpansion();
AsmPrinter *createDougongAsmPrinter(TargetMachine &TM, std::unique_ptr<MCStreamer> &&Streamer);

} // namespace llvm
