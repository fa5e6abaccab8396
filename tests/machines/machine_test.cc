// Machine descriptions: the shipped ones, and what a wrong one says.
#include "machines/machine.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace dougong {
namespace {

std::string message_of(std::string_view name) {
  try {
    Machine::load(name);
    return "";
  } catch (const MachineError &error) {
    return error.what();
  }
}

// phone.toml with one line replaced, or with one added at its end.
std::string changed(const std::string &from, const std::string &to) {
  std::ifstream file(DOUGONG_SOURCE_DIR "/machines/phone.toml");
  std::stringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  if (from.empty())
    text += to;
  else
    text.replace(text.find(from), from.size(), to);
  std::string path = testing::TempDir() + "changed.toml";
  std::ofstream(path) << text;
  return path;
}

bool has(const std::string &text, std::string_view part) { return text.find(part) != text.npos; }

TEST(Machines, TheDesignsTable) { // DESIGN.md, section 3
  Machine tiny = Machine::load("tiny"), phone = Machine::load("phone"), server = Machine::load("server");
  auto tops = [](const Machine &m) {
    return 2e-3 * m.device.cores * m.device.clock_ghz * m.tensor.rows * m.tensor.columns * m.tensor.int8_rate;
  };
  EXPECT_NEAR(0.256, tops(tiny), 0.001);
  EXPECT_NEAR(44.2, tops(phone), 0.1);
  EXPECT_NEAR(708, tops(server), 1);
  EXPECT_EQ(1 << 20, phone.lm_bytes());
  EXPECT_EQ(256 << 10, phone.acc_bytes());
  EXPECT_EQ(4 << 20, phone.l2_bytes());
  EXPECT_NEAR(76.8 / 0.9, phone.dram_bytes_per_cycle(), 1e-9);
  EXPECT_EQ(0, tiny.l2_bytes());
  EXPECT_EQ((std::vector<std::string>{"phone", "server", "tiny"}), Machine::shipped());
  for (const Machine &m : {tiny, phone, server}) {
    EXPECT_DOUBLE_EQ(0.5, m.tensor.f16_rate);
    EXPECT_DOUBLE_EQ(0.5, m.tensor.bf16_rate);
    EXPECT_DOUBLE_EQ(1, m.tensor.fp8_rate);
    // LM feeds the tensor engine at full rate: one column of A and one row of B a step.
    EXPECT_GE(m.core.lm_banks * m.core.lm_bank_bytes, (m.tensor.rows + m.tensor.columns) * m.tensor.int8_rate);
  }
}

TEST(Machines, AFileIsReadAsOneByItsPath) { EXPECT_EQ(3, Machine::load(changed("cores = 6", "cores = 3")).device.cores); }

TEST(Machines, CommentsMayHaveAnyCharacters) {
  EXPECT_EQ(6, Machine::load(changed("cores = 6", "cores = 6 # für \u3001 \xff")).device.cores);
}

TEST(Machines, AMistakeNamesFileLineKeyAndWhatIsAllowed) {
  EXPECT_TRUE(has(message_of("fone"), "unknown machine 'fone'; known machines are phone, server, tiny"));
  EXPECT_TRUE(has(message_of("nowhere/x.toml"), "'nowhere/x.toml' does not exist"));
  std::string text = message_of(changed("cores = 6", "cores = 0"));
  EXPECT_TRUE(has(text, "changed.toml:5: 'device.cores' takes a whole number from 1 to 256")) << text;
  EXPECT_TRUE(has(message_of(changed("cores = 6", "cores = 2.5")), "takes a whole number"));
  EXPECT_TRUE(has(message_of(changed("cores = 6", "cores = \"six\"")), "takes a whole number"));
  EXPECT_TRUE(has(message_of(changed("clock_ghz = 0.9", "")), "key 'device.clock_ghz' is missing"));
  EXPECT_TRUE(has(message_of(changed("issue_width = 4", "issue_width = 3")), "'core.issue_width' takes one of 1, 2, 4"));
  EXPECT_TRUE(has(message_of(changed("cores = 6", "cores = 1e300")), "takes a whole number"));
  EXPECT_TRUE(has(message_of(changed("cores = 6", "cores = nan")), "takes a whole number"));
  EXPECT_TRUE(has(message_of("/"), "'/' is no file"));
  EXPECT_TRUE(has(message_of(changed("cores = 6", "cores = -2.5")), "from 1 to 256, not -2.5"));
  EXPECT_TRUE(has(message_of(changed("cores = 6", "cores = [1, 2]")), "not [ 1, 2 ]"));
  EXPECT_TRUE(has(message_of(changed("issue_width = 4", "issue_width = 3")), "one of 1, 2, 4, not 3"));
  text = message_of(changed("cores = 6", "cores = \"" + std::string(1000, 'x') + "\""));
  EXPECT_TRUE(has(text, "xxx...") && text.size() < 300) << text;
  for (auto [key, value] : {std::pair("line_bytes = 64", "line_bytes = 48"),
                            {"burst_bytes = 64", "burst_bytes = 96"},
                            {"row_bytes = 2048", "row_bytes = 2049"},
                            {"lm_bank_bytes = 32", "lm_bank_bytes = 33"}})
    EXPECT_TRUE(has(message_of(changed(key, value)), "takes a power of two from ")) << value;
  text = message_of(changed("", "\nleakage_w = 3\n"));
  EXPECT_TRUE(has(text, "unknown key 'energy.leakage_w'; known keys are ")) << text;
  text = message_of(changed("cores = 6", "cores = = 6"));
  EXPECT_TRUE(has(text, "changed.toml:5: ")) << text;
  EXPECT_TRUE(has(message_of(changed("cores = 6", "[ = 6")), "changed.toml"));
  EXPECT_TRUE(has(message_of(changed("cores = 6", "c\u3001res = 6")), "changed.toml:5: "));
}

TEST(Machines, AMisspeltNameIsUnknownBeforeItIsMissing) {
  std::string text = message_of(changed("[dram]", "[dran]"));
  EXPECT_TRUE(has(text, "unknown key 'dran.") && has(text, ", perhaps 'dram.")) << text;
  EXPECT_TRUE(
      has(message_of(changed("\ncores = 6", "\ncoers = 6")), "unknown key 'device.coers', perhaps 'device.cores'; known keys are "));
  EXPECT_FALSE(has(message_of(changed("", "\nleakage_w = 3\n")), "perhaps"));
  EXPECT_TRUE(has(message_of(changed("issue_width = 4", "")), "key 'core.issue_width' is missing"));
  EXPECT_TRUE(has(message_of(changed("line_bytes = 64", "")), "key 'l2.line_bytes' is missing"));
}

} // namespace
} // namespace dougong
