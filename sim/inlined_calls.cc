// Which inlined functions an address lies in, for faults of optimised code: .debug_info of DWARF 2 to 5 (sections 2 and 3.3.8 of the
// standard).
//
//   subprogram main                         pc
//     inlined_subroutine middle   pc        in it      → "middle", called at main.c:25
//       inlined_subroutine reads  pc        in it      → "reads", called at main.c:19
#include "sim/dwarf.h"
#include "sim/elf.h"
#include <fmt/format.h>
#include <optional>

namespace dougong::sim {
namespace {

using dwarf::Reader, dwarf::Sections, dwarf::text_at;

enum Tag { tag_inlined = 0x1d, tag_subprogram = 0x2e };
enum Attribute {
  at_name = 0x03,
  at_line_table = 0x10,
  at_low_pc = 0x11,
  at_high_pc = 0x12,
  at_abstract_origin = 0x31,
  at_specification = 0x47,
  at_ranges = 0x55,
  at_call_file = 0x58,
  at_call_line = 0x59,
  at_text_offsets = 0x72,
  at_addresses = 0x73,
  at_range_lists = 0x74
};

std::string_view section(const Sections &sections, const char *name) {
  auto found = sections.find(name);
  return found == sections.end() ? std::string_view() : found->second;
}

struct Specification {
  uint64_t attribute, form;
  int64_t constant; // of DW_FORM_implicit_const
};
struct Abbreviation {
  uint64_t tag = 0;
  bool children = false;
  std::vector<Specification> attributes;
};

struct Value {
  enum { none, number, address, text, reference, other } kind = none;
  uint64_t value = 0;
  std::string_view string;
};

// Of one entry, what matters here.
struct Entry {
  uint64_t tag = 0;
  bool children = false;
  Value name, line_table, low, high, origin, ranges, call_file, call_line, text_offsets, addresses, range_lists;
};

class Unit {
public:
  // Takes a unit off .debug_info.
  Unit(const Sections &sections, Reader &info) : sections(sections), begin(info.at) {
    uint64_t length = info.fixed(4);
    if (length == 0xffffffff)
      length = info.fixed(8), offset_bytes = 8;
    uint64_t first = info.at;
    info.skip(length);
    if (!info.good)
      return;
    all = info.bytes.substr(0, first + length);
    Reader header{all, first};
    version = header.fixed(2);
    uint64_t type = 1;
    if (version == 5)
      type = header.fixed(1), address_bytes = header.fixed(1);
    uint64_t abbreviations_at = header.fixed(unsigned(offset_bytes));
    if (version < 5)
      address_bytes = header.fixed(1);
    entries = header.at;
    if (version < 2 || version > 5 || type != 1 || address_bytes != 8 || !read_abbreviations(abbreviations_at))
      return;
    Reader reader{all, entries};
    if (auto root = read_entry(reader)) {
      line_table = root->line_table.value;
      text_offsets = root->text_offsets.value, addresses = root->addresses.value, range_lists = root->range_lists.value;
      reader.at = entries; // once more: its own address may be an index
      root = read_entry(reader);
      if (!root)
        return;
      base = address_of(root->low).value_or(0);
      whole = *root;
      readable = true;
    }
  }

  // Innermost first: "reads, inlined at main.c:19". Empty if `wanted` is in no inlined function of this unit.
  std::vector<std::string> inlined_at(uint64_t wanted) const {
    std::vector<std::string> found;
    bool says_where = whole.ranges.kind != Value::none || whole.high.kind != Value::none;
    if (!readable || (says_where && !contains(whole, wanted)))
      return found;
    Reader reader{all, entries};
    uint64_t depth = 0, function_depth = 0; // 0: not in the function yet
    while (reader.more()) {
      uint64_t before = reader.at;
      auto entry = read_entry(reader);
      if (!entry) { // the end of a list of children
        if (reader.at == before || depth == 0 || --depth < function_depth)
          break;
        continue;
      }
      if (entry->tag == tag_subprogram && !function_depth && contains(*entry, wanted)) {
        if (!entry->children)
          break;
        function_depth = depth + 1;
      } else if (entry->tag == tag_inlined && function_depth && contains(*entry, wanted)) {
        std::string file = dwarf::line_table_file(sections, line_table, entry->call_file.value);
        found.insert(found.begin(), fmt::format("{}, inlined at {}:{}", name_of(*entry), file, entry->call_line.value));
      }
      depth += entry->children;
    }
    return found;
  }

private:
  bool read_abbreviations(uint64_t offset) {
    Reader reader{section(sections, "debug_abbrev")};
    reader.skip(offset);
    for (uint64_t code = reader.leb(); reader.good && code; code = reader.leb()) {
      Abbreviation abbreviation;
      abbreviation.tag = reader.leb(), abbreviation.children = reader.fixed(1);
      for (;;) {
        uint64_t attribute = reader.leb(), form = reader.leb();
        int64_t constant = form == 0x21 ? int64_t(reader.leb(true)) : 0;
        if (!reader.good || (!attribute && !form))
          break;
        abbreviation.attributes.push_back({attribute, form, constant});
      }
      abbreviations[code] = std::move(abbreviation);
    }
    return reader.good;
  }

