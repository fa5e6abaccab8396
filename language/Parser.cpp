// A recursive-descent parser of the statements and expressions that kernels use.
#include "language/Parser.h"
#include <fmt/format.h>

using namespace dougong::language;

namespace {

ExprPtr make(Expr::Kind kind, Position at, std::string text = "") {
  auto e = std::make_unique<Expr>();
  e->kind = kind;
  e->at = at;
  e->text = std::move(text);
  return e;
}

template <typename... Items> ExprPtr make(Expr::Kind kind, Position at, std::string text, Items... items) {
  ExprPtr e = make(kind, at, std::move(text));
  (e->items.push_back(std::move(items)), ...);
  return e;
}

class Parser {
public:
  Parser(Source &source, const std::vector<Token> &tokens, size_t at) : source(source), tokens(tokens), at(at) {}

  std::unique_ptr<Function> function() {
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

  ExprPtr expression() {
    Nested nested(*this);
    Position where = peek().at;
    ExprPtr value = disjunction();
    if (!accept("if"))
      return value;
    ExprPtr condition = disjunction();
    expect("else");
    return make(Expr::Conditional, where, "", std::move(condition), std::move(value), expression());
  }

  ExprPtr expressions() { // a, b, c → a tuple
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

private:
  const Token &peek(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
  bool accept(llvm::StringRef what) {
    if (!peek().is(what))
      return false;
    ++at;
    return true;
  }
  // Every rule that can contain itself holds one of these, and goes deeper for what hangs on the left of an operator: a source any deeper
  // would take more stack than there is, here or later. A pair of parentheses is three rules.
  struct Nested {
    explicit Nested(Parser &parser, bool rule = true) : parser(parser), outside(parser.depth) {
      if (rule)
        deeper();
    }
    ~Nested() { parser.depth = outside; }
    void deeper() {
      if (parser.depth >= 300) {
        parser.depth = outside;
        parser.fail("this is nested too deep, or has too many operators in a row; give parts of it names of their own");
      }
      ++parser.depth;
    }
    Parser &parser;
    size_t outside;
  };
  [[noreturn]] void fail(std::string message) {
    source.error(peek().at, std::move(message));
    throw Abandon();
  }
  std::string seen() const {
    const Token &t = peek();
    return t.kind == Token::Newline ? "the end of the line" : t.kind == Token::End ? "the end of the file" : "'" + t.text + "'";
  }
  void expect(llvm::StringRef what) {
    if (!accept(what))
      fail(fmt::format("expected '{}' here, not {}", what.str(), seen()));
  }
  void expect(Token::Kind kind, const char *what) {
    if (peek().kind != kind)
      fail(fmt::format("expected {} here, not {}", what, seen()));
    ++at;
  }
  std::string name() {
    if (peek().kind != Token::Name)
      fail(fmt::format("expected a name here, not {}", seen()));
    return tokens[at++].text;
  }
  bool atEndOfExpressions() const {
    const Token &t = peek();
    return t.kind == Token::Newline || t.is(")") || t.is("]") || t.is("=") || t.is(":");
  }
  ExprPtr starred() {
    if (peek().is("*"))
      fail("unpacking with '*' is not supported in a kernel; name the items one by one");
    return expression();
  }

  void parameters(Function &f) {
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

  // --- statements

  Block block() {
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
  void recovering(Block &body) {
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

  void statement(Block &body) {
    const Token &t = peek();
    if (t.is("if"))
      return body.push_back(conditional());
    if (t.is("for") || t.is("while"))
      return body.push_back(loop());
    if (t.is("def") || t.is("class") || t.is("with") || t.is("try") || t.is("lambda") || t.is("@"))
      fail(fmt::format("'{}' is not supported inside a kernel", t.text));
    simpleLine(body);
  }

  StmtPtr conditional() {
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

  StmtPtr loop() {
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

  ExprPtr target() { // of a for: names, or a tuple of them
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

  StmtPtr begin(Stmt::Kind kind) {
    auto s = std::make_unique<Stmt>();
    s->kind = kind;
    s->at = peek().at;
    return s;
  }

  void simpleLine(Block &body) {
    do {
      if (peek().kind == Token::Newline)
        break;
      body.push_back(simple());
    } while (accept(";"));
    expect(Token::Newline, "the end of the line");
  }

  StmtPtr simple() {
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

  // --- expressions, from the loosest binding inwards

  ExprPtr disjunction() {
    return logical(Expr::Or, "or", [&] { return logical(Expr::And, "and", [&] { return negation(); }); });
  }

  template <typename Inner> ExprPtr logical(Expr::Kind kind, llvm::StringRef word, Inner inner) {
    Position where = peek().at;
    ExprPtr left = inner();
    if (!peek().is(word))
      return left;
    ExprPtr all = make(kind, where);
    all->items.push_back(std::move(left));
    while (accept(word))
      all->items.push_back(inner());
    return all;
  }

  ExprPtr negation() {
    Nested nested(*this);
    Position where = peek().at;
    if (accept("not"))
      return make(Expr::Unary, where, "not", negation());
    return comparison();
  }

  std::string comparisonOperator() {
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

  ExprPtr comparison() {
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

  ExprPtr binary(size_t level) {
    static const std::vector<std::vector<const char *>> levels = {{"|"},        {"^"},      {"&"},
                                                                  {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"}};
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

  ExprPtr unary() {
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

  ExprPtr postfix() {
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

  void argument(Expr &call) {
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

  ExprPtr subscripts() {
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

  ExprPtr subscript() {
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

  ExprPtr atom() {
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

  Source &source;
  const std::vector<Token> &tokens;
  size_t at;
  size_t depth = 0;
};

} // namespace

Module::Module(Source &source) : source(source), tokens(lex(source)) { scan(); }

// The end of the statement that begins at `at`: behind its Newline, and behind the block below it if there is one.
size_t Module::statementEnd(size_t at) const {
  while (tokens[at].kind != Token::Newline && tokens[at].kind != Token::End)
    ++at;
  if (tokens[at].kind == Token::Newline)
    ++at;
  if (tokens[at].kind != Token::Indent)
    return at;
  int depth = 0;
  do {
    depth += tokens[at].kind == Token::Indent ? 1 : tokens[at].kind == Token::Dedent ? -1 : 0;
    ++at;
  } while (depth > 0 && tokens[at].kind != Token::End);
  return at;
}

void Module::scanImport(size_t at, size_t end) {
  auto dotted = [&](size_t &i) {
    std::string path;
    for (; i < end && (tokens[i].kind == Token::Name || tokens[i].is(".") || tokens[i].is("...")) && !tokens[i].is("as") &&
           !tokens[i].is("import");
         ++i)
      path += tokens[i].text;
    return path;
  };
  std::string from;
  if (tokens[at].is("from")) {
    ++at;
    from = dotted(at) + ".";
  }
  ++at; // import
  while (at < end) {
    if (tokens[at].kind != Token::Name) {
      ++at;
      continue;
    }
    size_t before = at;
    std::string path = dotted(at), alias = path;
    if (at == before && !tokens[at].is("as")) { // "import import"
      ++at;
      continue;
    }
    if (at < end && tokens[at].is("as")) {
      alias = tokens[at + 1].text;
      at += 2;
      imports[alias] = from + path;
    } else if (from.empty()) {
      std::string root = path.substr(0, path.find('.'));
      imports[root] = root;
    } else {
      imports[alias] = from + path;
    }
  }
}

void Module::scan() {
  size_t at = 0;
  while (at < tokens.size() && tokens[at].kind != Token::End) {
    size_t first = at;
    bool jit = false;
    while (tokens[at].is("@")) {
      size_t end = statementEnd(at);
      for (size_t i = at; i < end; ++i)
        if (tokens[i].is("(") || tokens[i].is("jit")) {
          jit |= tokens[i].is("jit");
          break;
        }
      at = end;
    }
    size_t end = statementEnd(at);
    if (tokens[at].is("def") && jit)
      functions[tokens[at + 1].text] = {first, end};
    else if (tokens[at].is("import") || tokens[at].is("from"))
      scanImport(at, end);
    else if (tokens[at].kind == Token::Name && tokens[at + 1].is("="))
      globals[tokens[at].text] = {at + 2, end};
    else if (tokens[at].kind == Token::Name && tokens[at + 1].is(":"))
      for (size_t i = at; i < end; ++i)
        if (tokens[i].is("=")) {
          globals[tokens[at].text] = {i + 1, end};
          break;
        }
    if (tokens[at].is("try") || tokens[at].is("if")) { // imports inside count too
      for (size_t i = at; i < end; ++i)
        if ((tokens[i].is("import") && tokens[i - 1].kind != Token::Name && !tokens[i - 1].is(".")) ||
            (tokens[i].is("from") && i + 1 < end)) {
          size_t stop = i;
          while (stop < end && tokens[stop].kind != Token::Newline)
            ++stop;
          scanImport(i, stop);
          i = stop;
        }
    }
    at = std::max(end, at + 1);
  }
}

const Function *Module::function(const std::string &name) {
  auto range = functions.find(name);
  if (range == functions.end())
    return nullptr;
  std::unique_ptr<Function> &f = parsedFunctions[name];
  if (!f) {
    size_t before = source.diagnostics.size();
    f = Parser(source, tokens, range->second.first).function();
    if (source.diagnostics.size() > before)
      throw Abandon();
  }
  return f.get();
}

const Expr *Module::global(const std::string &name) {
  auto range = globals.find(name);
  if (range == globals.end())
    return nullptr;
  ExprPtr &e = parsedGlobals[name];
  if (!e)
    e = Parser(source, tokens, range->second.first).expressions();
  return e.get();
}

std::string Module::imported(const std::string &name) const {
  auto found = imports.find(name);
  return found == imports.end() ? "" : found->second;
}

std::vector<std::string> Module::functionNames() const {
  std::vector<std::string> names;
  for (const auto &[name, _] : functions)
    names.push_back(name);
  return names;
}
