// Source lines of device code, for faults: the line tables of DWARF 2 to 5 (section 6.2 of the standard), and nothing else of it. A reader
// of our own, because LLVM's trusts its input: a damaged program must not end the model that explains its fault.
//
//   .debug_line:  unit*      unit: header (directories, files) , line program
//   The program makes rows of (address, file, line), ascending within a sequence; a row holds until the next one's address.
#include "sim/elf.h"
#include <algorithm>
#include <cstring>

namespace dougong::sim {
namespace {

// Reads on from `at`; beyond the end it reads zeros and says so in `good`.
struct Reader {
  std::string_view bytes;
  uint64_t at = 0;
  bool good = true;

  bool more() const { return good && at < bytes.size(); }
  void skip(uint64_t count) {
    good = good && count <= bytes.size() - at;
    at = good ? at + count : bytes.size();
  }
  uint64_t fixed(unsigned size) {
    uint64_t from = at, value = 0;
    skip(size);
    if (good && size <= 8)
      std::memcpy(&value, bytes.data() + from, size);
    return value;
  }
  uint64_t leb(bool is_signed = false) {
    uint64_t value = 0;
    unsigned shift = 0;
    for (uint8_t byte = 0x80; byte & 0x80 && good;) {
      byte = uint8_t(fixed(1));
      if (shift < 64)
        value |= uint64_t(byte & 0x7f) << shift;
      shift += 7;
      if (is_signed && !(byte & 0x80) && byte & 0x40 && shift < 64)
        value |= ~uint64_t(0) << shift;
    }
    return value;
  }
  std::string_view text() {
    uint64_t from = at, end = bytes.find('\0', at);
    skip(end == bytes.npos ? ~uint64_t(0) : end - from + 1);
    return good ? bytes.substr(from, end - from) : "";
  }
};

std::string_view text_at(std::string_view section, uint64_t offset) {
  Reader reader{section};
  reader.skip(offset);
  return reader.text();
}

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

struct Row {
  uint64_t address = 0, file = 1;
  int64_t line = 1;
};

// The unit's line for `wanted`; empty if it has none.
std::string line_in_unit(Reader unit, Tables tables, uint64_t wanted) {
  uint64_t version = unit.fixed(2);
  if (version < 2 || version > 5)
    return "";
  if (version == 5)
    unit.skip(2); // sizes of addresses and segments
  uint64_t header_bytes = unit.fixed(tables.offset_size);
  Reader header{unit.bytes, unit.at, unit.good};
  unit.skip(header_bytes);
  uint64_t least_length = header.fixed(1);
  if (version >= 4)
    header.skip(1); // operations an instruction
  header.skip(1);   // default of "is a statement"
  int64_t line_base = int8_t(header.fixed(1));
  uint64_t line_range = header.fixed(1), first_special = header.fixed(1);
  std::vector<uint8_t> operands(first_special);
  for (uint64_t i = 1; i < first_special; ++i)
    operands[i] = uint8_t(header.fixed(1));
  if (line_range == 0 || first_special == 0 || !header.good)
    return "";
  std::vector<File> directories, files;
  if (version == 5) {
    directories = read_entries(header, tables), files = read_entries(header, tables);
  } else {
    directories.push_back({}), files.push_back({});
    for (std::string_view name = header.text(); !name.empty(); name = header.text())
      directories.push_back({name});
    for (std::string_view name = header.text(); !name.empty(); name = header.text()) {
      files.push_back({name, header.leb()});
      header.leb(), header.leb(); // time, bytes
    }
  }

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
      for (int i = 0; i < operands[operation]; ++i)
        unit.leb();
    }
  }
  if (!found || last.line <= 0 || last.file >= files.size() || files[last.file].name.empty())
    return "";
  const File &file = files[last.file];
  std::string name(file.name);
  // Directory 0 is where the compiler ran.
  if (name[0] != '/' && file.directory > 0 && file.directory < directories.size())
    name = std::string(directories[file.directory].name) + "/" + name;
  return name + ":" + std::to_string(last.line);
}

} // namespace

std::string source_line(std::string_view elf, uint64_t address) {
  auto sections = debug_sections(elf);
  Reader lines{sections["debug_line"]};
  while (lines.more()) {
    Tables tables{sections["debug_line_str"], sections["debug_str"], 4};
    uint64_t length = lines.fixed(4);
    if (length == 0xffffffff)
      length = lines.fixed(8), tables.offset_size = 8;
    uint64_t begin = lines.at;
    lines.skip(length);
    if (!lines.good)
      break;
    if (std::string line = line_in_unit({lines.bytes.substr(begin, length)}, tables, address); !line.empty())
      return line;
  }
  return "";
}

} // namespace dougong::sim
