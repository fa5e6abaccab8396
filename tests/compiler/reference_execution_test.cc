// The reference execution of kernels (see reference_execution.h), and a check of it against loops written here.
#include "compiler/dialect/Dg.h"
#include "compiler/kernel.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tests/compiler/reference_execution.h"
#include "llvm/Support/TargetSelect.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace mlir;

namespace dougong {
namespace {

Value constantIndex(OpBuilder &b, Location loc, int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

// The element offset of tile index `indices` in memory, and whether it is in bounds (null: always).
template <typename Access> std::pair<Value, Value> addressOf(OpBuilder &b, Access op, ValueRange indices) {
  Location loc = op.getLoc();
  Value offset = op.getOffset(), within;
  for (auto [d, index] : llvm::enumerate(indices)) {
    offset = arith::AddIOp::create(b, loc, offset, arith::MulIOp::create(b, loc, index, op.getStrides()[d]));
    if (!op.isBounded())
      continue;
    Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, index, op.getLower()[d]);
    Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, op.getUpper()[d]);
    Value both = arith::AndIOp::create(b, loc, low, high);
    within = within ? Value(arith::AndIOp::create(b, loc, within, both)) : both;
  }
  return {offset, within};
}

void lowerLoad(dg::LoadOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto tile = tensor::GenerateOp::create(builder, loc, op.getTileType(), ValueRange{}, [&](OpBuilder &b, Location, ValueRange indices) {
    auto [offset, within] = addressOf(b, op, indices);
    Type element = op.getTileType().getElementType();
    if (!within) {
      tensor::YieldOp::create(b, loc, memref::LoadOp::create(b, loc, op.getBase(), offset).getResult());
      return;
    }
    Value fill = op.getFill() ? op.getFill() : Value(arith::ConstantOp::create(b, loc, b.getZeroAttr(element)));
    Value address = offset;
    auto value = scf::IfOp::create(
        b, loc, within,
        [&](OpBuilder &b, Location) { scf::YieldOp::create(b, loc, memref::LoadOp::create(b, loc, op.getBase(), address).getResult()); },
        [&](OpBuilder &b, Location) { scf::YieldOp::create(b, loc, fill); });
    tensor::YieldOp::create(b, loc, value.getResult(0));
  });
  op.replaceAllUsesWith(tile.getResult());
  op.erase();
}

void lowerStore(dg::StoreOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> low, high, step;
  for (int64_t extent : op.getTileType().getShape()) {
    low.push_back(constantIndex(builder, loc, 0));
    high.push_back(constantIndex(builder, loc, extent));
    step.push_back(constantIndex(builder, loc, 1));
  }
  scf::buildLoopNest(builder, loc, low, high, step, [&](OpBuilder &b, Location, ValueRange indices) {
    auto [offset, within] = addressOf(b, op, indices);
    Value value = tensor::ExtractOp::create(b, loc, op.getTile(), indices);
    if (!within) {
      memref::StoreOp::create(b, loc, value, op.getBase(), offset);
      return;
    }
    Value address = offset;
    scf::IfOp::create(b, loc, within, [&](OpBuilder &b, Location) {
      memref::StoreOp::create(b, loc, value, op.getBase(), address);
      scf::YieldOp::create(b, loc);
    });
  });
  op.erase();
}

// The body of a function in tile form, in loops over its grid.
void runGrid(func::FuncOp function) {
  Block &body = function.getBody().front();
  SmallVector<Operation *> operations;
  for (Operation &op : body.without_terminator())
    operations.push_back(&op);
  auto grid = function->getAttrOfType<DenseI64ArrayAttr>("dg.grid");
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = function.getLoc();
  SmallVector<Value> low, high, step;
  for (int axis = 2; axis >= 0; --axis) {
    low.push_back(constantIndex(builder, loc, 0));
    high.push_back(constantIndex(builder, loc, grid[axis]));
    step.push_back(constantIndex(builder, loc, 1));
  }
  scf::buildLoopNest(builder, loc, low, high, step, [&](OpBuilder &b, Location, ValueRange ids) {
    for (Operation *op : operations)
      op->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    for (Operation *op : operations)
      if (auto id = dyn_cast<dg::ProgramIdOp>(op)) {
        id.replaceAllUsesWith(ids[2 - id.getAxis()]);
        id.erase();
      }
  });
  SmallVector<dg::LoadOp> loads;
  SmallVector<dg::StoreOp> stores;
  function.walk([&](dg::LoadOp op) { loads.push_back(op); });
  function.walk([&](dg::StoreOp op) { stores.push_back(op); });
  llvm::for_each(loads, lowerLoad);
  llvm::for_each(stores, lowerStore);
}

// func @f(tensor…) -> tensor…  →  func @f(memref<?>…, memref<?>…)
void passMemory(func::FuncOp function) {
  function.removeArgAttrsAttr();
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = function.getLoc();
  auto memoryOf = [](Type type) { return MemRefType::get({ShapedType::kDynamic}, getElementTypeOrSelf(type)); };
  auto whole = [&](Value memory, Type type) {
    auto tensor = cast<RankedTensorType>(type);
    auto shaped = MemRefType::get(tensor.getShape(), tensor.getElementType());
    SmallVector<int64_t> strides(tensor.getRank(), 1);
    for (int d = int(tensor.getRank()) - 2; d >= 0; --d)
      strides[d] = strides[d + 1] * tensor.getDimSize(d + 1);
    return memref::ReinterpretCastOp::create(builder, loc, shaped, memory, 0, tensor.getShape(), strides).getResult();
  };
  for (BlockArgument argument : body.getArguments()) {
    Type type = argument.getType();
    argument.setType(memoryOf(type));
    Value shaped = whole(argument, type);
    Value tensor = bufferization::ToTensorOp::create(builder, loc, cast<TensorType>(type), shaped, true, false);
    argument.replaceAllUsesExcept(tensor, shaped.getDefiningOp());
  }
  Operation *end = body.getTerminator();
  for (Value result : llvm::to_vector(end->getOperands())) {
    Value memory = body.addArgument(memoryOf(result.getType()), loc);
    builder.setInsertionPoint(end);
    auto written = bufferization::MaterializeInDestinationOp::create(builder, loc, result, whole(memory, result.getType()));
    written.setRestrict(true);
    written.setWritable(true);
  }
  end->setOperands({});
  function.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), {}));
}

