// dg.load, dg.store, dg.gather, dg.scatter, dg.atomic → loops between global memory and a tile's buffer.
//
//   %t = dg.load %base[%o] strides [%s, %c1] lower [%l0, %l1] upper [%u0, %u1] : memref<?xf32> -> tensor<8x64xf32>
// →
//   %buffer = memref.alloc() : memref<8x64xf32>
//   for i0 in 0..8
//     if l0 <= i0 < u0:  for i1 in [0, lo): fill    for i1 in [lo, hi): copy    for i1 in [hi, 64): fill
//     else:              for i1 in [0, 64): fill
//   %t = bufferization.to_tensor %buffer restrict writable
//
// with [lo, hi) = [l1, u1) clipped to [0, 64): the innermost loops have no condition in them, so that LLVM vectorises them,
// and memory outside of the bounds is never touched.
#include "compiler/cpu/cpu.h"
#include "compiler/dialect/Dg.h"

using namespace mlir;
using namespace dougong;

namespace {
using Indices = SmallVector<Value>;

// Calls `body` in a loop nest over `shape`, with all indices.
void overShape(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape, Indices &at, function_ref<void(ImplicitLocOpBuilder &, Indices &)> body) {
  if (at.size() == shape.size())
    return body(b, at);
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  auto loop = scf::ForOp::create(b, zero, arith::ConstantIndexOp::create(b, shape[at.size()]), one);
  ImplicitLocOpBuilder inner(b.getLoc(), loop.getBody()->getTerminator());
  at.push_back(loop.getInductionVar());
  overShape(inner, shape, at, body);
  at.pop_back();
}

struct Clipped {
  Value base, offset;
  ValueRange strides, lower, upper;
  ArrayRef<int64_t> shape;
  function_ref<void(ImplicitLocOpBuilder &, Value address, Indices &)> inside;
  function_ref<void(ImplicitLocOpBuilder &, Indices &)> outside; // null: nothing happens there
  ValueRange starts = {}, moduli = {};                           // empty: no dimension wraps

  Value address(ImplicitLocOpBuilder &b, Value outer, Value index, size_t dimension) const {
    return arith::AddIOp::create(b, outer, arith::MulIOp::create(b, index, strides[dimension]));
  }

  void range(ImplicitLocOpBuilder &b, Value from, Value to, Indices &at, function_ref<void(ImplicitLocOpBuilder &, Indices &)> body) const {
    auto loop = scf::ForOp::create(b, from, to, arith::ConstantIndexOp::create(b, 1));
    ImplicitLocOpBuilder inner(b.getLoc(), loop.getBody()->getTerminator());
    at.push_back(loop.getInductionVar());
    body(inner, at);
    at.pop_back();
  }

  // i in [lo, hi) stands for (start + i) mod m in the address: turn by turn, so that the loops inside are plain.
  //   for w in 0 .. ceil((r + hi) / m):   for i in [max(lo, w·m - r), min(hi, (w + 1)·m - r)):  … i + r - w·m …      with r = start mod m
  void wrapped(ImplicitLocOpBuilder &b, Value lo, Value hi, Indices &at, Value outer) const {
    size_t dimension = at.size();
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1), m = moduli[dimension];
    Value r = arith::RemUIOp::create(b, starts[dimension], m);
    auto turns = scf::ForOp::create(b, zero, arith::CeilDivUIOp::create(b, arith::AddIOp::create(b, r, hi), m), one);
    ImplicitLocOpBuilder c(b.getLoc(), turns.getBody()->getTerminator());
    Value back = arith::SubIOp::create(c, arith::MulIOp::create(c, turns.getInductionVar(), m), r);
    Value first = arith::MaxSIOp::create(c, lo, back), last = arith::MinSIOp::create(c, hi, arith::AddIOp::create(c, back, m));
    Value base = arith::SubIOp::create(c, outer, arith::MulIOp::create(c, back, strides[dimension]));
    range(c, first, last, at, [&](ImplicitLocOpBuilder &d, Indices &i) { emit(d, i, address(d, base, i.back(), dimension)); });
  }

