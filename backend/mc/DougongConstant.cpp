// See DougongConstant.h.
#include "DougongConstant.h"
#include "DougongMCTargetDesc.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

// 0x12345678 = lui 0x12345, addiw 0x678. Wider: what stands above the low 12 bits first, then a shift over the zeros below it, then the low
// bits.
static void appendSteps(int64_t Value, SmallVectorImpl<DougongConstant::Step> &Steps) {
  int64_t Low = SignExtend64<12>(Value);
  if (isInt<32>(Value)) {
    int64_t High = ((Value + 0x800) >> 12) & 0xfffff;
    if (High)
      Steps.push_back({Dougong::LUI, High});
    if (Low || !High)
      Steps.push_back({unsigned(High ? Dougong::ADDIW : Dougong::ADDI), Low});
    return;
  }
  // The carry out of the low part wraps as the machine's own addition does.
  uint64_t Rest = uint64_t(Value) - uint64_t(Low);
  unsigned Shift = llvm::countr_zero(Rest);
  if (Shift > 12 && !isInt<12>(int64_t(Rest) >> Shift) && isInt<32>(int64_t(Rest) >> (Shift - 12)))
    Shift -= 12; // lui alone
  appendSteps(int64_t(Rest) >> Shift, Steps);
  Steps.push_back({Dougong::SLLI, Shift});
  if (Low)
    Steps.push_back({Dougong::ADDI, Low});
}

SmallVector<DougongConstant::Step, 8> DougongConstant::steps(int64_t Value) {
  SmallVector<Step, 8> Steps;
  appendSteps(Value, Steps);
  if (Steps.size() > 2 && Value > 0) { // 0x00ffffff…: a mask shifted right from ones is often shorter
    unsigned Zeros = llvm::countl_zero(uint64_t(Value));
    for (uint64_t Fill : {(uint64_t(1) << Zeros) - 1, uint64_t(0)}) {
      SmallVector<Step, 8> Shifted;
      appendSteps(int64_t((uint64_t(Value) << Zeros) | Fill), Shifted);
      Shifted.push_back({Dougong::SRLI, Zeros});
      if (Shifted.size() < Steps.size())
        Steps = Shifted;
    }
  }
  return Steps;
}
