// From a kernel's results backwards: which box of which value a program needs (see Plan.h).
#include "compiler/tile/Plan.h"

using namespace mlir;

namespace dougong {
namespace {

using Tile = std::pair<int, unsigned>; // a node, and which of its results

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int i = int(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

class Planner {
public:
  Planner(func::FuncOp kernel, Plan &plan) : kernel(kernel), plan(plan), context(kernel.getContext()) {}

  bool run() {
    Domain domain = domainOf(kernel);
    for (auto [dim, axis] : llvm::enumerate(plan.choice.axis))
      if (axis >= 0) {
        plan.grid[axis] = llvm::divideCeil(domain.extents[dim], plan.choice.tile[dim]);
        plan.filled[axis] = double(domain.extents[dim]) / double(plan.choice.tile[dim] * plan.grid[axis]);
      }
    if (plan.choice.reducedOp) {
      auto op = cast<linalg::LinalgOp>(plan.choice.reducedOp);
      plan.trips = op.getStaticLoopRanges()[plan.choice.reducedLoop] / plan.choice.reducedChunk;
    }
    Operation *end = kernel.getBody().front().getTerminator();
    for (auto [i, result] : llvm::enumerate(end->getOperands()))
      if (!store(i, result, SmallVector<int64_t>(shapeOf(result).size(), 0), shapeOf(result)))
        return false;
    return true;
  }

private:
  bool refuse(Operation *op, const Twine &reason) {
    if (!plan.refused) {
      plan.refused = op ? op : kernel.getOperation();
      plan.reason = reason.str();
    }
    return false;
  }

  AffineExpr constant(int64_t value) { return getAffineConstantExpr(value, context); }
  AffineExpr simplified(AffineExpr expr) { return simplifyAffineExpr(expr, programAxes + 1, 0); }

  // What of `value` goes where in result number `result`: all of it, or the parts it is put together from.
  bool store(unsigned result, Value value, SmallVector<int64_t> shift, ArrayRef<int64_t> whole) {
    Operation *op = value.getDefiningOp();
    if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op)) {
      for (Value input : concat.getInputs()) {
        if (!store(result, input, shift, whole))
          return false;
        shift[concat.getDim()] += shapeOf(input)[concat.getDim()];
      }
      return true;
    }
    if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op); insert && isPlainInsert(insert)) {
      if (!insert.getDest().getDefiningOp<tensor::EmptyOp>() && !store(result, insert.getDest(), shift, whole))
        return false;
      for (auto [each, offset] : llvm::zip(shift, insert.getStaticOffsets()))
        each += offset;
      return store(result, insert.getSource(), shift, whole);
    }
    // What is only permuted at the end is stored in that order.
    auto permutation = dyn_cast_or_null<linalg::GenericOp>(op);
    bool permuted = permutation && isPermutation(permutation) && !viewOf(value);
    Value source = permuted ? permutation.getDpsInputs()[0] : value;
    unsigned rank = whole.size();
    AffineMap order =
        permuted ? permutation.getMatchingIndexingMap(permutation.getDpsInputOperand(0)) : AffineMap::getMultiDimIdentityMap(rank, context);
    SmallVector<int64_t> strides = rowMajorStrides(whole);
    const Choice &choice = plan.choice;
    Store piece{result, {}, {}, {}, {}, {}};
    for (unsigned i = 0; i < rank; ++i) {
      unsigned dim = order.getDimPosition(i);
      bool tiled = dim < choice.axis.size() && choice.axis[dim] >= 0;
      piece.shift.push_back(shift[dim]);
      piece.extent.push_back(shapeOf(value)[dim]);
      piece.strides.push_back(strides[dim]);
      piece.box.offsets.push_back(tiled ? getAffineDimExpr(choice.axis[dim], context) * choice.tile[dim] : constant(0));
      piece.box.sizes.push_back(tiled ? choice.tile[dim] : piece.extent[i]);
    }
    std::optional<Tile> tile = demand(source, piece.box);
    if (!tile)
      return false;
    piece.node = *tile;
    plan.stores.push_back(std::move(piece));
    return true;
  }

  // Nothing but its operand in another order.
  static bool isPermutation(linalg::GenericOp op) {
    Operation &yield = op.getBody()->back();
    return op.getNumReductionLoops() == 0 && op.getNumDpsInputs() == 1 && op.getNumResults() == 1 && &op.getBody()->front() == &yield &&
           yield.getOperand(0) == op.getBody()->getArgument(0) && op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
           op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isPermutation();
  }

  static bool isPlainInsert(tensor::InsertSliceOp op) {
    return op.getSourceType().getRank() == op.getDestType().getRank() && op.getSourceType().hasStaticShape() &&
           llvm::all_of(op.getStaticStrides(), [](int64_t s) { return s == 1; }) &&
           llvm::none_of(op.getStaticOffsets(), ShapedType::isDynamic);
  }
  friend Domain dougong::domainOf(func::FuncOp kernel);

  // The argument behind a value, if there is nothing between them that a load cannot do.
  std::optional<View> viewOf(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return std::nullopt;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner()->getParentOp() != kernel)
        return std::nullopt;
      SmallVector<int64_t> shape(type.getShape());
      return View{argument.getArgNumber(), 0, shape, rowMajorStrides(shape), SmallVector<int64_t>(shape.size(), 0), shape, {}, true};
    }
    return llvm::TypeSwitch<Operation *, std::optional<View>>(value.getDefiningOp())
        .Case([&](tensor::PadOp op) { return throughPad(op); })
        .Case([&](tensor::ExtractSliceOp op) { return throughSlice(op); })
        .Case([&](tensor::ExpandShapeOp op) { return throughReshape(op.getSrc(), type.getShape()); })
        .Case([&](tensor::CollapseShapeOp op) { return throughReshape(op.getSrc(), type.getShape()); })
        .Case([&](linalg::GenericOp op) { return throughMovement(op); })
        .Default([](Operation *) { return std::nullopt; });
  }

  std::optional<View> throughPad(tensor::PadOp op) {
    std::optional<View> view = viewOf(op.getSource());
    Attribute fill;
    if (!view || view->fill || !op.getConstantPaddingValue() || !matchPattern(op.getConstantPaddingValue(), m_Constant(&fill)))
      return std::nullopt;
    for (size_t dim = 0; dim < view->shape.size(); ++dim) {
      int64_t low = op.getStaticLow()[dim];
      view->offset -= low * view->strides[dim];
      view->low[dim] += low;
      view->high[dim] += low;
      view->shape[dim] += low + op.getStaticHigh()[dim];
    }
    view->fill = cast<TypedAttr>(fill);
    view->rowMajor = false;
    return view;
  }

  std::optional<View> throughSlice(tensor::ExtractSliceOp op) {
    std::optional<View> view = viewOf(op.getSource());
    if (!view || !op.getType().hasStaticShape() || llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic))
      return std::nullopt;
    View slice = *view;
    slice.shape.clear(), slice.strides.clear(), slice.low.clear(), slice.high.clear();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    for (size_t dim = 0; dim < view->shape.size(); ++dim) {
      int64_t offset = op.getStaticOffsets()[dim], stride = op.getStaticStrides()[dim], size = op.getStaticSizes()[dim];
      slice.offset += offset * view->strides[dim];
      // Steps of the slice that stay within what there is.
      int64_t low = llvm::divideCeil(std::max<int64_t>(view->low[dim] - offset, 0), stride);
      int64_t high = std::min<int64_t>(size, llvm::divideCeil(std::max<int64_t>(view->high[dim] - offset, 0), stride));
      if (dropped.test(dim)) {
        if (low > 0 || high < 1)
          return std::nullopt;
        continue;
      }
      slice.shape.push_back(size);
      slice.strides.push_back(view->strides[dim] * stride);
      slice.low.push_back(low);
      slice.high.push_back(high);
    }
    slice.rowMajor = false;
    return slice;
  }

  std::optional<View> throughReshape(Value source, ArrayRef<int64_t> shape) {
    std::optional<View> view = viewOf(source);
    if (!view || !view->rowMajor)
      return std::nullopt;
    view->shape = view->high = SmallVector<int64_t>(shape);
    view->strides = rowMajorStrides(shape);
    view->low.assign(shape.size(), 0);
    return view;
  }

  // A broadcast or permutation that leaves rows in one piece; the engines move single elements better than DMA does.
  std::optional<View> throughMovement(linalg::GenericOp op) {
    Operation &yield = op.getBody()->back();
    if (op.getNumReductionLoops() || op.getNumDpsInputs() != 1 || op.getNumResults() != 1 || &op.getBody()->front() != &yield ||
        yield.getOperand(0) != op.getBody()->getArgument(0) || !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
      return std::nullopt;
    AffineMap map = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    std::optional<View> view = viewOf(op.getDpsInputs()[0]);
    unsigned rank = op.getNumLoops();
    if (!view || !map.isProjectedPermutation() || rank == 0 || map.getNumResults() == 0 ||
        map.getResult(map.getNumResults() - 1) != getAffineDimExpr(rank - 1, context))
      return std::nullopt;
    View moved = *view;
    moved.shape = op.getStaticLoopRanges();
    moved.strides.assign(rank, 0);
    moved.low.assign(rank, 0);
    moved.high = moved.shape;
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      unsigned dim = map.getDimPosition(i);
      moved.strides[dim] = view->strides[i];
      moved.low[dim] = view->low[i];
      moved.high[dim] = view->high[i];
    }
    moved.rowMajor = false;
    return moved;
  }

  std::optional<Tile> find(Node::Kind kind, Operation *op, const Box &box) {
    for (auto [i, node] : llvm::enumerate(plan.nodes))
      if (node.kind == kind && node.op == op && node.box == box)
        return Tile(int(i), 0);
    return std::nullopt;
  }

  Tile add(Node node) {
    plan.nodes.push_back(std::move(node));
    return {int(plan.nodes.size()) - 1, 0};
  }

  std::optional<Tile> demand(Value value, const Box &box) {
    auto type = RankedTensorType::get(box.sizes, getElementTypeOrSelf(value));
    Operation *op = value.getDefiningOp();
    bool inLoop = box.dependsOn(reductionAxis);
    if (std::optional<View> view = viewOf(value)) {
      for (auto [i, node] : llvm::enumerate(plan.nodes))
        if (node.kind == Node::Kind::Load && node.box == box && node.view.argument == view->argument && node.view.offset == view->offset &&
            node.view.strides == view->strides && node.view.low == view->low && node.view.high == view->high &&
            node.view.fill == view->fill)
          return Tile(int(i), 0);
      return add({Node::Kind::Load, nullptr, box, *view, type, {}, {}, inLoop});
    }
    if (!op)
      return refuse(nullptr, "a value of unknown origin"), std::nullopt;
    if (isa<tensor::EmptyOp>(op))
      return add({Node::Kind::Empty, op, box, {}, type, {}, {}, inLoop});
    if (auto known = find(Node::Kind::Constant, op, box))
      return known;
    if (DenseElementsAttr elements; matchPattern(value, m_Constant(&elements))) {
      if (elements.isSplat())
        return add({Node::Kind::Constant, op, box, {}, type, {}, {}, inLoop});
      return refuse(op, "a constant tensor inside of a kernel"), std::nullopt;
    }
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      return mask(pad, box, type);
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return sliceOf(slice, box);
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      return reshape(op, expand.getSrc(), expand.getReassociationIndices(), shapeOf(value), box, type, true);
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
      return reshape(op, collapse.getSrc(), collapse.getReassociationIndices(), shapeOf(collapse.getSrc()), box, type, false);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return compute(linalgOp, cast<OpResult>(value).getResultNumber(), box);
    return refuse(op, "there is no way to compute a part of " + op->getName().getStringRef()), std::nullopt;
  }

  // The loops that compute a box of one result, and the operands that they read.
  std::optional<Tile> compute(linalg::LinalgOp op, unsigned result, const Box &box) {
    Box loops;
    loops.sizes = op.getStaticLoopRanges();
    loops.offsets.assign(loops.sizes.size(), constant(0));
    AffineMap resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
    for (auto [i, expr] : llvm::enumerate(resultMap.getResults())) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        loops.offsets[dim.getPosition()] = box.offsets[i];
        loops.sizes[dim.getPosition()] = box.sizes[i];
      } else if (!isa<AffineConstantExpr>(expr)) {
        return refuse(op, "its result is not indexed by its loops"), std::nullopt;
      }
    }
    bool reduced = plan.choice.reducedOp == op;
    if (reduced) {
      loops.offsets[plan.choice.reducedLoop] = getAffineDimExpr(reductionAxis, context) * plan.choice.reducedChunk;
      loops.sizes[plan.choice.reducedLoop] = plan.choice.reducedChunk;
    }
    if (auto known = find(Node::Kind::Compute, op, loops))
      return Tile(known->first, result);
    if (reduced && llvm::any_of(plan.nodes, [&](Node &node) { return node.op == op && node.kind == Node::Kind::Compute; }))
      return refuse(op, "its reduction is tiled and two different tiles of it are needed"), std::nullopt;
    Node node{Node::Kind::Compute, op, loops, {}, {}, {}, {}, reduced || box.dependsOn(reductionAxis)};
    if (bool reads = op->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); }).wasInterrupted(); reads)
      return refuse(op, "it reads elements of a tensor by computed indices"), std::nullopt;
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (!isa<RankedTensorType>(operand.get().getType())) {
        node.operands.push_back({-1, 0});
        node.maps.push_back(map);
        continue;
      }
      Box needed;
      SmallVector<AffineExpr> indices;
      for (AffineExpr expr : map.getResults()) {
        std::optional<Touched> part = touched(expr, loops);
        if (!part)
          return refuse(op, "an index is neither affine nor constant within a tile"), std::nullopt;
        needed.offsets.push_back(part->offset);
        needed.sizes.push_back(part->size);
        indices.push_back(part->index);
      }
      node.maps.push_back(AffineMap::get(map.getNumDims(), 0, indices, context));
      std::optional<Tile> tile;
      if (!op.payloadUsesValueFromOperand(&operand)) {
        auto type = RankedTensorType::get(needed.sizes, getElementTypeOrSelf(operand.get()));
        tile = add({Node::Kind::Empty, nullptr, needed, {}, type, {}, {}, needed.dependsOn(reductionAxis)});
      } else {
        tile = demand(operand.get(), needed);
      }
      if (!tile)
        return std::nullopt;
      if (op.isDpsInit(&operand) && !node.type)
        node.type = RankedTensorType::get(needed.sizes, getElementTypeOrSelf(operand.get()));
      node.operands.push_back(*tile);
    }
    return Tile(add(std::move(node)).first, result);
  }

  // A pad of something that is computed: its tile, and the padding value where the tile hangs over.
  std::optional<Tile> mask(tensor::PadOp op, const Box &box, RankedTensorType type) {
    if (auto known = find(Node::Kind::Mask, op, box))
      return known;
    if (!op.getConstantPaddingValue())
      return refuse(op, "its padding is not a constant"), std::nullopt;
    Box inner = box;
    bool within = true;
    for (size_t dim = 0; dim < box.rank(); ++dim) {
      inner.offsets[dim] = simplified(box.offsets[dim] - op.getStaticLow()[dim]);
      std::optional<Interval> range = rangeOf(inner.offsets[dim], plan.ranges());
      within &= range && range->low >= 0 && range->high + box.sizes[dim] <= shapeOf(op.getSource())[dim];
    }
    std::optional<Tile> source = demand(op.getSource(), inner);
    if (!source || within)
      return source;
    return add({Node::Kind::Mask, op, box, {}, type, {*source}, {}, box.dependsOn(reductionAxis)});
  }

  std::optional<Tile> sliceOf(tensor::ExtractSliceOp op, const Box &box) {
    if (op.getSourceType().getRank() != op.getType().getRank() || llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic) ||
        llvm::any_of(op.getStaticStrides(), [](int64_t s) { return s != 1; }))
      return refuse(op, "a slice with steps, or of lower rank, of something that is computed"), std::nullopt;
    Box source = box;
    for (auto [offset, shift] : llvm::zip(source.offsets, op.getStaticOffsets()))
      offset = simplified(offset + shift);
    return demand(op.getSource(), source);
  }

  // A tile of a reshaped value is a reshaped tile where, in each group of dimensions, it is a run of whole rows.
  std::optional<Tile> reshape(Operation *op, Value source, ArrayRef<ReassociationIndices> groups, ArrayRef<int64_t> wide, const Box &box,
                              RankedTensorType type, bool expands) {
    if (auto known = find(Node::Kind::Reshape, op, box))
      return known;
    Box needed;
    for (auto [i, group] : llvm::enumerate(groups)) {
      if (!(expands ? narrowBox(group, wide, box, needed) : wideBox(group, wide, box.offsets[i], box.sizes[i], needed)))
        return refuse(op, "a tile of it is not a run of whole rows"), std::nullopt;
    }
    std::optional<Tile> tile = demand(source, needed);
    if (!tile)
      return std::nullopt;
    return add({Node::Kind::Reshape, op, box, {}, type, {*tile}, {}, box.dependsOn(reductionAxis)});
  }

  // (offset, size) of the collapsed dimension → boxes of its parts.
  bool wideBox(ArrayRef<int64_t> group, ArrayRef<int64_t> wide, AffineExpr offset, int64_t size, Box &needed) {
    int64_t inner = 1;
    for (int64_t dim : group)
      inner *= wide[dim];
    for (int64_t dim : group) {
      inner /= wide[dim];
      AffineExpr quotient = simplified(offset.floorDiv(inner)), rest = simplified(offset - quotient * inner);
      if (size % inner == 0 && rest == constant(0)) {
        needed.offsets.push_back(quotient);
        needed.sizes.push_back(size / inner);
        offset = constant(0), size = inner;
      } else if (std::optional<Interval> range = rangeOf(offset, plan.ranges()); range && range->low >= 0 && range->high + size <= inner) {
        needed.offsets.push_back(constant(0));
        needed.sizes.push_back(1);
      } else {
        return false;
      }
    }
    return true;
  }

  // Boxes of the parts → (offset, size) of the collapsed dimension.
  bool narrowBox(ArrayRef<int64_t> group, ArrayRef<int64_t> wide, const Box &box, Box &needed) {
    AffineExpr offset = constant(0);
    int64_t size = 1;
    for (int64_t dim : group) {
      if (size > 1 && (box.sizes[dim] != wide[dim] || box.offsets[dim] != constant(0)))
        return false;
      offset = offset * wide[dim] + box.offsets[dim];
      size = size * box.sizes[dim];
    }
    needed.offsets.push_back(simplified(offset));
    needed.sizes.push_back(size);
    return true;
  }

  func::FuncOp kernel;
  Plan &plan;
  MLIRContext *context;
};

} // namespace

