// Operands read through a map that divides → reads at computed places.
//
//   linalg.generic {maps = [(d0, d1) -> (d0 floordiv 8, d1), (d0, d1) -> (d0, d1)]} ins(%x) outs(%y) { ^bb0(%in, %out): … %in … }
// →
//   linalg.generic {maps = [(d0, d1) -> (d0, d1)]} outs(%y) { ^bb0(%out): %i = linalg.index 0; … %in = tensor.extract %x[%i floordiv 8, %j] … }
//
// Cutting an operation into boxes moves an operand's box by the map of the box's start, which is only right where
// (a + b) floordiv c = a floordiv c + b floordiv c: a box of rows 20…39 of a picture enlarged 8 times would read from row 16.
// Indices taken in the body are shifted exactly, wherever the box begins.
#include "compiler/cpu/cpu.h"

using namespace mlir;
using namespace dougong;

static bool divides(AffineMap map) {
  bool found = false;
  map.walkExprs([&](AffineExpr expr) {
    found |= expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::CeilDiv || expr.getKind() == AffineExprKind::Mod;
  });
  return found;
}

static void readAtComputedPlaces(linalg::GenericOp op) {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<OpOperand *> computed;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (divides(map)) {
      computed.push_back(input);
    } else {
      inputs.push_back(input->get());
      maps.push_back(map);
    }
  }
  if (computed.empty())
    return;
  for (OpOperand &init : op.getDpsInitsMutable())
    maps.push_back(op.getMatchingIndexingMap(&init));
  OpBuilder b(op);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange arguments) {
    IRMapping values;
    SmallVector<Value> indices;
    for (unsigned d = 0; d < op.getNumLoops(); ++d)
      indices.push_back(linalg::IndexOp::create(inner, loc, d));
    unsigned next = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      Value argument = op.getMatchingBlockArgument(&operand);
      if (!llvm::is_contained(computed, &operand)) {
        values.map(argument, arguments[next++]);
        continue;
      }
      AffineMap map = op.getMatchingIndexingMap(&operand);
      SmallVector<Value> at;
      for (unsigned r = 0; r < map.getNumResults(); ++r)
        at.push_back(affine::AffineApplyOp::create(inner, loc, map.getSubMap({r}), indices));
      values.map(argument, tensor::ExtractOp::create(inner, loc, operand.get(), at));
    }
    for (Operation &inside : op.getBody()->getOperations())
      inner.clone(inside, values);
  };
  auto replacement = linalg::GenericOp::create(b, op.getLoc(), op.getResultTypes(), inputs, op.getDpsInits(), maps, op.getIteratorTypesArray(), body);
  op->replaceAllUsesWith(replacement->getResults());
  op.erase();
}

void cpu::computeDividedReads(func::FuncOp kernel) {
  SmallVector<linalg::GenericOp> generics;
  kernel.walk([&](linalg::GenericOp op) { generics.push_back(op); });
  for (linalg::GenericOp op : generics)
    readAtComputedPlaces(op);
}
