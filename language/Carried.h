// What a loop or a dynamic `if` changes is found by trying: the body is emitted once on the side, the parts of the
// variables that differ afterwards become loop-carried values (or results), and the body is emitted again for good. So the
// base of a pointer that moves is carried, while its strides stay known.
#pragma once
#include "language/Emitter.h"

namespace dougong::language {

// Of one kind, type and shape, and with the same parts present.
bool sameStructure(const Term &a, const Term &b);
// The same number, or the same IR values.
bool sameValue(const Term &a, const Term &b);
void eraseWithUses(mlir::Operation *op);

} // namespace dougong::language
