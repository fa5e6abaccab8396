// The less common shapes of kernels in graph form on the CPU target: fused chains, several results, odd index maps.
#include "tests/compiler/cpu_kernel.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace dougong;

namespace {
TEST(CpuGraph, LayerNormOfRows) {
  CpuKernel kernel(R"(
    #row = affine_map<(d0,d1)->(d0)>
    #col = affine_map<(d0,d1)->(d1)>
    #id = affine_map<(d0,d1)->(d0,d1)>
    func.func @norm(%x: tensor<500x219xf32>, %g: tensor<219xf32>) -> tensor<500x219xf32> attributes {dg.kernel} {
      %zero = arith.constant 0.0 : f32
      %n = arith.constant 219.0 : f32
      %eps = arith.constant 1.0e-5 : f32
      %r = tensor.empty() : tensor<500xf32>
      %z = linalg.fill ins(%zero : f32) outs(%r : tensor<500xf32>) -> tensor<500xf32>
      %e = tensor.empty() : tensor<500x219xf32>
      %s = linalg.generic {indexing_maps=[#id,#row], iterator_types=["parallel","reduction"]} ins(%x : tensor<500x219xf32>) outs(%z : tensor<500xf32>) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.addf %a, %b : f32
        linalg.yield %c : f32
      } -> tensor<500xf32>
      %q = linalg.generic {indexing_maps=[#id,#row,#row], iterator_types=["parallel","reduction"]} ins(%x, %s : tensor<500x219xf32>, tensor<500xf32>) outs(%z : tensor<500xf32>) {
      ^bb0(%a: f32, %m: f32, %b: f32):
        %mean = arith.divf %m, %n : f32
        %d = arith.subf %a, %mean : f32
        %d2 = arith.mulf %d, %d : f32
        %c = arith.addf %b, %d2 : f32
        linalg.yield %c : f32
      } -> tensor<500xf32>
      %y = linalg.generic {indexing_maps=[#id,#row,#row,#col,#id], iterator_types=["parallel","parallel"]} ins(%x, %s, %q, %g : tensor<500x219xf32>, tensor<500xf32>, tensor<500xf32>, tensor<219xf32>) outs(%e : tensor<500x219xf32>) {
      ^bb0(%a: f32, %m: f32, %v: f32, %w: f32, %b: f32):
        %mean = arith.divf %m, %n : f32
        %var = arith.divf %v, %n : f32
        %ve = arith.addf %var, %eps : f32
        %rs = math.rsqrt %ve : f32
        %d = arith.subf %a, %mean : f32
        %t = arith.mulf %d, %rs : f32
        %u = arith.mulf %t, %w : f32
        linalg.yield %u : f32
      } -> tensor<500x219xf32>
      return %y : tensor<500x219xf32>
    })");
  const int rows = 500, columns = 219;
  EXPECT_GT(kernel.grid[0], 1); // rows are independent: the sums must not forbid the cut
  std::vector<float> x = randomFloats(rows * columns, 1, -3, 5), g = randomFloats(columns, 2), y(x.size(), NAN);
  kernel(x.data(), g.data(), y.data());
  for (int i = 0; i < rows; ++i) {
    double mean = 0, variance = 0;
    for (int j = 0; j < columns; ++j)
      mean += x[i * columns + j] / double(columns);
    for (int j = 0; j < columns; ++j)
      variance += std::pow(x[i * columns + j] - mean, 2) / columns;
    for (int j = 0; j < columns; ++j)
      ASSERT_NEAR(y[i * columns + j], (x[i * columns + j] - mean) / std::sqrt(variance + 1e-5) * g[j], 2e-5);
  }
}

TEST(CpuGraph, PadOfAComputedValueAndAveragePool) {
  CpuKernel kernel(R"(
    #id = affine_map<(a,b,c,d)->(a,b,c,d)>
    func.func @pool(%x: tensor<1x15x17x20xf32>) -> tensor<1x15x17x20xf32> attributes {dg.kernel} {
      %zero = arith.constant 0.0 : f32
      %two = arith.constant 2.0 : f32
      %e = tensor.empty() : tensor<1x15x17x20xf32>
      %d = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%x : tensor<1x15x17x20xf32>) outs(%e : tensor<1x15x17x20xf32>) {
      ^bb0(%a: f32, %b: f32):
        %c = arith.mulf %a, %two : f32
        linalg.yield %c : f32
      } -> tensor<1x15x17x20xf32>
      %p = tensor.pad %d low[0,1,1,0] high[0,1,1,0] {
      ^bb0(%i: index, %j: index, %k: index, %l: index):
        tensor.yield %zero : f32
      } : tensor<1x15x17x20xf32> to tensor<1x17x19x20xf32>
      %w = tensor.empty() : tensor<3x3xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x15x17x20xf32>) -> tensor<1x15x17x20xf32>
      %r = linalg.pooling_nhwc_sum {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<1x17x19x20xf32>, tensor<3x3xf32>) outs(%f : tensor<1x15x17x20xf32>) -> tensor<1x15x17x20xf32>
      return %r : tensor<1x15x17x20xf32>
    })");
  std::vector<float> x = randomFloats(15 * 17 * 20, 1), y(x.size(), NAN);
  kernel.run({CpuKernel::slot(x.data()), CpuKernel::slot(y.data())}, 2);
  for (int i = 0; i < 15; ++i)
    for (int j = 0; j < 17; ++j)
      for (int c = 0; c < 20; ++c) {
        double sum = 0;
        for (int p = std::max(0, i - 1); p < std::min(15, i + 2); ++p)
          for (int q = std::max(0, j - 1); q < std::min(17, j + 2); ++q)
            sum += 2.0 * x[(p * 17 + q) * 20 + c];
        ASSERT_NEAR(y[(i * 17 + j) * 20 + c], sum, 1e-5);
      }
}

TEST(CpuGraph, SeveralResultsOfOneChain) {
  CpuKernel kernel(R"(
    #id = affine_map<(a,b)->(a,b)>
    func.func @two(%x: tensor<300x400xf32>) -> (tensor<300x400xf32>, tensor<300x400xf32>) attributes {dg.kernel} {
      %e = tensor.empty() : tensor<300x400xf32>
      %a = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel"]} ins(%x : tensor<300x400xf32>) outs(%e : tensor<300x400xf32>) {
      ^bb0(%u: f32, %v: f32):
        %c = math.absf %u : f32
        linalg.yield %c : f32
      } -> tensor<300x400xf32>
      %b = linalg.generic {indexing_maps=[#id,#id,#id], iterator_types=["parallel","parallel"]} ins(%a, %x : tensor<300x400xf32>, tensor<300x400xf32>) outs(%e : tensor<300x400xf32>) {
      ^bb0(%u: f32, %w: f32, %v: f32):
        %c = arith.addf %u, %w : f32
        linalg.yield %c : f32
      } -> tensor<300x400xf32>
      return %a, %b : tensor<300x400xf32>, tensor<300x400xf32>
    })");
  std::vector<float> x = randomFloats(120000, 1), a(x.size(), NAN), b(x.size(), NAN);
  kernel(x.data(), a.data(), b.data());
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(a[i], std::abs(x[i]));
    ASSERT_EQ(b[i], std::abs(x[i]) + x[i]);
  }
}

TEST(CpuGraph, ArgMaxAlongRowsAndColumns) {
  const char *text = R"(
    #id = affine_map<(a,b)->(a,b)>
    #out = affine_map<(a,b)->(%s)>
    func.func @argmax(%%x: tensor<33x70xf32>) -> tensor<%dxi64> attributes {dg.kernel} {
      %%low = arith.constant 0xFF800000 : f32
      %%none = arith.constant 0 : i64
      %%ev = tensor.empty() : tensor<%dxf32>
      %%ei = tensor.empty() : tensor<%dxi64>
      %%fv = linalg.fill ins(%%low : f32) outs(%%ev : tensor<%dxf32>) -> tensor<%dxf32>
      %%fi = linalg.fill ins(%%none : i64) outs(%%ei : tensor<%dxi64>) -> tensor<%dxi64>
      %%r:2 = linalg.generic {indexing_maps=[#id,#out,#out], iterator_types=[%s]} ins(%%x : tensor<33x70xf32>) outs(%%fv, %%fi : tensor<%dxf32>, tensor<%dxi64>) {
      ^bb0(%%u: f32, %%v: f32, %%i: i64):
        %%k = linalg.index %d : index
        %%k64 = arith.index_cast %%k : index to i64
        %%better = arith.cmpf ogt, %%u, %%v : f32
        %%nv = arith.select %%better, %%u, %%v : f32
        %%ni = arith.select %%better, %%k64, %%i : i64
        linalg.yield %%nv, %%ni : f32, i64
      } -> (tensor<%dxf32>, tensor<%dxi64>)
      return %%r#1 : tensor<%dxi64>
    })";
  for (bool rows : {true, false}) {
    int n = rows ? 33 : 70;
    char buffer[4096];
    std::snprintf(buffer, sizeof buffer, text, rows ? "a" : "b", n, n, n, n, n, n, n,
                  rows ? "\"parallel\",\"reduction\"" : "\"reduction\",\"parallel\"", n, n, rows ? 1 : 0, n, n, n);
    CpuKernel kernel(buffer);
    std::vector<float> x = randomFloats(33 * 70, 1);
    std::vector<int64_t> y(n, -1);
    kernel(x.data(), y.data());
    for (int i = 0; i < n; ++i) {
      int best = 0;
      for (int j = 0; j < (rows ? 70 : 33); ++j)
        if (rows ? x[i * 70 + j] > x[i * 70 + best] : x[j * 70 + i] > x[best * 70 + i])
          best = j;
      ASSERT_EQ(y[i], best) << i;
    }
  }
}

// Programs must begin at multiples of 8, or each would read rows of its neighbour.
TEST(CpuGraph, NearestResizeByAnIndexMapWithDivision) {
  CpuKernel kernel(R"(func.func @resize(%x: tensor<1x20x25x24xf32>) -> tensor<1x160x200x24xf32> attributes {dg.kernel} {
      %e = tensor.empty() : tensor<1x160x200x24xf32>
      %r = linalg.generic {indexing_maps=[affine_map<(n,h,w,c)->(n, h floordiv 8, w floordiv 8, c)>, affine_map<(n,h,w,c)->(n,h,w,c)>],
        iterator_types=["parallel","parallel","parallel","parallel"]} ins(%x : tensor<1x20x25x24xf32>) outs(%e : tensor<1x160x200x24xf32>) {
      ^bb0(%a: f32, %b: f32):
        linalg.yield %a : f32
      } -> tensor<1x160x200x24xf32>
      return %r : tensor<1x160x200x24xf32>
    })");
  EXPECT_GT(kernel.grid[0], 1);
  std::vector<float> x = randomFloats(20 * 25 * 24, 1), y(160 * 200 * 24, NAN);
  kernel(x.data(), y.data());
  for (int i = 0; i < 160 * 200 * 24; ++i)
    ASSERT_EQ(y[i], x[(i / 4800 / 8 * 25 + i / 24 % 200 / 8) * 24 + i % 24]) << i;
}

