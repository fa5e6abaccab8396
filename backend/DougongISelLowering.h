// What the selection DAG must know: legal types and operations, the calling convention, and the lowering of what the
// instructions do not do as they are.
//
//   DougongISelLowering.cpp    scalars: what is legal, who lowers the rest; addresses
//   DougongWordLowering.cpp    operations on 32 bits, products by constants
//   DougongFloatLowering.cpp   floats
//   DougongSelects.cpp, DougongAtomics.cpp, DougongInlineAssembly.cpp
//   DougongCalls.cpp           calls, and the engines' builtins
//   DougongVectorLowering.cpp  vectors: what is legal, who lowers the rest; float lanes
//   DougongVectorLanes.cpp     vectors out of scalars, shuffles
//   DougongVectorMemory.cpp    masked and indexed accesses
//   DougongMaskLowering.cpp    masks
#pragma once
#include "llvm/CodeGen/SelectionDAG.h"
#include "llvm/CodeGen/TargetLowering.h"

namespace llvm {

class DougongSubtarget;

namespace DGISD {
enum NodeType : unsigned {
  FIRST_NUMBER = ISD::BUILTIN_OP_END,
  TAIL,      // chain, callee, argument registers, glue: a call in the place of a return
  CALL,      // chain, callee, argument registers, mask, glue
  RET,       // chain, value registers, glue
  ADDRESS,   // target symbol -> its address, pc-relative
  GOT,       // target symbol -> its address out of the GOT: a weak symbol that may be undefined is out of pc-relative reach
  TPREL,     // target symbol -> its address in this thread's block
  SELECT_CC, // left, right, branch opcode, true, false
  FP_BITS,   // f32, f16 or bf16 -> i64: the register as it is (bits above the type are undefined)
  BITS_FP,   // i64 -> f32, f16, bf16: likewise
  FCLASS,    // f32 or f64 -> i64 with one bit set, as RISC-V's fclass
  // In 32 bits, of the low halves; the result sign-extended.
  SLLW,
  SRLW,
  SRAW,
  ROLW,
  RORW,
  DIVW,
  DIVUW,
  REMW,
  REMUW,
  CLZW,
  CTZW,
  CPOPW,
  TO_INT, // f32 or f64, rounding mode (target constant, RISC-V's numbers) -> i64
  // Vectors of 32 lanes.
  MASK_IN,        // i64 -> v32i1, bit i -> lane i
  MASK_OUT,       // v32i1 -> i64, zero-extended
  MASK_FIRST,     // i64 n -> v32i1, lanes 0..n-1
  PERMUTE,        // source, v32i32 lane numbers mod 32
  PERMUTE2,       // two sources, lane numbers mod 64
  BROADCAST_LANE, // source, lane number
  ALIGN,          // two sources, n: lanes n.. of one after the other
  IOTA,           // lane i = i
  VCLASS,         // FCLASS in each lane
};
}

class DougongTargetLowering : public TargetLowering {
  const DougongSubtarget &Subtarget;

public:
  DougongTargetLowering(const TargetMachine &TM, const DougongSubtarget &STI);

  const char *getTargetNodeName(unsigned Opcode) const override;
  SDValue LowerOperation(SDValue Op, SelectionDAG &DAG) const override;
  void ReplaceNodeResults(SDNode *N, SmallVectorImpl<SDValue> &Results, SelectionDAG &DAG) const override;
  SDValue PerformDAGCombine(SDNode *N, DAGCombinerInfo &DCI) const override;
  MachineBasicBlock *EmitInstrWithCustomInserter(MachineInstr &MI, MachineBasicBlock *MBB) const override;

