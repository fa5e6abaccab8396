// Graph form → what one program does: the result is cut into equal boxes, a program computes one of them and all that it
// needs of the operations before.
//
//   func @k(%x: tensor<1x56x56x64xf32>, …) -> tensor<1x56x56x64xf32> { %c = conv … ; %r = generic(%c) ; return %r }
// →
//   func @k(%x: memref<1x56x56x64xf32>, …, %out: memref<1x56x56x64xf32>) {
//     %p = dg.program_id 0                                                    // of 14
//     %slab = extract_slice(to_tensor %x)[0, 4·%p, 0, 0][1, 6, 58, 64] …      // or a dg.load, where a tensor.pad was
//     %c = conv %slab … : tensor<1x4x56x64xf32> ; %r = generic(%c)
//     materialize_in_destination %r in (subview %out[0, 4·%p, 0, 0][1, 4, 56, 64])
//   }
//
// Boxes all have the same static size: where a dimension does not divide, the last box starts early and overlaps the one before.
// Two programs then write the same values, but only final ones: such a box is computed aside and copied. A cut is taken only if the
// programs together do no more than a little extra work, so a sum over rows is never computed once per column tile.
#include "compiler/cpu/cpu.h"
#include "compiler/dialect/Dg.h"
#include <numeric>
#include <thread>

using namespace mlir;
using namespace dougong;

namespace {
constexpr int64_t workOfProgram = 1 << 16;    // elements, or 8 multiply-adds each: less is not worth handing to a thread
constexpr int64_t multiplyAddsPerByte = 32;   // at least, for each byte that a cut makes programs read again
constexpr int64_t bytesOfProgram = 256 << 10; // of the tensors it touches: what stays in a core's L2
constexpr double extraWork = 1.2;
constexpr int64_t lanes = 64; // the innermost dimension is cut in multiples of this

int64_t threads() { return std::max(2u, std::thread::hardware_concurrency()); }

int64_t bytesOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return 0;
  return shaped.getNumElements() * std::max<int64_t>(1, shaped.getElementType().isIndex() ? 8 : shaped.getElementTypeBitWidth() / 8);
}

int64_t workOf(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return 0;
  int64_t work = 1;
  for (int64_t extent : linalgOp.getStaticLoopRanges())
    work *= ShapedType::isDynamic(extent) ? 1 : extent;
  return work;
}

bool isContraction(Operation *op) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  return linalgOp && (linalg::isaContractionOpInterface(linalgOp) || linalg::isaConvolutionOpInterface(linalgOp));
}

// What a kernel computes in all, as scalar operations: loops of linalg operations, and elements that others make.
int64_t workIn(func::FuncOp kernel) {
  int64_t work = 0;
  kernel.walk([&](Operation *op) {
    if (isa<linalg::LinalgOp>(op))
      work += workOf(op);
    else if (isa<tensor::PadOp, tensor::GenerateOp, dg::LoadOp>(op))
      work += bytesOf(op->getResult(0).getType()) / 4;
  });
  return work;
}

// A part of the results: a value, and where it goes.
struct Piece {
  Value value, memory;
};

bool disjoint(tensor::InsertSliceOp a, tensor::InsertSliceOp b) {
  if (llvm::any_of(a.getStaticOffsets(), ShapedType::isDynamic) || llvm::any_of(b.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(a.getStaticSizes(), ShapedType::isDynamic) || llvm::any_of(b.getStaticSizes(), ShapedType::isDynamic) ||
      !a.hasUnitStride() || !b.hasUnitStride())
    return false;
  for (auto [ao, as, bo, bs] : llvm::zip_equal(a.getStaticOffsets(), a.getStaticSizes(), b.getStaticOffsets(), b.getStaticSizes()))
    if (ao + as <= bo || bo + bs <= ao)
      return true;
  return false;
}

// The chain of slices put into an empty tensor (what a concatenation is), or nothing.
SmallVector<tensor::InsertSliceOp> concatenated(Value value) {
  SmallVector<tensor::InsertSliceOp> slices;
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>()) {
    for (tensor::InsertSliceOp other : slices)
      if (!disjoint(insert, other))
        return {};
    slices.push_back(insert);
    value = insert.getDest();
  }
  if (!value.getDefiningOp<tensor::EmptyOp>())
    slices.clear();
  return slices;
}

