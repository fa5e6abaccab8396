// Source lines of device code, for faults: the line tables of DWARF 2 to 5 (section 6.2 of the standard).
//
//   .debug_line:  unit*      unit: header (directories, files) , line program
//   The program makes rows of (address, file, line), ascending within a sequence; a row holds until the next one's address.
#include "sim/dwarf.h"
#include "sim/elf.h"
#include <algorithm>
#include <cstring>

namespace dougong::sim {
namespace {

using dwarf::Reader, dwarf::text_at;

struct File {
  std::string_view name;
  uint64_t directory = 0;
};

struct Tables {
  std::string_view line_texts, texts; // .debug_line_str, .debug_str
  unsigned offset_size;
};

// A list of directories or files as version 5 has it: it says itself which fields an entry has.
std::vector<File> read_entries(Reader &reader, const Tables &tables) {
  enum { content_path = 1, content_directory = 2 };
  enum {
    form_data2 = 0x05,
    form_data4,
    form_data8,
    form_string,
    form_block,
    form_data1 = 0x0b,
    form_strp = 0x0e,
    form_udata = 0x0f,
    form_data16 = 0x1e,
    form_line_strp = 0x1f
  };
  std::vector<std::pair<uint64_t, uint64_t>> formats(reader.fixed(1));
  for (auto &[content, form] : formats)
    content = reader.leb(), form = reader.leb();
  std::vector<File> entries;
  for (uint64_t left = reader.leb(); left > 0 && reader.more() && !formats.empty(); --left) {
    File entry;
    for (auto [content, form] : formats) {
      std::string_view text;
      uint64_t value = 0;
      switch (form) {
      case form_string:
        text = reader.text();
        break;
      case form_line_strp:
        text = text_at(tables.line_texts, reader.fixed(tables.offset_size));
        break;
      case form_strp:
        text = text_at(tables.texts, reader.fixed(tables.offset_size));
        break;
      case form_udata:
        value = reader.leb();
        break;
      case form_data1:
        value = reader.fixed(1);
        break;
      case form_data2:
        value = reader.fixed(2);
        break;
      case form_data4:
        value = reader.fixed(4);
        break;
      case form_data8:
        value = reader.fixed(8);
        break;
      case form_data16:
        reader.skip(16);
        break;
      case form_block:
        reader.skip(reader.leb());
        break;
      default:
        reader.good = false;
      }
      if (content == content_path)
        entry.name = text;
      else if (content == content_directory)
        entry.directory = value;
    }
    entries.push_back(entry);
  }
  return entries;
}

struct Header {
  uint64_t least_length = 1, line_range = 1, first_special = 1;
  int64_t line_base = 0;
  std::vector<uint8_t> operands;
  std::vector<File> directories, files;

