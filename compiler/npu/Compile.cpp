// compileForNpu: kernels → LLVM IR (Npu.cpp) → the backend → an executable for the device.
#include "backend/dougong.h"
#include "compiler/npu/npu.h"

using namespace mlir;

namespace dougong {

llvm::Expected<CompiledModule> compileForNpu(ModuleOp kernels, const Machine &machine) {
  llvm::LLVMContext context;
  llvm::Module module("kernels", context);
  module.setDataLayout(targetDataLayout);
  module.setTargetTriple(llvm::Triple(targetTriple));
  auto described = npu::emitForNpu(kernels, machine, module);
  if (!described)
    return described.takeError();
  auto object = compileToObject(module);
  if (!object)
    return object.takeError();
  auto image = linkKernels({*object});
  if (!image)
    return image.takeError();
  return CompiledModule{"npu", std::move(*image), std::move(*described)};
}

}  // namespace dougong