void collectPieces(ImplicitLocOpBuilder &b, Value value, Value memory, SmallVectorImpl<Piece> &pieces) {
  auto type = cast<MemRefType>(memory.getType());
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>())
    if (memref::CollapseShapeOp::isGuaranteedCollapsible(type, expand.getReassociationIndices()))
      return collectPieces(b, expand.getSrc(), memref::CollapseShapeOp::create(b, memory, expand.getReassociationIndices()), pieces);
  if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>()) {
    auto expanded = memref::ExpandShapeOp::computeExpandedType(type, collapse.getSrcType().getShape(), collapse.getReassociationIndices());
    if (succeeded(expanded))
      return collectPieces(b, collapse.getSrc(), memref::ExpandShapeOp::create(b, *expanded, memory, collapse.getReassociationIndices()),
                           pieces);
  }
  SmallVector<tensor::InsertSliceOp> slices = concatenated(value);
  for (tensor::InsertSliceOp slice : slices) {
    auto view = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        slice.getSourceType().getShape(), type, slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides()));
    Value part = memref::SubViewOp::create(b, view, memory, slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides());
    collectPieces(b, slice.getSource(), part, pieces);
  }
  if (slices.empty())
    pieces.push_back({value, memory});
}

// A value that no operation with loops makes (an argument, a slice of one) is copied by one.
void giveLoops(ImplicitLocOpBuilder &b, Piece &piece) {
  Operation *op = piece.value.getDefiningOp();
  if (op && isa<TilingInterface>(op) && isa<linalg::LinalgOp, tensor::PadOp>(op) &&
      llvm::any_of(cast<TilingInterface>(op).getLoopIteratorTypes(),
                   [](utils::IteratorType t) { return t == utils::IteratorType::parallel; }))
    return;
  auto type = cast<RankedTensorType>(piece.value.getType());
  Value empty = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  piece.value = linalg::CopyOp::create(b, piece.value, empty).getResult(0);
}

// The function on memrefs: arguments enter by to_tensor, results are pieces and their places.
SmallVector<Piece> onMemory(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  auto ret = cast<func::ReturnOp>(body.getTerminator());
  ImplicitLocOpBuilder b(kernel.getLoc(), &body, body.begin());
  SmallVector<Type> types;
  auto memory = [](Type type) -> Type {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType()) : type;
  };
  for (BlockArgument argument : body.getArguments()) {
    Type tensor = argument.getType();
    types.push_back(memory(tensor));
    if (types.back() == tensor)
      continue;
    argument.setType(types.back());
    Value value = bufferization::ToTensorOp::create(b, tensor, argument, /*restrict=*/true);
    argument.replaceAllUsesExcept(value, value.getDefiningOp());
  }
  SmallVector<Piece> pieces;
  b.setInsertionPoint(ret);
  for (Value value : ret.getOperands()) {
    types.push_back(memory(value.getType()));
    collectPieces(b, value, body.addArgument(types.back(), value.getLoc()), pieces);
  }
  for (Piece &piece : pieces)
    giveLoops(b, piece);
  ret.getOperandsMutable().clear();
  kernel.setType(b.getFunctionType(types, {}));
  kernel.setArgAttrsAttr(nullptr);
  kernel.setResAttrsAttr(nullptr);
  return pieces;
}

