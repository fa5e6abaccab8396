// Kernels in graph and tile form, compiled for the host and run; expected values are plain C++ loops in double precision.
#include "tests/compiler/cpu_kernel.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace dougong;

namespace {
// Largest difference, relative to the largest expected value.
template <typename T> double difference(const std::vector<T> &got, const std::vector<double> &expected) {
  double worst = 0, largest = 1e-30;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    worst = std::isnan(double(got[i])) ? INFINITY : std::max(worst, std::abs(double(got[i]) - expected[i]));
  }
  return worst / largest;
}

std::string shape(std::initializer_list<int> extents, const char *type) {
  std::string text = "tensor<";
  for (int extent : extents)
    text += std::to_string(extent) + "x";
  return text + type + ">";
}

std::string matmulText(int m, int k, int n) {
  std::string a = shape({m, k}, "f32"), b = shape({k, n}, "f32"), c = shape({m, n}, "f32");
  return "func.func @matmul(%a: " + a + ", %b: " + b + ") -> " + c +
         " attributes {dg.kernel} {\n"
         "  %zero = arith.constant 0.0 : f32\n  %e = tensor.empty() : " +
         c +
         "\n"
         "  %f = linalg.fill ins(%zero : f32) outs(%e : " +
         c + ") -> " + c +
         "\n"
         "  %r = linalg.matmul ins(%a, %b : " +
         a + ", " + b + ") outs(%f : " + c + ") -> " + c +
         "\n"
         "  return %r : " +
         c + "\n}";
}

class Matmul : public testing::TestWithParam<std::array<int, 3>> {};
void checkMatmul(int m, int k, int n, const char *without) {
  CpuKernel kernel(matmulText(m, k, n), 0, without);
  std::vector<float> a = randomFloats(m * k, 1), b = randomFloats(k * n, 2), c(m * n, NAN);
  std::vector<double> expected(m * n);
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j)
        expected[i * n + j] += double(a[i * k + p]) * b[p * n + j];
  // Again and again, with a third thread: programs whose boxes overlap must not see each other's sums halfway.
  for (int i = 0; i < 8; ++i) {
    std::fill(c.begin(), c.end(), NAN);
    kernel.run({CpuKernel::slot(a.data()), CpuKernel::slot(b.data()), CpuKernel::slot(c.data())}, 3);
    ASSERT_LT(difference(c, expected), 1e-6 * std::sqrt(k));
  }
}
TEST_P(Matmul, EqualsLoops) {
  auto [m, k, n] = GetParam();
  checkMatmul(m, k, n, "");
}
TEST_P(Matmul, EqualsLoopsWithoutAvx512) {
  auto [m, k, n] = GetParam();
  checkMatmul(m, k, n, withoutAvx512);
}
INSTANTIATE_TEST_SUITE_P(Sizes, Matmul,
                         testing::Values(std::array{1, 1, 1}, std::array{3, 5, 7}, std::array{64, 64, 64}, std::array{127, 65, 129},
                                         std::array{1, 200, 333}, std::array{256, 256, 256}, std::array{257, 300, 256},
                                         std::array{130, 700, 17}));

