// The import of a whole model: inputs, graph, outputs, and the check that what came out is valid IR.
#include "models/import.h"
#include "compiler/kernel.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "models/graph_importer.h"

namespace dougong::models {
using namespace mlir;

void load_import_dialects(MLIRContext &context) {
  registerKernelDialects(context);
  context.disableMultithreading();
}

// Concrete and allowed: known rank and extents, where the model fixes them.
static Shape input_shape(const Interface &input, const std::map<std::string, Shape> &shapes) {
  auto given = shapes.find(input.name);
  Shape shape = given == shapes.end() ? input.shape : given->second;
  if (given == shapes.end() && !input.has_rank)
    invalid("input {}: its shape is open and must be given", input.text());
  if (input.has_rank && shape.size() != input.shape.size())
    invalid("input {}: the shape {} has rank {}, wanted is {}", input.text(), shape_text(shape), shape.size(), input.shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0)
      invalid("input {}: dimension {} is open and must be given", input.text(), d);
    if (input.has_rank && input.shape[d] >= 0 && input.shape[d] != shape[d])
      invalid("input {}: dimension {} is {}, wanted is {}", input.text(), d, shape[d], input.shape[d]);
  }
  return shape;
}

ImportedModel import_model(const Model &model, const std::map<std::string, Shape> &shapes, const std::map<std::string, Tensor> &values,
                           MLIRContext &context) {
  load_import_dialects(context);
  ImportedModel result;
  Emitter emitter(context, result.weights);
  GraphImporter importer(model, emitter);
  GraphImporter::Scope scope;
  for (const auto &set : model.proto().opset_import())
    scope.opsets[set.domain() == "ai.onnx" ? "" : set.domain()] = set.version();
  importer.scopes.push_back(std::move(scope));
  for (const Interface &input : model.inputs) {
    if (!input.problem.empty())
      unsupported("input '{}': {}", input.name, input.problem);
    emitter.node_name = input.name;
    if (auto value = values.find(input.name); value != values.end()) {
      importer.define(input.name, emitter.known(value->second));
      continue;
    }
    Shape shape = input_shape(input, shapes);
    check_size(input.type, shape);
    if (element_count(shape) == 0) { // nothing about it is left to know
      importer.define(input.name, emitter.known(Tensor(input.type, shape)));
      continue;
    }
    emitter.b.setLoc(NameLoc::get(emitter.b.getStringAttr(input.name)));
    Value *argument = emitter.input(input.type, shape);
    importer.define(input.name, argument);
    importer.sources[argument] = {input.name};
    result.inputs.push_back({input.name, input.type, shape});
  }
  for (const Interface &output : model.outputs)
    if (!output.problem.empty())
      unsupported("output '{}': {}", output.name, output.problem);
  importer.import_initializers(model.proto().graph());
  importer.import_nodes(model.proto().graph().node(), &model.proto().graph().output());
  SmallVector<Value *> outputs;
  for (const Interface &output : model.outputs) {
    Value *value = importer.find(output.name);
    if (!value)
      invalid("nothing defines the model's output '{}'", output.name);
    outputs.push_back(value);
    result.outputs.push_back({output.name, value->type, value->shape});
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i]->elements() == 0)
      unsupported("output '{}' of type {} has no elements ({})", result.outputs[i].name, name(result.outputs[i].type),
                  shape_text(outputs[i]->shape));
  std::vector<std::string> names;
  for (const ImportedModel::Port &output : result.outputs)
    names.push_back(output.name);
  emitter.finish(outputs, names);
  result.module = std::move(emitter.module);

  // Dead code goes; weights that only it read go with their arguments when kernels are formed.
  std::string problem;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    problem += (problem.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  PassManager passes(&context);
  passes.addPass(createCSEPass());
  if (failed(verify(*result.module)) || failed(passes.run(*result.module)))
    throw ModelError(Status::Unsupported, "the imported model is not valid IR: " + problem);
  return result;
}

} // namespace dougong::models
