// dougong-cc: C (and freestanding C++) to programs for the NPU's core: packaged clang as the front end, our backend, packaged lld,
// picolibc.
//
//   dougong-cc -O2 main.c more.c -o program      dougong-cc -c -g file.c -o file.o      dougong-cc -S file.c -o -
//
// Options it does not know go to clang (-I, -D, -W…, -std=…, -f…); -Wl,… and -l, -L go to the linker, -mllvm OPTION to our code generator.
#include "backend/dougong.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using Strings = std::vector<std::string>;

namespace {

// What the command line asks for.
struct Request {
  Strings inputs, clang, linker, llvm;
  std::string output;
  char level = '0';
  enum { Link, Object, Assembly, Clang } stage = Link; // Clang: -E, -emit-llvm and the like, where clang's own output is wanted
  bool verbose = false, start_files = true;
};

} // namespace

static int fail(const Twine &message) {
  WithColor::error(errs(), "dougong-cc") << message << '\n';
  return 2;
}

static int run(const Strings &command, bool verbose) {
  if (verbose)
    errs() << join(command, " ") << '\n';
  std::vector<StringRef> arguments(command.begin(), command.end());
  std::string why;
  int status = sys::ExecuteAndWait(command[0], arguments, std::nullopt, {}, 0, 0, &why);
  if (status < 0)
    return fail("cannot run " + command[0] + ": " + why);
  return status == 1 ? 2 : status; // clang's and lld's status for a mistake, which they have explained
}

static const char usage[] = "usage: dougong-cc [-c|-S] [-O2] [-g] [-o output] file.c ...";

// What an input's name must end in, unless -x says what it is.
static bool is_source(StringRef path) {
  static const char *const endings[] = {".c", ".i", ".h", ".cc", ".cpp", ".cxx", ".C", ".ii", ".S", ".s", ".ll", ".bc", ".o", ".a"};
  return llvm::is_contained(endings, sys::path::extension(path));
}

static bool parse(int argc, char **argv, Request &request) {
  for (int i = 1; i < argc; ++i) {
    StringRef argument = argv[i];
    bool complete = true;
    auto next = [&]() -> std::string {
      complete = ++i < argc;
      return complete ? argv[i] : "";
    };
    if (argument == "-o")
      request.output = next();
    else if (argument == "-c")
      request.stage = Request::Object;
    else if (argument == "-S")
      request.stage = Request::Assembly;
    else if (argument == "-E" || argument == "-fsyntax-only" || argument == "-M" || argument == "-MM" || argument == "-emit-llvm") {
      request.stage = Request::Clang;
      request.clang.push_back(argument.str());
    } else if (argument == "-mllvm")
      request.llvm.push_back(next());
    else if (argument == "-v")
      request.verbose = true;
    else if (argument == "-nostartfiles" || argument == "-nostdlib")
      request.start_files = false;
    else if (argument.starts_with("-Wl,")) {
      SmallVector<StringRef> parts;
      argument.drop_front(4).split(parts, ',');
      for (StringRef part : parts)
        request.linker.push_back(part.str());
    } else if (argument == "-lm") { // mathematics is in picolibc's C library
    } else if (argument.starts_with("-l") || argument.starts_with("-L") || argument == "-T") {
      request.linker.push_back(argument.str());
      if (argument == "-T" || argument == "-L" || argument == "-l")
        request.linker.push_back(next());
    } else if (argument == "-I" || argument == "-D" || argument == "-U" || argument == "-include" || argument == "-isystem" ||
               argument == "-x" || argument == "-Xclang" || argument == "-MF" || argument == "-MT" || argument == "-MQ" ||
               argument == "-iquote") {
      request.clang.push_back(argument.str());
      request.clang.push_back(next());
    } else if (argument.starts_with("-O") && argument.size() <= 3) {
      char level = argument.size() == 2 ? '1' : argument[2];
      request.level = level == 's' || level == 'z' || level == 'g' ? (level == 'g' ? '1' : '2') : level;
      if (request.level < '0' || request.level > '3')
        return fail("unknown optimisation level '" + argument + "'; there are -O0, -O1, -O2, -O3, -Os, -Oz, -Og"), false;
      request.clang.push_back(argument.str());
    } else if (argument.starts_with("-") && argument != "-")
      request.clang.push_back(argument.str());
    else
      request.inputs.push_back(argument.str());
    if (!complete)
      return fail("'" + argument + "' wants a value after it"), false;
  }
  if (request.inputs.empty())
    return fail(Twine("no input files; ") + usage), false;
  for (const std::string &input : request.inputs)
    if (input != "-" && !is_source(input) && !llvm::is_contained(request.clang, "-x"))
      return fail("'" + input + "' is no C, C++, assembly, LLVM IR or object file by its name; -x LANGUAGE says what it is"), false;
  if (request.inputs.size() > 1 && !request.output.empty() && request.stage != Request::Link)
    return fail("-o names one output, but there are " + Twine(request.inputs.size()) + " inputs; drop -o, or compile them one by one"),
           false;
  return true;
}

