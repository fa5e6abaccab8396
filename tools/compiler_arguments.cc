#include "tools/compiler_arguments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

namespace dougong {
namespace {

// How an option takes its value.
enum class Form {
  alone,    // none
  prefix,   // whatever follows in the same word: -std=c11
  separate, // in the next word: -Xclang -foo
  either    // in the same word or the next: -Idir, -I dir
};
enum class Use { clang, linker, nothing, refused, question };

struct Option {
  StringRef name;
  Form form;
  Use use;
  const char *reason = ""; // why it is refused
};

const char *const one_machine = "the NPU's core has one instruction set and one calling convention";
const char *const static_only = "programs for the NPU are linked statically; there are no shared libraries";
const char *const no_profile = "programs do not write profiles; `dougong sim --timing` measures them";
const char *const no_library = "no library of C++ is shipped, and what this needs is in it";
const char *const whole_modules = "each file is compiled by itself; drop it";

// The first row that fits counts. What fits none goes to clang, which knows its own options.
const Option options[] = {
    {"-I", Form::either, Use::clang},
    {"-D", Form::either, Use::clang},
    {"-U", Form::either, Use::clang},
    {"-include", Form::either, Use::clang},
    {"-imacros", Form::either, Use::clang},
    {"-isystem", Form::either, Use::clang},
    {"-iquote", Form::either, Use::clang},
    {"-idirafter", Form::either, Use::clang},
    {"-Xclang", Form::separate, Use::clang},
    {"-Xpreprocessor", Form::separate, Use::clang},
    {"-L", Form::either, Use::linker},
    {"-lm", Form::alone, Use::nothing}, // mathematics is in picolibc's C library
    {"-lc", Form::alone, Use::nothing},
    {"-l", Form::either, Use::linker},
    {"-u", Form::either, Use::linker},
    {"-z", Form::either, Use::linker},
    {"-s", Form::alone, Use::linker},
    {"-pie", Form::alone, Use::linker},
    {"-static", Form::alone, Use::nothing},
    {"-no-pie", Form::alone, Use::nothing},
    {"-pipe", Form::alone, Use::nothing},
    // Addresses are pc-relative whether asked for or not.
    {"-fpic", Form::alone, Use::nothing},
    {"-fPIC", Form::alone, Use::nothing},
    {"-fpie", Form::alone, Use::nothing},
    {"-fPIE", Form::alone, Use::nothing},
    {"-m64", Form::alone, Use::nothing},
    {"-shared", Form::alone, Use::refused, static_only},
    {"-static-pie", Form::alone, Use::refused, static_only},
    {"-rdynamic", Form::alone, Use::refused, static_only},
    {"-march=", Form::prefix, Use::refused, one_machine},
    {"-mcpu=", Form::prefix, Use::refused, one_machine},
    {"-mtune=", Form::prefix, Use::refused, one_machine},
    {"-mabi=", Form::prefix, Use::refused, one_machine},
    {"-mcmodel=medany", Form::alone, Use::nothing},
    {"-mcmodel=", Form::prefix, Use::refused, "programs lie at 2 GiB, which pc-relative addresses (-mcmodel=medany) reach"},
    {"-fexceptions", Form::alone, Use::refused, no_library},
    {"-fcxx-exceptions", Form::alone, Use::refused, no_library},
    {"-frtti", Form::alone, Use::refused, no_library},
    {"-m32", Form::alone, Use::refused, one_machine},
    {"--target=", Form::prefix, Use::refused, one_machine},
    {"-target", Form::separate, Use::refused, one_machine},
    {"-arch", Form::separate, Use::refused, one_machine},
    {"-flto", Form::prefix, Use::refused, whole_modules},
    {"-save-temps", Form::prefix, Use::refused, "-E, -S -emit-llvm and -S write what lies between, one at a time"},
    {"-gsplit-dwarf", Form::prefix, Use::refused, "debug information stays in the object"},
    {"-fopenmp", Form::prefix, Use::refused, "a program has one thread"},
    {"-pthread", Form::alone, Use::refused, "a program has one thread"},
    {"-fprofile", Form::prefix, Use::refused, no_profile},
    {"-fcoverage", Form::prefix, Use::refused, no_profile},
    {"--coverage", Form::alone, Use::refused, no_profile},
    {"-pg", Form::alone, Use::refused, no_profile},
    {"-Wa,", Form::prefix, Use::refused, "the assembler has no options"},
    {"-Xassembler", Form::separate, Use::refused, "the assembler has no options"},
    {"-dump", Form::prefix, Use::question},
    {"-print-", Form::prefix, Use::question},
    {"--print-", Form::prefix, Use::question},
};

using Language = CompilerArguments::Language;

// By an input's name; nothing if it says nothing.
std::optional<Language> language_of(StringRef path) {
  return StringSwitch<std::optional<Language>>(sys::path::extension(path))
      .Cases({".c", ".i", ".cc", ".cp", ".cpp", ".cxx", ".c++", ".C", ".ii"}, Language::Source)
      .Case(".s", Language::Assembly)
      .Cases({".S", ".sx"}, Language::PreprocessedAssembly)
      .Cases({".ll", ".bc"}, Language::Ir)
      .Cases({".o", ".a", ".obj"}, Language::Linked)
      .Default(std::nullopt);
}

// By -x.
std::optional<Language> language_named(StringRef name) {
  return StringSwitch<std::optional<Language>>(name)
      .Cases({"c", "c++", "cpp-output", "c++-cpp-output"}, Language::Source)
      .Case("assembler", Language::Assembly)
      .Case("assembler-with-cpp", Language::PreprocessedAssembly)
      .Case("ir", Language::Ir)
      .Default(std::nullopt);
}

class Parser {
public:
  Parser(CompilerArguments &to, const std::vector<std::string> &words) : to(to), words(words) {}

