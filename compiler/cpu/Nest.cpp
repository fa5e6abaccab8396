// linalg operations on buffers → loops around a register tile of vectors. One scheme for contractions, convolutions, pooling,
// elementwise operations and row reductions; NestShape.h says how the loops are found, this file writes them.
//
//   linalg.matmul ins(%a, %b : memref<60x256xf32>, memref<256x64xf32>) outs(%c : memref<60x64xf32>)       (AVX-512)
// →
//   for %i = 0 to 60 step 6
//     %acc:24 = load c[%i + 0…5, 16 · (0…3)]
//     %sum:24 = for %k = 0 to 256 iter_args(%acc) { a[%i + 0…5, %k] broadcast, b[%k, 16 · (0…3)] loaded, 24 multiply-adds }
//     store %sum
//
// Where a loop does not divide by its tile, the rest gets a tile of its own size; the last vector of a row is loaded and stored
// under a mask (or, without masks, is a shorter vector). Nothing is read or written outside of the operands.
#include "compiler/cpu/NestShape.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include <numeric>

using namespace mlir;
using namespace dougong;
using namespace dougong::cpu;

namespace {
constexpr int64_t mostUnrolled = 24; // copies of the body in one iteration of the innermost loop
// Iterations of a sum that are added up by themselves before they join the rest: of a plain sum, and of one of products, which has
// to keep the accumulators elsewhere meanwhile. What rounding loses grows with the number of additions to a large sum.
constexpr int64_t summedApart = 16, productsApart = 96;

struct Place { // an operand as the loops so far see it
  Value flat;  // memref<?xT> from the operand's base on, or null
  Value at;    // index: the element at the current indices of the loops
  SmallVector<int64_t> strides;
};
struct State {
  SmallVector<Place> places;
  SmallVector<Value> indices;   // by loop, if the body wants them
  SmallVector<int64_t> lengths; // by loop: iterations that remain to be done from here
};
// One vector of a tile: offsets within the tile by loop, and how many of its lanes exist.
struct Point {
  SmallVector<int64_t> at;
  int64_t lanes;
};
using Builder = ImplicitLocOpBuilder;
using Loads = std::map<std::tuple<unsigned, int64_t, int64_t>, Value>; // operand, offset, lanes → its value

// Is each result `accumulator + f(inputs)`, of floats?
bool addsFloats(linalg::LinalgOp op) {
  for (size_t i = 0; i < size_t(op.getNumDpsInits()); ++i) {
    SmallVector<Operation *> combiners;
    if (!matchReduction(op.getRegionOutputArgs(), i, combiners) || combiners.size() != 1 || !isa<arith::AddFOp>(combiners[0]))
      return false;
  }
  return true;
}

class Nest {
public:
  Nest(const NestShape &shape, const Registers &registers)
      : shape(shape), registers(registers), v(shape.vectorLoop), sums(shape.reduces() && addsFloats(shape.op)) {}

  void emit() {
    Builder b(shape.op->getLoc(), shape.op);
    State state;
    for (const NestLoop &loop : shape.loops)
      state.lengths.push_back(loop.extent);
    state.indices.assign(shape.loops.size(), Value());
    for (const NestOperand &operand : shape.operands)
      state.places.push_back(operand.memory ? flatten(b, operand) : Place{});
    over(b, 0, state);
    shape.op->erase();
  }

private:
  const NestShape &shape;
  const Registers &registers;
  const unsigned v;
  const bool sums;

  static Value constant(Builder &b, int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  static Value plus(Builder &b, Value at, int64_t offset) {
    return offset ? arith::AddIOp::create(b, at, constant(b, offset)).getResult() : at;
  }

  static Place flatten(Builder &b, const NestOperand &operand) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, operand.value);
    auto type = MemRefType::get({ShapedType::kDynamic}, operand.element);
    Value flat =
        memref::ReinterpretCastOp::create(b, type, metadata.getBaseBuffer(), OpFoldResult(b.getIndexAttr(0)),
                                          ArrayRef<OpFoldResult>{constant(b, INT64_MAX)}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
    return {flat, plus(b, metadata.getOffset(), operand.constant), operand.strides};
  }