struct Convolution {
  int n, h, w, c, f, kh, kw, stride, pad;
};
// Convolution, bias and ReLU in one kernel, as a model has it.
std::string convolutionText(const Convolution &v, int oh, int ow) {
  std::string x = shape({v.n, v.h, v.w, v.c}, "f32"), k = shape({v.kh, v.kw, v.c, v.f}, "f32"), b = shape({v.f}, "f32"),
              y = shape({v.n, oh, ow, v.f}, "f32"), p = shape({v.n, v.h + 2 * v.pad, v.w + 2 * v.pad, v.c}, "f32"),
              s = std::to_string(v.stride), pads = "0, " + std::to_string(v.pad) + ", " + std::to_string(v.pad) + ", 0";
  return "func.func @conv(%x: " + x + ", %k: " + k + ", %b: " + b + ") -> " + y +
         " attributes {dg.kernel} {\n"
         "  %zero = arith.constant 0.0 : f32\n"
         "  %p = tensor.pad %x low[" +
         pads + "] high[" + pads +
         "] {\n  ^bb0(%i: index, %j: index, %l: index, %m: index):\n    tensor.yield %zero : f32\n"
         "  } : " +
         x + " to " + p +
         "\n"
         "  %e = tensor.empty() : " +
         y + "\n  %f = linalg.fill ins(%zero : f32) outs(%e : " + y + ") -> " + y +
         "\n"
         "  %c = linalg.conv_2d_nhwc_hwcf {strides = dense<" +
         s +
         "> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}\n"
         "    ins(%p, %k : " +
         p + ", " + k + ") outs(%f : " + y + ") -> " + y +
         "\n"
         "  %r = linalg.generic {indexing_maps = [affine_map<(n,h,w,f)->(n,h,w,f)>, affine_map<(n,h,w,f)->(f)>, "
         "affine_map<(n,h,w,f)->(n,h,w,f)>],\n"
         "    iterator_types = [\"parallel\",\"parallel\",\"parallel\",\"parallel\"]} ins(%c, %b : " +
         y + ", " + b + ") outs(%e : " + y +
         ") {\n"
         "  ^bb0(%u: f32, %v: f32, %w: f32):\n    %s = arith.addf %u, %v : f32\n    %t = arith.maximumf %s, %zero : f32\n    linalg.yield "
         "%t : f32\n"
         "  } -> " +
         y + "\n  return %r : " + y + "\n}";
}

class Conv : public testing::TestWithParam<Convolution> {};
void checkConvolution(const Convolution &v, const char *without) {
  int oh = (v.h + 2 * v.pad - v.kh) / v.stride + 1, ow = (v.w + 2 * v.pad - v.kw) / v.stride + 1;
  CpuKernel kernel(convolutionText(v, oh, ow), 0, without);
  std::vector<float> x = randomFloats(v.n * v.h * v.w * v.c, 1), k = randomFloats(v.kh * v.kw * v.c * v.f, 2), b = randomFloats(v.f, 3),
                     y(v.n * oh * ow * v.f, NAN);
  kernel.run({CpuKernel::slot(x.data()), CpuKernel::slot(k.data()), CpuKernel::slot(b.data()), CpuKernel::slot(y.data())}, 2);
  std::vector<double> expected(y.size());
  for (int n = 0, at = 0; n < v.n; ++n)
    for (int i = 0; i < oh; ++i)
      for (int j = 0; j < ow; ++j)
        for (int f = 0; f < v.f; ++f, ++at) {
          double sum = b[f];
          for (int p = 0; p < v.kh; ++p)
            for (int q = 0; q < v.kw; ++q) {
              int yy = i * v.stride + p - v.pad, xx = j * v.stride + q - v.pad;
              if (yy < 0 || yy >= v.h || xx < 0 || xx >= v.w)
                continue;
              for (int c = 0; c < v.c; ++c)
                sum += double(x[((n * v.h + yy) * v.w + xx) * v.c + c]) * k[((p * v.kw + q) * v.c + c) * v.f + f];
            }
          expected[at] = std::max(sum, 0.0);
        }
  EXPECT_LT(difference(y, expected), 1e-5);
}
TEST_P(Conv, EqualsLoops) { checkConvolution(GetParam(), ""); }
TEST_P(Conv, EqualsLoopsWithoutAvx512) { checkConvolution(GetParam(), withoutAvx512); }
INSTANTIATE_TEST_SUITE_P(Sizes, Conv,
                         testing::Values(Convolution{1, 8, 8, 3, 16, 3, 3, 1, 1}, Convolution{1, 23, 17, 3, 24, 3, 3, 2, 1},
                                         Convolution{2, 14, 14, 32, 70, 3, 3, 1, 1}, Convolution{1, 28, 28, 64, 64, 1, 1, 1, 0},
                                         Convolution{1, 28, 28, 40, 33, 1, 1, 2, 0}, Convolution{1, 7, 7, 128, 512, 3, 3, 1, 1},
                                         Convolution{1, 64, 64, 3, 8, 7, 7, 2, 3}));

