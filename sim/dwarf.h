// What the readers of debug information share. They trust nothing that they read: a damaged program must not end the model that explains
// its fault. (LLVM's reader trusts its input.)
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace dougong::sim::dwarf {

using Sections = std::map<std::string, std::string_view>; // by name ("debug_line"), as debug_sections gives them

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

inline std::string_view text_at(std::string_view section, uint64_t offset) {
  Reader reader{section};
  reader.skip(offset);
  return reader.text();
}

// The name of file `index` of the line table at `offset` of .debug_line; empty if there is none.
std::string line_table_file(const Sections &sections, uint64_t offset, uint64_t index);

} // namespace dougong::sim::dwarf
