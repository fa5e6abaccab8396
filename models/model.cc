// Reading ONNX files: messages to interfaces and host tensors.
#include "models/model.h"
#include "models/model_error.h"
#include "models/onnx_proto.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"
#include <cstring>
#include <filesystem>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <set>

namespace dougong::models {
namespace {

std::string read_file(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, false, false);
  if (!buffer)
    invalid("{}: {}", path, buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

std::string read_part(const std::string &path, uint64_t offset, std::optional<uint64_t> length, const std::string &tensor) {
  uint64_t size = 0;
  if (std::error_code code = llvm::sys::fs::file_size(path, size))
    invalid("{}: {} (it holds the data of tensor '{}')", path, code.message(), tensor);
  uint64_t bytes = length.value_or(size > offset ? size - offset : 0);
  if (offset > size || bytes > size - offset)
    invalid("{}: tensor '{}' has {} bytes at {}, the file has {}", path, tensor, bytes, offset, size);
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, bytes, int64_t(offset));
  if (!buffer)
    invalid("{}: {}", path, buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

template <typename Message> bool parse_message(Message &message, const std::string &bytes) {
  google::protobuf::io::ArrayInputStream stream(bytes.data(), int(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  return message.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

std::string type_name(int onnx_type) {
  std::string name = onnx::TensorProto_DataType_IsValid(onnx_type) ? onnx::TensorProto_DataType_Name(onnx::TensorProto_DataType(onnx_type))
                                                                   : std::to_string(onnx_type);
  for (char &c : name)
    c = char(std::tolower(c));
  return name;
}

Interface interface_of(const onnx::ValueInfoProto &info) {
  Interface result;
  result.name = info.name();
  const onnx::TypeProto &type = info.type();
  if (!type.has_tensor_type()) {
    result.problem = fmt::format("type {} is not supported", type.has_sequence_type()        ? "sequence"
                                                             : type.has_optional_type()      ? "optional"
                                                             : type.has_map_type()           ? "map"
                                                             : type.has_sparse_tensor_type() ? "sparse tensor"
                                                                                             : "(none given)");
    return result;
  }
  try {
    result.type = element_type_of(type.tensor_type().elem_type());
  } catch (const ModelError &error) {
    result.problem = error.what();
  }
  result.has_rank = type.tensor_type().has_shape();
  for (const auto &dimension : type.tensor_type().shape().dim()) {
    bool fixed = dimension.has_dim_value() && dimension.dim_value() >= 0;
    result.shape.push_back(fixed ? dimension.dim_value() : -1);
    result.dimension_names.push_back(dimension.has_dim_param() ? dimension.dim_param() : "");
  }
  return result;
}

std::map<std::string, std::string> properties_of(const onnx::ModelProto &message) {
  std::map<std::string, std::string> properties;
  for (const auto &entry : message.metadata_props())
    properties[llvm::json::fixUTF8(entry.key())] = llvm::json::fixUTF8(entry.value());
  auto say = [&](const char *name, const std::string &value) {
    if (!value.empty())
      properties.emplace(name, llvm::json::fixUTF8(value));
  };
  say("onnx.producer", message.producer_name() + (message.producer_version().empty() ? "" : " " + message.producer_version()));
  say("onnx.graph", message.graph().name());
  say("onnx.domain", message.domain());
  say("onnx.version", message.model_version() ? std::to_string(message.model_version()) : "");
  say("onnx.description", message.doc_string());
  std::string opsets;
  for (const auto &set : message.opset_import()) // "17, com.microsoft 1"
    opsets += fmt::format("{}{}{}{}", opsets.empty() ? "" : ", ", set.domain(), set.domain().empty() ? "" : " ", set.version());
  say("onnx.opset", opsets);
  return properties;
}

// Small tensors may keep their elements in typed fields, a 16-bit or smaller type in the 32-bit one.
template <typename Field> void fill(Tensor &tensor, const Field &field, const std::string &name) {
  int64_t count = element_count(tensor.shape);
  if (field.size() != count)
    invalid("tensor '{}': {} elements for the shape {}", name, field.size(), shape_text(tensor.shape));
  for (int64_t i = 0; i < count; ++i)
    if (is_half(tensor.type)) { // held as bits
      tensor.as<uint16_t>()[i] = uint16_t(field.Get(int(i)));
    } else if (std::is_floating_point_v<std::decay_t<decltype(field.Get(0))>>) {
      set_real(tensor, i, double(field.Get(int(i))));
    } else {
      set_integer(tensor, i, int64_t(field.Get(int(i))));
    }
}

std::string external_data(const onnx::TensorProto &proto, const std::string &directory) {
  std::string location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  for (const auto &entry : proto.external_data()) {
    uint64_t number = 0;
    if (entry.key() == "location")
      location = entry.value();
    else if ((entry.key() == "offset" || entry.key() == "length") && llvm::StringRef(entry.value()).getAsInteger(10, number))
      invalid("tensor '{}': the {} of its external data is '{}'", proto.name(), entry.key(), entry.value());
    else if (entry.key() == "offset")
      offset = number;
    else if (entry.key() == "length")
      length = number;
  }
  std::filesystem::path relative = std::filesystem::path(location).lexically_normal();
  if (location.empty() || relative.is_absolute() || *relative.begin() == "..")
    invalid("tensor '{}': its external data '{}' does not lie beside the model", proto.name(), location);
  return read_part((std::filesystem::path(directory) / relative).string(), offset, length, proto.name());
}

} // namespace

ElementType element_type_of(int onnx_type) {
  switch (onnx_type) {
  case onnx::TensorProto::FLOAT:
    return ElementType::F32;
  case onnx::TensorProto::DOUBLE:
    return ElementType::F64;
  case onnx::TensorProto::FLOAT16:
    return ElementType::F16;
  case onnx::TensorProto::BFLOAT16:
    return ElementType::BF16;
  case onnx::TensorProto::INT8:
    return ElementType::I8;
  case onnx::TensorProto::INT16:
    return ElementType::I16;
  case onnx::TensorProto::INT32:
    return ElementType::I32;
  case onnx::TensorProto::INT64:
    return ElementType::I64;
  case onnx::TensorProto::UINT8:
    return ElementType::U8;
  case onnx::TensorProto::UINT16:
    return ElementType::U16;
  case onnx::TensorProto::UINT32:
    return ElementType::U32;
  case onnx::TensorProto::UINT64:
    return ElementType::U64;
  case onnx::TensorProto::BOOL:
    return ElementType::Bool;
  }
  unsupported("type {} is not supported", type_name(onnx_type));
}

Tensor tensor_of(const onnx::TensorProto &proto, const std::string &directory) {
  Tensor tensor;
  tensor.type = element_type_of(proto.data_type());
  for (int64_t extent : proto.dims()) {
    if (extent < 0 || extent > (int64_t(1) << 40))
      invalid("tensor '{}': a dimension of {}", proto.name(), extent);
    tensor.shape.push_back(extent);
  }
  check_size(tensor.type, tensor.shape);
  bool external = proto.data_location() == onnx::TensorProto::EXTERNAL;
  uint64_t bytes = uint64_t(element_count(tensor.shape)) * size_in_bytes(tensor.type);
  if (external || proto.has_raw_data()) {
    std::string data = external ? external_data(proto, directory) : proto.raw_data();
    if (data.size() != bytes)
      invalid("tensor '{}': {} bytes of data for {} elements of {}", proto.name(), data.size(), shape_text(tensor.shape),
              dougong::name(tensor.type));
    tensor.bytes.assign(data.begin(), data.end());
    return tensor;
  }
  if (bytes > (uint64_t(1) << 34))
    invalid("tensor '{}': {} elements without data", proto.name(), shape_text(tensor.shape));
  tensor.bytes.resize(bytes);
  switch (tensor.type) {
  case ElementType::F32:
    fill(tensor, proto.float_data(), proto.name());
    break;
  case ElementType::F64:
    fill(tensor, proto.double_data(), proto.name());
    break;
  case ElementType::I64:
    fill(tensor, proto.int64_data(), proto.name());
    break;
  case ElementType::U32:
  case ElementType::U64:
    fill(tensor, proto.uint64_data(), proto.name());
    break;
  default:
    fill(tensor, proto.int32_data(), proto.name());
  }
  return tensor;
}

std::string Interface::text() const {
  std::string result = fmt::format("'{}' {} [", name, dougong::name(type));
  for (size_t d = 0; d < shape.size(); ++d)
    result += (d ? ", " : "") + (shape[d] >= 0 ? std::to_string(shape[d]) : dimension_names[d].empty() ? "?" : dimension_names[d]);
  return result + (has_rank ? "]" : "any rank]");
}

Model Model::load(const std::string &path) { return parse(read_file(path), path, std::filesystem::path(path).parent_path().string()); }

Model Model::parse(std::string bytes, const std::string &name, const std::string &directory) {
  auto message = std::make_shared<onnx::ModelProto>();
  if (bytes.empty())
    invalid("{}: the file is empty", name);
  if (!parse_message(*message, bytes))
    invalid("{}: not an ONNX model, or cut short ({} bytes)", name, bytes.size());
  if (!message->has_graph() || message->graph().output_size() == 0)
    invalid("{}: not an ONNX model: it has no graph with outputs", name);
  Model model;
  model.name = std::filesystem::path(name).stem().string();
  model.directory = directory;
  model.hash = llvm::xxh3_64bits(llvm::StringRef(bytes));
  std::set<std::string> initialized;
  for (const auto &initializer : message->graph().initializer())
    initialized.insert(initializer.name());
  for (const auto &input : message->graph().input())
    if (!initialized.count(input.name()))
      model.inputs.push_back(interface_of(input));
  for (const auto &output : message->graph().output())
    model.outputs.push_back(interface_of(output));
  for (const auto &set : message->opset_import())
    if (set.domain().empty() || set.domain() == "ai.onnx")
      model.opset = set.version();
  model.properties = properties_of(*message);
  model.message = std::move(message);
  return model;
}

Tensor load_tensor_file(const std::string &path, std::string *name) {
  onnx::TensorProto proto;
  if (!parse_message(proto, read_file(path)))
    invalid("{}: not a tensor of ONNX, or cut short", path);
  if (name)
    *name = proto.name();
  return tensor_of(proto, std::filesystem::path(path).parent_path().string());
}

} // namespace dougong::models
