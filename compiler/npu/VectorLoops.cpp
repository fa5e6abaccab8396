// Vector code: the loops around the body, and the accumulators that reductions carry through them.
#include "compiler/npu/VectorCode.h"

using namespace mlir;

namespace dougong::npu {

void VectorCode::reductions(size_t depth, MutableArrayRef<Indices> places, llvm::function_ref<void()> innermost) {
  if (depth == reduced.size())
    return innermost();
  int loop = reduced[depth];
  auto iteration = [&](llvm::Value *i) {
    for (Indices &at : places)
      at[loop] = i;
    reductions(depth + 1, places, innermost);
  };
  // A window of up to nine elements, or the inner part of a larger one, stands there unrolled. More would keep more weights
  // in registers than there are.
  auto elements = [&](size_t first) {
    int64_t product = 1;
    for (size_t d = first; d < reduced.size(); ++d)
      product *= nest.loops[reduced[d]].size;
    return product;
  };
  bool inVectors = vectorLoop >= 0 && !isCombined();
  int64_t size = nest.loops[loop].size;
  if (inVectors && elements(depth) <= 9) {
    for (int64_t i = 0; i < size; ++i)
      iteration(e.i64(i));
    return;
  }
  bool unrolledInside = inVectors && depth + 1 < reduced.size() && elements(depth + 1) <= 9;
  e.countedLoop(e.i64(0), e.i64(size), e.i64(1), iteration, !unrolledInside);
}

// The vector loop for all rows: `most` whole vectors of each at once, then what is left of those, then a ragged one with the
// mask of its lanes.
void VectorCode::eachVectors(ArrayRef<Indices> rows, int64_t most, llvm::function_ref<void(ArrayRef<Indices>, llvm::Value *)> body) {
  int64_t size = nest.loops[vectorLoop].size, vectors = size / vectorLanes;
  auto at = [&](llvm::Value *first, int64_t count) {
    SmallVector<Indices> places;
    for (const Indices &row : rows)
      for (int64_t v = 0; v < count; ++v) {
        places.push_back(row);
        places.back()[vectorLoop] = b.CreateAdd(first, e.i64(v * vectorLanes));
      }
    return places;
  };
  int64_t grouped = vectors / most * most;
  e.countedLoop(e.i64(0), e.i64(grouped * vectorLanes), e.i64(most * vectorLanes), [&](llvm::Value *i) { body(at(i, most), nullptr); });
  if (grouped < vectors)
    body(at(e.i64(grouped * vectorLanes), vectors - grouped), nullptr);
  int64_t left = size - vectors * vectorLanes;
  if (!left)
    return;
  SmallVector<llvm::Constant *> lanes;
  for (int lane = 0; lane < vectorLanes; ++lane)
    lanes.push_back(b.getInt1(lane < left));
  body(at(e.i64(vectors * vectorLanes), 1), llvm::ConstantVector::get(lanes));
}

// A result's value before the first element of a reduction.
llvm::Value *VectorCode::start(unsigned result, const Indices &at, int lanes) {
  const Operand &initial = operands[inputs + result];
  if (initial.tile || initial.splat)
    return splat(b, load(inputs + result, at, lanes), lanes);
  return llvm::Constant::getNullValue(elementType(results[result].element, e.context, lanes));
}

// Results at several places: a vector of lanes each, or one element (lanes = 1).
void VectorCode::compute(ArrayRef<Indices> given, int lanes, llvm::Value *mask) {
  SmallVector<Indices> places(given);
  llvm::Value *writeMask = overrunHere ? nullptr : mask;
  if (reduced.empty() && !isCombined()) {
    auto values = bodies(places, lanes, {});
    if (failed(values))
      return void(failedInside = true);
    for (auto [at, results] : llvm::zip(places, *values))
      for (auto [index, value] : llvm::enumerate(results))
        store(index, value, at, lanes, writeMask);
    return;
  }
  // Accumulators live in stack slots, which become registers. A single row summed along has several, for its latency.
  int64_t ways = isCombined() && places.size() == 1 ? std::clamp<int64_t>(nest.loops[vectorLoop].size / vectorLanes, 1, 4) : 1;
  SmallVector<SmallVector<llvm::AllocaInst *>> carried(places.size() * ways);
  for (auto [index, memory] : llvm::enumerate(carried))
    for (size_t result = 0; result < results.size(); ++result) {
      llvm::Type *type = elementType(results[result].element, e.context, lanes);
      memory.push_back(e.variable(type, nullptr));
      b.CreateStore(isCombined() ? neutral(combiner(result), type) : start(result, places[index / ways], lanes), memory.back());
    }
  auto step = [&](ArrayRef<Indices> at, llvm::Value *valid) {
    SmallVector<Values> old(at.size());
    for (auto [place, values] : llvm::enumerate(old))
      for (llvm::AllocaInst *memory : carried[place])
        values.push_back(b.CreateLoad(memory->getAllocatedType(), memory));
    auto values = bodies(at, lanes, old);
    if (failed(values))
      return void(failedInside = true);
    for (size_t place = 0; place < at.size(); ++place)
      for (auto [memory, value, before] : llvm::zip(carried[place], (*values)[place], old[place])) {
        llvm::Value *next = splat(b, value, lanes);
        b.CreateStore(valid ? b.CreateSelect(valid, next, before) : next, memory);
      }
  };
  reductions(0, places, [&] {
    if (isCombined())
      eachVectors(places, ways, step);
    else
      step(places, nullptr);
  });
  for (auto [place, at] : llvm::enumerate(places))
    for (size_t result = 0; result < results.size(); ++result) {
      auto value = [&](int64_t way) {
        llvm::AllocaInst *memory = carried[place * ways + way][result];
        return (llvm::Value *)b.CreateLoad(memory->getAllocatedType(), memory);
      };
      if (!isCombined()) {
        store(result, value(0), at, lanes, writeMask);
        continue;
      }
      Operation *combine = combiner(result);
      llvm::Value *total = value(0);
      for (int64_t way = 1; way < ways; ++way)
        total = combineTwo(combine, total, value(way));
      total = reduce(combine, total);
      at[vectorLoop] = e.i64(0); // a result has one place, whatever the vector loop's number
      const Operand &initial = operands[inputs + result];
      if (initial.tile || initial.splat)
        total = combineTwo(combine, load(inputs + result, at, 1), total);
      store(result, total, at, 1, nullptr);
    }
}

void VectorCode::group(ArrayRef<Indices> rows) {
  if (vectorLoop < 0)
    return compute(rows, 1, nullptr);
  if (isCombined())
    return compute(rows, vectorLanes, nullptr);
  // Of several rows the ragged ends come last, when the next row's beginning is written already.
  overrunHere = overrun && (rows.size() == 1 || nest.loops[vectorLoop].size < vectorLanes);
  int64_t most = reduced.empty() ? std::max<int64_t>(1, unrolled / rows.size()) : std::max<int64_t>(1, together / int64_t(rows.size()));
  eachVectors(rows, most, [&](ArrayRef<Indices> places, llvm::Value *mask) { compute(places, vectorLanes, mask); });
}

void VectorCode::outerLoops(size_t depth, Indices &at) {
  if (depth == parallel.size())
    return group({at});
  int loop = parallel[depth];
  int64_t size = nest.loops[loop].size;
  if (loop != togetherLoop) {
    e.countedLoop(e.i64(0), e.i64(size), e.i64(1), [&](llvm::Value *i) {
      at[loop] = i;
      outerLoops(depth + 1, at);
    });
    return;
  }
  auto rows = [&](llvm::Value *first, int64_t count) {
    SmallVector<Indices> places(count, at);
    for (int64_t u = 0; u < count; ++u)
      places[u][loop] = b.CreateAdd(first, e.i64(u));
    group(places);
  };
  int64_t whole = size / together * together;
  e.countedLoop(e.i64(0), e.i64(whole), e.i64(together), [&](llvm::Value *i) { rows(i, together); });
  if (whole < size)
    rows(e.i64(whole), size - whole);
}

} // namespace dougong::npu
