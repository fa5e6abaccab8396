// The end of an output file.
#pragma once
#include "llvm/Support/ToolOutputFile.h"

namespace dougong {

// Keeps what has been written, or says why it could not be.
inline std::error_code keep(llvm::ToolOutputFile &file) {
  file.os().flush();
  std::error_code error = file.os().error();
  if (error)
    file.os().clear_error(); // else the process ends with it
  else
    file.keep();
  return error;
}

} // namespace dougong
