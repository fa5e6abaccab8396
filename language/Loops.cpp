// Loops over ranges and while-loops: as scf.for and scf.while, with what the body changes as carried values.
#include "language/Carried.h"

using namespace mlir;
using namespace dougong::language;

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

// Gives the value that `name` has before a loop the form it has after the body, `model`: a number known at compile time becomes a scalar,
// an affine tile becomes a tensor. False if it has that form already.
bool Emitter::adapt(const std::string &name, Term &initial, const Term &model) {
  if (initial.isConstant() && (model.isConstant() || model.kind == Term::Tiled)) {
    std::optional<DType> like = model.kind == Term::Tiled ? std::optional(model.tile.type) : std::nullopt;
    Tile tile = toTile(initial, like);
    initial = Term::of(model.kind == Term::Tiled && tile.shape != model.tile.shape ? broadcast(tile, model.tile.shape) : tile);
    return true;
  }
  bool tiles = initial.kind == Term::Tiled && model.kind == Term::Tiled;
  if (!tiles || initial.tile.shape != model.tile.shape || !(initial.tile.type == model.tile.type))
    fail(fmt::format("'{}' is {} before this loop and {} after its body{}", name, initial.describe(), model.describe(),
                     tiles ? "; make it so before the loop" : ""));
  if (initial.tile.value)
    return false;
  initial = plain(initial);
  return true;
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
          sameParts[name] = !value.isConstant() && sameStructure(value, scope.at(name));
        }
    });
    bool again = false;
    for (const std::string &name : changed)
      again |= !sameParts.at(name) && adapt(name, before.at(name), models.at(name));
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
