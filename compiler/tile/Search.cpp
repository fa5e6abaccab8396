// The choice of tile sizes: combinations of sizes are planned and priced, and the cheapest that fits is taken.
#include "compiler/tile/Search.h"
#include "machines/machine.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <set>

using namespace mlir;

namespace dougong {

static constexpr int64_t lanes = 32;
static constexpr int64_t reservedBytes = 24 * 1024; // stack, descriptors, constants
static constexpr double programCycles = 200;        // to set up a program, and an iteration of a loop inside of it
static constexpr double lostToDram = 0.3;           // of DRAM's work or the cores', whichever is less
static constexpr double lostOverlap = 0.15;         // of the work of engines that are not the bottleneck

// Bytes of a tile in LM: whole lines, and room for a last vector that overruns.
static int64_t localBytes(RankedTensorType type) {
  int64_t bits = std::max<int64_t>(8, type.getElementTypeBitWidth());
  return llvm::alignTo(type.getNumElements() * bits / 8 + 4 * (lanes - 1), 4 * lanes);
}

static int64_t bytes(RankedTensorType type) { return type.getNumElements() * std::max<int64_t>(8, type.getElementTypeBitWidth()) / 8; }

// The run of a box that is contiguous in memory, in elements: dimensions from the innermost stride out, as long as each is whole.
static int64_t contiguousRun(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] != 1)
      order.push_back(dim);
  llvm::sort(order, [&](unsigned a, unsigned b) { return strides[a] < strides[b]; });
  int64_t run = 1;
  for (unsigned dim : order) {
    if (strides[dim] != run)
      break;
    run *= sizes[dim];
  }
  return run;
}

static double dmaCycles(int64_t bytes, int64_t run, int64_t elementBytes, const Machine &machine) {
  double runs = double(bytes) / double(run * elementBytes);
  return runs * llvm::divideCeil(run * elementBytes, machine.dma.bytes_per_cycle) + machine.dma.startup_cycles;
}

// Vector instructions of an operation's body for 32 elements; transcendental ones and division take several.
static double bodyCycles(linalg::LinalgOp op) {
  double arithmetic = 0;
  op.getBlock()->walk([&](Operation *each) {
    if (isa<arith::DivFOp, math::ExpOp, math::SqrtOp, math::TanhOp, math::ErfOp, math::LogOp, math::PowFOp>(each))
      arithmetic += 8;
    else if (!isa<arith::ConstantOp, linalg::YieldOp, arith::ExtFOp, arith::TruncFOp>(each))
      arithmetic += 1;
  });
  return std::max(arithmetic / 2, double(op->getNumOperands()));
}

// How often a core loads a tile in `rounds` programs: what it has from the program before, it keeps.
static double timesLoaded(const Node &node, const Plan &plan, double rounds) {
  if (node.box.dependsOn(reductionAxis))
    return rounds * double(plan.trips);
  for (unsigned axis = 0; axis < programAxes; ++axis) {
    if (!node.box.dependsOn(axis))
      continue;
    double different = 1; // tiles from one to the next of this axis, in the order of programs
    for (unsigned slower = axis; slower < programAxes; ++slower)
      different *= double(plan.grid[slower]);
    return std::min(rounds, different);
  }
  return 1;
}

// The part of what a box loads or stores, over all programs, that is not clipped.
static double filled(const Box &box, const Plan &plan) {
  double part = 1;
  for (unsigned axis = 0; axis < programAxes; ++axis)
    if (box.dependsOn(axis))
      part *= plan.filled[axis];
  return part;
}

// Vectors that an operation of the vector unit runs over: along the last dimension of its result, or of its reduction.
static double vectorsOf(linalg::LinalgOp op, const Node &node) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  int64_t along = 1;
  if (result.getNumResults() > 0)
    if (auto loop = dyn_cast<AffineDimExpr>(result.getResult(result.getNumResults() - 1)))
      along = node.box.sizes[loop.getPosition()];
  if (op.getNumReductionLoops() && along < lanes && !node.box.sizes.empty())
    along = std::max(along, node.box.sizes.back());
  return double(node.box.elements()) / double(along) * (double(llvm::divideCeil(along, lanes)) + 0.25);
}

