// The C API from a C caller's side, and the C++ wrapper over it.
#include "api/include/dougong.hpp"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace {

void expect_failure(dg_status got, dg_status expected, const std::string &part) {
  EXPECT_EQ(got, expected) << dg_last_error();
  EXPECT_NE(std::string(dg_last_error()).find(part), std::string::npos) << dg_last_error();
}

TEST(Boundary, NullArgumentsAreErrors) {
  expect_failure(dg_device_open(nullptr, nullptr), DG_INVALID, "spec must not be NULL");
  expect_failure(dg_device_allocate(nullptr, 1, nullptr), DG_INVALID, "device must not be NULL");
  expect_failure(dg_session_open(nullptr, nullptr, nullptr), DG_INVALID, "path must not be NULL");
  expect_failure(dg_session_run(nullptr, nullptr, 0, nullptr), DG_INVALID, "session must not be NULL");
  expect_failure(dg_stream_synchronise(nullptr), DG_INVALID, "stream must not be NULL");
  EXPECT_EQ(dg_session_input_count(nullptr), 0u);
  EXPECT_EQ(dg_outputs_count(nullptr), 0u);
  dg_device_close(nullptr);
  dg_session_close(nullptr);
  dg_stream_close(nullptr);
  dg_outputs_free(nullptr);
  dg_string_free(nullptr);
}

TEST(Boundary, TheLastErrorIsTheThreadsOwn) {
  dg_device *device = nullptr;
  expect_failure(dg_device_open("gpu", &device), DG_INVALID, "no device 'gpu'");
  std::string other = "?";
  std::thread([&] { other = dg_last_error(); }).join();
  EXPECT_EQ(other, "");
}

TEST(Boundary, ElementSizes) {
  EXPECT_EQ(dg_element_bytes(DG_TYPE_BF16), 2u);
  EXPECT_EQ(dg_element_bytes(DG_TYPE_U64), 8u);
  EXPECT_EQ(dg_element_bytes(DG_TYPE_BOOL), 1u);
  EXPECT_EQ(dg_element_bytes(dg_element_type(99)), 0u);
}

TEST(Device, CopiesAndPropertiesThroughTheWrapper) {
  dougong::Device device("cpu:2");
  EXPECT_STREQ(device.properties().kind, "cpu");
  EXPECT_EQ(device.properties().cores, 2u);
  int values[3] = {1, 2, 3}, back[3] = {};
  uint64_t address = device.allocate(sizeof values);
  device.copy_in(address, values, sizeof values);
  static_cast<int *>(device.map(address, 12))[1] = 20;
  device.copy_out(back, address, sizeof back);
  EXPECT_EQ(back[1], 20);
  EXPECT_EQ(back[2], 3);
  device.free(address);
  try {
    device.free(address);
    FAIL() << "freed twice";
  } catch (const dougong::Error &error) {
    EXPECT_EQ(error.status, DG_INVALID);
    EXPECT_NE(std::string(error.what()).find("no allocation begins at"), std::string::npos);
  }
  EXPECT_NE(device.statistics().find("\"launches\":0"), std::string::npos);
}

TEST(Device, APropertiesStructureOfAnotherSizeIsRefused) {
  dougong::Device device("null");
  dg_device_properties properties{};
  expect_failure(dg_device_get_properties(device.get(), &properties), DG_INVALID, "properties->size is 0");
}

TEST(Device, StreamsCopyInOrder) {
  dougong::Device device("null");
  dg_stream *stream = nullptr;
  ASSERT_EQ(dg_stream_open(device.get(), &stream), DG_OK);
  uint64_t address = device.allocate(4);
  int first = 1, second = 2, back = 0;
  dg_event event = 0;
  dg_stream_copy_in(stream, address, &first, 4, nullptr);
  dg_stream_copy_in(stream, address, &second, 4, nullptr);
  dg_stream_copy_out(stream, &back, address, 4, &event);
  ASSERT_EQ(dg_event_wait(stream, event), DG_OK);
  EXPECT_EQ(back, 2);
  EXPECT_TRUE(dg_event_happened(stream, event));
  uint64_t grid[3] = {1, 1, 1};
  dg_stream_launch(stream, 5, grid, nullptr, 0, nullptr);
  expect_failure(dg_stream_synchronise(stream), DG_INVALID, "5 is no kernel");
  EXPECT_EQ(dg_stream_synchronise(stream), DG_OK);
  dg_stream_close(stream);
}

