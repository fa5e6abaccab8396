// Tokens → expressions: what the rules of statements are built on.
#pragma once
#include "language/Lexer.h"
#include "language/Syntax.h"

namespace dougong::language {

// A recursive-descent parser of expressions, at a place in a source's tokens. Errors are reported to the source, and leave by Abandon.
class ExpressionParser {
public:
  ExpressionParser(Source &source, const std::vector<Token> &tokens, size_t at) : source(source), tokens(tokens), at(at) {}

  ExprPtr expression();
  ExprPtr expressions(); // a, b, c → a tuple

protected:
  const Token &peek(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
  bool accept(llvm::StringRef what);
  void expect(llvm::StringRef what);
  void expect(Token::Kind kind, const char *what);
  std::string name();
  std::string seen() const; // the next token, for diagnostics
  bool atEndOfExpressions() const;
  ExprPtr postfix();
  [[noreturn]] void fail(std::string message);

  // Every rule that can contain itself holds one of these, and goes deeper for what hangs on the left of an operator: a source any deeper
  // would take more stack than there is, here or later. A pair of parentheses is three rules.
  struct Nested {
    explicit Nested(ExpressionParser &parser, bool rule = true) : parser(parser), outside(parser.depth) {
      if (rule)
        deeper();
    }
    ~Nested() { parser.depth = outside; }
    void deeper();
    ExpressionParser &parser;
    size_t outside;
  };

  static ExprPtr make(Expr::Kind kind, Position at, std::string text = "");
  template <typename... Items> static ExprPtr make(Expr::Kind kind, Position at, std::string text, Items... items) {
    ExprPtr e = make(kind, at, std::move(text));
    (e->items.push_back(std::move(items)), ...);
    return e;
  }

  Source &source;
  const std::vector<Token> &tokens;
  size_t at;

private:
  // From the loosest binding inwards.
  ExprPtr disjunction();
  ExprPtr logical(Expr::Kind kind, llvm::StringRef word, ExprPtr (ExpressionParser::*inner)());
  ExprPtr conjunction();
  ExprPtr negation();
  std::string comparisonOperator();
  ExprPtr comparison();
  ExprPtr binary(size_t level);
  ExprPtr unary();
  void argument(Expr &call);
  ExprPtr subscripts();
  ExprPtr subscript();
  ExprPtr atom();
  ExprPtr starred();

  size_t depth = 0;
};

} // namespace dougong::language
