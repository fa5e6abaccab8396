// The calling convention, RISC-V's lp64: eight argument registers a0..a7 for integers and floats alike, then the stack;
// results in a0, a1. Vectors as values (which C never passes so) go in v0..v15, masks in m0..m3.
#include "DougongFunctionInfo.h"
#include "DougongISelLowering.h"
#include "DougongPackedLanes.h"
#include "DougongSubtarget.h"
#include "llvm/CodeGen/CallingConvLower.h"
#include "llvm/IR/DiagnosticInfo.h"

using namespace llvm;

static constexpr MCPhysReg ArgumentRegisters[] = {Dougong::X10, Dougong::X11, Dougong::X12, Dougong::X13,
                                                  Dougong::X14, Dougong::X15, Dougong::X16, Dougong::X17};
static constexpr MCPhysReg VectorRegisters[] = {Dougong::V0,  Dougong::V1,  Dougong::V2,  Dougong::V3, Dougong::V4,  Dougong::V5,
                                                Dougong::V6,  Dougong::V7,  Dougong::V8,  Dougong::V9, Dougong::V10, Dougong::V11,
                                                Dougong::V12, Dougong::V13, Dougong::V14, Dougong::V15};
static constexpr MCPhysReg MaskRegisters[] = {Dougong::M0, Dougong::M1, Dougong::M2, Dougong::M3};

// Places one legal piece of a value. `Results`: of a return. Returns true if it finds no place.
static bool place(CCState &State, unsigned Index, MVT VT, ISD::ArgFlagsTy Flags, bool Variadic, bool Results) {
  auto Register = [&](MCRegister Reg, MVT LocVT) {
    State.addLoc(CCValAssign::getReg(Index, VT, Reg, LocVT, CCValAssign::Full));
    return false;
  };
  if (VT.isVector()) {
    bool Mask = VT.getVectorElementType() == MVT::i1;
    if (MCRegister Reg = Mask ? State.AllocateReg(MaskRegisters) : State.AllocateReg(VectorRegisters))
      return Register(Reg, VT);
    if (Results)
      return true;
    State.addLoc(CCValAssign::getMem(Index, VT, State.AllocateStack(Mask ? 8 : 128, Align(Mask ? 8 : 16)), VT, CCValAssign::Full));
    return false;
  }
  // A variadic value of twice a register's size and alignment starts at an even register.
  if (Variadic && Flags.isSplit() && Flags.getNonZeroOrigAlign() == Align(16) && State.getFirstUnallocated(ArgumentRegisters) % 2 == 1)
    State.AllocateReg(ArgumentRegisters);
  ArrayRef<MCPhysReg> Available(ArgumentRegisters, Results ? 2 : 8);
  if (MCRegister Reg = State.AllocateReg(Available))
    return Register(Reg, VT);
  if (Results)
    return true;
  Align Alignment = Flags.isSplit() ? std::max(Align(8), std::min(Flags.getNonZeroOrigAlign(), Align(16))) : Align(8);
  State.addLoc(CCValAssign::getMem(Index, VT, State.AllocateStack(8, Alignment), VT, CCValAssign::Full));
  return false;
}

//===-- The callee's side ------------------------------------------------------------------------------------------===//

