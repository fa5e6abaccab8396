// Kernels with as few dimensions as they can have (see Normalize.h).
#include "compiler/tile/Normalize.h"

using namespace mlir;

namespace dougong {
namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

bool isPointwise(linalg::Conv2DNhwcHwcfOp conv) {
  ArrayRef<int64_t> window = shapeOf(conv.getInputs()[1]);
  auto ones = [](DenseIntElementsAttr each) { return llvm::all_of(each.getValues<int64_t>(), [](int64_t v) { return v == 1; }); };
  return window[0] == 1 && window[1] == 1 && ones(conv.getStrides());
}

// Dimensions are loops, or constants of a dimension of extent one; and the body does not ask where it is.
bool isPlain(linalg::GenericOp op) {
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
  return !op.hasIndexSemantics() && !op->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool becomesGeneric(Operation &op) {
  if (auto conv = dyn_cast<linalg::Conv2DNhwcHwcfOp>(op))
    return isPointwise(conv);
  return isa<linalg::MatmulOp, linalg::BatchMatmulOp>(op);
}

bool isSplat(Operation &op) {
  DenseElementsAttr elements;
  return op.hasTrait<OpTrait::ConstantLike>() &&
         (!isa<TensorType>(op.getResult(0).getType()) || (matchPattern(op.getResult(0), m_Constant(&elements)) && elements.isSplat()));
}

class Normalizer {
public:
  explicit Normalizer(func::FuncOp kernel) : kernel(kernel), body(kernel.getBody().front()), rewriter(kernel.getContext()) {}

  void run() {
    for (Operation &op : body) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!(generic && isPlain(generic)) && !becomesGeneric(op) && !isSplat(op) &&
          !isa<tensor::EmptyOp, linalg::FillOp, func::ReturnOp>(op))
        return;
    }
    for (Operation &op : llvm::make_early_inc_range(body))
      if (becomesGeneric(op)) {
        rewriter.setInsertionPoint(&op);
        if (FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op)); succeeded(generic))
          dropWindow(*generic);
      }
    auto visit = [&](Value value) {
      if (isa<RankedTensorType>(value.getType()))
        values.push_back(value);
    };
    llvm::for_each(body.getArguments(), visit);
    for (Operation &op : body)
      llvm::for_each(op.getResults(), visit);
    dropUnits();
    joinNeighbours();
    retype();
    for (Operation &op : llvm::make_early_inc_range(body))
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        nameMatmul(generic);
  }

