// What every device must do (D11): one suite, run on each.
#include "runtime/stream.h"
#include "tests/runtime/expect.h"
#include "tests/runtime/kernel_image.h"
#include <numeric>
#include <thread>

using namespace dougong;

namespace {

class Conformance : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override { device = must(Device::open(GetParam())); }
  std::string kind() const { return device->info().kind; }
  bool computes() const { return kind() != "null"; }
  KernelHandle kernel(const std::string &name) {
    if (module == ModuleHandle::None)
      module = must(device->load(kernel_image(kind())));
    return must(device->kernel(module, name));
  }
  uint64_t buffer(const std::vector<int32_t> &values) {
    uint64_t address = must(device->allocate(values.size() * 4));
    must(device->copy_in(address, values.data(), values.size() * 4));
    return address;
  }
  std::vector<int32_t> read(uint64_t address, size_t count) {
    std::vector<int32_t> values(count);
    must(device->copy_out(values.data(), address, count * 4));
    return values;
  }
  std::shared_ptr<Device> device;
  ModuleHandle module = ModuleHandle::None;
};

TEST_P(Conformance, CopiesComeBackUnchanged) {
  std::vector<int32_t> values(10007);
  std::iota(values.begin(), values.end(), -5000);
  EXPECT_EQ(read(buffer(values), values.size()), values);
}

TEST_P(Conformance, MemoryIsAlignedApartAndZero) {
  uint64_t a = must(device->allocate(1)), b = must(device->allocate(1)), c = must(device->allocate(0)), d = must(device->allocate(0));
  for (uint64_t address : {a, b, c, d})
    EXPECT_EQ(address % 128, 0u);
  EXPECT_EQ(std::set<uint64_t>({a, b, c, d}).size(), 4u);
  // What is freed and given out again does not show what was there.
  uint64_t dirty = buffer(std::vector<int32_t>(100000, -1));
  must(device->free(dirty));
  EXPECT_EQ(read(must(device->allocate(400000)), 100000), std::vector<int32_t>(100000, 0));
}

TEST_P(Conformance, FreedMemoryIsUsedAgain) {
  uint64_t piece = device->info().memory_bytes / 4;
  for (int i = 0; i < 20; ++i)
    must(device->free(must(device->allocate(piece))));
}

TEST_P(Conformance, OutOfMemoryIsAnErrorAndLeavesTheRest) {
  uint64_t kept = buffer({1, 2, 3});
  expect_failure(device->allocate(device->info().memory_bytes + 1), Status::OutOfMemory, "bytes were asked for");
  expect_failure(device->allocate(UINT64_MAX), Status::OutOfMemory, "bytes were asked for");
  EXPECT_EQ(read(kept, 3), (std::vector<int32_t>{1, 2, 3}));
  must(device->allocate(64));
}

TEST_P(Conformance, WrongAddressesAreErrors) {
  uint64_t address = must(device->allocate(100));
  char bytes[200] = {};
  expect_failure(device->copy_in(address, bytes, 101), Status::Invalid, "go beyond their allocation of 100 bytes");
  expect_failure(device->copy_out(bytes, address + 60, 41), Status::Invalid, "go beyond their allocation");
  expect_failure(device->copy_in(8, bytes, 4), Status::Invalid, "is in no allocation");
  expect_failure(device->map(address, UINT64_MAX), Status::Invalid, "go beyond");
  expect_failure(device->free(address + 128), Status::Invalid, "no allocation begins at");
  must(device->free(address));
  expect_failure(device->free(address), Status::Invalid, "no allocation begins at");
  expect_failure(device->copy_in(address, bytes, 4), Status::Invalid, "is in no allocation");
}

TEST_P(Conformance, GarbageIsNoModule) {
  expect_failure(device->load(""), Status::Invalid, "");
  if (!computes())
    return;
  expect_failure(device->load("garbage that is not ELF at all, but long enough to be looked at: 0123456789abcdef"), Status::Invalid,
                 "image");
  std::string cut = kernel_image(kind());
  expect_failure(device->load(std::string_view(cut).substr(0, 40)), Status::Invalid, "image");
  EXPECT_NE(kernel("scale_add"), KernelHandle::None); // and the device goes on
}

TEST_P(Conformance, WrongHandlesAreErrors) {
  expect_failure(device->kernel(ModuleHandle(12345), "scale_add"), Status::Invalid, "12345 is no loaded module");
  expect_failure(device->unload(ModuleHandle::None), Status::Invalid, "0 is no loaded module");
  expect_failure(device->launch(KernelHandle(77), {1, 1, 1}, {}), Status::Invalid, "77 is no kernel");
  KernelHandle stale = kernel("scale_add");
  if (computes())
    expect_failure(device->kernel(module, "absent"), Status::Invalid, "absent");
  must(device->unload(module));
  expect_failure(device->launch(stale, {1, 1, 1}, {}), Status::Invalid, "is no kernel");
}

TEST_P(Conformance, EveryProgramRunsOnce) {
  KernelHandle scale_add = kernel("scale_add");
  for (uint64_t count : {0, 1, 2, 5, 64, 1000, 4099}) {
    std::vector<int32_t> in(count + 1), expected(count + 1);
    for (size_t i = 0; i < count; ++i)
      in[i] = int32_t(i * 7 - 3000), expected[i] = computes() ? in[i] * 3 + 11 : 0;
    uint64_t from = buffer(in), to = buffer(std::vector<int32_t>(count + 1));
    Statistics cost = must(device->launch(scale_add, {count, 1, 1}, std::array<uint64_t, 3>{from, to, 11}));
    EXPECT_EQ(read(to, count + 1), expected);
    EXPECT_EQ(cost.programs, count);
  }
}