  bool run() {
    while (at < words.size())
      one(words[at++]);
    finish();
    return good;
  }

private:
  void wrong(const Twine &message) {
    WithColor::error(errs(), "dougong-cc") << message << '\n';
    good = false;
  }

  // The next word, which `option` wants.
  std::string next(StringRef option) {
    if (at < words.size())
      return words[at++];
    wrong("'" + option + "' wants a value after it");
    return "";
  }

  void one(StringRef word) {
    if (only_inputs || word == "-" || !word.starts_with("-"))
      return input(word);
    if (word == "--")
      only_inputs = true;
    else if (word == "--help" || word == "-h" || word == "-help")
      to.answer = CompilerArguments::Answer::Help;
    else if (word == "--version")
      to.answer = CompilerArguments::Answer::Version;
    else if (word.consume_front("-o"))
      to.output = word.empty() ? next("-o") : word.str();
    else if (word == "-c")
      to.stage = CompilerArguments::Stage::Object;
    else if (word == "-S")
      to.stage = CompilerArguments::Stage::Assembly;
    else if (word == "-E" || word == "-M" || word == "-MM")
      to.stage = CompilerArguments::Stage::Preprocess, to.clang.push_back(word.str());
    else if (word == "-fsyntax-only")
      to.stage = CompilerArguments::Stage::Check;
    else if (word == "-emit-llvm")
      to.emit_llvm = true;
    else if (word == "-v")
      to.verbose = true;
    else if (word == "-###")
      to.dry = true;
    else if (word == "-x" || word.starts_with("-x"))
      language(word.size() > 2 ? word.drop_front(2).str() : next("-x"));
    else if (word == "-mllvm")
      to.llvm.push_back(next(word));
    else if (word.starts_with("-O"))
      level(word);
    else if (word == "-ffunction-sections" || word == "-fno-function-sections")
      to.function_sections = word == "-ffunction-sections";
    else if (word == "-fdata-sections" || word == "-fno-data-sections")
      to.data_sections = word == "-fdata-sections";
    else if (word.starts_with("-fsanitize=")) {
      sanitizers.push_back(word);
      to.clang.push_back(word.str());
    } else if (word == "-fstack-usage")
      to.stack_usage = true;
    else if (word == "-fstack-size-section" || word == "-fno-stack-size-section")
      to.stack_sizes = word == "-fstack-size-section";
    else if (word == "-nostdlib")
      to.start_files = to.libraries = false;
    else if (word == "-nostartfiles")
      to.start_files = false;
    else if (word == "-nodefaultlibs" || word == "-nolibc")
      to.libraries = false;
    else if (word == "-r")
      to.relocatable = true, option("-r");
    else if (word == "-MD" || word == "-MMD")
      to.dependencies = true, to.clang.push_back(word.str());
    else if (word.starts_with("-MF") || word.starts_with("-MT") || word.starts_with("-MQ")) {
      (word.starts_with("-MF") ? to.dependency_file : to.dependency_target) = true;
      to.clang.push_back(word.str());
      if (word.size() == 3)
        to.clang.push_back(next(word));
    } else if (word.consume_front("-Wl,")) {
      SmallVector<StringRef> parts;
      word.split(parts, ',');
      for (StringRef part : parts)
        option(part);
    } else if (word == "-Xlinker")
      option(next(word));
    else if (word.consume_front("-T")) // one word to the linker, so that a later look for it finds the option only
      to.script = true, option("-T" + (word.empty() ? next("-T") : word.str()));
    else
      listed(word);
  }