Cost costOf(const Plan &plan, const Machine &machine) {
  int64_t programs = plan.grid[0] * plan.grid[1] * plan.grid[2];
  double rounds = double(llvm::divideCeil(programs, machine.device.cores));
  double load = 0, tensor = 0, vector = 0, store = 0, overhead = programCycles, first = 0, moved = 0;
  int64_t local = 0, accumulators = 0;
  for (const Node &node : plan.nodes) {
    double times = node.reduced ? double(plan.trips) : 1;
    if (node.kind == Node::Kind::Load) {
      double cycles = dmaCycles(bytes(node.type), contiguousRun(node.box.sizes, node.view.strides),
                                std::max(1u, node.type.getElementTypeBitWidth() / 8), machine);
      double loads = timesLoaded(node, plan, rounds);
      load += cycles * loads / rounds;
      double loaded = double(bytes(node.type)) * filled(node.box, plan) * loads * std::min<double>(programs, machine.device.cores);
      double whole = double(node.view.shape.empty() ? 1 : Box{{}, node.view.shape}.elements()) * node.type.getElementTypeBitWidth() / 8;
      // L2 has again what is read again soon: small arguments, and the halos of neighbours.
      bool again = whole < double(machine.l2_bytes()) / 2 || loaded < 1.6 * whole;
      moved += again ? std::min(loaded, whole) : loaded;
      first += cycles;
      local += 2 * localBytes(node.type);
      overhead += times * 40;
    } else if (node.kind == Node::Kind::Mask || node.kind == Node::Kind::Reshape) {
      vector += times * double(localBytes(node.type)) / 64;
      local += localBytes(node.type);
    } else if (node.kind == Node::Kind::Compute && !isa<linalg::FillOp>(node.op)) {
      auto op = cast<linalg::LinalgOp>(node.op);
      local += localBytes(node.type);
      overhead += times * 30;
      if (!isTensorWork(op)) {
        vector += times * vectorsOf(op, node) * bodyCycles(op);
        continue;
      }
      int64_t n = node.type.getShape().empty() ? 1 : node.type.getShape().back(), m = node.type.getNumElements() / n;
      int64_t k = node.box.elements() / node.type.getNumElements();
      tensor += times * (double(llvm::divideCeil(m, machine.tensor.rows) * llvm::divideCeil(n, machine.tensor.columns) * k) /
                             machine.tensor.f16_rate +
                         machine.tensor.startup_cycles);
      vector += double(m * n * 4) / machine.tensor.drain_bytes_per_cycle + machine.tensor.drain_startup_cycles;
      accumulators += 2 * m * n * 4;
    }
  }
  for (const Store &each : plan.stores) {
    auto type = plan.nodes[each.node.first].type;
    int64_t run = contiguousRun(each.box.sizes, each.strides);
    store += dmaCycles(bytes(type), run, std::max(1u, type.getElementTypeBitWidth() / 8), machine);
    local += localBytes(type); // a second slot
    moved += double(bytes(type)) * filled(each.box, plan) * double(programs);
  }
  double busiest = std::max({load, tensor, vector, store}), sum = load + tensor + vector + store;
  double engines = rounds * (busiest + lostOverlap * (sum - busiest) + overhead) + first + vector + store;
  double dram = moved / machine.dram_bytes_per_cycle(); // which all cores share
  return {std::max(engines, dram) + lostToDram * std::min(engines, dram), local, accumulators};
}

