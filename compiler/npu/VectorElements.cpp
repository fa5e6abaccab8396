// Vector code: the body of an operation for one vector of lanes, or for several at once.
#include "compiler/npu/VectorCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dougong::npu {

//===-- Elements ----------------------------------------------------------===//

llvm::Value *VectorCode::dimension(unsigned dim, const Indices &at) {
  llvm::Value *sum = e.i64(0);
  for (auto [loop, factor] : nest.dimensions[dim])
    sum = b.CreateAdd(sum, b.CreateMul(at[loop], e.i64(factor)));
  return sum;
}

llvm::Value *VectorCode::pointer(int operand, const Indices &at, unsigned space) {
  bool isResult = operand >= int(operands.size());
  const Nest::Operand &walk = isResult ? resultNest[operand - operands.size()] : nest.operands[operand];
  llvm::Value *offset = e.i64(walk.offset);
  for (auto [l, stride] : llvm::enumerate(walk.strides))
    if (stride && !(!isResult && int(l) == vectorLoop && periods[operand]))
      offset = b.CreateAdd(offset, b.CreateMul(at[l], e.i64(stride)));
  if (!walk.linear)
    for (auto [expr, stride] : llvm::zip(walk.map.getResults(), walk.tileStrides)) {
      std::function<llvm::Value *(AffineExpr)> value = [&](AffineExpr part) -> llvm::Value * {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          return dimension(dim.getPosition(), at);
        if (auto constant = dyn_cast<AffineConstantExpr>(part))
          return e.i64(constant.getValue());
        auto binary = cast<AffineBinaryOpExpr>(part);
        llvm::Value *left = value(binary.getLHS()), *right = value(binary.getRHS());
        switch (binary.getKind()) {
        case AffineExprKind::Add:
          return b.CreateAdd(left, right);
        case AffineExprKind::Mul:
          return b.CreateMul(left, right);
        case AffineExprKind::Mod:
          return b.CreateSRem(left, right); // what is indexed is never negative
        case AffineExprKind::CeilDiv:
          return b.CreateSDiv(b.CreateAdd(left, b.CreateSub(right, e.i64(1))), right);
        default:
          return b.CreateSDiv(left, right);
        }
      };
      offset = b.CreateAdd(offset, b.CreateMul(value(expr), e.i64(stride)));
    }
  llvm::Value *base = isResult ? resultBase[operand - operands.size()] : operands[operand].base;
  return b.CreateGEP(b.getInt8Ty(), space ? b.CreateAddrSpaceCast(base, b.getPtrTy(space)) : base, offset);
}

llvm::Value *VectorCode::load(int index, const Indices &at, int lanes) {
  Operand &operand = operands[index];
  if (operand.splat)
    return operand.splat;
  const Nest::Operand &walk = nest.operands[index];
  bool vector = lanes > 1 && walk.strides[vectorLoop] != 0;
  llvm::Type *type = operand.element.isInteger(1) ? b.getInt8Ty() : elementType(operand.element, e.context);
  if (vector)
    type = llvm::FixedVectorType::get(type, lanes);
  // An element for all lanes says that it lies in LM: then one instruction loads and splats it.
  unsigned space = lanes > 1 && !vector ? 1 : 0;
  auto *value = b.CreateAlignedLoad(type, pointer(index, at, space), llvm::Align(elementBytes(operand.element)));
  accesses.push_back({value, operand.tile->buffer});
  if (vector && periods[index]) {
    SmallVector<int> lanesOfPeriod;
    for (int lane = 0; lane < lanes; ++lane)
      lanesOfPeriod.push_back(lane % periods[index]);
    llvm::Value *wide = operand.element.isFloat() && elementBytes(operand.element) == 2
                            ? b.CreateFPExt(value, llvm::FixedVectorType::get(b.getFloatTy(), lanes))
                            : value;
    return b.CreateShuffleVector(wide, lanesOfPeriod);
  }
  return operand.element.isInteger(1) ? b.CreateICmpNE(value, llvm::Constant::getNullValue(type)) : value;
}

