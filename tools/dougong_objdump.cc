// dougong-objdump: disassembles ELF files of the NPU, objects and executables.
//
//   dougong-objdump -d [-r] [-S] [-no-aliases] FILE...
#include "tools/machine_code.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/WithColor.h"
#include <map>

using namespace llvm;
using namespace llvm::object;

namespace {

cl::OptionCategory category("dougong-objdump");
cl::list<std::string> inputs(cl::Positional, cl::desc("FILE..."), cl::OneOrMore, cl::cat(category));
cl::opt<bool>
    disassemble("d",
                cl::desc("(--disassemble) disassemble the sections that hold code; 16-bit instructions as the 32-bit ones they stand for"),
                cl::Grouping, cl::cat(category));
cl::alias disassemble_long("disassemble", cl::desc("-d"), cl::aliasopt(disassemble), cl::cat(category));
cl::opt<bool> show_relocations("r", cl::desc("(--reloc) show relocations between the instructions"), cl::Grouping, cl::cat(category));
cl::alias relocations_long("reloc", cl::desc("-r"), cl::aliasopt(show_relocations), cl::cat(category));
cl::opt<bool> show_source("S",
                          cl::desc("(--source) disassemble, with the lines of source that the instructions come from (programs of -g)"),
                          cl::Grouping, cl::cat(category));
cl::alias source_long("source", cl::desc("-S"), cl::aliasopt(show_source), cl::cat(category));
cl::opt<bool> no_aliases("no-aliases", cl::desc("print `addi a0, zero, 1`, not `li a0, 1`"), cl::cat(category));

constexpr int bad_input = 2;

struct Disassembler {
  dougong::MachineCode machine;
  MCContext context{machine.triple, machine.syntax.get(), machine.registers.get(), machine.subtarget.get()};
  std::unique_ptr<MCDisassembler> decoder{machine.target.createMCDisassembler(*machine.subtarget, context)};
  std::unique_ptr<MCInstPrinter> printer = machine.printer(!no_aliases);
  std::unique_ptr<MCInstrAnalysis> analysis{machine.target.createMCInstrAnalysis(machine.instructions.get())};
};

// The lines of source, each before the first instruction that comes from it. What the debug information or a source file lacks is told
// once.
class Source {
public:
  Source(const ELFObjectFileBase &file, StringRef path)
      : debug(DWARFContext::create(file, DWARFContext::ProcessDebugRelocations::Process, nullptr, "", warn, warn)) {
    if (debug->getNumCompileUnits() == 0)
      WithColor::warning(errs(), "dougong-objdump") << path << ": no debug information, so no source lines; compile with -g\n";
  }

  ~Source() {
    if (!missing)
      return;
    outs().flush();
    WithColor::warning(errs(), "dougong-objdump")
        << first_missing << (missing > 1 ? formatv(", and {0} more", missing - 1).str() : "") << "; lines given by number\n";
  }

  void print(raw_ostream &out, uint64_t address, uint64_t section) {
    auto info = debug->getLineInfoForAddress({address, section}, {DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath});
    if (!info || info->Line == 0 || info->FileName == DILineInfo::BadString || (info->FileName == file && info->Line == line))
      return;
    if (info->FileName != file)
      out << "; " << info->FileName << ":\n";
    file = info->FileName, line = info->Line;
    const std::vector<StringRef> &lines = text(file);
    out << "; " << line << ": " << (line <= lines.size() ? lines[line - 1] : "") << '\n';
  }

  // What follows is another function.
  void forget() { file.clear(); }

private:
  static void warn(Error error) {
    std::string text = toString(std::move(error));
    if (!StringRef(text).starts_with("address range table")) // those of the C library have zeros in between, which costs nothing
      WithColor::warning(errs(), "dougong-objdump") << text << '\n';
  }

  const std::vector<StringRef> &text(const std::string &path) {
    auto [at, added] = texts.try_emplace(path);
    if (added) {
      auto buffer = MemoryBuffer::getFile(path);
      if (!buffer) {
        if (!missing++)
          first_missing = path + ": " + buffer.getError().message();
        return at->second;
      }
      for (line_iterator each(**buffer, /*SkipBlanks=*/false); !each.is_at_eof(); ++each)
        at->second.push_back(*each);
      buffers.push_back(std::move(*buffer));
    }
    return at->second;
  }