// A few sizes for a dimension of this extent: all of it, even parts, powers of two.
static SmallVector<int64_t> sizesFor(int64_t extent, bool innermost, int64_t period, const Machine &machine) {
  std::set<int64_t> sizes{extent};
  int64_t grain = innermost ? lanes : std::lcm(extent > 1024 ? 8 : 1, period);
  auto add = [&](int64_t size) {
    size = llvm::alignTo(size, grain);
    if (size > 0 && size < extent)
      sizes.insert(size);
  };
  for (int64_t parts : {2, 3, 4, 5, 6, 8, 10, 16, 20, 32})
    add(llvm::divideCeil(extent, parts));
  if (extent > 64)
    for (int64_t rounds : {1, 2, 3, 4, 6, 8, 12})
      add(llvm::divideCeil(extent, rounds * machine.device.cores));
  for (int64_t size = innermost ? lanes : 1; size <= 4096; size *= 2)
    if (extent / size <= 4096)
      add(size);
  return SmallVector<int64_t>(sizes.begin(), sizes.end());
}

// What tiles begin at multiples of, so that divisions in indexing maps (a resize's d1 floordiv 8) come out even.
static int64_t periodOf(func::FuncOp kernel) {
  int64_t period = 1;
  kernel.walk([&](linalg::LinalgOp op) {
    for (AffineMap map : op.getIndexingMapsArray())
      map.walkExprs([&](AffineExpr expr) {
        auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
        auto divisor = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : nullptr;
        bool divides = expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::CeilDiv ||
                       expr.getKind() == AffineExprKind::Mod;
        if (divisor && divides && divisor.getValue() > 0 && std::lcm(period, divisor.getValue()) <= 64)
          period = std::lcm(period, divisor.getValue());
      });
  });
  return period;
}

namespace {

class Search {
public:
  Search(func::FuncOp kernel, const Machine &machine, double budget, Plan &best)
      : kernel(kernel), machine(machine), domain(domainOf(kernel)), best(best) {
    localLimit = int64_t(double(machine.lm_bytes() - reservedBytes) * budget);
    accumulatorLimit = int64_t(double(machine.acc_bytes()) * budget);
  }

  bool run() {
    int64_t period = periodOf(kernel);
    for (auto [dim, extent] : llvm::enumerate(domain.extents))
      sizes.push_back(domain.tileable[dim] ? sizesFor(extent, dim + 1 == domain.extents.size(), period, machine)
                                           : SmallVector<int64_t>{extent});
    Choice choice;
    explore(choice);
    // A loop over the reduction lets its first chunks be computed while the next are loaded: worth it where tiles are large, or
    // programs so few that they do not overlap each other.
    if (found && mostBytes < localLimit * 3 / 5 && best.grid[0] * best.grid[1] * best.grid[2] > 4 * machine.device.cores)
      return true;
    for (const auto &[op, loop, chunk] : reductionTiles()) {
      choice.reducedOp = op, choice.reducedLoop = loop, choice.reducedChunk = chunk;
      explore(choice);
    }
    return found;
  }

private:
  // A coarse grid of sizes first, then from the best of all one dimension after the other, in all sizes.
  void explore(Choice &choice) {
    bool foundBefore = found;
    double before = leastCycles;
    every(choice);
    if (!found || (foundBefore && leastCycles == before))
      return;
    for (bool better = true; better;) {
      better = false;
      for (size_t dim = 0; dim < sizes.size(); ++dim) {
        double least = leastCycles;
        Choice around = best.choice;
        for (int64_t size : sizes[dim]) {
          around.tile[dim] = size;
          attempt(around);
        }
        better |= leastCycles < least;
      }
    }
  }

  static SmallVector<int64_t> coarse(ArrayRef<int64_t> all) {
    constexpr size_t few = 5;
    if (all.size() <= few)
      return SmallVector<int64_t>(all);
    SmallVector<int64_t> some;
    for (size_t i = 0; i < few; ++i)
      some.push_back(all[i * (all.size() - 1) / (few - 1)]);
    return some;
  }