TEST_P(Conformance, GridsHaveThreeAxes) {
  uint64_t from = buffer(std::vector<int32_t>(60, 1)), to = buffer(std::vector<int32_t>(60));
  Statistics cost = must(device->launch(kernel("scale_add"), {3, 4, 5}, std::array<uint64_t, 3>{from, to, 0}));
  EXPECT_EQ(cost.programs, 60u);
  EXPECT_EQ(read(to, 60), std::vector<int32_t>(60, computes() ? 3 : 0));
  expect_failure(device->launch(kernel("scale_add"), {1ull << 31, 1ull << 31, 1ull << 31}, {}), Status::Invalid, "too large");
}

TEST_P(Conformance, TwoModulesDoNotMix) {
  KernelHandle first = kernel("scale_add");
  ModuleHandle other = must(device->load(kernel_image(kind())));
  KernelHandle second = must(device->kernel(other, "scale_add"));
  uint64_t from = buffer({5}), to = buffer({0});
  must(device->launch(second, {1, 1, 1}, std::array<uint64_t, 3>{from, to, 1}).takeError());
  must(device->unload(other));
  must(device->launch(first, {1, 1, 1}, std::array<uint64_t, 3>{to, to, 1}).takeError());
  EXPECT_EQ(read(to, 1)[0], computes() ? (5 * 3 + 1) * 3 + 1 : 0);
}

TEST_P(Conformance, StreamsKeepOrder) {
  constexpr int count = 500;
  KernelHandle append = kernel("append");
  std::vector<int32_t> log(count + 1), expected(count + 1);
  uint64_t on_device = buffer(log);
  Stream stream(device);
  for (int i = 0; i < count; ++i)
    stream.launch(append, {1, 1, 1}, {on_device, uint64_t(i * i)}), expected[i + 1] = i * i;
  expected[0] = count;
  Stream::Event copied = stream.copy_out(log.data(), on_device, log.size() * 4);
  must(stream.wait(copied));
  EXPECT_TRUE(stream.happened(copied));
  if (computes())
    EXPECT_EQ(log, expected);
  EXPECT_EQ(stream.statistics().launches, uint64_t(count));
  must(stream.synchronise());
}

TEST_P(Conformance, AStreamReportsTheFirstFailureOnceAndGoesOn) {
  uint64_t value = buffer({7});
  int32_t back = 0;
  Stream stream(device);
  stream.launch(KernelHandle(99), {1, 1, 1}, {});
  stream.copy_out(&back, value, 4); // dropped
  expect_failure(stream.synchronise(), Status::Invalid, "99 is no kernel");
  EXPECT_EQ(back, 0);
  stream.copy_out(&back, value, 4);
  must(stream.synchronise());
  EXPECT_EQ(back, 7);
  expect_failure(stream.wait(1000), Status::Invalid, "event 1000 is not of this stream");
}

TEST_P(Conformance, ThreadsMayShareADevice) {
  KernelHandle scale_add = kernel("scale_add");
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        int32_t in[3] = {t, i, t * i}, out[3];
        uint64_t from = must(device->allocate(12)), to = must(device->allocate(12));
        must(device->copy_in(from, in, 12));
        must(device->launch(scale_add, {3, 1, 1}, std::array<uint64_t, 3>{from, to, 2}).takeError());
        must(device->copy_out(out, to, 12));
        for (int k = 0; k < 3; ++k)
          wrong += out[k] != (computes() ? in[k] * 3 + 2 : 0);
        must(device->free(from));
        must(device->free(to));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(device->statistics().launches, 200u);
}

INSTANTIATE_TEST_SUITE_P(Devices, Conformance, testing::Values("null", "cpu", "cpu:1", "npu:tiny", "npu:phone,timing"), [](auto &info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
  return name;
});

TEST(Npu, AFaultNamesTheKernelAndTheDeviceGoesOn) {
  auto device = must(Device::open("npu:tiny"));
  ModuleHandle module = must(device->load(kernel_image("npu")));
  KernelHandle poke = must(device->kernel(module, "poke"));
  uint64_t in = must(device->allocate(4)), freed = must(device->allocate(4));
  must(device->free(freed));
  expect_failure(device->launch(poke, {1, 1, 1}, std::array<uint64_t, 1>{64}), Status::DeviceFault, "kernel 'poke'");
  expect_failure(device->launch(poke, {1, 1, 1}, std::array<uint64_t, 1>{freed}), Status::DeviceFault, "kernel 'poke'");
  must(device->launch(poke, {1, 1, 1}, std::array<uint64_t, 1>{in}).takeError());
  int32_t value = 0;
  must(device->copy_out(&value, in, 4));
  EXPECT_EQ(value, 1);
}

TEST(Open, AnUnknownSpecSaysWhatIsAllowed) {
  expect_failure(Device::open("gpu"), Status::Invalid, "devices are cpu, cpu:THREADS, npu");
  expect_failure(Device::open("cpu:many"), Status::Invalid, "a number of threads");
  expect_failure(Device::open("npu:phone,fast"), Status::Invalid, "'fast' is no option of an NPU; options are 'timing'");
  expect_failure(Device::open("npu:phone,cores=7"), Status::Invalid, "has 6 cores");
  expect_failure(Device::open("npu:tiny,trace=x.json"), Status::Invalid, "it needs 'timing'");
  expect_failure(Device::open("npu:fridge"), Status::Invalid, "fridge");
}

} // namespace
