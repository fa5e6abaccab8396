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
