// Values, constants and layouts of the emitter, and the operations on MLIR's values. The operations on the model's values stand
// in emit_tensor_ops.cc, folding of known values in emit_fold.cc.
#include "models/emit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace dougong::models {
using namespace mlir;

Emitter::Emitter(MLIRContext &context, std::vector<Weight> &weights)
    : module(ModuleOp::create(UnknownLoc::get(&context))), b(UnknownLoc::get(&context), &context), weights(weights) {
  b.setInsertionPointToEnd(module->getBody());
  main = func::FuncOp::create(b, "main", b.getFunctionType({}, {}));
  b.setInsertionPointToEnd(main.addEntryBlock());
}

std::vector<int64_t> Emitter::stored_dimensions(Layout layout, int64_t rank) {
  std::vector<int64_t> dimensions;
  for (int64_t d = 0; d < rank; ++d)
    if (layout == Layout::plain || d != 1)
      dimensions.push_back(d);
  if (layout == Layout::channels_last)
    dimensions.push_back(1);
  return dimensions;
}

std::vector<int64_t> Emitter::positions(Layout layout, int64_t rank) {
  std::vector<int64_t> where(rank);
  std::vector<int64_t> stored = stored_dimensions(layout, rank);
  for (int64_t p = 0; p < rank; ++p)
    where[stored[p]] = p;
  return where;
}

Shape Emitter::stored_shape(Layout layout, ArrayRef<int64_t> shape) {
  Shape result;
  for (int64_t d : stored_dimensions(layout, shape.size()))
    result.push_back(shape[d]);
  return result;
}

Layout Emitter::preferred(ArrayRef<Value *> inputs) const {
  for (const Value *value : inputs)
    if (!value->known && value->rank() >= 3 && value->is_channels_last())
      return Layout::channels_last;
  return Layout::plain;
}

// Arguments are inserted in order: inputs of the model first, weights behind them as they turn up.
Value *Emitter::input(ElementType type, const Shape &shape) {
  return computed(main.getBody().front().addArgument(tensor_type(shape, type), b.getLoc()), type, shape);
}

Value *Emitter::known(Tensor tensor) {
  Value value{tensor.type, tensor.shape, nullptr, {}, {}};
  value.known = std::make_shared<const Tensor>(std::move(tensor));
  values.push_back(std::move(value));
  return &values.back();
}

Value *Emitter::computed(mlir::Value value, ElementType type, Shape shape, Layout layout) {
  for (int64_t extent : shape)
    if (extent == 0)
      unsupported("a result without elements ({})", shape_text(shape));
  check_size(type, shape);
  Value result{type, std::move(shape), nullptr, {}, {}};
  (layout == Layout::plain ? result.plain : result.channels_last) = value;
  values.push_back(std::move(result));
  return &values.back();
}

mlir::Value Emitter::weight(Tensor data) {
  if (element_count(data.shape) == 0)
    unsupported("a tensor without elements ({})", shape_text(data.shape));
  if (all_equal(data))
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(tensor_type(data.shape, data.type),
                                  cast<arith::ConstantOp>(constant_element(b, data, 0).value.getDefiningOp()).getValue()));
  mlir::Value argument = main.getBody().front().addArgument(tensor_type(data.shape, data.type), b.getLoc());
  weights.push_back({node_name, std::move(data)});
  return argument;
}

mlir::Value Emitter::get(Value *value, Layout layout) {
  mlir::Value &form = layout == Layout::plain ? value->plain : value->channels_last;
  if (form)
    return form;
  int64_t rank = value->rank();
  if (value->known) {
    mlir::Value &slot = materialised[{value->known.get(), int(layout)}];
    if (!slot)
      slot = weight(layout == Layout::plain ? *value->known : transposed(*value->known, stored_dimensions(layout, rank)));
    return slot;
  }
  mlir::Value other = value->held(layout == Layout::plain ? Layout::channels_last : Layout::plain);
  Location asked = b.getLoc(); // reports shall not count the move as the node that asked for it
  b.setLoc(NameLoc::get(b.getStringAttr("Layout '" + node_name + "'")));
  form = transpose(other, layout == Layout::plain ? positions(Layout::channels_last, rank) : stored_dimensions(layout, rank));
  b.setLoc(asked);
  return form;
}

void Emitter::finish(ArrayRef<Value *> outputs, ArrayRef<std::string> names) {
  SmallVector<mlir::Value> results;
  for (Value *value : outputs) {
    node_name = names[results.size()];
    b.setLoc(NameLoc::get(b.getStringAttr("Output '" + node_name + "'")));
    mlir::Value result = get(value);
    mlir::Value origin = result; // what only renames memory that is not ours to give becomes a copy
    while (Operation *op = origin.getDefiningOp()) {
      if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
        break;
      origin = op->getOperand(0);
    }
    bool taken = llvm::any_of(results, [&](mlir::Value other) { return other == result; });
    if (taken || isa<BlockArgument>(origin) || isa_and_nonnull<arith::ConstantOp>(origin.getDefiningOp()))
      result = get(copy(value));
    results.push_back(result);
  }
  func::ReturnOp::create(b, results);
  main.setFunctionType(b.getFunctionType(main.getBody().front().getArgumentTypes(), ValueRange(results).getTypes()));
  size_t inputs = main.getNumArguments() - weights.size();
  for (size_t i = 0; i < weights.size(); ++i)
    main.setArgAttr(inputs + i, "dg.weight", b.getI64IntegerAttr(i));
}