  // Nothing at the end of a list, and where the reader stands still, at what cannot be read.
  std::optional<Entry> read_entry(Reader &reader) const {
    uint64_t at = reader.at, code = reader.leb();
    if (code == 0)
      return std::nullopt;
    auto known = abbreviations.find(code);
    if (known == abbreviations.end()) {
      reader.at = at;
      return std::nullopt;
    }
    Entry entry;
    entry.tag = known->second.tag, entry.children = known->second.children;
    for (const Specification &specification : known->second.attributes) {
      Value value = read_value(reader, specification.form, specification.constant);
      switch (specification.attribute) {
      case at_name:
        entry.name = value;
        break;
      case at_line_table:
        entry.line_table = value;
        break;
      case at_low_pc:
        entry.low = value;
        break;
      case at_high_pc:
        entry.high = value;
        break;
      case at_abstract_origin:
      case at_specification:
        entry.origin = value;
        break;
      case at_ranges:
        entry.ranges = value, entry.ranges.kind = specification.form == 0x23 ? Value::number : Value::other; // rnglistx: an index
        break;
      case at_call_file:
        entry.call_file = value;
        break;
      case at_call_line:
        entry.call_line = value;
        break;
      case at_text_offsets:
        entry.text_offsets = value;
        break;
      case at_addresses:
        entry.addresses = value;
        break;
      case at_range_lists:
        entry.range_lists = value;
      }
    }
    if (reader.good)
      return entry;
    reader.at = at;
    return std::nullopt;
  }

  Value read_value(Reader &reader, uint64_t form, int64_t constant) const {
    auto offset = [&] { return reader.fixed(unsigned(offset_bytes)); };
    switch (form) {
    case 0x01: // addr
      return {Value::address, reader.fixed(8), {}};
    case 0x1b: // addrx
      return {Value::address, indexed_address(reader.leb()), {}};
    case 0x29: // addrx1 to addrx4
    case 0x2a:
    case 0x2b:
    case 0x2c:
      return {Value::address, indexed_address(reader.fixed(unsigned(form - 0x28))), {}};
    case 0x0b: // data1, flag, 2, 4, 8, sec_offset, udata, sdata, implicit_const, flag_present
    case 0x0c:
      return {Value::number, reader.fixed(1), {}};
    case 0x05:
      return {Value::number, reader.fixed(2), {}};
    case 0x06:
      return {Value::number, reader.fixed(4), {}};
    case 0x07:
      return {Value::number, reader.fixed(8), {}};
    case 0x17:
      return {Value::number, offset(), {}};
    case 0x0f:
    case 0x22: // loclistx, rnglistx
    case 0x23:
      return {Value::number, reader.leb(), {}};
    case 0x0d:
      return {Value::number, reader.leb(true), {}};
    case 0x21:
      return {Value::number, uint64_t(constant), {}};
    case 0x19:
      return {Value::number, 1, {}};
    case 0x08: // string, strp, line_strp, strx, strx1 to strx4
      return {Value::text, 0, reader.text()};
    case 0x0e:
      return {Value::text, 0, text_at(section(sections, "debug_str"), offset())};
    case 0x1f:
      return {Value::text, 0, text_at(section(sections, "debug_line_str"), offset())};
    case 0x1a:
      return {Value::text, 0, indexed_text(reader.leb())};
    case 0x25:
    case 0x26:
    case 0x27:
    case 0x28:
      return {Value::text, 0, indexed_text(reader.fixed(unsigned(form - 0x24)))};
    case 0x11: // ref1, 2, 4, 8, udata: within the unit
      return {Value::reference, begin + reader.fixed(1), {}};
    case 0x12:
      return {Value::reference, begin + reader.fixed(2), {}};
    case 0x13:
      return {Value::reference, begin + reader.fixed(4), {}};
    case 0x14:
      return {Value::reference, begin + reader.fixed(8), {}};
    case 0x15:
      return {Value::reference, begin + reader.leb(), {}};
    case 0x10: // ref_addr: perhaps in another unit, whose abbreviations are others
      offset();
      return {};
    case 0x0a: // blocks and expressions
      reader.skip(reader.fixed(1));
      return {};
    case 0x03:
      reader.skip(reader.fixed(2));
      return {};
    case 0x04:
      reader.skip(reader.fixed(4));
      return {};
    case 0x09:
    case 0x18:
      reader.skip(reader.leb());
      return {};
    case 0x1e: // data16, ref_sig8
      reader.skip(16);
      return {};
    case 0x20:
      reader.skip(8);
      return {};
    default:
      reader.good = false;
      return {};
    }
  }

