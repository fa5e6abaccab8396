// dougong-mc: assembles, and disassembles words of machine code.
//
//   dougong-mc [-filetype=asm|obj] [-show-encoding] [-o OUT] [FILE.s]        - or no file: standard input
//   dougong-mc -disassemble [-no-aliases] [FILE]        bytes as text: 0x13 0x05 0x00 0x00
#include "tools/machine_code.h"
#include "tools/output.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

namespace {

cl::OptionCategory category("dougong-mc");
cl::opt<std::string> input(cl::Positional, cl::desc("FILE"), cl::init("-"), cl::cat(category));
cl::opt<std::string> output("o", cl::desc("where to write"), cl::value_desc("FILE"), cl::init("-"), cl::cat(category));
cl::opt<bool> disassemble("disassemble", cl::desc("read bytes, write instructions"), cl::cat(category));
cl::opt<bool> show_encoding("show-encoding", cl::desc("print each instruction's bytes beside it"), cl::cat(category));
cl::opt<bool> no_aliases("no-aliases", cl::desc("print `addi a0, zero, 1`, not `li a0, 1`"), cl::cat(category));
cl::opt<dougong::Assembled> form("filetype", cl::desc("what to write:"), cl::init(dougong::Assembled::text),
                                 cl::values(clEnumValN(dougong::Assembled::text, "asm", "assembly"),
                                            clEnumValN(dougong::Assembled::object, "obj", "an ELF object")),
                                 cl::cat(category));

constexpr int bad_input = 2;

// Bytes as text, separated by blanks or commas; `#` starts a comment. What does not decode is reported and skipped.
int disassemble_text(dougong::MachineCode &machine, SourceMgr &sources, raw_ostream &out) {
  MCContext context(machine.triple, machine.syntax.get(), machine.registers.get(), machine.subtarget.get());
  std::unique_ptr<MCDisassembler> disassembler(machine.target.createMCDisassembler(*machine.subtarget, context));
  auto printer = machine.printer(!no_aliases);
  StringRef text = sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
  std::vector<uint8_t> bytes;
  std::vector<const char *> places;
  int status = 0;
  while (!text.empty()) {
    text = text.ltrim(" \t\r\n,[]");
    if (text.starts_with("#")) {
      text = text.drop_until([](char c) { return c == '\n'; });
      continue;
    }
    StringRef word = text.take_until([](char c) { return StringRef(" \t\r\n,[]#").contains(c); });
    if (word.empty())
      break;
    unsigned value;
    if (word.getAsInteger(0, value) || value > 255) {
      sources.PrintMessage(SMLoc::getFromPointer(word.data()), SourceMgr::DK_Error, "expected a byte, 0x00 to 0xff");
      return bad_input;
    }
    bytes.push_back(value), places.push_back(word.data());
    text = text.drop_front(word.size());
  }
  for (size_t at = 0; at < bytes.size();) {
    MCInst inst;
    uint64_t size = 0;
    auto rest = ArrayRef(bytes).drop_front(at);
    if (disassembler->getInstruction(inst, size, rest, at, nulls()) == MCDisassembler::Success) {
      printer->printInst(&inst, at, "", *machine.subtarget, out);
      out << '\n';
    } else {
      sources.PrintMessage(SMLoc::getFromPointer(places[at]), SourceMgr::DK_Error, "no instruction has this encoding");
      status = bad_input;
      size = std::max<uint64_t>(size, 1);
    }
    at += size;
  }
  return status;
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "Dougong's assembler and disassembler\n", &errs()))
    return 2;

  auto buffer = MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/true);
  if (std::error_code error = buffer.getError()) {
    WithColor::error(errs(), "dougong-mc") << input << ": " << error.message() << '\n';
    return bad_input;
  }
  SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());

  std::error_code error;
  auto unwritable = [&] {
    WithColor::error(errs(), "dougong-mc") << output << ": " << error.message() << '\n';
    return bad_input;
  };
  ToolOutputFile out(output, error, form == dougong::Assembled::object ? sys::fs::OF_None : sys::fs::OF_Text);
  if (error)
    return unwritable();
  // An object is written from its end back: it needs a file or memory.
  SmallVector<char, 0> memory;
  dougong::MachineCode machine;
  int status;
  if (disassemble) {
    status = disassemble_text(machine, sources, out.os());
  } else {
    raw_svector_ostream stream(memory);
    status = dougong::assemble(machine, sources, form, !no_aliases, show_encoding, stream) ? 0 : bad_input;
    if (status == 0)
      out.os() << StringRef(memory.data(), memory.size());
  }
  if (status == 0 || output == "-")
    error = dougong::keep(out);
  return error ? unwritable() : status;
}
