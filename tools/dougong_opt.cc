// dougong-opt: kernels in graph or tile form, taken through the NPU compiler as far as asked, and printed.
#include "backend/dougong.h"
#include "compiler/npu/npu.h"
#include "machines/machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tools/output.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include <CLI/CLI.hpp>

using namespace dougong;

namespace {

int fail(const std::string &message) {
  llvm::errs() << "dougong-opt: " << message << '\n';
  return 2;
}

void describe(const CompiledKernel &kernel) {
  llvm::errs() << kernel.name << ": grid " << kernel.grid[0] << 'x' << kernel.grid[1] << 'x' << kernel.grid[2] << ", multiply-adds "
               << kernel.tensorMacs << " on the tensor engine and " << kernel.vectorMacs << " on the vector unit, " << kernel.vectorElements
               << " elements in vector code, " << kernel.compulsoryBytes << " bytes to and from memory\n";
  for (const LocalBuffer &buffer : kernel.localBuffers)
    llvm::errs() << "  " << buffer.bytes << " bytes: " << buffer.what << " (" << buffer.where << ")\n";
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Takes kernels (MLIR text) through the NPU compiler and prints them.");
  std::string input, output = "-", machineName = "phone", stage = "llvm";
  bool buffers = false;
  app.add_option("input", input, "MLIR text, - for standard input")->required();
  app.add_option("-o,--output", output, "where to write; - is standard output");
  app.add_option("--machine", machineName, "a shipped machine or a file");
  app.add_option("--emit", stage, "tile: tile form; prepared: what the emitter sees; llvm, optimized, asm, object, executable")
      ->check(CLI::IsMember({"tile", "prepared", "llvm", "optimized", "asm", "object", "executable"}));
  app.add_flag("--buffers", buffers, "describe each kernel: its work, and what fills local memory at the peak");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  }

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  registerKernelDialects(context);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(input, sources, &context);
  if (!module)
    return fail("'" + input + "' could not be read");
  std::error_code unwritable;
  auto written = [&] { return unwritable ? fail("cannot write '" + output + "': " + unwritable.message()) : 0; };
  llvm::ToolOutputFile file(output, unwritable, llvm::sys::fs::OF_None);
  if (unwritable)
    return written();
  Machine machine;
  try {
    machine = Machine::load(machineName);
  } catch (const MachineError &error) {
    return fail(error.what());
  }

  if (stage == "tile" || stage == "prepared") {
    if (llvm::Error error = tileForNpu(*module, machine))
      return fail(llvm::toString(std::move(error)));
    if (stage == "prepared" && mlir::failed(npu::prepare(*module)))
      return 2;
    module->print(file.os());
    unwritable = keep(file);
    return written();
  }
  llvm::LLVMContext llvmContext;
  llvm::Module ir(input, llvmContext);
  ir.setDataLayout(targetDataLayout);
  ir.setTargetTriple(llvm::Triple(targetTriple));
  auto kernels = npu::emitForNpu(*module, machine, ir);
  if (!kernels)
    return fail(llvm::toString(kernels.takeError()));
  if (buffers)
    for (const CompiledKernel &kernel : *kernels)
      describe(kernel);
  if (stage == "llvm" || stage == "optimized") {
    if (stage == "optimized")
      optimizeModule(ir, *createDougongMachine(2), 2);
    ir.print(file.os(), nullptr);
  } else if (stage == "asm") {
    auto target = createDougongMachine(2);
    optimizeModule(ir, *target, 2);
    llvm::SmallString<0> bytes;
    llvm::raw_svector_ostream vector(bytes);
    if (llvm::Error error = emitModule(ir, *target, vector, llvm::CodeGenFileType::AssemblyFile))
      return fail(llvm::toString(std::move(error)));
    file.os() << bytes;
  } else {
    auto object = compileToObject(ir);
    if (!object)
      return fail(llvm::toString(object.takeError()));
    if (stage == "executable") {
      auto image = linkKernels({*object});
      if (!image)
        return fail(llvm::toString(image.takeError()));
      file.os() << *image;
    } else {
      file.os() << *object;
    }
  }
  unwritable = keep(file);
  return written();
}