void run(PassManager &passes, ModuleOp module) {
  if (failed(passes.run(module)))
    throw std::runtime_error("the reference execution cannot lower this module");
}

void lower(ModuleOp module) {
  PassManager bufferize(module.getContext()), passes(module.getContext());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.addPass(bufferization::createOneShotBufferizePass(options));
  bufferize.addPass(createConvertBufferizationToMemRefPass());
  run(bufferize, module);
  module.walk([](memref::CopyOp copy) { // else a call into upstream's own runtime
    OpBuilder builder(copy);
    linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
    copy.erase();
  });
  passes.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(arith::createArithExpandOpsPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  run(passes, module);
}

struct Descriptor {
  char *allocated, *aligned;
  int64_t offset, size, stride;
};

} // namespace

void execute(ModuleOp original, const std::string &name, std::vector<Bytes> &memory) {
  OwningOpRef<ModuleOp> module = original.clone();
  module->walk([](linalg::SoftmaxOp op) { // has no loops of its own
    IRRewriter rewriter(op);
    rewriter.replaceOp(op, *op.decomposeOperation(rewriter));
  });
  SmallVector<int64_t> elementBytes;
  auto function = module->lookupSymbol<func::FuncOp>(name);
  auto isTiled = [](func::FuncOp each) { return llvm::any_of(each.getArgumentTypes(), [](Type type) { return isa<MemRefType>(type); }); };
  for (auto each : llvm::make_early_inc_range(module->getOps<func::FuncOp>()))
    if (each != function && isTiled(each))
      each.erase(); // nobody calls it
  isTiled(function) ? runGrid(function) : passMemory(function);
  function.setVisibility(SymbolTable::Visibility::Public);
  function->setAttr("llvm.emit_c_interface", UnitAttr::get(function.getContext()));
  for (Type type : function.getArgumentTypes())
    elementBytes.push_back(llvm::divideCeil(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), 8));
  lower(*module);

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto optimize = makeOptimizingTransformer(1, 0, nullptr);
  ExecutionEngineOptions options;
  options.transformer = optimize;
  options.enableGDBNotificationListener = false;
  auto engine = ExecutionEngine::create(*module, options);
  if (!engine)
    throw std::runtime_error(llvm::toString(engine.takeError()));
  std::vector<Descriptor> descriptors;
  for (auto [bytes, size] : llvm::zip_equal(memory, elementBytes))
    descriptors.push_back({bytes.data(), bytes.data(), 0, int64_t(bytes.size()) / size, 1});
  std::vector<Descriptor *> pointers;
  SmallVector<void *> arguments;
  for (Descriptor &each : descriptors)
    pointers.push_back(&each);
  for (Descriptor *&each : pointers)
    arguments.push_back(&each);
  if (auto error = (*engine)->invokePacked("_mlir_ciface_" + name, arguments))
    throw std::runtime_error(llvm::toString(std::move(error)));
}

