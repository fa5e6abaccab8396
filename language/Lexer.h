// Python's tokens, with indentation as tokens of its own.
#pragma once
#include "language/Diagnostics.h"
#include <string>
#include <vector>

namespace dougong::language {

struct Token {
  enum Kind { Name, Integer, Float, String, Operator, Newline, Indent, Dedent, End };
  Kind kind;
  std::string text; // of a string its value, else as written
  Position at;
  bool is(llvm::StringRef what) const { return (kind == Operator || kind == Name) && text == what; }
};

// The whole file; ends with End. A character that is no Python is a diagnostic, and is skipped.
std::vector<Token> lex(Source &source);

} // namespace dougong::language
