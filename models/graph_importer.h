// Walks an ONNX graph in order of its data flow and imports node by node. Subgraphs (control_flow.cc) and function bodies are imported in
// place.
#pragma once
#include "models/node.h"
#include "models/onnx_proto.h"
#include <set>
#include <unordered_map>

namespace dougong::models {

class GraphImporter {
public:
  GraphImporter(const Model &model, Emitter &e) : model(model), e(e) {}

  void import_nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                    const google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> *outputs);
  void import_initializers(const onnx::GraphProto &graph);
  void import_node(const onnx::NodeProto &node);
  bool import_as_function(Node &node); // false if ONNX defines no function for it
  void import_if(Node &node);
  void import_loop(Node &node);
  void import_scan(Node &node);
  std::vector<Value *> import_body(Node &node, const onnx::GraphProto &body, const std::vector<Value *> &arguments);
  Value *stacked(const std::vector<Value *> &values, int64_t axis);

  Value *find(const std::string &name) const; // null if it is not defined
  void define(const std::string &name, Value *value) { scopes.back().values[name] = value; }
  std::set<std::string> sources_of(const Value *value) const;

  const Model &model;
  Emitter &e;

  struct Scope {
    bool sees_outer = false; // a subgraph does, a function body does not
    std::unordered_map<std::string, Value *> values;
    std::unordered_map<std::string, std::vector<const onnx::NodeProto *>> readers;
    std::set<std::string> outputs;
    std::set<const onnx::NodeProto *> done;
    std::map<std::string, int64_t> opsets;
  };
  std::vector<Scope> scopes;
  std::unordered_map<const Value *, std::set<std::string>> sources; // the model's inputs that a value depends on
  int depth = 0;
};

} // namespace dougong::models
