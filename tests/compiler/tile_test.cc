// Tile form computes what graph form computes, bit for bit, on every machine: both run by the reference execution.
#include "compiler/kernel.h"
#include "compiler/tile/tile.h"
#include "machines/machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

// Values of a type, small enough for sums in f16 to stay finite.
Bytes randomTensor(RankedTensorType type, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  size_t count = type.getNumElements();
  Bytes bytes(count * std::max(1u, type.getElementTypeBitWidth() / 8));
  for (size_t i = 0; i < count; ++i) {
    float value = uniform(generator);
    if (type.getElementType().isF32())
      std::memcpy(&bytes[4 * i], &value, 4);
    else if (type.getElementType().isF16()) {
      auto half = _Float16(value);
      std::memcpy(&bytes[2 * i], &half, 2);
    } else if (type.getElementType().isInteger(32)) {
      auto number = int32_t(value * 1000);
      std::memcpy(&bytes[4 * i], &number, 4);
    } else {
      bytes[i] = char(value * 60);
    }
  }
  return bytes;
}

class Context {
public:
  Context() : context(MLIRContext::Threading::DISABLED) { registerKernelDialects(context); }
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      throw std::runtime_error("the test's text is not valid");
    return module;
  }
  MLIRContext context;
};

std::string kernelText(const std::string &body, const std::string &maps = "") { return maps + "module {\n" + body + "\n}"; }

struct Case {
  std::string name, text;
};
void PrintTo(const Case &each, std::ostream *stream) { *stream << each.name; }

// Both forms of @k on the same data. In f32 sums of chunks (`tolerance` > 0) only come close.
void compare(const std::string &text, const char *machine, double budget, double tolerance = 0) {
  Context context;
  OwningOpRef<ModuleOp> graph = context.parse(text), tiled = context.parse(text);
  auto kernel = graph->lookupSymbol<func::FuncOp>("k");
  ASSERT_TRUE(succeeded(tileKernel(tiled->lookupSymbol<func::FuncOp>("k"), Machine::load(machine), budget)));
  ASSERT_TRUE(succeeded(verify(*tiled)));
  ASSERT_TRUE(isTileForm(tiled->lookupSymbol<func::FuncOp>("k")));
  std::vector<Bytes> memory;
  unsigned seed = 1;
  for (Type type : kernel.getArgumentTypes())
    memory.push_back(randomTensor(cast<RankedTensorType>(type), seed++));
  for (Type type : kernel.getResultTypes())
    memory.push_back(Bytes(randomTensor(cast<RankedTensorType>(type), 0).size(), char(0x7b)));
  std::vector<Bytes> expected = memory, found = memory;
  execute(*graph, "k", expected);
  execute(*tiled, "k", found);
  for (size_t i = kernel.getNumArguments(); i < memory.size(); ++i) {
    if (tolerance == 0) {
      EXPECT_TRUE(expected[i] == found[i]) << "result " << i - kernel.getNumArguments() << " on " << machine;
      continue;
    }
    std::vector<float> a(expected[i].size() / 4), b(a.size());
    std::memcpy(a.data(), expected[i].data(), expected[i].size());
    std::memcpy(b.data(), found[i].data(), found[i].size());
    for (size_t j = 0; j < a.size(); ++j)
      ASSERT_NEAR(a[j], b[j], tolerance * std::max(1.0f, std::fabs(a[j]))) << "element " << j;
  }
}

class TileForm : public testing::TestWithParam<std::tuple<Case, const char *>> {};
TEST_P(TileForm, ComputesTheSame) { compare(std::get<0>(GetParam()).text, std::get<1>(GetParam()), 1.0); }
// A quarter of the memory makes other, smaller tiles.
TEST_P(TileForm, ComputesTheSameInLess) { compare(std::get<0>(GetParam()).text, std::get<1>(GetParam()), 0.25); }

std::string type(const std::vector<int> &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

const char *maps4 = R"(
#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
#nc = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#half = affine_map<(d0, d1, d2, d3) -> (d0, d1 floordiv 2, d2 floordiv 2, d3)>
#swap = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
#p2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
)";