  void emit(ImplicitLocOpBuilder &b, Indices &at, Value outer) const {
    size_t dimension = at.size(), rank = shape.size();
    if (dimension == rank)
      return inside(b, outer, at);
    Value zero = arith::ConstantIndexOp::create(b, 0), size = arith::ConstantIndexOp::create(b, shape[dimension]);
    auto step = [&](ImplicitLocOpBuilder &c, Indices &i) { emit(c, i, address(c, outer, i.back(), dimension)); };
    if (lower.empty() && (moduli.empty() || matchPattern(moduli[dimension], m_Zero())))
      return range(b, zero, size, at, step);
    if (lower.empty())
      return wrapped(b, zero, size, at, outer);
    Value lo = arith::MinSIOp::create(b, arith::MaxSIOp::create(b, lower[dimension], zero), size);
    Value hi = arith::MaxSIOp::create(b, arith::MinSIOp::create(b, upper[dimension], size), lo);
    auto fill = [&](ImplicitLocOpBuilder &c, Indices &i) {
      Indices all(i);
      overShape(c, shape, all, outside);
    };
    if (outside)
      range(b, zero, lo, at, fill);
    if (moduli.empty() || matchPattern(moduli[dimension], m_Zero()))
      range(b, lo, hi, at, step);
    else
      wrapped(b, lo, hi, at, outer);
    if (outside)
      range(b, hi, size, at, fill);
  }
};

MemRefType bufferType(RankedTensorType tensor) { return MemRefType::get(tensor.getShape(), tensor.getElementType()); }

Value readOnlyBuffer(ImplicitLocOpBuilder &b, Value tensor) {
  return bufferization::ToBufferOp::create(b, bufferType(cast<RankedTensorType>(tensor.getType())), tensor, /*read_only=*/true);
}

Value asTensor(ImplicitLocOpBuilder &b, RankedTensorType type, Value buffer) {
  return bufferization::ToTensorOp::create(b, type, buffer, /*restrict=*/true, /*writable=*/true);
}

void lower(dg::LoadOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType tile = op.getTileType();
  Value buffer = memref::AllocOp::create(b, bufferType(tile));
  Value fill = op.getFill();
  if (!fill)
    fill = arith::ConstantOp::create(b, b.getZeroAttr(tile.getElementType()));
  auto inside = [&](ImplicitLocOpBuilder &c, Value address, Indices &at) {
    memref::StoreOp::create(c, memref::LoadOp::create(c, op.getBase(), address), buffer, at);
  };
  auto outside = [&](ImplicitLocOpBuilder &c, Indices &at) { memref::StoreOp::create(c, fill, buffer, at); };
  Indices at;
  Clipped{op.getBase(),    op.getOffset(), op.getStrides(), op.getLower(),  op.getUpper(),
          tile.getShape(), inside,         outside,         op.getStarts(), op.getModuli()}
      .emit(b, at, op.getOffset());
  op.replaceAllUsesWith(asTensor(b, tile, buffer));
  op.erase();
}

void lower(dg::StoreOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value buffer = readOnlyBuffer(b, op.getTile());
  auto inside = [&](ImplicitLocOpBuilder &c, Value address, Indices &at) {
    memref::StoreOp::create(c, memref::LoadOp::create(c, buffer, at), op.getBase(), address);
  };
  Indices at;
  Clipped{op.getBase(), op.getOffset(), op.getStrides(), op.getLower(), op.getUpper(), op.getTileType().getShape(), inside, nullptr}.emit(
      b, at, op.getOffset());
  op.erase();
}

// Offsets are of any integer type, or index.
Value asIndex(ImplicitLocOpBuilder &b, Value offset) {
  return offset.getType().isIndex() ? offset : arith::IndexCastOp::create(b, b.getIndexType(), offset).getResult();
}

void lower(dg::GatherOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto tile = cast<RankedTensorType>(op.getTile().getType());
  Value buffer = memref::AllocOp::create(b, bufferType(tile));
  Value offsets = readOnlyBuffer(b, op.getOffsets());
  Value mask = op.getMask() ? readOnlyBuffer(b, op.getMask()) : Value();
  Value other = op.getOther() ? readOnlyBuffer(b, op.getOther()) : Value();
  Indices at;
  overShape(b, tile.getShape(), at, [&](ImplicitLocOpBuilder &c, Indices &i) {
    auto read = [&](ImplicitLocOpBuilder &d) -> Value {
      return memref::LoadOp::create(d, op.getBase(), asIndex(d, memref::LoadOp::create(d, offsets, i)));
    };
    Value element;
    if (!mask) {
      element = read(c);
    } else {
      element = scf::IfOp::create(
                    c, memref::LoadOp::create(c, mask, i),
                    [&](OpBuilder &d, Location loc) {
                      ImplicitLocOpBuilder e(loc, d);
                      scf::YieldOp::create(d, loc, read(e));
                    },
                    [&](OpBuilder &d, Location loc) {
                      Value neutral = other ? memref::LoadOp::create(d, loc, other, i).getResult()
                                            : arith::ConstantOp::create(d, loc, d.getZeroAttr(tile.getElementType())).getResult();
                      scf::YieldOp::create(d, loc, neutral);
                    })
                    .getResult(0);
    }
    memref::StoreOp::create(c, element, buffer, i);
  });
  op.replaceAllUsesWith(asTensor(b, tile, buffer));
  op.erase();
}

