// Statements: assignment, and conditionals.
#include "language/Carried.h"

using namespace mlir;
using namespace dougong::language;

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

// --- conditionals

static bool endsInReturn(const dougong::language::Block &body) {
  return !body.empty() && body.back()->kind == Stmt::Return && !body.back()->value;
}

void Emitter::conditional(const Stmt &s, const language::Block &body, size_t &index) {
  Term condition = expression(*s.value);
  if (std::optional<bool> now = known(condition))
    return statements(*now ? s.body : s.orelse);
  Term dynamic = truth(condition);
  if (!dynamic.tile.shape.empty())
    fail("a condition must be a scalar; use tl.where to choose element by element");
  if (endsInReturn(s.body) && s.orelse.empty() && inKernel)
    return exitEarly(s, dynamic.tile.value, body, index);
  branches(s, dynamic.tile.value);
}

// `if …: …; return` in a kernel: what follows it is the other side.
void Emitter::exitEarly(const Stmt &s, mlir::Value condition, const language::Block &body, size_t &index) {
  auto exit = scf::IfOp::create(builder, loc, condition, true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(exit.thenBlock());
  Scope before = scope;
  statements(s.body);
  scope = std::move(before);
  returned.reset();
  builder.setInsertionPointToStart(exit.elseBlock());
  for (++index; index < body.size() && !returned; ++index) {
    At here(*this, body[index]->at);
    statement(*body[index], body, index);
  }
  returned = Term{};
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
    if (!types.empty()) // else the yields are there already
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
