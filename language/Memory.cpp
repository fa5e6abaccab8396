// Pointers, loads, stores and atomics. An access whose offsets are affine and whose mask is a box becomes one dg.load or dg.store;
// any other becomes a gather or a scatter.
#include "language/Emitter.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace dougong::language;

Pointer Emitter::advance(const Pointer &pointer, const Term &by, bool backwards) {
  if (!by.isNumber() || by.kind == Term::Real || (by.kind == Term::Tiled && !by.tile.type.isInt()))
    fail(fmt::format("a pointer moves by integers, not by {}", by.describe()));
  Term offset = Term::of(pointer.offset);
  Term step = by.kind == Term::Tiled && by.tile.type.bits < 64 && !by.tile.affine ? Term::of(cast(by.tile, {DType::Int, 64})) : by;
  Term moved = binary(backwards ? "-" : "+", offset, step);
  Pointer out = pointer;
  out.offset = toTile(moved);
  out.offset.type = {DType::Int, 64};
  return out;
}

// The structured form of an access, if it has one.
std::optional<Emitter::Window> Emitter::window(const Pointer &pointer, const Tile *mask) {
  const Tile &offset = pointer.offset;
  std::optional<Affine> affine = affineOf(offset);
  if (!affine || (mask && !mask->box && !(mask->shape.empty())))
    return std::nullopt;
  Window w;
  w.base = pointer.base;
  w.offset = affine->base ? affine->base : index(0);
  Shape shape = offset.shape.empty() ? Shape{1} : offset.shape;
  bool wrapped = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    mlir::Value stride = offset.shape.empty() ? mlir::Value() : affine->strides[d];
    w.strides.push_back(stride ? stride : index(0));
    bool wraps = !offset.shape.empty() && affine->moduli[d];
    wrapped |= wraps;
    w.starts.push_back(wraps ? affine->starts[d] : index(0));
    w.moduli.push_back(wraps ? affine->moduli[d] : index(0));
  }
  if (!wrapped) {
    w.starts.clear();
    w.moduli.clear();
  }
  if (!mask)
    return w;
  for (size_t d = 0; d < shape.size(); ++d) {
    mlir::Value lower = mask->box ? mask->box->lower[d] : mlir::Value(), upper = mask->box ? mask->box->upper[d] : mlir::Value();
    w.lower.push_back(lower ? lower : index(0));
    w.upper.push_back(upper ? upper : index(shape[d]));
  }
  if (mask->shape.empty()) // a scalar condition: all or nothing
    w.upper[0] = make<arith::SelectOp>(tensor(*mask), w.upper[0], index(0));
  return w;
}

Tile Emitter::memoryForm(const Tile &tile, bool toMemory) {
  if (!tile.type.isBool())
    return tile;
  return toMemory ? cast(tile, {DType::UInt, 8}) : tile;
}

Tile Emitter::loadWindow(const Window &w, DType type, const Shape &shape, mlir::Value fill) {
  DType stored = type.isBool() ? DType{DType::UInt, 8} : type;
  Shape tileShape = shape.empty() ? Shape{1} : shape;
  mlir::Value tile =
      dg::LoadOp::create(builder, loc, typeOf(stored, tileShape), w.base, w.offset, w.strides, w.lower, w.upper, fill, w.starts, w.moduli);
  if (shape.empty())
    tile = tensor::ExtractOp::create(builder, loc, tile, ValueRange{index(0)});
  return cast(Tile{stored, shape, tile, {}, {}}, type);
}

void Emitter::storeWindow(const Window &w, const Tile &tile) {
  Tile stored = memoryForm(tile, true);
  mlir::Value value = tensor(stored);
  if (tile.shape.empty())
    value = tensor::FromElementsOp::create(builder, loc, RankedTensorType::get({1}, value.getType()), value);
  if (!w.moduli.empty())
    fail("a store through offsets taken modulo an extent may write an element twice; store with a mask instead");
  dg::StoreOp::create(builder, loc, value, w.base, w.offset, w.strides, w.lower, w.upper);
}