RankedTensorType Emitter::tensor_type(ArrayRef<int64_t> shape, ElementType type) {
  return RankedTensorType::get(shape, mlir_type(b.getContext(), type));
}

mlir::Value Emitter::empty(ArrayRef<int64_t> shape, ElementType type) {
  return tensor::EmptyOp::create(b, shape, mlir_type(b.getContext(), type));
}

mlir::Value Emitter::filled(ArrayRef<int64_t> shape, ElementType type, double value) {
  mlir::Value scalar = constant(b, type, value).value;
  return linalg::FillOp::create(b, scalar, empty(shape, type)).getResult(0);
}

mlir::Value Emitter::reshape(mlir::Value x, ArrayRef<int64_t> shape) {
  auto from = cast<RankedTensorType>(x.getType());
  if (from.getShape() == shape)
    return x;
  auto to = RankedTensorType::get(shape, from.getElementType());
  if (from.getRank() != to.getRank())
    if (auto groups = getReassociationIndicesForReshape(from, to)) {
      if (from.getRank() > to.getRank())
        return tensor::CollapseShapeOp::create(b, to, x, *groups);
      return tensor::ExpandShapeOp::create(b, to, x, *groups);
    }
  if (from.getRank() > 1) {
    SmallVector<ReassociationIndices> all{llvm::to_vector<2>(llvm::seq<int64_t>(0, from.getRank()))};
    x = tensor::CollapseShapeOp::create(b, RankedTensorType::get({from.getNumElements()}, from.getElementType()), x, all);
  } else if (from.getRank() == 0) {
    x = tensor::ExpandShapeOp::create(b, RankedTensorType::get({1}, from.getElementType()), x, ArrayRef<ReassociationIndices>{});
  }
  if (to.getRank() == 1)
    return x;
  if (to.getRank() == 0)
    return tensor::CollapseShapeOp::create(b, to, x, ArrayRef<ReassociationIndices>{});
  SmallVector<ReassociationIndices> all{llvm::to_vector<2>(llvm::seq<int64_t>(0, to.getRank()))};
  return tensor::ExpandShapeOp::create(b, to, x, all);
}

mlir::Value Emitter::transpose(mlir::Value x, ArrayRef<int64_t> permutation) {
  auto from = cast<RankedTensorType>(x.getType());
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(from.getDimSize(axis));
  int64_t last = -1; // moving only unit dimensions moves nothing in memory
  bool moves = false;
  for (int64_t axis : permutation)
    if (from.getDimSize(axis) != 1) {
      moves |= axis < last;
      last = axis;
    }
  if (!moves)
    return reshape(x, shape);
  mlir::Value output = tensor::EmptyOp::create(b, shape, from.getElementType());
  return linalg::TransposeOp::create(b, x, output, permutation).getResult()[0];
}

mlir::Value Emitter::pad(mlir::Value x, ElementType type, ArrayRef<int64_t> before, ArrayRef<int64_t> after, double value) {
  if (llvm::all_of(before, [](int64_t n) { return n == 0; }) && llvm::all_of(after, [](int64_t n) { return n == 0; }))
    return x;
  auto from = cast<RankedTensorType>(x.getType());
  Shape shape;
  for (int64_t d = 0; d < from.getRank(); ++d)
    shape.push_back(from.getDimSize(d) + before[d] + after[d]);
  SmallVector<OpFoldResult> low, high;
  for (int64_t n : before)
    low.push_back(b.getIndexAttr(n));
  for (int64_t n : after)
    high.push_back(b.getIndexAttr(n));
  mlir::Value fill = constant(b, type, value).value;
  return tensor::PadOp::create(b, RankedTensorType::get(shape, from.getElementType()), x, low, high, fill);
}

mlir::Value Emitter::generic(ArrayRef<mlir::Value> inputs, ArrayRef<ElementType> types, ArrayRef<AffineMap> maps, mlir::Value output,
                             ElementType output_type, ArrayRef<utils::IteratorType> iterators, const Body &body) {
  auto build = [&](OpBuilder &builder, Location location, ValueRange arguments) {
    ImplicitLocOpBuilder inner(location, builder);
    std::vector<Scalar> scalars;
    for (size_t i = 0; i < arguments.size(); ++i)
      scalars.push_back({&inner, arguments[i], i < types.size() ? types[i] : output_type});
    linalg::YieldOp::create(inner, body(scalars).value);
  };
  return linalg::GenericOp::create(b, TypeRange(output.getType()), inputs, ValueRange(output), maps, iterators, build).getResult(0);
}

} // namespace dougong::models