SDValue DougongTargetLowering::LowerFormalArguments(SDValue Chain, CallingConv::ID CC, bool IsVarArg,
                                                    const SmallVectorImpl<ISD::InputArg> &Ins, const SDLoc &DL, SelectionDAG &DAG,
                                                    SmallVectorImpl<SDValue> &InVals) const {
  MachineFunction &MF = DAG.getMachineFunction();
  MachineFrameInfo &MFI = MF.getFrameInfo();
  SmallVector<CCValAssign, 16> Locs;
  CCState State(CC, IsVarArg, MF, Locs, *DAG.getContext());
  for (unsigned I = 0; I < Ins.size(); ++I)
    place(State, I, Ins[I].VT, Ins[I].Flags, false, false);

  for (const CCValAssign &Loc : Locs) {
    MVT VT = Loc.getLocVT();
    if (Loc.isRegLoc()) {
      Register Reg = MF.addLiveIn(Loc.getLocReg(), getRegClassFor(VT));
      if (Ins[Loc.getValNo()].Flags.isSExt() && Ins[Loc.getValNo()].ArgVT.getSizeInBits() <= 32)
        MF.getInfo<DougongFunctionInfo>()->ExtendedArguments.insert(Reg);
      InVals.push_back(DAG.getCopyFromReg(Chain, DL, Reg, VT));
      continue;
    }
    // Little-endian: a value narrower than its slot stands at the slot's address.
    int FI = MFI.CreateFixedObject(VT.isVector() && VT != MVT::v32i1 ? 128 : 8, Loc.getLocMemOffset(), true);
    InVals.push_back(DAG.getLoad(VT, DL, Chain, DAG.getFrameIndex(FI, MVT::i64), MachinePointerInfo::getFixedStack(MF, FI)));
  }

  if (IsVarArg) {
    // The registers that may hold variadic arguments are stored right below those passed on the stack: one row in memory.
    auto *Info = MF.getInfo<DougongFunctionInfo>();
    unsigned First = State.getFirstUnallocated(ArgumentRegisters), Count = 8 - First;
    if (Count == 0) {
      Info->VarArgsFrameIndex = MFI.CreateFixedObject(8, State.getStackSize(), true);
    } else {
      Info->VarArgsFrameIndex = MFI.CreateFixedObject(8, -8 * int64_t(Count), false);
      if (Count % 2) // keeps the area, and so sp, aligned
        MFI.CreateFixedObject(8, -8 * int64_t(Count + 1), true);
      SmallVector<SDValue, 8> Stores;
      for (unsigned I = 0; I < Count; ++I) {
        int FI = I == 0 ? Info->VarArgsFrameIndex : MFI.CreateFixedObject(8, -8 * int64_t(Count - I), false);
        Register Reg = MF.addLiveIn(ArgumentRegisters[First + I], &Dougong::GPRRegClass);
        SDValue Value = DAG.getCopyFromReg(Chain, DL, Reg, MVT::i64);
        // Where va_arg reads it, nothing tells that it is this slot: the store must not say so either.
        Stores.push_back(DAG.getStore(Chain, DL, Value, DAG.getFrameIndex(FI, MVT::i64), MachinePointerInfo()));
      }
      Stores.push_back(Chain);
      Chain = DAG.getNode(ISD::TokenFactor, DL, MVT::Other, Stores);
    }
  }
  return Chain;
}

bool DougongTargetLowering::CanLowerReturn(CallingConv::ID CC, MachineFunction &MF, bool IsVarArg,
                                           const SmallVectorImpl<ISD::OutputArg> &Outs, LLVMContext &Context, const Type *) const {
  SmallVector<CCValAssign, 8> Locs;
  CCState State(CC, IsVarArg, MF, Locs, Context);
  for (unsigned I = 0; I < Outs.size(); ++I)
    if (place(State, I, Outs[I].VT, Outs[I].Flags, false, true))
      return false;
  return true;
}

SDValue DougongTargetLowering::LowerReturn(SDValue Chain, CallingConv::ID CC, bool IsVarArg, const SmallVectorImpl<ISD::OutputArg> &Outs,
                                           const SmallVectorImpl<SDValue> &OutVals, const SDLoc &DL, SelectionDAG &DAG) const {
  SmallVector<CCValAssign, 8> Locs;
  CCState State(CC, IsVarArg, DAG.getMachineFunction(), Locs, *DAG.getContext());
  for (unsigned I = 0; I < Outs.size(); ++I)
    place(State, I, Outs[I].VT, Outs[I].Flags, false, true);
  SmallVector<SDValue, 6> Operands = {Chain};
  SDValue Glue;
  for (unsigned I = 0; I < Locs.size(); ++I) {
    Chain = DAG.getCopyToReg(Chain, DL, Locs[I].getLocReg(), OutVals[I], Glue);
    Glue = Chain.getValue(1);
    Operands.push_back(DAG.getRegister(Locs[I].getLocReg(), Locs[I].getLocVT()));
  }
  Operands[0] = Chain;
  if (Glue)
    Operands.push_back(Glue);
  return DAG.getNode(DGISD::RET, DL, MVT::Other, Operands);
}

//===-- The caller's side ------------------------------------------------------------------------------------------===//

