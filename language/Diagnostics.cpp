// Shows diagnostics with the line they speak of.
#include "language/Diagnostics.h"
#include <fmt/format.h>

using namespace dougong::language;

static llvm::StringRef lineOf(llvm::StringRef text, int line) {
  for (; line > 1; --line)
    text = text.split('\n').second;
  return text.split('\n').first;
}

std::string Source::report() const {
  std::string out;
  for (const Diagnostic &d : diagnostics) {
    if (d.at.line == 0) {
      out += fmt::format("{}: error: {}\n", name, d.message);
      continue;
    }
    std::string line = lineOf(text, d.at.line).rtrim().str();
    out += fmt::format("{}:{}:{}: error: {}\n  {}\n  {}^\n", name, d.at.line, d.at.column, d.message, line,
                       std::string(size_t(std::max(0, d.at.column - 1)), ' '));
  }
  return out;
}
