// dougong-cc: C (and freestanding C++) to programs for the NPU's core: packaged clang as the front end, our backend, packaged lld,
// picolibc.
//
//   dougong-cc -O2 main.c more.c -o program      dougong-cc -c -g file.c -o file.o      dougong-cc -S file.c -o -
//
//   main.c --clang--> LLVM IR --optimizer, backend--> main.o --+
//   start.S --clang -E--> start.s --our assembler--> start.o --+--lld--> program
//   old.o, libold.a -------------------------------------------+
#include "backend/dougong.h"
#include "tools/compiler_arguments.h"
#include "tools/machine_code.h"
#include "tools/output.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using dougong::CompilerArguments;
using Strings = std::vector<std::string>;
using Stage = CompilerArguments::Stage;
using Language = CompilerArguments::Language;

static int fail(const Twine &message) {
  WithColor::error(errs(), "dougong-cc") << message << '\n';
  return 2;
}

// Files in the temporary folder, which go with the program.
class TemporaryFiles {
public:
  ~TemporaryFiles() {
    for (const std::string &path : paths)
      sys::fs::remove(path);
  }
  // A new one's path; empty if there is no room, which has been told.
  std::string add(StringRef suffix) {
    SmallString<128> path;
    if (std::error_code code = sys::fs::createTemporaryFile("dougong", suffix, path))
      return fail("cannot create a temporary file: " + code.message()), "";
    paths.push_back(path.str().str());
    return paths.back();
  }

private:
  Strings paths;
};

class Driver {
public:
  explicit Driver(CompilerArguments arguments) : to(std::move(arguments)) {}
  int run();
  int ask(const Strings &question); // clang, with `question` in the place of inputs

private:
  using Input = CompilerArguments::Input;
  int execute(const Strings &command);
  Strings front_end() const;
  int clang_alone(const Input &input);
  std::string named_after(const Input &input, StringRef suffix) const;
  void add_dependencies(Strings &command, const Input &input) const;
  int translate(const Input &input, const Strings &options, StringRef suffix, std::string &file);
  int make(const Input &input, const std::string &output);
  int compile(const Input &input, const std::string &output);
  int assemble(const Input &input, const std::string &output);
  int write(const std::string &output, StringRef bytes);
  int link(const Strings &objects);

  CompilerArguments to;
  TemporaryFiles temporary;
};

int Driver::execute(const Strings &command) {
  if (to.verbose || to.dry)
    errs() << '"' << join(command, "\" \"") << "\"\n";
  if (to.dry)
    return 0;
  std::vector<StringRef> words(command.begin(), command.end());
  std::string why;
  int status = sys::ExecuteAndWait(command[0], words, std::nullopt, {}, 0, 0, &why);
  if (status < 0)
    return fail("cannot run " + command[0] + ": " + why);
  return status == 1 ? 2 : status; // clang's and lld's status for a mistake, which they have explained
}

Strings Driver::front_end() const {
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
                     "-Wno-override-module",
                     "-fno-exceptions",
                     "-fno-rtti"};
  command.insert(command.end(), to.clang.begin(), to.clang.end());
  return command;
}

int Driver::ask(const Strings &question) {
  Strings command = front_end();
  command.insert(command.end(), question.begin(), question.end());
  return execute(command);
}

static void add_input(Strings &command, const CompilerArguments::Input &input) {
  if (!input.clang_language.empty())
    command.insert(command.end(), {"-x", input.clang_language});
  command.push_back(input.path);
}

// What clang does by itself: -E, -M, -fsyntax-only.
int Driver::clang_alone(const Input &input) {
  Strings command = front_end();
  if (to.stage == Stage::Check)
    command.push_back("-fsyntax-only");
  add_input(command, input);
  if (!to.output.empty())
    command.insert(command.end(), {"-o", to.output});
  return execute(command);
}

std::string Driver::named_after(const Input &input, StringRef suffix) const { return sys::path::stem(input.path).str() + suffix.str(); }

// -MD: the file and the target that clang would choose are those of its own output, a temporary file.
void Driver::add_dependencies(Strings &command, const Input &input) const {
  if (!to.dependencies)
    return;
  bool object = to.stage != Stage::Link && !to.output.empty() && to.output != "-";
  std::string target = object ? to.output : named_after(input, ".o");
  if (!to.dependency_file) {
    SmallString<128> file(object ? StringRef(to.output) : StringRef(target));
    sys::path::replace_extension(file, "d");
    command.insert(command.end(), {"-MF", file.str().str()});
  }
  if (!to.dependency_target)
    command.insert(command.end(), {"-MT", target});
}

// clang's work on an input, into a temporary file, whose name it gives.
int Driver::translate(const Input &input, const Strings &options, StringRef suffix, std::string &file) {
  if ((file = temporary.add(suffix)).empty())
    return 2;
  Strings command = front_end();
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), {"-o", file});
  add_dependencies(command, input);
  add_input(command, input);
  return execute(command);
}

int Driver::write(const std::string &output, StringRef bytes) {
  std::error_code code;
  ToolOutputFile file(output, code, sys::fs::OF_None);
  if (!code) {
    file.os() << bytes;
    code = dougong::keep(file);
  }
  return code ? fail("cannot write '" + output + "': " + code.message()) : 0;
}

