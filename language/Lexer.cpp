// Python's tokens: names, numbers, strings, operators; logical lines; indentation.
#include "language/Lexer.h"
#include <algorithm>
#include <cctype>

using namespace dougong::language;

namespace {

class Lexer {
public:
  explicit Lexer(Source &source) : source(source), text(source.text) {}

  std::vector<Token> run() {
    while (at < text.size())
      line();
    if (!tokens.empty() && tokens.back().kind != Token::Newline && tokens.back().kind != Token::Dedent)
      add(Token::Newline, "");
    while (indents.size() > 1) {
      indents.pop_back();
      add(Token::Dedent, "");
    }
    add(Token::End, "");
    return std::move(tokens);
  }

private:
  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  Position here() const { return {row, int(at - lineStart) + 1}; }
  void add(Token::Kind kind, std::string what, Position where) { tokens.push_back({kind, std::move(what), where}); }
  void add(Token::Kind kind, std::string what) { add(kind, std::move(what), here()); }
  void newRow() {
    ++row;
    lineStart = at;
  }
  void skipComment() {
    while (at < text.size() && text[at] != '\n')
      ++at;
  }

  // One logical line, with the indentation before it.
  void line() {
    int width = 0;
    for (; peek() == ' ' || peek() == '\t' || peek() == '\f'; ++at)
      width = peek() == '\t' ? (width / 8 + 1) * 8 : width + 1;
    if (peek() == '#')
      skipComment();
    if (peek() == '\r')
      ++at;
    if (peek() == '\n') {
      ++at;
      return newRow();
    }
    if (at >= text.size())
      return;
    indent(width);
    while (at < text.size()) {
      char c = peek();
      if (c == '\n') {
        ++at;
        if (depth == 0) {
          tokens.push_back({Token::Newline, "", {row, int(at - lineStart)}});
          return newRow();
        }
        newRow();
      } else if (c == '\\' && (peek(1) == '\n' || peek(1) == '\r')) {
        at += peek(1) == '\r' ? 3 : 2;
        newRow();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
        ++at;
      } else if (c == '#') {
        skipComment();
      } else {
        token();
      }
    }
  }

  void indent(int width) {
    if (width > indents.back()) {
      indents.push_back(width);
      add(Token::Indent, "");
    }
    while (width < indents.back()) {
      indents.pop_back();
      add(Token::Dedent, "");
    }
    if (width != indents.back())
      source.error(here(), "this line's indentation matches no line above it");
  }

  void token() {
    char c = peek();
    if (std::isdigit(static_cast<unsigned char>(c)) || (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1)))))
      return number();
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80))
      return name();
    if (c == '"' || c == '\'')
      return string(here(), false);
    for (const char *op : {"**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "<=", ">=", "==",
                           "!=",  "->",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "@=", ":="})
      if (llvm::StringRef(text).substr(at).starts_with(op)) {
        add(Token::Operator, op);
        at += llvm::StringRef(op).size();
        return;
      }
    if (llvm::StringRef("()[]{}").contains(c))
      depth = std::max(0, depth + (llvm::StringRef("([{").contains(c) ? 1 : -1));
    if (llvm::StringRef("()[]{}+-*/%@&|^~<>=,:.;").contains(c))
      add(Token::Operator, std::string(1, c));
    else
      source.error(here(), std::string("the character '") + c + "' has no meaning in Python");
    ++at;
  }

  void number() {
    Position where = here();
    size_t from = at;
    bool isFloat = false;
    if (peek() == '0' && llvm::StringRef("xXoObB").contains(peek(1)) && peek(1)) {
      at += 2;
      while (std::isxdigit(static_cast<unsigned char>(peek())) || peek() == '_')
        ++at;
    } else {
      while (true) {
        char c = peek();
        if (c == '.' ||
            ((c == 'e' || c == 'E') && (std::isdigit(static_cast<unsigned char>(peek(1))) || peek(1) == '-' || peek(1) == '+'))) {
          isFloat = true;
          at += c == '.' || std::isdigit(static_cast<unsigned char>(peek(1))) ? 1 : 2;
        } else if (std::isdigit(static_cast<unsigned char>(c)) || c == '_') {
          ++at;
        } else {
          break;
        }
      }
    }
    std::string digits = text.substr(from, at - from);
    digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
    add(isFloat ? Token::Float : Token::Integer, digits, where);
  }

  void name() {
    Position where = here();
    size_t from = at;
    while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '_' || (peek() & 0x80))
      ++at;
    std::string word = text.substr(from, at - from);
    if ((peek() == '"' || peek() == '\'') && word.size() <= 2 &&
        llvm::StringRef(word).find_first_not_of("rRbBuUfF") == llvm::StringRef::npos)
      return string(where, llvm::StringRef(word).contains_insensitive("r"));
    add(Token::Name, word, where);
  }

  void string(Position where, bool raw) {
    char quote = peek();
    bool triple = peek(1) == quote && peek(2) == quote;
    at += triple ? 3 : 1;
    std::string value;
    while (true) {
      if (at >= text.size() || (!triple && peek() == '\n')) {
        source.error(where, "this string does not end");
        break;
      }
      if (peek() == quote && (!triple || (peek(1) == quote && peek(2) == quote))) {
        at += triple ? 3 : 1;
        break;
      }
      if (peek() == '\\' && !raw) {
        ++at;
        char c = peek();
        value += c == 'n' ? '\n' : c == 't' ? '\t' : c;
        if (c == '\n') {
          value.pop_back();
          ++at;
          newRow();
          continue;
        }
      } else {
        value += peek();
      }
      bool lineEnd = peek() == '\n';
      ++at;
      if (lineEnd)
        newRow();
    }
    if (!tokens.empty() && tokens.back().kind == Token::String)
      tokens.back().text += value; // adjacent strings are one
    else
      add(Token::String, value, where);
  }

  Source &source;
  const std::string &text;
  std::vector<Token> tokens;
  std::vector<int> indents{0};
  size_t at = 0, lineStart = 0;
  int row = 1, depth = 0;
};

} // namespace

std::vector<Token> dougong::language::lex(Source &source) { return Lexer(source).run(); }