void VectorCode::store(int index, llvm::Value *value, const Indices &at, int lanes, llvm::Value *mask) {
  Type element = results[index].element;
  if (element.isInteger(1))
    value =
        b.CreateZExt(value, llvm::isa<llvm::VectorType>(value->getType()) ? (llvm::Type *)llvm::FixedVectorType::get(b.getInt8Ty(), lanes)
                                                                          : b.getInt8Ty());
  value = splat(b, value, lanes);
  llvm::Value *to = pointer(operands.size() + index, at);
  llvm::Align align(elementBytes(element));
  if (mask) {
    auto *old = b.CreateAlignedLoad(value->getType(), to, align);
    accesses.push_back({old, results[index].buffer});
    value = b.CreateSelect(mask, value, old);
  }
  accesses.push_back({b.CreateAlignedStore(value, to, align), results[index].buffer});
}

// The cheaper forms of an operation in f32 whose result is rounded to 16 bits later; null where there is none.
//   x*y + z → fma        x / y → x * (1/y): reciprocals are four times as fast as quotients
llvm::Value *VectorCode::relaxed(Operation &inner, llvm::DenseMap<Value, llvm::Value *> &values) {
  if (inner.getNumResults() != 1 || !inner.getResult(0).getType().isF32() ||
      !llvm::all_of(results, [](const Tile &tile) { return elementBytes(tile.element) == 2 && isa<FloatType>(tile.element); }))
    return nullptr;
  auto lookup = [&](Value value) {
    llvm::Value *found = values.lookup(value);
    return found ? found : e.scalar(value);
  };
  if (auto divide = dyn_cast<arith::DivFOp>(inner)) {
    llvm::Value *divisor = lookup(divide.getRhs());
    llvm::Value *dividend = lookup(divide.getLhs());
    if (!divisor || !dividend)
      return nullptr;
    llvm::Value *inverse = b.CreateFDiv(llvm::ConstantFP::get(divisor->getType(), 1), divisor);
    bool vector = dividend->getType()->isVectorTy() || divisor->getType()->isVectorTy();
    return b.CreateFMul(splat(b, dividend, vector ? vectorLanes : 1), splat(b, inverse, vector ? vectorLanes : 1));
  }
  if (!isa<arith::AddFOp, arith::SubFOp>(inner))
    return nullptr;
  for (int side = 0; side < 2; ++side) {
    auto product = inner.getOperand(side).getDefiningOp<arith::MulFOp>();
    if (!product || !product->hasOneUse() || product->getBlock() != inner.getBlock())
      continue;
    llvm::Value *x = lookup(product.getLhs()), *y = lookup(product.getRhs()), *z = lookup(inner.getOperand(1 - side));
    if (isa<arith::SubFOp>(inner))
      (side == 0 ? z : x) = b.CreateFNeg(side == 0 ? z : x);
    bool vector = llvm::any_of(std::array{x, y, z}, [](llvm::Value *v) { return v->getType()->isVectorTy(); });
    Values in;
    for (llvm::Value *value : {x, y, z})
      in.push_back(splat(b, value, vector ? vectorLanes : 1));
    return b.CreateIntrinsic(in[0]->getType(), llvm::Intrinsic::fma, in);
  }
  return nullptr;
}