// conv → + bias → hard swish → + residual, f16 in memory.
Case convolution(int n, int h, int w, int c, int f, int window, int stride) {
  int pad = window / 2, oh = (h + 2 * pad - window) / stride + 1, ow = (w + 2 * pad - window) / stride + 1;
  std::string x = type({n, h, w, c}, "f16"), p = type({n, h + 2 * pad, w + 2 * pad, c}, "f16"), k = type({window, window, c, f}, "f16");
  std::string acc = type({n, oh, ow, f}, "f32"), out = type({n, oh, ow, f}, "f16"), b = type({f}, "f32");
  std::string low = "[0, " + std::to_string(pad) + ", " + std::to_string(pad) + ", 0]";
  std::string text = "func.func @k(%x: " + x + ", %w: " + k + ", %b: " + b + ", %r: " + out + ") -> " + out +
                     " attributes {dg.kernel} {\n" +
                     "  %zero = arith.constant 0.0 : f32\n %hz = arith.constant 0.0 : f16\n %three = arith.constant 3.0 : f32\n %six = "
                     "arith.constant 6.0 : f32\n";
  if (pad)
    text += "  %p = tensor.pad %x low" + low + " high" + low +
            " {\n  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n    tensor.yield %hz : f16\n  } : " + x + " to " + p + "\n";
  std::string s = std::to_string(stride);
  text += "  %e = tensor.empty() : " + acc + "\n  %f = linalg.fill ins(%zero : f32) outs(%e : " + acc + ") -> " + acc + "\n" +
          "  %conv = linalg.conv_2d_nhwc_hwcf {strides = dense<" + s + "> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(" +
          (pad ? "%p" : "%x") + ", %w : " + (pad ? p : x) + ", " + k + ") outs(%f : " + acc + ") -> " + acc + "\n" +
          "  %o = tensor.empty() : " + out + "\n" +
          "  %y = linalg.generic {indexing_maps = [#i, #c, #i, #i], iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
          "\"parallel\"]} ins(%conv, %b, %r : " +
          acc + ", " + b + ", " + out + ") outs(%o : " + out + R"() {
  ^bb0(%v: f32, %bias: f32, %res: f16, %unused: f16):
    %s = arith.addf %v, %bias : f32
    %t = arith.addf %s, %three : f32
    %u = arith.maximumf %t, %zero : f32
    %m = arith.minimumf %u, %six : f32
    %h = arith.mulf %s, %m : f32
    %wide = arith.extf %res : f16 to f32
    %sum = arith.addf %h, %wide : f32
    %r16 = arith.truncf %sum : f32 to f16
    linalg.yield %r16 : f16
  } -> )" +
          out + "\n  return %y : " + out + "\n}";
  return {"conv" + std::to_string(window) + "s" + s + "_" + std::to_string(h) + "x" + std::to_string(w) + "x" + std::to_string(c) + "x" +
              std::to_string(f),
          kernelText(text, maps4)};
}

Case depthwise(int h, int w, int c, int window, int stride) {
  int pad = window / 2, oh = (h + 2 * pad - window) / stride + 1, ow = (w + 2 * pad - window) / stride + 1;
  std::string x = type({1, h, w, c}, "f16"), p = type({1, h + 2 * pad, w + 2 * pad, c}, "f16"), k = type({window, window, c}, "f16");
  std::string acc = type({1, oh, ow, c}, "f32"), s = std::to_string(stride),
              low = "[0, " + std::to_string(pad) + ", " + std::to_string(pad) + ", 0]";
  return {"depthwise" + std::to_string(window) + "s" + s,
          kernelText("func.func @k(%x: " + x + ", %w: " + k + ") -> " + acc + " attributes {dg.kernel} {\n" +
                         "  %zero = arith.constant 0.0 : f32\n %hz = arith.constant 0.0 : f16\n" + "  %p = tensor.pad %x low" + low +
                         " high" + low +
                         " {\n  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n    tensor.yield %hz : f16\n  } : " + x + " to " +
                         p + "\n" + "  %e = tensor.empty() : " + acc + "\n  %f = linalg.fill ins(%zero : f32) outs(%e : " + acc + ") -> " +
                         acc + "\n" + "  %y = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<" + s +
                         "> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : " + p + ", " + k + ") outs(%f : " + acc +
                         ") -> " + acc + "\n  return %y : " + acc + "\n}",
                     maps4)};
}

