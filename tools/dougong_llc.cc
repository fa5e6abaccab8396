// dougong-llc: LLVM IR in, assembly or an object file for the NPU's core out. LLVM's own code generation options
// (-verify-machineinstrs, -stop-after, -print-after-all …) work as in llc.
//
//   dougong-llc -O2 kernel.ll -o kernel.s        dougong-llc -filetype=obj --optimize kernel.bc -o kernel.o
#include "backend/dougong.h"
#include "tools/output.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

static cl::OptionCategory category("dougong-llc options");
static cl::opt<std::string> input(cl::Positional, cl::desc("<file.ll or file.bc>"), cl::init("-"), cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("output file (- for the terminal)"), cl::value_desc("file"), cl::init("-"),
                                   cl::cat(category));
static cl::opt<char> level("O", cl::desc("optimisation level 0, 1, 2 or 3 of code generation"), cl::Prefix, cl::init('2'),
                           cl::cat(category));
static cl::opt<bool> optimize("optimize", cl::desc("run the IR optimiser of that level first"), cl::cat(category));
static cl::opt<CodeGenFileType> type("filetype", cl::desc("what to write"), cl::init(CodeGenFileType::AssemblyFile), cl::cat(category),
                                     cl::values(clEnumValN(CodeGenFileType::AssemblyFile, "asm", "assembly"),
                                                clEnumValN(CodeGenFileType::ObjectFile, "obj", "an ELF object"),
                                                clEnumValN(CodeGenFileType::Null, "null", "nothing")));

static int fail(const Twine &message) {
  WithColor::error(errs(), "dougong-llc") << message << '\n';
  return 2;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  dougong::initializeDougongTarget();
  if (!cl::ParseCommandLineOptions(argc, argv, "LLVM IR to machine code of the Dougong core\n", &errs()))
    return 2;
  if (level < '0' || level > '3')
    return fail(Twine("optimisation level '") + Twine(char(level)) + "' is not one of 0, 1, 2, 3");

  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIRFile(input, diagnostic, context);
  if (!module) {
    diagnostic.print("dougong-llc", errs());
    return 2;
  }
  std::unique_ptr<TargetMachine> machine = dougong::createDougongMachine(level - '0');
  if (optimize)
    dougong::optimizeModule(*module, *machine, level - '0');

  // Written to memory first: nothing half-written where compilation fails.
  SmallString<0> bytes;
  raw_svector_ostream memory(bytes);
  if (Error error = dougong::emitModule(*module, *machine, memory, type))
    return fail(toString(std::move(error)));
  std::error_code code;
  ToolOutputFile file(output, code, type == CodeGenFileType::AssemblyFile ? sys::fs::OF_Text : sys::fs::OF_None);
  if (code)
    return fail(Twine("cannot write '") + output + "': " + code.message());
  file.os() << bytes;
  if ((code = dougong::keep(file)))
    return fail(Twine("cannot write '") + output + "': " + code.message());
}
