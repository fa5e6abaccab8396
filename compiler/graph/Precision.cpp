// usePrecision (see graph.h): what passes between kernels is stored in 16 bits, what is computed is computed in f32.
//
//   %1 = conv(%x : f32, %w : f32) -> f32                    %x' = truncf %x            (a boundary of the model)
//   %2 = generic (%1, %b : f32) -> f32 { add; max }    →    %1 = conv(%x' : f16, %w : f16) -> f32
//   %3 = conv(%2, …)                                        %2 = generic (%1, %b : f32) -> f16 { add; max; truncf }
//
// @main is rebuilt operation by operation in place. Of each f32 tensor there are up to two versions, wide (f32) and narrow, and the
// one that is missing is made when somebody asks for it.
#include "compiler/graph/Arithmetic.h"
#include "compiler/graph/Conversions.h"
#include "compiler/graph/Elementwise.h"
#include "compiler/graph/Groups.h"
#include "compiler/graph/graph.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dougong {
namespace {

bool isWide(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isF32();
}

bool isContraction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumDpsInits() != 1)
    return false;
  if (linalg::isaContractionOpInterface(linalgOp))
    return true;
  // A convolution multiplies its two inputs; pooling has the second for its shape only.
  return linalg::isaConvolutionOpInterface(linalgOp) && linalgOp.payloadUsesValueFromOperand(linalgOp.getDpsInputOperand(1));
}

// A vector stays in f32, like a bias; all else, and what a contraction reads, becomes narrow.
bool becomesNarrow(BlockArgument weight) {
  if (llvm::count_if(cast<RankedTensorType>(weight.getType()).getShape(), [](int64_t n) { return n != 1; }) > 1)
    return true;
  return llvm::any_of(weight.getUsers(), isContraction);
}

// A single number stays in f32: it costs nothing, and a whole tensor may be scaled by it (DynamicQuantizeLinear).
bool isNumber(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements() == 1; }

class Rewriter {
public:
  Rewriter(func::FuncOp main, FloatType storage)
      : main(main), narrowType(storage), wideType(Float32Type::get(main.getContext())), builder(main.getContext()), groups(main) {}

  void run() {
    Block &body = main.getBody().front();
    for (BlockArgument argument : body.getArguments()) {
      if (!isWide(argument.getType()))
        continue;
      bool weight = main.getArgAttr(argument.getArgNumber(), weightAttribute) != nullptr;
      if (weight && becomesNarrow(argument)) {
        argument.setType(withElement(argument, narrowType));
        narrow[argument] = argument;
        narrowWeights.insert(argument);
      } else {
        wide[argument] = argument;
        if (weight)
          vectors.insert(argument);
      }
    }
    SmallVector<Operation *> operations;
    for (Operation &op : body)
      operations.push_back(&op);
    for (Operation *op : operations) {
      builder.setInsertionPoint(op);
      convert(op);
    }
    for (Operation *op : llvm::reverse(operations))
      if (op->use_empty() && !op->hasTrait<OpTrait::IsTerminator>())
        op->erase();
    main.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  }

private:
  RankedTensorType withElement(Value value, Type element) {
    return RankedTensorType::get(cast<RankedTensorType>(value.getType()).getShape(), element);
  }

  // Was the value an f32 tensor in the model?
  bool wasWide(Value value) { return isWide(value.getType()) || narrowWeights.contains(value); }

  Value version(Value value, bool wantNarrow) {
    if (!wasWide(value))
      return others.lookupOrDefault(value);
    DenseMap<Value, Value> &wanted = wantNarrow ? narrow : wide, &present = wantNarrow ? wide : narrow;
    Value &result = wanted[value];
    if (!result)
      result = cast(present.lookup(value), wantNarrow ? Type(narrowType) : Type(wideType));
    return result;
  }