Case maxPool(int h, int w, int c) {
  int oh = (h + 2 - 3) / 2 + 1, ow = (w + 2 - 3) / 2 + 1;
  std::string x = type({1, h, w, c}, "f16"), p = type({1, h + 2, w + 2, c}, "f16"), out = type({1, oh, ow, c}, "f16");
  return {
      "maxpool",
      kernelText(
          "func.func @k(%x: " + x + ") -> " + out + " attributes {dg.kernel} {\n" + "  %low = arith.constant 0xFC00 : f16\n" +
              "  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {\n  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n    "
              "tensor.yield %low : f16\n  } : " +
              x + " to " + p + "\n  %win = tensor.empty() : tensor<3x3xf16>\n" + "  %e = tensor.empty() : " + out +
              "\n  %f = linalg.fill ins(%low : f16) outs(%e : " + out + ") -> " + out + "\n" +
              "  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %win : " +
              p + ", tensor<3x3xf16>) outs(%f : " + out + ") -> " + out + "\n  return %y : " + out + "\n}",
          maps4)};
}

Case matmul(int m, int k, int n) {
  std::string a = type({m, k}, "f16"), b = type({k, n}, "f16"), acc = type({m, n}, "f32"), out = type({m, n}, "f16"),
              bias = type({n}, "f32");
  return {"matmul" + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n),
          kernelText(
              "func.func @k(%a: " + a + ", %b: " + b + ", %c: " + bias + ") -> (" + out + ", " + acc + ") attributes {dg.kernel} {\n" +
                  "  %zero = arith.constant 0.0 : f32\n  %e = tensor.empty() : " + acc +
                  "\n  %f = linalg.fill ins(%zero : f32) outs(%e : " + acc + ") -> " + acc + "\n  %r = linalg.matmul ins(%a, %b : " + a +
                  ", " + b + ") outs(%f : " + acc + ") -> " + acc + "\n" + "  %o = tensor.empty() : " + out + "\n" +
                  "  %y = linalg.generic {indexing_maps = [#p2, #col, #p2], iterator_types = [\"parallel\", \"parallel\"]} ins(%r, %c : " +
                  acc + ", " + bias + ") outs(%o : " + out + R"() {
  ^bb0(%v: f32, %bias: f32, %unused: f16):
    %s = arith.addf %v, %bias : f32
    %u = arith.maximumf %s, %zero : f32
    %r16 = arith.truncf %u : f32 to f16
    linalg.yield %r16 : f16
  } -> )" + out +
                  "\n  return %y, %r : " + out + ", " + acc + "\n}",
              maps4)};
}

Case batchMatmul(int batch, int m, int k, int n) {
  std::string a = type({batch, m, k}, "f16"), b = type({batch, k, n}, "f16"), acc = type({batch, m, n}, "f32");
  return {"batch_matmul", kernelText("func.func @k(%a: " + a + ", %b: " + b + ") -> " + acc + " attributes {dg.kernel} {\n" +
                                     "  %zero = arith.constant 0.0 : f32\n  %e = tensor.empty() : " + acc +
                                     "\n  %f = linalg.fill ins(%zero : f32) outs(%e : " + acc + ") -> " + acc +
                                     "\n  %r = linalg.batch_matmul ins(%a, %b : " + a + ", " + b + ") outs(%f : " + acc + ") -> " + acc +
                                     "\n  return %r : " + acc + "\n}")};
}

