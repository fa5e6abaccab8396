// Names, attributes, operators, subscripts and calls.
#include "language/Emitter.h"
#include <cmath>

using namespace mlir;
using namespace dougong::language;

// What Python knows by itself, and kernels use.
static const char *pythonNames[] = {"range", "min",  "max",        "abs",   "len",   "int",
                                    "float", "bool", "isinstance", "print", "tuple", "static_range"};

// The modules whose functions are the language's own, whatever they are imported as.
static bool isLanguage(llvm::StringRef path) {
  return path.starts_with("triton") || path.starts_with("dougong") || path == "math" || path.contains("libdevice") ||
         path.contains("triton.language");
}

Term Emitter::expression(const Expr &e) {
  At here(*this, e.at);
  switch (e.kind) {
  case Expr::Integer:
    return Term::of(e.integer);
  case Expr::Float:
    return Term::of(e.real);
  case Expr::String:
    return Term::of(e.text);
  case Expr::Constant:
    return e.text == "None" || e.text == "..." ? Term{} : Term::of(e.text == "True");
  case Expr::Name:
    return name(e);
  case Expr::Attribute:
    return attribute(e);
  case Expr::Call:
    return callExpression(e);
  case Expr::Subscript:
    return subscript(e);
  case Expr::Slice:
    return {.kind = Term::Slice};
  case Expr::Tuple: {
    std::vector<Term> items;
    for (const ExprPtr &item : e.items)
      items.push_back(expression(*item));
    return Term::tuple(std::move(items));
  }
  case Expr::Unary:
    return unary(e.text, expression(*e.items[0]));
  case Expr::Binary: {
    Term left = expression(*e.items[0]);
    return binary(e.text, left, expression(*e.items[1]));
  }
  case Expr::Compare: {
    Term left = expression(*e.items[0]);
    return compare(e.text, left, expression(*e.items[1]));
  }
  case Expr::And:
  case Expr::Or: {
    bool isAnd = e.kind == Expr::And;
    Term result = expression(*e.items[0]);
    for (size_t i = 1; i < e.items.size(); ++i) {
      if (std::optional<bool> now = known(result)) {
        if (*now != isAnd)
          return result; // short-circuited: what follows is not looked at
        result = expression(*e.items[i]);
      } else {
        result = binary(isAnd ? "&" : "|", truth(result), truth(expression(*e.items[i])));
      }
    }
    return result;
  }
  case Expr::Conditional: {
    Term condition = expression(*e.items[0]);
    if (std::optional<bool> now = known(condition))
      return expression(*e.items[*now ? 1 : 2]);
    Arguments arguments{truth(condition), expression(*e.items[1]), expression(*e.items[2])};
    return whereBuiltin("where", arguments);
  }
  }
  return {};
}

// A function of the language, of the table or the library; None if there is none of the name.
Term Emitter::languageFunction(const std::string &name) {
  if (findBuiltin(name))
    return {.kind = Term::Builtin, .text = name};
  if (const Function *f = library.function(name))
    return {.kind = Term::Callee, .callee = f};
  if (const Expr *other = library.global(name)) // another name of one
    return elsewhere(*other, &library);
  return {};
}

Term Emitter::name(const Expr &e) {
  if (auto found = scope.find(e.text); found != scope.end())
    return found->second;
  if (const Function *f = module->function(e.text))
    return {.kind = Term::Callee, .callee = f};
  if (std::string path = module->imported(e.text); !path.empty()) {
    llvm::StringRef last = llvm::StringRef(path).rsplit('.').second;
    if (isLanguage(path))
      if (Term function = languageFunction(last.str()); function.kind != Term::None)
        return function;
    if (std::optional<DType> type = DType::parse(last); type && isLanguage(path))
      return Term::of(*type);
    return {.kind = Term::Namespace, .text = path};
  }
  if (const Expr *global = module->global(e.text))
    return elsewhere(*global, module);
  for (const char *python : pythonNames)
    if (e.text == python)
      return {.kind = Term::Builtin, .text = e.text};
  fail(fmt::format("the name '{}' is not defined here; a kernel sees its parameters, its own variables, and the file's constants, imports "
                   "and @jit functions",
                   e.text));
}