Term Emitter::load(const Pointer &pointer, const Term &mask, const Term &other) {
  if (other.kind != Term::None && mask.kind == Term::None)
    fail("tl.load takes 'other' only together with 'mask'");
  const Shape &shape = pointer.offset.shape;
  std::optional<Tile> m;
  if (mask.kind != Term::None) {
    if (std::optional<bool> now = known(mask); now && *now)
      m = std::nullopt;
    else
      m = cast(toTile(mask), {DType::Int, 1});
  }
  Pointer p = pointer;
  if (m && m->shape.size() > shape.size())
    p.offset = broadcast(p.offset, m->shape);
  if (m && !m->shape.empty())
    m = broadcast(*m, p.offset.shape);
  DType type = pointer.pointee;
  bool scalarOther = other.kind == Term::None || other.isConstant() || (other.kind == Term::Tiled && other.tile.shape.empty());
  if (std::optional<Window> w = window(p, m ? &*m : nullptr)) {
    DType stored = type.isBool() ? DType{DType::UInt, 8} : type;
    mlir::Value fill = other.kind != Term::None && scalarOther ? cast(toTile(other, stored), stored).value : mlir::Value();
    Tile tile = loadWindow(*w, type, p.offset.shape, fill);
    if (!scalarOther) {
      Tile instead = broadcast(cast(other.tile, type), tile.shape);
      tile.value = make<arith::SelectOp>(tensor(broadcast(*m, tile.shape)), tensor(tile), tensor(instead));
    }
    return Term::of(tile);
  }
  Shape full = p.offset.shape.empty() ? Shape{1} : p.offset.shape;
  DType stored = type.isBool() ? DType{DType::UInt, 8} : type;
  mlir::Value maskTensor = m ? tensor(broadcast(*m, full)) : mlir::Value();
  mlir::Value otherTensor = other.kind == Term::None ? mlir::Value() : tensor(broadcast(cast(toTile(other, stored), stored), full));
  mlir::Value tile =
      dg::GatherOp::create(builder, loc, typeOf(stored, full), p.base, tensor(broadcast(p.offset, full)), maskTensor, otherTensor);
  if (p.offset.shape.empty())
    tile = tensor::ExtractOp::create(builder, loc, tile, ValueRange{index(0)});
  return Term::of(cast(Tile{stored, p.offset.shape, tile, {}, {}}, type));
}

void Emitter::store(const Pointer &pointer, const Term &value, const Term &mask) {
  Tile tile = cast(toTile(value, pointer.pointee), pointer.pointee);
  Pointer p = pointer;
  if (commonShape(tile.shape, p.offset.shape) != p.offset.shape)
    p.offset = broadcast(p.offset, commonShape(tile.shape, p.offset.shape));
  tile = broadcast(tile, p.offset.shape);
  std::optional<Tile> m;
  std::optional<bool> now = mask.kind == Term::None ? std::optional(true) : known(mask);
  if (!now || !*now) {
    m = cast(toTile(mask), {DType::Int, 1});
    if (!m->shape.empty())
      m = broadcast(*m, p.offset.shape);
  }
  if (std::optional<Window> w = window(p, m ? &*m : nullptr); w && w->moduli.empty())
    return storeWindow(*w, tile);
  Shape full = p.offset.shape.empty() ? Shape{1} : p.offset.shape;
  mlir::Value maskTensor = m ? tensor(broadcast(*m, full)) : mlir::Value();
  dg::ScatterOp::create(builder, loc, tensor(memoryForm(broadcast(tile, full), true)), p.base, tensor(broadcast(p.offset, full)),
                        maskTensor);
}

Term Emitter::memoryBuiltin(const std::string &name, Arguments &a) {
  if (a[0].kind == Term::Block) {
    if (name == "load")
      return loadBlock(a[0].block, a[3], a[4].text == "nan");
    storeBlock(a[0].block, a[1], a[3]);
    return {};
  }
  if (a[0].kind != Term::Pointing)
    fail(fmt::format("tl.{} takes a pointer, not {}", name, a[0].describe()));
  if (name == "load")
    return load(a[0].pointer, a[1], a[2]);
  store(a[0].pointer, a[1], a[2]);
  return {};
}

// --- atomics

static arith::AtomicRMWKind atomicKind(llvm::StringRef name, DType type) {
  using K = arith::AtomicRMWKind;
  bool isUnsigned = type.kind == DType::UInt || type.isBool();
  return llvm::StringSwitch<K>(name)
      .Case("atomic_add", type.isFloat() ? K::addf : K::addi)
      .Case("atomic_max", type.isFloat() ? K::maxnumf
                          : isUnsigned   ? K::maxu
                                         : K::maxs)
      .Case("atomic_min", type.isFloat() ? K::minnumf
                          : isUnsigned   ? K::minu
                                         : K::mins)
      .Case("atomic_and", K::andi)
      .Case("atomic_or", K::ori)
      .Case("atomic_xor", K::xori)
      .Default(K::assign); // xchg, cas
}

