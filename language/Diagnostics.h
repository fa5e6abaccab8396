// What the front end says of a user's source: place, reason, and where it helps the fix. Several errors a run.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace dougong::language {

struct Position {
  int line = 0, column = 0; // from 1; line 0: no place
};

struct Diagnostic {
  Position at;
  std::string message;
};

// One source file under translation: its name, its text, and what was found wrong with it.
class Source {
public:
  Source(std::string name, std::string text) : name(std::move(name)), text(std::move(text)) {}

  void error(Position at, std::string message) { diagnostics.push_back({at, std::move(message)}); }
  bool failed() const { return !diagnostics.empty(); }

  // "kernel.py:12:5: error: …", the line, and a caret below the place; for each diagnostic.
  std::string report() const;

  const std::string name, text;
  std::vector<Diagnostic> diagnostics;
};

// Leaves the statement at hand after an error; the emitter goes on with the next one.
struct Abandon {};

} // namespace dougong::language