TEST(Session, AMissingFileIsAnErrorThatNamesIt) {
  dg_session *session = nullptr;
  expect_failure(dg_session_open("/nonexistent/model.onnx", nullptr, &session), DG_INVALID, "/nonexistent/model.onnx");
}

TEST(Session, OptionsOfAnotherSizeAreRefused) {
  dg_session_options options{};
  dg_session *session = nullptr;
  expect_failure(dg_session_open("x.onnx", &options, &session), DG_INVALID, "use dg_session_options_init");
}

TEST(Wrapper, TensorsKnowTheirTypes) {
  auto tensor = dougong::Tensor::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4});
  EXPECT_EQ(tensor.data<float>()[3], 4);
  EXPECT_THROW(tensor.data<int32_t>(), dougong::Error);
  EXPECT_THROW(dougong::Tensor::of<float>({3}, std::vector<float>{1}), dougong::Error);
  EXPECT_EQ(dougong::Tensor::of<int64_t>({1}, std::vector<int64_t>{1}).type, DG_TYPE_I64);
  EXPECT_EQ(dougong::Tensor::of<uint8_t>({1}, std::vector<uint8_t>{1}).type, DG_TYPE_U8);
}

// ONNX's own test of Add, from Debian's libonnx-testdata: 3x4x5 floats.
TEST(Session, RunsAModelOnTheCpu) {
  dougong::Session session("/usr/share/libonnx-testdata/data/node/test_add/model.onnx", {.device = "cpu", .cache = false});
  ASSERT_EQ(session.inputs().size(), 2u);
  EXPECT_EQ(session.inputs()[0].shape, (std::vector<int64_t>{3, 4, 5}));
  EXPECT_THROW(session.report(), dougong::Error); // nothing has run
  std::vector<float> x(60), y(60);
  for (int i = 0; i < 60; ++i)
    x[i] = 0.5f * i, y[i] = 100 - i;
  auto outputs = session.run({{"x", dougong::Tensor::of<float>({3, 4, 5}, x)}, {"y", dougong::Tensor::of<float>({3, 4, 5}, y)}});
  ASSERT_EQ(outputs.count("sum"), 1u);
  for (int i = 0; i < 60; ++i)
    EXPECT_EQ(outputs["sum"].data<float>()[i], 100 - 0.5f * i);
  EXPECT_NE(session.report().find("1 on the CPU"), std::string::npos) << session.report();
  EXPECT_NE(session.report("json").find("\"operators\""), std::string::npos);
  EXPECT_THROW(session.report("html"), dougong::Error);
  // A wrong name, shape, type: the error names the input.
  for (auto &wrong : {dougong::Tensors{{"z", outputs["sum"]}, {"y", outputs["sum"]}}, dougong::Tensors{{"x", outputs["sum"]}},
                      dougong::Tensors{{"x", dougong::Tensor(DG_TYPE_F32, {60})}, {"y", outputs["sum"]}},
                      dougong::Tensors{{"x", dougong::Tensor(DG_TYPE_I32, {3, 4, 5})}, {"y", outputs["sum"]}}})
    try {
      session.run(wrong);
      ADD_FAILURE() << "accepted a wrong input";
    } catch (const dougong::Error &error) {
      EXPECT_EQ(error.status, DG_INVALID);
      std::string text = error.what();
      EXPECT_TRUE(text.find("'x'") != std::string::npos || text.find("'y'") != std::string::npos || text.find("'z'") != std::string::npos)
          << text;
    }
}

TEST(Session, ThreadsMayShareOne) {
  dougong::Session session("/usr/share/libonnx-testdata/data/node/test_add/model.onnx", {.device = "cpu", .cache = false});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto x = dougong::Tensor::of<float>({3, 4, 5}, std::vector<float>(60, float(t)));
      for (int i = 0; i < 10; ++i)
        wrong += session.run({{"x", x}, {"y", x}}).at("sum").data<float>()[59] != 2.f * t;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
