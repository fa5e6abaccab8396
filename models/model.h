// An ONNX file in memory: what it takes and gives, and its data. Import and compilation start here.
//
// Functions throw ModelError: a missing, truncated or foreign file, external data that is not there, a type we do not have.
#pragma once
#include "models/host_tensor.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace onnx {
class AttributeProto;
class ModelProto;
class TensorProto;
class TypeProto;
} // namespace onnx

namespace dougong::models {

// An input or output. A dimension that the model leaves open is -1 and may have a name.
struct Interface {
  std::string name;
  ElementType type = ElementType::F32;
  bool has_rank = false;
  Shape shape;
  std::vector<std::string> dimension_names;
  std::string problem; // why it cannot be used: "type string is not supported"

  std::string text() const; // "'x' f32 [N, 3, 640, 640]"
};

class Model {
public:
  static Model load(const std::string &path);
  // `directory` is where external data lies; `name` is for messages.
  static Model parse(std::string bytes, const std::string &name, const std::string &directory);

  std::string name, directory;
  uint64_t hash = 0;                      // of the file's bytes
  std::vector<Interface> inputs, outputs; // inputs without those that only give an initializer's default
  // What the file says of itself: its metadata ("character" → the recogniser's alphabet), and, where it has them, "onnx.producer",
  // "onnx.graph", "onnx.domain", "onnx.version", "onnx.description" and "onnx.opset".
  std::map<std::string, std::string> properties;
  int64_t opset = 0;
  const onnx::ModelProto &proto() const { return *message; }

private:
  std::shared_ptr<const onnx::ModelProto> message;
};

// A serialized TensorProto, as ONNX's tests have them beside the model; its name if it has one.
Tensor load_tensor_file(const std::string &path, std::string *name = nullptr);

Tensor tensor_of(const onnx::TensorProto &proto, const std::string &directory);
ElementType element_type_of(int onnx_type); // TensorProto::DataType

} // namespace dougong::models
