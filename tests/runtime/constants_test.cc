// Constants that several executors have in common stand in a device's memory once.
#include "runtime/executor.h"
#include "tests/runtime/expect.h"
#include "tests/runtime/kernel_image.h"
#include <numeric>

using namespace dougong;

namespace {

// The CPU, and how many bytes are allocated there.
class Counted : public Device {
public:
  DeviceInfo info() const override { return cpu->info(); }
  llvm::Expected<uint64_t> allocate(uint64_t bytes) override {
    auto address = cpu->allocate(bytes);
    if (address)
      sizes[*address] = bytes;
    return address;
  }
  llvm::Error free(uint64_t address) override {
    sizes.erase(address);
    return cpu->free(address);
  }
  llvm::Expected<uint8_t *> map(uint64_t address, uint64_t bytes) override { return cpu->map(address, bytes); }
  llvm::Expected<ModuleHandle> load(std::string_view image) override { return cpu->load(image); }
  llvm::Error unload(ModuleHandle module) override { return cpu->unload(module); }
  llvm::Expected<KernelHandle> kernel(ModuleHandle module, std::string_view name) override { return cpu->kernel(module, name); }
  llvm::Expected<Statistics> launch(KernelHandle kernel, std::array<uint64_t, 3> grid, std::span<const uint64_t> arguments) override {
    return cpu->launch(kernel, grid, arguments);
  }
  Statistics statistics() const override { return cpu->statistics(); }

  uint64_t bytes() const {
    return std::accumulate(sizes.begin(), sizes.end(), uint64_t(0), [](uint64_t sum, auto &entry) { return sum + entry.second; });
  }
  std::shared_ptr<Device> cpu = must(Device::open("cpu:1"));
  std::map<uint64_t, uint64_t> sizes;
};

constexpr uint64_t count = 1000, bytes = count * sizeof(float);

// out = x + w for `extent` elements.
void add_specialisation(Artifact &artifact, uint64_t w, uint64_t extent) {
  using Region = Specialisation::Buffer::Region;
  std::vector<int64_t> shape{int64_t(extent)};
  Specialisation &s = artifact.specialisations.emplace_back();
  s.images.push_back({Target::Cpu, kernel_image("cpu")});
  s.kernels.push_back({"add_f32", 0, {extent, 1, 1}, 3, 0, 0, 0, 0, "", {}});
  s.inputs = {{"x", ElementType::F32, shape}};
  s.outputs = {{"out", ElementType::F32, shape}};
  s.buffers = {{Region::Input, 0, extent * 4, ElementType::F32, shape},
               {Region::Constant, w, bytes, ElementType::F32, {int64_t(count)}},
               {Region::Output, 0, extent * 4, ElementType::F32, shape}};
  s.steps = {{0, {0, 1, 2}, "Add", {}, ""}};
}

std::shared_ptr<Artifact> artifact_with(float first, std::initializer_list<uint64_t> extents) {
  auto artifact = std::make_shared<Artifact>();
  artifact->host = host_features();
  std::vector<float> weights(count);
  std::iota(weights.begin(), weights.end(), first);
  artifact->add_constant(std::vector<uint8_t>(100000, 1)); // that nobody reads
  uint64_t w = artifact->add_constant({reinterpret_cast<const uint8_t *>(weights.data()), bytes});
  for (uint64_t extent : extents)
    add_specialisation(*artifact, w, extent);
  return artifact;
}

float first_result(Executor &executor, uint64_t extent) {
  Tensor x(ElementType::F32, {int64_t(extent)});
  std::fill_n(x.as<float>(), extent, 0.5f);
  return must(executor.run({&x, 1}))[0].as<float>()[0];
}

TEST(Constants, OfSpecialisationsStandInMemoryOnce) {
  auto device = std::make_shared<Counted>();
  auto artifact = artifact_with(1, {10, 20});
  SharedConstants shared;
  auto small = must(Executor::create(artifact, 0, nullptr, device, &shared));
  uint64_t one = device->bytes();
  EXPECT_EQ(one, bytes + 2 * 40); // the weights, x and out: nothing that this specialisation does not read
  auto large = must(Executor::create(artifact, 1, nullptr, device, &shared));
  EXPECT_EQ(device->bytes(), one + 2 * 80);
  small.reset(); // what the other one reads stays
  EXPECT_EQ(device->bytes(), bytes + 2 * 80);
  EXPECT_EQ(first_result(*large, 20), 1.5f);
  large.reset();
  EXPECT_EQ(device->bytes(), 0u);
}

TEST(Constants, OfOtherArtifactsAreSharedIfTheyAreEqual) {
  auto device = std::make_shared<Counted>();
  SharedConstants shared;
  auto a = must(Executor::create(artifact_with(1, {10}), 0, nullptr, device, &shared));
  uint64_t one = device->bytes();
  auto equal = must(Executor::create(artifact_with(1, {10}), 0, nullptr, device, &shared));
  EXPECT_EQ(device->bytes(), one + 2 * 40);
  auto other = must(Executor::create(artifact_with(7, {10}), 0, nullptr, device, &shared));
  EXPECT_EQ(device->bytes(), 2 * one + 2 * 40);
  EXPECT_EQ(first_result(*a, 10), 1.5f);
  EXPECT_EQ(first_result(*equal, 10), 1.5f);
  EXPECT_EQ(first_result(*other, 10), 7.5f);
}

TEST(Constants, OfAnExecutorAloneAreItsOwn) {
  auto device = std::make_shared<Counted>();
  auto artifact = artifact_with(1, {10});
  auto a = must(Executor::create(artifact, 0, nullptr, device)), b = must(Executor::create(artifact, 0, nullptr, device));
  EXPECT_EQ(device->bytes(), 2 * (bytes + 2 * 40));
}

TEST(Constants, FreedAndPlacedAgainHaveTheirBytes) {
  auto device = std::make_shared<Counted>();
  SharedConstants shared;
  std::vector<uint8_t> data(500, 3);
  for (int round = 0; round < 3; ++round) {
    auto constant = must(shared.place(device, data));
    EXPECT_EQ((*must(device->map(constant->address, 500))), 3);
    constant.reset();
    EXPECT_EQ(device->bytes(), 0u);
  }
}

} // namespace
