// The standard functions that are written in the language itself.
#include "language/Library.h"

#pragma clang diagnostic ignored "-Wc23-extensions" // #embed

static const char text[] = {
#embed "library.py"
    , 0};

std::string dougong::language::libraryText() { return text; }
