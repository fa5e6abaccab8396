// The less common shapes of kernels on the CPU target: fused chains, several results, odd index maps, control flow around tiles.
#include "tests/compiler/cpu_kernel.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace dougong;

namespace {
std::vector<float> randomFloats(size_t count, unsigned seed, float low = -1, float high = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> values(count);
  for (float &value : values)
    value = uniform(generator);
  return values;
}

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

TEST(CpuGraph, HalfStorageWithSingleArithmetic) {
  CpuKernel kernel(R"(
    #id = affine_map<(d0,d1)->(d0,d1)>
    func.func @h(%a: tensor<50x60xf16>, %b: tensor<60x70xf16>) -> tensor<50x70xf16> attributes {dg.kernel} {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<50x70xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<50x70xf32>) -> tensor<50x70xf32>
      %r = linalg.matmul ins(%a, %b : tensor<50x60xf16>, tensor<60x70xf16>) outs(%f : tensor<50x70xf32>) -> tensor<50x70xf32>
      %o = tensor.empty() : tensor<50x70xf16>
      %t = linalg.generic {indexing_maps=[#id,#id], iterator_types=["parallel","parallel"]} ins(%r : tensor<50x70xf32>) outs(%o : tensor<50x70xf16>) {
      ^bb0(%x: f32, %y: f16):
        %c = math.exp %x : f32
        %h = arith.truncf %c : f32 to f16
        linalg.yield %h : f16
      } -> tensor<50x70xf16>
      return %t : tensor<50x70xf16>
    })");
  std::vector<float> a = randomFloats(3000, 1), b = randomFloats(4200, 2);
  std::vector<_Float16> ha(a.begin(), a.end()), hb(b.begin(), b.end()), y(3500);
  kernel(ha.data(), hb.data(), y.data());
  for (int i = 0; i < 50; ++i)
    for (int j = 0; j < 70; ++j) {
      double sum = 0;
      for (int k = 0; k < 60; ++k)
        sum += double(ha[i * 60 + k]) * double(hb[k * 70 + j]);
      ASSERT_NEAR(double(y[i * 70 + j]), std::exp(sum), std::exp(sum) * 0.0006); // half a unit of f16, and f32's error
    }
}

TEST(CpuGraph, IntegersBooleansAndDivision) {
  CpuKernel kernel(R"(
    #id = affine_map<(d0)->(d0)>
    func.func @i(%a: tensor<1003xi32>, %b: tensor<1003xi32>) -> (tensor<1003xi32>, tensor<1003xi1>) attributes {dg.kernel} {
      %e = tensor.empty() : tensor<1003xi32>
      %g = tensor.empty() : tensor<1003xi1>
      %q = linalg.generic {indexing_maps=[#id,#id,#id], iterator_types=["parallel"]} ins(%a, %b : tensor<1003xi32>, tensor<1003xi32>) outs(%e : tensor<1003xi32>) {
      ^bb0(%x: i32, %y: i32, %z: i32):
        %d = arith.divsi %x, %y : i32
        linalg.yield %d : i32
      } -> tensor<1003xi32>
      %p = linalg.generic {indexing_maps=[#id,#id,#id], iterator_types=["parallel"]} ins(%a, %b : tensor<1003xi32>, tensor<1003xi32>) outs(%g : tensor<1003xi1>) {
      ^bb0(%x: i32, %y: i32, %z: i1):
        %d = arith.cmpi slt, %x, %y : i32
        linalg.yield %d : i1
      } -> tensor<1003xi1>
      return %q, %p : tensor<1003xi32>, tensor<1003xi1>
    })");
  std::vector<int32_t> a(1003), b(1003), q(1003);
  std::vector<uint8_t> p(1003, 7);
  for (int i = 0; i < 1003; ++i)
    a[i] = i * 7919 - 3000000, b[i] = i % 2 ? i + 1 : -i - 1;
  kernel(a.data(), b.data(), q.data(), p.data());
  for (int i = 0; i < 1003; ++i) {
    ASSERT_EQ(q[i], a[i] / b[i]);
    ASSERT_EQ(p[i], a[i] < b[i]);
  }
}

// Every function of the math dialect that has an elementwise meaning, in three types, against the host's libm in double precision.
TEST(CpuGraph, MathFunctions) {
  struct Function {
    const char *name;
    double (*reference)(double);
    double low, high;
  };
  const Function functions[] = {{"absf", std::fabs, -5, 5},
                                {"acos", std::acos, -1, 1},
                                {"acosh", std::acosh, 1, 9},
                                {"asin", std::asin, -1, 1},
                                {"asinh", std::asinh, -9, 9},
                                {"atan", std::atan, -9, 9},
                                {"atanh", std::atanh, -.9, .9},
                                {"cbrt", std::cbrt, -9, 9},
                                {"ceil", std::ceil, -9, 9},
                                {"cos", std::cos, -9, 9},
                                {"cosh", std::cosh, -5, 5},
                                {"erf", std::erf, -3, 3},
                                {"erfc", std::erfc, -2, 2},
                                {"exp", std::exp, -9, 9},
                                {"exp2", std::exp2, -9, 9},
                                {"expm1", std::expm1, -3, 3},
                                {"floor", std::floor, -9, 9},
                                {"log", std::log, .01, 99},
                                {"log10", std::log10, .01, 99},
                                {"log1p", std::log1p, -.9, 9},
                                {"log2", std::log2, .01, 99},
                                {"round", std::round, -9, 9},
                                {"roundeven", std::nearbyint, -9, 9},
                                {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, .1, 9},
                                {"sin", std::sin, -9, 9},
                                {"sinh", std::sinh, -5, 5},
                                {"sqrt", std::sqrt, 0, 9},
                                {"tan", std::tan, -1.5, 1.5},
                                {"tanh", std::tanh, -9, 9},
                                {"trunc", std::trunc, -9, 9}};
  std::string text = "#id = affine_map<(a)->(a)>\n";
  auto generic = [&](const std::string &name, const std::string &type, const std::string &body) {
    std::string tensor = "tensor<101x" + type + ">";
    text += "func.func @" + name + "_" + type + "(%a: " + tensor + ") -> " + tensor +
            " attributes {dg.kernel} {\n%e = tensor.empty() : " + tensor +
            "\n%r = linalg.generic {indexing_maps=[#id,#id], iterator_types=[\"parallel\"]} ins(%a : " + tensor + ") outs(%e : " + tensor +
            ") {\n^bb0(%x: " + type + ", %o: " + type + "):\n" + body + "\nlinalg.yield %y : " + type + "\n} -> " + tensor +
            "\nreturn %r : " + tensor + "\n}\n";
  };
  for (const Function &function : functions)
    for (std::string type : {"f32", "f64", "f16"})
      generic(function.name, type, "%y = math." + std::string(function.name) + " %x : " + type);
  generic("cube", "f32", "%n = arith.constant 3 : i32\n%y = math.fpowi %x, %n : f32, i32");
  generic("power", "f32", "%n = arith.constant 2.5 : f32\n%m = math.absf %x : f32\n%y = math.powf %m, %n : f32");
  generic("square", "i64", "%n = arith.constant 2 : i64\n%y = math.ipowi %x, %n : i64");
  generic("zeros", "i32", "%y = math.ctlz %x : i32");
  CpuKernel kernels(text);
  auto input = [](const Function &f, int i) { return f.low + (f.high - f.low) * i / 100; };
  for (const Function &f : functions) {
    std::vector<float> single(101), singles(101);
    std::vector<double> twice(101), twices(101);
    std::vector<_Float16> half(101), halves(101);
    for (int i = 0; i < 101; ++i)
      single[i] = twice[i] = input(f, i), half[i] = _Float16(input(f, i));
    kernels.call(f.name + std::string("_f32"), single.data(), singles.data());
    kernels.call(f.name + std::string("_f64"), twice.data(), twices.data());
    kernels.call(f.name + std::string("_f16"), half.data(), halves.data());
    for (int i = 0; i < 101; ++i) {
      double exact = f.reference(single[i]), exactly = f.reference(twice[i]), roughly = f.reference(double(half[i]));
      EXPECT_NEAR(singles[i], exact, 4e-6 * std::max(1.0, std::abs(exact))) << f.name << " of " << single[i];
      EXPECT_NEAR(twices[i], exactly, 1e-13 * std::max(1.0, std::abs(exactly))) << f.name << " of " << twice[i];
      if (std::isfinite(roughly))
        EXPECT_NEAR(double(halves[i]), roughly, 1.1e-3 * std::max(1.0, std::abs(roughly))) << f.name << " of " << double(half[i]);
    }
  }
  std::vector<float> x = randomFloats(101, 1, 0, 3), y(101), z(101);
  std::vector<int64_t> n(101), m(101);
  std::vector<int32_t> w(101), l(101);
  for (int i = 0; i < 101; ++i)
    n[i] = i - 50, w[i] = i * i;
  kernels.call("cube_f32", x.data(), y.data());
  kernels.call("power_f32", x.data(), z.data());
  kernels.call("square_i64", n.data(), m.data());
  kernels.call("zeros_i32", w.data(), l.data());
  for (int i = 0; i < 101; ++i) {
    EXPECT_NEAR(y[i], std::pow(x[i], 3), 1e-5);
    EXPECT_NEAR(z[i], std::pow(x[i], 2.5), 1e-5);
    EXPECT_EQ(m[i], n[i] * n[i]);
    EXPECT_EQ(l[i], w[i] ? __builtin_clz(w[i]) : 32);
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
