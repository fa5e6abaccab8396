// Artifacts: what is saved comes back; what is damaged is an error that says so; an executor runs one.
#include "runtime/executor.h"
#include "runtime/report.h"
#include "tests/runtime/expect.h"
#include "tests/runtime/kernel_image.h"
#include "llvm/Support/xxhash.h"
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

using namespace dougong;
namespace fs = std::filesystem;

namespace {

// out = (x + w) + x, with w a constant: two steps through the arena.
Artifact two_steps(Target target) {
  Artifact artifact;
  artifact.model = "two steps";
  (target == Target::Npu ? artifact.machine : artifact.host) = target == Target::Npu ? "tiny" : host_features();
  std::vector<float> weights{1, 2, 3, 4, 5, 6};
  artifact.add_constant(std::vector<uint8_t>(5, 9));
  uint64_t w = artifact.add_constant({reinterpret_cast<const uint8_t *>(weights.data()), 24});
  Specialisation &s = artifact.specialisations.emplace_back();
  s.images.push_back({target, kernel_image(target == Target::Npu ? "npu" : "cpu")});
  s.kernels.push_back({"add_f32", 0, {6, 1, 1}, 3, 0, 0, 6, 72, "6", {{"tile of x", 24}}});
  s.inputs = {{"x", ElementType::F32, {2, 3}}};
  s.outputs = {{"out", ElementType::F32, {2, 3}}};
  using Region = Specialisation::Buffer::Region;
  s.buffers = {{Region::Input, 0, 24, ElementType::F32, {2, 3}},
               {Region::Constant, w, 24, ElementType::F32, {6}},
               {Region::Arena, 128, 24, ElementType::F32, {2, 3}},
               {Region::Output, 0, 24, ElementType::F32, {2, 3}}};
  s.arena_bytes = 256;
  s.steps = {{0, {0, 1, 2}, "Add_0", {"Add 'Add_0'"}, ""},
             {0, {2, 0, 3}, "Add_1", {"Add 'Add_1'"}, target == Target::Cpu ? "too small" : ""}};
  return artifact;
}

std::string temporary(const std::string &name) { return (fs::path(testing::TempDir()) / name).string(); }

std::string bytes_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string &path, const std::string &bytes) { std::ofstream(path, std::ios::binary) << bytes; }

class EachTarget : public testing::TestWithParam<Target> {};

