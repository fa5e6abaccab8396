// Joins the operator language's front end with the compiler's targets.
#include "api/kernel_source.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace dougong {

static llvm::Expected<language::Kernel> front_end(mlir::MLIRContext &context, const KernelSource &source) {
  registerKernelDialects(context);
  return language::compileKernel(context, source.file_name, source.text, source.function, source.signature);
}

llvm::Expected<BuiltKernel> build_kernel(const KernelSource &source, const Machine *machine) {
  mlir::MLIRContext context;
  auto kernel = front_end(context, source);
  if (!kernel)
    return kernel.takeError();
  // What a target finds fault with is said of the user's line.
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream out(said);
    if (auto place = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
      out << place.getFilename().getValue() << ":" << place.getLine() << ":" << place.getColumn() << ": ";
    out << (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error ? "error: " : "note: ") << diagnostic.str() << "\n";
    return mlir::success();
  });
  auto module = machine ? compileForNpu(*kernel->module, *machine) : compileForCpu(*kernel->module);
  if (!module) {
    std::string reason = llvm::toString(module.takeError());
    return llvm::createStringError(llvm::inconvertibleErrorCode(), said.empty() ? source.file_name + ": error: " + reason + "\n" : said);
  }
  return BuiltKernel{std::move(*module), std::move(kernel->arguments)};
}

llvm::Expected<std::string> tile_form_of(const KernelSource &source) {
  mlir::MLIRContext context;
  auto kernel = front_end(context, source);
  if (!kernel)
    return kernel.takeError();
  std::string text;
  llvm::raw_string_ostream out(text);
  kernel->module->print(out);
  return text;
}

} // namespace dougong