  State advanced(Builder &b, const State &state, unsigned loop, Value by) const {
    State next = state;
    for (Place &place : next.places)
      if (place.flat && place.strides[loop]) {
        Value step = place.strides[loop] == 1 ? by : arith::MulIOp::create(b, by, constant(b, place.strides[loop])).getResult();
        place.at = arith::AddIOp::create(b, place.at, step);
      }
    if (shape.indexed)
      next.indices[loop] = next.indices[loop] ? arith::AddIOp::create(b, next.indices[loop], by).getResult() : by;
    return next;
  }
  State advanced(Builder &b, const State &state, unsigned loop, int64_t by) const {
    return by ? advanced(b, state, loop, constant(b, by)) : state;
  }

  // The loops around the tile, from steps[step] inwards.
  void over(Builder &b, size_t step, State state) {
    if (step && step == shape.packAfter)
      pack(b, state);
    if (step == shape.steps.size())
      return tile(b, state);
    auto [loop, size] = shape.steps[step];
    int64_t extent = state.lengths[loop], length = std::min(size, extent), whole = extent / length * length;
    State inner = state;
    inner.lengths[loop] = length;
    if (whole == length) {
      over(b, step + 1, inner);
    } else {
      auto body = scf::ForOp::create(b, constant(b, 0), constant(b, whole), constant(b, length));
      Builder c(b.getLoc(), body.getBody()->getTerminator());
      over(c, step + 1, advanced(c, inner, loop, body.getInductionVar()));
    }
    if (whole < extent) {
      State rest = advanced(b, state, loop, whole);
      rest.lengths[loop] = extent - whole;
      over(b, step + 1, rest);
    }
  }

  // Copies what the tile reads of each operand along the vector loop, over the current block of the reduction loops, to a dense
  // buffer [reductions…][vector], and lets the operand be that.
  void pack(Builder &b, State &state) {
    for (unsigned o = 0; o < shape.operands.size(); ++o) {
      Place &place = state.places[o];
      if (shape.operands[o].output || !place.flat || place.strides[v] != 1)
        continue;
      SmallVector<unsigned> loops;
      SmallVector<int64_t> dense(shape.loops.size(), 0);
      bool invariant = true;
      for (unsigned loop = 0; loop < shape.loops.size(); ++loop) {
        if (shape.loops[loop].reduction)
          loops.push_back(loop);
        else if (loop != v && place.strides[loop] &&
                 llvm::any_of(ArrayRef(shape.steps).drop_front(shape.packAfter), [&](const NestShape::Step &s) { return s.loop == loop; }))
          invariant = false;
      }
      if (!invariant)
        continue;
      int64_t width = llvm::alignTo(state.lengths[v], shape.lanes), size = width;
      dense[v] = 1;
      for (unsigned loop : llvm::reverse(loops)) {
        dense[loop] = size;
        size *= state.lengths[loop];
      }
      Value buffer = memref::AllocOp::create(b, MemRefType::get({size}, shape.operands[o].element));
      Value flat = memref::CastOp::create(b, MemRefType::get({ShapedType::kDynamic}, shape.operands[o].element), buffer);
      State copy = state;
      copy.places = {place, Place{flat, constant(b, 0), dense}};
      copyPanel(b, copy, loops, o);
      place = {flat, constant(b, 0), dense};
    }
  }
  void copyPanel(Builder &b, const State &state, ArrayRef<unsigned> loops, unsigned operand) {
    if (loops.empty()) {
      for (const Point &point : vectorsOf(state.lengths[v], SmallVector<int64_t>(shape.loops.size(), 0))) {
        Value value = load(b, state.places[0], shape.operands[operand].element, point);
        // The buffer has room for whole vectors.
        vector::StoreOp::create(b, value, state.places[1].flat, ValueRange(plus(b, state.places[1].at, point.at[v])));
      }
      return;
    }
    auto body = scf::ForOp::create(b, constant(b, 0), constant(b, state.lengths[loops[0]]), constant(b, 1));
    Builder c(b.getLoc(), body.getBody()->getTerminator());
    State inner = state;
    for (Place &place : inner.places)
      if (place.strides[loops[0]])
        place.at =
            arith::AddIOp::create(c, place.at, arith::MulIOp::create(c, body.getInductionVar(), constant(c, place.strides[loops[0]])));
    copyPanel(c, inner, loops.drop_front(), operand);
  }

