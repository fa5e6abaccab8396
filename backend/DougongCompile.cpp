// The public interface: see dougong.h.
#include "DougongPasses.h"
#include "DougongTargetMachine.h"
#include "dougong.h"
#include "isa/machine_layout.h"
#include "mc/DougongMCTargetDesc.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/InitializePasses.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;

static Error failure(const Twine &Message) { return createStringError(inconvertibleErrorCode(), Message); }

// Variables are bound to the instructions that compute them, not to places in the code, which the schedulers would change under them (a
// debugger then shows a value that was, or will be). LLVM has no other way to ask for that than its option.
static void followVariablesByInstruction() {
  auto Found = cl::getRegisteredOptions().find("experimental-debug-variable-locations");
  if (Found != cl::getRegisteredOptions().end() && Found->second->getNumOccurrences() == 0)
    static_cast<cl::opt<cl::boolOrDefault> *>(Found->second)->setValue(cl::boolOrDefault::BOU_TRUE);
}

void dougong::initializeDougongTarget() {
  initializeDougongMC();
  static const bool Registered = [] {
    Target &T = getTheDougongTarget();
    TargetRegistry::RegisterTargetMachine(
        T,
        [](const Target &T, const Triple &TT, StringRef CPU, StringRef FS, const TargetOptions &Options, std::optional<Reloc::Model> RM,
           std::optional<CodeModel::Model> CM, CodeGenOptLevel OL,
           bool JIT) -> TargetMachine * { return new DougongTargetMachine(T, TT, CPU, FS, Options, RM, CM, OL, JIT); });
    TargetRegistry::RegisterAsmPrinter(T, createDougongAsmPrinter);
    PassRegistry &Passes = *PassRegistry::getPassRegistry();
    followVariablesByInstruction();
    initializeCore(Passes);
    initializeCodeGen(Passes);
    initializeAnalysis(Passes);
    // Software pipelining must not end in spills: schedules that need too many registers are no schedules.
    cl::Option *Pressure = cl::getRegisteredOptions().lookup("pipeliner-register-pressure");
    if (Pressure && !Pressure->getNumOccurrences())
      static_cast<cl::opt<bool> *>(Pressure)->setValue(true);
    return true;
  }();
  (void)Registered;
}

std::unique_ptr<TargetMachine> dougong::createDougongMachine(int OptLevel) {
  initializeDougongTarget();
  TargetOptions Options;
  Options.AllowFPOpFusion = FPOpFusion::Standard; // a*b+c is fused only where the source says so (D5)
  Options.EmitCallSiteInfo = true;                // debug information says what a call passed
  auto Level = OptLevel <= 0 ? CodeGenOptLevel::None : OptLevel == 1 ? CodeGenOptLevel::Less : CodeGenOptLevel::Default;
  return std::unique_ptr<TargetMachine>(
      getTheDougongTarget().createTargetMachine(Triple(targetTriple), "", "", Options, Reloc::Static, CodeModel::Medium, Level));
}

void dougong::optimizeModule(Module &M, TargetMachine &Machine, int OptLevel) {
  M.setTargetTriple(Triple(targetTriple));
  M.setDataLayout(targetDataLayout);
  if (OptLevel <= 0)
    return;
  PassBuilder Passes(&Machine);
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  CGSCCAnalysisManager Components;
  ModuleAnalysisManager Modules;
  Passes.registerModuleAnalyses(Modules);
  Passes.registerCGSCCAnalyses(Components);
  Passes.registerFunctionAnalyses(Functions);
  Passes.registerLoopAnalyses(Loops);
  Passes.crossRegisterProxies(Loops, Functions, Components, Modules);
  // Variables that live partly in memory, partly in registers: what is right where is followed through the optimiser, as clang does.
  Passes.registerPipelineStartEPCallback([](ModulePassManager &Manager, OptimizationLevel) { Manager.addPass(AssignmentTrackingPass()); });
  OptimizationLevel Level = OptLevel == 1 ? OptimizationLevel::O1 : OptLevel == 2 ? OptimizationLevel::O2 : OptimizationLevel::O3;
  Passes.buildPerModuleDefaultPipeline(Level).run(M, Modules);
}

namespace {

// Keeps the errors that code generation reports; warnings and remarks go to stderr, as everywhere in LLVM. A frame larger than the
// function's attribute "warn-stack-size" is an error here: a kernel that overflows its stack in LM would write over its tiles.
class Errors : public DiagnosticHandler {
  std::vector<std::string> &Messages;

public:
  explicit Errors(std::vector<std::string> &Messages) : Messages(Messages) {}
  bool handleDiagnostics(const DiagnosticInfo &Info) override {
    if (Info.getSeverity() != DS_Error && Info.getKind() != DK_StackSize)
      return false;
    std::string Message;
    raw_string_ostream OS(Message);
    DiagnosticPrinterRawOStream Printer(OS);
    Info.print(Printer);
    Message = StringRef(Message).rtrim().str();
    if (!is_contained(Messages, Message)) // of one line inlined in many places
      Messages.push_back(Message);
    return true;
  }
};

// A line each, of the first so many.
Error failures(ArrayRef<std::string> Messages) {
  constexpr size_t Most = 20;
  std::string Text = join(Messages.take_front(Most), "\n");
  if (Messages.size() > Most)
    Text += ("\nand " + Twine(Messages.size() - Most) + " more").str();
  return failure(Text);
}

} // namespace

