// Operations on the model's values: elementwise with broadcasting, reduction, and moving data, each in the layout its input has.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "models/emit.h"

namespace dougong::models {
using namespace mlir;
using utils::IteratorType;

Shape broadcast_shapes(const Shape &a, const Shape &b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 0; i < result.size(); ++i) { // aligned at the last dimension
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      invalid("shapes {} and {} do not broadcast", shape_text(a), shape_text(b));
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

// An input of an elementwise operation: what is read, and where for each point of the output.
struct Emitter::Operand {
  std::optional<Tensor> scalar; // the same everywhere
  mlir::Value memory;
  AffineMap map;
};

// Reads what a reshape that only adds dimensions of extent 1 is made of: a reduction's result and its broadcast then share a kernel.
//   %s : 8xf32, expand_shape → 8x1xf32, read at (d0, 0)   →   %s read at (d0)
static void skip_unit_dimensions(mlir::Value &memory, SmallVector<AffineExpr> &exprs) {
  auto expand = memory.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand)
    return;
  ArrayRef<int64_t> wide = expand.getResultType().getShape(), narrow = expand.getSrcType().getShape();
  SmallVector<AffineExpr> kept;
  size_t at = 0;
  for (size_t d = 0; d < wide.size(); ++d)
    if (at < narrow.size() && wide[d] == narrow[at]) {
      kept.push_back(exprs[d]);
      ++at;
    } else if (wide[d] != 1) {
      return;
    }
  if (at != narrow.size())
    return;
  memory = expand.getSrc();
  exprs = kept;
}

Value *Emitter::elementwise(ArrayRef<Value *> inputs, ElementType type, const Body &body) {
  Shape shape;
  for (Value *input : inputs)
    shape = broadcast_shapes(shape, input->shape);
  if (auto folded = fold_elementwise(inputs, shape, type, body))
    return known(std::move(*folded));
  int64_t rank = shape.size();
  SmallVector<Value *> full;
  for (Value *input : inputs)
    if (input->rank() == rank && input->elements() > 1)
      full.push_back(input);
  Layout layout = rank >= 3 ? preferred(full) : Layout::plain;
  std::vector<int64_t> where = positions(layout, rank);

  // Output dimension → loop; a dimension of extent 1 that is broadcast reads index 0. One that is 1 on both sides stays a loop,
  // so that a map without broadcast is the identity.
  std::vector<Operand> operands;
  for (Value *input : inputs) {
    Operand operand;
    int64_t skip = rank - input->rank();
    if (input->known && all_equal(*input->known)) {
      operand.scalar = *input->known;
      operands.push_back(std::move(operand));
      continue;
    }
    auto point = [&](int64_t d) -> AffineExpr {
      if (input->shape[d] == 1 && shape[skip + d] != 1)
        return b.getAffineConstantExpr(0);
      return b.getAffineDimExpr(where[skip + d]);
    };
    SmallVector<AffineExpr> exprs;
    if (input->known) { // kept without its unit dimensions, in the order of the loops
      std::vector<int64_t> order;
      Shape kept;
      for (int64_t d : stored_dimensions(layout, rank))
        if (d >= skip && input->shape[d - skip] != 1) {
          order.push_back(d - skip);
          kept.push_back(input->shape[d - skip]);
          exprs.push_back(point(d - skip));
        }
      mlir::Value &slot = materialised[{input->known.get(), 2 + int(layout) * 16 + int(skip)}];
      if (!slot) {
        for (int64_t d = 0; d < input->rank(); ++d)
          if (input->shape[d] == 1)
            order.push_back(d);
        slot = weight(with_shape(transposed(*input->known, order), kept));
      }
      operand.memory = slot;
    } else {
      Layout held = Layout::plain;
      if (input->rank() == rank && (input->held(layout) || input->elements() == element_count(shape)))
        held = layout;
      else if (!input->plain)
        held = Layout::channels_last;
      operand.memory = get(input, held);
      for (int64_t d : stored_dimensions(held, input->rank()))
        exprs.push_back(point(d));
      skip_unit_dimensions(operand.memory, exprs);
    }
    operand.map = AffineMap::get(rank, 0, exprs, b.getContext());
    operands.push_back(std::move(operand));
  }

  SmallVector<mlir::Value> memory;
  SmallVector<ElementType> types;
  SmallVector<AffineMap> maps;
  for (size_t i = 0; i < operands.size(); ++i)
    if (!operands[i].scalar) {
      memory.push_back(operands[i].memory);
      types.push_back(inputs[i]->type);
      maps.push_back(operands[i].map);
    }
  maps.push_back(b.getMultiDimIdentityMap(rank));
  mlir::Value result = generic(memory, types, maps, empty(stored_shape(layout, shape), type), type,
                               SmallVector<IteratorType>(rank, IteratorType::parallel), [&](ArrayRef<Scalar> scalars) {
                                 std::vector<Scalar> arguments;
                                 size_t next = 0;
                                 for (const Operand &operand : operands) {
                                   Scalar x = operand.scalar ? constant_element(*scalars[0].builder, *operand.scalar, 0) : scalars[next++];
                                   arguments.push_back(is_half(x.type) ? models::convert(x, ElementType::F32) : x);
                                 }
                                 return models::convert(body(arguments), type);
                               });
  return computed(result, type, shape, layout);
}

Value *Emitter::reduce(Value *x, std::vector<int64_t> axes, bool keep, ElementType accumulator, double start, const Body &combine) {
  int64_t rank = x->rank();
  llvm::sort(axes);
  Shape kept, dropped;
  for (int64_t d = 0; d < rank; ++d) {
    bool reduced = llvm::is_contained(axes, d);
    kept.push_back(reduced ? 1 : x->shape[d]);
    if (!reduced)
      dropped.push_back(x->shape[d]);
  }
  if (auto folded = fold_reduction(x, axes, dropped, accumulator, start, combine))
    return known(with_shape(std::move(*folded), keep ? kept : dropped));
  Layout layout = preferred({x}), result_layout = keep ? layout : Layout::plain;
  std::vector<int64_t> where = positions(layout, rank);
  SmallVector<AffineExpr> exprs;
  SmallVector<IteratorType> iterators(rank, IteratorType::parallel);
  Shape shape;
  for (int64_t d : stored_dimensions(result_layout, rank)) {
    if (llvm::is_contained(axes, d)) {
      iterators[where[d]] = IteratorType::reduction;
    } else {
      exprs.push_back(b.getAffineDimExpr(where[d]));
      shape.push_back(x->shape[d]);
    }
  }
  mlir::Value result =
      generic({get(x, layout)}, {x->type}, {b.getMultiDimIdentityMap(rank), AffineMap::get(rank, 0, exprs, b.getContext())},
              filled(shape, accumulator, start), accumulator, iterators,
              [&](ArrayRef<Scalar> s) { return combine({s[1], models::convert(s[0], accumulator)}); });
  if (!keep)
    return computed(result, accumulator, dropped);
  return computed(reshape(result, stored_shape(layout, kept)), accumulator, kept, layout);
}

Value *Emitter::indexed(const Shape &shape, ElementType type, ArrayRef<Value *> tensors, const Body &body) {
  for (Value *tensor : tensors) // now: the body's builder stands inside the operation
    get(tensor);
  mlir::Value result =
      generic({}, {}, {b.getMultiDimIdentityMap(shape.size())}, empty(shape, type), type,
              SmallVector<IteratorType>(shape.size(), IteratorType::parallel), [&](ArrayRef<Scalar> output) {
                std::vector<Scalar> indices;
                for (size_t d = 0; d < shape.size(); ++d)
                  indices.push_back({output[0].builder, linalg::IndexOp::create(*output[0].builder, d), ElementType::I64, true});
                if (indices.empty()) // the body finds the builder in an index
                  indices.push_back({output[0].builder, arith::ConstantIndexOp::create(*output[0].builder, 0), ElementType::I64, true});
                return models::convert(body(indices), type);
              });
  return computed(result, type, shape);
}

Scalar Emitter::element(Value *tensor, ArrayRef<Scalar> indices) {
  if (int64_t(indices.size()) < tensor->rank())
    invalid("a place in a tensor of shape {} is given by {} indices", shape_text(tensor->shape), indices.size());
  ImplicitLocOpBuilder &inner = *indices[0].builder;
  SmallVector<mlir::Value> at;
  for (int64_t d = 0; d < tensor->rank(); ++d)
    at.push_back(convert_to_index(indices[d]).value);
  return {&inner, tensor::ExtractOp::create(inner, get(tensor), at), tensor->type};
}

Value *Emitter::convert(Value *x, ElementType type) {
  if (x->type == type)
    return x;
  if (x->known && element_count(x->shape) > 0)
    return known(converted(*x->known, type));
  return elementwise({x}, type, [&](ArrayRef<Scalar> s) { return models::convert(s[0], type); });
}

Value *Emitter::reshape(Value *x, Shape shape) {
  if (x->shape == shape)
    return x;
  check_size(x->type, shape);
  if (x->elements() != element_count(shape))
    invalid("a tensor of shape {} taken as one of shape {}", shape_text(x->shape), shape_text(shape));
  if (x->known)
    return known(with_shape(*x->known, shape));
  // Batch and channels stay what they are: the spatial dimensions may be regrouped where they lie.
  if (x->is_channels_last() && shape.size() >= 3 && shape[0] == x->shape[0] && shape[1] == x->shape[1])
    return computed(reshape(x->channels_last, stored_shape(Layout::channels_last, shape)), x->type, shape, Layout::channels_last);
  return computed(reshape(get(x), shape), x->type, shape);
}

Value *Emitter::transpose(Value *x, ArrayRef<int64_t> permutation) {
  int64_t rank = x->rank();
  std::vector<int64_t> axes = permutation.vec();
  llvm::sort(axes);
  for (int64_t d = 0; d < std::max(rank, int64_t(axes.size())); ++d)
    if (d >= int64_t(axes.size()) || axes[d] != d || d >= rank)
      invalid("the dimensions {} of a tensor of shape {} in another order", fmt::join(permutation, ", "), shape_text(x->shape));
  Shape shape;
  for (int64_t axis : permutation)
    shape.push_back(x->shape[axis]);
  if (x->known)
    return known(transposed(*x->known, permutation));
  std::vector<int64_t> to_last = rank >= 3 ? stored_dimensions(Layout::channels_last, rank) : std::vector<int64_t>{};
  std::vector<int64_t> from_last = rank >= 3 ? positions(Layout::channels_last, rank) : std::vector<int64_t>{};
  if (rank >= 3 && permutation == ArrayRef(to_last) && x->channels_last)
    return computed(x->channels_last, x->type, shape);
  if (rank >= 3 && permutation == ArrayRef(from_last) && x->plain)
    return computed(x->plain, x->type, shape, Layout::channels_last);
  if (x->is_channels_last()) { // from where it lies, in one move
    std::vector<int64_t> direct;
    for (int64_t axis : permutation)
      direct.push_back(from_last[axis]);
    return computed(transpose(x->channels_last, direct), x->type, shape);
  }
  return computed(transpose(get(x), permutation), x->type, shape);
}

Value *Emitter::broadcast(Value *x, const Shape &shape) {
  if (x->shape == shape)
    return x;
  check_size(x->type, shape);
  if (broadcast_shapes(x->shape, shape) != shape)
    invalid("shape {} does not broadcast to {}", shape_text(x->shape), shape_text(shape));
  if (x->known && element_count(shape) <= 4096) {
    std::vector<int64_t> strides = row_major_strides(x->shape);
    int64_t skip = int64_t(shape.size()) - x->rank();
    return known(rearranged(*x->known, shape, [&](ArrayRef<int64_t> index) {
      int64_t from = 0;
      for (int64_t d = 0; d < x->rank(); ++d)
        from += x->shape[d] == 1 ? 0 : index[skip + d] * strides[d];
      return from;
    }));
  }
  int64_t rank = shape.size(), skip = rank - x->rank();
  SmallVector<AffineExpr> exprs;
  for (int64_t d = 0; d < x->rank(); ++d)
    exprs.push_back(x->shape[d] == 1 && shape[skip + d] != 1 ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(skip + d));
  mlir::Value result =
      generic({get(x)}, {x->type}, {AffineMap::get(rank, 0, exprs, b.getContext()), b.getMultiDimIdentityMap(rank)}, empty(shape, x->type),
              x->type, SmallVector<IteratorType>(rank, IteratorType::parallel), [](ArrayRef<Scalar> s) { return s[0]; });
  return computed(result, x->type, shape);
}

Value *Emitter::slice(Value *x, ArrayRef<int64_t> starts, ArrayRef<int64_t> steps, const Shape &shape) {
  check_size(x->type, shape);
  if (int64_t(shape.size()) != x->rank())
    invalid("a part of shape {} of a tensor of shape {}", shape_text(shape), shape_text(x->shape));
  for (int64_t d = 0; d < x->rank(); ++d) {
    __int128 first = starts[d], last = first + __int128(shape[d] - 1) * steps[d];
    if (shape[d] > 0 && (std::min(first, last) < 0 || std::max(first, last) >= x->shape[d]))
      invalid("{} elements from {} in steps of {} of a dimension of {}", shape[d], starts[d], steps[d], x->shape[d]);
  }
  if (x->known) {
    std::vector<int64_t> strides = row_major_strides(x->shape);
    return known(rearranged(*x->known, shape, [&](ArrayRef<int64_t> index) {
      int64_t from = 0;
      for (size_t d = 0; d < index.size(); ++d)
        from += (starts[d] + index[d] * steps[d]) * strides[d];
      return from;
    }));
  }
  Layout layout = preferred({x});
  std::vector<int64_t> dimensions = stored_dimensions(layout, x->rank());
  Shape stored = stored_shape(layout, shape);
  mlir::Value memory = get(x, layout), result;
  if (x->shape == shape && llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    return x;
  if (llvm::all_of(steps, [](int64_t step) { return step > 0; })) {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    for (int64_t d : dimensions) {
      offsets.push_back(b.getIndexAttr(starts[d]));
      sizes.push_back(b.getIndexAttr(shape[d]));
      strides.push_back(b.getIndexAttr(steps[d]));
    }
    result = tensor::ExtractSliceOp::create(b, memory, offsets, sizes, strides);
  } else {
    SmallVector<AffineExpr> exprs;
    for (size_t p = 0; p < dimensions.size(); ++p)
      exprs.push_back(b.getAffineDimExpr(p) * steps[dimensions[p]] + starts[dimensions[p]]);
    result = generic({memory}, {x->type}, {AffineMap::get(x->rank(), 0, exprs, b.getContext()), b.getMultiDimIdentityMap(x->rank())},
                     empty(stored, x->type), x->type, SmallVector<IteratorType>(x->rank(), IteratorType::parallel),
                     [](ArrayRef<Scalar> s) { return s[0]; });
  }
  return computed(result, x->type, shape, layout);
}

Value *Emitter::concat(ArrayRef<Value *> all, int64_t axis) {
  SmallVector<Value *> parts;
  Shape shape = all[0]->shape;
  for (Value *part : all) {
    Shape other = part->shape;
    if (axis < int64_t(other.size()) && axis < all[0]->rank())
      other[axis] = all[0]->shape[axis];
    if (other != all[0]->shape || part->type != all[0]->type || axis >= all[0]->rank())
      invalid("tensors of shapes {} ({}) and {} ({}) in one, along dimension {}", shape_text(all[0]->shape), name(all[0]->type),
              shape_text(part->shape), name(part->type), axis);
  }
  shape[axis] = 0;
  for (Value *part : all) {
    shape[axis] += part->shape[axis];
    if (part->elements() > 0)
      parts.push_back(part);
  }
  if (parts.size() == 1)
    return parts[0];
  if (llvm::all_of(all, [](Value *part) { return bool(part->known); })) {
    std::vector<int64_t> strides = row_major_strides(shape);
    int64_t bytes = 0;
    for (Value *part : parts)
      bytes += int64_t(part->known->bytes.size());
    Tensor result = zeros(all[0]->type, shape, bytes);
    int64_t begin = 0;
    for (Value *part : parts) {
      std::vector<int64_t> index(shape.size());
      int64_t from = 0;
      size_t width = size_in_bytes(result.type);
      do {
        int64_t to = begin * strides[axis];
        for (size_t d = 0; d < index.size(); ++d)
          to += index[d] * strides[d];
        std::copy_n(part->known->bytes.begin() + from++ * width, width, result.bytes.begin() + to * width);
      } while (next_index(index, part->shape));
      begin += part->shape[axis];
    }
    return known(std::move(result));
  }
  Layout layout = shape.size() >= 3 ? preferred(parts) : Layout::plain;
  SmallVector<mlir::Value> memory;
  for (Value *part : parts)
    memory.push_back(get(part, layout));
  return computed(tensor::ConcatOp::create(b, positions(layout, shape.size())[axis], memory), all[0]->type, shape, layout);
}

Value *Emitter::pad(Value *x, ArrayRef<int64_t> before, ArrayRef<int64_t> after, double value) {
  Layout layout = preferred({x});
  Shape shape;
  for (int64_t d = 0; d < x->rank(); ++d) {
    shape.push_back(x->shape[d] + before[d] + after[d]);
    if (before[d] < 0 || after[d] < 0)
      invalid("padding of {} and {}", before[d], after[d]);
  }
  return computed(pad(get(x, layout), x->type, stored_shape(layout, before), stored_shape(layout, after), value), x->type, shape, layout);
}

Value *Emitter::copy(Value *x) {
  Layout layout = preferred({x});
  Shape stored = stored_shape(layout, x->shape);
  AffineMap identity = b.getMultiDimIdentityMap(x->rank());
  mlir::Value result = generic({get(x, layout)}, {x->type}, {identity, identity}, empty(stored, x->type), x->type,
                               SmallVector<IteratorType>(x->rank(), IteratorType::parallel), [](ArrayRef<Scalar> s) { return s[0]; });
  return computed(result, x->type, x->shape, layout);
}

} // namespace dougong::models
