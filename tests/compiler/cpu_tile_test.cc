// Kernels in tile form on the CPU target: control flow around tiles, accesses that wrap or are gathered; diagnostics; what the kernel table
// says.
#include "tests/compiler/cpu_kernel.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace dougong;

namespace {
// Triton's matrix product: a loop carries the accumulator, edges are clipped by bounds.
TEST(CpuTile, MatrixProductWithCarriedAccumulator) {
  CpuKernel kernel(
      R"(func.func @mm(%a: memref<?xf16>, %b: memref<?xf16>, %c: memref<?xf32>, %m: i32, %n: i32, %k: i32) attributes {dg.kernel} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %bm = arith.constant 32 : index
      %bk = arith.constant 16 : index
      %zero = arith.constant dense<0.0> : tensor<32x32xf32>
      %M = arith.index_cast %m : i32 to index
      %N = arith.index_cast %n : i32 to index
      %K = arith.index_cast %k : i32 to index
      %px = dg.program_id 0
      %py = dg.program_id 1
      %row = arith.muli %px, %bm : index
      %col = arith.muli %py, %bm : index
      %rows = arith.subi %M, %row : index
      %cols = arith.subi %N, %col : index
      %abase = arith.muli %row, %K : index
      %acc = scf.for %kk = %c0 to %K step %bk iter_args(%s = %zero) -> tensor<32x32xf32> {
        %left = arith.subi %K, %kk : index
        %ao = arith.addi %abase, %kk : index
        %bo0 = arith.muli %kk, %N : index
        %bo = arith.addi %bo0, %col : index
        %x = dg.load %a[%ao] strides [%K, %c1] lower [%c0, %c0] upper [%rows, %left] : memref<?xf16> -> tensor<32x16xf16>
        %y = dg.load %b[%bo] strides [%N, %c1] lower [%c0, %c0] upper [%left, %cols] : memref<?xf16> -> tensor<16x32xf16>
        %t = linalg.matmul ins(%x, %y : tensor<32x16xf16>, tensor<16x32xf16>) outs(%s : tensor<32x32xf32>) -> tensor<32x32xf32>
        scf.yield %t : tensor<32x32xf32>
      }
      %o0 = arith.muli %row, %N : index
      %o = arith.addi %o0, %col : index
      dg.store %acc, %c[%o] strides [%N, %c1] lower [%c0, %c0] upper [%rows, %cols] : tensor<32x32xf32> -> memref<?xf32>
      return
    })");
  const int m = 70, n = 45, k = 37;
  std::vector<float> fa = randomFloats(m * k, 1), fb = randomFloats(k * n, 2), c(m * n + 1, 9);
  std::vector<_Float16> a(fa.begin(), fa.end()), b(fb.begin(), fb.end());
  kernel.grid = {3, 2, 1};
  kernel.run({CpuKernel::slot(a.data()), CpuKernel::slot(b.data()), CpuKernel::slot(c.data()), uint64_t(m), uint64_t(n), uint64_t(k)}, 2);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p)
        sum += double(a[i * k + p]) * double(b[p * n + j]);
      ASSERT_NEAR(c[i * n + j], sum, 1e-5);
    }
  EXPECT_EQ(c[m * n], 9);
}