namespace {

TEST(ReferenceExecution, RunsGraphAndTileForm) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerKernelDialects(context);
  auto module = parseSourceString<ModuleOp>(R"(
    func.func @graph(%a: tensor<3x5xf32>, %b: tensor<5x2xf32>) -> tensor<3x2xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<3x2xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
      %r = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x2xf32>) outs(%f : tensor<3x2xf32>) -> tensor<3x2xf32>
      return %r : tensor<3x2xf32>
    }
    func.func @reverse(%x: memref<?xf32>, %y: memref<?xf32>) attributes {dg.grid = array<i64: 3, 1, 1>} {
      %c4 = arith.constant 4 : index
      %c9 = arith.constant 9 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %back = arith.constant -1 : index
      %fill = arith.constant 7.0 : f32
      %p = dg.program_id 0
      %o = arith.muli %p, %c4 : index
      %left = arith.subi %c9, %o : index
      %from = arith.subi %c9, %o : index
      %t = dg.load %x[%from] strides[%back] lower[%c1] upper[%left] fill %fill : f32 : memref<?xf32> -> tensor<4xf32>
      dg.store %t, %y[%o] strides[%c1] lower[%c0] upper[%left] : tensor<4xf32> -> memref<?xf32>
      return
    })",
                                            &context);
  ASSERT_TRUE(module);
  auto bytes = [](const std::vector<float> &values) {
    Bytes result(values.size() * 4);
    std::memcpy(result.data(), values.data(), result.size());
    return result;
  };
  auto floats = [](const Bytes &bytes) {
    std::vector<float> result(bytes.size() / 4);
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  };
  std::vector<float> a(15), b(10), c(6, 0);
  for (int i = 0; i < 15; ++i)
    a[i] = float(i - 4);
  for (int i = 0; i < 10; ++i)
    b[i] = float(2 * i - 7);
  std::vector<Bytes> memory{bytes(a), bytes(b), bytes(std::vector<float>(6, -1))};
  execute(*module, "graph", memory);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 5; ++k)
        c[2 * i + j] += a[5 * i + k] * b[2 * k + j];
  EXPECT_EQ(floats(memory[2]), c);

  std::vector<Bytes> line{bytes({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), bytes(std::vector<float>(10, -1))};
  execute(*module, "reverse", line);
  // Each tile leaves out its first element (the fill), and the last stops at the ninth.
  EXPECT_EQ(floats(line[1]), (std::vector<float>{7, 8, 7, 6, 7, 4, 3, 2, 7, -1}));
}

} // namespace
} // namespace dougong
