// Removes `sext.w` of what is sign-extended already, across blocks. Selection sees one block at a time, so a loop's i32 counter,
// for one, is extended before every compare.
//
//   %c = PHI %start, %d               %c = PHI %start, %d     every value that reaches the PHI is now a word operation's, which
//   %e = ADDIW %c, 0               →                          sign-extends; the addition may become one because nobody looks at
//   BLT %e, …                         BLT %c, …               the upper half of its result
//   %d = ADDI %c, 1                   %d = ADDIW %c, 1
//
// Likewise one whose users all take the low 32 bits only. A load of 64 bits of which the low half is wanted, sign-extended, becomes LW.
#include "DougongFunctionInfo.h"
#include "DougongInstrInfo.h"
#include "DougongPasses.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/Function.h"
#include <set>

using namespace llvm;

namespace {

class DougongRemoveExtensions : public MachineFunctionPass {
public:
  static char ID;
  DougongRemoveExtensions() : MachineFunctionPass(ID) {}
  StringRef getPassName() const override { return "Dougong removal of word extensions"; }
  bool runOnMachineFunction(MachineFunction &MF) override;
};

char DougongRemoveExtensions::ID = 0;

} // namespace

FunctionPass *llvm::createDougongRemoveExtensions() { return new DougongRemoveExtensions(); }

// What an instruction says about bits 31..63 of its result.
enum class Extension {
  Signed,  // all equal
  Sources, // all equal if those of its register sources are: and, or, xor, a select, a PHI, a copy
  Unknown
};

// Instructions on the low words of their sources, with the word of the result sign-extended.
static bool isWordOperation(const MachineInstr &MI) {
  switch (MI.getOpcode()) {
  case Dougong::ADDW:
  case Dougong::SUBW:
  case Dougong::ADDIW:
  case Dougong::SLLW:
  case Dougong::SRLW:
  case Dougong::SRAW:
  case Dougong::SLLIW:
  case Dougong::SRLIW:
  case Dougong::SRAIW:
  case Dougong::MULW:
  case Dougong::DIVW:
  case Dougong::DIVUW:
  case Dougong::REMW:
  case Dougong::REMUW:
  case Dougong::ROLW:
  case Dougong::RORW:
  case Dougong::RORIW:
  case Dougong::CLZW:
  case Dougong::CTZW:
  case Dougong::CPOPW:
    return true;
  }
  return false;
}

static Extension extensionOf(const MachineInstr &MI) {
  if (isWordOperation(MI))
    return Extension::Signed;
  switch (MI.getOpcode()) {
  case Dougong::CLZ:
  case Dougong::CTZ:
  case Dougong::CPOP:
  case Dougong::LUI:
  case Dougong::LB:
  case Dougong::LBU:
  case Dougong::LH:
  case Dougong::LHU:
  case Dougong::LW:
  case Dougong::SLT:
  case Dougong::SLTU:
  case Dougong::SLTI:
  case Dougong::SLTIU:
  case Dougong::SEXT_B:
  case Dougong::SEXT_H:
  case Dougong::ZEXT_H:
  case Dougong::FEQ_S:
  case Dougong::FLT_S:
  case Dougong::FLE_S:
  case Dougong::FEQ_D:
  case Dougong::FLT_D:
  case Dougong::FLE_D:
  case Dougong::FCLASS_S:
  case Dougong::FCLASS_D:
  case Dougong::VEXTRACT_I:
  case Dougong::VEXTRACT_X:
    return Extension::Signed;
  case Dougong::ADDI: // a small constant
    return MI.getOperand(1).isReg() && MI.getOperand(1).getReg() == Dougong::X0 ? Extension::Signed : Extension::Unknown;
  case Dougong::ANDI:
    return MI.getOperand(2).isImm() && MI.getOperand(2).getImm() >= 0 ? Extension::Signed : Extension::Sources;
  case Dougong::SRLI:
    return MI.getOperand(2).getImm() > 32 ? Extension::Signed : Extension::Unknown;
  case Dougong::SRAI:
    return MI.getOperand(2).getImm() >= 32 ? Extension::Signed : Extension::Sources;
  case Dougong::AND:
  case Dougong::OR:
  case Dougong::XOR:
  case Dougong::ANDN:
  case Dougong::ORN:
  case Dougong::XNOR:
  case Dougong::ORI:
  case Dougong::XORI:
  case Dougong::MIN:
  case Dougong::MAX:
  case Dougong::MINU:
  case Dougong::MAXU:
  case Dougong::REM:
  case Dougong::PHI:
  case Dougong::COPY:
    return Extension::Sources;
  }
  return Extension::Unknown;
}