// Row maximum, exp of the difference, row sum, quotient.
Case softmax(int rows, int n) {
  std::string x = type({rows, n}, "f16"), wide = type({rows, n}, "f32"), r = type({rows}, "f32");
  std::string two = ", iterator_types = [\"parallel\", \"parallel\"]} ", reduce = ", iterator_types = [\"parallel\", \"reduction\"]} ";
  return {"softmax" + std::to_string(n),
          kernelText("func.func @k(%x: " + x + ") -> " + x +
                         " attributes {dg.kernel} {\n  %zero = arith.constant 0.0 : f32\n  %low = arith.constant 0xFF800000 : f32\n" +
                         "  %re = tensor.empty() : " + r + "\n  %we = tensor.empty() : " + wide + "\n  %xe = tensor.empty() : " + x + "\n" +
                         "  %f0 = linalg.fill ins(%low : f32) outs(%re : " + r + ") -> " + r +
                         "\n  %f1 = linalg.fill ins(%zero : f32) outs(%re : " + r + ") -> " + r + "\n" +
                         "  %m = linalg.generic {indexing_maps = [#p2, #row]" + reduce + "ins(%x : " + x + ") outs(%f0 : " + r +
                         ") {\n  ^bb0(%v: f16, %a: f32):\n    %w = arith.extf %v : f16 to f32\n    %s = arith.maximumf %w, %a : f32\n    "
                         "linalg.yield %s : f32\n  } -> " +
                         r + "\n" + "  %e = linalg.generic {indexing_maps = [#p2, #row, #p2]" + two + "ins(%x, %m : " + x + ", " + r +
                         ") outs(%we : " + wide +
                         ") {\n  ^bb0(%v: f16, %a: f32, %o: f32):\n    %w = arith.extf %v : f16 to f32\n    %d = arith.subf %w, %a : f32\n "
                         "   %s = math.exp %d : f32\n    linalg.yield %s : f32\n  } -> " +
                         wide + "\n" + "  %s = linalg.generic {indexing_maps = [#p2, #row]" + reduce + "ins(%e : " + wide +
                         ") outs(%f1 : " + r +
                         ") {\n  ^bb0(%v: f32, %a: f32):\n    %t = arith.addf %v, %a : f32\n    linalg.yield %t : f32\n  } -> " + r + "\n" +
                         "  %q = linalg.generic {indexing_maps = [#p2, #row, #p2]" + two + "ins(%e, %s : " + wide + ", " + r +
                         ") outs(%xe : " + x +
                         ") {\n  ^bb0(%v: f32, %a: f32, %o: f16):\n    %d = arith.divf %v, %a : f32\n    %t = arith.truncf %d : f32 to "
                         "f16\n    linalg.yield %t : f16\n  } -> " +
                         x + "\n" + "  return %q : " + x + "\n}",
                     maps4)};
}

// Mean over rows and columns of an image; the mean itself is also a result.
Case globalAverage(int n, int h, int w, int c) {
  std::string x = type({n, h, w, c}, "f16"), r = type({n, c}, "f32");
  return {
      "global_average",
      kernelText(
          "func.func @k(%x: " + x + ") -> " + r + " attributes {dg.kernel} {\n  %zero = arith.constant 0.0 : f32\n  %n = arith.constant " +
              std::to_string(h * w) + ".0 : f32\n  %e = tensor.empty() : " + r + "\n  %f = linalg.fill ins(%zero : f32) outs(%e : " + r +
              ") -> " + r + "\n" +
              "  %s = linalg.generic {indexing_maps = [#i, #nc], iterator_types = [\"parallel\", \"reduction\", \"reduction\", "
              "\"parallel\"]} ins(%x : " +
              x + ") outs(%f : " + r +
              ") {\n  ^bb0(%v: f16, %a: f32):\n    %w = arith.extf %v : f16 to f32\n    %t = arith.addf %w, %a : f32\n    linalg.yield %t "
              ": f32\n  } -> " +
              r + "\n" + "  %q = linalg.generic {indexing_maps = [#p2, #p2], iterator_types = [\"parallel\", \"parallel\"]} ins(%s : " + r +
              ") outs(%e : " + r + ") {\n  ^bb0(%v: f32, %o: f32):\n    %d = arith.divf %v, %n : f32\n    linalg.yield %d : f32\n  } -> " +
              r + "\n  return %q : " + r + "\n}",
          maps4)};
}

// Nearest resize by two, added to another image.
Case resize(int h, int w, int c) {
  std::string x = type({1, h, w, c}, "f16"), out = type({1, 2 * h, 2 * w, c}, "f16");
  return {"resize",
          kernelText("func.func @k(%x: " + x + ", %r: " + out + ") -> " + out +
                         " attributes {dg.kernel} {\n  %e = tensor.empty() : " + out + "\n" +
                         "  %y = linalg.generic {indexing_maps = [#half, #i, #i], iterator_types = [\"parallel\", \"parallel\", "
                         "\"parallel\", \"parallel\"]} ins(%x, %r : " +
                         x + ", " + out + ") outs(%e : " + out +
                         ") {\n  ^bb0(%v: f16, %a: f16, %o: f16):\n    %s = arith.addf %v, %a : f16\n    linalg.yield %s : f16\n  } -> " +
                         out + "\n  return %y : " + out + "\n}",
                     maps4)};
}

