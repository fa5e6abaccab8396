// Which operations of @main share a kernel (see Groups.h).
#include "compiler/graph/Groups.h"
#include "compiler/graph/Conversions.h"
#include "compiler/graph/Elementwise.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dougong {

// Elements of a row that a tile must hold whole: a dozen f32 values of this many elements fit a local memory.
static constexpr int64_t longestRow = 16384;
// Operations of one kernel: beyond this its intermediate tiles crowd each other out of local memory.
static constexpr size_t mostOperations = 24;

static bool isReshape(Operation *op) { return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op); }

static bool isHeavy(linalg::LinalgOp op) {
  return op.getNumReductionLoops() &&
         (linalg::isaContractionOpInterface(op) || linalg::isaConvolutionOpInterface(op) || !isa<linalg::GenericOp>(op.getOperation()));
}

// A generic reduction whose parallel loops come first, in the order of its result: (d0, d1, d2) -> (d0, d1).
static bool reducesRows(linalg::LinalgOp op) {
  if (!isa<linalg::GenericOp>(op.getOperation()) || op.getNumReductionLoops() == 0 || isHeavy(op))
    return false;
  unsigned rows = op.getNumParallelLoops();
  AffineMap prefix = AffineMap::getMultiDimIdentityMap(op.getNumLoops(), op.getContext()).getMajorSubMap(rows);
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) { return op.getMatchingIndexingMap(&init) == prefix; });
}

static int64_t product(ArrayRef<int64_t> extents) {
  int64_t n = 1;
  for (int64_t extent : extents)
    n *= extent;
  return n;
}

// Does a map over loops of these ranges read a tensor of this shape element by element, in order? Dimensions of extent one do
// not count: (d0, d1, d2) -> (d0, d2) over 1x1x96 reads 1x96 so.
static bool readsInOrder(AffineMap map, ArrayRef<int64_t> ranges, ArrayRef<int64_t> shape) {
  SmallVector<unsigned> loops;
  for (auto [loop, range] : llvm::enumerate(ranges))
    if (range != 1)
      loops.push_back(loop);
  size_t next = 0;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (extent == 1)
      continue;
    if (next == loops.size() || map.getResult(dim) != getAffineDimExpr(loops[next], map.getContext()) || ranges[loops[next]] != extent)
      return false;
    ++next;
  }
  return next == loops.size();
}

Groups::Groups(func::FuncOp main) {
  decideClones(main);
  for (Operation &op : main.getBody().front())
    if (!op.hasTrait<OpTrait::IsTerminator>() && !isReshape(&op) && !isCloned(&op))
      assign(&op);
}

int Groups::groupOf(Operation *op) const {
  auto it = groupIndex.find(op);
  return it == groupIndex.end() ? none : it->second;
}

// contraction → its elementwise follower → expand_shape → code that reads it in another order: what a transposed convolution does
// with its matmul. The last can follow the first if it only moves, which a store does on the way, or finds rows in one piece.
static bool permutesContraction(tensor::ExpandShapeOp expand) {
  auto follower = expand.getSrc().getDefiningOp<linalg::GenericOp>();
  if (!follower || !isElementwiseGeneric(follower) || !follower->hasOneUse() || !expand->hasOneUse())
    return false;
  bool follows = llvm::any_of(follower.getDpsInputOperands(), [&](OpOperand *input) {
    auto contraction = input->get().getDefiningOp<linalg::LinalgOp>();
    return contraction && linalg::isaContractionOpInterface(contraction) && contraction->hasOneUse() &&
           follower.getMatchingIndexingMap(input).isIdentity();
  });
  OpOperand &use = *expand->use_begin();
  auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!follows || !reader || !isElementwiseGeneric(reader) || getElementTypeOrSelf(expand.getType()).getIntOrFloatBitWidth() > 16)
    return false;
  AffineMap map = reader.getMatchingIndexingMap(&use);
  unsigned rank = reader.getNumLoops();
  if (!map.isPermutation() || rank == 0)
    return false;
  return isMovement(reader) ||
         (map.getResult(rank - 1) == getAffineDimExpr(rank - 1, map.getContext()) && reader.getStaticLoopRanges().back() >= 8);
}

// From the end, so that whether the readers are cloned is known.
void Groups::decideClones(func::FuncOp main) {
  for (Operation &op : llvm::reverse(main.getBody().front())) {
    bool makesTensor = llvm::any_of(op.getResultTypes(), [](Type type) { return isa<TensorType>(type); });
    bool readByMain =
        llvm::any_of(op.getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>() || isReshape(user); });
    bool trivial = isa<tensor::EmptyOp, arith::ConstantOp, linalg::FillOp, tensor::PadOp, tensor::ExtractSliceOp>(op);
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && isConversion(generic) && op.hasOneUse()) {
      auto reader = dyn_cast<linalg::LinalgOp>(*op.getUsers().begin());
      trivial |= reader && isHeavy(reader);
    }
    // What is only moved into a concatenation is moved on the way.
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && isMovement(generic) && op.hasOneUse())
      trivial |= isa<tensor::ConcatOp>(*op.getUsers().begin());
    trivial |= isa<tensor::ExpandShapeOp>(op) && permutesContraction(cast<tensor::ExpandShapeOp>(op));
    if (op.getNumResults() && isMemoryEffectFree(&op) && (!makesTensor || (trivial && !readByMain)))
      cloned.insert(&op);
  }
}

