// Runs kernels in graph or tile form on the host the slow and simple way: upstream's bufferization, its loops, its lowering
// to LLVM, its execution engine. None of the project's own lowering takes part, so it can judge it.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace dougong {

using Bytes = std::vector<char>;

// Runs function `name` of `module`, which is left as it is. `memory` holds one buffer an argument, then, for graph form, one a
// result; what the function writes is found there. In tile form the programs of `dg.grid` run one after the other. Graph form
// may call other functions of the module. Throws std::runtime_error if something cannot be lowered.
void execute(mlir::ModuleOp module, const std::string &name, std::vector<Bytes> &memory);

} // namespace dougong