// Whether a call in tail position can jump: to a known function, with all arguments in registers, so that nothing of this frame is needed.
static bool canJump(const TargetLowering::CallLoweringInfo &CLI, unsigned StackBytes, const MachineFunction &MF) {
  auto *Global = dyn_cast<GlobalAddressSDNode>(CLI.Callee);
  if (!isa<ExternalSymbolSDNode>(CLI.Callee) && !(Global && Global->getOffset() == 0 && !Global->getGlobal()->hasExternalWeakLinkage()))
    return false;
  const Function &Caller = MF.getFunction();
  return StackBytes == 0 && CLI.CallConv == Caller.getCallingConv() && !Caller.hasStructRetAttr() &&
         none_of(CLI.Outs, [](const ISD::OutputArg &Out) { return Out.Flags.isByVal() || Out.Flags.isSRet(); });
}

SDValue DougongTargetLowering::LowerCall(CallLoweringInfo &CLI, SmallVectorImpl<SDValue> &InVals) const {
  bool Handled = false;
  SDValue BuiltinChain = lowerBuiltin(CLI, InVals, Handled);
  if (Handled)
    return BuiltinChain;

  SelectionDAG &DAG = CLI.DAG;
  const SDLoc &DL = CLI.DL;
  MachineFunction &MF = DAG.getMachineFunction();
  SmallVector<CCValAssign, 16> Locs;
  CCState State(CLI.CallConv, CLI.IsVarArg, MF, Locs, *DAG.getContext());
  for (unsigned I = 0; I < CLI.Outs.size(); ++I)
    place(State, I, CLI.Outs[I].VT, CLI.Outs[I].Flags, CLI.Outs[I].Flags.isVarArg(), false);
  unsigned StackBytes = alignTo(State.getStackSize(), 16);
  CLI.IsTailCall = CLI.IsTailCall && canJump(CLI, StackBytes, MF);
  if (!CLI.IsTailCall && CLI.CB && CLI.CB->isMustTailCall())
    DAG.getContext()->diagnose(
        DiagnosticInfoUnsupported(MF.getFunction(), "a call that must be a tail call; drop `musttail`", DL.getDebugLoc()));

  // byval: the callee gets the address of a copy.
  SDValue Chain = CLI.Chain;
  SmallVector<SDValue, 16> Values(CLI.OutVals.begin(), CLI.OutVals.end());
  for (unsigned I = 0; I < CLI.Outs.size(); ++I) {
    ISD::ArgFlagsTy Flags = CLI.Outs[I].Flags;
    if (!Flags.isByVal())
      continue;
    Align Alignment = Flags.getNonZeroByValAlign();
    int FI = MF.getFrameInfo().CreateStackObject(Flags.getByValSize(), Alignment, false);
    SDValue Copy = DAG.getFrameIndex(FI, MVT::i64), Size = DAG.getConstant(Flags.getByValSize(), DL, MVT::i64);
    Chain = DAG.getMemcpy(Chain, DL, Copy, Values[I], Size, Alignment, false, true, nullptr, std::nullopt, MachinePointerInfo(),
                          MachinePointerInfo());
    Values[I] = Copy;
  }

  if (!CLI.IsTailCall)
    Chain = DAG.getCALLSEQ_START(Chain, StackBytes, 0, DL);
  SmallVector<std::pair<Register, SDValue>, 8> InRegisters;
  SmallVector<SDValue, 8> Stores;
  SDValue StackPointer;
  for (unsigned I = 0; I < Locs.size(); ++I) {
    if (Locs[I].isRegLoc()) {
      InRegisters.push_back({Locs[I].getLocReg(), Values[I]});
      continue;
    }
    if (!StackPointer)
      StackPointer = DAG.getCopyFromReg(Chain, DL, Dougong::X2, MVT::i64);
    unsigned Offset = Locs[I].getLocMemOffset();
    SDValue Address = DAG.getNode(ISD::ADD, DL, MVT::i64, StackPointer, DAG.getConstant(Offset, DL, MVT::i64));
    Stores.push_back(DAG.getStore(Chain, DL, Values[I], Address, MachinePointerInfo::getStack(MF, Offset)));
  }
  if (!Stores.empty())
    Chain = DAG.getNode(ISD::TokenFactor, DL, MVT::Other, Stores);

  SDValue Glue;
  for (auto &[Reg, Value] : InRegisters) {
    Chain = DAG.getCopyToReg(Chain, DL, Reg, Value, Glue);
    Glue = Chain.getValue(1);
  }
  MachineFunction::CallSiteInfo Passed;
  for (unsigned I = 0; I < Locs.size(); ++I)
    if (Locs[I].isRegLoc())
      Passed.ArgRegPairs.emplace_back(Locs[I].getLocReg(), I);
  SDValue Callee = CLI.Callee;
  if (auto *Global = dyn_cast<GlobalAddressSDNode>(Callee)) {
    // An undefined weak function is called through its address, which may be out of reach; calling it is the program's mistake anyway.
    if (Global->getOffset() == 0 && !Global->getGlobal()->hasExternalWeakLinkage())
      Callee = DAG.getTargetGlobalAddress(Global->getGlobal(), DL, MVT::i64);
  } else if (auto *Symbol = dyn_cast<ExternalSymbolSDNode>(Callee)) {
    Callee = DAG.getTargetExternalSymbol(Symbol->getSymbol(), MVT::i64);
  }
  SmallVector<SDValue, 16> Operands = {Chain, Callee};
  for (auto &[Reg, Value] : InRegisters)
    Operands.push_back(DAG.getRegister(Reg, Value.getValueType()));
  if (CLI.IsTailCall) {
    if (Glue)
      Operands.push_back(Glue);
    MF.getFrameInfo().setHasTailCall();
    SDValue Jump = DAG.getNode(DGISD::TAIL, DL, MVT::Other, Operands);
    DAG.addCallSiteInfo(Jump.getNode(), std::move(Passed));
    DAG.addNoMergeSiteInfo(Jump.getNode(), CLI.NoMerge);
    return Jump;
  }
  Operands.push_back(DAG.getRegisterMask(Subtarget.getRegisterInfo()->getCallPreservedMask(MF, CLI.CallConv)));
  if (Glue)
    Operands.push_back(Glue);
  Chain = DAG.getNode(DGISD::CALL, DL, DAG.getVTList(MVT::Other, MVT::Glue), Operands);
  DAG.addCallSiteInfo(Chain.getNode(), std::move(Passed));
  DAG.addNoMergeSiteInfo(Chain.getNode(), CLI.NoMerge);
  if (CLI.CFIType && CLI.CB)
    Chain.getNode()->setCFIType(CLI.CFIType->getZExtValue());
  Glue = Chain.getValue(1);
  Chain = DAG.getCALLSEQ_END(Chain, StackBytes, 0, Glue, DL);
  Glue = Chain.getValue(1);

  SmallVector<CCValAssign, 8> Results;
  CCState ResultState(CLI.CallConv, CLI.IsVarArg, MF, Results, *DAG.getContext());
  for (unsigned I = 0; I < CLI.Ins.size(); ++I)
    place(ResultState, I, CLI.Ins[I].VT, CLI.Ins[I].Flags, false, true);
  for (const CCValAssign &Loc : Results) {
    SDValue Value = DAG.getCopyFromReg(Chain, DL, Loc.getLocReg(), Loc.getLocVT(), Glue);
    Chain = Value.getValue(1);
    Glue = Value.getValue(2);
    InVals.push_back(Value);
  }
  return Chain;
}