Term Emitter::attribute(const Expr &e) { return attributeOf(expression(*e.items[0]), e.text); }

Term Emitter::attributeOf(Term object, const std::string &name) {
  auto shapeTuple = [](const Shape &shape) {
    std::vector<Term> items;
    for (int64_t extent : shape)
      items.push_back(Term::of(extent));
    return Term::tuple(std::move(items));
  };
  switch (object.kind) {
  case Term::Namespace: {
    std::string path = object.text + "." + name;
    if (isLanguage(object.text)) {
      if (std::optional<DType> type = DType::parse(name))
        return Term::of(*type);
      if (Term function = languageFunction(name); function.kind != Term::None)
        return function;
      if (object.text == "math" && (name == "pi" || name == "inf"))
        return Term::of(name == "pi" ? M_PI : double(INFINITY));
      static const char *modules[] = {"language", "math", "extra", "libdevice", "cuda", "random", "runtime"};
      for (const char *known : modules)
        if (name == known)
          return {.kind = Term::Namespace, .text = path};
      fail(fmt::format("'{}' is not in the operator language, or not supported yet", path));
    }
    fail(fmt::format(
        "'{}' is not part of the operator language; a kernel can use triton.language, dougong.language and the file's own @jit functions",
        path));
  }
  case Term::Type:
    if (name == "element_ty" || name == "scalar") {
      Term element = object;
      element.pointerType = name == "scalar" && object.pointerType;
      return element;
    }
    if (name == "primitive_bitwidth" || name == "itemsize")
      return Term::of(int64_t(name == "itemsize" ? (object.type.bits + 7) / 8 : object.type.bits));
    if (name == "value")
      return object;
    if (name == "name")
      return Term::of(object.type.name());
    if (name.starts_with("is_")) {
      bool yes = name == "is_floating"                    ? object.type.isFloat()
                 : name == "is_int"                       ? object.type.isInt()
                 : name == "is_int_signed"                ? object.type.kind == DType::Int
                 : name == "is_int_unsigned"              ? object.type.kind == DType::UInt
                 : name == "is_bool" || name == "is_int1" ? object.type.isBool()
                 : name == "is_ptr"                       ? object.pointerType
                 : name == "is_fp16"                      ? object.type == DType{DType::Float, 16}
                 : name == "is_bf16"                      ? object.type.kind == DType::BFloat
                 : name == "is_fp32"                      ? object.type == DType{DType::Float, 32}
                                                          : false;
      return {.kind = Term::Builtin, .integer = yes, .text = "constant_predicate"};
    }
    break;
  case Term::Tiled:
    if (name == "dtype" || name == "type")
      return Term::of(object.tile.type);
    if (name == "shape")
      return shapeTuple(object.tile.shape);
    if (name == "T") {
      Arguments arguments{object, Term{}};
      return transposeBuiltin("trans", arguments);
    }
    break;
  case Term::Pointing: {
    Term type = Term::of(object.pointer.pointee);
    type.pointerType = true;
    if (name == "dtype" || name == "type")
      return type;
    if (name == "shape")
      return shapeTuple(object.pointer.offset.shape);
    break;
  }
  case Term::Block:
    if (name == "dtype")
      return Term::of(object.block.base.pointee);
    if (name == "block_shape" || name == "shape")
      return shapeTuple(object.block.block);
    break;
  default:
    if (name == "value" && (object.isConstant() || object.kind == Term::String))
      return object;
    if (name == "dtype" && object.isConstant())
      return Term::of(toTile(object).type);
    break;
  }
  if (Term method = languageFunction(name); method.kind != Term::None) { // x.to(…), x.sum(…)
    method.items = {object};
    return method;
  }
  fail(fmt::format("{} has no attribute '{}'", object.describe(), name));
}