TEST(CpuTile, CarriedTilesThatSwap) {
  CpuKernel kernel(R"(func.func @swap(%x: memref<?xf32>, %y: memref<?xf32>, %n: i32) attributes {dg.kernel} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %N = arith.index_cast %n : i32 to index
      %a = dg.load %x[%c0] strides [%c1] : memref<?xf32> -> tensor<8xf32>
      %b = dg.load %x[%c8] strides [%c1] : memref<?xf32> -> tensor<8xf32>
      %r:2 = scf.for %i = %c0 to %N step %c1 iter_args(%u = %a, %v = %b) -> (tensor<8xf32>, tensor<8xf32>) {
        %s = arith.addf %u, %v : tensor<8xf32>
        scf.yield %v, %s : tensor<8xf32>, tensor<8xf32>
      }
      dg.store %r#0, %y[%c0] strides [%c1] : tensor<8xf32> -> memref<?xf32>
      dg.store %r#1, %y[%c8] strides [%c1] : tensor<8xf32> -> memref<?xf32>
      return
    })");
  std::vector<float> x(16), y(16);
  for (int i = 0; i < 16; ++i)
    x[i] = i < 8 ? 0 : i; // Fibonacci numbers times i
  kernel.grid = {1, 1, 1};
  for (int n : {0, 1, 2, 10}) {
    kernel(x.data(), y.data(), n);
    double u = 0, v = 1;
    for (int i = 0; i < n; ++i)
      std::tie(u, v) = std::pair(v, u + v);
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(y[i], u * (8 + i)) << n;
      EXPECT_EQ(y[8 + i], v * (8 + i)) << n;
    }
  }
}

TEST(CpuTile, WhileAndIfAroundTiles) {
  // Doubles the tile until its first element reaches a limit; then negates it if asked to.
  CpuKernel kernel(R"(func.func @w(%x: memref<?xf32>, %y: memref<?xf32>, %limit: f32, %negate: i1) attributes {dg.kernel} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = dg.load %x[%c0] strides [%c1] : memref<?xf32> -> tensor<20xf32>
      %r = scf.while (%t = %a) : (tensor<20xf32>) -> tensor<20xf32> {
        %f = tensor.extract %t[%c0] : tensor<20xf32>
        %more = arith.cmpf olt, %f, %limit : f32
        scf.condition(%more) %t : tensor<20xf32>
      } do {
      ^bb0(%t: tensor<20xf32>):
        %d = arith.addf %t, %t : tensor<20xf32>
        scf.yield %d : tensor<20xf32>
      }
      %s = scf.if %negate -> tensor<20xf32> {
        %n = arith.negf %r : tensor<20xf32>
        scf.yield %n : tensor<20xf32>
      } else {
        scf.yield %r : tensor<20xf32>
      }
      dg.store %s, %y[%c0] strides [%c1] : tensor<20xf32> -> memref<?xf32>
      return
    })");
  std::vector<float> x = randomFloats(20, 1, 1, 2), y(20);
  x[0] = 1;
  kernel.grid = {1, 1, 1};
  for (bool negate : {false, true}) {
    kernel(x.data(), y.data(), 100.0f, negate);
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(y[i], x[i] * (negate ? -128 : 128));
  }
}

TEST(CpuTile, LoadThatWrapsAround) {
  CpuKernel kernel(R"(func.func @w(%x: memref<?xf32>, %y: memref<?xf32>, %start: i32, %m: i32) attributes {dg.kernel} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      %S = arith.index_cast %start : i32 to index
      %M = arith.index_cast %m : i32 to index
      %a = dg.load %x[%c0] strides [%c4, %c1] lower [%c0, %c0] upper [%c8, %c3] starts [%S, %c0] moduli [%M, %c0] : memref<?xf32> -> tensor<8x4xf32>
      dg.store %a, %y[%c0] strides [%c4, %c1] : tensor<8x4xf32> -> memref<?xf32>
      return
    })");
  std::vector<float> x = randomFloats(20, 1), y(32);
  kernel.grid = {1, 1, 1};
  kernel(x.data(), y.data(), 3, 5);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(y[i], i % 4 == 3 ? 0 : x[(3 + i / 4) % 5 * 4 + i % 4]) << i;
}

