// The language's functions: one table of names and parameters, and what each family does.
#include "language/Emitter.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace dougong::language;

const std::vector<Emitter::BuiltinEntry> &Emitter::builtins() {
  static const std::vector<BuiltinEntry> table = {
      {"program_id num_programs", "axis", &Emitter::programBuiltin},
      {"arange", "start end", &Emitter::createBuiltin},
      {"zeros full zeros_like", "shape value=None dtype=None", &Emitter::createBuiltin},
      {"load", "pointer mask=None other=None boundary_check=() padding_option='' cache_modifier='' eviction_policy='' volatile=False",
       &Emitter::memoryBuiltin},
      {"store", "pointer value mask=None boundary_check=() cache_modifier='' eviction_policy=''", &Emitter::memoryBuiltin},
      {"atomic_add atomic_max atomic_min atomic_and atomic_or atomic_xor atomic_xchg", "pointer val mask=None sem=None scope=None",
       &Emitter::atomicBuiltin},
      {"atomic_cas", "pointer cmp val sem=None scope=None", &Emitter::atomicBuiltin},
      {"make_block_ptr", "base shape strides offsets block_shape order=None", &Emitter::blockBuiltin},
      {"make_tensor_descriptor", "base shape strides block_shape padding_option=''", &Emitter::blockBuiltin},
      {"advance", "base offsets", &Emitter::blockBuiltin},
      {"load_tensor_descriptor", "desc offsets", &Emitter::blockBuiltin},
      {"store_tensor_descriptor", "desc offsets value", &Emitter::blockBuiltin},
      {"exp exp2 log log2 log10 sqrt sqrt_rn rsqrt sin cos tan tanh erf floor ceil rint round trunc log1p expm1 atan asin acos sinh cosh",
       "x", &Emitter::mathBuiltin},
      {"maximum minimum", "x y propagate_nan=None", &Emitter::binaryMathBuiltin},
      {"pow atan2 fdiv div_rn fmod copysign cdiv", "x y ieee_rounding=False", &Emitter::binaryMathBuiltin},
      {"umulhi mulhi", "x y", &Emitter::umulhiBuiltin},
      {"where", "condition x y", &Emitter::whereBuiltin},
      {"clamp", "x min max propagate_nan=None", &Emitter::clampBuiltin},
      {"fma", "x y z", &Emitter::fmaBuiltin},
      {"cast to", "input dtype fp_downcast_rounding=None bitcast=False", &Emitter::castBuiltin},
      {"broadcast_to reshape view", "input *shape", &Emitter::shapeBuiltin},
      {"expand_dims unsqueeze squeeze", "input axis", &Emitter::shapeBuiltin},
      {"broadcast", "input other", &Emitter::broadcastBuiltin},
      {"ravel", "input", &Emitter::shapeBuiltin},
      {"trans permute", "input *order", &Emitter::transposeBuiltin},
      {"sum max min xor_sum reduce_or argmax argmin",
       "input axis=None return_indices=False return_indices_tie_break_left=True keep_dims=False dtype=None", &Emitter::reduceBuiltin},
      {"reduce", "input axis combine_fn keep_dims=False", &Emitter::reduceByBuiltin},
      {"associative_scan", "input axis combine_fn reverse=False", &Emitter::scanBuiltin},
      {"join interleave", "a b", &Emitter::joinBuiltin},
      {"cat", "input other can_reorder=False dim=0", &Emitter::joinBuiltin},
      {"split", "a", &Emitter::splitBuiltin},
      {"gather", "src index axis", &Emitter::gatherBuiltin},
      {"flip", "x dim=None", &Emitter::flipBuiltin},
      {"sort", "x dim=None descending=False", &Emitter::sortBuiltin},
      {"topk", "x k dim=None", &Emitter::sortBuiltin},
      {"histogram", "input num_bins mask=None", &Emitter::histogramBuiltin},
      {"dot", "input other acc=None input_precision=None allow_tf32=None max_num_imprecise_acc=None out_dtype=None", &Emitter::dotBuiltin},
      {"multiple_of max_contiguous max_constancy", "input values", &Emitter::hintBuiltin},
      {"assume debug_barrier static_print device_print print", "*arguments", &Emitter::hintBuiltin},
      {"static_assert device_assert", "condition message='' mask=None", &Emitter::checkBuiltin},
      {"constexpr", "value", &Emitter::pythonBuiltin},
      {"abs len int float bool", "x", &Emitter::pythonBuiltin},
      {"isinstance", "x kind", &Emitter::pythonBuiltin},
      {"next_power_of_2", "n", &Emitter::pythonBuiltin},
      {"range static_range", "*bounds", &Emitter::pythonBuiltin},
  };
  return table;
}