TEST(CpuGraph, TransposesOfAnyOrderAndType) {
  for (std::array<int, 3> order : {std::array{2, 0, 1}, std::array{0, 2, 1}, std::array{2, 1, 0}, std::array{1, 0, 2}})
    for (std::string type : {"f32", "i8", "i64"}) {
      const std::array<int, 3> from = {7, 133, 39};
      std::string in = "tensor<7x133x39x" + type + ">", out = "tensor<", permutation;
      for (int i = 0; i < 3; ++i)
        out += std::to_string(from[order[i]]) + "x", permutation += (i ? ", " : "") + std::to_string(order[i]);
      out += type + ">";
      CpuKernel kernel("func.func @t(%x: " + in + ") -> " + out + " attributes {dg.kernel} {\n%e = tensor.empty() : " + out +
                       "\n%r = linalg.transpose ins(%x : " + in + ") outs(%e : " + out + ") permutation = [" + permutation +
                       "]\nreturn %r : " + out + "\n}");
      auto check = [&]<typename T>(T) {
        std::vector<T> x(7 * 133 * 39), y(x.size());
        for (size_t i = 0; i < x.size(); ++i)
          x[i] = T(i * 31);
        kernel(x.data(), y.data());
        std::array<int, 3> at;
        size_t i = 0;
        for (at[order[0]] = 0; at[order[0]] < from[order[0]]; ++at[order[0]])
          for (at[order[1]] = 0; at[order[1]] < from[order[1]]; ++at[order[1]])
            for (at[order[2]] = 0; at[order[2]] < from[order[2]]; ++at[order[2]], ++i)
              ASSERT_EQ(y[i], x[(at[0] * 133 + at[1]) * 39 + at[2]]) << type << " " << permutation << " " << i;
      };
      type == "f32" ? check(float()) : type == "i8" ? check(int8_t()) : check(int64_t());
    }
}

