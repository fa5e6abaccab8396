// A recursive-descent parser of the expressions that kernels use.
#include "language/ExpressionParser.h"
#include <fmt/format.h>

using namespace dougong::language;

ExprPtr ExpressionParser::make(Expr::Kind kind, Position at, std::string text) {
  auto e = std::make_unique<Expr>();
  e->kind = kind;
  e->at = at;
  e->text = std::move(text);
  return e;
}

bool ExpressionParser::accept(llvm::StringRef what) {
  if (!peek().is(what))
    return false;
  ++at;
  return true;
}

void ExpressionParser::fail(std::string message) {
  source.error(peek().at, std::move(message));
  throw Abandon();
}

void ExpressionParser::Nested::deeper() {
  if (parser.depth >= 300) {
    parser.depth = outside;
    parser.fail("this is nested too deep, or has too many operators in a row; give parts of it names of their own");
  }
  ++parser.depth;
}

std::string ExpressionParser::seen() const {
  const Token &t = peek();
  return t.kind == Token::Newline ? "the end of the line" : t.kind == Token::End ? "the end of the file" : "'" + t.text + "'";
}
void ExpressionParser::expect(llvm::StringRef what) {
  if (!accept(what))
    fail(fmt::format("expected '{}' here, not {}", what.str(), seen()));
}
void ExpressionParser::expect(Token::Kind kind, const char *what) {
  if (peek().kind != kind)
    fail(fmt::format("expected {} here, not {}", what, seen()));
  ++at;
}
std::string ExpressionParser::name() {
  if (peek().kind != Token::Name)
    fail(fmt::format("expected a name here, not {}", seen()));
  return tokens[at++].text;
}
bool ExpressionParser::atEndOfExpressions() const {
  const Token &t = peek();
  return t.kind == Token::Newline || t.is(")") || t.is("]") || t.is("=") || t.is(":");
}
ExprPtr ExpressionParser::starred() {
  if (peek().is("*"))
    fail("unpacking with '*' is not supported in a kernel; name the items one by one");
  return expression();
}

ExprPtr ExpressionParser::expression() {
  Nested nested(*this);
  Position where = peek().at;
  ExprPtr value = disjunction();
  if (!accept("if"))
    return value;
  ExprPtr condition = disjunction();
  expect("else");
  return make(Expr::Conditional, where, "", std::move(condition), std::move(value), expression());
}

ExprPtr ExpressionParser::expressions() {
  Position where = peek().at;
  ExprPtr first = starred();
  if (!peek().is(","))
    return first;
  ExprPtr tuple = make(Expr::Tuple, where);
  tuple->items.push_back(std::move(first));
  while (accept(",")) {
    if (atEndOfExpressions())
      break;
    tuple->items.push_back(starred());
  }
  return tuple;
}

ExprPtr ExpressionParser::disjunction() { return logical(Expr::Or, "or", &ExpressionParser::conjunction); }

ExprPtr ExpressionParser::conjunction() { return logical(Expr::And, "and", &ExpressionParser::negation); }

ExprPtr ExpressionParser::logical(Expr::Kind kind, llvm::StringRef word, ExprPtr (ExpressionParser::*inner)()) {
  Position where = peek().at;
  ExprPtr left = (this->*inner)();
  if (!peek().is(word))
    return left;
  ExprPtr all = make(kind, where);
  all->items.push_back(std::move(left));
  while (accept(word))
    all->items.push_back((this->*inner)());
  return all;
}

ExprPtr ExpressionParser::negation() {
  Nested nested(*this);
  Position where = peek().at;
  if (accept("not"))
    return make(Expr::Unary, where, "not", negation());
  return comparison();
}

std::string ExpressionParser::comparisonOperator() {
  for (const char *op : {"<=", ">=", "==", "!=", "<", ">"})
    if (accept(op))
      return op;
  if (peek().is("not") && peek(1).is("in")) {
    at += 2;
    return "not in";
  }
  if (accept("in"))
    return "in";
  if (accept("is"))
    return accept("not") ? "is not" : "is";
  return "";
}

ExprPtr ExpressionParser::comparison() {
  Position where = peek().at;
  ExprPtr left = binary(0);
  std::string op = comparisonOperator();
  if (op.empty())
    return left;
  ExprPtr result = make(Expr::Compare, where, op, std::move(left), binary(0));
  if (!(peek().is("<") || peek().is(">") || peek().is("<=") || peek().is(">=") || peek().is("==") || peek().is("!=")))
    return result;
  fail("a chain of comparisons is not supported; write (a < b) & (b < c)");
}