// The word operation with the same low 32 bits; 0 if there is none.
static unsigned wordOpcode(const MachineInstr &MI) {
  switch (MI.getOpcode()) {
  case Dougong::ADD:
    return Dougong::ADDW;
  case Dougong::SUB:
    return Dougong::SUBW;
  case Dougong::MUL:
    return Dougong::MULW;
  case Dougong::ADDI:
    return MI.getOperand(1).isReg() && MI.getOperand(2).isImm() ? Dougong::ADDIW : 0;
  case Dougong::LD:
    return MI.hasOneMemOperand() && MI.memoperands().front()->isUnordered() && !MI.memoperands().front()->isVolatile() &&
                   MI.getOperand(2).isImm()
               ? Dougong::LW
               : 0;
  case Dougong::LWU:
    return MI.getOperand(2).isImm() ? Dougong::LW : 0;
  case Dougong::SLLI:
    return MI.getOperand(2).getImm() < 32 ? Dougong::SLLIW : 0;
  }
  return 0;
}

// Whether nobody looks at bits 32..63 of `Reg`: users are word operations, narrow stores of it, and what carries low bits on to such.
static bool onlyWordIsUsed(Register Reg, const MachineRegisterInfo &MRI) {
  SmallVector<Register, 16> Work = {Reg};
  SmallPtrSet<const MachineInstr *, 16> Seen;
  while (!Work.empty()) {
    Register R = Work.pop_back_val();
    for (const MachineOperand &MO : MRI.use_nodbg_operands(R)) {
      const MachineInstr &User = *MO.getParent();
      if (isWordOperation(User))
        continue;
      switch (User.getOpcode()) {
      case Dougong::SEXT_B:
      case Dougong::SEXT_H:
      case Dougong::ZEXT_H:
      case Dougong::FCVT_S_W:
      case Dougong::FCVT_S_WU:
      case Dougong::FCVT_D_W:
      case Dougong::FCVT_D_WU:
        continue;
      case Dougong::SW:
      case Dougong::SH:
      case Dougong::SB:
        if (User.getOperand(0).getReg() == R && !(User.getOperand(1).isReg() && User.getOperand(1).getReg() == R))
          continue;
        return false;
      case Dougong::ADD:
      case Dougong::SUB:
      case Dougong::MUL:
      case Dougong::ADDI:
      case Dougong::AND:
      case Dougong::OR:
      case Dougong::XOR:
      case Dougong::ANDI:
      case Dougong::ORI:
      case Dougong::XORI:
      case Dougong::SLLI:
      case Dougong::PHI:
      case Dougong::COPY:
        if (!User.getOperand(0).getReg().isVirtual() || Seen.size() > 64)
          return false;
        if (Seen.insert(&User).second)
          Work.push_back(User.getOperand(0).getReg());
        continue;
      }
      return false;
    }
  }
  return true;
}

// Whether every value that reaches `Reg` is sign-extended from 32 bits, or can be made so: those instructions go to `Narrow`. Follows
// sources through PHIs, loops included: what is on the way already is assumed, which is sound because every path into the loop is looked
// at.
static bool isSignExtended(Register Reg, const MachineRegisterInfo &MRI, SmallVectorImpl<MachineInstr *> &Narrow) {
  SmallVector<Register, 16> Work = {Reg};
  SmallPtrSet<const MachineInstr *, 16> Seen;
  while (!Work.empty()) {
    Register R = Work.pop_back_val();
    if (R == Dougong::X0)
      continue;
    if (!R.isVirtual())
      return false;
    MachineInstr *MI = MRI.getVRegDef(R);
    if (!MI || Seen.size() > 64)
      return false;
    if (!Seen.insert(MI).second)
      continue;
    if (MI->isCopy() && MI->getOperand(1).getReg().isPhysical()) {
      if (MI->getOperand(1).getReg() == Dougong::X0 || MI->getMF()->getInfo<DougongFunctionInfo>()->ExtendedArguments.contains(R))
        continue;
      return false;
    }
    switch (extensionOf(*MI)) {
    case Extension::Signed:
      break;
    case Extension::Unknown:
      if (!wordOpcode(*MI) || !onlyWordIsUsed(MI->getOperand(0).getReg(), MRI))
        return false;
      Narrow.push_back(MI);
      break;
    case Extension::Sources:
      for (const MachineOperand &MO : MI->uses())
        if (MO.isReg())
          Work.push_back(MO.getReg());
    }
  }
  return true;
}

// Variables of more than 32 bits whose debug values are `Reg`, of which only the word will be right from now on.
static SmallVector<MachineInstr *, 2> wideVariables(Register Reg, const MachineRegisterInfo &MRI) {
  SmallVector<MachineInstr *, 2> Values;
  for (MachineInstr &User : MRI.use_instructions(Reg))
    if (User.isDebugValue()) {
      auto Fragment = User.getDebugExpression()->getFragmentInfo();
      std::optional<uint64_t> Bits = Fragment ? Fragment->SizeInBits : User.getDebugVariable()->getSizeInBits();
      if (!Bits || *Bits > 32)
        Values.push_back(&User);
    }
  return Values;
}

