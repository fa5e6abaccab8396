// Masked, gathered and scattered accesses. See DougongVectorLowering.h.
#include "DougongSubtarget.h"
#include "DougongVectorLowering.h"

using namespace llvm;
using namespace llvm::vectors;

namespace {
// The masked and indexed accesses of an element type in memory.
struct Accesses {
  MVT Memory;
  ISD::LoadExtType Extension;
  unsigned MaskedLoad, Gather, MaskedGather, MaskedStore, Scatter, MaskedScatter;
};
} // namespace

static const Accesses &accesses(EVT Memory, ISD::LoadExtType Extension) {
  static const Accesses Table[] = {
#define ROW(VT, EXT, E, W)                                                                                                                 \
  {MVT::VT,                                                                                                                                \
   ISD::EXT,                                                                                                                               \
   Dougong::VLDM_##E,                                                                                                                      \
   Dougong::VGATHER_##E,                                                                                                                   \
   Dougong::VGATHERM_##E,                                                                                                                  \
   Dougong::VSTM_##W,                                                                                                                      \
   Dougong::VSCATTER_##W,                                                                                                                  \
   Dougong::VSCATTERM_##W}
      ROW(v32f32, NON_EXTLOAD, 32, 32),      ROW(v32i32, NON_EXTLOAD, 32, 32), ROW(v32f16, NON_EXTLOAD, F16, F16),
      ROW(v32bf16, NON_EXTLOAD, BF16, BF16), ROW(v32i8, SEXTLOAD, I8, I8),     ROW(v32i8, ZEXTLOAD, U8, I8),
      ROW(v32i16, SEXTLOAD, I16, I16),       ROW(v32i16, ZEXTLOAD, U16, I16),
#undef ROW
  };
  bool Integer = Memory == MVT::v32i8 || Memory == MVT::v32i16;
  for (const Accesses &A : Table)
    if (Memory == A.Memory && (!Integer || Extension == A.Extension || (Extension != ISD::SEXTLOAD && A.Extension == ISD::ZEXTLOAD)))
      return A;
  report_fatal_error("dougong: a masked access of a type that is not split");
}

static SDValue machineNode(Builder B, unsigned Opcode, SDVTList VTs, ArrayRef<SDValue> Operands, MachineMemOperand *MMO) {
  MachineSDNode *Node = B.DAG.getMachineNode(Opcode, B.DL, VTs, Operands);
  B.DAG.setNodeMemRefs(Node, {MMO});
  return SDValue(Node, 0);
}

SDValue vectors::lowerMaskedLoad(SDValue Op, Builder B) {
  auto *Load = cast<MaskedLoadSDNode>(Op);
  unsigned Opcode = accesses(Load->getMemoryVT(), Load->getExtensionType()).MaskedLoad;
  return machineNode(B, Opcode, B.DAG.getVTList(Op.getValueType(), MVT::Other),
                     {Load->getPassThru(), Load->getBasePtr(), Load->getMask(), Load->getChain()}, Load->getMemOperand());
}

SDValue vectors::lowerMaskedStore(SDValue Op, Builder B) {
  auto *Store = cast<MaskedStoreSDNode>(Op);
  unsigned Opcode = accesses(Store->getMemoryVT(), ISD::NON_EXTLOAD).MaskedStore;
  return machineNode(B, Opcode, B.DAG.getVTList(MVT::Other), {Store->getValue(), Store->getBasePtr(), Store->getMask(), Store->getChain()},
                     Store->getMemOperand());
}

// Byte offsets from a base. LM is small: an index of 64 bits is cut to 32. Without a common base the addresses are the index.
static SDValue byteOffsets(MaskedGatherScatterSDNode *N, Builder B) {
  SDValue Index = N->getIndex();
  if (Index.getValueType() != I32)
    Index = B.node(ISD::TRUNCATE, I32, Index);
  uint64_t Scale = N->isIndexScaled() ? N->getScale()->getAsZExtVal() : 1;
  if (Scale == 1)
    return Index;
  if (isPowerOf2_64(Scale))
    return B.node(ISD::SHL, I32, {Index, B.lanes(int64_t(Log2_64(Scale)))});
  return B.node(ISD::MUL, I32, {Index, B.lanes(int64_t(Scale))});
}

static bool isAllOnes(SDValue M) { return ISD::isConstantSplatVectorAllOnes(M.getNode()); }

SDValue vectors::lowerGather(SDValue Op, Builder B) {
  auto *N = cast<MaskedGatherSDNode>(Op);
  const Accesses &A = accesses(N->getMemoryVT(), N->getExtensionType());
  SDVTList VTs = B.DAG.getVTList(Op.getValueType(), MVT::Other);
  SDValue Offsets = byteOffsets(N, B);
  if (isAllOnes(N->getMask()))
    return machineNode(B, A.Gather, VTs, {N->getBasePtr(), Offsets, N->getChain()}, N->getMemOperand());
  return machineNode(B, A.MaskedGather, VTs, {N->getPassThru(), N->getBasePtr(), Offsets, N->getMask(), N->getChain()}, N->getMemOperand());
}

SDValue vectors::lowerScatter(SDValue Op, Builder B) {
  auto *N = cast<MaskedScatterSDNode>(Op);
  const Accesses &A = accesses(N->getMemoryVT(), ISD::NON_EXTLOAD);
  SDVTList VTs = B.DAG.getVTList(MVT::Other);
  SDValue Offsets = byteOffsets(N, B);
  if (isAllOnes(N->getMask()))
    return machineNode(B, A.Scatter, VTs, {N->getValue(), N->getBasePtr(), Offsets, N->getChain()}, N->getMemOperand());
  return machineNode(B, A.MaskedScatter, VTs, {N->getValue(), N->getBasePtr(), Offsets, N->getMask(), N->getChain()}, N->getMemOperand());
}
