// Functions: a kernel's parameters bound to its signature, and device functions, which are expanded where they are called.
#include "language/Emitter.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace dougong::language;

static Term constantOf(llvm::StringRef text) {
  int64_t integer;
  double real;
  if (text == "None")
    return {};
  if (text == "True" || text == "False")
    return Term::of(text == "True");
  if (!text.getAsInteger(0, integer))
    return Term::of(integer);
  if (!text.getAsDouble(real))
    return Term::of(real);
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front())
    return Term::of(text.drop_front().drop_back().str());
  if (std::optional<DType> type = DType::parse(text))
    return Term::of(*type);
  return Term::of(text.str());
}

std::vector<Term> Emitter::bindKernel(const Function &function, const Signature &signature, func::FuncOp func,
                                      std::vector<LaunchArgument> &arguments) {
  std::vector<Term> values;
  std::vector<std::pair<size_t, std::string>> runtime; // parameter, type
  if (signature.positional.size() > function.parameters.size())
    fail(fmt::format("'{}' takes {} parameters, and the signature gives {}", function.name, function.parameters.size(),
                     signature.positional.size()));
  for (const auto &[key, _] : signature.named)
    if (llvm::none_of(function.parameters, [&](const Parameter &p) { return p.name == key; }))
      fail(fmt::format("'{}' has no parameter '{}'", function.name, key));
  SmallVector<mlir::Type> types;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter &p = function.parameters[i];
    At here(*this, p.at);
    std::string text;
    if (auto named = signature.named.find(p.name); named != signature.named.end())
      text = named->second;
    else if (i < signature.positional.size())
      text = signature.positional[i];
    else if (p.preset) {
      values.push_back(expression(*p.preset));
      continue;
    } else
      fail(fmt::format("the signature says nothing of parameter '{}'; add a type (\"*fp32\", \"i32\") or a constant ({}=128)", p.name,
                       p.name));
    llvm::StringRef type = llvm::StringRef(text).split(':').first; // without the alignment
    bool pointer = type.consume_front("*");
    bool constexprParameter = p.annotation && (p.annotation->text == "constexpr");
    std::optional<DType> dtype = constexprParameter ? std::nullopt : DType::parse(type);
    if (pointer && !dtype)
      fail(fmt::format("'{}' is not a type of parameter '{}'", text, p.name));
    if (!dtype) {
      values.push_back(constantOf(text));
      continue;
    }
    runtime.emplace_back(i, type.str());
    arguments.push_back({p.name, (pointer ? "*" : "") + dtype->name(), pointer});
    mlir::Type element = typeOf(*dtype);
    if (pointer && dtype->isBool())
      element = builder.getI8Type();
    types.push_back(pointer ? mlir::Type(MemRefType::get({ShapedType::kDynamic}, element)) : element);
    Term value = pointer ? Term::of(Pointer{*dtype, {}, {}}) : Term::of(Tile{*dtype, {}, {}, {}, {}});
    values.push_back(value);
  }
  func.setType(builder.getFunctionType(types, {}));
  mlir::Block *entry = func.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  for (size_t k = 0; k < runtime.size(); ++k) {
    Term &value = values[runtime[k].first];
    if (value.kind == Term::Pointing) {
      value.pointer.base = entry->getArgument(k);
      value.pointer.offset = constantTile(Term::of(int64_t(0)), {DType::Int, 64});
    } else {
      value.tile.value = entry->getArgument(k);
    }
  }
  return values;
}

func::FuncOp Emitter::kernel(ModuleOp into, const std::string &name, const Signature &signature, std::vector<LaunchArgument> &arguments) {
  const Function *function = user->function(name);
  if (!function) {
    std::vector<std::string> names = user->functionNames();
    source.error({}, names.empty() ? fmt::format("there is no kernel '{}': the file has no function with a jit decorator", name)
                                   : fmt::format("there is no kernel '{}'; the file's functions with a jit decorator are {}", name,
                                                 fmt::join(names, ", ")));
    return {};
  }
  move(function->at);
  builder.setInsertionPointToEnd(into.getBody());
  auto func = func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  func->setAttr("dg.kernel", builder.getUnitAttr());
  std::vector<Term> values = bindKernel(*function, signature, func, arguments);
  for (size_t i = 0; i < values.size(); ++i)
    scope[function->parameters[i].name] = values[i];
  statements(function->body);
  if (source.failed())
    return {};
  func::ReturnOp::create(builder, loc);
  return func;
}

// An expression of a file's top level, which sees no local variables.
Term Emitter::elsewhere(const Expr &e, Module *home) {
  Scope outside;
  std::swap(scope, outside);
  Module *before = std::exchange(module, home);
  auto leave = llvm::scope_exit([&] {
    module = before;
    std::swap(scope, outside);
  });
  return expression(e);
}

Term Emitter::call(const Function &function, std::vector<Term> arguments, std::vector<std::pair<std::string, Term>> named) {
  if (callDepth > 64)
    fail(fmt::format("'{}' calls itself; recursion is not supported", function.name));
  if (arguments.size() > function.parameters.size())
    fail(fmt::format("'{}' takes {} arguments, not {}", function.name, function.parameters.size(), arguments.size()));
  for (const auto &[key, _] : named) {
    auto parameter = llvm::find_if(function.parameters, [&](const Parameter &p) { return p.name == key; });
    if (parameter == function.parameters.end())
      fail(fmt::format("'{}' has no parameter '{}'", function.name, key));
    if (size_t(parameter - function.parameters.begin()) < arguments.size())
      fail(fmt::format("the call of '{}' gives '{}' twice", function.name, key));
  }
  Scope inner;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter &p = function.parameters[i];
    auto given = llvm::find_if(named, [&](const auto &n) { return n.first == p.name; });
    if (i < arguments.size())
      inner[p.name] = arguments[i];
    else if (given != named.end())
      inner[p.name] = given->second;
    else if (p.preset)
      inner[p.name] = elsewhere(*p.preset, function.home);
    else
      fail(fmt::format("the call of '{}' gives no value for '{}'", function.name, p.name));
  }
  std::swap(scope, inner);
  Module *outerModule = std::exchange(module, function.home);
  bool outerInKernel = std::exchange(inKernel, false);
  std::optional<Term> outerReturned = std::exchange(returned, std::nullopt);
  ++callDepth;
  auto leave = [&] {
    --callDepth;
    module = outerModule;
    inKernel = outerInKernel;
    std::swap(scope, inner);
    return std::exchange(returned, outerReturned);
  };
  try {
    statements(function.body);
  } catch (Abandon) {
    leave();
    throw;
  }
  std::optional<Term> result = leave();
  return result ? *result : Term{};
}
