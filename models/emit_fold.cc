// Computing known values at import: the same scalar expressions that would be compiled, run through MLIR's own folders.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "models/emit.h"

namespace dougong::models {
using namespace mlir;

// Shapes and such are small; what is larger is compiled like anything else.
static constexpr int64_t fold_limit = 4096;

TypedAttr Emitter::fold(llvm::function_ref<Scalar(ImplicitLocOpBuilder &)> build) {
  Block scratch;
  ImplicitLocOpBuilder builder(b.getLoc(), b.getContext());
  builder.setInsertionPointToEnd(&scratch);
  mlir::Value result = build(builder).value;
  for (Operation &op : llvm::make_early_inc_range(scratch)) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    builder.setInsertionPoint(&op);
    SmallVector<mlir::Value> folded;
    if (failed(builder.tryFold(&op, folded)) || folded.size() != 1)
      return nullptr;
    op.getResult(0).replaceAllUsesWith(folded[0]);
    if (result == op.getResult(0))
      result = folded[0];
  }
  auto constant = result.getDefiningOp<arith::ConstantOp>();
  return constant ? constant.getValue() : TypedAttr();
}

static void store(Tensor &tensor, int64_t i, TypedAttr value) {
  if (auto number = dyn_cast<FloatAttr>(value))
    set_real(tensor, i, number.getValueAsDouble());
  else
    set_integer(tensor, i,
                is_unsigned(tensor.type) ? int64_t(cast<IntegerAttr>(value).getValue().getZExtValue())
                                         : cast<IntegerAttr>(value).getValue().getSExtValue());
}

static Scalar widened(Scalar x) { return is_half(x.type) ? convert(x, ElementType::F32) : x; }

std::optional<Tensor> Emitter::fold_elementwise(ArrayRef<Value *> inputs, const Shape &shape, ElementType type, const Body &body) {
  if (!llvm::all_of(inputs, [](Value *value) { return bool(value->known); }))
    return std::nullopt;
  check_size(type, shape);
  if (element_count(shape) > fold_limit)
    return std::nullopt;
  Tensor result(type, shape);
  if (element_count(shape) == 0)
    return result;
  std::vector<int64_t> index(shape.size());
  int64_t position = 0;
  do {
    TypedAttr value = fold([&](ImplicitLocOpBuilder &builder) {
      std::vector<Scalar> scalars;
      for (Value *input : inputs) {
        std::vector<int64_t> strides = row_major_strides(input->shape);
        int64_t from = 0, skip = int64_t(shape.size()) - input->rank();
        for (int64_t d = 0; d < input->rank(); ++d)
          from += input->shape[d] == 1 ? 0 : index[skip + d] * strides[d];
        scalars.push_back(widened(constant_element(builder, *input->known, from)));
      }
      return models::convert(body(scalars), type);
    });
    if (!value)
      return std::nullopt;
    store(result, position++, value);
  } while (next_index(index, shape));
  return result;
}

std::optional<Tensor> Emitter::fold_reduction(Value *x, ArrayRef<int64_t> axes, const Shape &shape, ElementType accumulator, double start,
                                              const Body &combine) {
  if (!x->known || x->elements() > fold_limit)
    return std::nullopt;
  int64_t count = element_count(shape);
  Tensor result(accumulator, shape);
  for (int64_t i = 0; i < count; ++i)
    store(result, i, fold([&](ImplicitLocOpBuilder &builder) { return constant(builder, accumulator, start); }));
  std::vector<int64_t> index(x->rank());
  std::vector<int64_t> strides = row_major_strides(shape);
  int64_t position = 0;
  if (x->elements() == 0)
    return result;
  do {
    int64_t to = 0, d = 0;
    for (int64_t axis = 0; axis < x->rank(); ++axis)
      if (!llvm::is_contained(axes, axis))
        to += index[axis] * strides[d++];
    TypedAttr value = fold([&](ImplicitLocOpBuilder &builder) {
      return combine({constant_element(builder, result, to), models::convert(constant_element(builder, *x->known, position), accumulator)});
    });
    if (!value)
      return std::nullopt;
    store(result, to, value);
    ++position;
  } while (next_index(index, x->shape));
  return result;
}

} // namespace dougong::models
