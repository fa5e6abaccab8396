// compileForNpu: kernels → LLVM IR (Npu.cpp) → the backend → an executable for the device.
#include "backend/dougong.h"
#include "compiler/npu/npu.h"

using namespace mlir;

namespace dougong {

// What vector code keeps at once must fit a kernel's stack where it does not fit the registers; if it does not, less is done
// at once.
llvm::Expected<CompiledModule> compileForNpu(ModuleOp kernels, const Machine &machine) {
  for (int together = npu::mostTogether;; together /= 4) {
    llvm::LLVMContext context;
    llvm::Module module("kernels", context);
    module.setDataLayout(targetDataLayout);
    module.setTargetTriple(llvm::Triple(targetTriple));
    auto described = npu::emitForNpu(kernels, machine, module, std::max(together, 1));
    if (!described)
      return described.takeError();
    auto object = compileToObject(module);
    if (!object) {
      std::string reason = llvm::toString(object.takeError());
      if (together > 0 && StringRef(reason).contains("stack frame"))
        continue;
      return llvm::createStringError(reason);
    }
    auto image = linkKernels({*object});
    if (!image)
      return image.takeError();
    return CompiledModule{"npu", std::move(*image), std::move(*described)};
  }
}

} // namespace dougong
