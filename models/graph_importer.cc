// The walk over a graph: order, scopes, subgraphs, and what an op without an importer becomes.
#include "models/graph_importer.h"
#include "mlir/IR/Location.h"
#include "models/op_table.h"

namespace dougong::models {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// Names a node reads, those inside its subgraphs included.
void collect_inputs(const onnx::NodeProto &node, std::vector<std::string> &names) {
  names.insert(names.end(), node.input().begin(), node.input().end());
  for (const auto &attribute : node.attribute())
    if (attribute.has_g())
      for (const auto &inner : attribute.g().node())
        collect_inputs(inner, names);
}

// Producers before consumers: the standard asks for it, and not every file has it.
std::vector<const onnx::NodeProto *> in_order(const Nodes &nodes) {
  std::unordered_map<std::string, int> producer;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output())
      if (!output.empty())
        producer[output] = i;
  enum { fresh, open, closed };
  std::vector<char> state(nodes.size(), fresh);
  std::vector<const onnx::NodeProto *> order;
  struct Visit {
    int node;
    size_t next;
    std::vector<std::string> names;
  };
  std::vector<Visit> stack;
  auto enter = [&](int i) {
    state[i] = open;
    stack.push_back({i, 0, {}});
    collect_inputs(nodes[i], stack.back().names);
  };
  for (int root = 0; root < nodes.size(); ++root) {
    if (state[root] == fresh)
      enter(root);
    while (!stack.empty()) {
      Visit &visit = stack.back();
      if (visit.next == visit.names.size()) {
        state[visit.node] = closed;
        order.push_back(&nodes[visit.node]);
        stack.pop_back();
        continue;
      }
      auto found = producer.find(visit.names[visit.next++]);
      if (found == producer.end() || state[found->second] == closed)
        continue;
      if (state[found->second] == open && found->second != visit.node)
        invalid("the graph has a cycle through '{}'", found->first);
      if (state[found->second] == fresh)
        enter(found->second);
    }
  }
  return order;
}

} // namespace

Value *GraphImporter::find(const std::string &name) const {
  for (size_t i = scopes.size(); i-- > 0;) {
    auto found = scopes[i].values.find(name);
    if (found != scopes[i].values.end())
      return found->second;
    if (!scopes[i].sees_outer)
      break;
  }
  return nullptr;
}

std::set<std::string> GraphImporter::sources_of(const Value *value) const {
  auto found = sources.find(value);
  return found == sources.end() ? std::set<std::string>() : found->second;
}

void GraphImporter::import_initializers(const onnx::GraphProto &graph) {
  for (const auto &initializer : graph.initializer()) {
    e.node_name = initializer.name();
    define(initializer.name(), e.known(tensor_of(initializer, model.directory)));
  }
  if (graph.sparse_initializer_size())
    unsupported("sparse initializers are not supported");
}

void GraphImporter::import_nodes(const Nodes &nodes, const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> *outputs) {
  for (const auto &node : nodes) {
    for (const std::string &input : node.input())
      scopes.back().readers[input].push_back(&node);
    for (const auto &attribute : node.attribute())
      if (attribute.has_g())
        for (const auto &inner : attribute.g().node()) {
          std::vector<std::string> names;
          collect_inputs(inner, names);
          for (const std::string &name : names)
            scopes.back().readers[name].push_back(nullptr);
        }
  }
  if (outputs)
    for (const auto &output : *outputs)
      scopes.back().outputs.insert(output.name());
  for (const onnx::NodeProto *node : in_order(nodes))
    if (!scopes.back().done.count(node))
      import_node(*node);
}

void GraphImporter::import_node(const onnx::NodeProto &proto) {
  Node node(*this, proto, e);
  e.node_name = node.name;
  e.b.setLoc(mlir::NameLoc::get(e.b.getStringAttr(node.op + " '" + node.name + "'")));
  bool standard = proto.domain().empty() || proto.domain() == "ai.onnx";
  if (standard && node.op == "If")
    return import_if(node);
  if (standard && node.op == "Loop")
    return import_loop(node);
  if (standard && node.op == "Scan")
    return import_scan(node);
  if (ImportOp import = standard ? find_importer(node.op) : nullptr) {
    try {
      return import(node);
    } catch (const ModelError &error) {
      std::string text = error.what();
      if (text.rfind("op ", 0) == 0)
        throw;
      throw ModelError(error.status, fmt::format("op {} ('{}'): {}", node.op, node.name, text));
    }
  }
  if (depth < 8 && import_as_function(node))
    return;
  throw ModelError(Status::Unsupported,
                   fmt::format("op {}{}{} ('{}') is not supported", proto.domain(), proto.domain().empty() ? "" : ".", node.op, node.name));
}

} // namespace dougong::models