SmallVector<int> Groups::sources(Operation *op) const {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  SmallVector<Value> values(op->getOperands());
  values.append(captured.begin(), captured.end());
  return sources(values);
}

SmallVector<int> Groups::sources(ArrayRef<Value> values) const {
  SetVector<int> found;
  SmallVector<Value> pending(values);
  while (!pending.empty()) {
    Operation *producer = pending.pop_back_val().getDefiningOp();
    if (!producer)
      continue;
    if (int group = groupOf(producer); group != none)
      found.insert(group);
    else
      llvm::append_range(pending, producer->getOperands());
  }
  return found.takeVector();
}

// May op, with its leading dimensions as given, follow what `group` computed?
bool Groups::join(Operation *op, int index) {
  Group &group = groups[index];
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || group.kind == Kind::Alone || group.operations.size() >= mostOperations)
    return false;
  bool reduction = reducesRows(linalgOp);
  if (!isElementwiseGeneric(op) && !reduction)
    return false;
  SetVector<Value> captured; // a body reads these at places it computes, so all of them must be there
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  if (llvm::is_contained(sources(captured.getArrayRef()), index))
    return false;
  SmallVector<int64_t> ranges = linalgOp.getStaticLoopRanges();
  for (OpOperand *input : linalgOp.getDpsInputOperands()) {
    Operation *producer = input->get().getDefiningOp();
    if (!producer || groupOf(producer) != index) {
      auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(producer);
      if (group.kind == Kind::Heavy && expand && isCloned(expand) && groupOf(expand.getSrc().getDefiningOp()) == index) {
        group.rows = ranges;
        continue;
      }
      if (llvm::is_contained(sources({input->get()}), index))
        return false; // behind a view, where the elements lie elsewhere
      continue;
    }
    AffineMap map = linalgOp.getMatchingIndexingMap(input);
    if (group.kind == Kind::Heavy) {
      if (reduction || !readsInOrder(map, ranges, group.rows))
        return false;
      continue;
    }
    // The leading dimensions in which this operation walks in step with the group.
    size_t common = 0, most = std::min<size_t>({group.rows.size(), linalgOp.getNumParallelLoops(), map.getNumResults()});
    while (common < most && ranges[common] == group.rows[common] && map.getResult(common) == getAffineDimExpr(common, op->getContext()))
      ++common;
    bool same = common == group.rows.size() && common == ranges.size();
    int64_t row = std::max(product(ArrayRef(ranges).drop_front(common)), product(ArrayRef(group.rows).drop_front(common)));
    if (!same && (row > longestRow || (common == 0 && !group.rows.empty())))
      return false;
    group.rows.truncate(common);
  }
  return true;
}

void Groups::assign(Operation *op) {
  SmallVector<int> from = sources(op);
  // The latest source first: what it computed is still warm, and earlier ones can seldom be joined without a cycle.
  llvm::sort(from, std::greater<>());
  int chosen = none;
  for (int candidate : from) {
    bool cycle = llvm::any_of(from, [&](int other) { return other != candidate && groups[other].ancestors.test(candidate); });
    SmallVector<int64_t> rows = groups[candidate].rows;
    if (!cycle && join(op, candidate)) {
      chosen = candidate;
      break;
    }
    groups[candidate].rows = rows;
  }
  if (chosen == none) {
    chosen = int(groups.size());
    Group group{Kind::Alone, {}, {}, {}};
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      bool light = isElementwiseGeneric(op) || reducesRows(linalgOp);
      group.kind = light ? Kind::Light : Kind::Heavy;
      if (auto type = dyn_cast<RankedTensorType>(op->getNumResults() ? op->getResult(0).getType() : Type()))
        group.rows = SmallVector<int64_t>(type.getShape());
    }
    groups.push_back(std::move(group));
    for (Group &each : groups)
      each.ancestors.resize(groups.size());
  }
  groups[chosen].operations.push_back(op);
  groupIndex[op] = chosen;
  BitVector &ancestors = groups[chosen].ancestors;
  for (int source : from) {
    if (source == chosen)
      continue;
    ancestors.set(source);
    ancestors |= groups[source].ancestors;
  }
  for (Group &each : groups)
    if (each.ancestors.test(chosen))
      each.ancestors |= ancestors;
}

SmallVector<int> Groups::ordered() const {
  SmallVector<int> order;
  BitVector done(groups.size());
  while (order.size() < groups.size())
    for (int i = 0; i < size(); ++i) {
      BitVector missing = groups[i].ancestors;
      missing.reset(done);
      if (!done.test(i) && missing.none()) {
        order.push_back(i);
        done.set(i);
      }
    }
  return order;
}

bool Groups::crosses(Value value) const {
  Operation *producer = value.getDefiningOp();
  int group = producer ? groupOf(producer) : none;
  SmallVector<Operation *> readers(value.getUsers());
  while (!readers.empty()) {
    Operation *reader = readers.pop_back_val();
    while (reader->getBlock() != value.getParentBlock())
      reader = reader->getParentOp();
    if (isCloned(reader))
      llvm::append_range(readers, reader->getUsers()); // it acts for those who read it
    else if (groupOf(reader) != group)
      return true;
  }
  return false;
}

} // namespace dougong
