// A recursive-descent parser of the statements that kernels use.
#include "language/StatementParser.h"
#include <fmt/format.h>

using namespace dougong::language;

std::unique_ptr<Function> StatementParser::function() {
  auto f = std::make_unique<Function>();
  while (peek().is("@")) { // any Python: what it says of constants comes with the signature
    while (peek().kind != Token::Newline)
      ++at;
    ++at;
  }
  expect("def");
  f->at = peek().at;
  f->name = name();
  parameters(*f);
  if (accept("->"))
    expression();
  f->body = block();
  return f;
}

void StatementParser::parameters(Function &f) {
  expect("(");
  while (!accept(")")) {
    if (peek().is("*"))
      fail("a kernel takes no '*' parameters; name each one");
    Parameter p;
    p.at = peek().at;
    p.name = name();
    if (accept(":"))
      p.annotation = expression();
    if (accept("="))
      p.preset = expression();
    f.parameters.push_back(std::move(p));
    if (!peek().is(")"))
      expect(",");
  }
}

Block StatementParser::block() {
  Nested nested(*this);
  expect(":");
  Block body;
  if (peek().kind != Token::Newline) {
    simpleLine(body);
    return body;
  }
  ++at;
  expect(Token::Indent, "an indented block");
  while (peek().kind != Token::Dedent && peek().kind != Token::End)
    recovering(body);
  if (peek().kind == Token::Dedent)
    ++at;
  return body;
}

// One statement; after a syntax error, goes on behind its line so that the next error is found too.
void StatementParser::recovering(Block &body) {
  size_t from = at;
  try {
    statement(body);
  } catch (Abandon) {
    at = std::max(at, from);
    int depth = 0;
    for (; peek().kind != Token::End; ++at) {
      depth += peek().kind == Token::Indent ? 1 : peek().kind == Token::Dedent ? -1 : 0;
      if (depth < 0)
        return;
      if (depth == 0 && peek().kind == Token::Newline && peek(1).kind != Token::Indent) {
        ++at;
        return;
      }
    }
  }
}

void StatementParser::statement(Block &body) {
  const Token &t = peek();
  if (t.is("if"))
    return body.push_back(conditional());
  if (t.is("for") || t.is("while"))
    return body.push_back(loop());
  if (t.is("def") || t.is("class") || t.is("with") || t.is("try") || t.is("lambda") || t.is("@"))
    fail(fmt::format("'{}' is not supported inside a kernel", t.text));
  simpleLine(body);
}

StmtPtr StatementParser::conditional() {
  auto s = begin(Stmt::If);
  Nested nested(*this);
  ++at; // if or elif
  s->value = expression();
  s->body = block();
  if (peek().is("elif"))
    s->orelse.push_back(conditional());
  else if (accept("else"))
    s->orelse = block();
  return s;
}

StmtPtr StatementParser::loop() {
  bool isFor = peek().is("for");
  auto s = begin(isFor ? Stmt::For : Stmt::While);
  ++at;
  if (isFor) {
    s->targets.push_back(target());
    expect("in");
  }
  s->value = expression();
  s->body = block();
  if (peek().is("else"))
    fail("'else' of a loop is not supported");
  return s;
}

// Of a for: names, or a tuple of them.
ExprPtr StatementParser::target() {
  Position where = peek().at;
  ExprPtr first = postfix();
  if (!peek().is(","))
    return first;
  ExprPtr tuple = make(Expr::Tuple, where);
  tuple->items.push_back(std::move(first));
  while (accept(","))
    tuple->items.push_back(postfix());
  return tuple;
}

StmtPtr StatementParser::begin(Stmt::Kind kind) {
  auto s = std::make_unique<Stmt>();
  s->kind = kind;
  s->at = peek().at;
  return s;
}

void StatementParser::simpleLine(Block &body) {
  do {
    if (peek().kind == Token::Newline)
      break;
    body.push_back(simple());
  } while (accept(";"));
  expect(Token::Newline, "the end of the line");
}

StmtPtr StatementParser::simple() {
  auto s = begin(Stmt::Pass);
  if (accept("pass"))
    return s;
  for (auto [word, kind] : {std::pair("break", Stmt::Break), std::pair("continue", Stmt::Continue)})
    if (accept(word)) {
      s->kind = kind;
      return s;
    }
  if (accept("return")) {
    s->kind = Stmt::Return;
    if (!atEndOfExpressions())
      s->value = expressions();
    return s;
  }
  if (accept("assert")) {
    s->kind = Stmt::Assert;
    s->value = expression();
    if (accept(","))
      expression();
    return s;
  }
  for (const char *word : {"import", "from", "global", "nonlocal", "raise", "del", "yield"})
    if (peek().is(word))
      fail(fmt::format("'{}' is not supported inside a kernel", word));
  ExprPtr first = expressions();
  if (accept(":")) {
    s->annotation = expression();
    if (!peek().is("=")) // a bare annotation declares nothing we need
      return s;
  }
  if (peek().is("=")) {
    s->kind = Stmt::Assign;
    s->targets.push_back(std::move(first));
    while (accept("=")) {
      ExprPtr next = expressions();
      if (peek().is("="))
        s->targets.push_back(std::move(next));
      else
        s->value = std::move(next);
    }
    return s;
  }
  for (const char *op : {"+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=", "**=", "@="})
    if (accept(op)) {
      s->kind = Stmt::AugAssign;
      s->text = llvm::StringRef(op).drop_back().str();
      s->targets.push_back(std::move(first));
      s->value = expressions();
      return s;
    }
  s->kind = Stmt::Expression;
  s->value = std::move(first);
  return s;
}