FailureOr<llvm::Value *> VectorCode::one(Operation &inner, llvm::DenseMap<Value, llvm::Value *> &values, const Indices &at, int lanes) {
  auto lookup = [&](Value value) {
    llvm::Value *found = values.lookup(value);
    return found ? found : e.scalar(value);
  };
  if (auto index = dyn_cast<linalg::IndexOp>(inner))
    return dimension(index.getDim(), at);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(inner) && lanes > 1)
    if (auto index = inner.getOperand(0).getDefiningOp<linalg::IndexOp>()) {
      // The vector loop's number differs from lane to lane.
      llvm::Type *type = elementType(inner.getResult(0).getType(), e.context);
      llvm::Value *first = b.CreateTrunc(dimension(index.getDim(), at), b.getInt32Ty());
      for (auto [loop, factor] : nest.dimensions[index.getDim()])
        if (loop == vectorLoop) {
          auto *vector = llvm::FixedVectorType::get(b.getInt32Ty(), lanes);
          llvm::Value *step = b.CreateMul(b.CreateStepVector(vector), llvm::ConstantInt::get(vector, factor));
          first = b.CreateAdd(splat(b, first, lanes), step);
          type = llvm::FixedVectorType::get(type, lanes);
        }
      return b.CreateTrunc(first, type);
    }
  if (auto constant = dyn_cast<arith::ConstantOp>(inner))
    if (llvm::Constant *value = emitConstant(constant.getValue(), e.context))
      return (llvm::Value *)value;
  if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
    if (llvm::Value *element = e.scalar(extract.getTensor()))
      return element;
    std::optional<Tile> tile = e.tileOf(extract.getTensor(), op);
    if (!tile)
      return failure();
    SmallVector<llvm::Value *> indices;
    for (Value index : extract.getIndices())
      indices.push_back(lookup(index));
    return e.loadElement(e.elementAddress(*tile, indices), tile->element);
  }
  SmallVector<llvm::Value *> in;
  for (Value operand : inner.getOperands()) {
    in.push_back(lookup(operand));
    if (!in.back()) {
      inner.emitOpError("is not supported on the NPU inside ") << op->getName() << ": an operand has no scalar value";
      return failure();
    }
  }
  llvm::Value *value = emitElementwise(b, &inner, in);
  if (!value) {
    inner.emitOpError("is not supported on the NPU") << " for " << (inner.getNumResults() ? inner.getResult(0).getType() : Type());
    return failure();
  }
  return value;
}

// The body for several places at once, one operation after the other. `carried` holds each place's accumulators.
FailureOr<SmallVector<VectorCode::Values>> VectorCode::bodies(ArrayRef<Indices> places, int lanes, ArrayRef<Values> carried) {
  Block *block = op.getBlock();
  SmallVector<llvm::DenseMap<Value, llvm::Value *>> values(places.size());
  for (int index = 0; index < int(operands.size()); ++index)
    for (auto [place, at] : llvm::enumerate(places)) {
      BlockArgument argument = block->getArgument(index);
      if (index >= inputs && !carried.empty()) {
        values[place][argument] = carried[place][index - inputs];
      } else if (operands[index].tile || operands[index].splat) {
        llvm::Value *value = load(index, at, lanes);
        values[place][argument] = value;
        if (periods[index] && elementBytes(operands[index].element) == 2) // extended already
          for (Operation *user : argument.getUsers())
            values[place][user->getResult(0)] = value;
      }
    }
  bool fused = !carried.empty() && isMultiplyAdd(op);
  for (Operation &inner : block->without_terminator())
    for (auto [place, at] : llvm::enumerate(places)) {
      llvm::DenseMap<Value, llvm::Value *> &known = values[place];
      if (known.contains(inner.getResult(0)))
        continue;
      // Sums of products in f32 are fused, as in the tensor engine.
      auto add = dyn_cast<arith::AddFOp>(inner);
      if (add && fused && add.getType().isF32()) {
        bool left = isa<BlockArgument>(add.getLhs());
        auto multiply = (left ? add.getRhs() : add.getLhs()).getDefiningOp<arith::MulFOp>();
        Values in;
        for (Value operand : {multiply.getLhs(), multiply.getRhs(), left ? add.getLhs() : add.getRhs()})
          in.push_back(splat(b, known.lookup(operand), lanes));
        known[add.getResult()] = b.CreateIntrinsic(in[0]->getType(), llvm::Intrinsic::fma, in);
        continue;
      }
      if (llvm::Value *value = relaxed(inner, known)) {
        known[inner.getResult(0)] = value;
        continue;
      }
      FailureOr<llvm::Value *> value = one(inner, known, at, lanes);
      if (failed(value))
        return failure();
      known[inner.getResult(0)] = *value;
    }
  SmallVector<Values> yielded(places.size());
  for (Value value : block->getTerminator()->getOperands())
    for (auto [place, known] : llvm::enumerate(values)) {
      llvm::Value *found = known.lookup(value);
      yielded[place].push_back(found ? found : e.scalar(value));
    }
  return yielded;
}

//===-- Reductions --------------------------------------------------------===//