Error dougong::emitModule(Module &M, TargetMachine &Machine, raw_pwrite_stream &Out, CodeGenFileType Type) {
  M.setTargetTriple(Triple(targetTriple));
  M.setDataLayout(targetDataLayout);
  std::string Invalid;
  raw_string_ostream OS(Invalid);
  if (verifyModule(M, &OS))
    return failure("the module is not valid LLVM IR: " + Invalid);
  std::vector<std::string> Messages;
  auto Previous = M.getContext().getDiagnosticHandler();
  M.getContext().setDiagnosticHandler(std::make_unique<Errors>(Messages));
  scope_exit Restore([&] { M.getContext().setDiagnosticHandler(std::move(Previous)); });
  refuseUnsupported(M);
  if (!Messages.empty())
    return failures(Messages);
  legacy::PassManager Passes;
  if (Machine.addPassesToEmitFile(Passes, Out, nullptr, Type))
    return failure("this kind of output is not supported");
  Passes.run(M);
  return Messages.empty() ? Error::success() : failures(Messages);
}

Expected<std::string> dougong::compileToObject(Module &M, int OptLevel) {
  std::unique_ptr<TargetMachine> Machine = createDougongMachine(OptLevel);
  optimizeModule(M, *Machine, OptLevel);
  SmallString<0> Bytes;
  raw_svector_ostream OS(Bytes);
  if (Error E = emitModule(M, *Machine, OS, CodeGenFileType::ObjectFile))
    return std::move(E);
  return std::string(Bytes);
}

//===-- Linking kernels --------------------------------------------------------------------------------------------===//

namespace {

// A file in the temporary folder that goes when this goes.
class TemporaryFile {
  SmallString<128> Path;

public:
  static Expected<TemporaryFile> create(StringRef Suffix) {
    TemporaryFile File;
    if (std::error_code EC = sys::fs::createTemporaryFile("dougong", Suffix, File.Path))
      return failure("cannot create a temporary file: " + EC.message());
    return std::move(File);
  }
  TemporaryFile() = default;
  TemporaryFile(TemporaryFile &&Other) { std::swap(Path, Other.Path); }
  ~TemporaryFile() {
    if (!Path.empty())
      sys::fs::remove(Path);
  }
  StringRef path() const { return Path; }
  Error write(StringRef Bytes) {
    std::error_code EC;
    raw_fd_ostream OS(Path, EC);
    OS << Bytes;
    OS.close();
    if (EC || OS.has_error())
      return failure("cannot write " + Path);
    return Error::success();
  }
  Expected<std::string> read() const {
    auto Buffer = MemoryBuffer::getFile(Path);
    if (!Buffer)
      return failure("cannot read " + Path);
    return (*Buffer)->getBuffer().str();
  }
};

} // namespace

Expected<std::string> dougong::linkKernels(ArrayRef<std::string> Objects) {
  SmallVector<TemporaryFile, 4> Inputs;
  for (const std::string &Object : Objects) {
    auto File = TemporaryFile::create("o");
    if (!File)
      return File.takeError();
    if (Error E = File->write(Object))
      return std::move(E);
    Inputs.push_back(std::move(*File));
  }
  auto Output = TemporaryFile::create("elf"), Messages = TemporaryFile::create("txt");
  if (!Output)
    return Output.takeError();
  if (!Messages)
    return Messages.takeError();
  std::string Base = ("--image-base=0x" + Twine::utohexstr(DG_DRAM_BASE)).str();
  SmallVector<StringRef, 16> Arguments = {"ld.lld",  "--no-relax", "-pie", "--no-dynamic-linker", "-e", "0", "-z",
                                          "norelro", Base,         "-o",   Output->path()};
  for (const TemporaryFile &Input : Inputs)
    Arguments.push_back(Input.path());
  // What the optimiser and the expansion of operations call: memcpy, memset, 128-bit division, functions of libm.
  for (StringRef Library : {"--start-group", DOUGONG_PICOLIBC "/lib/rv64im/lp64/libm.a", DOUGONG_PICOLIBC "/lib/rv64im/lp64/libc.a",
                            DOUGONG_LIBGCC, "--end-group"})
    Arguments.push_back(Library);
  std::optional<StringRef> Redirects[] = {StringRef(""), Messages->path(), Messages->path()};
  std::string Why;
  int Status = sys::ExecuteAndWait(DOUGONG_LLD, Arguments, std::nullopt, Redirects, 0, 0, &Why);
  if (Status != 0) {
    auto Text = Messages->read();
    if (!Text)
      return Text.takeError();
    return failure(Twine("linking the kernels failed") + (Why.empty() ? "" : " (" + Why + ")") + ": " + StringRef(*Text).trim());
  }
  return Output->read();
}