  uint64_t number_at(const char *name, uint64_t offset, unsigned size) const {
    Reader reader{section(sections, name)};
    reader.skip(offset);
    return reader.fixed(size);
  }
  uint64_t indexed_address(uint64_t index) const { return number_at("debug_addr", addresses + 8 * index, 8); }
  std::string_view indexed_text(uint64_t index) const {
    return text_at(section(sections, "debug_str"),
                   number_at("debug_str_offsets", text_offsets + offset_bytes * index, unsigned(offset_bytes)));
  }
  static std::optional<uint64_t> address_of(const Value &value) {
    return value.kind == Value::address ? std::optional(value.value) : std::nullopt;
  }

  bool contains(const Entry &entry, uint64_t wanted) const {
    if (entry.ranges.kind != Value::none)
      return version == 5 ? in_range_list(entry.ranges, wanted) : in_old_ranges(entry.ranges.value, wanted);
    auto low = address_of(entry.low);
    if (!low)
      return false;
    uint64_t high = entry.high.kind == Value::address ? entry.high.value : *low + entry.high.value;
    return *low <= wanted && wanted < high;
  }

  bool in_range_list(const Value &where, uint64_t wanted) const {
    uint64_t offset = where.value;
    if (where.kind == Value::number)
      offset = range_lists + number_at("debug_rnglists", range_lists + offset_bytes * where.value, unsigned(offset_bytes));
    Reader reader{section(sections, "debug_rnglists")};
    reader.skip(offset);
    uint64_t from = base;
    while (reader.more()) {
      uint64_t low = 0, high = 0;
      switch (reader.fixed(1)) {
      case 1: // base_addressx
        from = indexed_address(reader.leb());
        continue;
      case 2: // startx_endx
        low = indexed_address(reader.leb()), high = indexed_address(reader.leb());
        break;
      case 3: // startx_length
        low = indexed_address(reader.leb()), high = low + reader.leb();
        break;
      case 4: // offset_pair
        low = from + reader.leb(), high = from + reader.leb();
        break;
      case 5: // base_address
        from = reader.fixed(8);
        continue;
      case 6: // start_end
        low = reader.fixed(8), high = reader.fixed(8);
        break;
      case 7: // start_length
        low = reader.fixed(8), high = low + reader.leb();
        break;
      default:
        return false;
      }
      if (low <= wanted && wanted < high)
        return true;
    }
    return false;
  }

  bool in_old_ranges(uint64_t offset, uint64_t wanted) const {
    Reader reader{section(sections, "debug_ranges")};
    reader.skip(offset);
    for (uint64_t from = base; reader.more();) {
      uint64_t low = reader.fixed(8), high = reader.fixed(8);
      if (low == 0 && high == 0)
        return false;
      if (low == ~uint64_t(0))
        from = high;
      else if (from + low <= wanted && wanted < from + high)
        return true;
    }
    return false;
  }

  std::string name_of(Entry entry) const {
    constexpr int most_steps = 8;
    for (int step = 0; step < most_steps; ++step) {
      if (entry.name.kind == Value::text)
        return std::string(entry.name.string);
      if (entry.origin.kind != Value::reference || entry.origin.value >= all.size())
        break;
      Reader reader{all, entry.origin.value};
      auto origin = read_entry(reader);
      if (!origin)
        break;
      entry = *origin;
    }
    return "a function";
  }

  const Sections &sections;
  const uint64_t begin;
  std::string_view all; // .debug_info up to the unit's end
  bool readable = false;
  Entry whole; // the unit's own
  uint64_t version = 0, offset_bytes = 4, address_bytes = 0, entries = 0;
  uint64_t base = 0, line_table = 0, text_offsets = 0, addresses = 0, range_lists = 0;
  std::map<uint64_t, Abbreviation> abbreviations;
};

} // namespace

std::vector<std::string> inlined_calls(std::string_view elf, uint64_t address) {
  Sections sections = debug_sections(elf);
  Reader info{section(sections, "debug_info")};
  while (info.more())
    if (auto calls = Unit(sections, info).inlined_at(address); !calls.empty())
      return calls;
  return {};
}

} // namespace dougong::sim