TEST(CpuTile, GatherAndScatterUnderMask) {
  CpuKernel kernel(R"(func.func @g(%x: memref<?xf32>, %y: memref<?xf32>, %i: memref<?xi32>) attributes {dg.kernel} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %o = dg.load %i[%c0] strides [%c1] : memref<?xi32> -> tensor<16xi32>
      %zero = arith.constant dense<0> : tensor<16xi32>
      %other = arith.constant dense<-5.0> : tensor<16xf32>
      %m = arith.cmpi sge, %o, %zero : tensor<16xi32>
      %v = dg.gather %x[%o : tensor<16xi32>] mask %m : tensor<16xi1> other %other : tensor<16xf32> : memref<?xf32> -> tensor<16xf32>
      %p = dg.program_id 2
      %n = dg.num_programs 2
      %pn = arith.addi %p, %n : index
      %pi = arith.index_cast %pn : index to i32
      %pf = arith.sitofp %pi : i32 to f32
      %s = tensor.splat %pf : tensor<16xf32>
      %t = arith.addf %v, %s : tensor<16xf32>
      dg.scatter %t : tensor<16xf32>, %y[%o : tensor<16xi32>] mask %m : tensor<16xi1> : memref<?xf32>
      return
    })");
  std::vector<float> x = randomFloats(100, 1), y(100, 3);
  std::vector<int32_t> at(16);
  for (int i = 0; i < 16; ++i)
    at[i] = i % 3 ? 6 * i : -1;
  kernel.grid = {1, 1, 1};
  kernel(x.data(), y.data(), at.data());
  for (int i = 0; i < 100; ++i) {
    bool there = i && i % 6 == 0 && i < 96 && (i / 6) % 3;
    EXPECT_EQ(y[i], there ? x[i] + 1 : 3) << i; // program 0 of 1
  }
}
std::string errorOf(const char *text) {
  try {
    CpuKernel kernel(text);
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "";
}

TEST(CpuDiagnostic, TemporaryWithoutStaticSize) {
  std::string error = errorOf(R"(func.func @d(%x: memref<?xf32>, %n: index) attributes {dg.kernel} {
      %c0 = arith.constant 0 : index
      %e = tensor.empty(%n) : tensor<?xf32>
      %f = linalg.generic {indexing_maps=[affine_map<(a)->(a)>], iterator_types=["parallel"]} outs(%e : tensor<?xf32>) {
      ^bb0(%o: f32):
        %i = linalg.index 0 : index
        %j = arith.index_cast %i : index to i32
        %k = arith.sitofp %j : i32 to f32
        linalg.yield %k : f32
      } -> tensor<?xf32>
      %v = tensor.extract %f[%c0] : tensor<?xf32>
      memref.store %v, %x[%c0] : memref<?xf32>
      return
    })");
  EXPECT_NE(error.find("no static size"), std::string::npos) << error;
  EXPECT_NE(error.find(":3:"), std::string::npos) << error; // the line of the text
}

TEST(CpuTable, SaysWhatAKernelTakesAndDoes) {
  CpuKernel kernel(R"(func.func @c(%x: tensor<1x10x10x4xf16>, %w: tensor<3x3x4x8xf16>) -> tensor<1x8x8x8xf32> attributes {dg.kernel} {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<1x8x8x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
      %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<1x10x10x4xf16>, tensor<3x3x4x8xf16>) outs(%f : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
      return %r : tensor<1x8x8x8xf32>
    })");
  const CompiledKernel &line = kernel.compiled.kernels.at(0);
  EXPECT_EQ(line.name, "c");
  ASSERT_EQ(line.arguments.size(), 3u);
  EXPECT_EQ(line.arguments[0].type, "f16");
  EXPECT_TRUE(line.arguments[1].memory && !line.arguments[1].written);
  EXPECT_TRUE(line.arguments[2].written);
  EXPECT_EQ(line.vectorMacs, 8 * 8 * 8 * 36);
  EXPECT_EQ(line.compulsoryBytes, 400 * 2 + 288 * 2 + 512 * 4);
  EXPECT_EQ(line.grid, (std::array<int64_t, 3>{1, 1, 1})); // too little work to share
}
} // namespace