class Softmax : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Features, Softmax, testing::Values("", withoutAvx512));
TEST_P(Softmax, OfRows) {
  CpuKernel kernel(R"(func.func @softmax(%x: tensor<300x1003xf32>) -> tensor<300x1003xf32> attributes {dg.kernel} {
    %e = tensor.empty() : tensor<300x1003xf32>
    %r = linalg.softmax dimension(1) ins(%x : tensor<300x1003xf32>) outs(%e : tensor<300x1003xf32>) -> tensor<300x1003xf32>
    return %r : tensor<300x1003xf32>
  })",
                   0, GetParam());
  EXPECT_GT(kernel.grid[0], 1);
  const int rows = 300, columns = 1003;
  std::vector<float> x = randomFloats(rows * columns, 1, -8, 8), y(x.size(), NAN);
  kernel(x.data(), y.data());
  std::vector<double> expected(x.size());
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < columns; ++j)
      sum += expected[i * columns + j] = std::exp(double(x[i * columns + j]));
    for (int j = 0; j < columns; ++j)
      expected[i * columns + j] /= sum;
  }
  EXPECT_LT(difference(y, expected), 2e-6);
}

TEST(CpuGraph, DepthwiseConvolutionAndMaxPool) {
  CpuKernel depthwise(
      R"(func.func @dw(%x: tensor<1x20x21x40xf32>, %k: tensor<3x3x40xf32>) -> tensor<1x18x19x40xf32> attributes {dg.kernel} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x18x19x40xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x18x19x40xf32>) -> tensor<1x18x19x40xf32>
    %r = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %k : tensor<1x20x21x40xf32>, tensor<3x3x40xf32>) outs(%f : tensor<1x18x19x40xf32>) -> tensor<1x18x19x40xf32>
    return %r : tensor<1x18x19x40xf32>
  })");
  CpuKernel pool(R"(func.func @pool(%x: tensor<1x20x21x40xf32>) -> tensor<1x9x10x40xf32> attributes {dg.kernel} {
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<1x9x10x40xf32>
    %w = tensor.empty() : tensor<3x3xf32>
    %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x9x10x40xf32>) -> tensor<1x9x10x40xf32>
    %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x20x21x40xf32>, tensor<3x3xf32>) outs(%f : tensor<1x9x10x40xf32>) -> tensor<1x9x10x40xf32>
    return %r : tensor<1x9x10x40xf32>
  })");
  std::vector<float> x = randomFloats(20 * 21 * 40, 1), k = randomFloats(9 * 40, 2), y(18 * 19 * 40, NAN), z(9 * 10 * 40, NAN);
  depthwise(x.data(), k.data(), y.data());
  pool(x.data(), z.data());
  std::vector<double> sums(y.size()), most(z.size(), -INFINITY);
  for (int i = 0; i < 18; ++i)
    for (int j = 0; j < 19; ++j)
      for (int p = 0; p < 9; ++p)
        for (int c = 0; c < 40; ++c) {
          double value = x[((i + p / 3) * 21 + j + p % 3) * 40 + c];
          sums[(i * 19 + j) * 40 + c] += value * k[p * 40 + c];
        }
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 10; ++j)
      for (int p = 0; p < 9; ++p)
        for (int c = 0; c < 40; ++c)
          most[(i * 10 + j) * 40 + c] = std::max<double>(most[(i * 10 + j) * 40 + c], x[((2 * i + p / 3) * 21 + 2 * j + p % 3) * 40 + c]);
  EXPECT_LT(difference(y, sums), 1e-6);
  EXPECT_EQ(difference(z, most), 0);
}

TEST(CpuGraph, ConcatenationAndTranspose) {
  CpuKernel kernel(R"(func.func @c(%a: tensor<40x50xf32>, %b: tensor<50x60xf32>) -> tensor<100x50xf32> attributes {dg.kernel} {
    %e = tensor.empty() : tensor<60x50xf32>
    %t = linalg.transpose ins(%b : tensor<50x60xf32>) outs(%e : tensor<60x50xf32>) permutation = [1, 0]
    %r = tensor.concat dim(0) %a, %t : (tensor<40x50xf32>, tensor<60x50xf32>) -> tensor<100x50xf32>
    return %r : tensor<100x50xf32>
  })");
  std::vector<float> a = randomFloats(2000, 1), b = randomFloats(3000, 2), c(5000, NAN);
  kernel(a.data(), b.data(), c.data());
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j < 50; ++j)
      ASSERT_EQ(c[i * 50 + j], i < 40 ? a[i * 50 + j] : b[j * 60 + i - 40]) << i << " " << j;
}

