// Kernel forming and precision: what becomes one kernel, what is stored in f16, and that the model computes what it did.
#include "compiler/graph/graph.h"
#include "compiler/kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tests/compiler/reference_execution.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace dougong {
namespace {

// A convolution with bias and relu, a squeeze-and-excite block with a residual, a softmax, a layer norm, a concatenation.
const char *modelText = R"(
#i4 = affine_map<(d0,d1,d2,d3)->(d0,d1,d2,d3)>
#c = affine_map<(d0,d1,d2,d3)->(d3)>
#cc = affine_map<(d0,d1,d2,d3)->(d0,0,0,d3)>
#i2 = affine_map<(d0,d1)->(d0,d1)>
#r = affine_map<(d0,d1)->(d0)>
func.func @main(%x: tensor<1x16x16x8xf32>, %s: tensor<12x40xf32>, %w: tensor<3x3x8x16xf32> {dg.weight = 0 : i64}, %b: tensor<16xf32> {dg.weight = 1 : i64},
   %w2: tensor<1x1x16x16xf32> {dg.weight = 2 : i64}, %g: tensor<40xf32> {dg.weight = 3 : i64}) -> (tensor<1x8x8x16xf32>, tensor<12x40xf32>, tensor<12x40xf32>) {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0,1,1,0] high[0,1,1,0] { ^bb0(%a:index,%bb:index,%cc:index,%d:index): tensor.yield %z : f32 } : tensor<1x16x16x8xf32> to tensor<1x18x18x8xf32>
  %e = tensor.empty() : tensor<1x8x8x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<1x18x18x8xf32>, tensor<3x3x8x16xf32>) outs(%f : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %ba = linalg.generic {indexing_maps=[#i4,#c,#i4], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%conv,%b: tensor<1x8x8x16xf32>, tensor<16xf32>) outs(%e: tensor<1x8x8x16xf32>) {
  ^bb0(%a: f32, %bb: f32, %o: f32): %s1 = arith.addf %a, %bb : f32
   linalg.yield %s1 : f32 } -> tensor<1x8x8x16xf32>
  %re = linalg.generic {indexing_maps=[#i4,#i4], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%ba: tensor<1x8x8x16xf32>) outs(%e: tensor<1x8x8x16xf32>) {
  ^bb0(%a: f32, %o: f32): %s1 = arith.maximumf %a, %z : f32
   linalg.yield %s1 : f32 } -> tensor<1x8x8x16xf32>
  %conv2 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%re, %w2 : tensor<1x8x8x16xf32>, tensor<1x1x16x16xf32>) outs(%f : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  // GAP + hard sigmoid + mul
  %ge = tensor.empty() : tensor<1x16xf32>
  %gf = linalg.fill ins(%z : f32) outs(%ge : tensor<1x16xf32>) -> tensor<1x16xf32>
  %gap = linalg.generic {indexing_maps=[#i4, affine_map<(d0,d1,d2,d3)->(d0,d3)>], iterator_types=["parallel","reduction","reduction","parallel"]} ins(%conv2: tensor<1x8x8x16xf32>) outs(%gf: tensor<1x16xf32>) {
  ^bb0(%a: f32, %o: f32): %s1 = arith.addf %a, %o : f32
   linalg.yield %s1 : f32 } -> tensor<1x16xf32>
  %gx = tensor.expand_shape %gap [[0,1,2],[3]] output_shape [1,1,1,16] : tensor<1x16xf32> into tensor<1x1x1x16xf32>
  %ge4 = tensor.empty() : tensor<1x1x1x16xf32>
  %hs = linalg.generic {indexing_maps=[#i4,#i4], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%gx: tensor<1x1x1x16xf32>) outs(%ge4: tensor<1x1x1x16xf32>) {
  ^bb0(%a: f32, %o: f32): %s1 = arith.maximumf %a, %z : f32
   linalg.yield %s1 : f32 } -> tensor<1x1x1x16xf32>
  %mul = linalg.generic {indexing_maps=[#i4,#cc,#i4], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%conv2,%hs: tensor<1x8x8x16xf32>, tensor<1x1x1x16xf32>) outs(%e: tensor<1x8x8x16xf32>) {
  ^bb0(%a: f32, %bb: f32, %o: f32): %s1 = arith.mulf %a, %bb : f32
   linalg.yield %s1 : f32 } -> tensor<1x8x8x16xf32>
  %add = linalg.generic {indexing_maps=[#i4,#i4,#i4], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%mul,%re: tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) outs(%e: tensor<1x8x8x16xf32>) {
  ^bb0(%a: f32, %bb: f32, %o: f32): %s1 = arith.addf %a, %bb : f32
   linalg.yield %s1 : f32 } -> tensor<1x8x8x16xf32>
  %se = tensor.empty() : tensor<12x40xf32>
  %sm = linalg.softmax dimension(1) ins(%s : tensor<12x40xf32>) outs(%se : tensor<12x40xf32>) -> tensor<12x40xf32>
  // layer norm like
  %re0 = tensor.empty() : tensor<12xf32>
  %rf = linalg.fill ins(%z : f32) outs(%re0 : tensor<12xf32>) -> tensor<12xf32>
  %mean = linalg.generic {indexing_maps=[#i2,#r], iterator_types=["parallel","reduction"]} ins(%s: tensor<12x40xf32>) outs(%rf: tensor<12xf32>) {
  ^bb0(%a: f32, %o: f32): %s1 = arith.addf %a, %o : f32
   linalg.yield %s1 : f32 } -> tensor<12xf32>
  %mx = tensor.expand_shape %mean [[0,1]] output_shape [12,1] : tensor<12xf32> into tensor<12x1xf32>
  %sub = linalg.generic {indexing_maps=[#i2,affine_map<(d0,d1)->(d0,0)>,#i2], iterator_types=["parallel","parallel"]} ins(%s,%mx: tensor<12x40xf32>,tensor<12x1xf32>) outs(%se: tensor<12x40xf32>) {
  ^bb0(%a: f32, %b1: f32, %o: f32): %s1 = arith.subf %a, %b1 : f32
   linalg.yield %s1 : f32 } -> tensor<12x40xf32>
  %sq = linalg.generic {indexing_maps=[#i2,#i2], iterator_types=["parallel","parallel"]} ins(%sub: tensor<12x40xf32>) outs(%se: tensor<12x40xf32>) {
  ^bb0(%a: f32, %o: f32): %s1 = arith.mulf %a, %a : f32
   linalg.yield %s1 : f32 } -> tensor<12x40xf32>
  %var = linalg.generic {indexing_maps=[#i2,#r], iterator_types=["parallel","reduction"]} ins(%sq: tensor<12x40xf32>) outs(%rf: tensor<12xf32>) {
  ^bb0(%a: f32, %o: f32): %s1 = arith.addf %a, %o : f32
   linalg.yield %s1 : f32 } -> tensor<12xf32>
  %vx = tensor.expand_shape %var [[0,1]] output_shape [12,1] : tensor<12xf32> into tensor<12x1xf32>
  %re1 = tensor.empty() : tensor<12x1xf32>
  %rs = linalg.generic {indexing_maps=[#i2,#i2], iterator_types=["parallel","parallel"]} ins(%vx: tensor<12x1xf32>) outs(%re1: tensor<12x1xf32>) {
  ^bb0(%a: f32, %o: f32): %s1 = math.sqrt %a : f32
   linalg.yield %s1 : f32 } -> tensor<12x1xf32>
  %ln = linalg.generic {indexing_maps=[#i2,affine_map<(d0,d1)->(d0,0)>,affine_map<(d0,d1)->(d1)>,#i2], iterator_types=["parallel","parallel"]} ins(%sub,%rs,%g: tensor<12x40xf32>,tensor<12x1xf32>,tensor<40xf32>) outs(%se: tensor<12x40xf32>) {
  ^bb0(%a: f32, %b1: f32,%b2: f32, %o: f32): %s1 = arith.divf %a, %b1 : f32
   %s2 = arith.mulf %s1, %b2 : f32
   linalg.yield %s2 : f32 } -> tensor<12x40xf32>
  return %add, %sm, %ln : tensor<1x8x8x16xf32>, tensor<12x40xf32>, tensor<12x40xf32>
}
)";

class Graph : public testing::Test {
protected:
  Graph() : context(MLIRContext::Threading::DISABLED) {
    registerKernelDialects(context);
    use(modelText);
    for (float &value : data[3])
      value = std::fabs(value);
  }

  // Another model, on random data.
  void use(const char *text) {
    module = parseSourceString<ModuleOp>(text, &context);
    data.clear();
    std::mt19937 generator(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (Type type : main().getArgumentTypes()) {
      data.emplace_back(cast<RankedTensorType>(type).getNumElements());
      for (float &value : data.back())
        value = uniform(generator);
    }
  }

  func::FuncOp main() { return module->lookupSymbol<func::FuncOp>("main"); }
  func::FuncOp kernel(const std::string &name) { return module->lookupSymbol<func::FuncOp>(name); }

  // The results of @main as it is now, its arguments given in the types that they have now.
  std::vector<std::vector<float>> run() {
    std::vector<Bytes> memory;
    for (auto [type, values] : llvm::zip(main().getArgumentTypes(), data)) {
      bool half = getElementTypeOrSelf(type).isF16();
      Bytes &bytes = memory.emplace_back(values.size() * (half ? 2 : 4));
      for (size_t i = 0; i < values.size(); ++i) {
        auto narrow = _Float16(values[i]);
        half ? std::memcpy(&bytes[2 * i], &narrow, 2) : std::memcpy(&bytes[4 * i], &values[i], 4);
      }
    }
    size_t inputs = memory.size();
    for (Type type : main().getResultTypes())
      memory.emplace_back(cast<RankedTensorType>(type).getNumElements() * 4);
    execute(*module, "main", memory);
    std::vector<std::vector<float>> results;
    for (size_t i = inputs; i < memory.size(); ++i) {
      results.emplace_back(memory[i].size() / 4);
      std::memcpy(results.back().data(), memory[i].data(), memory[i].size());
    }
    return results;
  }

  // Names of the kernels that @main calls, in order.
  std::vector<std::string> calls() {
    std::vector<std::string> names;
    main().walk([&](func::CallOp call) { names.push_back(call.getCallee().str()); });
    return names;
  }

  template <typename Op> int count(func::FuncOp function) {
    int n = 0;
    function.walk([&](Op) { ++n; });
    return n;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<std::vector<float>> data;
};

TEST_F(Graph, KernelsComputeWhatTheModelDid) {
  auto before = run();
  ASSERT_TRUE(succeeded(formKernels(*module)));
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(before, run());
}

TEST_F(Graph, FollowersJoinTheirRoots) {
  ASSERT_TRUE(succeeded(formKernels(*module)));
  // conv+bias+relu, pointwise conv, average+relu, scale+residual, softmax, layer norm.
  ASSERT_EQ(calls().size(), 6u);
  EXPECT_EQ(count<linalg::Conv2DNhwcHwcfOp>(kernel("k0")), 1);
  EXPECT_EQ(count<tensor::PadOp>(kernel("k0")), 1);
  EXPECT_EQ(count<linalg::GenericOp>(kernel("k0")), 1);
  EXPECT_EQ(count<linalg::GenericOp>(kernel("k4")), 4); // maximum, exp, sum, quotient
  EXPECT_TRUE(main().getOps<linalg::LinalgOp>().empty());
}

TEST_F(Graph, LocationsOfNodesAreKept) {
  int i = 0;
  main().walk([&](linalg::LinalgOp op) { op->setLoc(NameLoc::get(StringAttr::get(&context, "node" + std::to_string(i++)))); });
  ASSERT_TRUE(succeeded(formKernels(*module)));
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel("k0").getLoc().print(stream);
  EXPECT_EQ(text, R"(loc(fused["node1", "node2", "node3"]))"); // behind a fill: the convolution, the bias, the activation
}

TEST_F(Graph, EqualKernelsAreOne) {
  module = parseSourceString<ModuleOp>(R"(
    #id = affine_map<(d0) -> (d0)>
    func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      %e = tensor.empty() : tensor<8xf32>
      %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %b = linalg.exp ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      return %a, %b : tensor<8xf32>, tensor<8xf32>
    })",
                                       &context);
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(formKernels(*module)));
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(calls(), (std::vector<std::string>{"k0", "k0"}));
}

TEST_F(Graph, WhatCrossesKernelsIsStoredInF16) {
  auto before = run();
  ASSERT_TRUE(succeeded(usePrecision(main(), Float16Type::get(&context))));
  ASSERT_TRUE(succeeded(verify(*module)));
  ASSERT_TRUE(succeeded(formKernels(*module)));
  ASSERT_TRUE(succeeded(verify(*module)));
  // The model's own inputs and results keep their type, matrices of weights do not, vectors do.
  auto element = [&](int i) { return getElementTypeOrSelf(main().getArgument(i)); };
  EXPECT_TRUE(element(0).isF32());
  EXPECT_TRUE(element(2).isF16());
  EXPECT_TRUE(element(3).isF32());
  for (Type type : main().getResultTypes())
    EXPECT_TRUE(getElementTypeOrSelf(type).isF32());
  main().walk([&](func::CallOp call) {
    for (Value result : call.getResults())
      EXPECT_TRUE(getElementTypeOrSelf(result).isF16() ||
                  llvm::is_contained(main().getBody().front().getTerminator()->getOperands(), result) ||
                  cast<RankedTensorType>(result.getType()).getNumElements() <= 16);
  });
  module->walk([&](linalg::Conv2DNhwcHwcfOp conv) {
    EXPECT_TRUE(getElementTypeOrSelf(conv.getInputs()[0]).isF16());
    EXPECT_TRUE(getElementTypeOrSelf(conv.getInputs()[1]).isF16());
    EXPECT_TRUE(getElementTypeOrSelf(conv.getResult(0)).isF32());
  });
  // Nothing is narrowed and widened again within a body.
  module->walk([&](arith::ExtFOp op) { EXPECT_FALSE(op.getIn().getDefiningOp<arith::TruncFOp>()); });
  auto after = run();
  for (size_t r = 0; r < before.size(); ++r) {
    float largest = 0, worst = 0;
    for (size_t i = 0; i < before[r].size(); ++i) {
      largest = std::max(largest, std::fabs(before[r][i]));
      worst = std::max(worst, std::fabs(before[r][i] - after[r][i]));
    }
    EXPECT_LT(worst, 4e-3f * largest) << "result " << r;
    EXPECT_EQ(r == 0, worst > 0) << "result " << r; // softmax and layer norm are one kernel each, in f32 from end to end
  }
}

TEST_F(Graph, LongReductionsToFewResultsAreSplit) {
  use(R"(
    #all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
    #nc = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
    func.func @main(%x: tensor<1x60x40x24xf32>) -> tensor<1x24xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<1x24xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x24xf32>) -> tensor<1x24xf32>
      %s = linalg.generic {indexing_maps = [#all, #nc], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
          ins(%x : tensor<1x60x40x24xf32>) outs(%f : tensor<1x24xf32>) {
      ^bb0(%v: f32, %a: f32):
        %t = arith.addf %v, %a : f32
        linalg.yield %t : f32
      } -> tensor<1x24xf32>
      return %s : tensor<1x24xf32>
    })");
  auto before = run()[0];
  ASSERT_TRUE(succeeded(formKernels(*module)));
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(calls().size(), 2u);
  EXPECT_EQ(cast<RankedTensorType>(kernel("k0").getResultTypes()[0]).getDimSize(0), 30); // the largest divisor of 60 up to 32
  auto after = run()[0];
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(before[i], after[i], 1e-3);
}

TEST_F(Graph, InputsAreConvertedInsideOfTheFirstConvolution) {
  use(R"(
    #to = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
    #all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
    func.func @main(%x: tensor<1x3x12x10xf32>, %w: tensor<3x3x3x8xf32> {dg.weight = 0 : i64}) -> tensor<1x6x5x8xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<1x12x10x3xf32>
      %t = linalg.generic {indexing_maps = [#to, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%x : tensor<1x3x12x10xf32>) outs(%e : tensor<1x12x10x3xf32>) {
      ^bb0(%v: f32, %o: f32):
        linalg.yield %v : f32
      } -> tensor<1x12x10x3xf32>
      %p = tensor.pad %t low[0, 1, 1, 0] high[0, 1, 1, 0] {
      ^bb0(%a: index, %b: index, %c: index, %d: index):
        tensor.yield %zero : f32
      } : tensor<1x12x10x3xf32> to tensor<1x14x12x3xf32>
      %f = tensor.empty() : tensor<1x6x5x8xf32>
      %g = linalg.fill ins(%zero : f32) outs(%f : tensor<1x6x5x8xf32>) -> tensor<1x6x5x8xf32>
      %y = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
          ins(%p, %w : tensor<1x14x12x3xf32>, tensor<3x3x3x8xf32>) outs(%g : tensor<1x6x5x8xf32>) -> tensor<1x6x5x8xf32>
      return %y : tensor<1x6x5x8xf32>
    })");
  auto before = run()[0];
  ASSERT_TRUE(succeeded(usePrecision(main(), Float16Type::get(&context))));
  ASSERT_TRUE(succeeded(formKernels(*module)));
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(calls().size(), 1u);
  auto after = run()[0];
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(before[i], after[i], 1e-2);
}

TEST_F(Graph, AConcatenationTakesResizesAlong) {
  use(R"(
    #half = affine_map<(d0, d1, d2, d3) -> (d0, d1 floordiv 2, d2 floordiv 2, d3)>
    #all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
    func.func @main(%x: tensor<1x4x5x8xf32>, %y: tensor<1x8x10x8xf32>) -> tensor<1x8x10x16xf32> {
      %e = tensor.empty() : tensor<1x8x10x8xf32>
      %r = linalg.generic {indexing_maps = [#half, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%x : tensor<1x4x5x8xf32>) outs(%e : tensor<1x8x10x8xf32>) {
      ^bb0(%v: f32, %o: f32):
        linalg.yield %v : f32
      } -> tensor<1x8x10x8xf32>
      %c = tensor.concat dim(3) %r, %y : (tensor<1x8x10x8xf32>, tensor<1x8x10x8xf32>) -> tensor<1x8x10x16xf32>
      return %c : tensor<1x8x10x16xf32>
    })");
  auto before = run();
  ASSERT_TRUE(succeeded(formKernels(*module)));
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(calls().size(), 1u);
  EXPECT_EQ(before, run());
}

// matmul, bias, pixels of 2 x 2, a relu behind: one kernel where the tensor engine does it.
TEST_F(Graph, ATransposedConvolutionIsOneKernel) {
  use(R"(
    #id = affine_map<(d0, d1) -> (d0, d1)>
    #col = affine_map<(d0, d1) -> (d1)>
    #from = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d3, d4)>
    #five = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
    func.func @main(%x: tensor<12x6xf32>, %w: tensor<6x32xf32> {dg.weight = 0 : i64}, %b: tensor<32xf32> {dg.weight = 1 : i64}) -> tensor<3x2x4x2x8xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<12x32xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x32xf32>) -> tensor<12x32xf32>
      %m = linalg.matmul ins(%x, %w : tensor<12x6xf32>, tensor<6x32xf32>) outs(%f : tensor<12x32xf32>) -> tensor<12x32xf32>
      %a = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<12x32xf32>, tensor<32xf32>) outs(%e : tensor<12x32xf32>) {
      ^bb0(%v: f32, %c: f32, %o: f32):
        %t = arith.addf %v, %c : f32
        linalg.yield %t : f32
      } -> tensor<12x32xf32>
      %s = tensor.expand_shape %a [[0, 1], [2, 3, 4]] output_shape [3, 4, 2, 2, 8] : tensor<12x32xf32> into tensor<3x4x2x2x8xf32>
      %q = tensor.empty() : tensor<3x2x4x2x8xf32>
      %y = linalg.generic {indexing_maps = [#from, #five], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
          ins(%s : tensor<3x4x2x2x8xf32>) outs(%q : tensor<3x2x4x2x8xf32>) {
      ^bb0(%v: f32, %o: f32):
        %t = arith.maximumf %v, %zero : f32
        linalg.yield %t : f32
      } -> tensor<3x2x4x2x8xf32>
      return %y : tensor<3x2x4x2x8xf32>
    })");
  auto before = run()[0];
  ASSERT_TRUE(succeeded(usePrecision(main(), Float16Type::get(&context))));
  ASSERT_TRUE(succeeded(formKernels(*module)));
  ASSERT_TRUE(succeeded(verify(*module)));
  ASSERT_EQ(calls().size(), 1u);
  EXPECT_EQ(count<linalg::MatmulOp>(kernel("k0")), 1);
  auto after = run()[0];
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(before[i], after[i], 1e-2);
}

// A result of the model is in f32 to the end, also where the kernel that makes it reads it itself.
TEST_F(Graph, ResultsAreNotRounded) {
  use(R"(
    #id = affine_map<(d0, d1) -> (d0, d1)>
    #row = affine_map<(d0, d1) -> (d0)>
    func.func @main(%x: tensor<6x8xf32>) -> (tensor<6x1xf32>, tensor<48xf32>) {
      %zero = arith.constant 0.0 : f32
      %r = tensor.empty() : tensor<6xf32>
      %f = linalg.fill ins(%zero : f32) outs(%r : tensor<6xf32>) -> tensor<6xf32>
      %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x8xf32>) outs(%f : tensor<6xf32>) {
      ^bb0(%v: f32, %a: f32):
        %t = arith.addf %a, %v : f32
        linalg.yield %t : f32
      } -> tensor<6xf32>
      %q = linalg.exp ins(%s : tensor<6xf32>) outs(%r : tensor<6xf32>) -> tensor<6xf32>
      %e = tensor.empty() : tensor<6x8xf32>
      %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %q : tensor<6x8xf32>, tensor<6xf32>) outs(%e : tensor<6x8xf32>) {
      ^bb0(%v: f32, %m: f32, %o: f32):
        %t = arith.subf %v, %m : f32
        linalg.yield %t : f32
      } -> tensor<6x8xf32>
      %m = tensor.expand_shape %q [[0, 1]] output_shape [6, 1] : tensor<6xf32> into tensor<6x1xf32>
      %c = tensor.collapse_shape %y [[0, 1]] : tensor<6x8xf32> into tensor<48xf32>
      return %m, %c : tensor<6x1xf32>, tensor<48xf32>
    })");
  auto before = run();
  ASSERT_TRUE(succeeded(usePrecision(main(), Float16Type::get(&context))));
  ASSERT_TRUE(succeeded(formKernels(*module)));
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(calls().size(), 1u);
  EXPECT_EQ(before, run());
}

// x · s / 6 + x in f16 storage: one multiplication and a fused step, no division.
TEST_F(Graph, DivisionByAConstantIsMultiplication) {
  use(R"(
    #id = affine_map<(d0) -> (d0)>
    func.func @main(%x: tensor<64xf32>, %s: tensor<64xf32>) -> tensor<64xf32> {
      %six = arith.constant 6.0 : f32
      %half = arith.constant 0.5 : f32
      %e = tensor.empty() : tensor<64xf32>
      %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %s : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) {
      ^bb0(%v: f32, %w: f32, %o: f32):
        %a = arith.mulf %v, %w : f32
        %b = arith.divf %a, %six : f32
        %c = arith.mulf %b, %half : f32
        %d = arith.addf %c, %v : f32
        linalg.yield %d : f32
      } -> tensor<64xf32>
      return %y : tensor<64xf32>
    })");
  auto before = run()[0];
  ASSERT_TRUE(succeeded(usePrecision(main(), Float16Type::get(&context))));
  EXPECT_EQ(count<arith::DivFOp>(main()) + count<arith::AddFOp>(main()), 0);
  EXPECT_EQ(count<arith::MulFOp>(main()), 1);
  EXPECT_EQ(count<math::FmaOp>(main()), 1);
  auto after = run()[0];
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_NEAR(before[i], after[i], 1e-6);
}

TEST_F(Graph, AModuleWithoutMainIsRefused) {
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str();
    return success();
  });
  auto empty = parseSourceString<ModuleOp>("func.func @other() { return }", &context);
  EXPECT_TRUE(failed(formKernels(*empty)));
  EXPECT_NE(said.find("needs a function @main"), std::string::npos) << said;
}

} // namespace
} // namespace dougong
