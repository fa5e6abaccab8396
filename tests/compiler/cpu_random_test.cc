// Random elementwise operations, contractions and reductions on the CPU target: odd extents, permuted, broadcast, windowed and
// divided index maps, in several types. Values are small integers, so that every order of summing is exact and results must be equal
// to those of evaluating the operation index by index, and nothing beside the result may change.
#include "tests/compiler/cpu_kernel.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace dougong;

namespace {
// One index of an operand: `scale · loop + other`, or `loop floordiv divisor`.
struct Index {
  int loop, scale = 1, other = -1, divisor = 1;
  int at(const std::vector<int> &i) const { return i[loop] / divisor * scale + (other < 0 ? 0 : i[other]); }
  std::string text() const {
    std::string d = "d" + std::to_string(loop);
    if (divisor > 1)
      return d + " floordiv " + std::to_string(divisor);
    return other < 0 ? d : d + " * " + std::to_string(scale) + " + d" + std::to_string(other);
  }
};

struct Operand {
  std::vector<Index> indices;
  std::vector<int> shape;
  int64_t count() const { return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>()); }
  int64_t at(const std::vector<int> &i) const {
    int64_t position = 0;
    for (size_t r = 0; r < indices.size(); ++r)
      position = position * shape[r] + indices[r].at(i);
    return position;
  }
  std::string type(const std::string &element) const {
    std::string text = "tensor<";
    for (int extent : shape)
      text += std::to_string(extent) + "x";
    return text + element + ">";
  }
  std::string map(int loops) const {
    std::string text = "affine_map<(";
    for (int d = 0; d < loops; ++d)
      text += (d ? ", d" : "d") + std::to_string(d);
    text += ") -> (";
    for (size_t r = 0; r < indices.size(); ++r)
      text += (r ? ", " : "") + indices[r].text();
    return text + ")>";
  }
};

struct Operation {
  std::vector<int> extents;
  std::vector<bool> reduction;
  std::vector<Operand> inputs;
  Operand output;
  std::vector<char> combine; // of an input with those before: '*', '+', '-'
  bool reduces = false, maximum = false;
};

Operation randomOperation(std::mt19937 &random) {
  auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  auto chance = [&](double p) { return std::bernoulli_distribution(p)(random); };
  const int sizes[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 24, 31, 33, 40, 64, 65, 100};
  Operation op;
  int loops = pick(1, 4);
  for (int d = 0, volume = 1; d < loops; ++d) {
    int extent = sizes[pick(0, 15)];
    op.extents.push_back(volume * extent > 200000 ? 3 : extent);
    volume *= op.extents.back();
    op.reduction.push_back(d > 0 && chance(0.35));
    op.reduces |= op.reduction.back();
  }
  auto operand = [&](std::vector<int> dims, bool plain) {
    Operand result;
    for (size_t i = 0; i < dims.size(); ++i) {
      Index index{dims[i]};
      int extent = op.extents[dims[i]];
      if (!plain && i + 1 < dims.size() && chance(0.2)) {
        index.scale = pick(1, 3);
        index.other = dims[++i];
        extent = (extent - 1) * index.scale + op.extents[index.other];
      } else if (!plain && chance(0.12)) {
        index.divisor = pick(0, 1) ? 2 : 4;
        extent = (extent - 1) / index.divisor + 1;
      }
      result.indices.push_back(index);
      result.shape.push_back(extent);
    }
    return result;
  };
  std::vector<int> parallel, all;
  for (int d = 0; d < loops; ++d) {
    all.push_back(d);
    if (!op.reduction[d])
      parallel.push_back(d);
  }
  for (int n = pick(1, 3); n > 0; --n) {
    std::vector<int> dims;
    for (int d : all)
      if (chance(0.75))
        dims.push_back(d);
    if (dims.empty())
      dims.push_back(0);
    if (chance(0.4))
      std::shuffle(dims.begin(), dims.end(), random);
    op.inputs.push_back(operand(dims, false));
  }
  op.inputs.push_back(operand(all, true)); // gives every loop its extent
  if (chance(0.3))
    std::shuffle(parallel.begin(), parallel.end(), random);
  op.output = operand(parallel, true);
  for (size_t i = 1; i < op.inputs.size(); ++i)
    op.combine.push_back("*+-"[pick(0, 2)]);
  op.maximum = chance(0.25);
  return op;
}

