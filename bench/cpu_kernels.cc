// Times kernels of the CPU target: `cpu_kernels THREADS matmul M K N | conv N H W C F KERNEL STRIDE | depthwise H W C KERNEL | softmax ROWS
// COLUMNS …` prints one line a kernel, "name seconds gigaflops compile-seconds", the best of several runs. `cpu_kernels.py` sets peers
// beside it.
#include "tests/compiler/cpu_kernel.h"
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace dougong;
using Clock = std::chrono::steady_clock;

namespace {
// Threads that wait busily, as a runtime's do between kernels.
class Pool {
public:
  explicit Pool(unsigned count) : count(count) {
    for (unsigned t = 1; t < count; ++t)
      threads.emplace_back([this] {
        for (uint64_t seen = 0;;) {
          uint64_t now = round.load(std::memory_order_acquire);
          if (now == seen)
            continue;
          seen = now;
          if (stop)
            return;
          work();
        }
      });
  }
  ~Pool() {
    stop = true;
    round.fetch_add(1, std::memory_order_release);
    for (std::thread &thread : threads)
      thread.join();
  }
  void run(CpuKernel::Entry kernel, const dg_launch *block) {
    entry = kernel, launch = block, programs = block->grid[0] * block->grid[1] * block->grid[2];
    done = 0;
    next.store(0, std::memory_order_release);
    round.fetch_add(1, std::memory_order_release);
    work();
    while (done.load(std::memory_order_acquire) < programs) { // a thread that never woke is not waited for
    }
  }

private:
  void work() {
    uint64_t chunk = std::max<uint64_t>(1, programs / (8 * count));
    for (uint64_t i; (i = next.fetch_add(chunk, std::memory_order_acq_rel)) < programs;) {
      entry(launch, i, std::min(i + chunk, programs), 1);
      done.fetch_add(std::min(i + chunk, programs) - i, std::memory_order_release);
    }
  }
  unsigned count;
  std::vector<std::thread> threads;
  std::atomic<uint64_t> round = 0, next = UINT64_MAX / 2, done = 0;
  bool stop = false;
  CpuKernel::Entry entry = nullptr;
  const dg_launch *launch = nullptr;
  uint64_t programs = 0;
};

std::string tensor(std::initializer_list<long> extents) {
  std::string text = "tensor<";
  for (long extent : extents)
    text += std::to_string(extent) + "x";
  return text + "f32>";
}

struct Case {
  std::string name, text;
  double flops;
  std::vector<size_t> sizes; // of arguments, then results, in floats
};

std::string filled(const std::string &type) {
  return "%zero = arith.constant 0.0 : f32\n%e = tensor.empty() : " + type + "\n%f = linalg.fill ins(%zero : f32) outs(%e : " + type +
         ") -> " + type + "\n";
}
// Bias and ReLU along the last dimension of a tensor of rank 2 or 4.
std::string epilogue(const std::string &type, const std::string &bias, int rank) {
  std::string dims = rank == 2 ? "(m,n)" : "(a,b,m,n)", id = "affine_map<" + dims + "->" + dims + ">", kinds;
  for (int i = 0; i < rank; ++i)
    kinds += i ? ",\"parallel\"" : "\"parallel\"";
  return "%r = linalg.generic {indexing_maps=[" + id + ",affine_map<" + dims + "->(n)>," + id + "], iterator_types=[" + kinds +
         "]} ins(%c, %b : " + type + ", " + bias + ") outs(%e : " + type +
         ") {\n^bb0(%u: f32, %v: f32, %w: f32):\n%s = arith.addf %u, %v : f32\n%t = arith.maximumf %s, %zero : f32\nlinalg.yield %t : "
         "f32\n} -> " +
         type + "\nreturn %r : " + type + "\n}";
}

Case matmul(long m, long k, long n) {
  std::string a = tensor({m, k}), b = tensor({k, n}), c = tensor({m, n});
  return {"matmul " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n),
          "func.func @k(%a: " + a + ", %b: " + b + ") -> " + c + " attributes {dg.kernel} {\n" + filled(c) +
              "%r = linalg.matmul ins(%a, %b : " + a + ", " + b + ") outs(%f : " + c + ") -> " + c + "\nreturn %r : " + c + "\n}",
          2.0 * m * k * n,
          {size_t(m * k), size_t(k * n), size_t(m * n)}};
}
Case convolution(long n, long h, long w, long c, long f, long kernel, long stride, bool depthwise) {
  long pad = kernel / 2, oh = (h + 2 * pad - kernel) / stride + 1, ow = (w + 2 * pad - kernel) / stride + 1;
  std::string x = tensor({n, h, w, c}), k = depthwise ? tensor({kernel, kernel, c}) : tensor({kernel, kernel, c, f}), b = tensor({f}),
              y = tensor({n, oh, ow, f}), p = tensor({n, h + 2 * pad, w + 2 * pad, c}), s = std::to_string(stride),
              pads = "0, " + std::to_string(pad) + ", " + std::to_string(pad) + ", 0";
  std::string op = depthwise ? "linalg.depthwise_conv_2d_nhwc_hwc" : "linalg.conv_2d_nhwc_hwcf";
  std::string padded = pad ? "%p = tensor.pad %x low[" + pads + "] high[" + pads +
                                 "] {\n^bb0(%i: index, %j: index, %l: index, %m: index):\ntensor.yield %zero : f32\n} : " + x + " to " + p +
                                 "\n"
                           : "";
  return {(depthwise ? "depthwise " : "conv ") + std::to_string(h) + "x" + std::to_string(w) + "x" + std::to_string(c) + "->" +
              std::to_string(f) + " k" + std::to_string(kernel) + " s" + s,
          "func.func @k(%x: " + x + ", %k: " + k + ", %b: " + b + ") -> " + y + " attributes {dg.kernel} {\n" + filled(y) + padded +
              "%c = " + op + " {strides = dense<" + s + "> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(" +
              (pad ? "%p" : "%x") + ", %k : " + (pad ? p : x) + ", " + k + ") outs(%f : " + y + ") -> " + y + "\n" + epilogue(y, b, 4),
          2.0 * n * oh * ow * f * kernel * kernel * (depthwise ? 1 : c),
          {size_t(n * h * w * c), size_t(kernel * kernel * f * (depthwise ? 1 : c)), size_t(f), size_t(n * oh * ow * f)}};
}
Case softmax(long rows, long columns) {
  std::string x = tensor({rows, columns});
  return {"softmax " + std::to_string(rows) + "x" + std::to_string(columns),
          "func.func @k(%x: " + x + ") -> " + x + " attributes {dg.kernel} {\n%e = tensor.empty() : " + x +
              "\n%r = linalg.softmax dimension(1) ins(%x : " + x + ") outs(%e : " + x + ") -> " + x + "\nreturn %r : " + x + "\n}",
          4.0 * rows * columns,
          {size_t(rows * columns), size_t(rows * columns)}};
}

