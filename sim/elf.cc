#include "sim/elf.h"
#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fmt/format.h>

#ifndef R_RISCV_64
#define R_RISCV_32 1
#define R_RISCV_64 2
#define R_RISCV_RELATIVE 3
#endif

namespace dougong::sim {
namespace {

class Bytes {
public:
  explicit Bytes(std::string_view bytes) : bytes(bytes) {}
  std::string_view slice(uint64_t offset, uint64_t size, const char *what) const {
    if (offset > bytes.size() || size > bytes.size() - offset)
      throw LoadError(fmt::format("truncated ELF file: its {} lie{} at byte {} to {}, the file has {}", what,
                                  what[std::strlen(what) - 1] == 's' ? "" : "s", offset, offset + size, bytes.size()));
    return bytes.substr(offset, size);
  }
  template <typename T> T at(uint64_t offset, const char *what) const {
    T value;
    std::memcpy(&value, slice(offset, sizeof(T), what).data(), sizeof(T));
    return value;
  }
  // `count` entries of T, `stride` bytes apart.
  template <typename T> std::vector<T> table(uint64_t offset, uint64_t count, uint64_t stride, const char *what) const {
    if (count && stride < sizeof(T))
      throw LoadError(fmt::format("damaged ELF file: an entry of its {} has {} bytes, fewer than {}", what, stride, sizeof(T)));
    if (count && count > bytes.size() / stride)
      slice(offset, count > ~0ull / stride ? ~0ull : count * stride, what);
    std::vector<T> entries;
    for (uint64_t i = 0; i < count; ++i)
      entries.push_back(at<T>(offset + i * stride, what));
    return entries;
  }

private:
  std::string_view bytes;
};

std::string string_at(std::string_view table, uint32_t offset) {
  if (offset >= table.size())
    return "";
  return std::string(table.substr(offset, table.find('\0', offset) - offset));
}

void read_symbols(ElfFile &file, const Bytes &bytes, const std::vector<Elf64_Shdr> &sections, const Elf64_Shdr &table) {
  if (table.sh_link >= sections.size())
    throw LoadError("damaged ELF file: the symbol table names no string table");
  std::string_view names = bytes.slice(sections[table.sh_link].sh_offset, sections[table.sh_link].sh_size, "symbol names");
  for (const Elf64_Sym &symbol : bytes.table<Elf64_Sym>(table.sh_offset, table.sh_size / sizeof(Elf64_Sym), sizeof(Elf64_Sym), "symbols")) {
    int type = ELF64_ST_TYPE(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || type > STT_FUNC)
      continue;
    std::string name = string_at(names, symbol.st_name);
    if (name.empty() || name[0] == '$' || name.starts_with(".L"))
      continue;
    bool in_code = symbol.st_shndx < sections.size() && sections[symbol.st_shndx].sh_flags & SHF_EXECINSTR;
    file.symbols.push_back({std::move(name), symbol.st_value, type == STT_FUNC || (type == STT_NOTYPE && in_code), type == STT_FUNC});
  }
}

void read_relocations(ElfFile &file, const Bytes &bytes, const std::vector<Elf64_Shdr> &sections, const Elf64_Shdr &section) {
  std::vector<Elf64_Sym> symbols;
  if (section.sh_link < sections.size() &&
      (sections[section.sh_link].sh_type == SHT_SYMTAB || sections[section.sh_link].sh_type == SHT_DYNSYM))
    symbols = bytes.table<Elf64_Sym>(sections[section.sh_link].sh_offset, sections[section.sh_link].sh_size / sizeof(Elf64_Sym),
                                     sizeof(Elf64_Sym), "symbols");
  for (const Elf64_Rela &entry :
       bytes.table<Elf64_Rela>(section.sh_offset, section.sh_size / sizeof(Elf64_Rela), sizeof(Elf64_Rela), "relocations")) {
    uint32_t type = ELF64_R_TYPE(entry.r_info), symbol = ELF64_R_SYM(entry.r_info);
    uint64_t base = symbol < symbols.size() ? symbols[symbol].st_value : 0;
    if (type == R_RISCV_RELATIVE)
      file.relocations.push_back({entry.r_offset, uint64_t(entry.r_addend), 8});
    else if (type == R_RISCV_64 && (symbol >= symbols.size() || symbols[symbol].st_shndx != SHN_ABS))
      file.relocations.push_back({entry.r_offset, base + entry.r_addend, 8});
  }
}

} // namespace

ElfFile::ElfFile(std::string_view data) {
  Bytes bytes(data);
  if (data.size() < SELFMAG || std::memcmp(data.data(), ELFMAG, SELFMAG))
    throw LoadError("not an ELF file: it does not begin with \\x7fELF");
  auto header = bytes.at<Elf64_Ehdr>(0, "header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_RISCV)
    throw LoadError(fmt::format("an ELF file for another machine ({}-bit, machine {}); the device runs 64-bit little-endian RISC-V",
                                header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32, header.e_machine));
  if (header.e_type == ET_REL)
    throw LoadError("an object file, not a program: link it first (dougong-cc without -c)");
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    throw LoadError(fmt::format("ELF type {}, not an executable", header.e_type));
  entry = header.e_entry;
  for (const Elf64_Phdr &segment : bytes.table<Elf64_Phdr>(header.e_phoff, header.e_phnum, header.e_phentsize, "program headers")) {
    if (segment.p_type == PT_INTERP)
      throw LoadError("a dynamically linked program; link it statically");
    if (segment.p_type == PT_TLS)
      thread_local_bytes = segment.p_memsz;
    if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
      continue;
    if (segment.p_filesz > segment.p_memsz)
      throw LoadError("damaged ELF file: a segment has more bytes in the file than in memory");
    bytes.slice(segment.p_offset, segment.p_filesz, "segments");
    if (segment.p_vaddr + segment.p_memsz < segment.p_vaddr)
      throw LoadError("damaged ELF file: a segment wraps around the address space");
    segments.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz, segment.p_memsz, (segment.p_flags & PF_X) != 0});
  }
  if (segments.empty())
    throw LoadError("nothing to load: the file has no loadable segment");
  begin = ~0ull;
  for (const Segment &segment : segments)
    begin = std::min(begin, segment.address), end = std::max(end, segment.address + segment.memory_bytes);
  std::vector<Elf64_Shdr> sections;
  if (header.e_shoff)
    sections = bytes.table<Elf64_Shdr>(header.e_shoff, header.e_shnum, header.e_shentsize, "section headers");
  bool emitted = false;
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type == SHT_SYMTAB)
      read_symbols(*this, bytes, sections, section);
    // --emit-relocs keeps the linker's relocations; those of debug information name no loaded section.
    bool of_loaded = section.sh_info && section.sh_info < sections.size() && sections[section.sh_info].sh_flags & SHF_ALLOC;
    if (section.sh_type == SHT_RELA && (header.e_type == ET_DYN ? (section.sh_flags & SHF_ALLOC) != 0 : of_loaded)) {
      emitted = true;
      read_relocations(*this, bytes, sections, section);
    }
  }
  movable = header.e_type == ET_DYN || emitted;
}

std::map<std::string, std::string_view> debug_sections(std::string_view elf) {
  std::map<std::string, std::string_view> found;
  try {
    Bytes bytes(elf);
    auto header = bytes.at<Elf64_Ehdr>(0, "header");
    auto sections = bytes.table<Elf64_Shdr>(header.e_shoff, header.e_shoff ? header.e_shnum : 0, header.e_shentsize, "section headers");
    if (header.e_shstrndx >= sections.size())
      return found;
    const Elf64_Shdr &names = sections[header.e_shstrndx];
    std::string_view texts = bytes.slice(names.sh_offset, names.sh_size, "section names");
    for (const Elf64_Shdr &section : sections)
      if (std::string name = string_at(texts, section.sh_name);
          name.starts_with(".debug_") && section.sh_type == SHT_PROGBITS && !(section.sh_flags & SHF_COMPRESSED))
        found[name.substr(1)] = bytes.slice(section.sh_offset, section.sh_size, "debug information");
  } catch (const LoadError &) { // what was found until then
  }
  return found;
}

} // namespace dougong::sim