// pad(argument), or a slice of it → a bounded load: the border costs nothing but its fill.
bool loadPadded(ImplicitLocOpBuilder &b, tensor::PadOp pad, RankedTensorType type, ArrayRef<OpFoldResult> offsets, Operation *replaced) {
  auto source = pad.getSource().getDefiningOp<bufferization::ToTensorOp>();
  Value fill = pad.getConstantPaddingValue();
  if (!source || !fill || llvm::any_of(pad.getStaticLow(), ShapedType::isDynamic) || !type.hasStaticShape() ||
      type.getRank() != pad.getSourceType().getRank())
    return false;
  auto memory = cast<MemRefType>(source.getBuffer().getType());
  if (!memory.getLayout().isIdentity() || !memory.hasStaticShape())
    return false;
  auto flat = MemRefType::get({ShapedType::kDynamic}, memory.getElementType());
  Value base =
      memref::ReinterpretCastOp::create(b, flat, source.getBuffer(), OpFoldResult(b.getIndexAttr(0)),
                                        ArrayRef<OpFoldResult>{arith::ConstantIndexOp::create(b, memory.getNumElements()).getResult()},
                                        ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  SmallVector<int64_t> strideOf = computeSuffixProduct(memory.getShape());
  SmallVector<Value> strides, lower, upper;
  Value offset = constant(0);
  for (auto [d, stride] : llvm::enumerate(strideOf)) {
    Value start = arith::SubIOp::create(b, getValueOrCreateConstantIndexOp(b, b.getLoc(), offsets[d]), constant(pad.getStaticLow()[d]));
    Value step = constant(stride);
    strides.push_back(step);
    lower.push_back(arith::SubIOp::create(b, constant(0), start));
    upper.push_back(arith::SubIOp::create(b, constant(memory.getShape()[d]), start));
    offset = arith::AddIOp::create(b, offset, arith::MulIOp::create(b, start, step));
  }
  Value loaded = dg::LoadOp::create(b, type, base, offset, strides, lower, upper, fill);
  replaced->getResult(0).replaceAllUsesWith(loaded);
  return true;
}

// What boxes must begin and end at multiples of. A map such as `d floordiv 8` (nearest resize) is the same within a box as in
// the whole only if the box begins at a multiple of 8; nothing is said of kernels where such an index then moves on through
// others' windows: those are not cut.
std::optional<int64_t> granularity(func::FuncOp kernel) {
  int64_t multiple = 1;
  bool windows = false, known = true;
  kernel.walk([&](linalg::LinalgOp op) {
    for (AffineMap map : op.getIndexingMapsArray())
      for (AffineExpr expr : map.getResults()) {
        bool divides = false;
        expr.walk([&](AffineExpr part) {
          divides |= llvm::is_contained({AffineExprKind::FloorDiv, AffineExprKind::CeilDiv, AffineExprKind::Mod}, part.getKind());
        });
        if (!divides) {
          windows |= !isa<AffineDimExpr, AffineConstantExpr>(expr);
          continue;
        }
        auto division = cast<AffineBinaryOpExpr>(expr);
        auto divisor = dyn_cast<AffineConstantExpr>(division.getRHS());
        if (isa<AffineDimExpr>(division.getLHS()) && divisor)
          multiple = std::lcm(multiple, divisor.getValue());
        else
          known = false;
      }
  });
  if (!known || (multiple > 1 && windows))
    return std::nullopt;
  return multiple;
}

struct Cut {
  SmallVector<int64_t> tiles; // by loop of the root
  int64_t programs = 1;
  bool overlaps = false; // the last box along some loop begins within the one before
};

// Cuts the loops of `root` into about `wanted` boxes. Loops are tried in the order of the bytes that cutting them makes
// programs read again: rows first where weights are small, channels first where weights are large.
Cut cutLoops(TilingInterface root, Operation *heaviest, int64_t wanted, std::optional<unsigned> only, int64_t multiple) {
  OpBuilder b(root);
  SmallVector<utils::IteratorType> kinds = root.getLoopIteratorTypes();
  SmallVector<int64_t> extents;
  for (Range range : root.getIterationDomain(b))
    extents.push_back(getConstantIntValue(range.size).value_or(1));
  Cut cut{extents, 1};
  auto heavy = dyn_cast_or_null<linalg::LinalgOp>(heaviest);
  auto rootOp = dyn_cast<linalg::LinalgOp>(root.getOperation());

  // The inputs of `heavy` that do not depend on a loop of the root: all programs along it read them. Dimension r of the root's
  // result is taken for dimension r of the result of `heavy`.
  SmallVector<int64_t> bytes, readings;
  if (heavy)
    for (OpOperand *input : heavy.getDpsInputOperands())
      bytes.push_back(bytesOf(input->get().getType())), readings.push_back(1);
  auto readAgain = [&](unsigned loop) {
    SmallVector<unsigned> inputs;
    if (!heavy || !rootOp)
      return inputs;
    AffineMap rootMap = rootOp.getMatchingIndexingMap(rootOp.getDpsInitOperand(0)),
              map = heavy.getMatchingIndexingMap(heavy.getDpsInitOperand(0));
    auto position = rootMap.getResultPosition(b.getAffineDimExpr(loop));
    if (!position || *position >= map.getNumResults())
      return inputs;
    auto dimension = dyn_cast<AffineDimExpr>(map.getResult(*position));
    for (auto [i, input] : llvm::enumerate(heavy.getDpsInputOperands()))
      if (dimension && !heavy.getMatchingIndexingMap(input).isFunctionOfDim(dimension.getPosition()))
        inputs.push_back(i);
    return inputs;
  };
  std::optional<unsigned> innermost;
  if (rootOp)
    if (AffineMap map = rootOp.getMatchingIndexingMap(rootOp.getDpsInitOperand(0)); map.getNumResults())
      if (auto last = dyn_cast<AffineDimExpr>(map.getResult(map.getNumResults() - 1)))
        innermost = last.getPosition();

  SmallVector<std::pair<int64_t, unsigned>> order;
  for (unsigned loop = 0; loop < extents.size(); ++loop)
    if (kinds[loop] == utils::IteratorType::parallel && (!only || *only == loop)) {
      order.push_back({0, loop});
      for (unsigned input : readAgain(loop))
        order.back().first += bytes[input];
    }
  llvm::stable_sort(order, llvm::less_first());
  int64_t matrixLoops = heavy && linalg::isaContractionOpInterface(heavy) ? 12 : 1;
  for (auto [again, loop] : order) {
    bool inner = innermost == loop;
    int64_t least = inner ? lanes : loop + 2 == extents.size() || extents.size() <= 3 ? matrixLoops : 1;
    int64_t parts = std::min(wanted, std::max<int64_t>(1, extents[loop] / least));
    if (isContraction(heaviest) && cut.programs >= 2 * threads())
      for (unsigned input : readAgain(loop))
        parts = std::min(parts, workOf(heaviest) / multiplyAddsPerByte / std::max<int64_t>(1, bytes[input] * readings[input]));
    if (parts <= 1)
      continue;
    int64_t tile = llvm::divideCeil(extents[loop], parts);
    int64_t unit = inner ? std::lcm(lanes, multiple) : multiple;
    tile = llvm::alignTo(tile, unit);
    if (tile >= extents[loop] || (multiple > 1 && extents[loop] % multiple))
      continue;
    for (int64_t size = tile; size <= tile + tile / 2; size += unit) // a size that divides, if one is near
      if (extents[loop] % size == 0) {
        tile = size;
        break;
      }
    if (tile >= extents[loop])
      continue;
    parts = llvm::divideCeil(extents[loop], tile);
    cut.overlaps |= extents[loop] % tile != 0;
    cut.tiles[loop] = tile;
    cut.programs *= parts;
    wanted /= parts;
    for (unsigned input : readAgain(loop))
      readings[input] *= parts;
  }
  return cut;
}

// One program's box of a piece, with all that it needs.
LogicalResult emitBox(ImplicitLocOpBuilder &b, const Piece &piece, const Cut &cut, Value program) {
  if (!program) {
    bufferization::MaterializeInDestinationOp::create(b, TypeRange(), piece.value, piece.memory, /*restrict=*/true, /*writable=*/true);
    return success();
  }
  auto root = cast<TilingInterface>(piece.value.getDefiningOp());
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<Range> domain = root.getIterationDomain(b);
  Value rest = program;
  SmallVector<Value> starts(domain.size());
  for (int64_t loop = domain.size() - 1; loop >= 0; --loop) { // the last loop changes fastest
    int64_t extent = *getConstantIntValue(domain[loop].size), tile = cut.tiles[loop], parts = llvm::divideCeil(extent, tile);
    if (parts == 1)
      continue;
    auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
    Value start = arith::MulIOp::create(b, arith::RemUIOp::create(b, rest, constant(parts)), constant(tile));
    starts[loop] = extent % tile ? arith::MinUIOp::create(b, start, constant(extent - tile)).getResult() : start;
    rest = arith::DivUIOp::create(b, rest, constant(parts));
  }
  for (auto [start, tile] : llvm::zip_equal(starts, cut.tiles)) {
    offsets.push_back(start ? OpFoldResult(start) : b.getIndexAttr(0));
    sizes.push_back(b.getIndexAttr(tile));
  }
  FailureOr<TilingResult> tiled = root.getTiledImplementation(b, offsets, sizes);
  if (failed(tiled))
    return failure();
  unsigned number = cast<OpResult>(piece.value).getResultNumber();
  SmallVector<OpFoldResult> at, extent;
  if (failed(root.getResultTilePosition(b, number, offsets, sizes, at, extent)))
    return failure();
  SmallVector<OpFoldResult> ones(at.size(), b.getIndexAttr(1));
  Value view = memref::SubViewOp::create(b, piece.memory, at, extent, ones);
  Value box = tiled->tiledValues[number];
  if (cut.overlaps) {
    auto type = cast<RankedTensorType>(box.getType());
    box = linalg::CopyOp::create(b, box, tensor::EmptyOp::create(b, type.getShape(), type.getElementType()).getResult()).getResult(0);
  }
  bufferization::MaterializeInDestinationOp::create(b, TypeRange(), box, view, /*restrict=*/true, /*writable=*/true);

  SmallVector<Operation *> slices = tiled->generatedSlices;
  while (!slices.empty()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(slices.pop_back_val());
    if (!slice)
      continue;
    auto producer = dyn_cast<OpResult>(slice.getSource());
    if (!producer || !isa<TilingInterface>(producer.getOwner()))
      continue;
    b.setInsertionPoint(slice);
    if (auto pad = dyn_cast<tensor::PadOp>(producer.getOwner()))
      if (slice.hasUnitStride() && loadPadded(b, pad, slice.getType(), slice.getMixedOffsets(), slice)) {
        slice.erase();
        continue;
      }
    FailureOr<TilingResult> fused = tensor::replaceExtractSliceWithTiledProducer(b, slice, producer);
    if (failed(fused) || fused->tiledValues[0].getType() != slice.getType())
      continue;
    slice.replaceAllUsesWith(fused->tiledValues[0]);
    slice.erase();
    llvm::append_range(slices, fused->generatedSlices);
  }
  return success();
}

void simplify(func::FuncOp kernel) {
  RewritePatternSet patterns(kernel.getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns); // a slice of an empty tensor: else temporaries keep the size of the whole
  (void)applyPatternsGreedily(kernel, std::move(patterns));
  PassManager passes(kernel.getContext(), func::FuncOp::getOperationName());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  (void)passes.run(kernel);
}

// All pieces, each cut by its own; programs of one piece follow those of the one before. Fails if that is too much work.
FailureOr<int64_t> emitPrograms(func::FuncOp kernel, ArrayRef<Piece> pieces, ArrayRef<Cut> cuts, int64_t work) {
  auto ret = kernel.getBody().front().getTerminator();
  ImplicitLocOpBuilder b(kernel.getLoc(), ret);
  int64_t programs = 0;
  for (const Cut &cut : cuts)
    programs += cut.programs;
  if (llvm::all_of(cuts, [](const Cut &cut) { return cut.programs == 1; })) {
    for (auto [piece, cut] : llvm::zip_equal(pieces, cuts))
      if (failed(emitBox(b, piece, cut, {})))
        return failure();
    return 1;
  }
  Value program = dg::ProgramIdOp::create(b, b.getIndexType(), 0);
  int64_t first = 0;
  int64_t total = 0;
  for (auto [piece, cut] : llvm::zip_equal(pieces, cuts)) {
    b.setInsertionPoint(ret);
    Value local = program;
    if (pieces.size() > 1) {
      Value from = arith::ConstantIndexOp::create(b, first), to = arith::ConstantIndexOp::create(b, first + cut.programs);
      Value mine = arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::uge, program, from),
                                         arith::CmpIOp::create(b, arith::CmpIPredicate::ult, program, to));
      local = arith::SubIOp::create(b, program, from);
      auto branch = scf::IfOp::create(b, mine, /*withElseRegion=*/false);
      b.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    if (failed(emitBox(b, piece, cut, local)))
      return failure();
    first += cut.programs;
  }
  simplify(kernel);
  // A box that an edge cuts (the inside of a pad of a computed value) has no static size, and so no register tile.
  WalkResult ragged = kernel.walk([](Operation *op) {
    bool dynamic = isa<linalg::LinalgOp, tensor::EmptyOp, tensor::GenerateOp>(op) && llvm::any_of(op->getResultTypes(), [](Type type) {
                     return isa<ShapedType>(type) && !cast<ShapedType>(type).hasStaticShape();
                   });
    return dynamic ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (ragged.wasInterrupted())
    return failure();
  // What stands outside of the branches is done by every program, what stands in one by those of its piece.
  kernel.walk([&](Operation *op) {
    int64_t amount = isa<tensor::PadOp, tensor::GenerateOp, dg::LoadOp>(op) ? bytesOf(op->getResult(0).getType()) / 4 : workOf(op);
    if (!amount)
      return;
    int64_t times = programs;
    if (pieces.size() > 1)
      if (auto branch = op->getParentOfType<scf::IfOp>(); branch && branch->getParentOp() == kernel) {
        auto branches = kernel.getBody().front().getOps<scf::IfOp>();
        times = cuts[std::distance(branches.begin(), llvm::find(branches, branch))].programs;
      }
    total += amount * times;
  });
  if (double(total) > extraWork * double(work))
    return failure();
  return programs;
}
} // namespace

FailureOr<int64_t> cpu::formPrograms(func::FuncOp kernel) {
  SmallVector<Piece> pieces = onMemory(kernel);
  int64_t work = workIn(kernel), bytes = 0;
  Operation *heaviest = nullptr;
  kernel.walk([&](linalg::LinalgOp op) {
    if (!heaviest || workOf(op) > workOf(heaviest))
      heaviest = op;
  });
  for (Type type : kernel.getArgumentTypes())
    bytes += bytesOf(type);
  int64_t units = isContraction(heaviest) ? work / 8 : work;
  int64_t wanted =
      std::clamp<int64_t>(std::max(units / workOfProgram, bytes / bytesOfProgram), 1, std::max(16 * threads(), bytes / bytesOfProgram));

  std::optional<int64_t> multiple = granularity(kernel);
  if (!multiple)
    wanted = 1;

  // Attempts run on a copy of the function, which takes the place of the original if it is good.
  auto attempt = [&](int64_t programs, std::optional<unsigned> only) -> FailureOr<int64_t> {
    IRMapping map;
    auto copy = cast<func::FuncOp>(kernel->clone(map));
    SmallVector<Piece> copied;
    SmallVector<Cut> cuts;
    int64_t elements = 0;
    for (const Piece &piece : pieces)
      elements += cast<ShapedType>(piece.value.getType()).getNumElements();
    for (const Piece &piece : pieces) {
      copied.push_back({map.lookup(piece.value), map.lookup(piece.memory)});
      int64_t share =
          std::max<int64_t>(1, programs * cast<ShapedType>(piece.value.getType()).getNumElements() / std::max<int64_t>(1, elements));
      cuts.push_back(
          cutLoops(cast<TilingInterface>(copied.back().value.getDefiningOp()), map.lookupOrNull(heaviest), share, only, *multiple));
    }
    FailureOr<int64_t> formed = emitPrograms(copy, copied, cuts, work);
    if (succeeded(formed) && *formed > 1)
      kernel.getBody().takeBody(copy.getBody());
    else
      formed = failure();
    copy->destroy();
    return formed;
  };
  for (int64_t programs = wanted; programs > 1; programs /= 2)
    if (FailureOr<int64_t> formed = attempt(programs, std::nullopt); succeeded(formed))
      return formed;
  for (unsigned loop = 0; wanted > 1 && loop < 4; ++loop)
    if (FailureOr<int64_t> formed = attempt(wanted, loop); succeeded(formed))
      return formed;
  SmallVector<Cut> whole(pieces.size());
  FailureOr<int64_t> formed = emitPrograms(kernel, pieces, whole, work);
  SmallVector<tensor::PadOp> pads;
  kernel.walk([&](tensor::PadOp pad) { pads.push_back(pad); });
  for (tensor::PadOp pad : pads) {
    ImplicitLocOpBuilder b(pad.getLoc(), pad);
    SmallVector<OpFoldResult> zeros(pad.getResultType().getRank(), b.getIndexAttr(0));
    if (loadPadded(b, pad, pad.getResultType(), zeros, pad))
      pad.erase();
  }
  return formed;
}