// Element by element: neither target has a command for it. `sem` and `scope` are taken and ignored: every atomic is as ordered as can be.
Term Emitter::atomicBuiltin(const std::string &name, Arguments &a) {
  if (a[0].kind != Term::Pointing)
    fail(fmt::format("tl.{} takes a pointer, not {}", name, a[0].describe()));
  bool compares = name == "atomic_cas";
  Pointer p = a[0].pointer;
  DType type = p.pointee;
  bool bitwise = name == "atomic_and" || name == "atomic_or" || name == "atomic_xor";
  if (type.bits < 32 || (type.isFloat() && (compares || bitwise)))
    fail(fmt::format(
        "tl.{} is not supported on memory of {}; atomics work on integers of 32 and 64 bits, and all but atomic_and, atomic_or, "
        "atomic_xor and atomic_cas on fp32 and fp64 too",
        name, type.name()));
  Tile value = cast(toTile(a[compares ? 2 : 1], type), type);
  Shape shape = commonShape(value.shape, p.offset.shape);
  std::optional<Tile> mask;
  if (!compares && a[2].kind != Term::None && !known(a[2]).value_or(false))
    mask = cast(toTile(a[2]), {DType::Int, 1});
  if (shape != p.offset.shape || (mask && commonShape(mask->shape, shape) != shape))
    fail(fmt::format("tl.{} does not broadcast its pointer: it is {}, the value {}{}", name, a[0].describe(), Term::of(value).describe(),
                     mask ? ", the mask " + Term::of(*mask).describe() : ""));
  Shape full = shape.empty() ? Shape{1} : shape;
  auto wide = [&](const Tile &tile) { return tensor(broadcast(tile, full)); };
  mlir::Value expected = compares ? wide(cast(toTile(a[1], type), type)) : mlir::Value();
  mlir::Value old = dg::AtomicOp::create(builder, loc, typeOf(type, full), atomicKind(name, type), wide(value), p.base, wide(p.offset),
                                         mask ? wide(*mask) : mlir::Value(), expected);
  if (shape.empty())
    old = tensor::ExtractOp::create(builder, loc, old, ValueRange{index(0)});
  return Term::of(Tile{type, shape, old, {}, {}});
}

// --- block pointers and descriptors

Emitter::Window Emitter::windowOf(const BlockPointer &p, const Term &checked) {
  Window w;
  w.base = p.base.base;
  w.offset = affineOf(p.base.offset)->base;
  std::vector<bool> check(p.block.size(), p.checksAlways);
  if (checked.kind == Term::Tuple)
    for (const Term &axis : checked.items) {
      int64_t d = constantInt(axis, "an axis of boundary_check");
      if (d < 0 || d >= int64_t(check.size()))
        fail(fmt::format("boundary_check names axis {} of a block pointer of rank {}", d, check.size()));
      check[size_t(d)] = true;
    }
  bool any = llvm::is_contained(check, true);
  for (size_t d = 0; d < p.block.size(); ++d) {
    w.offset = add(w.offset, multiply(p.offsets[d], p.strides[d]));
    w.strides.push_back(p.strides[d]);
    if (any) {
      w.lower.push_back(check[d] ? subtract(index(0), p.offsets[d]) : index(0));
      w.upper.push_back(check[d] ? subtract(p.extents[d], p.offsets[d]) : index(p.block[d]));
    }
  }
  return w;
}

Term Emitter::loadBlock(const BlockPointer &p, const Term &checked, bool padNan) {
  mlir::Value fill;
  if (padNan)
    fill = constantTile(Term::of(double(NAN)), p.base.pointee).value;
  return Term::of(loadWindow(windowOf(p, checked), p.base.pointee, p.block, fill));
}

void Emitter::storeBlock(const BlockPointer &p, const Term &value, const Term &checked) {
  Tile tile = broadcast(cast(toTile(value, p.base.pointee), p.base.pointee), p.block);
  storeWindow(windowOf(p, checked), tile);
}

Term Emitter::blockBuiltin(const std::string &name, Arguments &a) {
  auto indices = [&](const Term &v) {
    SmallVector<mlir::Value, 3> out;
    for (const Term &item : v.kind == Term::Tuple ? v.items : std::vector<Term>{v})
      out.push_back(asIndex(item));
    return out;
  };
  if (name.starts_with("make_")) {
    bool descriptor = name == "make_tensor_descriptor";
    if (a[0].kind != Term::Pointing || !a[0].pointer.offset.shape.empty())
      fail(fmt::format("{} takes a scalar pointer as its base", name));
    BlockPointer p{a[0].pointer, indices(a[1]), indices(a[2]), {}, constantShape(a[descriptor ? 3 : 4], "an extent of the block"),
                   descriptor};
    if (descriptor)
      p.offsets.assign(p.block.size(), index(0));
    else
      p.offsets = indices(a[3]);
    if (p.extents.size() != p.block.size() || p.strides.size() != p.block.size() || p.offsets.size() != p.block.size())
      fail("shape, strides, offsets and block_shape need the same number of items");
    return Term::of(p);
  }
  if (a[0].kind != Term::Block)
    fail(fmt::format("{} takes a block pointer or a descriptor, not {}", name, a[0].describe()));
  BlockPointer p = a[0].block;
  SmallVector<mlir::Value, 3> offsets = indices(a[1]);
  if (offsets.size() != p.offsets.size())
    fail(fmt::format("{} offsets for a block of rank {}", offsets.size(), p.offsets.size()));
  if (name == "advance") {
    for (size_t d = 0; d < offsets.size(); ++d)
      p.offsets[d] = add(p.offsets[d], offsets[d]);
    return Term::of(p);
  }
  p.offsets = offsets;
  if (name == "load_tensor_descriptor")
    return loadBlock(p, Term{}, false);
  storeBlock(p, a.at(2), Term{});
  return {};
}
