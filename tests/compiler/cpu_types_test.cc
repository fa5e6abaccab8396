// Element types on the CPU target: 16-bit storage, integers, booleans, and every function of the math dialect.
#include "tests/compiler/cpu_kernel.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace dougong;

namespace {
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
} // namespace