SmallVector<Interval> Plan::ranges() const { return {{0, grid[0] - 1}, {0, grid[1] - 1}, {0, grid[2] - 1}, {0, trips - 1}}; }

static void markPieces(Value value, Domain &domain, ArrayRef<int64_t> whole) {
  Operation *op = value.getDefiningOp();
  SmallVector<Value> pieces;
  if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op))
    pieces.append(concat.getInputs().begin(), concat.getInputs().end());
  else if (auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(op))
    pieces = {insert.getSource(), insert.getDest()};
  for (Value piece : pieces) {
    for (size_t dim = 0; dim < domain.extents.size(); ++dim)
      if (dim >= shapeOf(piece).size() || shapeOf(piece)[dim] != whole[dim])
        domain.tileable[dim] = false;
    markPieces(piece, domain, whole);
  }
}

Domain domainOf(func::FuncOp kernel) {
  Domain domain;
  Operation *end = kernel.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(end->getOperands())) {
    ArrayRef<int64_t> shape = shapeOf(result);
    if (i == 0)
      domain.extents = SmallVector<int64_t>(shape);
    size_t common = 0;
    while (common < std::min(shape.size(), domain.extents.size()) && shape[common] == domain.extents[common])
      ++common;
    domain.extents.truncate(common);
  }
  domain.tileable.assign(domain.extents.size(), true);
  for (Value result : end->getOperands())
    markPieces(result, domain, shapeOf(result));
  return domain;
}

bool makePlan(func::FuncOp kernel, const Choice &choice, Plan &plan) {
  plan.choice = choice;
  return Planner(kernel, plan).run();
}

bool isTensorWork(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumDpsInputs() != 2 || linalgOp.getNumDpsInits() != 1)
    return false;
  for (OpOperand *input : linalgOp.getDpsInputOperands()) {
    Type element = getElementTypeOrSelf(input->get());
    if (!linalgOp.payloadUsesValueFromOperand(input) || element.getIntOrFloatBitWidth() > 16)
      return false;
  }
  if (linalg::isaContractionOpInterface(linalgOp))
    return true;
  if (!linalg::isaConvolutionOpInterface(linalgOp))
    return false;
  FailureOr<linalg::ConvolutionDimensions> dims = linalg::inferConvolutionDims(linalgOp);
  return succeeded(dims) && !dims->outputChannel.empty() && !dims->inputChannel.empty();
}

} // namespace dougong