  // The vectors that `length` lanes take, from `at` on.
  SmallVector<Point> vectorsOf(int64_t length, const SmallVector<int64_t> &at) const {
    SmallVector<Point> points;
    for (int64_t lane = 0; lane < length; lane += shape.lanes) {
      points.push_back({at, std::min(shape.lanes, length - lane)});
      points.back().at[v] += lane;
    }
    return points;
  }

  bool underMask(const Point &point) const { return point.lanes < shape.lanes && registers.masks && !shape.exactLanes; }
  VectorType vectorOf(Type element, const Point &point) const {
    return VectorType::get(underMask(point) ? shape.lanes : point.lanes, element);
  }
  Value maskOf(Builder &b, const Point &point) const {
    VectorType type = vectorOf(b.getI1Type(), point);
    SmallVector<bool> lanes(type.getNumElements());
    std::fill_n(lanes.begin(), point.lanes, true);
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, lanes));
  }

  int64_t offsetOf(const Place &place, const Point &point) const {
    int64_t offset = 0;
    for (auto [stride, at] : llvm::zip_equal(place.strides, point.at))
      offset += stride * at;
    return offset;
  }
  Value load(Builder &b, const Place &place, Type element, const Point &point) const {
    Value at = plus(b, place.at, offsetOf(place, point));
    if (place.strides[v] == 0)
      return memref::LoadOp::create(b, place.flat, ValueRange(at));
    VectorType type = vectorOf(element, point);
    if (place.strides[v] != 1) {
      SmallVector<Value> lanes;
      for (int64_t i = 0; i < point.lanes; ++i)
        lanes.push_back(memref::LoadOp::create(b, place.flat, ValueRange(plus(b, at, i * place.strides[v]))));
      if (point.lanes < type.getNumElements())
        lanes.resize(type.getNumElements(), arith::ConstantOp::create(b, b.getZeroAttr(element)));
      return vector::FromElementsOp::create(b, type, lanes);
    }
    if (!underMask(point))
      return vector::LoadOp::create(b, type, place.flat, ValueRange(at));
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    return vector::MaskedLoadOp::create(b, type, place.flat, ValueRange(at), maskOf(b, point), zero);
  }
  void store(Builder &b, const Place &place, const Point &point, Value value) const {
    Value at = plus(b, place.at, offsetOf(place, point));
    value = whole(b, value, point);
    if (place.strides[v] != 1)
      for (int64_t i = 0; i < point.lanes; ++i)
        memref::StoreOp::create(b, vector::ExtractOp::create(b, value, i), place.flat, ValueRange(plus(b, at, i * place.strides[v])));
    else if (underMask(point))
      vector::MaskedStoreOp::create(b, place.flat, ValueRange(at), maskOf(b, point), value);
    else
      vector::StoreOp::create(b, value, place.flat, ValueRange(at));
  }
  Value whole(Builder &b, Value value, const Point &point) const {
    return isa<VectorType>(value.getType()) ? value : vector::BroadcastOp::create(b, vectorOf(value.getType(), point), value).getResult();
  }

  // The body at one point. `accumulators`: the values of the output arguments.
  SmallVector<Value> evaluate(Builder &b, const State &state, const Point &point, ArrayRef<Value> accumulators, Loads &loads) const {
    Block &body = shape.op->getRegion(0).front();
    IRMapping map;
    size_t inputs = shape.operands.size() - accumulators.size();
    for (unsigned o = 0; o < shape.operands.size(); ++o) {
      BlockArgument argument = body.getArgument(o);
      if (o >= inputs) {
        map.map(argument, accumulators[o - inputs]);
      } else if (!shape.operands[o].memory) {
        map.map(argument, shape.operands[o].value);
      } else if (!argument.use_empty()) {
        const Place &place = state.places[o];
        Value &value = loads[{o, offsetOf(place, point), place.strides[v] ? point.lanes : 0}];
        if (!value)
          value = load(b, place, shape.operands[o].element, point);
        map.map(argument, value);
      }
    }
    bool contraction = shape.reduces() && inputs > 1;
    for (Operation &op : body.without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(op)) {
        map.map(index.getResult(), indexAt(b, state, index.getDim(), point));
        continue;
      }
      bool vector = llvm::any_of(op.getOperands(), [&](Value value) { return isa<VectorType>(map.lookupOrDefault(value).getType()); });
      if (vector)
        for (Value operand : op.getOperands())
          map.map(operand, whole(b, map.lookupOrDefault(operand), point));
      Operation *copy = b.clone(op, map);
      if (vector)
        for (OpResult result : copy->getResults())
          result.setType(vectorOf(result.getType(), point));
      if (contraction && isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(copy))
        copy->setAttr("fastmath", arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract));
    }
    SmallVector<Value> results;
    for (Value value : body.getTerminator()->getOperands())
      results.push_back(map.lookupOrDefault(value));
    return results;
  }
  Value indexAt(Builder &b, const State &state, int64_t dimension, const Point &point) const {
    auto loop = llvm::find_if(shape.loops, [&](const NestLoop &l) { return l.original == dimension; }) - shape.loops.begin();
    Value index = plus(b, state.indices[loop] ? state.indices[loop] : constant(b, 0), point.at[loop]);
    if (unsigned(loop) != v)
      return index;
    VectorType type = vectorOf(b.getIndexType(), point);
    return arith::AddIOp::create(b, vector::BroadcastOp::create(b, type, index), vector::StepOp::create(b, type));
  }

  // A tile: accumulators (or, of an elementwise operation, just its results) in registers.
  void tile(Builder &b, const State &state) {
    SmallVector<Point> points = pointsOf(state);
    size_t outputs = llvm::count_if(shape.operands, [](const NestOperand &o) { return o.output; }),
           inputs = shape.operands.size() - outputs;
    if (shape.horizontal)
      return reduceLanes(b, state, points);
    SmallVector<Value> values;
    for (const Point &point : points)
      for (size_t o = inputs; o < shape.operands.size(); ++o) {
        bool read = !shape.op->getRegion(0).front().getArgument(o).use_empty();
        values.push_back(sums || !read ? arith::ConstantOp::create(b, b.getZeroAttr(vectorOf(shape.operands[o].element, point))).getResult()
                                       : load(b, state.places[o], shape.operands[o].element, point));
      }
    values = reduce(b, state, 0, points, values);
    if (sums) // this block's sum by itself, then what the blocks before left: fewer roundings of the large sum
      for (size_t p = 0; p < points.size(); ++p)
        for (size_t o = 0; o < outputs; ++o) {
          Value &value = values[p * outputs + o];
          value =
              arith::AddFOp::create(b, whole(b, value, points[p]),
                                    whole(b, load(b, state.places[inputs + o], shape.operands[inputs + o].element, points[p]), points[p]));
        }
    for (size_t p = 0; p < points.size(); ++p)
      for (size_t o = 0; o < outputs; ++o)
        store(b, state.places[inputs + o], points[p], values[p * outputs + o]);
  }
  // All combinations of what the tile covers of its parallel loops, the vector loop innermost.
  SmallVector<Point> pointsOf(const State &state) const {
    SmallVector<SmallVector<int64_t>> offsets = {SmallVector<int64_t>(shape.loops.size(), 0)};
    for (unsigned loop = 0; loop < shape.loops.size(); ++loop) {
      if (shape.loops[loop].reduction || loop == v)
        continue;
      SmallVector<SmallVector<int64_t>> next;
      for (const auto &at : offsets)
        for (int64_t i = 0; i < state.lengths[loop]; ++i) {
          next.push_back(at);
          next.back()[loop] = i;
        }
      offsets = std::move(next);
    }
    SmallVector<Point> points;
    for (const auto &at : offsets) {
      if (shape.horizontal)
        points.push_back({at, shape.lanes});
      else
        llvm::append_range(points, vectorsOf(state.lengths[v], at));
    }
    return points;
  }

  // The reduction loops from number `level` on, with the accumulators of all points carried through them.
  SmallVector<Value> reduce(Builder &b, const State &state, unsigned level, ArrayRef<Point> points, SmallVector<Value> values) {
    while (level < shape.loops.size() && (!shape.loops[level].reduction || level == v))
      ++level;
    if (level == shape.loops.size())
      return shape.horizontal ? alongVector(b, state, points, values) : step(b, state, points, values);
    bool last = true;
    int64_t extent = state.lengths[level], unrolled = 1, within = 1; // within: additions in one iteration
    for (unsigned loop = level + 1; loop < shape.loops.size(); ++loop)
      if (shape.loops[loop].reduction)
        last = false, within *= state.lengths[loop];
    if (last && !shape.horizontal)
      while (unrolled < 4 && unrolled < extent && int64_t(points.size()) * unrolled * 2 <= mostUnrolled)
        unrolled *= 2;
    auto body = [&](Builder &c, const State &inner, SmallVector<Value> carried) { return reduce(c, inner, level + 1, points, carried); };
    bool plain = shape.operands.size() - values.size() / points.size() == 1;
    int64_t apart = plain ? summedApart : productsApart;
    if (sums && !shape.horizontal && extent * within >= 2 * apart && within < 2 * apart && extent > 1)
      return loopInParts(b, state, level, extent, std::max<int64_t>(1, apart / within), unrolled, values, body);
    return loop(b, state, level, extent, unrolled, values, body);
  }

  // `body` for every iteration, the sums of `length` iterations at a time added to `values`.
  template <typename Body>
  SmallVector<Value> loopInParts(Builder &b, const State &state, unsigned level, int64_t extent, int64_t length, int64_t unrolled,
                                 SmallVector<Value> values, Body body) {
    auto part = [&](Builder &c, const State &from, int64_t iterations, SmallVector<Value> carried) {
      SmallVector<Value> zeros;
      for (Value value : carried)
        zeros.push_back(arith::ConstantOp::create(c, c.getZeroAttr(value.getType())));
      for (auto [value, sum] : llvm::zip_equal(carried, loop(c, from, level, iterations, unrolled, zeros, body)))
        value = arith::AddFOp::create(c, value, sum);
      return carried;
    };
    int64_t wholes = extent / length * length;
    auto made = scf::ForOp::create(b, constant(b, 0), constant(b, wholes), constant(b, length), values);
    Builder c(b.getLoc(), b.getContext());
    c.setInsertionPointToEnd(made.getBody());
    scf::YieldOp::create(c,
                         part(c, advanced(c, state, level, made.getInductionVar()), length, SmallVector<Value>(made.getRegionIterArgs())));
    values = SmallVector<Value>(made.getResults());
    return wholes < extent ? part(b, advanced(b, state, level, wholes), extent - wholes, values) : values;
  }

  // `body` for every iteration of a loop, `unrolled` of them at a time, with values carried.
  template <typename Body>
  SmallVector<Value> loop(Builder &b, const State &state, unsigned level, int64_t extent, int64_t unrolled, SmallVector<Value> values,
                          Body body) {
    int64_t wholes = extent / unrolled * unrolled;
    auto several = [&](Builder &c, const State &from, int64_t count, SmallVector<Value> carried) {
      for (int64_t i = 0; i < count; ++i)
        carried = body(c, advanced(c, from, level, i), carried);
      return carried;
    };
    if (wholes > unrolled) {
      auto made = scf::ForOp::create(b, constant(b, 0), constant(b, wholes), constant(b, unrolled), values);
      Builder c(b.getLoc(), b.getContext());
      c.setInsertionPointToEnd(made.getBody());
      SmallVector<Value> next =
          several(c, advanced(c, state, level, made.getInductionVar()), unrolled, SmallVector<Value>(made.getRegionIterArgs()));
      scf::YieldOp::create(c, next);
      values = SmallVector<Value>(made.getResults());
    } else {
      values = several(b, state, wholes, values);
    }
    return several(b, advanced(b, state, level, wholes), extent - wholes, values);
  }

  SmallVector<Value> step(Builder &b, const State &state, ArrayRef<Point> points, ArrayRef<Value> values) const {
    size_t outputs = values.size() / points.size();
    Loads loads;
    SmallVector<Value> next;
    for (auto [p, point] : llvm::enumerate(points))
      for (auto [o, value] : llvm::enumerate(evaluate(b, state, point, values.slice(p * outputs, outputs), loads)))
        next.push_back(whole(b, value, point));
    return next;
  }

  // The vector loop is a reduction: each point has `shape.vectors` accumulators, which take turns.
  void reduceLanes(Builder &b, const State &state, ArrayRef<Point> points) {
    SmallVector<Operation *> combiners;
    matchReduction(linalg::LinalgOp(shape.op).getRegionOutputArgs(), 0, combiners);
    const NestOperand &output = shape.operands.back();
    VectorType type = VectorType::get(shape.lanes, output.element);
    Value neutral = vector::BroadcastOp::create(b, type, arith::ConstantOp::create(b, *arith::getNeutralElement(combiners[0])));
    SmallVector<Value> values(points.size() * shape.vectors, neutral);
    values = reduce(b, state, 0, points, values);
    for (auto [p, point] : llvm::enumerate(points)) {
      Value sum = values[p * shape.vectors];
      for (int64_t i = 1; i < shape.vectors; ++i)
        sum = vector::makeArithReduction(b, b.getLoc(), *shape.combining, sum, values[p * shape.vectors + i]);
      const Place &place = state.places.back();
      Value at = plus(b, place.at, offsetOf(place, point));
      Value before = memref::LoadOp::create(b, place.flat, ValueRange(at));
      memref::StoreOp::create(b, vector::makeArithReduction(b, b.getLoc(), *shape.combining, before, acrossLanes(b, sum)), place.flat,
                              ValueRange(at));
    }
  }
  // Halves on halves: every kind of reduction takes log2(lanes) steps.
  Value acrossLanes(Builder &b, Value vector) const {
    for (int64_t half = shape.lanes / 2; half; half /= 2) {
      SmallVector<int64_t> low(half), high(half);
      std::iota(low.begin(), low.end(), 0);
      std::iota(high.begin(), high.end(), half);
      vector = vector::makeArithReduction(b, b.getLoc(), *shape.combining, vector::ShuffleOp::create(b, vector, vector, low),
                                          vector::ShuffleOp::create(b, vector, vector, high));
    }
    return vector::ExtractOp::create(b, vector, 0);
  }
  SmallVector<Value> alongVector(Builder &b, const State &state, ArrayRef<Point> points, SmallVector<Value> values) {
    auto turn = [&](Builder &c, const State &from, int64_t length, SmallVector<Value> carried) {
      Loads loads;
      for (auto [p, point] : llvm::enumerate(points))
        for (auto [i, part] : llvm::enumerate(vectorsOf(length, point.at))) {
          Value &value = carried[p * shape.vectors + i];
          if (part.lanes == shape.lanes || underMask(part)) {
            Value next = whole(c, evaluate(c, from, part, {value}, loads)[0], part);
            value = underMask(part) ? arith::SelectOp::create(c, maskOf(c, part), next, value).getResult() : next;
          } else { // a shorter vector: its accumulator is the first lanes of the whole one
            Value few =
                vector::ExtractStridedSliceOp::create(c, value, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{part.lanes}, ArrayRef<int64_t>{1});
            Value next = whole(c, evaluate(c, from, part, {few}, loads)[0], part);
            value = vector::InsertStridedSliceOp::create(c, next, value, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
          }
        }
      return carried;
    };
    int64_t extent = state.lengths[v], length = shape.vectors * shape.lanes, wholes = extent / length * length;
    if (wholes > length) {
      auto made = scf::ForOp::create(b, constant(b, 0), constant(b, wholes), constant(b, length), values);
      Builder c(b.getLoc(), b.getContext());
      c.setInsertionPointToEnd(made.getBody());
      scf::YieldOp::create(c, turn(c, advanced(c, state, v, made.getInductionVar()), length, SmallVector<Value>(made.getRegionIterArgs())));
      values = SmallVector<Value>(made.getResults());
    } else if (wholes) {
      values = turn(b, state, length, values);
    }
    return wholes < extent ? turn(b, advanced(b, state, v, wholes), extent - wholes, values) : values;
  }
};
} // namespace

void cpu::formNests(func::FuncOp kernel, const Registers &registers) {
  SmallVector<linalg::LinalgOp> ops;
  kernel.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops)
    if (std::optional<NestShape> shape = shapeOf(op, registers))
      Nest(*shape, registers).emit();
}
