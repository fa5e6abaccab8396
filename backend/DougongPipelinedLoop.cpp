// What the software pipeliner must know of a loop and of memory accesses (the swing modulo scheduler of LLVM, before register allocation).
//
// A loop is pipelined if it is one block that counts down (DougongHardwareLoops), and if all it does is known: no calls, engine commands,
// waits, inline assembly, volatile or atomic accesses. Of the three blocks that come of it the middle one is the hardware loop:
//
//   prologue:   the first stages; leaves for the epilogue when the count has run out
//   kernel:     all stages, of several iterations at once;  left = left - 1;  branch while left != 0
//   epilogue:   the last stages
//
// The subtraction belongs to the first stage, so that the count is of the iterations that have not begun.
#include "DougongFunctionInfo.h"
#include "DougongInstrInfo.h"
#include "DougongSubtarget.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/CodeGen/MachinePipeliner.h"

using namespace llvm;

namespace {

// A constant made before the loop, if it is one.
std::optional<int64_t> constantOf(Register Reg, const MachineRegisterInfo &MRI) {
  if (Reg == Dougong::X0)
    return 0;
  const MachineInstr *Def = Reg.isVirtual() ? MRI.getUniqueVRegDef(Reg) : nullptr;
  if (!Def)
    return std::nullopt;
  switch (Def->getOpcode()) {
  case TargetOpcode::COPY:
    return Def->getOperand(1).getSubReg() ? std::nullopt : constantOf(Def->getOperand(1).getReg(), MRI);
  case Dougong::LUI:
    if (Def->getOperand(1).isImm())
      return SignExtend64<32>(uint64_t(Def->getOperand(1).getImm()) << 12);
    return std::nullopt;
  case Dougong::ADDI:
  case Dougong::ADDIW:
    if (!Def->getOperand(1).isReg() || !Def->getOperand(2).isImm())
      return std::nullopt;
    if (std::optional<int64_t> Base = constantOf(Def->getOperand(1).getReg(), MRI)) {
      int64_t Sum = *Base + Def->getOperand(2).getImm();
      return Def->getOpcode() == Dougong::ADDI ? Sum : SignExtend64<32>(Sum);
    }
    return std::nullopt;
  }
  return std::nullopt;
}

// The cycle in which an instruction of the first iteration issues.
int cycleOf(SUnit *Unit, SMSchedule &Schedule) {
  return Schedule.stageScheduled(Unit) * Schedule.getInitiationInterval() + int(Schedule.cycleScheduled(Unit));
}

// How many cycles a value lives in the schedule, up to its last use, in the next iteration too.
int lifetime(Register Value, SwingSchedulerDAG &Graph, SMSchedule &Schedule, int Defined) {
  int Last = Defined;
  for (MachineInstr &Use : Graph.MRI.use_nodbg_instructions(Value)) {
    SUnit *Unit = Graph.getSUnit(&Use);
    if (!Unit || Use.getParent() != Graph.MRI.getUniqueVRegDef(Value)->getParent())
      continue;
    if (!Use.isPHI()) {
      Last = std::max(Last, cycleOf(Unit, Schedule));
      continue;
    }
    for (MachineInstr &Later : Graph.MRI.use_nodbg_instructions(Use.getOperand(0).getReg()))
      if (SUnit *LaterUnit = Graph.getSUnit(&Later); LaterUnit && !Later.isPHI())
        Last = std::max(Last, cycleOf(LaterUnit, Schedule) + Schedule.getInitiationInterval());
  }
  return Last - Defined;
}

// Whether the schedule is faster than the loop as it is: an iteration of that takes as long as its longest chain, and the next may begin
// when its last instruction has issued. What a pipelined value outlives, an initiation interval, costs it a move; and what begins and
// drains costs about a kernel's time for each stage.
bool pays(SwingSchedulerDAG &Graph, SMSchedule &Schedule, std::optional<int64_t> Count) {
  int Interval = Schedule.getInitiationInterval(), Flat = 0, Scalar = -1, Vector = 0; // the count's subtraction is not executed
  for (SUnit &Unit : Graph.SUnits) {
    const MachineInstr &MI = *Unit.getInstr();
    if (MI.isPHI())
      continue;
    Flat = std::max(Flat, int(Unit.getDepth()) + 1);
    for (const MachineOperand &Def : MI.defs()) {
      if (!Def.getReg().isVirtual())
        continue;
      int Moves = std::max(lifetime(Def.getReg(), Graph, Schedule, cycleOf(&Unit, Schedule)) - 1, 0) / Interval;
      bool IsScalar = Graph.MRI.getRegClass(Def.getReg())->hasSuperClassEq(&Dougong::GPRRegClass);
      (IsScalar ? Scalar : Vector) += Moves + !MI.mayLoad();
    }
  }
  // Vector code fills its pipes, but for a cycle at each end, and its loops are long; of how often others run nothing is known.
  int64_t Kernel = std::max({Interval, Scalar, (Vector + 1) / 2}), Stages = Schedule.getMaxStageCount(),
          Times = Count.value_or(Vector ? 32 : 16);
  return Times > Stages && (Times + Stages) * Kernel < Times * std::max(Flat, Vector ? Interval + 1 : 0);
}

class CountedLoop : public TargetInstrInfo::PipelinerLoopInfo {
  const MachineInstr *Subtraction;
  SmallVector<MachineOperand, 3> Leave; // the condition under which the loop ends
  std::optional<int64_t> Count;

public:
  CountedLoop(const MachineInstr *Subtraction, ArrayRef<MachineOperand> Leave, std::optional<int64_t> Count)
      : Subtraction(Subtraction), Leave(Leave), Count(Count) {}

