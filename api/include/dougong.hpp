// The C++ wrapper over dougong.h: the same calls with owners, vectors and exceptions. Headers only; link libdougong.
//
//   dougong::Session session("model.onnx", {.device = "npu", .machine = "phone", .timing = true});
//   dougong::Tensors outputs = session.run({{"x", dougong::Tensor::of<float>({1, 3, 640, 640}, pixels)}});
//   std::cout << session.report();
#pragma once
#include "dougong.h"
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace dougong {

struct Error : std::runtime_error {
  Error(dg_status status, const char *text) : std::runtime_error(text), status(status) {}
  dg_status status;
};

inline void check(dg_status status) {
  if (status != DG_OK)
    throw Error(status, dg_last_error());
}

template <typename T> constexpr dg_element_type element_type_of() {
  if constexpr (std::is_same_v<T, float>)
    return DG_TYPE_F32;
  else if constexpr (std::is_same_v<T, double>)
    return DG_TYPE_F64;
  else if constexpr (std::is_same_v<T, bool>)
    return DG_TYPE_BOOL;
  else {
    static_assert(std::is_integral_v<T>,
                  "an element type is float, double, bool or an integer; for 16-bit floats name the dg_element_type");
    constexpr dg_element_type with_sign[] = {DG_TYPE_I8, DG_TYPE_I16, DG_TYPE_I32, DG_TYPE_I64},
                              without[] = {DG_TYPE_U8, DG_TYPE_U16, DG_TYPE_U32, DG_TYPE_U64};
    constexpr int log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? with_sign[log2] : without[log2];
  }
}

// A dense row-major tensor that owns its data.
struct Tensor {
  dg_element_type type = DG_TYPE_F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  Tensor() = default;
  Tensor(dg_element_type type, std::vector<int64_t> shape)
      : type(type), shape(std::move(shape)), bytes(size_t(count()) * dg_element_bytes(type)) {}
  template <typename T> static Tensor of(std::vector<int64_t> shape, const T *data) {
    Tensor tensor(element_type_of<T>(), std::move(shape));
    std::memcpy(tensor.bytes.data(), data, tensor.bytes.size());
    return tensor;
  }
  template <typename T> static Tensor of(std::vector<int64_t> shape, const std::vector<T> &data) {
    if (Tensor empty(element_type_of<T>(), shape); size_t(empty.count()) != data.size())
      throw Error(DG_INVALID, "a tensor's shape and its data do not have the same number of elements");
    return of(std::move(shape), data.data());
  }
  int64_t count() const {
    int64_t product = 1;
    for (int64_t extent : shape)
      product *= extent;
    return product;
  }
  template <typename T> T *data() { return check_type<T>(), reinterpret_cast<T *>(bytes.data()); }
  template <typename T> const T *data() const { return check_type<T>(), reinterpret_cast<const T *>(bytes.data()); }

private:
  template <typename T> void check_type() const {
    if (type != element_type_of<T>())
      throw Error(DG_INVALID, "a tensor's data is looked at as another type than it has");
  }
};

using Tensors = std::map<std::string, Tensor>;

struct SessionOptions {
  std::string device = "npu"; // "npu", "cpu", "auto"
  std::string machine = "phone";
  bool timing = false;
  int cores = 0, threads = 0; // 0: all
  bool cache = true;
  std::function<void(const char *)> progress = nullptr;
};

// An input or output; a dimension that the model leaves open is -1.
struct Port {
  std::string name;
  dg_element_type type;
  std::vector<int64_t> shape;
};

class Session {
public:
  explicit Session(const std::string &path, SessionOptions options = {})
      : progress(std::make_unique<decltype(options.progress)>(std::move(options.progress))) {
    dg_session_options given;
    dg_session_options_init(&given);
    given.device = options.device.c_str();
    given.machine = options.machine.c_str();
    given.timing = options.timing;
    given.cores = options.cores;
    given.threads = options.threads;
    given.no_cache = !options.cache;
    if (*progress) {
      given.progress = [](void *context, const char *now) { (*static_cast<decltype(options.progress) *>(context))(now); };
      given.progress_context = progress.get();
    }
    dg_session *opened = nullptr;
    check(dg_session_open(path.c_str(), &given, &opened));
    handle.reset(opened);
  }

  std::vector<Port> inputs() const { return ports(dg_session_input_count(handle.get()), dg_session_input); }
  std::vector<Port> outputs() const { return ports(dg_session_output_count(handle.get()), dg_session_output); }
  // What the ONNX file says of itself (dg_session_property); "" if it has nothing of that name.
  std::string property(const std::string &name) const {
    const char *text = dg_session_property(handle.get(), name.c_str());
    return text ? text : "";
  }
  std::map<std::string, std::string> properties() const {
    std::map<std::string, std::string> all;
    for (size_t i = 0; i < dg_session_property_count(handle.get()); ++i) {
      const char *name = dg_session_property_name(handle.get(), i);
      all[name] = property(name);
    }
    return all;
  }

  using Shapes = std::map<std::string, std::vector<int64_t>>;
  void prepare(const Shapes &shapes) {
    std::vector<dg_tensor> given = without_data(shapes);
    check(dg_session_prepare(handle.get(), given.data(), given.size()));
  }
  std::string explain(const Shapes &shapes, const char *format = "text") {
    std::vector<dg_tensor> given = without_data(shapes);
    char *text = nullptr;
    check(dg_session_explain(handle.get(), given.data(), given.size(), format, &text));
    std::string result = text;
    dg_string_free(text);
    return result;
  }

  Tensors run(const Tensors &inputs) {
    std::vector<dg_tensor> given;
    for (auto &[name, tensor] : inputs)
      given.push_back(
          {name.c_str(), tensor.type, int32_t(tensor.shape.size()), tensor.shape.data(), const_cast<std::byte *>(tensor.bytes.data())});
    dg_outputs *raw = nullptr;
    check(dg_session_run(handle.get(), given.data(), given.size(), &raw));
    std::unique_ptr<dg_outputs, decltype(&dg_outputs_free)> owner(raw, dg_outputs_free);
    Tensors results;
    for (size_t i = 0; i < dg_outputs_count(raw); ++i) {
      dg_tensor view;
      check(dg_outputs_get(raw, i, &view));
      Tensor &tensor = results[view.name] = Tensor(view.type, {view.shape, view.shape + view.rank});
      if (!tensor.bytes.empty())
        std::memcpy(tensor.bytes.data(), view.data, tensor.bytes.size());
    }
    return results;
  }

  std::string report(const char *format = "text") const {
    char *text = nullptr;
    check(dg_session_report(handle.get(), format, &text));
    std::string result = text;
    dg_string_free(text);
    return result;
  }
  void save(const std::string &path) { check(dg_session_save(handle.get(), path.c_str())); }

private:
  struct Close {
    void operator()(dg_session *session) const { dg_session_close(session); }
  };
  static std::vector<dg_tensor> without_data(const Shapes &shapes) {
    std::vector<dg_tensor> given;
    for (auto &[name, shape] : shapes)
      given.push_back({name.c_str(), DG_TYPE_F32, int32_t(shape.size()), shape.data(), nullptr});
    return given;
  }
  std::vector<Port> ports(size_t count, dg_status (*get)(const dg_session *, size_t, dg_tensor *)) const {
    std::vector<Port> list;
    for (size_t i = 0; i < count; ++i) {
      dg_tensor view;
      check(get(handle.get(), i, &view));
      list.push_back({view.name, view.type, {view.shape, view.shape + view.rank}});
    }
    return list;
  }
  std::unique_ptr<std::function<void(const char *)>> progress; // outlives moves: the library holds its address
  std::unique_ptr<dg_session, Close> handle;
};

class Device {
public:
  explicit Device(const std::string &spec) {
    dg_device *opened = nullptr;
    check(dg_device_open(spec.c_str(), &opened));
    handle.reset(opened);
  }
  dg_device_properties properties() const {
    dg_device_properties result{};
    result.size = sizeof result;
    check(dg_device_get_properties(handle.get(), &result));
    return result;
  }
  uint64_t allocate(uint64_t bytes) {
    uint64_t address = 0;
    check(dg_device_allocate(handle.get(), bytes, &address));
    return address;
  }
  void free(uint64_t address) { check(dg_device_free(handle.get(), address)); }
  void *map(uint64_t address, uint64_t bytes) {
    void *host = nullptr;
    check(dg_device_map(handle.get(), address, bytes, &host));
    return host;
  }
  void copy_in(uint64_t address, const void *source, uint64_t bytes) { check(dg_device_copy_in(handle.get(), address, source, bytes)); }
  void copy_out(void *destination, uint64_t address, uint64_t bytes) {
    check(dg_device_copy_out(handle.get(), destination, address, bytes));
  }
  dg_module load(const std::string &image) {
    dg_module module = 0;
    check(dg_module_load(handle.get(), image.data(), image.size(), &module));
    return module;
  }
  void unload(dg_module module) { check(dg_module_unload(handle.get(), module)); }
  dg_kernel kernel(dg_module module, const std::string &name) {
    dg_kernel kernel = 0;
    check(dg_module_kernel(handle.get(), module, name.c_str(), &kernel));
    return kernel;
  }
  void launch(dg_kernel kernel, std::array<uint64_t, 3> grid, const std::vector<uint64_t> &arguments) {
    check(dg_kernel_launch(handle.get(), kernel, grid.data(), arguments.data(), arguments.size()));
  }
  struct BuiltKernel {
    std::string image;
    std::vector<std::string> arguments; // "NAME:TYPE", in launch order
  };
  BuiltKernel build(const std::string &file_name, const std::string &text, const std::string &function,
                    const std::string &signature) const {
    dg_built_kernel *made = nullptr;
    check(dg_kernel_build(handle.get(), file_name.c_str(), text.c_str(), function.c_str(), signature.c_str(), &made));
    std::unique_ptr<dg_built_kernel, void (*)(dg_built_kernel *)> owner(made, dg_built_kernel_free);
    BuiltKernel result;
    uint64_t bytes = 0;
    const void *image = dg_built_kernel_image(made, &bytes);
    result.image.assign(static_cast<const char *>(image), bytes);
    for (size_t i = 0; i < dg_built_kernel_argument_count(made); ++i)
      result.arguments.push_back(dg_built_kernel_argument(made, i));
    return result;
  }
  std::string statistics() const { // JSON
    char *text = nullptr;
    check(dg_device_statistics(handle.get(), &text));
    std::string result = text;
    dg_string_free(text);
    return result;
  }
  dg_device *get() const { return handle.get(); }

private:
  struct Close {
    void operator()(dg_device *device) const { dg_device_close(device); }
  };
  std::unique_ptr<dg_device, Close> handle;
};

} // namespace dougong