  void option(const Twine &text) {
    to.link.push_back({-1, text.str()});
    StringRef added = to.link.back().option;
    to.script |= added == "-T" || added.starts_with("--script");
  }

  void listed(StringRef word) {
    const Option *found = llvm::find_if(options, [&](const Option &option) {
      bool bare = option.form == Form::alone || option.form == Form::separate;
      return bare ? word == option.name : word.starts_with(option.name);
    });
    if (found == std::end(options))
      return to.clang.push_back(word.str());
    std::vector<std::string> said = {word.str()};
    if (found->form == Form::separate || (found->form == Form::either && word == found->name))
      said.push_back(next(word));
    switch (found->use) {
    case Use::clang:
      to.clang.insert(to.clang.end(), said.begin(), said.end());
      return;
    case Use::linker:
      for (const std::string &part : said)
        option(part);
      return;
    case Use::question:
      to.answer = CompilerArguments::Answer::AskClang;
      to.clang.push_back(word.str());
      return;
    case Use::refused:
      return wrong("'" + word + "' is not for the NPU: " + found->reason);
    case Use::nothing:
      return;
    }
  }

  void level(StringRef word) {
    StringRef text = word.drop_front(2);
    int level = StringSwitch<int>(text).Cases({"", "1", "g"}, 1).Case("0", 0).Cases({"2", "s", "z"}, 2).Cases({"3", "fast"}, 3).Default(-1);
    if (level < 0)
      return wrong("unknown optimisation level '" + word + "'; there are -O0, -O1, -O2, -O3, -Os, -Oz, -Og, -Ofast");
    to.level = level;
    if (text == "fast") // its short form is deprecated
      to.clang.insert(to.clang.end(), {"-O3", "-ffast-math"});
    else
      to.clang.push_back(word.str());
  }

  void language(const std::string &name) {
    if (name == "none")
      return named.clear();
    if (!name.empty() && !language_named(name))
      wrong("'-x " + name + "': there are c, c++, cpp-output, c++-cpp-output, assembler, assembler-with-cpp, ir and none");
    named = name;
  }

  void input(StringRef path) {
    std::optional<Language> language = named.empty() ? language_of(path) : language_named(named);
    bool clang_alone = false;
    if (!language && (path == "-" || path.ends_with(".h") || path.ends_with(".hpp"))) {
      language = Language::Source;
      clang_alone = true; // clang knows what to do with those, if it is not to be code
    }
    if (clang_alone)
      unnamed.push_back(path.str());
    if (!language && named.empty())
      return wrong("'" + path + "' is no C, C++, assembly, LLVM IR or object file by its name; -x LANGUAGE says what it is");
    if (path != "-" && !sys::fs::exists(path))
      return wrong("no such file: '" + path + "'");
    to.link.push_back({int(to.inputs.size()), ""});
    to.inputs.push_back({path.str(), language.value_or(Language::Source), named});
  }

  // A check that traps needs no runtime: those of undefined behaviour that -fsanitize-trap names. `runtimes`: what cannot trap.
  void refuse_runtimes() {
    std::vector<StringRef> trapping;
    for (const std::string &word : to.clang) {
      StringRef text = word;
      if (text == "-fsanitize-trap" || text == "-fsanitize-undefined-trap-on-error")
        trapping.push_back("all");
      else if (text.consume_front("-fsanitize-trap="))
        add_parts(trapping, text);
    }
    static const StringRef runtimes[] = {
        "address",           "thread",     "memory",        "leak",     "fuzzer",  "hwaddress", "kernel-address",
        "kernel-hwaddress",  "dataflow",   "kernel-memory", "realtime", "type",    "scudo",     "numerical",
        "shadow-call-stack", "safe-stack", "memtag",        "vptr",     "function"};
    for (StringRef word : sanitizers) {
      std::vector<StringRef> checks;
      add_parts(checks, word.split('=').second);
      for (StringRef check : checks) {
        bool traps = !is_contained(runtimes, check) && (is_contained(trapping, check) || is_contained(trapping, "all") ||
                                                        (is_contained(trapping, "undefined") && check != "integer"));
        if (!traps)
          wrong("'" + word +
                "' is not for the NPU: there is no runtime for it; checks of undefined behaviour can trap "
                "(-fsanitize-trap=undefined), the device model itself checks every address, and races with --check-races");
        if (!traps)
          break;
      }
    }
  }
  static void add_parts(std::vector<StringRef> &to, StringRef list) {
    SmallVector<StringRef> parts;
    list.split(parts, ',');
    to.insert(to.end(), parts.begin(), parts.end());
  }