  std::string name_of(uint64_t index) const {
    if (index >= files.size() || files[index].name.empty())
      return "";
    const File &file = files[index];
    std::string name(file.name);
    // Directory 0 is where the compiler ran.
    if (name[0] != '/' && file.directory > 0 && file.directory < directories.size())
      name = std::string(directories[file.directory].name) + "/" + name;
    return name;
  }
};

// Reads a unit up to its program. False if it is none that can be read.
bool read_header(Reader &unit, const Tables &tables, Header &header) {
  uint64_t version = unit.fixed(2);
  if (version < 2 || version > 5)
    return false;
  if (version == 5)
    unit.skip(2); // sizes of addresses and segments
  uint64_t header_bytes = unit.fixed(tables.offset_size);
  Reader reader{unit.bytes, unit.at, unit.good};
  unit.skip(header_bytes);
  header.least_length = reader.fixed(1);
  if (version >= 4)
    reader.skip(1); // operations an instruction
  reader.skip(1);   // default of "is a statement"
  header.line_base = int8_t(reader.fixed(1));
  header.line_range = reader.fixed(1), header.first_special = reader.fixed(1);
  header.operands.resize(header.first_special);
  for (uint64_t i = 1; i < header.first_special; ++i)
    header.operands[i] = uint8_t(reader.fixed(1));
  if (header.line_range == 0 || header.first_special == 0 || !reader.good)
    return false;
  if (version == 5) {
    header.directories = read_entries(reader, tables), header.files = read_entries(reader, tables);
    return true;
  }
  header.directories.push_back({}), header.files.push_back({});
  for (std::string_view name = reader.text(); !name.empty(); name = reader.text())
    header.directories.push_back({name});
  for (std::string_view name = reader.text(); !name.empty(); name = reader.text()) {
    header.files.push_back({name, reader.leb()});
    reader.leb(), reader.leb(); // time, bytes
  }
  return true;
}

// Takes a unit off .debug_line. Its text is empty at the end of what can be read.
Reader take_unit(Reader &lines, Tables &tables) {
  tables.offset_size = 4;
  uint64_t length = lines.fixed(4);
  if (length == 0xffffffff)
    length = lines.fixed(8), tables.offset_size = 8;
  uint64_t begin = lines.at;
  lines.skip(length);
  return lines.good ? Reader{lines.bytes.substr(begin, length)} : Reader{""};
}

struct Row {
  uint64_t address = 0, file = 1;
  int64_t line = 1;
};

// The unit's line for `wanted`; empty if it has none.
std::string line_in_unit(Reader unit, const Tables &tables, uint64_t wanted) {
  Header header;
  if (!read_header(unit, tables, header))
    return "";
  uint64_t least_length = header.least_length, line_range = header.line_range, first_special = header.first_special;
  int64_t line_base = header.line_base;

  enum { copy = 1, advance_pc, advance_line, set_file, set_column, negate_statement, basic_block, const_add_pc, fixed_advance_pc };
  enum { end_sequence = 1, set_address = 2 };
  Row row, last;
  bool in_sequence = false;
  // The last row holds from its address to this one's.
  auto reached = [&](bool end) {
    bool found = in_sequence && last.address <= wanted && wanted < row.address;
    if (!found)
      last = row, in_sequence = !end;
    return found;
  };
  bool found = false;
  while (unit.more() && !found) {
    uint64_t operation = unit.fixed(1);
    if (operation >= first_special) {
      uint64_t special = operation - first_special;
      row.address += special / line_range * least_length,
          row.line = int64_t(uint64_t(row.line) + uint64_t(line_base) + special % line_range);
      found = reached(false);
    } else if (operation == 0) {
      uint64_t length = unit.leb(), next = unit.at + length, extended = unit.fixed(1);
      if (next < unit.at)
        break;
      if (extended == end_sequence)
        found = reached(true), row = {};
      else if (extended == set_address)
        row.address = unit.fixed(unsigned(std::min<uint64_t>(8, length - 1)));
      if (next > unit.bytes.size())
        break;
      unit.at = next;
    } else if (operation == copy) {
      found = reached(false);
    } else if (operation == advance_pc) {
      row.address += unit.leb() * least_length;
    } else if (operation == advance_line) {
      row.line = int64_t(uint64_t(row.line) + unit.leb(true));
    } else if (operation == set_file) {
      row.file = unit.leb();
    } else if (operation == const_add_pc) {
      row.address += (255 - first_special) / line_range * least_length;
    } else if (operation == fixed_advance_pc) {
      row.address += unit.fixed(2);
    } else {
      for (int i = 0; i < header.operands[operation]; ++i)
        unit.leb();
    }
  }
  std::string name = found && last.line > 0 ? header.name_of(last.file) : "";
  return name.empty() ? "" : name + ":" + std::to_string(last.line);
}

Tables tables_of(const dwarf::Sections &sections) {
  auto text = [&](const char *name) {
    auto found = sections.find(name);
    return found == sections.end() ? std::string_view() : found->second;
  };
  return {text("debug_line_str"), text("debug_str"), 4};
}

} // namespace

std::string source_line(std::string_view elf, uint64_t address) {
  auto sections = debug_sections(elf);
  Tables tables = tables_of(sections);
  for (Reader lines{sections["debug_line"]}; lines.more();)
    if (std::string line = line_in_unit(take_unit(lines, tables), tables, address); !line.empty())
      return line;
  return "";
}

std::string dwarf::line_table_file(const Sections &sections, uint64_t offset, uint64_t index) {
  auto found = sections.find("debug_line");
  if (found == sections.end())
    return "";
  Tables tables = tables_of(sections);
  Reader lines{found->second};
  lines.skip(offset);
  Reader unit = take_unit(lines, tables);
  Header header;
  return read_header(unit, tables, header) ? header.name_of(index) : "";
}

} // namespace dougong::sim
