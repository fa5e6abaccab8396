// dougong-cc's command line: clang's options, as far as they mean something for the NPU's core.
#pragma once
#include <string>
#include <vector>

namespace dougong {

struct CompilerArguments {
  enum class Language { Source, Assembly, PreprocessedAssembly, Ir, Linked }; // what an input is; Linked: an object or archive
  struct Input {
    std::string path;
    Language language;
    std::string clang_language; // of -x, or empty
  };
  // What the linker gets, in order: an input (by its number), or an option.
  struct LinkItem {
    int input = -1;
    std::string option;
  };
  enum class Stage { Link, Object, Assembly, Preprocess, Check }; // Check: syntax only
  enum class Answer { Compile, Help, Version, AskClang };         // AskClang: a question that clang answers, such as -dumpmachine

  Answer answer = Answer::Compile;
  Stage stage = Stage::Link;
  std::vector<Input> inputs;
  std::vector<LinkItem> link;
  std::vector<std::string> clang, llvm; // for clang, and after -mllvm for our code generator
  std::string output;
  int level = 0; // of optimisation, 0 to 3
  bool emit_llvm = false, verbose = false, dry = false;
  bool function_sections = false, data_sections = false;                          // so that the linker may leave out what nothing uses
  bool start_files = true, libraries = true, script = false, relocatable = false; // script: the user's own linker script
  bool stack_usage = false, stack_sizes = false;                                  // -fstack-usage, -fstack-size-section
  bool dependencies = false, dependency_file = false, dependency_target = false;  // -MD or -MMD; -MF; -MT or -MQ

  // Reads the command line. What is wrong with it is told on stderr, all of it; then the result is false.
  bool parse(const std::vector<std::string> &arguments);

  static const char *help();
};

} // namespace dougong
