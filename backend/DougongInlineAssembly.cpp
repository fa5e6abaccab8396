// The constraints of inline assembly: registers, immediates, memory. See DougongISelLowering.h.
#include "DougongISelLowering.h"
#include "DougongSubtarget.h"

using namespace llvm;

TargetLowering::ConstraintType DougongTargetLowering::getConstraintType(StringRef Constraint) const {
  if (Constraint.size() == 1) {
    switch (Constraint[0]) {
    case 'I':
    case 'J':
    case 'K':
      return C_Immediate;
    case 'A':
      return C_Memory;
    }
  }
  if (Constraint == "vr" || Constraint == "vm")
    return C_RegisterClass;
  return TargetLowering::getConstraintType(Constraint);
}

std::pair<unsigned, const TargetRegisterClass *> DougongTargetLowering::getRegForInlineAsmConstraint(const TargetRegisterInfo *TRI,
                                                                                                     StringRef Constraint, MVT VT) const {
  if (Constraint == "r" && !VT.isVector())
    return {0u, &Dougong::GPRRegClass};
  if (Constraint == "vr")
    return {0u, &Dougong::VRRegClass};
  if (Constraint == "vm")
    return {0u, &Dougong::MRRegClass};
  // {a0} and {x10} alike: LLVM knows a register by its record's name.
  if (Constraint.starts_with("{") && Constraint.ends_with("}")) {
    StringRef Name = Constraint.drop_front().drop_back();
    if (Name == "fp")
      return {Dougong::X8, &Dougong::GPRRegClass};
    for (MCPhysReg Reg : Dougong::GPRRegClass)
      if (Name == StringRef(TRI->getRegAsmName(Reg)) || Name.equals_insensitive(TRI->getName(Reg)))
        return {Reg, &Dougong::GPRRegClass};
  }
  return TargetLowering::getRegForInlineAsmConstraint(TRI, Constraint, VT);
}

InlineAsm::ConstraintCode DougongTargetLowering::getInlineAsmMemConstraint(StringRef Constraint) const {
  return Constraint == "A" ? InlineAsm::ConstraintCode::A : TargetLowering::getInlineAsmMemConstraint(Constraint);
}

void DougongTargetLowering::LowerAsmOperandForConstraint(SDValue Op, StringRef Constraint, std::vector<SDValue> &Ops,
                                                         SelectionDAG &DAG) const {
  if (Constraint == "I" || Constraint == "J" || Constraint == "K") {
    auto *C = dyn_cast<ConstantSDNode>(Op);
    int64_t Value = C ? C->getSExtValue() : 0;
    bool Fits = Constraint == "I" ? isInt<12>(Value) : Constraint == "J" ? Value == 0 : isUInt<5>(Value);
    if (C && Fits)
      Ops.push_back(DAG.getTargetConstant(Value, SDLoc(Op), MVT::i64));
    return;
  }
  TargetLowering::LowerAsmOperandForConstraint(Op, Constraint, Ops, DAG);
}
