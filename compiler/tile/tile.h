// Graph form → tile form for the NPU (ARCHITECTURE.md, section 4): what one program of a grid does.
//
//   func @k(%x: tensor<1x80x80x64xf16>, …) -> tensor<1x80x80x32xf16>       func @k(%x: memref<?xf16>, …, %out: memref<?xf16>)
//     %0 = linalg.conv…(%x, %w)                                        →      attributes {dg.kernel, dg.grid = array<i64: 5, 10, 1>}
//     %1 = generic {add; max} (%0, %b)                                        %i = dg.program_id 0 …
//                                                                             %t = dg.load %x[…] … -> tensor<1x10x18x64xf16>
//                                                                             %0 = linalg.conv… -> tensor<1x8x16x32xf32>
//                                                                             dg.store …
//
// Tile sizes come from the machine description: what fits LM and ACC with two slots, keeps all cores busy and costs least by
// a simple account of DMA, tensor engine and vector unit. `tileForNpu` of compiler/kernel.h is the whole of it for a module.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dougong {

struct Machine;

// Tiles one function in place. `budget` is the share of LM and ACC that its buffers may take by the tiler's own estimate: a
// caller that finds that a kernel does not fit after all clones the graph form first and tiles again with less. Fails with
// a diagnostic "cannot be tiled for the NPU: …" that names the operation and the reason; the function is then unchanged.
mlir::LogicalResult tileKernel(mlir::func::FuncOp kernel, const Machine &machine, double budget = 1.0);

// Is the function in tile form already (its arguments are memory and scalars)?
bool isTileForm(mlir::func::FuncOp kernel);

} // namespace dougong
