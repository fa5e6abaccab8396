// Nodes with subgraphs, imported in place: the branch of an If, the body of a Loop or a Scan once for each iteration. Conditions and
// numbers of iterations must be known.
#include "models/graph_importer.h"

namespace dougong::models {
namespace {

constexpr int64_t most_iterations = 1024; // each is code of its own

const onnx::GraphProto &body_of(const Node &node, const char *name) {
  for (const auto &attribute : node.proto().attribute())
    if (attribute.name() == name && attribute.has_g())
      return attribute.g();
  node.invalid("it has no {}", name);
}

} // namespace

std::vector<Value *> GraphImporter::import_body(Node &node, const onnx::GraphProto &body, const std::vector<Value *> &arguments) {
  if (size_t(body.input_size()) != arguments.size())
    node.invalid("its body takes {} inputs, not {}", body.input_size(), arguments.size());
  Scope scope;
  scope.sees_outer = true;
  scope.opsets = scopes.back().opsets;
  scopes.push_back(std::move(scope));
  for (size_t i = 0; i < arguments.size(); ++i)
    define(body.input(int(i)).name(), arguments[i]);
  import_initializers(body);
  import_nodes(body.node(), &body.output());
  std::vector<Value *> results;
  for (const auto &output : body.output())
    results.push_back(find(output.name()));
  scopes.pop_back();
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i])
      node.invalid("nothing defines output {} of its body", i);
  return results;
}

void GraphImporter::import_if(Node &node) {
  bool condition = integer_at(node.known(0), 0) != 0;
  std::vector<Value *> results = import_body(node, body_of(node, condition ? "then_branch" : "else_branch"), {});
  for (size_t i = 0; i < results.size() && i < node.output_count(); ++i)
    if (node.wants(i))
      define(node.proto().output(int(i)), results[i]);
}

// Body: (iteration, condition, what is carried …) → (condition, what is carried …, what is put together …).
void GraphImporter::import_loop(Node &node) {
  const onnx::GraphProto &body = body_of(node, "body");
  bool counted = node.has(0), goes_on = !node.has(1) || integer_at(node.known(1), 0);
  int64_t trips = counted ? integer_at(node.known(0), 0) : most_iterations + 1;
  std::vector<Value *> carried;
  for (size_t i = 2; i < node.input_count(); ++i)
    carried.push_back(node[i]);
  if (size_t(body.output_size()) <= carried.size())
    node.invalid("its body gives {} outputs, fewer than it carries", body.output_size());
  std::vector<std::vector<Value *>> gathered(size_t(body.output_size()) - 1 - carried.size());
  for (int64_t trip = 0; trip < trips && goes_on; ++trip) {
    if (trip == most_iterations)
      node.unsupported("more than {} iterations", most_iterations);
    std::vector<Value *> arguments{e.known(with_shape(tensor_of_integers({trip}), {})), e.known(tensor_of(ElementType::Bool, {}, {1}))};
    arguments.insert(arguments.end(), carried.begin(), carried.end());
    std::vector<Value *> results = import_body(node, body, arguments);
    if (node.has(1) || !counted) {
      if (!results[0]->known)
        node.unsupported("its condition must be known before the model is compiled");
      goes_on = integer_at(*results[0]->known, 0);
    }
    std::copy_n(results.begin() + 1, carried.size(), carried.begin());
    for (size_t k = 0; k < gathered.size(); ++k)
      gathered[k].push_back(results[1 + carried.size() + k]);
  }
  for (size_t i = 0; i < carried.size(); ++i)
    node.set(i, carried[i]);
  for (size_t k = 0; k < gathered.size(); ++k) {
    if (gathered[k].empty())
      node.unsupported("an output without elements, of no iterations");
    node.set(carried.size() + k, stacked(gathered[k], 0));
  }
}

// Body: (state …, one slice of each scanned input …) → (state …, one slice of each output …).
void GraphImporter::import_scan(Node &node) {
  const onnx::GraphProto &body = body_of(node, "body");
  if (node.opset < 9)
    node.unsupported("before opset 9 it has another form");
  size_t scanned = size_t(node.required_integer("num_scan_inputs")), inputs = node.input_count();
  if (scanned < 1 || scanned > inputs || size_t(body.output_size()) < inputs - scanned)
    node.invalid("num_scan_inputs is {} of {} inputs", scanned, inputs);
  size_t states = inputs - scanned, outputs = size_t(body.output_size()) - states;
  auto choice = [&](const char *name, size_t count) {
    std::vector<int64_t> list = node.integers(name);
    list.resize(count, 0);
    return list;
  };
  std::vector<int64_t> axes = choice("scan_input_axes", scanned), backwards = choice("scan_input_directions", scanned),
                       output_axes = choice("scan_output_axes", outputs), output_backwards = choice("scan_output_directions", outputs);
  std::vector<Value *> carried;
  for (size_t i = 0; i < states; ++i)
    carried.push_back(node[i]);
  int64_t trips = -1;
  for (size_t k = 0; k < scanned; ++k) {
    Value *x = node[states + k];
    axes[k] = node.axis(axes[k], x->rank());
    if (trips >= 0 && x->shape[axes[k]] != trips)
      node.invalid("its inputs have {} and {} slices", trips, x->shape[axes[k]]);
    trips = x->shape[axes[k]];
  }
  if (trips < 1 || trips > most_iterations)
    node.unsupported("{} iterations; 1 to {} are unrolled", trips, most_iterations);
  std::vector<std::vector<Value *>> gathered(outputs);
  for (int64_t trip = 0; trip < trips; ++trip) {
    std::vector<Value *> arguments = carried;
    for (size_t k = 0; k < scanned; ++k) {
      Value *x = node[states + k];
      std::vector<int64_t> starts(x->rank(), 0);
      Shape one = x->shape, rest;
      starts[axes[k]] = backwards[k] ? trips - 1 - trip : trip;
      one[axes[k]] = 1;
      for (int64_t d = 0; d < x->rank(); ++d)
        if (d != axes[k])
          rest.push_back(x->shape[d]);
      arguments.push_back(e.reshape(e.slice(x, starts, std::vector<int64_t>(x->rank(), 1), one), rest));
    }
    std::vector<Value *> results = import_body(node, body, arguments);
    std::copy_n(results.begin(), states, carried.begin());
    for (size_t k = 0; k < outputs; ++k)
      gathered[k].push_back(results[states + k]);
  }
  for (size_t i = 0; i < states; ++i)
    node.set(i, carried[i]);
  for (size_t k = 0; k < outputs; ++k) {
    if (output_backwards[k])
      std::reverse(gathered[k].begin(), gathered[k].end());
    node.set(states + k, stacked(gathered[k], node.axis(output_axes[k], gathered[k][0]->rank() + 1)));
  }
}

// Values of one shape side by side along a new dimension.
Value *GraphImporter::stacked(const std::vector<Value *> &values, int64_t axis) {
  std::vector<Value *> parts;
  for (Value *value : values) {
    if (value->shape != values[0]->shape)
      unsupported("iterations whose results have shapes {} and {}", shape_text(values[0]->shape), shape_text(value->shape));
    Shape shape = value->shape;
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(e.reshape(value, shape));
  }
  return e.concat(parts, axis);
}

} // namespace dougong::models