static Strings front_end(const Request &request) {
  Strings command = {DOUGONG_CLANG,
                     "--target=riscv64-dougong-elf",
                     "-march=rv64ima_zicsr_zfinx_zdinx_zba_zbb",
                     "-mabi=lp64",
                     "-mcmodel=medany",
                     "-ftls-model=local-exec",
                     "-ffp-contract=off",
                     "-nostdlibinc",
                     "-isystem",
                     DOUGONG_PICOLIBC "/include",
                     "-isystem",
                     DOUGONG_DEVICE "/include",
                     "-D__DOUGONG__=1",
                     "-Wno-override-module"};
  command.insert(command.end(), request.clang.begin(), request.clang.end());
  return command;
}

// One C, C++, LLVM IR or bitcode file to `output`, an object or assembly. Returns the exit status.
static int compile(const Request &request, const std::string &input, const std::string &output) {
  StringRef extension = sys::path::extension(input);
  SmallString<128> bitcode;
  scope_exit remove([&] {
    if (!bitcode.empty())
      sys::fs::remove(bitcode);
  });
  std::string ir = input;
  if (extension != ".ll" && extension != ".bc") {
    if (std::error_code code = sys::fs::createTemporaryFile("dougong", "bc", bitcode))
      return fail("cannot create a temporary file: " + code.message());
    Strings command = front_end(request);
    // The optimiser runs here, with this target's costs, not in clang with those of a stock RISC-V.
    for (const char *option : {"-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-o"})
      command.push_back(option);
    command.insert(command.end(), {bitcode.str().str(), input});
    if (int status = run(command, request.verbose))
      return status;
    ir = bitcode.str().str();
  }
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIRFile(ir, diagnostic, context);
  if (!module) {
    diagnostic.print("dougong-cc", errs());
    return 2;
  }
  int level = request.level - '0';
  std::unique_ptr<TargetMachine> machine = dougong::createDougongMachine(level);
  dougong::optimizeModule(*module, *machine, level);
  SmallString<0> bytes;
  raw_svector_ostream memory(bytes);
  bool assembly = request.stage == Request::Assembly;
  if (Error error = dougong::emitModule(*module, *machine, memory, assembly ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile))
    return fail(input + ": " + toString(std::move(error)));
  std::error_code code;
  ToolOutputFile file(output, code, sys::fs::OF_None);
  if (code)
    return fail("cannot write '" + output + "': " + code.message());
  file.os() << bytes;
  file.keep();
  return 0;
}

static int link(const Request &request, const Strings &objects) {
  const std::string library = DOUGONG_PICOLIBC "/lib/rv64im/lp64/";
  Strings command = {DOUGONG_LLD, "-nostdlib", "--no-relax", "--gc-sections", "-o", request.output.empty() ? "a.out" : request.output};
  if (llvm::find(request.linker, "-T") == request.linker.end())
    command.insert(command.end(), {"-T", DOUGONG_DEVICE "/program.ld"});
  if (request.start_files) // what is weak in the C library is linked in, because 0 is out of reach: see program.ld
    command.insert(command.end(), {"-u", "__call_exitprocs", "-u", "gettimeofday", "-u", "__semihost_creat_time", "-u",
                                   "__semihost_write_time", library + "crt0-semihost.o"});
  command.insert(command.end(), objects.begin(), objects.end());
  command.insert(command.end(), request.linker.begin(), request.linker.end());
  if (request.start_files)
    command.insert(command.end(),
                   {"--start-group", library + "libc.a", library + "libm.a", library + "libsemihost.a", DOUGONG_LIBGCC, "--end-group"});
  return run(command, request.verbose);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  Request request;
  if (argc == 2 && (StringRef(argv[1]) == "--help" || StringRef(argv[1]) == "-h")) {
    outs() << usage
           << "\n\nC and freestanding C++ to programs for the NPU's core. -Wl,... -l -L -T go to the linker, -mllvm OPTION to the code\n"
           << "generator, -nostartfiles leaves the C library's start-up out; all other options go to clang.\n";
    return 0;
  }
  if (!parse(argc, argv, request))
    return 2;
  dougong::initializeDougongTarget();
  if (!request.llvm.empty()) {
    std::vector<const char *> options = {"dougong-cc"};
    for (const std::string &option : request.llvm)
      options.push_back(option.c_str());
    cl::ParseCommandLineOptions(int(options.size()), options.data());
  }
  if (request.stage == Request::Clang) {
    Strings command = front_end(request);
    command.insert(command.end(), request.inputs.begin(), request.inputs.end());
    if (!request.output.empty())
      command.insert(command.end(), {"-o", request.output});
    return run(command, request.verbose);
  }

  Strings objects, temporary;
  scope_exit remove([&] {
    for (const std::string &path : temporary)
      sys::fs::remove(path);
  });
  for (const std::string &input : request.inputs) {
    if (!sys::fs::exists(input) && input != "-")
      return fail("no such file: '" + input + "'");
    StringRef extension = sys::path::extension(input);
    if (request.stage == Request::Link && (extension == ".o" || extension == ".a")) {
      objects.push_back(input);
      continue;
    }
    std::string output = request.output;
    if (request.stage == Request::Link) {
      SmallString<128> path;
      if (std::error_code code = sys::fs::createTemporaryFile("dougong", "o", path))
        return fail("cannot create a temporary file: " + code.message());
      output = path.str().str();
      temporary.push_back(output);
      objects.push_back(output);
    } else if (output.empty()) {
      output = sys::path::stem(input).str() + (request.stage == Request::Assembly ? ".s" : ".o");
    }
    if (int status = compile(request, input, output))
      return status;
  }
  return request.stage == Request::Link ? link(request, objects) : 0;
}
