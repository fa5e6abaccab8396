// Code in this process, for tests and benchmarks: objects or IR through ORC, with what fails as an exception.
#pragma once
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <memory>
#include <stdexcept>
#include <string>

namespace dougong {

inline void check(llvm::Error error) {
  if (error)
    throw std::runtime_error(llvm::toString(std::move(error)));
}
template <typename T> T take(llvm::Expected<T> value) {
  if (!value)
    check(value.takeError());
  return std::move(*value);
}

// A JIT whose code sees the functions of this process.
inline std::unique_ptr<llvm::orc::LLJIT> hostCode() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::unique_ptr<llvm::orc::LLJIT> jit = take(llvm::orc::LLJITBuilder().create());
  jit->getMainJITDylib().addGenerator(
      take(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(jit->getDataLayout().getGlobalPrefix())));
  return jit;
}

} // namespace dougong