// C, C++ or LLVM IR to an object, assembly, IR or bitcode.
int Driver::compile(const Input &input, const std::string &output) {
  std::string ir = input.path;
  if (input.language != Language::Ir) {
    // The optimiser runs here, with this target's costs, not in clang with those of a stock RISC-V.
    if (int status = translate(input, {"-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c"}, "bc", ir))
      return status;
  }
  if (to.dry)
    return 0;
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIRFile(ir, diagnostic, context);
  if (!module) {
    diagnostic.print("dougong-cc", errs());
    return 2;
  }
  std::unique_ptr<TargetMachine> machine = dougong::createDougongMachine(to.level);
  machine->Options.FunctionSections = to.function_sections;
  machine->Options.DataSections = to.data_sections;
  machine->Options.EmitStackSizeSection = to.stack_sizes;
  if (to.stack_usage) {
    SmallString<128> file(to.stage != Stage::Link && !to.output.empty() && to.output != "-" ? to.output : named_after(input, ".o"));
    sys::path::replace_extension(file, "su");
    machine->Options.StackUsageOutput = file.str().str();
  }
  dougong::optimizeModule(*module, *machine, to.level);
  SmallString<0> bytes;
  raw_svector_ostream memory(bytes);
  bool text = to.stage == Stage::Assembly;
  if (to.emit_llvm)
    text ? module->print(memory, nullptr) : WriteBitcodeToFile(*module, memory);
  else if (Error error = dougong::emitModule(*module, *machine, memory, text ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile))
    return fail(input.path + ": " + toString(std::move(error)));
  return write(output, bytes);
}

// Assembly to an object, through the preprocessor if it wants that.
int Driver::assemble(const Input &input, const std::string &output) {
  std::string text = input.path;
  if (input.language == Language::PreprocessedAssembly)
    if (int status = translate(input, {"-E"}, "s", text))
      return status;
  if (to.dry)
    return 0;
  auto buffer = MemoryBuffer::getFileOrSTDIN(text, /*IsText=*/true);
  if (!buffer)
    return fail("cannot read '" + text + "': " + buffer.getError().message());
  SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  dougong::MachineCode machine;
  SmallString<0> bytes;
  raw_svector_ostream memory(bytes);
  if (!dougong::assemble(machine, sources, dougong::Assembled::object, /*aliases=*/true, /*encoding=*/false, memory))
    return 2;
  return write(output, bytes);
}

int Driver::make(const Input &input, const std::string &output) {
  return input.language == Language::Assembly || input.language == Language::PreprocessedAssembly ? assemble(input, output)
                                                                                                  : compile(input, output);
}

// `objects`: of each input.
int Driver::link(const Strings &objects) {
  const std::string library = DOUGONG_PICOLIBC "/lib/rv64im/lp64/";
  Strings command = {DOUGONG_LLD, "-nostdlib", "--no-relax", "-o", to.output.empty() ? "a.out" : to.output};
  bool program = !to.relocatable;
  if (program)
    command.push_back("--gc-sections");
  if (program && !to.script)
    command.insert(command.end(), {"-T", DOUGONG_DEVICE "/program.ld"});
  if (program && to.start_files) // what is weak in the C library is linked in, because 0 is out of reach: see program.ld
    command.insert(command.end(), {"-u", "__call_exitprocs", "-u", "gettimeofday", "-u", "__semihost_creat_time", "-u",
                                   "__semihost_write_time", "--wrap=main", "-u", "__wrap_main", library + "crt0-hosted.o"});
  for (const CompilerArguments::LinkItem &item : to.link)
    command.push_back(item.input < 0 ? item.option : objects[item.input]);
  if (program && to.libraries)
    command.insert(command.end(), {"--start-group", DOUGONG_DEVICE_LIBRARY, library + "libc.a", library + "libm.a",
                                   library + "libsemihost.a", DOUGONG_LIBGCC, "--end-group"});
  return execute(command);
}

int Driver::run() {
  Strings objects;
  int status = 0; // what is wrong with one input does not keep the next from being looked at
  for (const Input &input : to.inputs) {
    std::string output = to.output;
    if (to.stage == Stage::Preprocess || to.stage == Stage::Check) {
      status = std::max(status, clang_alone(input));
      continue;
    }
    if (input.language == Language::Linked)
      output = input.path;
    else if (to.stage == Stage::Link)
      output = temporary.add("o");
    else if (output.empty())
      output = named_after(input, to.emit_llvm ? (to.stage == Stage::Assembly ? ".ll" : ".bc") : to.stage == Stage::Assembly ? ".s" : ".o");
    if (output.empty())
      return 2;
    objects.push_back(output);
    if (input.language != Language::Linked)
      status = std::max(status, make(input, output));
  }
  return to.stage == Stage::Link && status == 0 ? link(objects) : status;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  BumpPtrAllocator memory;
  SmallVector<const char *, 64> words(argv + 1, argv + argc);
  cl::ExpansionContext expansion(memory, cl::TokenizeGNUCommandLine); // @file
  if (Error error = expansion.expandResponseFiles(words))
    return fail(toString(std::move(error)));
  CompilerArguments arguments;
  if (!arguments.parse(Strings(words.begin(), words.end())))
    return 2;
  if (arguments.answer == CompilerArguments::Answer::Help) {
    outs() << CompilerArguments::help();
    return 0;
  }
  dougong::initializeDougongTarget();
  if (!arguments.llvm.empty()) {
    std::vector<const char *> options = {"dougong-cc"};
    for (const std::string &option : arguments.llvm)
      options.push_back(option.c_str());
    if (!cl::ParseCommandLineOptions(int(options.size()), options.data(), "", &errs()))
      return 2;
  }
  CompilerArguments::Answer answer = arguments.answer;
  Driver driver(std::move(arguments));
  if (answer == CompilerArguments::Answer::Version) {
    outs() << "dougong-cc " DOUGONG_VERSION ", with the front end of\n";
    outs().flush();
    return driver.ask({"--version"});
  }
  return answer == CompilerArguments::Answer::AskClang ? driver.ask({}) : driver.run();
}