// x[:, None], x[None, :], t[0]
Term Emitter::subscript(const Expr &e) {
  Term object = expression(*e.items[0]);
  Term key = expression(*e.items[1]);
  if (object.kind == Term::Tuple) {
    int64_t i = constantInt(key, "the index of a tuple");
    int64_t size = int64_t(object.items.size());
    if (i < -size || i >= size)
      fail(fmt::format("index {} is outside a tuple of {}", i, size));
    return object.items[size_t(i < 0 ? i + size : i)];
  }
  if (object.kind == Term::Callee)
    fail("a kernel cannot launch another one");
  if (object.kind != Term::Tiled && object.kind != Term::Pointing)
    fail(fmt::format("{} cannot be indexed", object.describe()));
  std::vector<Term> keys = key.kind == Term::Tuple ? key.items : std::vector<Term>{key};
  bool isPointer = object.kind == Term::Pointing;
  Tile tile = isPointer ? object.pointer.offset : object.tile;
  size_t axis = 0;
  for (const Term &k : keys) {
    if (k.kind == Term::None)
      tile = expandDims(tile, axis);
    else if (k.kind != Term::Slice)
      fail(fmt::format("a tile is indexed with ':' and None only, not with {}; use tl.load with a mask, tl.gather or a reduction",
                       k.describe()));
    ++axis;
  }
  if (axis > tile.shape.size())
    fail(fmt::format("{} subscripts for a tile of rank {}", keys.size(), tile.shape.size()));
  if (!isPointer)
    return Term::of(tile);
  object.pointer.offset = tile;
  return object;
}

std::optional<bool> Emitter::known(const Term &value) {
  switch (value.kind) {
  case Term::None:
    return false;
  case Term::Bool:
  case Term::Int:
    return value.integer != 0;
  case Term::Real:
    return value.real != 0;
  case Term::String:
    return !value.text.empty();
  case Term::Tuple:
    return !value.items.empty();
  case Term::Tiled: {
    APInt constant;
    if (value.tile.shape.empty() && value.tile.value && matchPattern(value.tile.value, m_ConstantInt(&constant)))
      return !constant.isZero();
    return std::nullopt;
  }
  default:
    return true;
  }
}

Term Emitter::truth(Term value) {
  if (std::optional<bool> now = value.kind == Term::Tiled ? std::nullopt : known(value))
    return Term::of(*now);
  return Term::of(cast(toTile(value), {DType::Int, 1}));
}

Term Emitter::unary(const std::string &op, Term value) {
  if (op == "not") {
    if (std::optional<bool> now = known(value))
      return Term::of(!*now);
    return binary("^", truth(value), Term::of(true));
  }
  if (value.kind == Term::Int || value.kind == Term::Bool)
    return op == "-"   ? Term::of(-value.integer)
           : op == "~" ? (value.kind == Term::Bool ? Term::of(!value.integer) : Term::of(~value.integer))
                       : value;
  if (value.kind == Term::Real)
    return op == "-" ? Term::of(-value.real) : value;
  if (value.kind != Term::Tiled)
    fail(fmt::format("'{}' does not apply to {}", op, value.describe()));
  if (op == "+")
    return value;
  if (op == "~")
    return binary("^", value, value.tile.type.isBool() ? Term::of(true) : Term::of(int64_t(-1)));
  if (value.tile.type.isFloat())
    return Term::of(Tile{value.tile.type, value.tile.shape, make<arith::NegFOp>(tensor(value.tile)), {}, {}});
  return binary("-", Term::of(int64_t(0)), value);
}