  bool shouldIgnoreForPipelining(const MachineInstr *MI) const override { return MI == Subtraction; }
  bool shouldUseSchedule(SwingSchedulerDAG &Graph, SMSchedule &Schedule) override { return pays(Graph, Schedule, Count); }
  std::optional<bool> createTripCountGreaterCondition(int TC, MachineBasicBlock &Prologue, SmallVectorImpl<MachineOperand> &Cond) override {
    for (MachineBasicBlock *Next : Prologue.successors())
      if (Next->isSuccessor(Next))
        Prologue.getParent()->getInfo<DougongFunctionInfo>()->Kernels.insert(Next);
    if (Count)
      return *Count > TC;
    Cond = Leave;
    return std::nullopt;
  }
  void adjustTripCount(int) override {}
  void setPreheader(MachineBasicBlock *) override {}
};

bool isOpaque(const MachineInstr &MI) {
  return MI.isCall() || MI.isInlineAsm() || MI.hasUnmodeledSideEffects() || (MI.mayLoadOrStore() && MI.hasOrderedMemoryRef());
}

// LLVM's expander of schedules gives the blocks around the kernel the wrong iteration's value of a PHI that hands another PHI on.
bool handsOnPhis(const MachineBasicBlock &Loop, const MachineRegisterInfo &MRI) {
  for (const MachineInstr &Phi : Loop.phis())
    for (unsigned I = 1; I < Phi.getNumOperands(); I += 2)
      if (const MachineInstr *From = MRI.getUniqueVRegDef(Phi.getOperand(I).getReg());
          Phi.getOperand(I + 1).getMBB() == &Loop && From && From->isPHI() && From->getParent() == &Loop)
        return true;
  return false;
}

// Whether a register is the same in each iteration, or grows by a constant.
bool standsOrRises(Register Reg, const MachineBasicBlock &Loop, const MachineRegisterInfo &MRI) {
  const MachineInstr *Def = Reg.isVirtual() ? MRI.getUniqueVRegDef(Reg) : nullptr;
  if (!Def)
    return Reg == Dougong::X0;
  if (Def->getParent() != &Loop)
    return true;
  if (Def->getOpcode() == Dougong::ADDI && Def->getOperand(1).isReg())
    return standsOrRises(Def->getOperand(1).getReg(), Loop, MRI);
  if (!Def->isPHI())
    return false;
  for (unsigned I = 1; I < Def->getNumOperands(); I += 2) {
    if (Def->getOperand(I + 1).getMBB() != &Loop)
      continue;
    const MachineInstr *Next = MRI.getUniqueVRegDef(Def->getOperand(I).getReg());
    if (!Next || (Next->getOpcode() != Dougong::ADDI && Next->getOpcode() != Dougong::ADD) || !Next->getOperand(1).isReg() ||
        Next->getOperand(1).getReg() != Def->getOperand(0).getReg())
      return false;
    const MachineOperand &By = Next->getOperand(2);
    std::optional<int64_t> Step = By.isReg() ? constantOf(By.getReg(), MRI) : By.isImm() ? std::optional(By.getImm()) : std::nullopt;
    if (!Step || *Step < 0)
      return false;
  }
  return true;
}

// Where a pointer moves down, LLVM loses the order of a store and a later iteration's load. So a loop that stores is pipelined only if
// every address is known to stand or rise.
bool mayLoseOrder(MachineBasicBlock &Loop, const DougongInstrInfo &Info, const MachineRegisterInfo &MRI) {
  bool Stores = false, Known = true;
  for (const MachineInstr &MI : Loop) {
    if (!MI.mayLoadOrStore())
      continue;
    SmallVector<const MachineOperand *, 1> Bases;
    int64_t Offset;
    bool Scalable;
    LocationSize Width = LocationSize::precise(0);
    Stores |= MI.mayStore();
    Known &= Info.getMemOperandsWithOffsetWidth(MI, Bases, Offset, Scalable, Width, &Info.getRegisterInfo()) &&
             (Bases[0]->isFI() || standsOrRises(Bases[0]->getReg(), Loop, MRI));
  }
  return Stores && !Known;
}

} // namespace