const Emitter::BuiltinEntry *Emitter::findBuiltin(llvm::StringRef name) {
  for (const BuiltinEntry &entry : builtins())
    for (llvm::StringRef rest = entry.names; !rest.empty();) {
      auto [first, tail] = rest.split(' ');
      if (first == name)
        return &entry;
      rest = tail;
    }
  return nullptr;
}

// What the table gives a parameter that a call does not.
static Term presetOf(llvm::StringRef text) {
  int64_t number;
  if (!text.getAsInteger(10, number))
    return Term::of(number);
  if (text == "True" || text == "False")
    return Term::of(text == "True");
  return text == "()" ? Term::tuple({}) : text == "''" ? Term::of(std::string()) : Term{};
}

// Binds positional and named arguments to the parameters of the table's entry.
Term Emitter::callBuiltin(const std::string &name, std::vector<Term> arguments, std::vector<std::pair<std::string, Term>> named) {
  // Python's min and max, and the methods of tiles that share their name
  if ((name == "min" || name == "max") && arguments.size() >= 2 && llvm::all_of(arguments, [](const Term &v) { return v.isNumber(); }) &&
      llvm::all_of(arguments, [](const Term &v) { return v.kind != Term::Tiled || v.tile.shape.empty(); })) {
    Term best = arguments[0];
    for (size_t i = 1; i < arguments.size(); ++i) {
      Arguments pair{best, arguments[i], Term{}};
      best = best.isConstant() && arguments[i].isConstant()
                 ? ((best.asReal() < arguments[i].asReal()) == (name == "min") ? best : arguments[i])
                 : binaryMathBuiltin(name == "min" ? "minimum" : "maximum", pair);
    }
    return best;
  }
  if ((name == "load" || name == "store") && !arguments.empty() && arguments[0].kind == Term::Block && arguments[0].block.checksAlways) {
    Arguments shifted = arguments;
    return blockBuiltin(name + "_tensor_descriptor", shifted);
  }
  const BuiltinEntry *entry = findBuiltin(name);
  if (!entry)
    fail(fmt::format("'{}' is not in the operator language, or not supported yet", name));
  std::vector<Term> bound;
  size_t position = 0;
  llvm::SmallVector<llvm::StringRef> parameters;
  llvm::StringRef(entry->parameters).split(parameters, ' ');
  for (llvm::StringRef parameter : parameters) {
    if (parameter.consume_front("*")) { // all the rest, or one tuple
      std::vector<Term> rest(arguments.begin() + std::min(position, arguments.size()), arguments.end());
      position = arguments.size();
      for (auto &[key, value] : named)
        if (key == parameter || key == "dims")
          rest = value.kind == Term::Tuple ? value.items : std::vector<Term>{value};
      if (rest.size() == 1 && rest[0].kind == Term::Tuple)
        rest = rest[0].items;
      bound.push_back(Term::tuple(std::move(rest)));
      std::erase_if(named, [&](const auto &n) { return n.first == parameter || n.first == "dims" || n.first == "can_reorder"; });
      continue;
    }
    auto [key, preset] = parameter.split('=');
    auto given = llvm::find_if(named, [&](const auto &n) { return n.first == key; });
    if (position < arguments.size()) {
      bound.push_back(arguments[position++]);
    } else if (given != named.end()) {
      bound.push_back(given->second);
      named.erase(given);
    } else if (parameter.contains('=')) {
      bound.push_back(presetOf(preset));
    } else {
      fail(fmt::format("{} needs its argument '{}'", name, key.str()));
    }
  }
  if (position < arguments.size() && parameters.back() != "*arguments")
    fail(fmt::format("{} takes {} arguments, not {}", name, parameters.size(), arguments.size()));
  static const char *ignored[] = {"_builder", "_semantic", "sem", "scope", "combine_fn", "x", "input"};
  for (const auto &[key, _] : named)
    if (!llvm::is_contained(ignored, llvm::StringRef(key)) && entry->function != &Emitter::hintBuiltin)
      fail(fmt::format("{} has no parameter '{}'; it takes {}", name, key, entry->parameters));
  return (this->*entry->function)(name, bound);
}