  Value castScalar(OpBuilder &at, Location loc, Value scalar, Type to) {
    if (scalar.getType() == to)
      return scalar;
    if (scalar.getType().getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
      return at.createOrFold<arith::ExtFOp>(loc, to, scalar);
    return at.createOrFold<arith::TruncFOp>(loc, to, scalar);
  }

  Value cast(Value value, Type to) {
    Location loc = value.getLoc();
    RankedTensorType type = withElement(value, to);
    Operation *producer = value.getDefiningOp();
    if (isa_and_nonnull<tensor::EmptyOp>(producer))
      return tensor::EmptyOp::create(builder, loc, type.getShape(), to);
    if (auto fill = dyn_cast_or_null<linalg::FillOp>(producer)) {
      Value scalar = castScalar(builder, loc, fill.getInputs()[0], to);
      Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), to);
      return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
    }
    AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> parallel(type.getRank(), utils::IteratorType::parallel);
    Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), to);
    return linalg::GenericOp::create(
               builder, loc, type, value, empty, ArrayRef{identity, identity}, parallel,
               [&](OpBuilder &at, Location loc, ValueRange args) { linalg::YieldOp::create(at, loc, castScalar(at, loc, args[0], to)); })
        .getResult(0);
  }

  // The version a body reads: within a kernel what was computed, between kernels what is stored. A body extends for itself.
  Value asStored(Value value, int group) {
    if (!wasWide(value))
      return others.lookupOrDefault(value);
    Operation *producer = value.getDefiningOp();
    bool inside = producer && group != Groups::none && groups.groupOf(producer) == group;
    Value stored = narrow.lookup(value), computed = wide.lookup(value);
    if (computed && (inside || !stored)) {
      // A result that another kernel reads goes there as narrow.
      bool stays = inside || isNumber(value) || !producer || groups.groupOf(producer) == Groups::none;
      return stays ? computed : version(value, true);
    }
    return stored;
  }

  // Does a value leave its kernel only as a result of the model, whose type stays?
  bool isOnlyReturned(Value value, int group) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
        return isOnlyReturned(user->getResult(0), Groups::none);
      return user->hasTrait<OpTrait::IsTerminator>() ? user->getParentOp() == main : group != Groups::none && groups.groupOf(user) == group;
    });
  }

  void define(Value old, Value now) {
    if (!isWide(old.getType()))
      others.map(old, now);
    else if (isWide(now.getType()))
      wide[old] = now;
    else
      narrow[old] = now;
  }

  void convert(Operation *op) {
    if (isa<tensor::EmptyOp, linalg::FillOp>(op) || op->hasTrait<OpTrait::ConstantLike>()) {
      for (Value result : op->getResults())
        define(result, result);
    } else if (isContraction(op) && !isa<linalg::GenericOp>(op)) {
      convertNamed(op, /*narrowResult=*/false);
    } else if (isa<linalg::PoolingNhwcMaxOp, linalg::PoolingNhwcMinOp, linalg::PoolingNchwMaxOp>(op)) {
      convertNamed(op, /*narrowResult=*/true);
    } else if (isa<linalg::PoolingNhwcSumOp, linalg::PoolingNchwSumOp>(op)) {
      convertNamed(op, /*narrowResult=*/false);
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      convertGeneric(generic);
    } else if (isa<tensor::PadOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp, tensor::ExpandShapeOp,
                   tensor::CollapseShapeOp>(op)) {
      convertMovement(op);
    } else {
      convertOther(op);
    }
  }

  // The same named operation on other element types: its body is built anew.
  void convertNamed(Operation *op, bool narrowResult) {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(version(operand.get(), linalgOp.isDpsInput(&operand) || narrowResult));
    OperationState state(op->getLoc(), op->getName(), operands, linalgOp.getDpsInits().getTypes(), op->getAttrs());
    state.types = {operands.back().getType()};
    state.addRegion();
    Operation *now = builder.create(state);
    Block &block = now->getRegion(0).emplaceBlock();
    for (Value operand : operands)
      block.addArgument(getElementTypeOrSelf(operand), op->getLoc());
    ImplicitLocOpBuilder body(op->getLoc(), OpBuilder::atBlockBegin(&block));
    linalgOp.getRegionBuilder()(body, block, op->getAttrs(), [&] { return op->emitError(); });
    define(op->getResult(0), now->getResult(0));
  }

  void convertGeneric(linalg::GenericOp op) {
    int group = groups.groupOf(op);
    bool reduction = op.getNumReductionLoops() > 0, contraction = isContraction(op);
    SmallVector<Value> inputs, inits;
    for (Value input : op.getDpsInputs())
      inputs.push_back(contraction ? version(input, true) : asStored(input, group));
    for (OpOperand &init : op.getDpsInitsMutable()) {
      Value result = op.getTiedOpResult(&init);
      bool toNarrow = isWide(result.getType()) && !isNumber(result) && !reduction && !op.payloadUsesValueFromOperand(&init) &&
                      ((groups.crosses(result) && !isOnlyReturned(result, group)) || (isMovement(op) && !isWide(inputs.front().getType())));
      inits.push_back(version(init.get(), toNarrow));
    }
    auto now = linalg::GenericOp::create(builder, op.getLoc(), ValueRange(inits).getTypes(), inputs, inits, op.getIndexingMapsArray(),
                                         op.getIteratorTypesArray());
    Block &block = now.getRegion().emplaceBlock();
    IRMapping mapping = others;
    OpBuilder body = OpBuilder::atBlockBegin(&block);
    for (auto [argument, operand] : llvm::zip(op.getBody()->getArguments(), now->getOperands()))
      mapping.map(argument,
                  castScalar(body, op.getLoc(), block.addArgument(getElementTypeOrSelf(operand), argument.getLoc()), argument.getType()));
    captureWide(op, mapping);
    for (Operation &each : op.getBody()->without_terminator())
      body.clone(each, mapping);
    SmallVector<Value> results;
    for (auto [value, init] : llvm::zip(op.getBody()->getTerminator()->getOperands(), inits)) {
      Value scalar = mapping.lookupOrDefault(value);
      Type element = getElementTypeOrSelf(init);
      results.push_back(isa<FloatType>(element) ? castScalar(body, op.getLoc(), scalar, element) : scalar);
    }
    linalg::YieldOp::create(body, op.getLoc(), results);
    for (auto [old, result] : llvm::zip(op.getResults(), now.getResults()))
      define(old, result);
  }

  // Pads, slices, concatenations, reshapes: as their operand is stored. A vector (a bias, reshaped) stays wide.
  void convertMovement(Operation *op) {
    bool toNarrow = isWide(op->getResult(0).getType()) && llvm::none_of(op->getOperands(), [&](Value v) { return vectors.contains(v); });
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) && !narrow.lookup(op->getOperand(0)))
      toNarrow &= !isOnlyReturned(op->getResult(0), Groups::none);
    IRMapping mapping = others;
    for (Value operand : op->getOperands())
      if (wasWide(operand))
        mapping.map(operand, version(operand, toNarrow));
    captureWide(op, mapping);
    Operation *now = builder.clone(*op, mapping);
    Value result = now->getResult(0);
    if (toNarrow)
      result.setType(withElement(result, narrowType));
    else if (isWide(result.getType()))
      vectors.insert(op->getResult(0));
    if (auto pad = dyn_cast<tensor::PadOp>(now); pad && toNarrow) {
      Operation *yield = pad.getBody()->getTerminator();
      OpBuilder at(yield);
      yield->setOperand(0, castScalar(at, pad.getLoc(), yield->getOperand(0), narrowType));
    }
    define(op->getResult(0), result);
  }

  void convertOther(Operation *op) {
    IRMapping mapping = others;
    for (Value operand : op->getOperands())
      mapping.map(operand, version(operand, false));
    captureWide(op, mapping);
    if (op->hasTrait<OpTrait::IsTerminator>()) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(mapping.lookup(operand.get()));
      return;
    }
    Operation *now = builder.clone(*op, mapping);
    for (auto [old, result] : llvm::zip(op->getResults(), now->getResults()))
      define(old, result);
  }

  // Tensors that a body reads from outside.
  void captureWide(Operation *op, IRMapping &mapping) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured)
      if (wasWide(value))
        mapping.map(value, version(value, false));
  }

  func::FuncOp main;
  FloatType narrowType, wideType;
  OpBuilder builder;
  Groups groups;
  DenseMap<Value, Value> wide, narrow; // versions of what was an f32 tensor
  IRMapping others;                    // everything else that was rebuilt
  llvm::DenseSet<Value> narrowWeights, vectors;
};

} // namespace

LogicalResult usePrecision(func::FuncOp main, FloatType storage) {
  if (!main.getBody().hasOneBlock())
    return main.emitError("a model's function needs one block");
  if (failed(fuseElementwise(main)))
    return failure();
  Rewriter(main, storage).run();
  if (failed(fuseElementwise(main))) // the conversions at the boundaries join their neighbours
    return failure();
  // Where a narrowing met a widening in one body, nothing is stored in between.
  main.walk([&](arith::ExtFOp op) {
    auto truncation = op.getIn().getDefiningOp<arith::TruncFOp>();
    if (truncation && truncation.getIn().getType() == op.getType() && truncation.getType() == storage)
      op.replaceAllUsesWith(truncation.getIn());
  });
  simplifyArithmetic(main);
  convertInConvolutions(main);
  return success();
}

} // namespace dougong
