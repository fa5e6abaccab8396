// `dougong kernel compile FILE.py:NAME --signature …`: a kernel of the operator language → machine code, without Python.
#include "api/kernel_source.h"
#include "machines/machine.h"
#include "tools/npy.h"
#include "tools/subcommand.h"
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace dougong;

namespace {

struct Options {
  std::string kernel, signature, device = "npu", machine = "phone", output, emit = "image";
};

int mistake(const std::string &text) {
  std::cerr << "dougong kernel: " << text << (text.ends_with('\n') ? "" : "\n");
  return 2;
}

// "F.py:NAME" → its parts and the file's text.
std::optional<std::string> read(const Options &options, KernelSource &source) {
  size_t colon = options.kernel.rfind(':');
  if (colon == std::string::npos)
    return fmt::format("'{}' names no kernel; write FILE.py:NAME", options.kernel);
  source.file_name = options.kernel.substr(0, colon);
  source.function = options.kernel.substr(colon + 1);
  std::ifstream file(source.file_name);
  if (!file || std::filesystem::is_directory(source.file_name))
    return fmt::format("cannot read '{}'", source.file_name);
  std::ostringstream text;
  text << file.rdbuf();
  source.text = text.str();
  source.signature = language::Signature::parse(options.signature);
  return std::nullopt;
}

void describe(const BuiltKernel &built) {
  const CompiledKernel &kernel = built.module.kernels.front();
  fmt::print("kernel {} for {}, {} bytes\n", kernel.name, built.module.target, built.module.image.size());
  for (size_t i = 0; i < built.arguments.size(); ++i)
    fmt::print("  slot {:2}  {:8} {}\n", i, built.arguments[i].type, built.arguments[i].name);
  int64_t bytes = 0;
  for (const LocalBuffer &buffer : kernel.localBuffers) {
    fmt::print("  {:8} B  {}  {}\n", buffer.bytes, buffer.what, buffer.where);
    bytes += buffer.bytes;
  }
  if (bytes)
    fmt::print("  {:8} B  of on-chip memory in all\n", bytes);
}

int compile(const Options &options) {
  KernelSource source;
  if (auto reason = read(options, source))
    return mistake(*reason);
  if (options.emit == "tile") {
    auto text = tile_form_of(source);
    if (!text)
      return mistake(llvm::toString(text.takeError()));
    std::cout << *text << "\n";
    return 0;
  }
  std::optional<Machine> machine;
  try {
    if (options.device == "npu")
      machine = Machine::load(options.machine);
  } catch (const MachineError &error) {
    return mistake(error.what());
  }
  auto built = build_kernel(source, machine ? &*machine : nullptr);
  if (!built)
    return mistake(llvm::toString(built.takeError()));
  if (!options.output.empty())
    if (llvm::Error error = write_text(options.output, built->module.image))
      return mistake(llvm::toString(std::move(error)));
  describe(*built);
  return 0;
}

} // namespace

int kernel_main(int argc, char **argv) {
  CLI::App app("Compiles kernels of the operator language (Triton's syntax) from Python source text.");
  app.require_subcommand(1);
  Options options;
  CLI::App *compiler = app.add_subcommand("compile", "compile one kernel");
  compiler->add_option("KERNEL", options.kernel, "FILE.py:NAME")->required();
  compiler
      ->add_option("--signature", options.signature,
                   "one item a parameter: *fp32 (pointer), i32, fp32, a constant (1024, 0.5, True, 'relu'), or NAME=item")
      ->required();
  compiler->add_option("--device", options.device, "npu or cpu")->check(CLI::IsMember({"npu", "cpu"}))->capture_default_str();
  compiler->add_option("--machine", options.machine, "the NPU's machine: a name or a .toml file")->capture_default_str();
  compiler->add_option("--emit", options.emit, "image (machine code) or tile (the tile form as text)")
      ->check(CLI::IsMember({"image", "tile"}))
      ->capture_default_str();
  compiler->add_option("-o,--output", options.output, "write the image here");
  CLI::App *list = app.add_subcommand("list", "list the kernels and device functions of a file");
  std::string file;
  list->add_option("FILE", file, "a Python source file")->required()->check(CLI::ExistingFile);
  if (auto status = parse_arguments(app, argc, argv))
    return *status;
  if (*compiler)
    return compile(options);
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  for (const std::string &name : language::functionsOf(file, text.str()))
    fmt::print("{}\n", name);
  return 0;
}
