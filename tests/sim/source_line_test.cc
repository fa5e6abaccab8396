// Lines of addresses, against llvm-symbolizer's; and damaged line tables, which have none or some.
#include "sim/elf.h"
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <sstream>

namespace dougong::sim {
namespace {

std::string output_of(const std::string &command) {
  std::string text;
  FILE *pipe = popen(command.c_str(), "r");
  for (int c; pipe && (c = std::fgetc(pipe)) != EOF;)
    text += char(c);
  EXPECT_EQ(0, pclose(pipe)) << command;
  return text;
}

std::string program(const std::string &flags) {
  std::string path = testing::TempDir() + "dougong_lines" + flags.substr(flags.size() - 1) + ".elf";
  output_of(DOUGONG_BUILD_DIR "/bin/dougong-cc -O2 " + flags + " " DOUGONG_SOURCE_DIR "/tests/sim/program.c -o " + path);
  return path;
}
std::string bytes_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SourceLine, AgreesWithLlvm) {
  for (const char *flags : {"-g", "-g -gdwarf-4"}) {
    std::string path = program(flags), elf = bytes_of(path);
    uint64_t first = 0x80000000, last = first + 0x6000;
    std::string numbers = path + ".txt";
    {
      std::ofstream list(numbers);
      for (uint64_t at = first; at < last; at += 4)
        list << "0x" << std::hex << at << "\n";
    }
    std::string theirs = output_of("/usr/lib/llvm-22/bin/llvm-symbolizer --no-inlines --functions=none --relativenames --obj=" + path +
                                   " < " + numbers + " 2>/dev/null");
    size_t at = 0;
    int known = 0;
    for (uint64_t address = first; address < last; address += 4) {
      size_t end = theirs.find('\n', at);
      std::string line = theirs.substr(at, end - at);
      at = theirs.find("\n\n", at) + 2;
      line = line.substr(0, line.rfind(':'));
      if (line == "??:0" || line.ends_with(":0"))
        line = "";
      known += !line.empty();
      ASSERT_EQ(line, source_line(elf, address)) << std::hex << address;
    }
    EXPECT_GT(known, 200) << flags;
  }
}

// llvm-symbolizer's answer: function, place, function, place …, innermost first. Ours: "place in function, inlined at place …".
TEST(InlinedCalls, AgreeWithLlvm) {
  for (const char *flags : {"-g", "-g -gdwarf-4", "-g -gdwarf-3", "-g -gdwarf64"}) {
    std::string path = program(flags), elf = bytes_of(path), numbers = path + ".txt";
    uint64_t first = 0x80000000, last = first + 0x1000;
    {
      std::ofstream list(numbers);
      for (uint64_t at = first; at < last; at += 4)
        list << "0x" << std::hex << at << "\n";
    }
    std::istringstream theirs(output_of("/usr/lib/llvm-22/bin/llvm-symbolizer --functions=short --relativenames --obj=" + path + " < " +
                                        numbers + " 2>/dev/null"));
    int inlined = 0;
    for (uint64_t address = first; address < last; address += 4) {
      std::string expected, function, place;
      bool known = true;
      for (int depth = 0; std::getline(theirs, function) && !function.empty() && std::getline(theirs, place); ++depth) {
        place = place.substr(0, place.rfind(':')); // without the column
        known = known && !place.starts_with("??") && !place.ends_with(":0");
        expected += depth ? ", inlined at " + place : place;
        expected += " in " + function;
      }
      expected = expected.substr(0, expected.rfind(" in ")); // the function that has code is named otherwise
      std::string ours = source_line(elf, address);
      for (const std::string &call : inlined_calls(elf, address))
        ours += " in " + call, ++inlined;
      if (known)
        ASSERT_EQ(expected, ours) << flags << " " << std::hex << address;
    }
    EXPECT_GT(inlined, 20) << flags;
  }
}

TEST(SourceLine, DamagedTablesEndNothing) {
  std::string elf = bytes_of(program("-g"));
  std::map<std::string, std::string_view> sections = debug_sections(elf);
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = elf;
    const char *names[] = {"debug_line", "debug_info", "debug_abbrev", "debug_rnglists", "debug_addr", "debug_str_offsets"};
    std::string_view section = sections[names[random() % std::size(names)]];
    ASSERT_GT(section.size(), 8u);
    for (int j = random() % 8; j >= 0; --j)
      damaged[size_t(section.data() - elf.data()) + random() % section.size()] = char(random());
    uint64_t address = 0x80000000 + random() % 0x4000;
    source_line(damaged, address);
    inlined_calls(damaged, address);
  }
  EXPECT_EQ("", source_line("no program", 0));
}

} // namespace
} // namespace dougong::sim