// An operation becomes the one with the same low 32 bits.
static void narrow(MachineInstr &MI, const TargetInstrInfo &TII, const MachineRegisterInfo &MRI) {
  MI.setDesc(TII.get(wordOpcode(MI)));
  for (MachineInstr *Value : wideVariables(MI.getOperand(0).getReg(), MRI))
    Value->setDebugValueUndef(); // the upper half is nowhere
}

// An operation that a word operation on the same sources repeats, and of which only the word is used, becomes that word operation, so that
// common subexpressions are found:   %a = ADDI %x, 1; %b = ADDIW %x, 1   →   %a = ADDIW %x, 1; %b = ADDIW %x, 1
static bool alignWithWords(MachineFunction &MF) {
  const MachineRegisterInfo &MRI = MF.getRegInfo();
  const TargetInstrInfo &TII = *MF.getSubtarget().getInstrInfo();
  using Key = std::tuple<unsigned, unsigned, int64_t>;
  auto KeyOf = [](const MachineInstr &MI, unsigned Opcode) {
    const MachineOperand &Second = MI.getOperand(2);
    return Key(Opcode, MI.getOperand(1).getReg(), Second.isReg() ? int64_t(Second.getReg().id()) : Second.getImm());
  };
  auto HasKey = [](const MachineInstr &MI) {
    return MI.getNumOperands() == 3 && MI.getOperand(1).isReg() && (MI.getOperand(2).isReg() || MI.getOperand(2).isImm());
  };
  std::set<Key> Words;
  for (const MachineBasicBlock &Block : MF)
    for (const MachineInstr &MI : Block)
      switch (MI.getOpcode()) {
      case Dougong::ADDW:
      case Dougong::SUBW:
      case Dougong::MULW:
      case Dougong::ADDIW:
      case Dougong::SLLIW:
        if (HasKey(MI))
          Words.insert(KeyOf(MI, MI.getOpcode()));
      }
  bool Changed = false;
  for (MachineBasicBlock &Block : MF)
    for (MachineInstr &MI : Block)
      switch (MI.getOpcode()) {
      case Dougong::ADD:
      case Dougong::SUB:
      case Dougong::MUL:
      case Dougong::ADDI:
      case Dougong::SLLI:
        if (unsigned Word = HasKey(MI) ? wordOpcode(MI) : 0; Word && MI.getOperand(0).getReg().isVirtual() &&
                                                             Words.count(KeyOf(MI, Word)) &&
                                                             onlyWordIsUsed(MI.getOperand(0).getReg(), MRI)) {
          narrow(MI, TII, MRI);
          Changed = true;
        }
      }
  return Changed;
}

bool DougongRemoveExtensions::runOnMachineFunction(MachineFunction &MF) {
  if (skipFunction(MF.getFunction()))
    return false;
  MachineRegisterInfo &MRI = MF.getRegInfo();
  const TargetInstrInfo &TII = *MF.getSubtarget().getInstrInfo();
  bool Changed = false;
  for (MachineBasicBlock &Block : MF)
    for (MachineInstr &MI : make_early_inc_range(Block)) {
      if (MI.getOpcode() != Dougong::ADDIW || !MI.getOperand(1).isReg() || !MI.getOperand(2).isImm() || MI.getOperand(2).getImm() != 0)
        continue;
      Register Result = MI.getOperand(0).getReg(), Source = MI.getOperand(1).getReg();
      SmallVector<MachineInstr *, 8> Narrow;
      bool OnlyWord = onlyWordIsUsed(Result, MRI);
      if (!Source.isVirtual() || !(OnlyWord || isSignExtended(Source, MRI, Narrow)) ||
          !MRI.constrainRegClass(Source, MRI.getRegClass(Result)))
        continue;
      for (MachineInstr *Wide : Narrow)
        narrow(*Wide, TII, MRI);
      if (OnlyWord) // the debugger extends
        for (MachineInstr *Value : wideVariables(Result, MRI)) {
          if (Value->isNonListDebugValue() && !Value->isIndirectDebugValue())
            Value->getDebugExpressionOp().setMetadata(DIExpression::appendExt(Value->getDebugExpression(), 32, 64, true));
          else
            Value->setDebugValueUndef();
        }
      MRI.replaceRegWith(Result, Source);
      MRI.clearKillFlags(Source);
      MI.eraseFromParent();
      Changed = true;
    }
  return alignWithWords(MF) || Changed;
}
