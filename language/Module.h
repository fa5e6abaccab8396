// Tokens → syntax trees, function by function and only when asked: a published file holds much besides its kernels, and
// what no kernel uses is never looked at.
#pragma once
#include "language/Lexer.h"
#include "language/Syntax.h"
#include <map>
#include <optional>

namespace dougong::language {

// A source file's top level: where its functions, imports and plain assignments stand.
class Module {
public:
  explicit Module(Source &source);

  // A function with a `jit` decorator, parsed at the first call; null if there is none of the name. Throws Abandon after syntax errors.
  const Function *function(const std::string &name);
  // The value of a top-level `NAME = expression`; null if there is none.
  const Expr *global(const std::string &name);
  // What an imported name stands for: "tl" → "triton.language". Empty if it was not imported.
  std::string imported(const std::string &name) const;
  std::vector<std::string> functionNames() const;

private:
  struct Range {
    size_t first, last;
  };
  void scan();
  void scanImport(size_t at, size_t end);
  size_t statementEnd(size_t at) const;

  Source &source;
  std::vector<Token> tokens;
  std::map<std::string, Range> functions, globals;
  std::map<std::string, std::string> imports;
  std::map<std::string, std::unique_ptr<Function>> parsedFunctions;
  std::map<std::string, ExprPtr> parsedGlobals;
};

} // namespace dougong::language