private:
  // (d1 + d4) with d4 of extent one → d1.
  void dropWindow(linalg::GenericOp op) {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    SmallVector<AffineExpr> loops;
    for (auto [i, range] : llvm::enumerate(ranges))
      loops.push_back(range == 1 ? rewriter.getAffineConstantExpr(0) : rewriter.getAffineDimExpr(i));
    SmallVector<AffineMap> maps;
    for (AffineMap map : op.getIndexingMapsArray()) {
      SmallVector<AffineExpr> results;
      for (AffineExpr expr : map.getResults())
        results.push_back(isa<AffineDimExpr>(expr) ? expr : expr.replaceDims(loops));
      maps.push_back(AffineMap::get(map.getNumDims(), 0, results, rewriter.getContext()));
    }
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  }

  // kept[v]: the dimensions of v that are not of extent one; a value of nothing but ones keeps its last.
  void dropUnits() {
    for (Value value : values) {
      SmallVector<unsigned> &dims = kept[value];
      for (auto [dim, extent] : llvm::enumerate(shapeOf(value)))
        if (extent != 1)
          dims.push_back(dim);
      if (dims.empty() && !shapeOf(value).empty())
        dims.push_back(shapeOf(value).size() - 1);
    }
  }

  // The loop of a kept dimension of an operand, or none where it is a constant.
  static std::optional<unsigned> loopAt(AffineMap map, unsigned dim) {
    auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
    return loop ? std::optional<unsigned>(loop.getPosition()) : std::nullopt;
  }

  // joined[v][p]: kept dimension p of v and the next are one. Starts with all, and takes back what some operation contradicts.
  void joinNeighbours() {
    for (Value value : values)
      joined[value].assign(kept[value].size(), true);
    for (bool changed = true; changed;) {
      changed = false;
      for (auto op : body.getOps<linalg::GenericOp>())
        for (OpOperand &operand : op->getOpOperands()) {
          if (!isa<RankedTensorType>(operand.get().getType()))
            continue;
          AffineMap map = op.getMatchingIndexingMap(&operand);
          ArrayRef<unsigned> dims = kept[operand.get()];
          for (size_t p = 0; p + 1 < dims.size(); ++p)
            if (joined[operand.get()][p] && !walkTogether(op, loopAt(map, dims[p]), loopAt(map, dims[p + 1])))
              joined[operand.get()][p] = false, changed = true;
        }
      for (auto op : body.getOps<linalg::GenericOp>())
        for (auto [init, result] : llvm::zip(op.getDpsInits(), op.getResults()))
          changed |= agree(init, result);
      for (auto op : body.getOps<linalg::FillOp>())
        changed |= agree(op.getOutputs()[0], op.getResult(0));
    }
  }

  bool agree(Value a, Value b) {
    bool changed = false;
    for (auto [x, y] : llvm::zip(joined[a], joined[b]))
      if (x != y)
        x = y = false, changed = true;
    return changed;
  }

  // Are loops a and b of one kind, and neighbours that may be one, or both absent, in every operand?
  bool walkTogether(linalg::GenericOp op, std::optional<unsigned> a, std::optional<unsigned> b) {
    if (!a || !b || op.getIteratorTypesArray()[*a] != op.getIteratorTypesArray()[*b])
      return false;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      ArrayRef<unsigned> dims = kept[operand.get()];
      std::optional<size_t> atA, atB;
      for (size_t p = 0; p < dims.size(); ++p) {
        if (loopAt(map, dims[p]) == a)
          atA = p;
        if (loopAt(map, dims[p]) == b)
          atB = p;
      }
      if (!atA && !atB)
        continue;
      if (!atA || !atB || *atB != *atA + 1 || !joined[operand.get()][*atA])
        return false;
    }
    return true;
  }

  // The groups of dimensions of a value that become one each.
  SmallVector<SmallVector<unsigned>> groups(Value value) {
    SmallVector<SmallVector<unsigned>> result;
    for (auto [p, dim] : llvm::enumerate(kept[value])) {
      if (p == 0 || !joined[value][p - 1])
        result.emplace_back();
      result.back().push_back(dim);
    }
    return result;
  }

  void retype() {
    DenseMap<Value, Type> types;
    for (Value value : values) {
      SmallVector<int64_t> shape;
      for (ArrayRef<unsigned> group : groups(value)) {
        shape.push_back(1);
        for (unsigned dim : group)
          shape.back() *= shapeOf(value)[dim];
      }
      types[value] = RankedTensorType::get(shape, getElementTypeOrSelf(value));
    }
    for (auto op : body.getOps<linalg::GenericOp>())
      remap(op);
    for (Value value : values) {
      if (auto constant = value.getDefiningOp<arith::ConstantOp>())
        constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(cast<ShapedType>(types[value])));
      value.setType(cast<RankedTensorType>(types[value]));
    }
    kernel.setFunctionType(rewriter.getFunctionType(body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  }

  // New loops: the first of each group of old ones that some operand has, in the order of the old.
  void remap(linalg::GenericOp op) {
    unsigned loops = op.getNumLoops();
    llvm::SmallBitVector heads(loops);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<SmallVector<std::optional<unsigned>>> results;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    for (OpOperand &operand : op->getOpOperands()) {
      auto &heading = results.emplace_back();
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      for (ArrayRef<unsigned> group : groups(operand.get())) {
        std::optional<unsigned> loop = loopAt(maps[operand.getOperandNumber()], group.front());
        // A dropped loop survives only where a result of nothing but ones needs it.
        if (loop && ranges[*loop] == 1 && op.isDpsInput(&operand))
          loop.reset();
        if (loop)
          heads.set(*loop);
        heading.push_back(loop);
      }
    }
    SmallVector<utils::IteratorType> iterators;
    SmallVector<unsigned> position(loops);
    for (unsigned loop : heads.set_bits()) {
      position[loop] = iterators.size();
      iterators.push_back(op.getIteratorTypesArray()[loop]);
    }
    for (auto [map, heading] : llvm::zip(maps, results)) {
      SmallVector<AffineExpr> exprs;
      for (std::optional<unsigned> loop : heading)
        exprs.push_back(loop ? rewriter.getAffineDimExpr(position[*loop]) : rewriter.getAffineConstantExpr(0));
      map = AffineMap::get(iterators.size(), 0, exprs, rewriter.getContext());
    }
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    SmallVector<Attribute> kinds;
    for (utils::IteratorType each : iterators)
      kinds.push_back(linalg::IteratorTypeAttr::get(rewriter.getContext(), each));
    op.setIteratorTypesAttr(rewriter.getArrayAttr(kinds));
  }

  // A contraction of two matrices, plain or in batches, gets its name back.
  void nameMatmul(linalg::GenericOp op) {
    if (!linalg::isaContractionOpInterface(op))
      return;
    AffineExpr d0, d1, d2, d3;
    bindDims(rewriter.getContext(), d0, d1, d2, d3);
    auto has = [&](ArrayRef<AffineExpr> a, ArrayRef<AffineExpr> b, ArrayRef<AffineExpr> c) {
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      return maps[0].getResults() == a && maps[1].getResults() == b && maps[2].getResults() == c;
    };
    rewriter.setInsertionPoint(op);
    ValueRange inputs = op.getInputs(), inits = op.getOutputs();
    TypeRange types = op->getResultTypes();
    if (op.getNumLoops() == 3 && has({d0, d2}, {d2, d1}, {d0, d1}))
      rewriter.replaceOp(op, linalg::MatmulOp::create(rewriter, op.getLoc(), types, inputs, inits));
    else if (op.getNumLoops() == 4 && has({d0, d1, d3}, {d0, d3, d2}, {d0, d1, d2}))
      rewriter.replaceOp(op, linalg::BatchMatmulOp::create(rewriter, op.getLoc(), types, inputs, inits));
  }

  func::FuncOp kernel;
  Block &body;
  IRRewriter rewriter;
  SmallVector<Value> values;
  DenseMap<Value, SmallVector<unsigned>> kept;
  DenseMap<Value, SmallVector<bool>> joined;
};

} // namespace

void normalize(func::FuncOp kernel) { Normalizer(kernel).run(); }

} // namespace dougong