TEST(CpuGraph, TransposedAndBatchedProducts) {
  CpuKernel transposed(R"(func.func @t(%a: tensor<37x100xf32>, %b: tensor<45x100xf32>) -> tensor<37x45xf32> attributes {dg.kernel} {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<37x45xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37x45xf32>) -> tensor<37x45xf32>
      %r = linalg.generic {indexing_maps=[affine_map<(m,n,k)->(m,k)>, affine_map<(m,n,k)->(n,k)>, affine_map<(m,n,k)->(m,n)>], iterator_types=["parallel","parallel","reduction"]}
        ins(%a, %b : tensor<37x100xf32>, tensor<45x100xf32>) outs(%f : tensor<37x45xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %m = arith.mulf %x, %y : f32
        %s = arith.addf %z, %m : f32
        linalg.yield %s : f32
      } -> tensor<37x45xf32>
      return %r : tensor<37x45xf32>
    })");
  CpuKernel batched(R"(func.func @b(%a: tensor<5x37x30xf32>, %b: tensor<5x30x45xf32>) -> tensor<5x37x45xf32> attributes {dg.kernel} {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<5x37x45xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x37x45xf32>) -> tensor<5x37x45xf32>
      %r = linalg.batch_matmul ins(%a, %b : tensor<5x37x30xf32>, tensor<5x30x45xf32>) outs(%f : tensor<5x37x45xf32>) -> tensor<5x37x45xf32>
      return %r : tensor<5x37x45xf32>
    })");
  std::vector<float> a = randomFloats(5550, 1), b = randomFloats(6750, 2), c(37 * 45, NAN), d(5 * 37 * 45, NAN);
  transposed(a.data(), b.data(), c.data());
  batched(a.data(), b.data(), d.data());
  for (int i = 0; i < 37; ++i)
    for (int j = 0; j < 45; ++j) {
      double sum = 0;
      for (int k = 0; k < 100; ++k)
        sum += double(a[i * 100 + k]) * b[j * 100 + k];
      ASSERT_NEAR(c[i * 45 + j], sum, 1e-5);
      for (int n = 0; n < 5; ++n) {
        sum = 0;
        for (int k = 0; k < 30; ++k)
          sum += double(a[(n * 37 + i) * 30 + k]) * b[(n * 30 + k) * 45 + j];
        ASSERT_NEAR(d[(n * 37 + i) * 45 + j], sum, 1e-5);
      }
    }
}

