// The choice of tile sizes.
#pragma once
#include "compiler/tile/Plan.h"

namespace dougong {

struct Machine;

// What a plan costs on a machine, by a simple account: cycles until the last core is done, and what it holds on chip.
struct Cost {
  double cycles;
  int64_t localBytes, accumulatorBytes;
};
Cost costOf(const Plan &plan, const Machine &machine);

// The plan of least cost among those that fit `budget` (a share) of LM and ACC. None if there is none: `refused` and `reason` of
// `best` then say why not.
bool searchPlan(mlir::func::FuncOp kernel, const Machine &machine, double budget, Plan &best);

} // namespace dougong
