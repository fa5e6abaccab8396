// One node of an ONNX graph as its importer sees it: values in, attributes, values out.
#pragma once
#include "models/emit.h"
#include "models/model.h"

namespace onnx {
class NodeProto;
}

namespace dougong::models {

class GraphImporter;

class Node {
public:
  Node(GraphImporter &graph, const onnx::NodeProto &proto, Emitter &e);
  const std::string op;   // "Conv"
  const std::string name; // the node's name, or its first output's
  int64_t opset;          // of the node's domain
  Emitter &e;

  size_t input_count() const;
  bool has(size_t i) const;                                        // an optional input that is given
  Value *operator[](size_t i) const;                               // error if it is not given
  Value *ranked(size_t i, int64_t least, int64_t most = 64) const; // error if its rank is not in that range
  Value *optional(size_t i) const { return has(i) ? (*this)[i] : nullptr; }
  const Tensor &known(size_t i) const; // its data at import time, or NeedsInputValues
  std::vector<Value *> inputs() const; // those given

  bool has_attribute(const char *name) const;
  int64_t integer(const char *name, int64_t otherwise) const;
  int64_t required_integer(const char *name) const;
  double real(const char *name, double otherwise) const;
  std::string text(const char *name, const char *otherwise) const;
  std::vector<int64_t> integers(const char *name) const;
  std::vector<double> reals(const char *name) const;
  Tensor tensor(const char *name) const;
  // The value of an attribute in older opsets, of input `i` in newer ones; null if neither is given.
  std::optional<std::vector<int64_t>> integers_or_input(const char *name, size_t i) const;
  ElementType type_attribute(const char *name, ElementType otherwise) const;

  size_t output_count() const;
  bool wants(size_t i) const;
  void set(size_t i, Value *value);
  Value *output(size_t i) const; // as set

  // The node that alone reads output 0, and nothing else that is not known: so that it can be done here too.
  std::optional<Node> sole_consumer() const;
  std::optional<Node> sole_consumer(std::string_view op) const;
  void absorb(Node &consumer); // it is done: its outputs are set through it

  int64_t axis(int64_t value, int64_t rank) const; // a negative one counts from the end; error if out of range

  template <typename... Arguments> [[noreturn]] void invalid(fmt::format_string<Arguments...> format, Arguments &&...arguments) const {
    throw ModelError(Status::Invalid, place() + fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  template <typename... Arguments> [[noreturn]] void unsupported(fmt::format_string<Arguments...> format, Arguments &&...arguments) const {
    throw ModelError(Status::Unsupported, place() + fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  const onnx::NodeProto &proto() const { return *message; }

private:
  std::string place() const { return fmt::format("op {} ('{}'): ", op, name); }
  const onnx::AttributeProto *attribute(const char *name) const;
  GraphImporter *graph;
  const onnx::NodeProto *message;
};

} // namespace dougong::models
