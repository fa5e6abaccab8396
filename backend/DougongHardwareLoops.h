// Which loops become hardware loops, for the pass and for the costs that loop strength reduction asks for.
#pragma once

namespace llvm {

class Loop;
class ScalarEvolution;
class SCEV;

// How many times a loop runs, as an i64 (0: 2^64 times), if its latch decides that and the number is cheap to compute before it; else null.
const SCEV *hardwareTripCount(Loop &L, ScalarEvolution &SE);

} // namespace llvm
