// Statements: scopes, assignment, conditionals, loops, and calls of device functions, which are expanded in place.
//
// What a loop or a dynamic `if` changes is found by trying: the body is emitted once on the side, the parts of the
// variables that differ afterwards become loop-carried values (or results), and the body is emitted again for good. So the
// base of a pointer that moves is carried, while its strides stay known.
#include "language/Emitter.h"
#include <deque>

using namespace mlir;
using namespace dougong::language;

// --- the kernel itself

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
  const Function *function = module.function(name);
  if (!function) {
    std::vector<std::string> names = module.functionNames();
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

// --- statements

void Emitter::statements(const language::Block &body) {
  for (size_t i = 0; i < body.size() && !returned; ++i) {
    At here(*this, body[i]->at);
    try {
      statement(*body[i], body, i);
    } catch (Abandon) {
      if (callDepth > 0 || source.diagnostics.size() >= 20)
        throw; // a device function's error belongs to the call
      // A name that could not be computed would raise errors of its own further down: stop behind an assignment.
      if (body[i]->kind != Stmt::Expression)
        throw;
    }
  }
}

void Emitter::statement(const Stmt &s, const language::Block &body, size_t &index) {
  switch (s.kind) {
  case Stmt::Assign: {
    Term value = expression(*s.value);
    if (s.annotation && (s.annotation->text == "constexpr") && !value.isConstant() && value.kind == Term::Tiled)
      fail("a constexpr must be known at compile time");
    for (const ExprPtr &target : s.targets)
      assign(*target, value);
    return;
  }
  case Stmt::AugAssign: {
    Term before = expression(*s.targets[0]);
    assign(*s.targets[0], binary(s.text, before, expression(*s.value)));
    return;
  }
  case Stmt::Expression:
    if (s.value->kind != Expr::String) // a docstring
      expression(*s.value);
    return;
  case Stmt::If:
    return conditional(s, body, index);
  case Stmt::For:
    return loop(s);
  case Stmt::While:
    return whileLoop(s);
  case Stmt::Return:
    returned = s.value ? expression(*s.value) : Term{};
    return;
  case Stmt::Assert: {
    std::optional<bool> now = known(expression(*s.value));
    if (now && !*now)
      fail("this assertion does not hold");
    return;
  }
  case Stmt::Pass:
    return;
  case Stmt::Break:
  case Stmt::Continue:
    fail("break and continue are not supported; put the condition into the loop's bounds, or mask");
  }
}

void Emitter::assign(const Expr &target, Term value) {
  At here(*this, target.at);
  if (target.kind == Expr::Name) {
    scope[target.text] = std::move(value);
  } else if (target.kind == Expr::Tuple) {
    if (value.kind != Term::Tuple || value.items.size() != target.items.size())
      fail(fmt::format("{} names cannot take {}", target.items.size(), value.describe()));
    for (size_t i = 0; i < target.items.size(); ++i)
      assign(*target.items[i], value.items[i]);
  } else {
    fail("only names can be assigned to; write to memory with tl.store");
  }
}

// --- what may be carried through a region

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

static bool sameStructure(const Term &a, const Term &b) {
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

static bool sameValue(const Term &a, const Term &b) {
  if (a.kind != b.kind)
    return false;
  if (a.isConstant())
    return a.integer == b.integer && a.real == b.real;
  if (!sameStructure(a, b))
    return false;
  return flatten(a) == flatten(b);
}

static void eraseWithUses(Operation *op) {
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

// --- conditionals

static bool onlyReturns(const dougong::language::Block &body) {
  return body.size() == 1 && body[0]->kind == Stmt::Return && !body[0]->value;
}

void Emitter::conditional(const Stmt &s, const language::Block &body, size_t &index) {
  Term condition = expression(*s.value);
  if (std::optional<bool> now = known(condition))
    return statements(*now ? s.body : s.orelse);
  Term dynamic = truth(condition);
  if (!dynamic.tile.shape.empty())
    fail("a condition must be a scalar; use tl.where to choose element by element");
  if (onlyReturns(s.body) && s.orelse.empty() && inKernel) { // `if …: return`: what follows runs under the opposite
    mlir::Value otherwise = tensor(unary("not", dynamic).tile);
    auto guarded = scf::IfOp::create(builder, loc, otherwise, false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(guarded.thenBlock());
    language::Block &rest = const_cast<language::Block &>(body);
    for (++index; index < rest.size() && !returned; ++index) {
      At here(*this, rest[index]->at);
      statement(*rest[index], rest, index);
    }
    returned = Term{};
    return;
  }
  branches(s, dynamic.tile.value);
}

// Both sides are tried once to learn which variables differ afterwards, and in what form they can leave the `if`: part by
// part where both sides have the same parts (an affine tile stays affine), else as plain tiles and scalars.
void Emitter::branches(const Stmt &s, mlir::Value condition) {
  const language::Block *bodies[2] = {&s.body, &s.orelse};
  Scope before = scope, ends[2];
  std::vector<std::string> names;
  std::map<std::string, Term> model;
  std::map<std::string, std::vector<bool>> present; // which parts of the model are there
  SmallVector<mlir::Type> types;
  trial([&] {
    for (int side : {0, 1}) {
      scope = before;
      statements(*bodies[side]);
      if (returned)
        fail("return inside a dynamic 'if' is not supported, but for a kernel's early exit");
      ends[side] = scope;
    }
    for (const auto &[name, value] : ends[0]) {
      auto other = ends[1].find(name), old = before.find(name);
      bool changed =
          other != ends[1].end() && (old == before.end() || !sameValue(old->second, value) || !sameValue(old->second, other->second));
      if (changed && (old != before.end() || value.isNumber()))
        names.push_back(name);
    }
    for (const std::string &name : names) {
      Term a = ends[0].at(name), b = ends[1].at(name);
      if (a.isConstant() && b.kind == Term::Tiled)
        a = agree(a, plain(b));
      if (b.isConstant() && a.kind == Term::Tiled)
        b = agree(b, plain(a));
      if (!sameStructure(a, b) || a.isConstant()) {
        a = plain(a);
        b = plain(b);
      }
      if (!sameStructure(a, b))
        fail(fmt::format("'{}' is {} on one side of this 'if' and {} on the other", name, a.describe(), b.describe()));
      model[name] = a;
      for (mlir::Value part : flatten(a)) {
        present[name].push_back(bool(part));
        if (part)
          types.push_back(part.getType());
      }
    }
  });
  auto op = scf::IfOp::create(builder, loc, types, condition, true);
  for (int side : {0, 1}) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(side == 0 ? op.thenBlock() : op.elseBlock());
    scope = before;
    statements(*bodies[side]);
    SmallVector<mlir::Value> yields;
    for (const std::string &name : names) {
      Term value = scope.at(name);
      const Tile &t = model.at(name).tile;
      if (value.isConstant())
        value = Term::of(broadcast(cast(toTile(value, t.type), t.type), t.shape));
      std::vector<bool> parts;
      for (mlir::Value part : flatten(value))
        parts.push_back(bool(part));
      for (mlir::Value part : flatten(parts == present[name] ? value : plain(value)))
        if (part)
          yields.push_back(part);
    }
    scf::YieldOp::create(builder, loc, yields);
  }
  scope = before;
  size_t result = 0;
  for (const std::string &name : names) {
    SmallVector<mlir::Value> parts;
    for (bool here : present[name])
      parts.push_back(here ? mlir::Value(op.getResult(result++)) : mlir::Value());
    scope[name] = rebuild(model.at(name), parts);
  }
}

// --- loops

void Emitter::loop(const Stmt &s) {
  if (s.value->kind != Expr::Call)
    fail("a loop runs over range(…), tl.range(…) or tl.static_range(…)");
  Term callee = expression(*s.value->items[0]);
  if (callee.kind != Term::Builtin || (callee.text != "range" && callee.text != "static_range"))
    fail("a loop runs over range(…), tl.range(…) or tl.static_range(…)");
  std::vector<Term> bounds;
  for (size_t i = 1; i < s.value->items.size(); ++i)
    bounds.push_back(expression(*s.value->items[i]));
  for (const Keyword &keyword : s.value->keywords) {
    static const char *hints[] = {"num_stages", "loop_unroll_factor", "disallow_acc_multi_buffer",
                                  "flatten",    "warp_specialize",    "disable_licm"};
    if (keyword.name == "step")
      bounds.resize(3), bounds[2] = expression(*keyword.value);
    else if (!llvm::is_contained(hints, llvm::StringRef(keyword.name)))
      fail(fmt::format("range has no parameter '{}'", keyword.name));
  }
  if (bounds.empty() || bounds.size() > 3)
    fail("range takes one to three numbers");
  Term from = bounds.size() > 1 ? bounds[0] : Term::of(int64_t(0));
  Term to = bounds.size() > 1 ? bounds[1] : bounds[0];
  Term step = bounds.size() > 2 && bounds[2].kind != Term::None ? bounds[2] : Term::of(int64_t(1));
  if (s.targets[0]->kind != Expr::Name)
    fail("a loop over range has one variable");
  if (callee.text == "static_range") {
    int64_t by = constantInt(step, "the step of static_range");
    int64_t last = constantInt(to, "the end of static_range");
    for (int64_t i = constantInt(from, "the start of static_range"); by > 0 ? i < last : i > last; i += by) {
      scope[s.targets[0]->text] = Term::of(i);
      statements(s.body);
    }
    return;
  }
  countedLoop(s, s.targets[0]->text, from, to, step);
}

void Emitter::countedLoop(const Stmt &s, const std::string &variable, Term from, Term to, Term step) {
  if (step.kind == Term::Int && step.integer <= 0)
    fail("a loop's step must be positive; count upwards and compute the index from it");
  bool wide = false;
  for (const Term *v : {&from, &to, &step})
    wide |= v->kind == Term::Tiled && v->tile.type.bits == 64;
  DType counter{DType::Int, wide ? 64 : 32};
  mlir::Value lower = asIndex(from), upper = asIndex(to), by = asIndex(step);
  auto enter = [&](mlir::Value iv) {
    scope[variable] = Term::of(Tile{counter, {}, make<arith::IndexCastOp>(typeOf(counter), iv), {}, {}});
    ++callDepth;
    statements(s.body);
    --callDepth;
    if (returned)
      fail("return inside a loop is not supported");
  };
  Scope before = scope;
  before.erase(variable);
  // Which variables change, and into what: numbers known before the loop become scalars if they do.
  std::vector<std::string> changed;
  while (true) {
    std::map<std::string, Term> models; // their IR is gone once tried: only kind, type and shape count
    std::map<std::string, bool> sameParts;
    changed.clear();
    scope = before;
    trial([&] {
      auto once = scf::ForOp::create(builder, loc, lower, upper, by);
      builder.setInsertionPointToStart(once.getBody());
      enter(once.getInductionVar());
      for (const auto &[name, value] : before)
        if (!sameValue(value, scope.at(name))) {
          changed.push_back(name);
          models[name] = scope.at(name);
          sameParts[name] = sameStructure(value, scope.at(name));
        }
    });
    bool again = false;
    for (const std::string &name : changed) {
      Term &initial = before.at(name);
      const Term &model = models.at(name);
      if (!initial.isConstant() && sameParts[name])
        continue;
      if (initial.isConstant() && (model.isConstant() || model.kind == Term::Tiled)) {
        std::optional<DType> like = model.kind == Term::Tiled ? std::optional(model.tile.type) : std::nullopt;
        Tile tile = toTile(initial, like);
        initial = Term::of(model.kind == Term::Tiled && tile.shape != model.tile.shape ? broadcast(tile, model.tile.shape) : tile);
        again = true;
      } else if (initial.kind == Term::Tiled && model.kind == Term::Tiled && initial.tile.shape == model.tile.shape &&
                 initial.tile.type == model.tile.type) {
        if (!initial.tile.value) {
          initial = plain(initial);
          again = true;
        }
      } else if (initial.kind == Term::Tiled && model.kind == Term::Tiled) {
        fail(fmt::format("'{}' is {} before this loop and {} after its body; make it so before the loop", name, initial.describe(),
                         model.describe()));
      } else {
        fail(fmt::format("'{}' is {} before this loop and {} after its body", name, initial.describe(), model.describe()));
      }
    }
    if (!again)
      break;
  }
  // Only the parts that change are carried. Parts that turn out to change once others are carried are added, and the body is emitted anew.
  std::map<std::string, std::set<size_t>> parts;
  for (bool settled = false; !settled;) {
    settled = true;
    SmallVector<mlir::Value> initial;
    for (const std::string &name : changed) {
      SmallVector<mlir::Value> all = flatten(before.at(name));
      for (size_t i : parts[name])
        initial.push_back(all[i]);
    }
    auto op = scf::ForOp::create(builder, loc, lower, upper, by, initial);
    {
      OpBuilder::InsertionGuard guard(builder);
      if (initial.empty())
        op.getBody()->getTerminator()->erase();
      builder.setInsertionPointToStart(op.getBody());
      scope = before;
      size_t argument = 0;
      Scope inside;
      for (const std::string &name : changed) {
        SmallVector<mlir::Value> all = flatten(before.at(name));
        for (size_t i : parts[name])
          all[i] = op.getRegionIterArg(argument++);
        scope[name] = inside[name] = rebuild(before.at(name), all);
      }
      enter(op.getInductionVar());
      SmallVector<mlir::Value> yields;
      for (const std::string &name : changed) {
        Term end = agree(scope.at(name), inside.at(name));
        SmallVector<mlir::Value> now = flatten(end), start = flatten(inside.at(name));
        for (size_t i = 0; i < now.size(); ++i) {
          if (parts[name].count(i)) {
            yields.push_back(now[i]);
          } else if (now[i] != start[i]) {
            parts[name].insert(i);
            settled = false;
          }
        }
      }
      scf::YieldOp::create(builder, loc, yields);
    }
    if (!settled) {
      eraseWithUses(op);
      continue;
    }
    scope = before;
    size_t result = 0;
    for (const std::string &name : changed) {
      SmallVector<mlir::Value> all = flatten(before.at(name));
      for (size_t i : parts[name])
        all[i] = op.getResult(result++);
      scope[name] = rebuild(before.at(name), all);
    }
  }
}

void Emitter::whileLoop(const Stmt &s) {
  Scope before = scope;
  std::vector<std::string> changed;
  trial([&] {
    expression(*s.value);
    ++callDepth;
    statements(s.body);
    --callDepth;
    for (const auto &[name, value] : before)
      if (!sameValue(value, scope.at(name)))
        changed.push_back(name);
  });
  SmallVector<mlir::Value> initial;
  SmallVector<mlir::Type> types;
  scope = before;
  for (const std::string &name : changed) {
    before[name] = plain(before.at(name));
    for (mlir::Value part : flatten(before.at(name)))
      if (part) {
        initial.push_back(part);
        types.push_back(part.getType());
      }
  }
  auto op = scf::WhileOp::create(builder, loc, types, initial);
  SmallVector<mlir::Location> places(types.size(), loc);
  auto enter = [&](mlir::Block *block) {
    builder.setInsertionPointToStart(block);
    scope = before;
    size_t argument = 0;
    for (const std::string &name : changed) {
      SmallVector<mlir::Value> all = flatten(before.at(name));
      for (mlir::Value &part : all)
        if (part)
          part = block->getArgument(argument++);
      scope[name] = rebuild(before.at(name), all);
    }
  };
  OpBuilder::InsertionGuard guard(builder);
  mlir::Block *head = builder.createBlock(&op.getBefore(), {}, types, places);
  enter(head);
  Term condition = truth(expression(*s.value));
  scf::ConditionOp::create(builder, loc, tensor(toTile(condition)), head->getArguments());
  mlir::Block *body = builder.createBlock(&op.getAfter(), {}, types, places);
  enter(body);
  ++callDepth;
  statements(s.body);
  --callDepth;
  SmallVector<mlir::Value> yields;
  for (const std::string &name : changed)
    for (mlir::Value part : flatten(agree(plain(scope.at(name)), before.at(name))))
      if (part)
        yields.push_back(part);
  scf::YieldOp::create(builder, loc, yields);
  scope = before;
  size_t result = 0;
  for (const std::string &name : changed) {
    SmallVector<mlir::Value> all = flatten(before.at(name));
    for (mlir::Value &part : all)
      if (part)
        part = op.getResult(result++);
    scope[name] = rebuild(before.at(name), all);
  }
}

// --- device functions

Term Emitter::call(const Function &function, std::vector<Term> arguments, std::vector<std::pair<std::string, Term>> named) {
  if (callDepth > 64)
    fail(fmt::format("'{}' calls itself; recursion is not supported", function.name));
  if (arguments.size() > function.parameters.size())
    fail(fmt::format("'{}' takes {} arguments, not {}", function.name, function.parameters.size(), arguments.size()));
  Scope inner;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter &p = function.parameters[i];
    auto given = llvm::find_if(named, [&](const auto &n) { return n.first == p.name; });
    if (i < arguments.size())
      inner[p.name] = arguments[i];
    else if (given != named.end())
      inner[p.name] = given->second;
    else if (p.preset)
      inner[p.name] = expression(*p.preset);
    else
      fail(fmt::format("the call of '{}' gives no value for '{}'", function.name, p.name));
  }
  std::swap(scope, inner);
  bool outerInKernel = std::exchange(inKernel, false);
  std::optional<Term> outerReturned = std::exchange(returned, std::nullopt);
  ++callDepth;
  auto leave = [&] {
    --callDepth;
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