//===-- The engines' builtins (ARCHITECTURE.md, section 2) ------------------------------------------------------------===//

namespace {

// One builtin: the instruction it is, how its arguments become operands, and whether it returns a value. The operand order of the
// records: constants (queue, flag) first.
struct Builtin {
  const char *Name;
  unsigned Opcode;
  unsigned Constants; // leading arguments that must be constants
  unsigned Registers; // arguments after them
  bool Result;
};

} // namespace

// A constant argument of a call after legalisation; anything else is the program's mistake.
static bool constantArgument(SDValue Value, SDValue &Constant, SelectionDAG &DAG, const SDLoc &DL) {
  auto *Node = dyn_cast<ConstantSDNode>(Value);
  if (!Node)
    return false;
  Constant = DAG.getTargetConstant(Node->getZExtValue() & 0xffffffff, DL, MVT::i64);
  return true;
}

SDValue DougongTargetLowering::lowerBuiltin(CallLoweringInfo &CLI, SmallVectorImpl<SDValue> &InVals, bool &Handled) const {
  static const Builtin Builtins[] = {
      {"__dg_tensor", Dougong::DG_TENSOR, 0, 1, true},
      {"__dg_drain", Dougong::DG_DRAIN, 0, 1, true},
      {"__dg_dma", Dougong::DG_DMA, 1, 1, true},
      {"__dg_qwait", Dougong::DG_QWAIT, 2, 1, false},
      {"__dg_await", Dougong::DG_AWAIT, 1, 1, false},
      {"__dg_flag", Dougong::DG_FLAG, 1, 0, true},
      {"__dg_flag_add", Dougong::DG_FLAG_ADD, 1, 1, false},
  };
  static const std::pair<const char *, unsigned> Registers[] = {{"__dg_core", 0xF14}, {"__dg_cores", 0xCC0}, {"__dg_cycle", 0xC00}};

  StringRef Name;
  if (auto *Global = dyn_cast<GlobalAddressSDNode>(CLI.Callee))
    Name = Global->getGlobal()->getName();
  if (!Name.starts_with("__dg_"))
    return SDValue();
  SelectionDAG &DAG = CLI.DAG;
  SDLoc DL = CLI.DL;
  auto Refuse = [&](const Twine &Why) {
    DAG.getContext()->diagnose(
        DiagnosticInfoUnsupported(DAG.getMachineFunction().getFunction(), Twine(Name) + ": " + Why, DL.getDebugLoc()));
    Handled = true;
    for (const ISD::InputArg &In : CLI.Ins)
      InVals.push_back(DAG.getUNDEF(In.VT));
    return CLI.Chain;
  };

  if (Name.starts_with(packed::CallPrefix)) {
    std::string Why;
    SDValue Result = packed::lowerCall(Name, CLI, Why);
    if (!Result)
      return Refuse(Why);
    InVals.push_back(Result);
    Handled = true;
    CLI.IsTailCall = false;
    return CLI.Chain;
  }

  for (auto [Register, Number] : Registers)
    if (Name == Register) {
      if (!CLI.OutVals.empty() || CLI.Ins.size() != 1 || CLI.Ins[0].VT != MVT::i64)
        return Refuse("takes no argument and returns an i64");
      SDNode *Node = DAG.getMachineNode(Dougong::CSRRS, DL, DAG.getVTList(MVT::i64, MVT::Other),
                                        {DAG.getTargetConstant(Number, DL, MVT::i64), DAG.getRegister(Dougong::X0, MVT::i64), CLI.Chain});
      InVals.push_back(SDValue(Node, 0));
      Handled = true;
      return SDValue(Node, 1);
    }

  for (const Builtin &B : Builtins) {
    if (Name != B.Name)
      continue;
    if (CLI.OutVals.size() != B.Constants + B.Registers || CLI.Ins.size() != size_t(B.Result))
      return Refuse(Twine("takes ") + Twine(B.Constants + B.Registers) + " arguments and returns " + (B.Result ? "an i64" : "nothing"));
    SmallVector<SDValue, 4> Operands;
    for (unsigned I = 0; I < CLI.OutVals.size(); ++I) {
      SDValue Operand = CLI.OutVals[I];
      if (Operand.getValueType() != MVT::i64)
        return Refuse(Twine("argument ") + Twine(I + 1) + " must be an integer or a pointer");
      if (I < B.Constants && !constantArgument(CLI.OutVals[I], Operand, DAG, DL))
        return Refuse(Twine("argument ") + Twine(I + 1) + " must be a constant");
      Operands.push_back(Operand);
    }
    Operands.push_back(CLI.Chain);
    SDNode *Node = B.Result ? DAG.getMachineNode(B.Opcode, DL, DAG.getVTList(MVT::i64, MVT::Other), Operands)
                            : DAG.getMachineNode(B.Opcode, DL, MVT::Other, Operands);
    if (B.Result)
      InVals.push_back(SDValue(Node, 0));
    Handled = true;
    return SDValue(Node, B.Result);
  }
  return SDValue();
}
