// From a source text to a module in tile form: parse, run symbolically, then make one linalg operation of each elementwise chain.
#include "language/Kernel.h"
#include "language/Emitter.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace dougong;
using namespace dougong::language;

Signature Signature::parse(llvm::StringRef text) {
  Signature signature;
  std::string item;
  int depth = 0;
  char quote = 0;
  auto flush = [&] {
    llvm::StringRef part = llvm::StringRef(item).trim();
    auto [key, value] = part.split('=');
    if (!part.empty() && part.front() != '\'' && part.front() != '"' && part.contains('='))
      signature.named[key.trim().str()] = value.trim().str();
    else if (!part.empty())
      signature.positional.push_back(part.str());
    item.clear();
  };
  for (char c : text) {
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && !quote && depth == 0)
      flush();
    else
      item += c;
  }
  flush();
  return signature;
}

namespace {

// acc + (a · b + 0)  →  a · b + acc: the accumulation that `acc += tl.dot(a, b)` means.
struct AccumulateInContraction : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::AddFOp add, PatternRewriter &rewriter) const override {
    for (int side : {0, 1}) {
      auto product = add->getOperand(side).getDefiningOp<linalg::LinalgOp>();
      if (!product || !isa<linalg::MatmulOp, linalg::BatchMatmulOp>(product) || !add->getOperand(side).hasOneUse())
        continue;
      auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
      if (!fill || !matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
        continue;
      rewriter.setInsertionPoint(add);
      auto moved = cast<linalg::LinalgOp>(rewriter.clone(*product));
      rewriter.modifyOpInPlace(moved, [&] { moved.setDpsInitOperand(0, add->getOperand(1 - side)); });
      rewriter.replaceOp(add, moved->getResult(0));
      return success();
    }
    return failure();
  }
};

// A tile of one number is a fill: the form that targets know an accumulator's start by.
struct FillInsteadOfSplat : OpRewritePattern<arith::ConstantOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ConstantOp constant, PatternRewriter &rewriter) const override {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    auto type = dyn_cast<RankedTensorType>(constant.getType());
    if (!splat || !type)
      return failure();
    Value number = arith::ConstantOp::create(rewriter, constant.getLoc(), splat.getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(rewriter, constant.getLoc(), type.getShape(), type.getElementType());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(constant, number, empty);
    return success();
  }
};

LogicalResult simplify(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet accumulate(context);
  accumulate.add<AccumulateInContraction>(context);
  if (failed(applyPatternsGreedily(module, std::move(accumulate))))
    return failure();
  RewritePatternSet elementwise(context);
  linalg::populateElementwiseToLinalgConversionPatterns(elementwise);
  if (failed(applyPatternsGreedily(module, std::move(elementwise))))
    return failure();
  PassManager passes(context);
  passes.addPass(createCSEPass());
  passes.addPass(createLinalgElementwiseOpFusionPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createLoopInvariantCodeMotionPass());
  if (failed(passes.run(module)))
    return failure();
  RewritePatternSet fills(context);
  fills.add<FillInsteadOfSplat>(context);
  return applyPatternsGreedily(module, std::move(fills));
}

} // namespace

llvm::Expected<Kernel> dougong::language::compileKernel(MLIRContext &context, std::string fileName, std::string text,
                                                        const std::string &function, const Signature &signature) {
  Source source(std::move(fileName), std::move(text));
  auto failure = [&] { return llvm::createStringError(llvm::inconvertibleErrorCode(), source.report()); };
  Kernel kernel;
  kernel.module = ModuleOp::create(FileLineColLoc::get(&context, source.name, 1, 1));
  try {
    Module module(source);
    if (source.failed())
      return failure();
    Emitter(source, module, context).kernel(*kernel.module, function, signature, kernel.arguments);
  } catch (Abandon) {
  }
  if (source.failed())
    return failure();
  if (failed(verify(*kernel.module)) || failed(simplify(*kernel.module)))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   source.name + ": internal error: the front end wrote IR that does not verify");
  return kernel;
}

std::vector<std::string> dougong::language::functionsOf(std::string fileName, std::string text) {
  Source source(std::move(fileName), std::move(text));
  return Module(source).functionNames();
}
