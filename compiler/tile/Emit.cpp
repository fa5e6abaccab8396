// A plan, written as a function in tile form: nodes become loads and operations on tiles, in order; stores come last.
#include "compiler/tile/Emit.h"
#include "compiler/dialect/Dg.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dougong {
namespace {

class Emitter {
public:
  Emitter(func::FuncOp kernel, const Plan &plan) : kernel(kernel), plan(plan), builder(kernel), loc(kernel.getLoc()) {}

  func::FuncOp run() {
    SmallVector<Type> types;
    for (Type type : kernel.getArgumentTypes())
      types.push_back(memory(type));
    for (Type type : kernel.getResultTypes())
      types.push_back(memory(type));
    auto tiled = func::FuncOp::create(builder, loc, kernel.getName(), builder.getFunctionType(types, {}));
    tiled->setDiscardableAttrs(llvm::to_vector(kernel->getDiscardableAttrs()));
    tiled->setAttr("dg.grid", builder.getDenseI64ArrayAttr(plan.grid));
    tiled.setVisibility(kernel.getVisibility());
    entry = tiled.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    for (unsigned axis = 0; axis < programAxes; ++axis)
      ids[axis] = plan.grid[axis] > 1 ? Value(dg::ProgramIdOp::create(builder, loc, builder.getIndexType(), axis)) : index(0);
    results.resize(plan.nodes.size());
    for (size_t i = 0; i < plan.nodes.size(); ++i) {
      if (plan.nodes[i].op && plan.nodes[i].op == plan.choice.reducedOp)
        reductionLoop(i);
      else if (!plan.nodes[i].reduced)
        node(i);
    }
    for (const Store &store : plan.stores)
      emitStore(store);
    func::ReturnOp::create(builder, loc);
    kernel.erase();
    return tiled;
  }

private:
  static Type memory(Type tensor) { return MemRefType::get({ShapedType::kDynamic}, getElementTypeOrSelf(tensor)); }

  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }

  Value index(AffineExpr expr) { return affine::expandAffineExpr(builder, loc, expr, ids, {}); }

