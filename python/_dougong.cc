// The Python package's native part: dougong.hpp for numpy arrays. Everything that can be said in Python is, in dougong/__init__.py.
#include "dougong.hpp"
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace dougong;

namespace {

// numpy's name for an element type; bfloat16, which numpy lacks, travels as uint16 and is turned in __init__.py.
constexpr const char *dtypes[] = {"float16", "uint16", "float32", "float64", "int8",   "int16", "int32",
                                  "int64",   "uint8",  "uint16",  "uint32",  "uint64", "bool"};
constexpr const char *names[] = {"f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"};

dg_element_type type_of(const std::string &name) {
  for (int i = 0; i < 13; ++i)
    if (name == names[i])
      return dg_element_type(i);
  throw Error(DG_INVALID, ("no element type '" + name + "'").c_str());
}

// `inputs`: name → (element type, C-contiguous array).
Tensors tensors_of(const std::map<std::string, std::pair<std::string, py::array>> &inputs) {
  Tensors tensors;
  for (auto &[name, value] : inputs) {
    const py::array &array = value.second;
    Tensor &tensor = tensors[name] = Tensor(type_of(value.first), {array.shape(), array.shape() + array.ndim()});
    if (size_t(array.nbytes()) != tensor.bytes.size() || !(array.flags() & py::array::c_style))
      throw Error(DG_INVALID, ("input '" + name + "' is no dense row-major array of its type").c_str());
    if (!tensor.bytes.empty())
      std::memcpy(tensor.bytes.data(), array.data(), tensor.bytes.size());
  }
  return tensors;
}

py::dict arrays_of(const Tensors &tensors) {
  py::dict result;
  for (auto &[name, tensor] : tensors) {
    py::array array(py::dtype(std::string(dtypes[tensor.type])), tensor.shape);
    if (!tensor.bytes.empty())
      std::memcpy(array.mutable_data(), tensor.bytes.data(), tensor.bytes.size());
    result[py::str(name)] = py::make_tuple(names[tensor.type], array);
  }
  return result;
}

py::list described(const std::vector<Port> &ports) {
  py::list list;
  for (const Port &port : ports)
    list.append(py::make_tuple(port.name, names[port.type], port.shape));
  return list;
}

// The library calls from threads of its own, perhaps, and without the interpreter's lock.
std::function<void(const char *)> with_lock(py::object callable) {
  if (callable.is_none())
    return nullptr;
  auto kept = std::shared_ptr<py::object>(new py::object(std::move(callable)), [](py::object *object) {
    py::gil_scoped_acquire lock;
    delete object;
  });
  return [kept](const char *now) {
    py::gil_scoped_acquire lock;
    try {
      (*kept)(now);
    } catch (py::error_already_set &error) {
      error.discard_as_unraisable("dougong progress callback");
    }
  };
}

} // namespace

PYBIND11_MODULE(_dougong, m) {
  m.attr("version") = dg_version();
  static py::exception<Error> error_type(m, "Error", PyExc_RuntimeError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown)
        std::rethrow_exception(thrown);
    } catch (const Error &error) {
      py::object value = py::handle(error_type.ptr())(error.what());
      constexpr const char *codes[] = {"ok", "invalid", "out of memory", "device fault", "unsupported", "internal"};
      value.attr("status") = codes[error.status];
      PyErr_SetObject(error_type.ptr(), value.ptr());
    }
  });

  py::class_<Session>(m, "Session")
      .def(py::init([](const std::string &path, const std::string &device, const std::string &machine, bool timing, int cores, int threads,
                       bool cache, py::object progress) {
        SessionOptions options{device, machine, timing, cores, threads, cache, with_lock(std::move(progress))};
        py::gil_scoped_release unlocked;
        return std::make_unique<Session>(path, std::move(options));
      }))
      .def("inputs", [](const Session &session) { return described(session.inputs()); })
      .def("outputs", [](const Session &session) { return described(session.outputs()); })
      .def("properties", &Session::properties)
      .def("prepare",
           [](Session &session, const std::map<std::string, std::vector<int64_t>> &shapes) {
             py::gil_scoped_release unlocked;
             session.prepare(shapes);
           })
      .def("run",
           [](Session &session, const std::map<std::string, std::pair<std::string, py::array>> &inputs) {
             Tensors tensors = tensors_of(inputs), results;
             {
               py::gil_scoped_release unlocked;
               results = session.run(tensors);
             }
             return arrays_of(results);
           })
      .def("explain",
           [](Session &session, const std::map<std::string, std::vector<int64_t>> &shapes, const std::string &format) {
             py::gil_scoped_release unlocked;
             return session.explain(shapes, format.c_str());
           })
      .def("report", [](const Session &session, const std::string &format) { return session.report(format.c_str()); })
      .def("save", &Session::save, py::call_guard<py::gil_scoped_release>());

  py::class_<Device>(m, "Device")
      .def(py::init<const std::string &>())
      .def("properties",
           [](const Device &device) {
             dg_device_properties p = device.properties();
             return py::dict(py::arg("kind") = p.kind, py::arg("machine") = p.machine, py::arg("cores") = p.cores,
                             py::arg("memory_bytes") = p.memory_bytes);
           })
      .def("allocate", &Device::allocate)
      .def("free", &Device::free)
      .def("copy_in",
           [](Device &device, uint64_t address, const py::array &array) {
             if (!(array.flags() & py::array::c_style))
               throw Error(DG_INVALID, "copy_in takes a C-contiguous array");
             device.copy_in(address, array.data(), uint64_t(array.nbytes()));
           })
      .def("copy_out",
           [](Device &device, uint64_t address, py::array array) {
             if (!(array.flags() & py::array::c_style))
               throw Error(DG_INVALID, "copy_out takes a C-contiguous array");
             device.copy_out(array.mutable_data(), address, uint64_t(array.nbytes()));
           })
      .def("load", [](Device &device, const py::bytes &image) { return device.load(image); })
      .def("build",
           [](const Device &device, const std::string &file_name, const std::string &text, const std::string &function,
              const std::string &signature) {
             Device::BuiltKernel built;
             {
               py::gil_scoped_release unlocked;
               built = device.build(file_name, text, function, signature);
             }
             return py::make_tuple(py::bytes(built.image), built.arguments);
           })
      .def("unload", &Device::unload)
      .def("kernel", &Device::kernel)
      .def("launch", &Device::launch, py::call_guard<py::gil_scoped_release>())
      .def("statistics", &Device::statistics);
}