TEST(CpuGraph, TypesOtherThanFloat) {
  CpuKernel kernel(R"(
    #id = affine_map<(d0)->(d0)>
    func.func @types(%a: tensor<77xi64>, %b: tensor<77xf64>, %c: tensor<77xi8>, %d: tensor<77xf16>) -> (tensor<77xi64>, tensor<77xf64>, tensor<77xi1>, tensor<77xbf16>) attributes {dg.kernel} {
    %e0 = tensor.empty() : tensor<77xi64>
    %e1 = tensor.empty() : tensor<77xf64>
    %e2 = tensor.empty() : tensor<77xi1>
    %e3 = tensor.empty() : tensor<77xbf16>
    %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a, %b, %c, %d : tensor<77xi64>, tensor<77xf64>, tensor<77xi8>, tensor<77xf16>) outs(%e0, %e1, %e2, %e3 : tensor<77xi64>, tensor<77xf64>, tensor<77xi1>, tensor<77xbf16>) {
    ^bb0(%x: i64, %y: f64, %z: i8, %w: f16, %o0: i64, %o1: f64, %o2: i1, %o3: bf16):
      %z64 = arith.extsi %z : i8 to i64
      %s = arith.muli %x, %z64 : i64
      %ly = math.exp %y : f64
      %zero = arith.constant 0 : i8
      %p = arith.cmpi sgt, %z, %zero : i8
      %w32 = arith.extf %w : f16 to f32
      %t = math.sqrt %w32 : f32
      %tb = arith.truncf %t : f32 to bf16
      linalg.yield %s, %ly, %p, %tb : i64, f64, i1, bf16
    } -> (tensor<77xi64>, tensor<77xf64>, tensor<77xi1>, tensor<77xbf16>)
    return %r#0, %r#1, %r#2, %r#3 : tensor<77xi64>, tensor<77xf64>, tensor<77xi1>, tensor<77xbf16>
  })");
  std::vector<int64_t> a(77), r0(77);
  std::vector<double> b(77), r1(77);
  std::vector<int8_t> c(77), r2(77);
  std::vector<_Float16> d(77);
  std::vector<uint16_t> r3(77);
  for (int i = 0; i < 77; ++i)
    a[i] = 1000000007ll * i * i, b[i] = i * 0.1 - 4, c[i] = int8_t(37 * i), d[i] = _Float16(i * 0.5f);
  kernel(a.data(), b.data(), c.data(), d.data(), r0.data(), r1.data(), r2.data(), r3.data());
  for (int i = 0; i < 77; ++i) {
    EXPECT_EQ(r0[i], a[i] * c[i]);
    EXPECT_NEAR(r1[i], std::exp(b[i]), 1e-14 * std::exp(b[i]));
    EXPECT_EQ(r2[i], c[i] > 0);
    uint32_t bits = std::bit_cast<uint32_t>(std::sqrt(i * 0.5f));
    EXPECT_EQ(r3[i], uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)) << i; // to nearest even
  }
}

TEST(CpuTile, VectorAddWithRaggedEnd) {
  CpuKernel kernel(R"(func.func @add(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %n: i32) attributes {dg.kernel} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %block = arith.constant 256 : index
    %p = dg.program_id 0
    %o = arith.muli %p, %block : index
    %m = arith.index_cast %n : i32 to index
    %left = arith.subi %m, %o : index
    %a = dg.load %x[%o] strides [%c1] lower [%c0] upper [%left] : memref<?xf32> -> tensor<256xf32>
    %b = dg.load %y[%o] strides [%c1] lower [%c0] upper [%left] : memref<?xf32> -> tensor<256xf32>
    %s = arith.addf %a, %b : tensor<256xf32>
    dg.store %s, %z[%o] strides [%c1] lower [%c0] upper [%left] : tensor<256xf32> -> memref<?xf32>
    return
  })");
  const int n = 1000;
  std::vector<float> x = randomFloats(n, 1), y = randomFloats(n, 2), z(n + 1, 42);
  kernel.grid = {4, 1, 1};
  kernel.run({CpuKernel::slot(x.data()), CpuKernel::slot(y.data()), CpuKernel::slot(z.data()), uint64_t(n)}, 2);
  for (int i = 0; i < n; ++i)
    ASSERT_EQ(z[i], x[i] + y[i]);
  EXPECT_EQ(z[n], 42); // beyond the bound: untouched
}
} // namespace