  // A scalar of the kernel's body, and what it is computed from.
  Value scalar(Value value) {
    if (Value known = scalars.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      scalar(operand);
    OpBuilder::InsertionGuard guard(builder);
    if (op->hasTrait<OpTrait::ConstantLike>())
      builder.setInsertionPointToStart(entry);
    builder.clone(*op, scalars);
    return scalars.lookup(value);
  }

  Value tile(std::pair<int, unsigned> operand) { return results[operand.first][operand.second]; }

  void node(size_t i) {
    const Node &node = plan.nodes[i];
    if (node.op)
      loc = node.op->getLoc();
    switch (node.kind) {
    case Node::Kind::Load:
      results[i] = {load(node)};
      break;
    case Node::Kind::Compute:
      results[i] = compute(node);
      break;
    case Node::Kind::Empty:
      results[i] = {tensor::EmptyOp::create(builder, loc, node.type.getShape(), node.type.getElementType())};
      break;
    case Node::Kind::Constant: {
      DenseElementsAttr elements;
      matchPattern(node.op->getResult(0), m_Constant(&elements));
      results[i] = {arith::ConstantOp::create(builder, loc, node.type, elements.resizeSplat(node.type))};
      break;
    }
    case Node::Kind::Mask:
      results[i] = {mask(node)};
      break;
    case Node::Kind::Reshape: {
      Value source = tile(node.operands[0]);
      if (auto expand = dyn_cast<tensor::ExpandShapeOp>(node.op))
        results[i] = {tensor::ExpandShapeOp::create(builder, loc, node.type, source, expand.getReassociationIndices())};
      else
        results[i] = {tensor::CollapseShapeOp::create(builder, loc, node.type, source,
                                                      cast<tensor::CollapseShapeOp>(node.op).getReassociationIndices())};
      break;
    }
    }
  }

  // Bounds of an access, in the tile's own indices, if the tile can hang over.
  void bounds(const Box &box, ArrayRef<int64_t> low, ArrayRef<int64_t> high, SmallVectorImpl<Value> &lower, SmallVectorImpl<Value> &upper) {
    bool hangs = false;
    for (size_t dim = 0; dim < box.rank(); ++dim) {
      Interval range = *rangeOf(box.offsets[dim], plan.ranges());
      hangs |= range.low < low[dim] || range.high + box.sizes[dim] > high[dim];
    }
    if (!hangs)
      return;
    for (size_t dim = 0; dim < box.rank(); ++dim) {
      Interval range = *rangeOf(box.offsets[dim], plan.ranges());
      lower.push_back(range.low >= low[dim] ? index(0) : index(low[dim] - box.offsets[dim]));
      upper.push_back(range.high + box.sizes[dim] <= high[dim] ? index(box.sizes[dim]) : index(high[dim] - box.offsets[dim]));
    }
  }

  Value load(const Node &node) {
    const View &view = node.view;
    AffineExpr offset = builder.getAffineConstantExpr(view.offset);
    SmallVector<Value> strides, lower, upper;
    for (auto [each, stride] : llvm::zip(node.box.offsets, view.strides)) {
      offset = offset + each * stride;
      strides.push_back(index(stride));
    }
    bounds(node.box, view.low, view.high, lower, upper);
    Value fill;
    if (view.fill && !lower.empty())
      fill = arith::ConstantOp::create(builder, loc, view.fill);
    Value base = entry->getArgument(view.argument);
    return dg::LoadOp::create(builder, loc, node.type, base, index(simplifyAffineExpr(offset, programAxes + 1, 0)), strides, lower, upper,
                              fill);
  }

  void emitStore(const Store &store) {
    loc = kernel.getBody().front().getTerminator()->getOperand(store.result).getLoc();
    AffineExpr offset = builder.getAffineConstantExpr(0);
    SmallVector<Value> strides, lower, upper;
    for (auto [each, shift, stride] : llvm::zip(store.box.offsets, store.shift, store.strides)) {
      offset = offset + (each + shift) * stride;
      strides.push_back(index(stride));
    }
    bounds(store.box, SmallVector<int64_t>(store.box.rank(), 0), store.extent, lower, upper);
    Value base = entry->getArgument(kernel.getNumArguments() + store.result);
    dg::StoreOp::create(builder, loc, tile(store.node), base, index(simplifyAffineExpr(offset, programAxes + 1, 0)), strides, lower, upper);
  }

  SmallVector<Value> compute(const Node &node) {
    auto op = cast<linalg::LinalgOp>(node.op);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      scalar(value);
    IRMapping mapping = scalars;
    SmallVector<Value> operands;
    for (auto [value, operand] : llvm::zip(op->getOperands(), node.operands))
      operands.push_back(operand.first < 0 ? scalar(value) : tile(operand));
    Operation *now = builder.clone(*op, mapping);
    now->setOperands(operands);
    auto tiled = cast<linalg::LinalgOp>(now);
    for (auto [result, init] : llvm::zip(now->getResults(), tiled.getDpsInits()))
      result.setType(init.getType());
    if (auto generic = dyn_cast<linalg::GenericOp>(now)) {
      generic.setIndexingMapsAttr(builder.getAffineMapArrayAttr(node.maps));
      shiftIndices(generic, node.box);
    }
    return llvm::to_vector_of<Value>(now->getResults());
  }

  // linalg.index counts from the tile's corner: what the body wants is the index in the whole.
  void shiftIndices(linalg::GenericOp op, const Box &loops) {
    SmallVector<linalg::IndexOp> indices(op.getBody()->getOps<linalg::IndexOp>());
    for (linalg::IndexOp each : indices) {
      AffineExpr offset = loops.offsets[each.getDim()];
      if (auto constant = dyn_cast<AffineConstantExpr>(offset); constant && constant.getValue() == 0)
        continue;
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(op);
      Value corner = index(offset);
      builder.setInsertionPointAfter(each);
      auto sum = arith::AddIOp::create(builder, each.getLoc(), each, corner);
      each->getResult(0).replaceAllUsesExcept(sum, sum);
    }
  }

  // %t = generic (%source) { within ? source : padding }
  Value mask(const Node &node) {
    auto pad = cast<tensor::PadOp>(node.op);
    Value padding = scalar(pad.getConstantPaddingValue()), source = tile(node.operands[0]);
    SmallVector<int64_t> low(pad.getStaticLow()), high;
    for (auto [size, shift] : llvm::zip(pad.getSourceType().getShape(), low))
      high.push_back(size + shift);
    SmallVector<Value> lower, upper;
    bounds(node.box, low, high, lower, upper);
    int64_t rank = node.type.getRank();
    Value empty = tensor::EmptyOp::create(builder, loc, node.type.getShape(), node.type.getElementType());
    AffineMap identity = builder.getMultiDimIdentityMap(rank);
    SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel);
    auto masked = linalg::GenericOp::create(
        builder, loc, node.type, source, empty, ArrayRef{identity, identity}, parallel, [&](OpBuilder &at, Location loc, ValueRange args) {
          Value within;
          auto both = [&](arith::CmpIPredicate predicate, Value i, Value bound) {
            Value test = arith::CmpIOp::create(at, loc, predicate, i, bound);
            within = within ? Value(arith::AndIOp::create(at, loc, within, test)) : test;
          };
          for (int64_t dim = 0; dim < rank; ++dim) {
            Value i = linalg::IndexOp::create(at, loc, dim);
            Interval range = *rangeOf(node.box.offsets[dim], plan.ranges());
            if (range.low < low[dim])
              both(arith::CmpIPredicate::sge, i, lower[dim]);
            if (range.high + node.box.sizes[dim] > high[dim])
              both(arith::CmpIPredicate::slt, i, upper[dim]);
          }
          linalg::YieldOp::create(at, loc, Value(arith::SelectOp::create(at, loc, within, args[0], padding)));
        });
    return masked.getResult(0);
  }

