// See DougongSubtarget.h.
#include "DougongSubtarget.h"

using namespace llvm;

#define DEBUG_TYPE "dougong-subtarget"
#define GET_SUBTARGETINFO_TARGET_DESC
#define GET_SUBTARGETINFO_CTOR
#include "DougongGenSubtargetInfo.inc"

// Clang's target-features string names RISC-V's extensions; they say nothing that this core has not, so it is dropped.
DougongSubtarget::DougongSubtarget(const Triple &TT, StringRef, StringRef, const TargetMachine &TM)
    : DougongGenSubtargetInfo(TT, "dougong", "dougong", ""), InstrInfo(*this), TLInfo(TM, *this) {}