Case transpose(int h, int w, int c) {
  std::string x = type({1, c, h, w}, "f32"), out = type({1, h, w, c}, "f16");
  return {"transpose",
          kernelText("func.func @k(%x: " + x + ") -> " + out + " attributes {dg.kernel} {\n  %e = tensor.empty() : " + out + "\n" +
                         "  %y = linalg.generic {indexing_maps = [#swap, #i], iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
                         "\"parallel\"]} ins(%x : " +
                         x + ") outs(%e : " + out +
                         ") {\n  ^bb0(%v: f32, %o: f16):\n    %s = arith.truncf %v : f32 to f16\n    linalg.yield %s : f16\n  } -> " + out +
                         "\n  return %y : " + out + "\n}",
                     maps4)};
}

Case concat(int h, int w, int a, int b) {
  std::string x = type({1, h, w, a}, "f16"), y = type({1, h, w, b}, "f16"), out = type({1, h, w, a + b + a}, "f16");
  return {"concat", kernelText("func.func @k(%x: " + x + ", %y: " + y + ") -> " + out + " attributes {dg.kernel} {\n" +
                               "  %r = tensor.concat dim(3) %x, %y, %x : (" + x + ", " + y + ", " + x + ") -> " + out +
                               "\n  return %r : " + out + "\n}")};
}

// A matmul whose rows are pixels and whose columns are 2 x 2 of them: the store puts them in their places.
Case transposedConvolution(int h, int w, int c, int f) {
  std::string hw = std::to_string(h * w), cols = std::to_string(4 * f);
  std::string wide = type({1, h, w, 2, 2, f}, "f16"), out = type({1, h, 2, w, 2, f}, "f16"),
              shape = "[1, " + std::to_string(h) + ", " + std::to_string(w) + ", 2, 2, " + std::to_string(f) + "]";
  std::string x = "tensor<" + hw + "x" + std::to_string(c) + "xf16>", k = "tensor<" + std::to_string(c) + "x" + cols + "xf16>",
              acc = "tensor<" + hw + "x" + cols + "xf32>", half = "tensor<" + hw + "x" + cols + "xf16>";
  std::string six = "[\"parallel\", \"parallel\", \"parallel\", \"parallel\", \"parallel\", \"parallel\"]";
  return {"transposed_convolution" + std::to_string(f),
          kernelText(
              "func.func @k(%x: " + x + ", %w: " + k + ") -> " + out + " attributes {dg.kernel} {\n  %zero = arith.constant 0.0 : f32\n" +
                  "  %e = tensor.empty() : " + acc + "\n  %f = linalg.fill ins(%zero : f32) outs(%e : " + acc + ") -> " + acc + "\n" +
                  "  %m = linalg.matmul ins(%x, %w : " + x + ", " + k + ") outs(%f : " + acc + ") -> " + acc +
                  "\n  %h = tensor.empty() : " + half + "\n" +
                  "  %n = linalg.generic {indexing_maps = [#p2, #p2], iterator_types = [\"parallel\", \"parallel\"]} ins(%m : " + acc +
                  ") outs(%h : " + half +
                  ") {\n  ^bb0(%v: f32, %o: f16):\n    %t = arith.truncf %v : f32 to f16\n    linalg.yield %t : f16\n  } -> " + half +
                  "\n" + "  %s = tensor.expand_shape %n [[0, 1, 2], [3, 4, 5]] output_shape " + shape + " : " + half + " into " + wide +
                  "\n  %q = tensor.empty() : " + out + "\n" +
                  "  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d2, d4, d5)>, "
                  "affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>], iterator_types = " +
                  six + "} ins(%s : " + wide + ") outs(%q : " + out + ") {\n  ^bb0(%v: f16, %o: f16):\n    linalg.yield %v : f16\n  } -> " +
                  out + "\n  return %y : " + out + "\n}",
              maps4)};
}