void time(const Case &test, unsigned threads) {
  auto start = Clock::now();
  CpuKernel kernel(test.text);
  double compile = std::chrono::duration<double>(Clock::now() - start).count();
  std::vector<uint64_t> launch = {uint64_t(kernel.grid[0]), uint64_t(kernel.grid[1]), uint64_t(kernel.grid[2])};
  std::vector<std::vector<float>> buffers;
  for (size_t size : test.sizes) {
    buffers.emplace_back(size);
    for (size_t i = 0; i < size; ++i)
      buffers.back()[i] = std::sin(float(i));
    launch.push_back(CpuKernel::slot(buffers.back().data()));
  }
  Pool pool(threads);
  double best = 1e9, total = 0;
  for (int i = 0; i < 200 && total < 0.3; ++i) {
    auto before = Clock::now();
    pool.run(kernel.entry, reinterpret_cast<const dg_launch *>(launch.data()));
    double seconds = std::chrono::duration<double>(Clock::now() - before).count();
    best = std::min(best, seconds);
    total += seconds;
  }
  std::printf("%-32s %10.6f s %8.1f GFLOP/s  compiled in %.3f s, %ld programs\n", test.name.c_str(), best, test.flops / best / 1e9, compile,
              long(kernel.grid[0]));
  std::fflush(stdout);
}
} // namespace

int main(int count, char **words) {
  std::vector<std::string> rest(words + 1, words + count);
  size_t at = 0;
  auto number = [&] { return at < rest.size() ? std::strtol(rest[at++].c_str(), nullptr, 10) : 0; };
  unsigned threads = std::max(1l, number());
  while (at < rest.size()) {
    std::string kind = rest[at++];
    if (kind == "matmul") {
      long m = number(), k = number(), n = number();
      time(matmul(m, k, n), threads);
    } else if (kind == "conv") {
      long n = number(), h = number(), w = number(), c = number(), f = number(), kernel = number(), stride = number();
      time(convolution(n, h, w, c, f, kernel, stride, false), threads);
    } else if (kind == "depthwise") {
      long h = number(), w = number(), c = number(), kernel = number();
      time(convolution(1, h, w, c, c, kernel, 1, true), threads);
    } else if (kind == "softmax") {
      long rows = number(), columns = number();
      time(softmax(rows, columns), threads);
    } else {
      std::fprintf(stderr, "cpu_kernels: '%s' is no kernel; known are matmul, conv, depthwise, softmax\n", kind.c_str());
      return 2;
    }
  }
}
