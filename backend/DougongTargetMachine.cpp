// See DougongTargetMachine.h.
#include "DougongTargetMachine.h"
#include "DougongFunctionInfo.h"
#include "DougongPasses.h"
#include "DougongSubtarget.h"
#include "DougongTargetTransformInfo.h"
#include "dougong.h"
#include "llvm/CodeGen/MachineScheduler.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetLoweringObjectFileImpl.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/Transforms/Scalar.h"

using namespace llvm;

namespace {

// Constants are read by scalar code; init_array as on every ELF target of today.
class DougongObjectFile : public TargetLoweringObjectFileELF {
public:
  void Initialize(MCContext &Context, const TargetMachine &TM) override {
    TargetLoweringObjectFileELF::Initialize(Context, TM);
    InitializeELF(true);
  }
  // Kernels' images move, whatever the relocation model: a table of addresses is written when they do.
  MCSection *SelectSectionForGlobal(const GlobalObject *Object, SectionKind Kind, const TargetMachine &TM) const override {
    auto *Variable = dyn_cast<GlobalVariable>(Object);
    bool Moves = Variable && Variable->hasInitializer() && Variable->getInitializer()->needsRelocation();
    return TargetLoweringObjectFileELF::SelectSectionForGlobal(Object,
                                                               Moves && Kind.isReadOnly() ? SectionKind::getReadOnlyWithRel() : Kind, TM);
  }
  // Beside its function where that may be left out, or be another file's.
  MCSection *getSectionForJumpTable(const Function &F, const TargetMachine &TM) const override {
    const Comdat *Group = F.getComdat();
    if (!Group && !TM.getFunctionSections())
      return DataRelROSection;
    unsigned Flags = ELF::SHF_ALLOC | ELF::SHF_WRITE | (Group ? ELF::SHF_GROUP : 0);
    return getContext().getELFSection(".data.rel.ro." + TM.getSymbol(&F)->getName(), ELF::SHT_PROGBITS, Flags, 0,
                                      Group ? Group->getName() : "", /*IsComdat=*/Group != nullptr);
  }
  MCSection *getSectionForJumpTable(const Function &F, const TargetMachine &TM, const MachineJumpTableEntry *) const override {
    return getSectionForJumpTable(F, TM);
  }
};

class DougongPassConfig : public TargetPassConfig {
public:
  DougongPassConfig(DougongTargetMachine &TM, PassManagerBase &PM) : TargetPassConfig(TM, PM) {
    // The post-RA scheduler of the machine scheduler's family takes the place of the old list scheduler.
    if (TM.getOptLevel() != CodeGenOptLevel::None)
      substitutePass(&PostRASchedulerID, &PostMachineSchedulerID);
  }

  void addIRPasses() override {
    addPass(createDougongVectorExpansion());
    addPass(createDougongPackedLanes());
    addPass(createAtomicExpandLegacyPass());
    TargetPassConfig::addIRPasses();
  }
  void addCodeGenPrepare() override {
    if (getOptLevel() != CodeGenOptLevel::None) {
      addPass(createDougongHardwareLoops());
      addPass(createLoopTermFoldPass());        // other loops end where a pointer ends, not where a counter does
      addPass(createTypePromotionLegacyPass()); // bytes and halfwords compute in whole registers, without extensions between
    }
    TargetPassConfig::addCodeGenPrepare();
  }
  bool addPreISel() override {
    if (getOptLevel() != CodeGenOptLevel::None) // one address and offsets for the variables of a file
      addPass(createGlobalMergePass(TM, 2047, /*OnlyOptimizeForSize=*/false, /*MergeExternalByDefault=*/false));
    return false;
  }
  bool addInstSelector() override {
    addPass(createDougongISelDag(getTM<DougongTargetMachine>(), getOptLevel()));
    return false;
  }
  void addMachineSSAOptimization() override {
    addPass(createDougongRemoveExtensions());
    TargetPassConfig::addMachineSSAOptimization();
  }
  void addPreRegAlloc() override {
    if (getOptLevel() != CodeGenOptLevel::None) {
      addPass(&MachinePipelinerID);
      addPass(createDougongPostIncrement());
    }
  }
  void addPreSched2() override { addPass(createDougongExpandPseudos()); }
  void addPreEmitPass() override {
    addPass(&BranchRelaxationPassID);
    if (getOptLevel() != CodeGenOptLevel::None)
      addPass(createDougongLoopEnds());
  }
};

} // namespace

DougongTargetMachine::DougongTargetMachine(const Target &T, const Triple &TT, StringRef CPU, StringRef FS, const TargetOptions &Options,
                                           std::optional<Reloc::Model>, std::optional<CodeModel::Model>, CodeGenOptLevel OL, bool)
    : CodeGenTargetMachineImpl(T, dougong::targetDataLayout, TT, CPU, FS, Options, Reloc::Static, CodeModel::Medium, OL),
      ObjectFile(std::make_unique<DougongObjectFile>()), Subtarget(std::make_unique<DougongSubtarget>(TT, CPU, FS, *this)) {
  initAsmInfo();
  setCFIFixup(true);                 // blocks behind one with a frame may have none
  setSupportsDebugEntryValues(true); // a debugger finds a lost argument where the caller computed it
}

DougongTargetMachine::~DougongTargetMachine() = default;

const TargetSubtargetInfo *DougongTargetMachine::getSubtargetImpl(const Function &) const { return Subtarget.get(); }

TargetPassConfig *DougongTargetMachine::createPassConfig(PassManagerBase &PM) { return new DougongPassConfig(*this, PM); }

TargetTransformInfo DougongTargetMachine::getTargetTransformInfo(const Function &F) const {
  return TargetTransformInfo(std::make_unique<DougongTTIImpl>(this, F));
}

MachineFunctionInfo *DougongTargetMachine::createMachineFunctionInfo(BumpPtrAllocator &Allocator, const Function &F,
                                                                     const TargetSubtargetInfo *STI) const {
  return DougongFunctionInfo::create<DougongFunctionInfo>(Allocator, F, STI);
}

ScheduleDAGInstrs *DougongTargetMachine::createMachineScheduler(MachineSchedContext *C) const { return createSchedLive(C); }

ScheduleDAGInstrs *DougongTargetMachine::createPostMachineScheduler(MachineSchedContext *C) const { return createSchedPostRA(C); }
