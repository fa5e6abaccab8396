// ONNX model + concrete input shapes → linalg on tensors: one function `@main` of static shapes, images channels last, weights
// outside the IR. Errors are ModelError; NeedsInputValues if some op's result depends on the values of inputs at import time.
//
//   Conv(x[1,3,640,640], W, b)   →   func.func @main(%x: tensor<1x3x640x640xf32>, %w: tensor<3x3x3x16xf32> {dg.weight = 0 : i64}, …)
//                                      %t = linalg.transpose …  : tensor<1x640x640x3xf32>
//                                      %p = tensor.pad …
//                                      %c = linalg.conv_2d_nhwc_hwcf … ; linalg.generic: + b
#pragma once
#include "models/emit.h"
#include "models/model.h"

namespace dougong::models {

struct ImportedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Weight> weights;
  struct Port {
    std::string name;
    ElementType type;
    Shape shape;
  };
  std::vector<Port> inputs, outputs; // the arguments and results of @main, in order
};

// `shapes` has every input; `values` those that are specialised on their value too, which are no arguments then.
ImportedModel import_model(const Model &model, const std::map<std::string, Shape> &shapes, const std::map<std::string, Tensor> &values,
                           mlir::MLIRContext &context);

void load_import_dialects(mlir::MLIRContext &context);

} // namespace dougong::models
