// dougong-mc: assembles, and disassembles words of machine code.
//
//   dougong-mc [-filetype=asm|obj] [-show-encoding] [-o OUT] [FILE.s]        - or no file: standard input
//   dougong-mc -disassemble [-no-aliases] [FILE]        bytes as text: 0x13 0x05 0x00 0x00
#include "mc/DougongMCTargetDesc.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormattedStream.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;

namespace {

cl::OptionCategory category("dougong-mc");
cl::opt<std::string> input(cl::Positional, cl::desc("FILE"), cl::init("-"), cl::cat(category));
cl::opt<std::string> output("o", cl::desc("where to write"), cl::value_desc("FILE"), cl::init("-"), cl::cat(category));
cl::opt<bool> disassemble("disassemble", cl::desc("read bytes, write instructions"), cl::cat(category));
cl::opt<bool> show_encoding("show-encoding", cl::desc("print each instruction's bytes beside it"), cl::cat(category));
cl::opt<bool> no_aliases("no-aliases", cl::desc("print `addi a0, zero, 1`, not `li a0, 1`"), cl::cat(category));
enum class FileType { assembly, object };
cl::opt<FileType> file_type("filetype", cl::desc("what to write:"), cl::init(FileType::assembly),
                            cl::values(clEnumValN(FileType::assembly, "asm", "assembly"),
                                       clEnumValN(FileType::object, "obj", "an ELF object")),
                            cl::cat(category));

constexpr int bad_input = 2;

// The parts of the MC layer that every job needs.
struct Machine {
  const Target &target = getTheDougongTarget();
  Triple triple{"riscv64-dougong-elf"};
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers{target.createMCRegInfo(triple)};
  std::unique_ptr<MCAsmInfo> syntax{target.createMCAsmInfo(*registers, triple, options)};
  std::unique_ptr<MCInstrInfo> instructions{target.createMCInstrInfo()};
  std::unique_ptr<MCSubtargetInfo> subtarget{target.createMCSubtargetInfo(triple, "", "")};

  std::unique_ptr<MCInstPrinter> printer() const {
    std::unique_ptr<MCInstPrinter> p(target.createMCInstPrinter(triple, 0, *syntax, *instructions, *registers));
    if (no_aliases)
      p->applyTargetSpecificCLOption("no-aliases");
    return p;
  }
};

int assemble(Machine &machine, SourceMgr &sources, raw_pwrite_stream &out) {
  MCContext context(machine.triple, machine.syntax.get(), machine.registers.get(), machine.subtarget.get(), &sources, &machine.options);
  std::unique_ptr<MCObjectFileInfo> sections(machine.target.createMCObjectFileInfo(context, /*PIC=*/false));
  context.setObjectFileInfo(sections.get());

  std::unique_ptr<MCCodeEmitter> emitter(machine.target.createMCCodeEmitter(*machine.instructions, context));
  std::unique_ptr<MCAsmBackend> backend(machine.target.createMCAsmBackend(*machine.subtarget, *machine.registers, machine.options));
  std::unique_ptr<MCStreamer> streamer;
  if (file_type == FileType::object) {
    auto writer = backend->createObjectWriter(out);
    streamer.reset(machine.target.createMCObjectStreamer(machine.triple, context, std::move(backend), std::move(writer), std::move(emitter),
                                                         *machine.subtarget));
  } else {
    if (!show_encoding)
      emitter.reset();
    streamer.reset(machine.target.createAsmStreamer(context, std::make_unique<formatted_raw_ostream>(out), machine.printer(),
                                                    std::move(emitter), std::move(backend)));
  }

  std::unique_ptr<MCAsmParser> parser(createMCAsmParser(sources, context, *streamer, *machine.syntax));
  std::unique_ptr<MCTargetAsmParser> target_parser(
      machine.target.createMCAsmParser(*machine.subtarget, *parser, *machine.instructions, machine.options));
  parser->setTargetParser(*target_parser);
  return parser->Run(/*NoInitialTextSection=*/false) ? bad_input : 0;
}

// Bytes as text, separated by blanks or commas; `#` starts a comment. What does not decode is reported and skipped.
int disassemble_text(Machine &machine, SourceMgr &sources, raw_ostream &out) {
  MCContext context(machine.triple, machine.syntax.get(), machine.registers.get(), machine.subtarget.get());
  std::unique_ptr<MCDisassembler> disassembler(machine.target.createMCDisassembler(*machine.subtarget, context));
  auto printer = machine.printer();
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
  initializeDougongMC();

  auto buffer = MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/true);
  if (std::error_code error = buffer.getError()) {
    WithColor::error(errs(), "dougong-mc") << input << ": " << error.message() << '\n';
    return bad_input;
  }
  SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());

  std::error_code error;
  ToolOutputFile out(output, error, file_type == FileType::object ? sys::fs::OF_None : sys::fs::OF_Text);
  if (error) {
    WithColor::error(errs(), "dougong-mc") << output << ": " << error.message() << '\n';
    return bad_input;
  }
  // An object is written from its end back: it needs a file or memory.
  SmallVector<char, 0> memory;
  Machine machine;
  machine.syntax->setPreserveAsmComments(false);
  machine.options.AsmVerbose = show_encoding; // the encoding is a comment, and comments are for the verbose
  int status;
  if (disassemble) {
    status = disassemble_text(machine, sources, out.os());
  } else {
    raw_svector_ostream stream(memory);
    status = assemble(machine, sources, stream);
    if (status == 0)
      out.os() << StringRef(memory.data(), memory.size());
  }
  if (status == 0 || output == "-")
    out.keep();
  return status;
}
