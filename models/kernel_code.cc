// Compiles kernels one by one. Each goes as bytecode into a context of its own, so that the threads share nothing, and so
// that a kernel one target refuses is whole when the next one gets it.
#include "models/kernel_code.h"
#include "machines/machine.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "models/model_error.h"
#include <atomic>
#include <mutex>
#include <thread>

namespace dougong::models {
using namespace mlir;

int64_t multiply_adds(Operation *op) {
  int64_t total = 0;
  op->walk([&](linalg::LinalgOp linalg) {
    if (!linalg::isaContractionOpInterface(linalg) && !linalg::isaConvolutionOpInterface(linalg))
      return;
    int64_t work = 1;
    for (int64_t extent : linalg.getStaticLoopRanges())
      work *= extent;
    total += work;
  });
  return total;
}

namespace {

struct Job {
  std::string name, bytecode;
  std::string not_for_npu; // why it is not even tried
};

std::string bytecode_of(func::FuncOp kernel) {
  OwningOpRef<ModuleOp> alone = ModuleOp::create(kernel.getLoc());
  alone->getBody()->push_back(kernel->clone());
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(*alone, stream)))
    throw ModelError(Status::Unsupported, "a kernel cannot be written as bytecode");
  return bytes;
}

// On "auto" what is small stays on the CPU, and so does integer work: a launch on the NPU has to be worth it.
std::string unsuited(func::FuncOp kernel, const CompileOptions &options) {
  if (options.device != "auto")
    return "";
  int64_t elements = 0; // of the largest tensor that it reads or writes
  for (Type type : kernel.getArgumentTypes())
    elements = std::max(elements, cast<RankedTensorType>(type).getNumElements());
  for (Type type : kernel.getResultTypes()) {
    elements = std::max(elements, cast<RankedTensorType>(type).getNumElements());
    if (!isa<FloatType>(cast<RankedTensorType>(type).getElementType()))
      return "it computes integers, which the CPU does as well";
  }
  int64_t work = multiply_adds(kernel);
  if (work < 1 << 18 && elements < 1 << 14)
    return fmt::format("too small for a launch on the NPU ({} multiply-adds, {} elements)", work, elements);
  return "";
}

llvm::Expected<CompiledModule> compile_for(const Job &job, bool npu, const Machine *machine) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerKernelDialects(context);
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); }); // the Error repeats the first
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(job.bytecode, ParserConfig(&context));
  if (!module)
    return llvm::createStringError("its bytecode cannot be read");
  return npu ? compileForNpu(*module, *machine) : compileForCpu(*module);
}

KernelCode compile_job(const Job &job, const CompileOptions &options) {
  KernelCode result;
  if (options.device != "cpu" && job.not_for_npu.empty()) {
    if (auto code = compile_for(job, true, options.machine)) {
      result.code = std::move(*code);
      return result;
    } else {
      std::string text = llvm::toString(code.takeError());
      result.reason = text.substr(0, text.find('\n'));
    }
  } else {
    result.reason = job.not_for_npu;
  }
  auto code = compile_for(job, false, nullptr);
  if (!code)
    throw ModelError(Status::Unsupported, fmt::format("kernel of {}: {}", job.name, llvm::toString(code.takeError())));
  result.code = std::move(*code);
  return result;
}

} // namespace

std::vector<KernelCode> compile_kernels(ArrayRef<func::FuncOp> kernels, const CompileOptions &options) {
  std::vector<Job> jobs;
  for (func::FuncOp kernel : kernels) {
    std::string location;
    llvm::raw_string_ostream(location) << kernel.getLoc();
    jobs.push_back({kernel.getName().str() + " " + location.substr(0, 200), bytecode_of(kernel), unsuited(kernel, options)});
  }
  std::vector<KernelCode> results(jobs.size());
  std::atomic<size_t> next = 0, done = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  auto work = [&] {
    for (size_t i; (i = next++) < jobs.size();) {
      try {
        results[i] = compile_job(jobs[i], options);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failure)
          failure = std::current_exception();
        next = jobs.size();
      }
      std::lock_guard lock(mutex);
      if (options.progress)
        options.progress(fmt::format("compiling kernel {} of {}", ++done, jobs.size()));
    }
  };
  unsigned count = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::min<size_t>(count, jobs.size()); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
  return results;
}

} // namespace dougong::models
