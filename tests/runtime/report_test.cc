// The report's arithmetic, on numbers worked out by hand for `phone`: 6 cores, 0.9 GHz, 64x64 multiply-adds a step at half a
// step a cycle in f16, 32 vector lanes and two pipes, 76.8 GB/s, L2 of 256 bytes a cycle.
#include "machines/machine.h"
#include "runtime/report.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace dougong;

namespace {

struct Case {
  Specialisation::Kernel kernel;
  Statistics statistics;
};

StepReport report_of(Case c, Target target = Target::Npu) {
  Artifact artifact;
  Specialisation program;
  program.images.push_back({target, ""});
  program.kernels.push_back(std::move(c.kernel));
  program.steps.push_back({0, {}, "step", {"Conv 'a'"}, target == Target::Cpu ? "a reason" : ""});
  RunProfile profile;
  profile.steps.push_back({0, std::move(c.statistics)});
  Machine phone = Machine::load("phone");
  return RunReport::make(artifact, program, profile, &phone, "test").steps.at(0);
}

Case timed(uint64_t cycles, uint64_t dram_read = 0) {
  Case c;
  c.statistics.timed = true;
  c.statistics.cycles = cycles;
  c.statistics.seconds = double(cycles) / 0.9e9;
  c.statistics.bytes = {{"dram read", dram_read}, {"dram written", 0}};
  return c;
}

TEST(Roof, HalfPrecisionTensorPeak) {
  Case c = timed(10000);
  c.kernel.tensor_macs = 6 * 64 * 64 * 1000; // 1000 steps on each core, 2 cycles each
  c.statistics.tensor_macs = c.kernel.tensor_macs;
  StepReport report = report_of(c);
  EXPECT_EQ(report.roof, Roof::TensorPeak);
  EXPECT_NEAR(report.bound_seconds, 2000 / 0.9e9, 1e-15);
}

TEST(Roof, IntegersRunAtTheFullRate) {
  Case c = timed(10000);
  c.kernel.tensor_macs = c.statistics.tensor_macs = c.statistics.tensor_int_macs = 6 * 64 * 64 * 1000;
  EXPECT_NEAR(report_of(c).bound_seconds, 1000 / 0.9e9, 1e-15);
}

TEST(Roof, VectorPeakIsOneFmaOrTwoOperationsALane) {
  Case fma = timed(10000), elementwise = timed(10000);
  fma.kernel.vector_macs = elementwise.kernel.vector_elements = 6 * 32 * 1000;
  EXPECT_EQ(report_of(fma).roof, Roof::VectorPeak);
  EXPECT_NEAR(report_of(fma).bound_seconds, 1000 / 0.9e9, 1e-15);
  EXPECT_NEAR(report_of(elementwise).bound_seconds, 500 / 0.9e9, 1e-15);
}

TEST(Roof, DramCountsOnlyWhatHadToMoveAndDid) {
  Case c = timed(10000, 768000); // 10 µs of DRAM
  c.kernel.compulsory_bytes = 384000;
  StepReport report = report_of(c);
  EXPECT_EQ(report.roof, Roof::Dram);
  EXPECT_NEAR(report.bound_seconds, 5e-6, 1e-12);
  c.statistics.bytes["dram read"] = 0; // all of it came from L2: 384000 / 256 = 1500 cycles
  report = report_of(c);
  EXPECT_EQ(report.roof, Roof::L2);
  EXPECT_NEAR(report.bound_seconds, 1500 / 0.9e9, 1e-15);
}

TEST(Roof, NoneWithoutTimeOrOnTheCpu) {
  Case c = timed(0);
  c.kernel.tensor_macs = 1000;
  EXPECT_EQ(report_of(c, Target::Cpu).bound_seconds, 0);
  c.statistics.timed = false;
  EXPECT_EQ(report_of(c).bound_seconds, 0);
}

TEST(Report, SumsAndOrders) {
  Artifact artifact;
  artifact.model = "net";
  Specialisation program;
  program.images = {{Target::Npu, ""}, {Target::Cpu, ""}};
  program.kernels.resize(2);
  program.kernels[0].tensor_macs = 900;
  program.kernels[1].image = 1, program.kernels[1].vector_macs = 100;
  program.steps = {{0, {}, "quick", {}, ""}, {0, {}, "slow", {}, ""}, {1, {}, "elsewhere", {}, "strings are not for the NPU"}};
  RunProfile profile;
  Case quick = timed(900), slow = timed(9000);
  quick.statistics.energy_joule = {{"dram", 1e-6}, {"lm", 2e-6}};
  slow.statistics.energy_joule = {{"dram", 3e-6}};
  Statistics host;
  host.host_seconds = 5e-6;
  profile.steps = {{0, quick.statistics}, {1, slow.statistics}, {2, host}};
  Machine phone = Machine::load("phone");
  RunReport report = RunReport::make(artifact, program, profile, &phone, "npu");
  EXPECT_NEAR(report.npu_seconds, 11e-6, 1e-15);
  EXPECT_NEAR(report.seconds, 16e-6, 1e-15);
  EXPECT_EQ(report.npu_macs, 1800u);
  EXPECT_EQ(report.cpu_macs, 100u);
  EXPECT_NEAR(report.npu.energy(), 6e-6, 1e-18);
  std::string text = report.text();
  EXPECT_LT(text.find("slow "), text.find("elsewhere "));
  EXPECT_LT(text.find("elsewhere "), text.find("quick "));
  EXPECT_NE(text.find("94.7% on the NPU"), std::string::npos) << text;
  EXPECT_NE(text.find("strings are not for the NPU"), std::string::npos);
  nlohmann::json json = report.json();
  EXPECT_EQ(json["operators"].size(), 3u);
  EXPECT_EQ(json["operators"][2]["device"], "cpu");
  EXPECT_EQ(report.text(1).find("quick"), std::string::npos); // only the slowest one
}

} // namespace
