// NumPy's .npy files, versions 1 to 3, little-endian, C order (Fortran order is turned).
#pragma once
#include "runtime/executor.h"
#include <string>

namespace dougong {

llvm::Expected<Tensor> read_npy(const std::string &path);
// Written under another name first and then renamed. bfloat16, which .npy cannot say, is written as f32.
llvm::Error write_npy(const std::string &path, const Tensor &tensor);

// The same for any file of text.
llvm::Error write_text(const std::string &path, const std::string &text);

} // namespace dougong