std::unique_ptr<TargetInstrInfo::PipelinerLoopInfo> DougongInstrInfo::analyzeLoopForPipelining(MachineBasicBlock *Loop) const {
  MachineBasicBlock *TBB = nullptr, *FBB = nullptr;
  SmallVector<MachineOperand, 3> Cond;
  if (analyzeBranch(*Loop, TBB, FBB, Cond, false) || Cond.empty() || any_of(*Loop, isOpaque))
    return nullptr;
  const MachineRegisterInfo &MRI = Loop->getParent()->getRegInfo();
  unsigned Again = TBB == Loop ? Dougong::BNE : Dougong::BEQ;
  if (Cond[0].getImm() != Again || constantOf(Cond[2].getReg(), MRI) != 0 || !Cond[1].getReg().isVirtual())
    return nullptr;
  MachineInstr *Subtraction = MRI.getUniqueVRegDef(Cond[1].getReg());
  int Step;
  if (!Subtraction || Subtraction->getParent() != Loop || !getIncrementValue(*Subtraction, Step) || Step != -1)
    return nullptr;
  const MachineInstr *Phi = MRI.getUniqueVRegDef(Subtraction->getOperand(1).getReg());
  if (!Phi || !Phi->isPHI() || Phi->getParent() != Loop)
    return nullptr;
  std::optional<int64_t> Count;
  for (unsigned I = 1; I < Phi->getNumOperands(); I += 2)
    if (Phi->getOperand(I + 1).getMBB() != Loop)
      Count = constantOf(Phi->getOperand(I).getReg(), MRI);
    else if (Phi->getOperand(I).getReg() != Cond[1].getReg())
      return nullptr;
  if (handsOnPhis(*Loop, MRI) || mayLoseOrder(*Loop, *this, MRI))
    return nullptr;
  // The compare is with zero itself, not with a copy of it that would have to be pipelined.
  Loop->getFirstTerminator()->getOperand(1).setReg(Dougong::X0);
  Cond[2] = MachineOperand::CreateReg(Dougong::X0, false);
  if (Again == Dougong::BNE)
    reverseBranchCondition(Cond);
  return std::make_unique<CountedLoop>(Subtraction, Cond, Count);
}

bool DougongInstrInfo::getIncrementValue(const MachineInstr &MI, int &Value) const {
  if (MI.getOpcode() != Dougong::ADDI || !MI.getOperand(1).isReg() || !MI.getOperand(2).isImm())
    return false;
  Value = int(MI.getOperand(2).getImm());
  return true;
}

// `rd, imm(rs)`: all loads and stores with a distance; not post-increment, masks and indices, atomics.
bool DougongInstrInfo::getMemOperandsWithOffsetWidth(const MachineInstr &MI, SmallVectorImpl<const MachineOperand *> &BaseOps,
                                                     int64_t &Offset, bool &OffsetIsScalable, LocationSize &Width,
                                                     const TargetRegisterInfo *) const {
  if (!MI.mayLoadOrStore() || MI.getNumExplicitOperands() != 3 || !MI.hasOneMemOperand() || MI.hasUnmodeledSideEffects())
    return false;
  const MachineOperand &Base = MI.getOperand(1), &Distance = MI.getOperand(2);
  if (!(Base.isReg() || Base.isFI()) || !Distance.isImm())
    return false;
  BaseOps.push_back(&Base);
  Offset = Distance.getImm();
  OffsetIsScalable = false;
  Width = (*MI.memoperands_begin())->getSize();
  return true;
}

