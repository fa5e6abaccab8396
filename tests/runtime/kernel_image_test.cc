// See kernel_image.h. (Named *_test.cc because the test program is made of those.)
#include "backend/dougong.h"
#include "tests/runtime/kernel_image.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace {

// A kernel whose body runs for each program %p; slot i of the launch is %s<i>.
std::string kernel(const std::string &name, int slots, const std::string &body) {
  std::string text = "define void @" + name + "(ptr %launch, i64 %first, i64 %last, i64 %step) {\nentry:\n";
  for (int i = 0; i < slots; ++i) {
    std::string n = std::to_string(i);
    text += "  %a" + n + " = getelementptr i8, ptr %launch, i64 " + std::to_string(24 + 8 * i) + "\n  %s" + n + " = load i64, ptr %a" + n +
            "\n  %p" + n + " = inttoptr i64 %s" + n + " to ptr\n  %i" + n + " = trunc i64 %s" + n + " to i32\n";
  }
  return text +
         "  br label %head\nhead:\n  %p = phi i64 [ %first, %entry ], [ %q, %body ]\n  %more = icmp ult i64 %p, %last\n"
         "  br i1 %more, label %body, label %end\nbody:\n" +
         body + "  %q = add i64 %p, %step\n  br label %head\nend:\n  ret void\n}\n";
}

std::string kernels() {
  return kernel("scale_add", 3, R"(
  %x = getelementptr i32, ptr %p0, i64 %p
  %v = load i32, ptr %x
  %w = mul i32 %v, 3
  %z = add i32 %w, %i2
  %y = getelementptr i32, ptr %p1, i64 %p
  store i32 %z, ptr %y
)") + kernel("append", 2, R"(
  %n = load i32, ptr %p0
  %m = add i32 %n, 1
  store i32 %m, ptr %p0
  %y = getelementptr i32, ptr %p0, i32 %m
  store i32 %i1, ptr %y
)") + kernel("poke", 1, "  store i32 1, ptr %p0\n") +
         kernel("add_f32", 3, R"(
  %x = getelementptr float, ptr %p0, i64 %p
  %y = getelementptr float, ptr %p1, i64 %p
  %v = load float, ptr %x
  %w = load float, ptr %y
  %z = fadd float %v, %w
  %o = getelementptr float, ptr %p2, i64 %p
  store float %z, ptr %o
)");
}

std::string host_object(llvm::Module &module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto machine = llvm::cantFail(llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost()).createTargetMachine());
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  llvm::SmallVector<char> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile);
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace

std::string kernel_image(const std::string &kind) {
  if (kind == "null")
    return "anything";
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(kernels(), diagnostic, context);
  if (!module) {
    diagnostic.print("kernel_image", llvm::errs());
    std::abort();
  }
  if (kind == "cpu")
    return host_object(*module);
  return llvm::cantFail(dougong::linkKernels({llvm::cantFail(dougong::compileToObject(*module))}));
}
