// Ops that ONNX itself defines as a function of other ops, and functions that a model brings: imported in place, node by node.
#include "models/graph_importer.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#include <onnx/defs/function.h>
#include <onnx/defs/schema.h>
#pragma clang diagnostic pop

namespace dougong::models {
namespace {

int onnx_type_of(ElementType type) {
  for (int candidate = 1; candidate <= onnx::TensorProto::BFLOAT16; ++candidate)
    if (candidate != onnx::TensorProto::STRING && candidate != onnx::TensorProto::COMPLEX64 && candidate != onnx::TensorProto::COMPLEX128 &&
        element_type_of(candidate) == type)
      return candidate;
  return onnx::TensorProto::UNDEFINED;
}

// The body with the call's attributes put where it refers to them; one that is not given and has no default is left out.
onnx::NodeProto with_attributes(const onnx::NodeProto &node, const std::map<std::string, const onnx::AttributeProto *> &given) {
  onnx::NodeProto result = node;
  result.clear_attribute();
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      onnx::AttributeProto *copy = result.add_attribute();
      *copy = attribute;
      if (copy->has_g()) {
        auto *nodes = copy->mutable_g()->mutable_node();
        for (onnx::NodeProto &inner : *nodes)
          inner = with_attributes(inner, given);
      }
      continue;
    }
    auto found = given.find(attribute.ref_attr_name());
    if (found == given.end())
      continue;
    onnx::AttributeProto *copy = result.add_attribute();
    *copy = *found->second;
    copy->set_name(attribute.name());
  }
  return result;
}

// A default-domain function of the standard for this node, if there is one.
bool standard_function(const Node &node, onnx::FunctionProto &body) {
  const onnx::OpSchema *schema =
      onnx::OpSchemaRegistry::Schema(node.op, int(node.opset), node.proto().domain() == "ai.onnx" ? "" : node.proto().domain());
  if (!schema)
    return false;
  if (schema->HasFunction()) {
    body = *schema->GetFunction();
    return true;
  }
  if (!schema->HasContextDependentFunction())
    return false;
  std::vector<onnx::TypeProto> types;
  for (size_t i = 0; i < node.input_count(); ++i) {
    onnx::TypeProto type;
    if (node.has(i)) {
      auto *tensor = type.mutable_tensor_type();
      tensor->set_elem_type(onnx_type_of(node[i]->type));
      for (int64_t extent : node[i]->shape)
        tensor->mutable_shape()->add_dim()->set_dim_value(extent);
    }
    types.push_back(std::move(type));
  }
  onnx::FunctionBodyBuildContextImpl context(node.proto(), types);
  return schema->BuildContextDependentFunction(context, body);
}

} // namespace

bool GraphImporter::import_as_function(Node &node) {
  onnx::FunctionProto body;
  std::map<std::string, const onnx::AttributeProto *> given;
  const onnx::OpSchema *schema = nullptr;
  for (const onnx::FunctionProto &own : model.proto().functions())
    if (own.name() == node.op && own.domain() == node.proto().domain())
      body = own;
  if (body.node_size() == 0) {
    if (!standard_function(node, body))
      return false;
    schema = onnx::OpSchemaRegistry::Schema(node.op, int(node.opset), node.proto().domain() == "ai.onnx" ? "" : node.proto().domain());
  }
  if (schema)
    for (const auto &[name, attribute] : schema->attributes())
      if (!attribute.default_value.name().empty())
        given[name] = &attribute.default_value;
  for (const onnx::AttributeProto &attribute : node.proto().attribute())
    given[attribute.name()] = &attribute;

  Scope scope;
  scope.opsets = scopes.back().opsets;
  for (const auto &set : body.opset_import())
    scope.opsets[set.domain() == "ai.onnx" ? "" : set.domain()] = set.version();
  for (int i = 0; i < body.input_size(); ++i)
    if (node.has(i)) {
      scope.values[body.input(i)] = node[i];
    }
  // An input that is not given is the empty name inside, too.
  std::set<std::string> absent;
  for (int i = 0; i < body.input_size(); ++i)
    if (!node.has(i))
      absent.insert(body.input(i));
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (const onnx::NodeProto &inner : body.node()) {
    onnx::NodeProto *copy = nodes.Add();
    *copy = with_attributes(inner, given);
    if (copy->name().empty())
      copy->set_name(node.name);
    for (int i = 0; i < copy->input_size(); ++i)
      if (absent.count(copy->input(i)))
        copy->set_input(i, "");
  }
  for (const std::string &output : body.output())
    scope.outputs.insert(output);
  scopes.push_back(std::move(scope));
  ++depth;
  import_nodes(nodes, nullptr);
  --depth;
  std::vector<Value *> results;
  for (int i = 0; i < body.output_size(); ++i)
    results.push_back(find(body.output(i)));
  scopes.pop_back();
  for (int i = 0; i < body.output_size(); ++i)
    if (node.wants(i)) {
      if (!results[i])
        node.invalid("its function does not define output {}", i);
      define(node.proto().output(i), results[i]);
    }
  return true;
}

} // namespace dougong::models