llvm::Value *VectorCode::neutral(Operation *combine, llvm::Type *type) {
  llvm::Type *element = type->getScalarType();
  auto real = [&](double value) { return llvm::ConstantFP::get(type, value); };
  auto whole = [&](const llvm::APInt &value) { return llvm::ConstantInt::get(type, value); };
  unsigned bits = element->isIntegerTy() ? element->getIntegerBitWidth() : 0;
  double infinity = std::numeric_limits<double>::infinity();
  if (isa<arith::AddFOp>(combine))
    return real(-0.0);
  if (isa<arith::MulFOp>(combine))
    return real(1);
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combine))
    return real(-infinity);
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(combine))
    return real(infinity);
  if (isa<arith::MulIOp>(combine))
    return whole(llvm::APInt(bits, 1));
  if (isa<arith::AndIOp, arith::MinUIOp>(combine))
    return whole(llvm::APInt::getAllOnes(bits));
  if (isa<arith::MaxSIOp>(combine))
    return whole(llvm::APInt::getSignedMinValue(bits));
  if (isa<arith::MinSIOp>(combine))
    return whole(llvm::APInt::getSignedMaxValue(bits));
  return llvm::Constant::getNullValue(type); // add, or, xor, unsigned max
}

llvm::Value *VectorCode::reduce(Operation *combine, llvm::Value *vector) {
  llvm::Type *element = vector->getType()->getScalarType();
  bool narrow = element->isHalfTy() || element->isBFloatTy();
  if (narrow)
    vector = b.CreateFPExt(vector, llvm::FixedVectorType::get(b.getFloatTy(), vectorLanes));
  bool small = element->isIntegerTy() && element->getIntegerBitWidth() < 32;
  if (small) {
    bool isUnsigned = isa<arith::MaxUIOp, arith::MinUIOp>(combine) || element->isIntegerTy(1);
    auto *wide = llvm::FixedVectorType::get(b.getInt32Ty(), vectorLanes);
    vector = isUnsigned ? b.CreateZExt(vector, wide) : b.CreateSExt(vector, wide);
  }
  llvm::FastMathFlags tree;
  tree.setAllowReassoc();
  auto sum = [&](llvm::CallInst *call) {
    call->setFastMathFlags(tree);
    return call;
  };
  llvm::Value *result =
      llvm::TypeSwitch<Operation *, llvm::Value *>(combine)
          .Case<arith::AddFOp>([&](auto) { return sum(b.CreateFAddReduce(llvm::ConstantFP::get(b.getFloatTy(), -0.0), vector)); })
          .Case<arith::MulFOp>([&](auto) { return sum(b.CreateFMulReduce(llvm::ConstantFP::get(b.getFloatTy(), 1.0), vector)); })
          .Case<arith::MaximumFOp>([&](auto) { return b.CreateFPMaximumReduce(vector); })
          .Case<arith::MinimumFOp>([&](auto) { return b.CreateFPMinimumReduce(vector); })
          .Case<arith::MaxNumFOp>([&](auto) { return b.CreateFPMaxReduce(vector); })
          .Case<arith::MinNumFOp>([&](auto) { return b.CreateFPMinReduce(vector); })
          .Case<arith::AddIOp>([&](auto) { return b.CreateAddReduce(vector); })
          .Case<arith::MulIOp>([&](auto) { return b.CreateMulReduce(vector); })
          .Case<arith::AndIOp>([&](auto) { return b.CreateAndReduce(vector); })
          .Case<arith::OrIOp>([&](auto) { return b.CreateOrReduce(vector); })
          .Case<arith::XOrIOp>([&](auto) { return b.CreateXorReduce(vector); })
          .Case<arith::MaxSIOp>([&](auto) { return b.CreateIntMaxReduce(vector, true); })
          .Case<arith::MinSIOp>([&](auto) { return b.CreateIntMinReduce(vector, true); })
          .Case<arith::MaxUIOp>([&](auto) { return b.CreateIntMaxReduce(vector, false); })
          .Default([&](auto) { return b.CreateIntMinReduce(vector, false); });
  if (narrow)
    return b.CreateFPTrunc(result, element);
  return small ? b.CreateTrunc(result, element) : result;
}

llvm::Value *VectorCode::combineTwo(Operation *combine, llvm::Value *x, llvm::Value *y) { return emitElementwise(b, combine, {x, y}); }

} // namespace dougong::npu
