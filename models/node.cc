// Node: access to one node's protobuf message and to the values around it.
#include "models/node.h"
#include "models/graph_importer.h"
#include "llvm/Support/JSON.h"

namespace dougong::models {

static std::string name_of(const onnx::NodeProto &proto) {
  if (!proto.name().empty())
    return llvm::json::fixUTF8(proto.name());
  return llvm::json::fixUTF8(proto.output_size() ? proto.output(0) : proto.op_type());
}

Node::Node(GraphImporter &graph, const onnx::NodeProto &proto, Emitter &e)
    : op(proto.op_type()), name(name_of(proto)), opset(graph.scopes.back().opsets[proto.domain() == "ai.onnx" ? "" : proto.domain()]), e(e),
      graph(&graph), message(&proto) {}

size_t Node::input_count() const { return message->input_size(); }
bool Node::has(size_t i) const { return i < input_count() && !message->input(int(i)).empty(); }

Value *Node::operator[](size_t i) const {
  if (!has(i))
    invalid("input {} is missing", i);
  if (Value *value = graph->find(message->input(int(i))))
    return value;
  invalid("nothing defines its input '{}'", message->input(int(i)));
}

Value *Node::ranked(size_t i, int64_t least, int64_t most) const {
  Value *value = (*this)[i];
  if (value->rank() < least || value->rank() > most)
    invalid("input {} has shape {}, which is not of rank {}{}", i, shape_text(value->shape), least, most > least ? " or more" : "");
  return value;
}

const Tensor &Node::known(size_t i) const {
  Value *value = (*this)[i];
  if (value->known)
    return *value->known;
  std::string text = place() + fmt::format("input {} ('{}') must be known before the model is compiled", i, message->input(int(i)));
  std::set<std::string> inputs = graph->sources_of(value);
  if (inputs.empty())
    throw ModelError(Status::Unsupported, text);
  throw NeedsInputValues(text, inputs);
}

std::vector<Value *> Node::inputs() const {
  std::vector<Value *> result;
  for (size_t i = 0; i < input_count(); ++i)
    if (has(i))
      result.push_back((*this)[i]);
  return result;
}

const onnx::AttributeProto *Node::attribute(const char *name) const {
  for (const auto &attribute : message->attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

bool Node::has_attribute(const char *name) const { return attribute(name); }
int64_t Node::integer(const char *name, int64_t otherwise) const {
  auto *a = attribute(name);
  return a ? a->i() : otherwise;
}
int64_t Node::required_integer(const char *name) const {
  if (!has_attribute(name))
    invalid("attribute '{}' is missing", name);
  return attribute(name)->i();
}
double Node::real(const char *name, double otherwise) const {
  auto *a = attribute(name);
  return a ? double(a->f()) : otherwise;
}
std::string Node::text(const char *name, const char *otherwise) const {
  auto *a = attribute(name);
  return a ? a->s() : otherwise;
}
std::vector<int64_t> Node::integers(const char *name) const {
  auto *a = attribute(name);
  return a ? std::vector<int64_t>(a->ints().begin(), a->ints().end()) : std::vector<int64_t>();
}
std::vector<double> Node::reals(const char *name) const {
  auto *a = attribute(name);
  return a ? std::vector<double>(a->floats().begin(), a->floats().end()) : std::vector<double>();
}
Tensor Node::tensor(const char *name) const {
  auto *a = attribute(name);
  if (!a)
    invalid("attribute '{}' is missing", name);
  return tensor_of(a->t(), graph->model.directory);
}

std::optional<std::vector<int64_t>> Node::integers_or_input(const char *name, size_t i) const {
  if (has_attribute(name))
    return integers(name);
  if (has(i))
    return integers_of(known(i));
  return std::nullopt;
}

ElementType Node::type_attribute(const char *name, ElementType otherwise) const {
  auto *a = attribute(name);
  return a ? element_type_of(int(a->i())) : otherwise;
}

size_t Node::output_count() const { return message->output_size(); }
bool Node::wants(size_t i) const { return i < output_count() && !message->output(int(i)).empty(); }

void Node::set(size_t i, Value *value) {
  if (!wants(i))
    return;
  graph->define(message->output(int(i)), value);
  if (value->known)
    return;
  std::set<std::string> &origin = graph->sources[value];
  for (size_t k = 0; k < input_count(); ++k)
    if (has(k))
      for (const std::string &input : graph->sources_of((*this)[k]))
        origin.insert(input);
}

Value *Node::output(size_t i) const { return graph->find(message->output(int(i))); }

std::optional<Node> Node::sole_consumer() const {
  if (message->output_size() == 0)
    return std::nullopt;
  GraphImporter::Scope &scope = graph->scopes.back();
  auto readers = scope.readers.find(message->output(0));
  if (readers == scope.readers.end() || readers->second.size() != 1 || !readers->second[0] || scope.outputs.count(message->output(0)))
    return std::nullopt;
  for (const std::string &input : readers->second[0]->input()) {
    Value *value = input.empty() || input == message->output(0) ? nullptr : graph->find(input);
    if (!input.empty() && input != message->output(0) && !(value && value->known))
      return std::nullopt;
  }
  return Node(*graph, *readers->second[0], e);
}

std::optional<Node> Node::sole_consumer(std::string_view op) const {
  std::optional<Node> consumer = sole_consumer();
  return consumer && consumer->op == op ? consumer : std::nullopt;
}

void Node::absorb(Node &consumer) { graph->scopes.back().done.insert(consumer.message); }

int64_t Node::axis(int64_t value, int64_t rank) const {
  if (value < -rank || value >= rank)
    invalid("axis {} of a tensor of rank {}", value, rank);
  return value < 0 ? value + rank : value;
}

} // namespace dougong::models