  // scf.for over the chunks of a reduction, with the accumulator's tile carried.
  void reductionLoop(size_t i) {
    const Node &reduction = plan.nodes[i];
    auto op = cast<linalg::LinalgOp>(reduction.op);
    loc = op.getLoc();
    SmallVector<Value> inits;
    for (OpOperand &init : op.getDpsInitsMutable())
      inits.push_back(tile(reduction.operands[init.getOperandNumber()]));
    Value first = index(0), last = index(plan.trips), step = index(1);
    auto loop = scf::ForOp::create(builder, loc, first, last, step, inits);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      ids[reductionAxis] = loop.getInductionVar();
      for (size_t inner = 0; inner < i; ++inner)
        if (plan.nodes[inner].reduced)
          node(inner);
      // Nodes of the accumulator stand for the carried values here.
      for (auto [init, carried] : llvm::zip(op.getDpsInitsMutable(), loop.getRegionIterArgs())) {
        auto [at, result] = reduction.operands[init.getOperandNumber()];
        results[at][result] = carried;
      }
      SmallVector<Value> sums = compute(reduction);
      scf::YieldOp::create(builder, loc, sums);
    }
    for (auto [init, value] : llvm::zip(op.getDpsInitsMutable(), inits)) {
      auto [at, result] = reduction.operands[init.getOperandNumber()];
      results[at][result] = value;
    }
    results[i] = llvm::to_vector_of<Value>(loop.getResults());
  }

  func::FuncOp kernel;
  const Plan &plan;
  OpBuilder builder;
  Location loc;
  Block *entry = nullptr;
  Value ids[programAxes + 1];
  IRMapping scalars;
  std::vector<SmallVector<Value>> results;
};

} // namespace

func::FuncOp emit(func::FuncOp kernel, const Plan &plan) { return Emitter(kernel, plan).run(); }

} // namespace dougong