TEST_P(EachTarget, RunsAfterSavingAndLoading) {
  std::string path = temporary("two.dgx");
  must(two_steps(GetParam()).save(path));
  auto artifact = std::make_shared<Artifact>(must(Artifact::load(path)));
  EXPECT_EQ(artifact->model, "two steps");
  auto cpu = must(Device::open("cpu"));
  auto npu = GetParam() == Target::Npu ? must(Device::open("npu:tiny,timing")) : nullptr;
  auto executor = must(Executor::create(artifact, 0, npu, cpu));
  Tensor x(ElementType::F32, {2, 3});
  for (int i = 0; i < 6; ++i)
    x.as<float>()[i] = 10.f * i;
  RunProfile profile;
  for (int run = 0; run < 2; ++run) {
    auto outputs = must(executor->run({&x, 1}, &profile));
    ASSERT_EQ(outputs.size(), 1u);
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(outputs[0].as<float>()[i], 20.f * i + i + 1);
  }
  RunReport report = RunReport::make(*artifact, executor->specialisation(), profile, npu ? npu->machine() : nullptr, "test");
  EXPECT_EQ(report.steps.size(), 2u);
  std::string text = report.text();
  EXPECT_NE(text.find("Add_1"), std::string::npos);
  EXPECT_EQ(text.find("too small") != std::string::npos, GetParam() == Target::Cpu) << text;
  if (npu) {
    EXPECT_GT(report.npu.cycles, 0u);
    for (auto &step : report.steps)
      EXPECT_GE(step.seconds, step.bound_seconds) << step.name;
    double parts = 0;
    for (auto &[part, joule] : report.npu.energy_joule)
      parts += joule;
    EXPECT_DOUBLE_EQ(report.json()["npu"]["energy_total_joule"].get<double>(), parts);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EachTarget, testing::Values(Target::Cpu, Target::Npu),
                         [](auto &info) { return info.param == Target::Npu ? "npu" : "cpu"; });

TEST(Artifact, EqualConstantsAreKeptOnce) {
  Artifact artifact;
  std::vector<uint8_t> a(1000, 1), b(1000, 2);
  uint64_t first = artifact.add_constant(a), second = artifact.add_constant(b);
  EXPECT_NE(first, second);
  EXPECT_EQ(second % 128, 0u);
  EXPECT_EQ(artifact.add_constant(a), first);
}

TEST(Artifact, EveryTruncationIsAnError) {
  std::string path = temporary("whole.dgx"), cut = temporary("cut.dgx");
  must(two_steps(Target::Cpu).save(path));
  std::string whole = bytes_of(path);
  for (size_t length = 0; length < whole.size(); length += length < 64 ? 1 : 997) {
    write(cut, whole.substr(0, length));
    expect_failure(Artifact::load(cut), Status::Invalid, length < 40 ? "not a Dougong artifact" : "truncated");
  }
}

TEST(Artifact, EveryDamagedByteIsNoticed) {
  std::string path = temporary("good.dgx"), bad = temporary("bad.dgx");
  must(two_steps(Target::Cpu).save(path));
  std::string whole = bytes_of(path);
  // Padding between parts means nothing and may differ; what lies in a part may not.
  for (size_t at = 4096; at < whole.size(); at += 131) {
    std::string damaged = whole;
    if (damaged[at] == 0)
      continue;
    damaged[at] ^= 0x40;
    write(bad, damaged);
    expect_failure(Artifact::load(bad), Status::Invalid, "damaged");
  }
}

// A description that is wrong but has a right hash: loading may refuse it or take it (a changed name, say).
TEST(Artifact, GarbledDescriptionsNeverCrash) {
  std::string path = temporary("garbled.dgx");
  must(two_steps(Target::Cpu).save(path));
  std::string whole = bytes_of(path);
  uint64_t offset, bytes;
  std::memcpy(&offset, &whole[16], 8);
  std::memcpy(&bytes, &whole[24], 8);
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 600; ++round) {
    std::string garbled = whole;
    for (int change = 0; change <= round % 4; ++change)
      garbled[offset + random() % bytes] = round % 2 ? char(random()) : char(garbled[offset + random() % bytes] ^ (1 << random() % 8));
    uint64_t hash = llvm::xxh3_64bits(llvm::StringRef(&garbled[offset], bytes));
    std::memcpy(&garbled[32], &hash, 8);
    write(path, garbled);
    auto artifact = Artifact::load(path);
    if (!artifact) {
      llvm::consumeError(artifact.takeError());
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(Artifact, AnotherVersionSaysWhatToDo) {
  std::string path = temporary("version.dgx");
  must(two_steps(Target::Cpu).save(path));
  std::string bytes = bytes_of(path);
  bytes[4] = 99;
  write(path, bytes);
  expect_failure(Artifact::load(path), Status::Invalid, "version 99, this program reads version 1; compile the model again");
}

TEST(Artifact, InconsistentOnesAreRefused) {
  auto refused = [](auto change, const std::string &part) {
    Artifact artifact = two_steps(Target::Cpu);
    change(artifact.specialisations[0]);
    expect_failure(artifact.validate("x.dgx"), Status::Invalid, part);
  };
  refused([](auto &s) { s.steps[0].buffers.push_back(0); }, "passes 4 buffers to a kernel of 3 arguments");
  refused([](auto &s) { s.steps[0].buffers[0] = 9; }, "names buffer 9 of 4");
  refused([](auto &s) { s.steps[1].kernel = 1; }, "runs kernel 1 of 1");
  refused([](auto &s) { s.kernels[0].image = 2; }, "is of image 2 of 1");
  refused([](auto &s) { s.arena_bytes = 130; }, "does not fit the arena");
  refused([](auto &s) { s.buffers[1].offset = 1 << 20; }, "does not fit the constant");
  refused([](auto &s) { s.buffers[3].shape = {1 << 30, 1 << 30, 1 << 30}; }, "does not fit the output");
  refused([](auto &s) { s.inputs[0].shape = {-1, 3}; }, "impossible shape");
}

TEST(Artifact, AMissingFileAndAFolderAreErrors) {
  expect_failure(Artifact::load(temporary("absent.dgx")), Status::Invalid, "absent.dgx");
  expect_failure(two_steps(Target::Cpu).save("/nonexistent/x.dgx"), Status::Invalid, "/nonexistent/x.dgx: cannot be written");
}

TEST(Artifact, SavingLeavesNothingHalfWritten) {
  fs::path folder = temporary("folder");
  fs::create_directories(folder / "taken.dgx" / "inside"); // a folder stands where the file is to go
  expect_failure(two_steps(Target::Cpu).save((folder / "taken.dgx").string()), Status::Invalid, "taken.dgx");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
}

TEST(Executor, RefusesWhatDoesNotFit) {
  auto cpu = must(Device::open("cpu"));
  auto artifact = std::make_shared<Artifact>(two_steps(Target::Cpu));
  auto executor = must(Executor::create(artifact, 0, nullptr, cpu));
  Tensor wrong(ElementType::F32, {3, 2}), type(ElementType::I32, {2, 3});
  expect_failure(executor->run({&wrong, 1}), Status::Invalid, "input 'x' takes 2x3 f32, not 3x2 f32");
  expect_failure(executor->run({&type, 1}), Status::Invalid, "input 'x' takes 2x3 f32, not 2x3 i32");
  expect_failure(executor->run({}), Status::Invalid, "takes 1 inputs, not 0");
  expect_failure(Executor::create(artifact, 1, nullptr, cpu), Status::Invalid, "there is no number 1");
  auto foreign = std::make_shared<Artifact>(two_steps(Target::Cpu));
  foreign->host += " quantum-registers";
  expect_failure(Executor::create(foreign, 0, nullptr, cpu), Status::Unsupported, "quantum-registers, which this one lacks");
}

TEST(Executor, AnArtifactForAnotherMachineIsRefused) {
  auto npu_only = std::make_shared<Artifact>(two_steps(Target::Cpu));
  npu_only->specialisations[0].images[0].target = Target::Npu;
  npu_only->machine = "server";
  auto cpu = must(Device::open("cpu"));
  expect_failure(Executor::create(npu_only, 0, nullptr, cpu), Status::Invalid, "compiled for the NPU 'server'");
  expect_failure(Executor::create(npu_only, 0, must(Device::open("npu:tiny")), cpu), Status::Invalid,
                 "compiled for the machine 'server', the device is a 'tiny'");
}

} // namespace