bool DougongInstrInfo::areMemAccessesTriviallyDisjoint(const MachineInstr &A, const MachineInstr &B) const {
  if (A.hasUnmodeledSideEffects() || B.hasUnmodeledSideEffects() || A.hasOrderedMemoryRef() || B.hasOrderedMemoryRef())
    return false;
  SmallVector<const MachineOperand *, 1> BasesA, BasesB;
  int64_t OffsetA, OffsetB;
  bool Scalable;
  LocationSize WidthA = LocationSize::precise(0), WidthB = WidthA;
  if (!getMemOperandsWithOffsetWidth(A, BasesA, OffsetA, Scalable, WidthA, &RegInfo) ||
      !getMemOperandsWithOffsetWidth(B, BasesB, OffsetB, Scalable, WidthB, &RegInfo) || !BasesA[0]->isIdenticalTo(*BasesB[0]))
    return false;
  const LocationSize &Lower = OffsetA < OffsetB ? WidthA : WidthB;
  return Lower.hasValue() && !Lower.isScalable() && std::min(OffsetA, OffsetB) + int64_t(Lower.getValue()) <= std::max(OffsetA, OffsetB);
}

// Whether a value depends on a PHI of its own block, by way of other PHIs too.
static bool dependsOn(const MachineInstr *Value, const MachineInstr *Phi, const MachineRegisterInfo &MRI) {
  SmallVector<const MachineInstr *, 16> Work = {Value};
  SmallPtrSet<const MachineInstr *, 16> Seen;
  while (!Work.empty()) {
    const MachineInstr *MI = Work.pop_back_val();
    if (MI == Phi)
      return true;
    if (MI->getParent() != Phi->getParent() || !Seen.insert(MI).second)
      continue;
    for (const MachineOperand &MO : MI->uses())
      if (MO.isReg() && MO.getReg().isVirtual())
        if (const MachineInstr *Def = MRI.getUniqueVRegDef(MO.getReg()))
          Work.push_back(Def);
  }
  return false;
}

// To the pipeliner a value that reaches the next iteration through a PHI is there one cycle after its instruction. Where that value depends
// on itself, this would make the loop's bound too small: the rest of the latency is counted between the PHI and who uses it.
void DougongSubtarget::adjustSchedDependency(SUnit *Def, int, SUnit *, int, SDep &Dep, const TargetSchedModel *Model) const {
  const MachineInstr *Phi = Def->isInstr() ? Def->getInstr() : nullptr; // not of selection's nodes
  if (!Phi || !Phi->isPHI() || Dep.getKind() != SDep::Data)
    return;
  const MachineRegisterInfo &MRI = Phi->getMF()->getRegInfo();
  for (unsigned I = 1; I < Phi->getNumOperands(); I += 2) {
    const MachineInstr *From =
        Phi->getOperand(I + 1).getMBB() == Phi->getParent() ? MRI.getUniqueVRegDef(Phi->getOperand(I).getReg()) : nullptr;
    if (From && From->getParent() == Phi->getParent() && !From->isPHI() && dependsOn(From, Phi, MRI))
      Dep.setLatency(std::max(Model->computeInstrLatency(From), 1u) - 1);
  }
}

// A kernel is scheduled again before and after registers are allocated, as every block is. There all that waits for an earlier iteration is
// ready at once; what counts is the chain within, not registers, whose number the modulo schedule has bounded.
void DougongSubtarget::overrideSchedPolicy(MachineSchedPolicy &Policy, const SchedRegion &Region) const {
  const MachineBasicBlock *Block = Region.RegionBegin->getParent();
  if (!Block->getParent()->getInfo<DougongFunctionInfo>()->Kernels.contains(Block))
    return;
  Policy.OnlyTopDown = true;
  Policy.OnlyBottomUp = false;
  Policy.ShouldTrackPressure = false;
}
