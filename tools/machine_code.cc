#include "tools/machine_code.h"
#include "mc/DougongMCTargetDesc.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/Support/FormattedStream.h"

using namespace llvm;

namespace dougong {

MachineCode::MachineCode() : target((initializeDougongMC(), getTheDougongTarget())) {
  registers.reset(target.createMCRegInfo(triple));
  syntax.reset(target.createMCAsmInfo(*registers, triple, options));
  syntax->setPreserveAsmComments(false);
  instructions.reset(target.createMCInstrInfo());
  subtarget.reset(target.createMCSubtargetInfo(triple, "", ""));
}

std::unique_ptr<MCInstPrinter> MachineCode::printer(bool aliases) const {
  std::unique_ptr<MCInstPrinter> made(target.createMCInstPrinter(triple, 0, *syntax, *instructions, *registers));
  if (!aliases)
    made->applyTargetSpecificCLOption("no-aliases");
  return made;
}

bool assemble(MachineCode &machine, SourceMgr &sources, Assembled form, bool aliases, bool encoding, raw_pwrite_stream &out) {
  machine.options.AsmVerbose = encoding; // the encoding is a comment, and comments are for the verbose
  MCContext context(machine.triple, machine.syntax.get(), machine.registers.get(), machine.subtarget.get(), &sources, &machine.options);
  std::unique_ptr<MCObjectFileInfo> sections(machine.target.createMCObjectFileInfo(context, /*PIC=*/false));
  context.setObjectFileInfo(sections.get());

  std::unique_ptr<MCCodeEmitter> emitter(machine.target.createMCCodeEmitter(*machine.instructions, context));
  std::unique_ptr<MCAsmBackend> backend(machine.target.createMCAsmBackend(*machine.subtarget, *machine.registers, machine.options));
  std::unique_ptr<MCStreamer> streamer;
  if (form == Assembled::object) {
    auto writer = backend->createObjectWriter(out);
    streamer.reset(machine.target.createMCObjectStreamer(machine.triple, context, std::move(backend), std::move(writer), std::move(emitter),
                                                         *machine.subtarget));
  } else {
    if (!encoding)
      emitter.reset();
    streamer.reset(machine.target.createAsmStreamer(context, std::make_unique<formatted_raw_ostream>(out), machine.printer(aliases),
                                                    std::move(emitter), std::move(backend)));
  }
  std::unique_ptr<MCAsmParser> parser(createMCAsmParser(sources, context, *streamer, *machine.syntax));
  std::unique_ptr<MCTargetAsmParser> target_parser(
      machine.target.createMCAsmParser(*machine.subtarget, *parser, *machine.instructions, machine.options));
  parser->setTargetParser(*target_parser);
  return !parser->Run(/*NoInitialTextSection=*/false);
}

} // namespace dougong
