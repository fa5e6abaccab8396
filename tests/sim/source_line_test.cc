// Lines of addresses, against llvm-symbolizer's; and damaged line tables, which have none or some.
#include "sim/elf.h"
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

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

TEST(SourceLine, DamagedTablesEndNothing) {
  std::string elf = bytes_of(program("-g"));
  size_t at = size_t(debug_sections(elf)["debug_line"].data() - elf.data()), size = debug_sections(elf)["debug_line"].size();
  ASSERT_GT(size, 100u);
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = elf;
    for (int j = random() % 8; j >= 0; --j)
      damaged[at + random() % size] = char(random());
    source_line(damaged, 0x80000000 + random() % 0x4000);
  }
  EXPECT_EQ("", source_line("no program", 0));
}

} // namespace
} // namespace dougong::sim
