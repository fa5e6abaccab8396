// Values on their way into a loop or out of an `if`: whether they have the same form, and how they are given it.
#include "language/Carried.h"

using namespace mlir;
using namespace dougong::language;

Term Emitter::plain(const Term &value) {
  Term out = value;
  if (value.isConstant())
    out = Term::of(toTile(value));
  if (out.kind == Term::Tiled) {
    out.tile.value = tensor(out.tile);
    out.tile.affine.reset();
    out.tile.box.reset();
  }
  if (out.kind == Term::Tuple)
    for (Term &item : out.items)
      item = plain(item);
  return out;
}

bool dougong::language::sameStructure(const Term &a, const Term &b) {
  if (a.kind != b.kind || a.items.size() != b.items.size())
    return false;
  if (a.kind == Term::Tiled && (a.tile.shape != b.tile.shape || !(a.tile.type == b.tile.type)))
    return false;
  SmallVector<mlir::Value> x = flatten(a), y = flatten(b);
  if (x.size() != y.size())
    return false;
  for (auto [p, q] : llvm::zip(x, y))
    if (!p != !q || (p && p.getType() != q.getType()))
      return false;
  return true;
}

// `value`, made to have the parts that `model` has; fails where it cannot.
Term Emitter::agree(const Term &value, const Term &model) {
  if (sameStructure(value, model))
    return value;
  if (value.isConstant() && model.kind == Term::Tiled) {
    Tile tile = toTile(value, model.tile.type);
    return agree(Term::of(broadcast(cast(tile, model.tile.type), model.tile.shape)), model);
  }
  if (value.kind == Term::Tiled && model.kind == Term::Tiled && value.tile.shape == model.tile.shape && value.tile.type == model.tile.type)
    return plain(value);
  if (value.kind == Term::Tuple && model.kind == Term::Tuple && value.items.size() == model.items.size()) {
    Term out = value;
    for (size_t i = 0; i < out.items.size(); ++i)
      out.items[i] = agree(out.items[i], model.items[i]);
    return out;
  }
  fail(fmt::format("a variable is {} before and {} after; its type and shape must stay the same here", model.describe(), value.describe()));
}

bool dougong::language::sameValue(const Term &a, const Term &b) {
  if (a.kind != b.kind)
    return false;
  if (a.isConstant())
    return a.integer == b.integer && a.real == b.real;
  if (!sameStructure(a, b))
    return false;
  return flatten(a) == flatten(b);
}

void dougong::language::eraseWithUses(Operation *op) {
  op->walk([](Operation *inner) { inner->dropAllReferences(); });
  op->walk([](Operation *inner) { inner->dropAllUses(); });
  op->erase();
}

// Runs `emit` with its code going into a region that is thrown away; `scope` is left as `emit` leaves it.
void Emitter::trial(llvm::function_ref<void()> emit) {
  OpBuilder::InsertionGuard guard(builder);
  auto region = scf::ExecuteRegionOp::create(builder, loc, TypeRange());
  builder.setInsertionPointToStart(&region.getRegion().emplaceBlock());
  try {
    emit();
  } catch (Abandon) {
    eraseWithUses(region);
    throw;
  }
  eraseWithUses(region);
}