  // Types.
  EVT getSetCCResultType(const DataLayout &DL, LLVMContext &Context, EVT VT) const override;
  TargetLoweringBase::LegalizeTypeAction getPreferredVectorAction(MVT VT) const override;
  bool isFPImmLegal(const APFloat &Imm, EVT VT, bool ForCodeSize) const override;
  bool isLegalICmpImmediate(int64_t Imm) const override { return isInt<12>(Imm); }
  bool isLegalAddImmediate(int64_t Imm) const override { return isInt<12>(Imm); }
  bool isLegalAddressingMode(const DataLayout &DL, const AddrMode &AM, Type *Ty, unsigned AS, Instruction *I) const override;
  bool allowsMisalignedMemoryAccesses(EVT VT, unsigned AS, Align Alignment, MachineMemOperand::Flags Flags, unsigned *Fast) const override;
  bool isTruncateFree(Type *From, Type *To) const override;
  bool isTruncateFree(EVT From, EVT To) const override;
  bool isZExtFree(SDValue Value, EVT To) const override;
  bool isSExtCheaperThanZExt(EVT From, EVT To) const override { return From == MVT::i32 && To == MVT::i64; }
  bool signExtendConstant(const ConstantInt *CI) const override { return CI->getType()->isIntegerTy(32); }
  bool isFMAFasterThanFMulAndFAdd(const MachineFunction &MF, EVT VT) const override;
  bool isOffsetFoldingLegal(const GlobalAddressSDNode *) const override { return false; } // one address, and offsets in the accesses
  bool convertSelectOfConstantsToMath(EVT) const override { return true; }
  bool shouldConvertConstantLoadToIntImm(const APInt &, Type *) const override { return true; }
  bool isCheapToSpeculateCtlz(Type *Ty) const override { return !Ty->isVectorTy(); }
  bool isCheapToSpeculateCttz(Type *Ty) const override { return !Ty->isVectorTy(); }
  bool decomposeMulByConstant(LLVMContext &Context, EVT VT, SDValue C) const override;
  bool shouldProduceAndByConstByHoistingConstFromShiftsLHSOfAnd(SDValue X, ConstantSDNode *XConstant, ConstantSDNode *Mask, SDValue Y,
                                                                unsigned OldShift, unsigned NewShift, SelectionDAG &DAG) const override;
  bool hasAndNot(SDValue Value) const override { return Value.getValueType().isScalarInteger() && !isa<ConstantSDNode>(Value); }
  unsigned ComputeNumSignBitsForTargetNode(SDValue Op, const APInt &DemandedElts, const SelectionDAG &DAG, unsigned Depth) const override;
  bool targetShrinkDemandedConstant(SDValue Op, const APInt &DemandedBits, const APInt &DemandedElts,
                                    TargetLoweringOpt &TLO) const override;
  void computeKnownBitsForTargetNode(const SDValue Op, KnownBits &Known, const APInt &DemandedElts, const SelectionDAG &DAG,
                                     unsigned Depth) const override;
  Register getExceptionPointerRegister(const Constant *) const override;
  Register getExceptionSelectorRegister(const Constant *) const override;
  unsigned getJumpTableEncoding() const override;
  Register getRegisterByName(const char *Name, LLT Ty, const MachineFunction &MF) const override;
  bool shouldSignExtendTypeInLibCall(Type *Ty, bool IsSigned) const override { return Ty->isIntegerTy(32) || IsSigned; }

  // Atomics: fences around relaxed operations; narrow ones through a compare-and-swap of the word.
  bool shouldInsertFencesForAtomic(const Instruction *) const override { return true; }
  Instruction *emitLeadingFence(IRBuilderBase &Builder, Instruction *Inst, AtomicOrdering Order) const override;
  Instruction *emitTrailingFence(IRBuilderBase &Builder, Instruction *Inst, AtomicOrdering Order) const override;
  AtomicExpansionKind shouldExpandAtomicRMWInIR(AtomicRMWInst *RMW) const override;
  ISD::NodeType getExtendForAtomicOps() const override { return ISD::SIGN_EXTEND; }
  ISD::NodeType getExtendForAtomicCmpSwapArg() const override { return ISD::SIGN_EXTEND; }

  // Inline assembly.
  ConstraintType getConstraintType(StringRef Constraint) const override;
  std::pair<unsigned, const TargetRegisterClass *> getRegForInlineAsmConstraint(const TargetRegisterInfo *TRI, StringRef Constraint,
                                                                                MVT VT) const override;
  InlineAsm::ConstraintCode getInlineAsmMemConstraint(StringRef Constraint) const override;
  void LowerAsmOperandForConstraint(SDValue Op, StringRef Constraint, std::vector<SDValue> &Ops, SelectionDAG &DAG) const override;

  // Calls.
  SDValue LowerFormalArguments(SDValue Chain, CallingConv::ID CC, bool IsVarArg, const SmallVectorImpl<ISD::InputArg> &Ins, const SDLoc &DL,
                               SelectionDAG &DAG, SmallVectorImpl<SDValue> &InVals) const override;
  bool mayBeEmittedAsTailCall(const CallInst *Call) const override { return Call->isTailCall(); }
  SDValue LowerCall(CallLoweringInfo &CLI, SmallVectorImpl<SDValue> &InVals) const override;
  SDValue LowerReturn(SDValue Chain, CallingConv::ID CC, bool IsVarArg, const SmallVectorImpl<ISD::OutputArg> &Outs,
                      const SmallVectorImpl<SDValue> &OutVals, const SDLoc &DL, SelectionDAG &DAG) const override;
  bool CanLowerReturn(CallingConv::ID CC, MachineFunction &MF, bool IsVarArg, const SmallVectorImpl<ISD::OutputArg> &Outs,
                      LLVMContext &Context, const Type *RetTy) const override;

private:
  void setScalarActions();
  void setVectorActions();

  SDValue lowerAddress(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerThreadLocal(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerSelect(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerVASTART(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerFrameAddress(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerReturnAddress(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerClassTest(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerMinMax(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerBitcast(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerRounding(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerGetRounding(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerSetRounding(SDValue Op, SelectionDAG &DAG) const;

  SDValue lowerVectorOperation(SDValue Op, SelectionDAG &DAG) const;
  SDValue lowerBuiltin(CallLoweringInfo &CLI, SmallVectorImpl<SDValue> &InVals, bool &Handled) const;
};

} // namespace llvm