// Python's arithmetic, on compile-time numbers.
Term Emitter::foldConstants(const std::string &op, const Term &left, const Term &right) {
  bool integers = left.kind != Term::Real && right.kind != Term::Real;
  double x = left.asReal(), y = right.asReal();
  int64_t a = left.integer, b = right.integer;
  if ((op == "/" || op == "//" || op == "%") && y == 0)
    fail("division by zero");
  if (op == "/")
    return Term::of(x / y);
  if (integers) {
    int64_t quotient = op == "//" || op == "%" ? a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0) : 0;
    if (op == "+")
      return Term::of(a + b);
    if (op == "-")
      return Term::of(a - b);
    if (op == "*")
      return Term::of(a * b);
    if (op == "//")
      return Term::of(quotient);
    if (op == "%")
      return Term::of(a - quotient * b);
    if (op == "&")
      return left.kind == Term::Bool && right.kind == Term::Bool ? Term::of(bool(a & b)) : Term::of(a & b);
    if (op == "|")
      return left.kind == Term::Bool && right.kind == Term::Bool ? Term::of(bool(a | b)) : Term::of(a | b);
    if (op == "^")
      return left.kind == Term::Bool && right.kind == Term::Bool ? Term::of(bool(a ^ b)) : Term::of(a ^ b);
    if (op == "<<")
      return Term::of(a << b);
    if (op == ">>")
      return Term::of(a >> b);
    if (op == "**")
      return b >= 0 ? Term::of(int64_t(std::llround(std::pow(x, y)))) : Term::of(std::pow(x, y));
  }
  if (op == "+")
    return Term::of(x + y);
  if (op == "-")
    return Term::of(x - y);
  if (op == "*")
    return Term::of(x * y);
  if (op == "//")
    return Term::of(std::floor(x / y));
  if (op == "%")
    return Term::of(x - std::floor(x / y) * y);
  if (op == "**")
    return Term::of(std::pow(x, y));
  fail(fmt::format("'{}' takes integers", op));
}

Term Emitter::binary(const std::string &op, Term left, Term right) {
  if (left.isConstant() && right.isConstant())
    return foldConstants(op, left, right);
  if (left.kind == Term::String && right.kind == Term::String && op == "+")
    return Term::of(left.text + right.text);
  if (left.kind == Term::Tuple && right.kind == Term::Tuple && op == "+") {
    left.items.insert(left.items.end(), right.items.begin(), right.items.end());
    return left;
  }
  if (left.kind == Term::Pointing && (op == "+" || op == "-"))
    return Term::of(advance(left.pointer, right, op == "-"));
  if (right.kind == Term::Pointing && op == "+")
    return Term::of(advance(right.pointer, left, false));
  if (!left.isNumber() || !right.isNumber())
    fail(fmt::format("'{}' does not apply to {} and {}", op, left.describe(), right.describe()));
  if (op == "@")
    fail("matrix products are written tl.dot(a, b)");
  if (op == "**")
    fail("'**' takes compile-time numbers; use tl.exp2, tl.log2 or libdevice.pow on tiles");
  if (std::optional<Tile> affine = affineArithmetic(op, left, right))
    return Term::of(*affine);
  if (op == "&" && left.kind == Term::Tiled && right.kind == Term::Tiled) { // boxes intersect
    Shape shape = commonShape(left.tile.shape, right.tile.shape);
    Tile a = broadcast(left.tile, shape), b = broadcast(right.tile, shape);
    if (a.box && b.box) {
      Tile both = a;
      for (size_t d = 0; d < shape.size(); ++d) {
        mlir::Value &lower = both.box->lower[d], &upper = both.box->upper[d];
        if (mlir::Value other = b.box->lower[d])
          lower = lower ? make<arith::MaxSIOp>(lower, other) : other;
        if (mlir::Value other = b.box->upper[d])
          upper = upper ? make<arith::MinSIOp>(upper, other) : other;
      }
      return Term::of(both);
    }
    // a scalar condition empties or keeps a box
    const Tile *box = left.tile.box ? &left.tile : right.tile.box ? &right.tile : nullptr;
    const Tile &other = box == &left.tile ? right.tile : left.tile;
    if (box && other.shape.empty() && !box->shape.empty()) {
      Tile both = *box;
      mlir::Value upper = both.box->upper[0] ? both.box->upper[0] : index(both.shape[0]);
      both.box->upper[0] = make<arith::SelectOp>(cast(other, {DType::Int, 1}).value, upper, index(0));
      return Term::of(both);
    }
  }
  auto [a, b] = alike(left, right, op == "/" || (op == "%" && (left.kind == Term::Real || right.kind == Term::Real)));
  if (op == "//" && a.type.isFloat())
    fail("'//' takes integers; use tl.floor(a / b)");
  return Term::of(arithmetic(op, a, b));
}

