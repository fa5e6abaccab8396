// The standard functions that are written in the language itself.
#pragma once
#include <string>

namespace dougong::language {

// library.py, which kernels see as triton.language's own.
std::string libraryText();

} // namespace dougong::language