int64_t Emitter::constantInt(const Term &value, const char *what) {
  if (value.kind == Term::Int || value.kind == Term::Bool)
    return value.integer;
  APInt constant;
  if (value.kind == Term::Tiled && value.tile.shape.empty() && value.tile.value && matchPattern(value.tile.value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  fail(fmt::format("{} must be an integer known at compile time, not {}", what, value.describe()));
}

Shape Emitter::constantShape(const Term &value, const char *what) {
  Shape shape;
  for (const Term &item : value.kind == Term::Tuple ? value.items : std::vector<Term>{value})
    shape.push_back(constantInt(item, what));
  return shape;
}

DType Emitter::dtypeOf(const Term &value, const char *what) {
  if (value.kind == Term::Type)
    return value.type;
  if (value.kind == Term::String)
    if (std::optional<DType> type = DType::parse(value.text))
      return *type;
  fail(fmt::format("{} must be a type like tl.float32, not {}", what, value.describe()));
}

// --- programs, creation

Term Emitter::programBuiltin(const std::string &name, Arguments &a) {
  int64_t axis = constantInt(a[0], "an axis of the grid");
  if (axis < 0 || axis > 2)
    fail(fmt::format("the grid has axes 0, 1 and 2, not {}", axis));
  mlir::Value id = name == "program_id" ? mlir::Value(dg::ProgramIdOp::create(builder, loc, builder.getIndexType(), uint32_t(axis)))
                                        : dg::NumProgramsOp::create(builder, loc, builder.getIndexType(), uint32_t(axis));
  return Term::of(Tile{{DType::Int, 32}, {}, make<arith::IndexCastOp>(builder.getI32Type(), id), {}, {}});
}

static bool powerOfTwo(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

Term Emitter::createBuiltin(const std::string &name, Arguments &a) {
  if (name == "arange") {
    int64_t start = constantInt(a[0], "the start of arange"), end = constantInt(a[1], "the end of arange");
    if (!powerOfTwo(end - start))
      fail(fmt::format("arange({}, {}) has {} elements; the number of elements must be a power of two", start, end, end - start));
    return Term::of(Tile{{DType::Int, 32}, {end - start}, {}, Affine{index(start), {index(1)}, {{}}, {{}}}, {}});
  }
  if (name == "zeros_like") {
    if (a[0].kind != Term::Tiled)
      fail("zeros_like takes a tile");
    return Term::of(constantTile(Term::of(int64_t(0)), a[0].tile.type, a[0].tile.shape));
  }
  Shape shape = constantShape(a[0], "an extent of a shape");
  for (int64_t extent : shape)
    if (!powerOfTwo(extent))
      fail(fmt::format("the shape {} has the extent {}; every extent must be a power of two", fmt::join(shape, "x"), extent));
  Term typeArgument = name == "zeros" && a[2].kind == Term::None ? a[1] : a[2]; // zeros(shape, dtype)
  DType type = dtypeOf(typeArgument, "the dtype");
  Term number = name == "zeros" ? Term::of(int64_t(0)) : a[1];
  if (number.isConstant())
    return Term::of(constantTile(number, type, shape));
  return Term::of(broadcast(cast(toTile(number), type), shape));
}

// --- memory

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

// --- arithmetic

Term Emitter::mathBuiltin(const std::string &name, Arguments &a) {
  Tile x = toTile(a[0], DType{DType::Float, 32});
  if (!x.type.isFloat())
    x = cast(x, {DType::Float, 32});
  mlir::Value v = tensor(x);
  auto done = [&](mlir::Value r) { return Term::of(Tile{x.type, x.shape, r, {}, {}}); };
  if (name == "exp")
    return done(make<math::ExpOp>(v));
  if (name == "exp2")
    return done(make<math::Exp2Op>(v));
  if (name == "log")
    return done(make<math::LogOp>(v));
  if (name == "log2")
    return done(make<math::Log2Op>(v));
  if (name == "sqrt" || name == "sqrt_rn")
    return done(make<math::SqrtOp>(v));
  if (name == "rsqrt")
    return done(make<math::RsqrtOp>(v));
  if (name == "sin")
    return done(make<math::SinOp>(v));
  if (name == "cos")
    return done(make<math::CosOp>(v));
  if (name == "tan")
    return done(make<math::TanOp>(v));
  if (name == "tanh")
    return done(make<math::TanhOp>(v));
  if (name == "erf")
    return done(make<math::ErfOp>(v));
  if (name == "floor")
    return done(make<math::FloorOp>(v));
  if (name == "ceil")
    return done(make<math::CeilOp>(v));
  if (name == "log10")
    return done(make<math::Log10Op>(v));
  if (name == "round")
    return done(make<math::RoundOp>(v));
  if (name == "rint")
    return done(make<math::RoundEvenOp>(v));
  if (name == "trunc")
    return done(make<math::TruncOp>(v));
  if (name == "log1p")
    return done(make<math::Log1pOp>(v));
  if (name == "expm1")
    return done(make<math::ExpM1Op>(v));
  if (name == "atan")
    return done(make<math::AtanOp>(v));
  if (name == "asin")
    return done(make<math::AsinOp>(v));
  if (name == "acos")
    return done(make<math::AcosOp>(v));
  if (name == "sinh")
    return done(make<math::SinhOp>(v));
  return done(make<math::CoshOp>(v));
}

Term Emitter::binaryMathBuiltin(const std::string &name, Arguments &a) {
  if (name == "cdiv") {
    if (a[0].isConstant() && a[1].isConstant())
      return Term::of((a[0].integer + a[1].integer - 1) / a[1].integer);
    return binary("//", binary("-", binary("+", a[0], a[1]), Term::of(int64_t(1))), a[1]);
  }
  if (name == "fdiv" || name == "div_rn")
    return binary("/", a[0], a[1]);
  auto [x, y] = alike(a[0], a[1]);
  if ((name == "pow" || name == "atan2" || name == "fmod" || name == "copysign") && !x.type.isFloat()) {
    x = cast(x, {DType::Float, 32});
    y = cast(y, {DType::Float, 32});
  }
  mlir::Value l = tensor(x), r = tensor(y);
  auto done = [&](mlir::Value v) { return Term::of(Tile{x.type, x.shape, v, {}, {}}); };
  if (name == "pow")
    return done(make<math::PowFOp>(l, r));
  if (name == "atan2")
    return done(make<math::Atan2Op>(l, r));
  if (name == "copysign")
    return done(make<math::CopySignOp>(l, r));
  if (name == "fmod")
    return done(make<arith::RemFOp>(l, r));
  bool max = name == "maximum", isUnsigned = x.type.kind == DType::UInt;
  if (x.type.isFloat()) { // NaN is ignored unless it is to be propagated
    bool propagate = a[2].kind != Term::None && known(a[2]).value_or(false);
    if (propagate)
      return done(max ? make<arith::MaximumFOp>(l, r) : make<arith::MinimumFOp>(l, r));
    return done(max ? make<arith::MaxNumFOp>(l, r) : make<arith::MinNumFOp>(l, r));
  }
  if (isUnsigned)
    return done(max ? make<arith::MaxUIOp>(l, r) : make<arith::MinUIOp>(l, r));
  return done(max ? make<arith::MaxSIOp>(l, r) : make<arith::MinSIOp>(l, r));
}

Term Emitter::whereBuiltin(const std::string &, Arguments &a) {
  auto [x, y] = alike(a[1], a[2]);
  Tile condition = cast(toTile(a[0]), {DType::Int, 1});
  Shape shape = commonShape(condition.shape, x.shape);
  mlir::Value c = condition.shape.empty() ? condition.value : tensor(broadcast(condition, shape));
  mlir::Value value = make<arith::SelectOp>(c, tensor(broadcast(x, shape)), tensor(broadcast(y, shape)));
  return Term::of(Tile{x.type, shape, value, {}, {}});
}

Term Emitter::clampBuiltin(const std::string &, Arguments &a) {
  Arguments low{a[0], a[1], a[3]};
  Arguments high{binaryMathBuiltin("maximum", low), a[2], a[3]};
  return binaryMathBuiltin("minimum", high);
}

Term Emitter::fmaBuiltin(const std::string &, Arguments &a) {
  auto [x, y] = alike(a[0], a[1]);
  auto [p, z] = alike(Term::of(x), a[2]);
  y = broadcast(cast(y, p.type), p.shape);
  if (!p.type.isFloat())
    return binary("+", binary("*", Term::of(p), Term::of(y)), Term::of(z));
  return Term::of(Tile{p.type, p.shape, make<math::FmaOp>(tensor(p), tensor(y), tensor(z)), {}, {}});
}

// The upper half of a product of unsigned numbers, in 32-bit steps of vector code: by 16-bit halves.
//   (a·2^16 + b)(c·2^16 + d) = ac·2^32 + (ad + bc)·2^16 + bd
Term Emitter::umulhiBuiltin(const std::string &name, Arguments &args) {
  auto [x, y] = alike(args[0], args[1]);
  if (!x.type.isInt() || x.type.bits != 32)
    fail(fmt::format("{} takes integers of 32 bits, not {}", name, x.type.name()));
  DType u32{DType::UInt, 32};
  Term X = Term::of(cast(x, u32)), Y = Term::of(cast(y, u32)), half = Term::of(int64_t(16)), low = Term::of(int64_t(0xffff));
  Term a = binary(">>", X, half), b = binary("&", X, low), c = binary(">>", Y, half), d = binary("&", Y, low);
  Term ad = binary("*", a, d), bc = binary("*", b, c);
  Term carry = binary("+", binary(">>", binary("*", b, d), half), binary("+", binary("&", ad, low), binary("&", bc, low)));
  Term sum = binary("+", binary(">>", ad, half), binary(">>", bc, half));
  Term high = binary("+", binary("*", a, c), binary("+", sum, binary(">>", carry, half)));
  return Term::of(cast(high.tile, x.type));
}

Term Emitter::castBuiltin(const std::string &, Arguments &a) {
  if (a[1].kind == Term::Type && a[1].pointerType)
    fail("casts to a pointer type are not supported yet; pass the pointer as an argument");
  DType type = dtypeOf(a[1], "the type to convert to");
  if (a[0].isConstant())
    return Term::of(constantTile(a[0], type));
  if (known(a[3]).value_or(false))
    return Term::of(bitcast(toTile(a[0]), type));
  return Term::of(cast(toTile(a[0]), type));
}

// --- shape, reductions, dot

Term Emitter::shapeBuiltin(const std::string &name, Arguments &a) {
  bool pointer = a[0].kind == Term::Pointing;
  Tile tile = pointer ? a[0].pointer.offset : toTile(a[0]);
  Tile out;
  if (name == "expand_dims" || name == "unsqueeze") {
    int64_t axis = constantInt(a[1], "the axis of expand_dims"), rank = int64_t(tile.shape.size());
    if (axis < -rank - 1 || axis > rank)
      fail(fmt::format("{}: axis {} is outside the {} places of a new axis", name, axis, rank + 1));
    out = expandDims(tile, size_t(axis < 0 ? axis + rank + 1 : axis));
  } else if (name == "squeeze") {
    int64_t axis = constantAxis(a[1], tile, name);
    if (tile.shape[size_t(axis)] != 1)
      fail(fmt::format("squeeze takes away an axis of one element; axis {} has {}", axis, tile.shape[size_t(axis)]));
    Shape shape = tile.shape;
    shape.erase(shape.begin() + axis);
    out = reshape(tile, shape);
  } else if (name == "broadcast_to") {
    out = broadcast(tile, constantShape(a[1], "an extent of a shape"));
  } else {
    Shape shape = name == "ravel" ? Shape{ShapedType::getNumElements(tile.shape)} : constantShape(a[1], "an extent of a shape");
    if (ShapedType::getNumElements(shape) != ShapedType::getNumElements(tile.shape))
      fail(fmt::format("a tile of shape {} cannot become {}", fmt::join(tile.shape, "x"), fmt::join(shape, "x")));
    out = reshape(tile, shape);
  }
  if (!pointer)
    return Term::of(out);
  a[0].pointer.offset = out;
  return a[0];
}

// Both, each of its own type, in the shape they have together.
Term Emitter::broadcastBuiltin(const std::string &, Arguments &a) {
  Tile x = toTile(a[0]), y = toTile(a[1]);
  Shape shape = commonShape(x.shape, y.shape);
  return Term::tuple({Term::of(broadcast(x, shape)), Term::of(broadcast(y, shape))});
}

Term Emitter::transposeBuiltin(const std::string &, Arguments &a) {
  Tile tile = toTile(a[0]);
  SmallVector<int64_t> order;
  if (a[1].kind == Term::Tuple && !a[1].items.empty()) {
    for (const Term &axis : a[1].items)
      order.push_back(constantInt(axis, "an axis of the order"));
  } else {
    for (size_t d = 0; d < tile.shape.size(); ++d)
      order.push_back(int64_t(d));
    if (order.size() >= 2)
      std::swap(order[order.size() - 1], order[order.size() - 2]);
  }
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  for (size_t d = 0; d < sorted.size(); ++d)
    if (sorted.size() != tile.shape.size() || sorted[d] != int64_t(d))
      fail(fmt::format("({}) is no order of the {} axes", fmt::join(order, ", "), tile.shape.size()));
  return Term::of(permute(tile, order));
}

Term Emitter::reduceBuiltin(const std::string &name, Arguments &a) {
  Tile tile = toTile(a[0]);
  if (tile.shape.empty())
    fail(fmt::format("{} reduces a tile, not a scalar", name));
  std::optional<int64_t> axis;
  if (a[1].kind != Term::None) {
    axis = constantInt(a[1], "the axis of a reduction");
    int64_t rank = int64_t(tile.shape.size());
    if (*axis < -rank || *axis >= rank)
      fail(fmt::format("axis {} is outside a tile of rank {}", *axis, rank));
    if (*axis < 0)
      *axis += rank;
  }
  bool keep = known(a[4]).value_or(false);
  if (name.starts_with("arg") || known(a[2]).value_or(false)) {
    if (!axis)
      fail(fmt::format("{} needs an axis", name));
    Term both = argReduce(name.starts_with("arg") ? name.substr(3) : name, tile, *axis, keep);
    return name.starts_with("arg") ? both.items[1] : both;
  }
  if (a[5].kind != Term::None)
    tile = cast(tile, dtypeOf(a[5], "the dtype of the sum"));
  return Term::of(reduce(name, tile, axis, keep));
}

Term Emitter::dotBuiltin(const std::string &, Arguments &a) {
  Tile x = toTile(a[0]), y = toTile(a[1]);
  if (!(x.type == y.type) && !(x.type.isInt() && y.type.isInt()))
    fail(fmt::format("tl.dot takes two tiles of one type, not {} and {}", x.type.name(), y.type.name()));
  if (x.shape.size() != y.shape.size() || (x.shape.size() != 2 && x.shape.size() != 3))
    fail(fmt::format("tl.dot takes two matrices (or batches of them), not {} and {}", a[0].describe(), a[1].describe()));
  if (x.shape.back() != y.shape[y.shape.size() - 2])
    fail(fmt::format("tl.dot: {} columns against {} rows", x.shape.back(), y.shape[y.shape.size() - 2]));
  DType out = x.type.isInt() ? DType{DType::Int, 32} : DType{DType::Float, 32};
  if (a[6].kind != Term::None)
    out = dtypeOf(a[6], "out_dtype");
  return Term::of(dot(x, y, a[2], out));
}

// --- hints, checks, Python's own

Term Emitter::hintBuiltin(const std::string &name, Arguments &a) {
  if (name == "static_print" || name == "device_print" || name == "print" || name == "assume" || name == "debug_barrier")
    return {};
  return a[0];
}

Term Emitter::checkBuiltin(const std::string &name, Arguments &a) {
  std::optional<bool> now = known(a[0]);
  if (name == "static_assert") {
    if (!now)
      fail("static_assert needs a condition known at compile time");
    if (!*now)
      fail(a[1].kind == Term::String && !a[1].text.empty() ? "static_assert failed: " + a[1].text : "static_assert failed");
  }
  return {};
}

Term Emitter::pythonBuiltin(const std::string &name, Arguments &a) {
  const Term &x = a[0];
  if (name == "constexpr")
    return x;
  if (name == "len")
    return Term::of(int64_t(x.kind == Term::Tuple ? x.items.size() : x.tile.shape.empty() ? 0 : size_t(x.tile.shape[0])));
  if (name == "abs") {
    if (x.isConstant())
      return x.kind == Term::Real ? Term::of(std::fabs(x.real)) : Term::of(std::abs(x.integer));
    Tile t = toTile(x);
    mlir::Value v = tensor(t);
    return Term::of(Tile{t.type, t.shape, t.type.isFloat() ? make<math::AbsFOp>(v) : make<math::AbsIOp>(v), {}, {}});
  }
  if (name == "int" || name == "float" || name == "bool") {
    double real;
    if (name == "float" && x.kind == Term::String && !llvm::StringRef(x.text).getAsDouble(real)) // float('inf')
      return Term::of(real);
    if (!x.isConstant())
      fail(fmt::format("{}() takes a number known at compile time; use .to(…) on tiles", name));
    return name == "int"     ? Term::of(x.kind == Term::Real ? int64_t(x.real) : x.integer)
           : name == "float" ? Term::of(x.asReal())
                             : Term::of(x.asReal() != 0);
  }
  if (name == "next_power_of_2")
    return Term::of(int64_t(llvm::PowerOf2Ceil(uint64_t(constantInt(x, "the argument of next_power_of_2")))));
  if (name == "isinstance")
    return Term::of((a[1].kind == Term::Builtin && a[1].text == "constexpr") == (x.kind != Term::Tiled && x.kind != Term::Pointing));
  fail(fmt::format("{} is for loops only", name));
}