TEST(CpuGraph, TableLookup) {
  CpuKernel kernel(R"(func.func @g(%t: tensor<100x32xf32>, %i: tensor<9xi64>) -> tensor<9x32xf32> attributes {dg.kernel} {
      %e = tensor.empty() : tensor<9x32xf32>
      %r = linalg.generic {indexing_maps=[affine_map<(a,b)->(a)>, affine_map<(a,b)->(a,b)>], iterator_types=["parallel","parallel"]} ins(%i : tensor<9xi64>) outs(%e : tensor<9x32xf32>) {
      ^bb0(%x: i64, %y: f32):
        %row = arith.index_cast %x : i64 to index
        %column = linalg.index 1 : index
        %v = tensor.extract %t[%row, %column] : tensor<100x32xf32>
        linalg.yield %v : f32
      } -> tensor<9x32xf32>
      return %r : tensor<9x32xf32>
    })");
  std::vector<float> t = randomFloats(3200, 1), y(9 * 32, NAN);
  std::vector<int64_t> rows = {5, 99, 0, 3, 3, 42, 77, 1, 98};
  kernel(t.data(), rows.data(), y.data());
  for (int i = 0; i < 9 * 32; ++i)
    ASSERT_EQ(y[i], t[rows[i / 32] * 32 + i % 32]);
}

TEST(CpuGraph, ArgumentReturnedThroughReshape) {
  CpuKernel kernel(R"(func.func @r(%x: tensor<6x35xf32>) -> (tensor<2x3x35xf32>, tensor<f32>) attributes {dg.kernel} {
      %zero = arith.constant 4.5 : f32
      %s = tensor.from_elements %zero : tensor<f32>
      %r = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 3, 35] : tensor<6x35xf32> into tensor<2x3x35xf32>
      return %r, %s : tensor<2x3x35xf32>, tensor<f32>
    })");
  std::vector<float> x = randomFloats(210, 1), y(210, NAN), s(1);
  kernel(x.data(), y.data(), s.data());
  EXPECT_EQ(x, y);
  EXPECT_EQ(s[0], 4.5f);
}
} // namespace