ExprPtr ExpressionParser::binary(size_t level) {
  static const std::vector<std::vector<const char *>> levels = {{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"}};
  if (level == levels.size())
    return unary();
  ExprPtr left = binary(level + 1);
  for (Nested chain(*this, false);; chain.deeper()) {
    const char *found = nullptr;
    for (const char *op : levels[level])
      if (peek().is(op))
        found = op;
    if (!found)
      return left;
    Position where = peek().at;
    ++at;
    left = make(Expr::Binary, where, found, std::move(left), binary(level + 1));
  }
}

ExprPtr ExpressionParser::unary() {
  Nested nested(*this);
  Position where = peek().at;
  for (const char *op : {"-", "+", "~"})
    if (accept(op))
      return make(Expr::Unary, where, op, unary());
  ExprPtr base = postfix();
  if (accept("**"))
    return make(Expr::Binary, where, "**", std::move(base), unary());
  return base;
}

ExprPtr ExpressionParser::postfix() {
  ExprPtr e = atom();
  for (Nested chain(*this, false);; chain.deeper()) {
    Position where = peek().at;
    if (accept(".")) {
      e = make(Expr::Attribute, where, name(), std::move(e));
    } else if (accept("(")) {
      e = make(Expr::Call, e->at, "", std::move(e));
      while (!accept(")")) {
        argument(*e);
        if (!peek().is(")"))
          expect(",");
      }
    } else if (accept("[")) {
      ExprPtr index = subscripts();
      expect("]");
      e = make(Expr::Subscript, where, "", std::move(e), std::move(index));
    } else {
      return e;
    }
  }
}

void ExpressionParser::argument(Expr &call) {
  if (accept("**")) {
    call.keywords.push_back({"", expression()});
    return;
  }
  if (peek().kind == Token::Name && peek(1).is("=")) {
    std::string key = name();
    ++at;
    call.keywords.push_back({key, expression()});
    return;
  }
  call.items.push_back(starred());
  if (peek().is("for"))
    fail("a comprehension is not supported in a kernel");
}

ExprPtr ExpressionParser::subscripts() {
  Position where = peek().at;
  ExprPtr first = subscript();
  if (!peek().is(","))
    return first;
  ExprPtr tuple = make(Expr::Tuple, where);
  tuple->items.push_back(std::move(first));
  while (accept(","))
    if (!peek().is("]"))
      tuple->items.push_back(subscript());
  return tuple;
}

ExprPtr ExpressionParser::subscript() {
  Position where = peek().at;
  ExprPtr part[3];
  int count = 0;
  bool slice = false;
  while (true) {
    if (!peek().is(":") && !peek().is("]") && !peek().is(","))
      part[count] = expression();
    if (count == 2 || !accept(":"))
      break;
    slice = true;
    ++count;
  }
  if (!slice)
    return std::move(part[0]);
  return make(Expr::Slice, where, "", std::move(part[0]), std::move(part[1]), std::move(part[2]));
}

ExprPtr ExpressionParser::atom() {
  const Token &t = peek();
  switch (t.kind) {
  case Token::Integer: {
    ++at;
    ExprPtr e = make(Expr::Integer, t.at);
    uint64_t value = 0;
    if (llvm::StringRef(t.text).getAsInteger(0, value))
      source.error(t.at, fmt::format("the number {} does not fit 64 bits", t.text));
    e->integer = static_cast<int64_t>(value);
    return e;
  }
  case Token::Float: {
    ++at;
    ExprPtr e = make(Expr::Float, t.at);
    e->real = std::strtod(t.text.c_str(), nullptr);
    return e;
  }
  case Token::String:
    ++at;
    return make(Expr::String, t.at, t.text);
  case Token::Name:
    if (t.text == "lambda" || t.text == "await" || t.text == "yield")
      fail(fmt::format("'{}' is not supported in a kernel", t.text));
    ++at;
    return make(t.text == "True" || t.text == "False" || t.text == "None" ? Expr::Constant : Expr::Name, t.at, t.text);
  default:
    break;
  }
  if (accept("..."))
    return make(Expr::Constant, t.at, "...");
  if (accept("(") || accept("[")) {
    bool list = t.is("[");
    ExprPtr inner = peek().is(list ? "]" : ")") ? make(Expr::Tuple, t.at) : expressions();
    if (peek().is("for"))
      fail("a comprehension is not supported in a kernel");
    expect(list ? "]" : ")");
    if (list && inner->kind != Expr::Tuple)
      inner = make(Expr::Tuple, t.at, "", std::move(inner));
    return inner;
  }
  fail(fmt::format("expected an expression here, not {}", seen()));
}