std::string textOf(const Operation &op, const std::string &name, const std::string &type) {
  bool isFloat = type[0] == 'f';
  std::string suffix = isFloat ? "f " : "i ", loops, maps, inputs, types, block, arguments, body, out = op.output.type(type), value = "%a0";
  for (bool reduction : op.reduction)
    loops += std::string(loops.empty() ? "" : ", ") + (reduction ? "\"reduction\"" : "\"parallel\"");
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    std::string n = std::to_string(i), comma = i ? ", " : "", own = op.inputs[i].type(type);
    arguments += comma + "%x" + n + ": " + own, inputs += comma + "%x" + n, types += comma + own;
    maps += op.inputs[i].map(op.extents.size()) + ", ", block += "%a" + n + ": " + type + ", ";
    if (i) {
      std::string word = op.combine[i - 1] == '*' ? "mul" : op.combine[i - 1] == '+' ? "add" : "sub";
      body += "%t" + n + " = arith." + word + suffix + value + ", %a" + n + " : " + type + "\n", value = "%t" + n;
    }
  }
  if (op.reduces)
    body += "%r = arith." + std::string(op.maximum ? (isFloat ? "maximumf " : "maxsi ") : "add" + suffix) + "%o, " + value + " : " + type +
            "\n",
        value = "%r";
  return "func.func @" + name + "(" + arguments + ") -> " + out + " attributes {dg.kernel} {\n%z = arith.constant " +
         (isFloat ? "0.0" : "0") + " : " + type + "\n%e = tensor.empty() : " + out + "\n%f = linalg.fill ins(%z : " + type +
         ") outs(%e : " + out + ") -> " + out + "\n%g = linalg.generic {indexing_maps = [" + maps + op.output.map(op.extents.size()) +
         "], iterator_types = [" + loops + "]} ins(" + inputs + " : " + types + ") outs(%f : " + out + ") {\n^bb0(" + block +
         "%o: " + type + "):\n" + body + "linalg.yield " + value + " : " + type + "\n} -> " + out + "\nreturn %g : " + out + "\n}\n";
}

template <typename T> void check(const Operation &op, CpuKernel &kernels, const std::string &name) {
  constexpr int64_t guard = 256;
  std::vector<std::vector<T>> inputs;
  std::vector<uint64_t> slots;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    inputs.emplace_back(op.inputs[i].count());
    for (size_t j = 0; j < inputs.back().size(); ++j)
      inputs.back()[j] = T(int((j * 2654435761u + i * 40503u) >> 13) % 5 - 2);
    slots.push_back(CpuKernel::slot(inputs.back().data()));
  }
  std::vector<T> expected(op.output.count() + 2 * guard, T(77)), result = expected;
  std::fill_n(expected.begin() + guard, op.output.count(), T(0));
  std::vector<int> i(op.extents.size(), 0);
  for (bool more = true; more;) {
    T value = inputs[0][op.inputs[0].at(i)], &sum = expected[guard + op.output.at(i)];
    for (size_t n = 1; n < inputs.size(); ++n) {
      T next = inputs[n][op.inputs[n].at(i)];
      value = op.combine[n - 1] == '*' ? T(value * next) : op.combine[n - 1] == '+' ? T(value + next) : T(value - next);
    }
    sum = !op.reduces ? value : op.maximum ? std::max(sum, value) : T(sum + value);
    size_t d = i.size();
    while (d > 0 && ++i[d - 1] == op.extents[d - 1])
      i[--d] = 0;
    more = d > 0;
  }
  slots.push_back(CpuKernel::slot(result.data() + guard));
  kernels.select(name);
  kernels.run(slots, 2);
  for (size_t j = 0; j < result.size(); ++j)
    ASSERT_EQ(result[j], expected[j]) << "element " << int64_t(j) - guard << " of\n" << textOf(op, name, "f32");
}

class Random : public testing::TestWithParam<const char *> {};
TEST_P(Random, OperationsEqualTheirDefinition) {
  std::mt19937 random(7);
  std::vector<Operation> ops;
  std::string text;
  const std::string types[] = {"f32", "i32", "i8"};
  for (int n = 0; n < 60; ++n) {
    ops.push_back(randomOperation(random));
    text += textOf(ops.back(), "k" + std::to_string(n), types[n % 3]);
  }
  CpuKernel kernels(text, 0, GetParam());
  for (int n = 0; n < 60; ++n) {
    std::string name = "k" + std::to_string(n);
    n % 3 == 0   ? check<float>(ops[n], kernels, name)
    : n % 3 == 1 ? check<int32_t>(ops[n], kernels, name)
                 : check<int8_t>(ops[n], kernels, name);
  }
}
INSTANTIATE_TEST_SUITE_P(CpuFeatures, Random, testing::Values("", withoutAvx512));
} // namespace