  std::unique_ptr<DWARFContext> debug;
  size_t missing = 0; // sources that cannot be read: a library's, often
  std::string first_missing;
  std::map<std::string, std::vector<StringRef>> texts;
  std::vector<std::unique_ptr<MemoryBuffer>> buffers;
  std::string file;
  uint32_t line = 0;
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
    bool named = where && address && name && *where != file.section_end() && **where == section && !name->empty() &&
                 !name->starts_with(".L") && !name->starts_with("$"); // those say what is code and what data
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

Error disassemble_section(Disassembler &disassembler, const ELFObjectFileBase &file, const SectionRef &section, Source *source,
                          raw_ostream &out) {
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
    if (auto symbol = symbols.find(address); symbol != symbols.end()) {
      out << '\n' << format_hex_no_prefix(address, 16) << " <" << symbol->second << ">:\n";
      if (source)
        source->forget();
    }
    if (source)
      source->print(out, address, section.getIndex());
    MCInst inst;
    bool known = disassembler.decoder->getInstruction(inst, size, bytes.drop_front(at), address, nulls()) == MCDisassembler::Success;
    size = std::min<uint64_t>(std::max<uint64_t>(size, 1), bytes.size() - at);
    out << format("%8" PRIx64 ": ", address);
    if (size == 4)
      out << format_hex_no_prefix(support::endian::read32le(&bytes[at]), 8);
    else
      for (uint64_t i = size; i-- > 0;)
        out << format_hex_no_prefix(bytes[at + i], 2);
    if (known) {
      disassembler.printer->printInst(&inst, address, "", *disassembler.machine.subtarget, out);
      uint64_t target;
      if (disassembler.analysis->evaluateBranch(inst, address, size, target))
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

Error dump(Disassembler &disassembler, const Binary &binary, const Twine &path, raw_ostream &out) {
  auto *file = dyn_cast<ELFObjectFileBase>(&binary);
  if (!file || file->getEMachine() != ELF::EM_RISCV || file->getBytesInAddress() != 8)
    return createStringError("not a 64-bit RISC-V ELF file; dougong-objdump reads objects, archives and executables of the NPU");
  out << '\n' << path << ":\tfile format " << file->getFileFormatName() << '\n';
  std::optional<Source> source;
  if (show_source)
    source.emplace(*file, path.str());
  for (const SectionRef &section : file->sections())
    if (section.isText() && section.getSize() > 0)
      if (Error error = disassemble_section(disassembler, *file, section, source ? &*source : nullptr, out))
        return error;
  return Error::success();
}

Error dump(Disassembler &disassembler, StringRef path, raw_ostream &out) {
  auto opened = createBinary(path);
  if (!opened)
    return opened.takeError();
  auto *archive = dyn_cast<Archive>(opened->getBinary());
  if (!archive)
    return dump(disassembler, *opened->getBinary(), path, out);
  Error damaged = Error::success();
  for (const Archive::Child &child : archive->children(damaged)) {
    auto member = child.getAsBinary();
    StringRef name = expectedToOptional(child.getName()).value_or("?");
    Error error = member ? dump(disassembler, **member, path + "(" + name + ")", out) : member.takeError();
    if (error)
      return joinErrors(std::move(error), std::move(damaged));
  }
  return damaged;
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  if (!cl::ParseCommandLineOptions(argc, argv, "disassembles ELF files of the NPU\n", &errs()))
    return 2;
  if (!disassemble && !show_source) {
    WithColor::error(errs(), "dougong-objdump") << "nothing to do; use -d to disassemble, or -S to see the source beside\n";
    return bad_input;
  }
  Disassembler disassembler;
  disassembler.printer->setPrintBranchImmAsAddress(true);
  int status = 0;
  for (const std::string &path : inputs)
    if (Error error = dump(disassembler, path, outs())) {
      outs().flush();
      WithColor::error(errs(), "dougong-objdump") << path << ": " << toString(std::move(error)) << '\n';
      status = bad_input;
    }
  return status;
}