// A slice with steps, of what stands behind a reshape; and an index-dependent body.
const Case slice{"slice", R"(
#p2 = affine_map<(d0, d1) -> (d0, d1)>
func.func @k(%x: tensor<6x5x9xf32>) -> tensor<5x40xf32> attributes {dg.kernel} {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<6x5x9xf32> into tensor<6x45xf32>
  %s = tensor.extract_slice %flat[1, 3] [5, 40] [1, 1] : tensor<6x45xf32> to tensor<5x40xf32>
  %e = tensor.empty() : tensor<5x40xf32>
  %y = linalg.generic {indexing_maps = [#p2, #p2], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<5x40xf32>) outs(%e : tensor<5x40xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %j : index
    %n = arith.index_cast %k : index to i32
    %f = arith.sitofp %n : i32 to f32
    %r = arith.mulf %v, %f : f32
    linalg.yield %r : f32
  } -> tensor<5x40xf32>
  return %y : tensor<5x40xf32>
})"};

// A pad of something computed, read by a pooling: masked where it hangs over.
const Case computedPad{"computed_pad", R"(
#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @k(%x: tensor<1x13x11x40xf32>) -> tensor<1x13x11x40xf32> attributes {dg.kernel} {
  %one = arith.constant 1.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x13x11x40xf32>
  %a = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x13x11x40xf32>) outs(%e : tensor<1x13x11x40xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.subf %one, %v : f32
    linalg.yield %r : f32
  } -> tensor<1x13x11x40xf32>
  %p = tensor.pad %a low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %low : f32
  } : tensor<1x13x11x40xf32> to tensor<1x15x13x40xf32>
  %win = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x13x11x40xf32>) -> tensor<1x13x11x40xf32>
  %y = linalg.pooling_nhwc_max {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %win : tensor<1x15x13x40xf32>, tensor<3x3xf32>) outs(%f : tensor<1x13x11x40xf32>) -> tensor<1x13x11x40xf32>
  return %y : tensor<1x13x11x40xf32>
})"};

INSTANTIATE_TEST_SUITE_P(
    Kernels, TileForm,
    testing::Combine(testing::Values(convolution(1, 20, 24, 16, 40, 1, 1), convolution(2, 13, 17, 24, 33, 3, 1),
                                     convolution(1, 33, 35, 3, 16, 3, 2), convolution(1, 14, 14, 64, 70, 1, 2), depthwise(19, 23, 48, 5, 1),
                                     depthwise(20, 20, 33, 3, 2), maxPool(21, 30, 40), matmul(64, 64, 64), matmul(100, 37, 75),
                                     matmul(1, 120, 513), batchMatmul(5, 20, 15, 40), softmax(40, 97), softmax(3, 2000),
                                     globalAverage(2, 12, 9, 70), resize(9, 14, 24), transpose(18, 30, 3), concat(9, 8, 24, 17),
                                     transposedConvolution(12, 20, 24, 8), transposedConvolution(10, 6, 16, 1), slice, computedPad),
                     testing::Values("tiny", "phone")),
    [](const auto &info) { return std::get<0>(info.param).name + "_" + std::get<1>(info.param); });

// Sizes that divisions in the maps leave: a resize by eight into 80 x 120 is cut at multiples of eight.
TEST(TileForm, CutsResizesWhereTheyComeOutEven) {
  std::string out = type({1, 80, 120, 96}, "f16"), x = type({1, 10, 15, 96}, "f16");
  compare("#eighth = affine_map<(d0, d1, d2, d3) -> (d0, d1 floordiv 8, d2 floordiv 8, d3)>\n#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, "
          "d2, d3)>\n"
          "func.func @k(%x: " +
              x + ") -> " + out + " attributes {dg.kernel} {\n  %e = tensor.empty() : " + out +
              "\n"
              "  %y = linalg.generic {indexing_maps = [#eighth, #i], iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
              "\"parallel\"]} ins(%x : " +
              x + ") outs(%e : " + out +
              ") {\n  ^bb0(%v: f16, %o: f16):\n    %n = arith.negf %v : f16\n    linalg.yield %n : f16\n  } -> " + out +
              "\n  return %y : " + out + "\n}",
          "tiny", 1.0);
}

