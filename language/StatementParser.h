// Tokens → functions: decorators, parameters, and the statements of the body.
#pragma once
#include "language/ExpressionParser.h"

namespace dougong::language {

class StatementParser : public ExpressionParser {
public:
  using ExpressionParser::ExpressionParser;

  std::unique_ptr<Function> function();

private:
  void parameters(Function &f);
  Block block();
  void recovering(Block &body);
  void statement(Block &body);
  StmtPtr conditional();
  StmtPtr loop();
  ExprPtr target();
  StmtPtr begin(Stmt::Kind kind);
  void simpleLine(Block &body);
  StmtPtr simple();
};

} // namespace dougong::language
