// Matrix products as numpy's matmul broadcasts them.
#pragma once
#include "models/node.h"

namespace dougong::models {

// a [… , m, k] × b [… , k, n], summed in `accumulator`; rank 1 is a row or a column.
Value *matrix_product(Node &node, Value *a, Value *b, ElementType accumulator);

} // namespace dougong::models