void lower(dg::ScatterOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto tile = cast<RankedTensorType>(op.getTile().getType());
  Value values = readOnlyBuffer(b, op.getTile()), offsets = readOnlyBuffer(b, op.getOffsets());
  Value mask = op.getMask() ? readOnlyBuffer(b, op.getMask()) : Value();
  Indices at;
  overShape(b, tile.getShape(), at, [&](ImplicitLocOpBuilder &c, Indices &i) {
    ImplicitLocOpBuilder d(c);
    if (mask) {
      auto branch = scf::IfOp::create(c, memref::LoadOp::create(c, mask, i), /*withElseRegion=*/false);
      d.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    memref::StoreOp::create(d, memref::LoadOp::create(d, values, i), op.getBase(), asIndex(d, memref::LoadOp::create(d, offsets, i)));
  });
  op.erase();
}

// One element's atomic change; the old value.
Value change(ImplicitLocOpBuilder &b, dg::AtomicOp op, Value address, Value value, Value expected) {
  if (!expected)
    return memref::AtomicRMWOp::create(b, value.getType(), op.getKind(), value, op.getBase(), ValueRange(address));
  auto loop = memref::GenericAtomicRMWOp::create(b, op.getBase(), ValueRange(address));
  ImplicitLocOpBuilder c(b.getLoc(), b.getContext());
  c.setInsertionPointToStart(loop.getBody());
  Value old = loop.getCurrentValue();
  Value same = isa<FloatType>(old.getType()) ? arith::CmpFOp::create(c, arith::CmpFPredicate::OEQ, old, expected).getResult()
                                             : arith::CmpIOp::create(c, arith::CmpIPredicate::eq, old, expected).getResult();
  memref::AtomicYieldOp::create(c, arith::SelectOp::create(c, same, value, old));
  return loop.getResult();
}

void lower(dg::AtomicOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto tile = cast<RankedTensorType>(op.getOld().getType());
  Value buffer = memref::AllocOp::create(b, bufferType(tile));
  Value values = readOnlyBuffer(b, op.getValues()), offsets = readOnlyBuffer(b, op.getOffsets());
  Value mask = op.getMask() ? readOnlyBuffer(b, op.getMask()) : Value();
  Value expected = op.getExpected() ? readOnlyBuffer(b, op.getExpected()) : Value();
  Indices at;
  overShape(b, tile.getShape(), at, [&](ImplicitLocOpBuilder &c, Indices &i) {
    ImplicitLocOpBuilder d(c);
    if (mask) {
      Value zero = arith::ConstantOp::create(c, c.getZeroAttr(tile.getElementType()));
      memref::StoreOp::create(c, zero, buffer, i);
      auto branch = scf::IfOp::create(c, memref::LoadOp::create(c, mask, i), /*withElseRegion=*/false);
      d.setInsertionPoint(branch.thenBlock()->getTerminator());
    }
    Value address = asIndex(d, memref::LoadOp::create(d, offsets, i));
    Value old = change(d, op, address, memref::LoadOp::create(d, values, i), expected ? memref::LoadOp::create(d, expected, i) : Value());
    memref::StoreOp::create(d, old, buffer, i);
  });
  op.replaceAllUsesWith(asTensor(b, tile, buffer));
  op.erase();
}
} // namespace

LogicalResult cpu::lowerAccess(func::FuncOp kernel) {
  SmallVector<Operation *> accesses;
  kernel.walk([&](Operation *op) {
    if (isa<dg::LoadOp, dg::StoreOp, dg::GatherOp, dg::ScatterOp, dg::AtomicOp>(op))
      accesses.push_back(op);
  });
  for (Operation *op : accesses)
    TypeSwitch<Operation *>(op).Case<dg::LoadOp, dg::StoreOp, dg::GatherOp, dg::ScatterOp, dg::AtomicOp>(
        [](auto access) { lower(access); });
  return success();
}