  void finish() {
    using Stage = CompilerArguments::Stage;
    if (!good || to.answer != CompilerArguments::Answer::Compile)
      return;
    if (to.inputs.empty() && to.verbose) { // as with clang: what would it be
      to.answer = CompilerArguments::Answer::Version;
      return;
    }
    if (to.inputs.empty())
      return wrong(Twine("no input files; ") + StringRef(CompilerArguments::help()).split('\n').first);
    refuse_runtimes();
    bool code = to.stage != Stage::Preprocess && to.stage != Stage::Check;
    for (const std::string &path : unnamed)
      if (code && path == "-")
        wrong("standard input has no name that says what it is; add -x LANGUAGE");
      else if (code)
        wrong("'" + path + "' is a header; headers are not precompiled, and -x c or -x c++ makes code of it");
    if (to.inputs.size() > 1 && !to.output.empty() && to.stage != Stage::Link)
      wrong("-o names one output, but there are " + Twine(to.inputs.size()) + " inputs; drop -o, or compile them one by one");
    if (to.emit_llvm && to.stage == Stage::Link)
      wrong("'-emit-llvm' makes no program; add -S for LLVM IR as text or -c for bitcode");
    for (const CompilerArguments::Input &input : to.inputs) {
      bool assembly = input.language == Language::Assembly || input.language == Language::PreprocessedAssembly;
      if (assembly && (to.emit_llvm || to.stage == Stage::Assembly))
        wrong("'" + input.path + "' is assembly already; -c makes an object of it");
      if (input.language == Language::Linked && to.stage != Stage::Link)
        wrong("'" + input.path + "' is for the linker, which " + (code ? "-c and -S leave out" : "is not asked for") + "; drop it here");
    }
  }

  CompilerArguments &to;
  const std::vector<std::string> &words;
  size_t at = 0;
  std::string named;                 // the language of the last -x
  std::vector<StringRef> sanitizers; // options -fsanitize=
  std::vector<std::string> unnamed;  // inputs that are no code unless -x says so
  bool good = true, only_inputs = false;
};

} // namespace

bool CompilerArguments::parse(const std::vector<std::string> &arguments) { return Parser(*this, arguments).run(); }

const char *CompilerArguments::help() {
  return R"(usage: dougong-cc [options] file...

C and freestanding C++ to programs for the NPU's core: clang's front end, our code generator, lld, picolibc.
Files are C (.c .i), C++ (.cc .cpp .cxx .C .ii), assembly (.s .S), LLVM IR (.ll .bc), objects and archives (.o .a);
`-` is standard input, @FILE stands for the options in FILE.

  -c, -S, -E            stop after the object, the assembly, the preprocessor
  -fsyntax-only         only look for mistakes
  -emit-llvm            with -S LLVM IR as text, with -c bitcode
  -o FILE               where to write; - is standard output (-S, -E)
  -O0 -O1 -O2 -O3       optimise (-Os, -Oz: for size as -O2; -Og: as -O1; -Ofast: -O3 -ffast-math)
  -g                    with debug information
  -x LANGUAGE           what the files that follow are: c, c++, assembler, assembler-with-cpp, ir; none: by their names
  -I -D -U -include -isystem -std=... -W... -f...   as clang's
  -M -MM -MD -MMD -MF -MT -MQ -MP                   dependencies for make, as clang's
  -L DIR, -l NAME, -T SCRIPT, -u NAME, -s, -r, -pie, -Wl,OPTION,..., -Xlinker OPTION   to the linker
  -nostartfiles, -nodefaultlibs, -nostdlib          without the start-up code, the libraries, both
  -mllvm OPTION         to the code generator
  -v, -###              show the commands; -###: without running them
  --version, --help, -dumpmachine, -print-...

Other options go to clang.
)";
}

} // namespace dougong