// A reduction too long for the local memory of `tiny` is a loop inside of the program.
TEST(TileForm, LoopsOverLongReductions) {
  Context context;
  std::string text = matmul(32, 8192, 64).text;
  OwningOpRef<ModuleOp> tiled = context.parse(text);
  ASSERT_TRUE(succeeded(tileKernel(tiled->lookupSymbol<func::FuncOp>("k"), Machine::load("tiny"))));
  std::string printed;
  llvm::raw_string_ostream(printed) << *tiled;
  EXPECT_NE(printed.find("scf.for"), std::string::npos) << printed;
  compare(batchMatmul(1, 24, 8192, 40).text, "tiny", 1.0, 1e-4);
}

// What cannot be tiled is refused with the reason, and left as it was: the CPU takes it.
struct Refusal {
  std::string name, reason, text;
};
void PrintTo(const Refusal &each, std::ostream *stream) { *stream << each.name; }

class Refused : public testing::TestWithParam<Refusal> {};
TEST_P(Refused, WithTheReason) {
  Context context;
  std::string said;
  ScopedDiagnosticHandler handler(&context.context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str();
    return success();
  });
  auto module = context.parse("#id = affine_map<(d0) -> (d0)>\n" + GetParam().text);
  EXPECT_TRUE(failed(tileKernel(module->lookupSymbol<func::FuncOp>("k"), Machine::load("phone"))));
  EXPECT_NE(said.find("cannot be tiled for the NPU: " + GetParam().reason), std::string::npos) << said;
  EXPECT_FALSE(isTileForm(module->lookupSymbol<func::FuncOp>("k")));
  EXPECT_TRUE(succeeded(verify(*module)));
}

const std::string negated = R"(
      %e = tensor.empty() : tensor<64xf32>
      %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
      ^bb0(%v: f32, %o: f32):
        %m = arith.negf %v : f32
        linalg.yield %m : f32
      } -> tensor<64xf32>
)";

INSTANTIATE_TEST_SUITE_P(Kernels, Refused,
                         testing::Values(Refusal{"gather", "it reads elements of a tensor by computed indices", R"(
    func.func @k(%table: tensor<10xf32>, %at: tensor<64xi32>) -> tensor<64xf32> attributes {dg.kernel} {
      %e = tensor.empty() : tensor<64xf32>
      %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%at : tensor<64xi32>) outs(%e : tensor<64xf32>) {
      ^bb0(%i: i32, %o: f32):
        %n = arith.index_cast %i : i32 to index
        %v = tensor.extract %table[%n] : tensor<10xf32>
        linalg.yield %v : f32
      } -> tensor<64xf32>
      return %y : tensor<64xf32>
    })"},
                                         Refusal{"constant", "a constant tensor inside of a kernel", R"(
    func.func @k() -> tensor<2xf32> attributes {dg.kernel} {
      %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
      return %c : tensor<2xf32>
    })"},
                                         Refusal{"steps", "a slice with steps",
                                                 "func.func @k(%x: tensor<64xf32>) -> tensor<32xf32> attributes {dg.kernel} {" + negated +
                                                     R"(
      %s = tensor.extract_slice %n[0] [32] [2] : tensor<64xf32> to tensor<32xf32>
      return %s : tensor<32xf32>
    })"},
                                         Refusal{"other_operation", "there is no way to compute a part of tensor.scatter", R"(
    func.func @k(%x: tensor<4xf32>, %y: tensor<64xf32>, %i: tensor<4x1xindex>) -> tensor<64xf32> attributes {dg.kernel} {
      %s = tensor.scatter %x into %y[%i] scatter_dims([0]) unique : (tensor<4xf32>, tensor<64xf32>, tensor<4x1xindex>) -> tensor<64xf32>
      return %s : tensor<64xf32>
    })"}),
                         [](const auto &info) { return info.param.name; });

TEST(TileForm, RefusesWhatDoesNotFit) {
  Context context;
  std::string said;
  ScopedDiagnosticHandler handler(&context.context, [&](Diagnostic &diagnostic) {
    said += diagnostic.str();
    return success();
  });
  auto module = context.parse(softmax(4, 400000).text);
  EXPECT_TRUE(failed(tileKernel(module->lookupSymbol<func::FuncOp>("k"), Machine::load("tiny"))));
  EXPECT_NE(said.find("of local memory"), std::string::npos) << said;
}

} // namespace
} // namespace dougong
