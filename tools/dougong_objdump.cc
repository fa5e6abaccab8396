// dougong-objdump: disassembles ELF files of the NPU, objects and executables.
//
//   dougong-objdump -d [-r] [-no-aliases] FILE...
#include "mc/DougongMCTargetDesc.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include <map>

using namespace llvm;
using namespace llvm::object;

namespace {

cl::OptionCategory category("dougong-objdump");
cl::list<std::string> inputs(cl::Positional, cl::desc("FILE..."), cl::OneOrMore, cl::cat(category));
cl::opt<bool> disassemble("d", cl::desc("disassemble the sections that hold code"), cl::cat(category));
cl::opt<bool> show_relocations("r", cl::desc("show relocations between the instructions"), cl::cat(category));
cl::opt<bool> no_aliases("no-aliases", cl::desc("print `addi a0, zero, 1`, not `li a0, 1`"), cl::cat(category));

constexpr int bad_input = 2;

struct Machine {
  const Target &target = getTheDougongTarget();
  Triple triple{"riscv64-dougong-elf"};
  MCTargetOptions options;
  std::unique_ptr<MCRegisterInfo> registers{target.createMCRegInfo(triple)};
  std::unique_ptr<MCAsmInfo> syntax{target.createMCAsmInfo(*registers, triple, options)};
  std::unique_ptr<MCInstrInfo> instructions{target.createMCInstrInfo()};
  std::unique_ptr<MCSubtargetInfo> subtarget{target.createMCSubtargetInfo(triple, "", "")};
  MCContext context{triple, syntax.get(), registers.get(), subtarget.get()};
  std::unique_ptr<MCDisassembler> disassembler{target.createMCDisassembler(*subtarget, context)};
  std::unique_ptr<MCInstPrinter> printer{target.createMCInstPrinter(triple, 0, *syntax, *instructions, *registers)};
  std::unique_ptr<MCInstrAnalysis> analysis{target.createMCInstrAnalysis(instructions.get())};
};

// The symbols of one section, by address.
using Symbols = std::map<uint64_t, std::string>;

Symbols symbols_of(const ELFObjectFileBase &file, const SectionRef &section) {
  Symbols found;
  for (const ELFSymbolRef symbol : file.symbols()) {
    auto where = expectedToOptional(symbol.getSection()); // an unreadable symbol names nothing
    auto address = expectedToOptional(symbol.getAddress());
    auto name = expectedToOptional(symbol.getName());
    auto type = symbol.getELFType();
    bool named =
        where && address && name && *where != file.section_end() && **where == section && !name->empty() && !name->starts_with(".L");
    if (named && type != ELF::STT_SECTION && type != ELF::STT_FILE)
      found.emplace(*address, name->str());
  }
  return found;
}

// ` <main+0x10>`, or nothing if no symbol lies before the address.
void print_symbol(raw_ostream &out, const Symbols &symbols, uint64_t address) {
  auto after = symbols.upper_bound(address);
  if (after == symbols.begin())
    return;
  auto &[start, name] = *std::prev(after);
  out << " <" << name;
  if (address != start)
    out << "+0x" << utohexstr(address - start, /*LowerCase=*/true);
  out << '>';
}

void print_relocations(raw_ostream &out, std::multimap<uint64_t, RelocationRef> &relocations, uint64_t from, uint64_t to) {
  for (auto it = relocations.lower_bound(from); it != relocations.end() && it->first < to; ++it) {
    SmallString<32> type;
    it->second.getTypeName(type);
    out << "\t\t" << format_hex_no_prefix(it->first, 8) << ": " << type << '\t';
    if (auto symbol = it->second.getSymbol(); symbol != it->second.getObject()->symbol_end())
      out << expectedToOptional(symbol->getName()).value_or("");
    if (int64_t addend = expectedToOptional(ELFRelocationRef(it->second).getAddend()).value_or(0))
      out << (addend > 0 ? "+" : "") << addend;
    out << '\n';
  }
}

Error disassemble_section(Machine &machine, const ELFObjectFileBase &file, const SectionRef &section, raw_ostream &out) {
  auto name = section.getName();
  if (!name)
    return name.takeError();
  auto contents = section.getContents();
  if (!contents)
    return contents.takeError();
  Symbols symbols = symbols_of(file, section);
  std::multimap<uint64_t, RelocationRef> relocations;
  if (show_relocations)
    for (const SectionRef &other : file.sections())
      if (auto target = expectedToOptional(other.getRelocatedSection()); target && *target != file.section_end() && **target == section)
        for (const RelocationRef &relocation : other.relocations())
          relocations.emplace(relocation.getOffset(), relocation);

  out << "\nDisassembly of section " << *name << ":\n";
  auto bytes = arrayRefFromStringRef(*contents);
  for (uint64_t at = 0; at < bytes.size();) {
    uint64_t address = section.getAddress() + at, size = 0;
    if (auto symbol = symbols.find(address); symbol != symbols.end())
      out << '\n' << format_hex_no_prefix(address, 16) << " <" << symbol->second << ">:\n";
    MCInst inst;
    bool known = machine.disassembler->getInstruction(inst, size, bytes.drop_front(at), address, nulls()) == MCDisassembler::Success;
    size = std::min<uint64_t>(std::max<uint64_t>(size, 1), bytes.size() - at);
    out << format("%8" PRIx64 ": ", address);
    if (size == 4)
      out << format_hex_no_prefix(support::endian::read32le(&bytes[at]), 8);
    else
      for (uint64_t i = size; i-- > 0;)
        out << format_hex_no_prefix(bytes[at + i], 2);
    if (known) {
      machine.printer->printInst(&inst, address, "", *machine.subtarget, out);
      uint64_t target;
      if (machine.analysis->evaluateBranch(inst, address, size, target))
        print_symbol(out, symbols, target);
    } else {
      out << "\t<unknown>";
    }
    out << '\n';
    print_relocations(out, relocations, at, at + size);
    at += size;
  }
  return Error::success();
}

Error dump(Machine &machine, StringRef path, raw_ostream &out) {
  auto opened = ObjectFile::createObjectFile(path);
  if (!opened)
    return opened.takeError();
  auto *file = dyn_cast<ELFObjectFileBase>(opened->getBinary());
  if (!file || file->getEMachine() != ELF::EM_RISCV || file->getBytesInAddress() != 8)
    return createStringError("not a 64-bit RISC-V ELF file; dougong-objdump reads objects and executables of the NPU");
  out << '\n' << path << ":\tfile format " << file->getFileFormatName() << '\n';
  for (const SectionRef &section : file->sections())
    if (section.isText() && section.getSize() > 0)
      if (Error error = disassemble_section(machine, *file, section, out))
        return error;
  return Error::success();
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "disassembles ELF files of the NPU\n", &errs()))
    return 2;
  if (!disassemble) {
    WithColor::error(errs(), "dougong-objdump") << "nothing to do; use -d to disassemble\n";
    return bad_input;
  }
  initializeDougongMC();
  Machine machine;
  machine.printer->setPrintBranchImmAsAddress(true);
  if (no_aliases)
    machine.printer->applyTargetSpecificCLOption("no-aliases");
  int status = 0;
  for (const std::string &path : inputs)
    if (Error error = dump(machine, path, outs())) {
      outs().flush();
      WithColor::error(errs(), "dougong-objdump") << path << ": " << toString(std::move(error)) << '\n';
      status = bad_input;
    }
  return status;
}