Term Emitter::compare(const std::string &op, Term left, Term right) {
  auto same = [](const Term &a, const Term &b) {
    if (a.isConstant() && b.isConstant())
      return a.asReal() == b.asReal();
    return a.kind == b.kind && a.text == b.text && (a.kind != Term::Type || (a.type == b.type && a.pointerType == b.pointerType));
  };
  if (op == "in" || op == "not in") {
    if (right.kind != Term::Tuple)
      fail("'in' takes a tuple on its right");
    bool found = llvm::any_of(right.items, [&](const Term &item) { return same(left, item); });
    return Term::of(found == (op == "in"));
  }
  bool equality = op == "==" || op == "is", inequality = op == "!=" || op == "is not";
  if (left.isConstant() && right.isConstant() && !equality && !inequality) {
    double a = left.asReal(), b = right.asReal();
    return Term::of(op == "<" ? a < b : op == "<=" ? a <= b : op == ">" ? a > b : a >= b);
  }
  if (!left.isNumber() || !right.isNumber() || op == "is" || op == "is not" || (left.isConstant() && right.isConstant())) {
    if (equality || inequality)
      return Term::of(same(left, right) == equality);
    fail(fmt::format("'{}' does not compare {} and {}", op, left.describe(), right.describe()));
  }
  if (std::optional<Tile> box = boxComparison(op, left, right))
    return Term::of(*box);
  auto [a, b] = alike(left, right);
  mlir::Value x = tensor(a), y = tensor(b);
  mlir::Value result;
  if (a.type.isFloat()) {
    using P = arith::CmpFPredicate;
    P p = op == "<" ? P::OLT : op == "<=" ? P::OLE : op == ">" ? P::OGT : op == ">=" ? P::OGE : op == "==" ? P::OEQ : P::UNE;
    result = make<arith::CmpFOp>(p, x, y);
  } else {
    using P = arith::CmpIPredicate;
    bool u = a.type.kind == DType::UInt || a.type.isBool();
    P p = op == "<"    ? (u ? P::ult : P::slt)
          : op == "<=" ? (u ? P::ule : P::sle)
          : op == ">"  ? (u ? P::ugt : P::sgt)
          : op == ">=" ? (u ? P::uge : P::sge)
          : op == "==" ? P::eq
                       : P::ne;
    result = make<arith::CmpIOp>(p, x, y);
  }
  return Term::of(Tile{{DType::Int, 1}, a.shape, result, {}, {}});
}

Term Emitter::callExpression(const Expr &e) {
  Term callee = expression(*e.items[0]);
  std::vector<Term> arguments = callee.kind == Term::Builtin || callee.kind == Term::Callee ? callee.items : std::vector<Term>{};
  for (size_t i = 1; i < e.items.size(); ++i)
    arguments.push_back(expression(*e.items[i]));
  std::vector<std::pair<std::string, Term>> named;
  for (const Keyword &keyword : e.keywords) {
    if (keyword.name.empty())
      fail("'**' is not supported in a call inside a kernel");
    named.emplace_back(keyword.name, expression(*keyword.value));
  }
  if (callee.kind == Term::Callee)
    return call(*callee.callee, std::move(arguments), std::move(named));
  if (callee.kind == Term::Builtin && callee.text == "constant_predicate")
    return Term::of(callee.integer != 0);
  if (callee.kind == Term::Builtin)
    return callBuiltin(callee.text, std::move(arguments), std::move(named));
  if (callee.kind == Term::Type && arguments.size() == 1) { // tl.float32(x)
    Arguments both{arguments[0], callee};
    both.resize(4);
    return castBuiltin("cast", both);
  }
  fail(fmt::format("{} cannot be called", callee.describe()));
}