  void every(Choice &choice) {
    size_t dim = choice.tile.size();
    if (dim == sizes.size()) {
      attempt(choice);
      return;
    }
    for (int64_t size : coarse(sizes[dim])) {
      choice.tile.push_back(size);
      every(choice);
      choice.tile.pop_back();
    }
  }

  void attempt(Choice choice) {
    SmallVector<unsigned> tiled;
    int64_t elements = 1;
    for (auto [dim, extent] : llvm::enumerate(domain.extents)) {
      if (choice.tile[dim] < extent)
        tiled.push_back(dim);
      elements *= choice.tile[dim];
    }
    if (tiled.size() > programAxes || elements > localLimit)
      return;
    // The innermost dimension changes last, so that programs in a row share the columns of a contraction's weights.
    choice.axis.assign(domain.extents.size(), -1);
    int axis = 0;
    bool innermostLast = !tiled.empty() && tiled.back() + 1 == domain.extents.size();
    for (unsigned dim : llvm::reverse(innermostLast ? ArrayRef(tiled).drop_back() : ArrayRef(tiled)))
      choice.axis[dim] = axis++;
    if (innermostLast)
      choice.axis[tiled.back()] = axis;
    Plan plan;
    if (!makePlan(kernel, choice, plan)) {
      if (!found)
        best.refused = plan.refused, best.reason = plan.reason;
      return;
    }
    Cost cost = costOf(plan, machine);
    if (cost.localBytes > localLimit || cost.accumulatorBytes > accumulatorLimit) {
      if (!found && cost.localBytes < leastBytes) {
        leastBytes = cost.localBytes;
        best.refused = kernel;
        best.reason = "its smallest tiles take " + std::to_string(cost.localBytes) + " bytes of local memory and " +
                      std::to_string(cost.accumulatorBytes) + " of accumulators, and there are " + std::to_string(localLimit) + " and " +
                      std::to_string(accumulatorLimit);
      }
      return;
    }
    if (found && cost.cycles >= leastCycles)
      return;
    found = true;
    leastCycles = cost.cycles;
    mostBytes = cost.localBytes;
    best = std::move(plan);
  }

  // Loops of large reductions, and chunks that divide them.
  SmallVector<std::tuple<Operation *, unsigned, int64_t>> reductionTiles() {
    SmallVector<std::tuple<Operation *, unsigned, int64_t>> tiles;
    kernel.walk([&](linalg::LinalgOp op) {
      if (!op.getNumReductionLoops())
        return;
      SmallVector<int64_t> ranges = op.getStaticLoopRanges();
      SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
      int64_t all = 1;
      std::optional<unsigned> longest;
      for (unsigned loop = 0; loop < ranges.size(); ++loop)
        if (linalg::isReductionIterator(kinds[loop])) {
          all *= ranges[loop];
          if (!longest || ranges[loop] > ranges[*longest])
            longest = loop;
        }
      if (all < 1024 || ranges[*longest] < 2)
        return;
      int64_t grain = isTensorWork(op) ? lanes : 1;
      size_t count = 0;
      for (int64_t chunk = ranges[*longest] / 2; chunk >= grain && count < 6; --chunk)
        if (ranges[*longest] % chunk == 0 && chunk % grain == 0) {
          tiles.push_back({op, *longest, chunk});
          ++count;
        }
    });
    return tiles;
  }

  func::FuncOp kernel;
  const Machine &machine;
  Domain domain;
  SmallVector<SmallVector<int64_t>> sizes;
  Plan &best;
  int64_t localLimit, accumulatorLimit, leastBytes = INT64_MAX, mostBytes = 0;
  double leastCycles = 0;
  bool found = false;
};

} // namespace

bool searchPlan(func::FuncOp kernel, const Machine &machine, double budget, Plan &best) {
  return Search(kernel, machine, budget, best).run();
}

} // namespace dougong
