// Loops and vectors → the LLVM dialect → LLVM IR → a relocatable object for the features of this host.
#include "compiler/cpu/cpu.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace mlir;
using namespace dougong;

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> cpu::hostMachine(llvm::StringRef without) {
  static bool initialised = [] { return !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter(); }();
  if (!initialised)
    return llvm::createStringError("the installed LLVM has no code generator for this host");
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return llvm::createStringError(error);
  // The name is for scheduling only: on a virtual machine it may promise features that are masked off, so all are spelled out.
  llvm::SubtargetFeatures features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.AddFeature(feature.getKey(), feature.getValue() && !llvm::is_contained(llvm::split(without, ','), feature.getKey()));
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(triple, llvm::sys::getHostCPUName(), features.getString(),
                                                                           llvm::TargetOptions(), llvm::Reloc::PIC_, std::nullopt,
                                                                           llvm::CodeGenOptLevel::Default));
  return machine;
}

cpu::Registers cpu::hostRegisters(const llvm::TargetMachine &machine) {
  llvm::StringRef features = machine.getTargetFeatureString();
  if (features.contains("+avx512f") && features.contains("+avx512bw") && features.contains("+avx512vl"))
    return {512, 32, true};
  if (features.contains("+avx2"))
    return {256, 16, false};
  return {128, machine.getTargetTriple().isAArch64() ? 32 : 16, false};
}

namespace {
// Functions of f32 as polynomials, good to a few units in the last place, so that they vectorise. Others go to libm.
bool hasPolynomial(StringRef name) {
  return llvm::is_contained({"math.exp", "math.expm1", "math.log", "math.log1p", "math.log2", "math.tanh", "math.erf", "math.atan",
                             "math.atan2", "math.sin", "math.cos", "math.cbrt", "math.exp2"},
                            name);
}

// What has no instruction → what has.
LogicalResult expandOperations(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
  populateMathPolynomialApproximationPatterns(patterns, hasPolynomial);
  math::populateExpansionPatterns(patterns, {"rsqrt", "exp2", "clampf", "sinh", "cosh"});
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}
} // namespace

LogicalResult cpu::lowerToLLVM(ModuleOp module) {
  MLIRContext *context = module.getContext();
  if (failed(expandOperations(module)))
    return failure();
  PassManager passes(context);
  passes.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createConvertMathToFuncs()); // integer powers
  if (failed(passes.run(module)))
    return failure();
  // Bodies of linalg operations became scalar code just now.
  if (failed(expandOperations(module)))
    return failure();

  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = false;
  LLVMTypeConverter types(context, options);
  RewritePatternSet patterns(context);
  populateAffineToStdConversionPatterns(patterns);
  populateSCFToControlFlowConversionPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  index::populateIndexToLLVMConversionPatterns(types, patterns);
  populateMathToLibmConversionPatterns(patterns);
  populateMathToLLVMConversionPatterns(types, patterns, /*approximateLog1p=*/false, /*benefit=*/2);
  populateFinalizeMemRefToLLVMConversionPatterns(types, patterns);
  populateVectorToLLVMConversionPatterns(types, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  ub::populateUBToLLVMConversionPatterns(types, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  ConversionConfig config;
  config.allowPatternRollback = false;
  if (failed(applyFullConversion(module, target, std::move(patterns), config)))
    return failure();
  PassManager finish(context);
  finish.addPass(createReconcileUnrealizedCastsPass());
  return finish.run(module);
}

llvm::Expected<std::string> cpu::emitObject(ModuleOp module, llvm::TargetMachine &machine) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context, "kernels");
  if (!code)
    return llvm::createStringError("the kernels' code is no valid LLVM IR");
  code->setTargetTriple(machine.getTargetTriple());
  code->setDataLayout(machine.createDataLayout());
  std::string width = std::to_string(hostRegisters(machine).bits);
  for (llvm::Function &function : *code) {
    function.addFnAttr("prefer-vector-width", width);
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = false; // register tiles are vectors already, and large,
  tuning.LoopUnrolling = false;    // and unrolled as far as helps
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*code, modules);

  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager emit;
  if (machine.addPassesToEmitFile(emit, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("this host's target cannot write object files");
  emit.run(*code);
  return std::string(object.begin(), object.end());
}
