// The standard functions that are written in the language itself.
#include "language/Library.h"

std::string dougong::language::libraryText() {
  return
#include "language/library_text.inc" // library.py as a string, made by the build
      ;
}
