// What compiled host code may rely on, so that a file made on another computer is refused with a reason instead of dying of SIGILL.
#include "runtime/artifact.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <algorithm>
#include <fmt/ranges.h>

namespace dougong {

std::string host_features() {
  std::vector<std::string> names;
  for (const auto &[name, has] : llvm::sys::getHostCPUFeatures())
    if (has)
      names.push_back(name.str());
  std::sort(names.begin(), names.end());
  return llvm::Triple(llvm::sys::getProcessTriple()).getArchName().str() + ": " + fmt::format("{}", fmt::join(names, " "));
}

} // namespace dougong
