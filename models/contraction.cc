// MatMul, Gemm and Einsum as linalg's matmul, batch_matmul, or a generic of that shape.
#include "models/contraction.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "models/convolution.h"
#include "models/op_table.h"
#include <algorithm>

namespace dougong::models {
using namespace mlir;
using utils::IteratorType;
namespace {

template <typename Op> Value *named(Emitter &e, Value *a, Value *b, const Shape &shape, ElementType accumulator) {
  mlir::Value start = e.filled(shape, accumulator, 0);
  SmallVector<mlir::Value> inputs{e.get(a), e.get(b)};
  return e.computed(Op::create(e.b, TypeRange(start.getType()), inputs, ValueRange(start)).getResult(0), accumulator, shape);
}

// Named operations extend their operands as signed; others are widened first.
Value *widened(Emitter &e, Value *x, ElementType accumulator) { return is_float(accumulator) ? x : e.convert(x, accumulator); }

int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

} // namespace

Value *matrix_product(Node &n, Value *a, Value *b, ElementType accumulator) {
  Emitter &e = n.e;
  if (a->rank() == 0 || b->rank() == 0)
    n.invalid("its inputs have shapes {} and {}", shape_text(a->shape), shape_text(b->shape));
  bool row = a->rank() == 1, column = b->rank() == 1;
  if (row)
    a = e.reshape(a, {1, a->shape[0]});
  if (column)
    b = e.reshape(b, {b->shape[0], 1});
  a = widened(e, a, accumulator), b = widened(e, b, accumulator);
  int64_t m = a->shape[a->rank() - 2], k = a->shape.back(), columns = b->shape.back();
  if (b->shape[b->rank() - 2] != k)
    n.invalid("shapes {} and {} do not multiply: {} columns, {} rows", shape_text(a->shape), shape_text(b->shape), k,
              b->shape[b->rank() - 2]);
  Shape batch_a(a->shape.begin(), a->shape.end() - 2), batch_b(b->shape.begin(), b->shape.end() - 2);
  Shape batch = broadcast_shapes(batch_a, batch_b), result = batch;
  int64_t rank = batch.size(), count = product(batch);
  result.push_back(m), result.push_back(columns);
  Value *output;
  if (product(batch_b) == 1) { // one matrix for all rows
    output = named<linalg::MatmulOp>(e, e.reshape(a, {count * m, k}), e.reshape(b, {k, columns}), {count * m, columns}, accumulator);
  } else if (batch_a == batch && batch_b == batch) {
    output =
        named<linalg::BatchMatmulOp>(e, e.reshape(a, {count, m, k}), e.reshape(b, {count, k, columns}), {count, m, columns}, accumulator);
  } else {
    auto map = [&](Value *x, bool left) {
      SmallVector<AffineExpr> exprs;
      int64_t skip = rank - (x->rank() - 2);
      for (int64_t d = 0; d < x->rank() - 2; ++d)
        exprs.push_back(x->shape[d] == 1 && batch[skip + d] != 1 ? e.b.getAffineConstantExpr(0) : e.b.getAffineDimExpr(skip + d));
      exprs.push_back(e.b.getAffineDimExpr(left ? rank : rank + 2));
      exprs.push_back(e.b.getAffineDimExpr(left ? rank + 2 : rank + 1));
      return AffineMap::get(rank + 3, 0, exprs, e.b.getContext());
    };
    SmallVector<AffineExpr> out;
    for (int64_t d = 0; d < rank + 2; ++d)
      out.push_back(e.b.getAffineDimExpr(d));
    SmallVector<IteratorType> iterators(rank + 3, IteratorType::parallel);
    iterators.back() = IteratorType::reduction;
    mlir::Value sum = e.generic({e.get(a), e.get(b)}, {a->type, b->type},
                                {map(a, true), map(b, false), AffineMap::get(rank + 3, 0, out, e.b.getContext())},
                                e.filled(result, accumulator, 0), accumulator, iterators,
                                [&](ArrayRef<Scalar> s) { return s[2] + convert(s[0], accumulator) * convert(s[1], accumulator); });
    output = e.computed(sum, accumulator, result);
  }
  if (row)
    result.erase(result.end() - 2);
  if (column)
    result.pop_back();
  return e.reshape(output, result);
}

namespace {

void import_matmul(Node &n) {
  Value *a = n[0], *b = n[1];
  n.set(0, n.e.convert(matrix_product(n, a, b, accumulator_for(a->type)), a->type));
}

void import_gemm(Node &n) {
  Emitter &e = n.e;
  Value *a = n[0], *b = n[1], *c = n.optional(2);
  if (a->rank() != 2 || b->rank() != 2)
    n.invalid("its inputs have shapes {} and {}", shape_text(a->shape), shape_text(b->shape));
  if (n.integer("transA", 0))
    a = e.transpose(a, {1, 0});
  if (n.integer("transB", 0))
    b = e.transpose(b, {1, 0});
  double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  Value *product = matrix_product(n, a, b, accumulator_for(a->type));
  if (!c || beta == 0)
    return n.set(0, e.elementwise({product}, n[0]->type, [&](ArrayRef<Scalar> s) { return alpha == 1 ? s[0] : s[0] * alpha; }));
  n.set(0, e.elementwise({product, c}, n[0]->type, [&](ArrayRef<Scalar> s) {
    Scalar scaled = alpha == 1 ? s[0] : s[0] * alpha, bias = convert(s[1], s[0].type);
    return scaled + (beta == 1 ? bias : bias * beta);
  }));
}

// Einsum: one loop a letter, products of all inputs summed over the letters that the output lacks.
void import_einsum(Node &n) {
  Emitter &e = n.e;
  std::string equation = n.text("equation", "");
  std::erase(equation, ' ');
  std::vector<Value *> inputs = n.inputs();
  std::string right;
  bool explicit_output = equation.find("->") != std::string::npos;
  std::string left = equation.substr(0, equation.find("->"));
  if (explicit_output)
    right = equation.substr(equation.find("->") + 2);
  std::vector<std::string> terms;
  for (size_t at = 0; at <= left.size();) {
    size_t comma = std::min(left.find(',', at), left.size());
    terms.push_back(left.substr(at, comma - at));
    at = comma + 1;
  }
  if (terms.size() != inputs.size())
    n.invalid("equation '{}' has {} terms for {} inputs", equation, terms.size(), inputs.size());
  // "..." stands for the dimensions that the letters leave, aligned at the last: written here as digits 9, 8, … from the right.
  int64_t most = 0;
  for (size_t i = 0; i < terms.size(); ++i)
    if (size_t dots = terms[i].find("..."); dots != std::string::npos) {
      int64_t rest = inputs[i]->rank() - int64_t(terms[i].size() - 3);
      std::string digits;
      for (int64_t d = rest; d-- > 0;)
        digits += char('9' - d);
      most = std::max(most, rest);
      terms[i].replace(dots, 3, digits);
    }
  std::string ellipsis;
  for (int64_t d = most; d-- > 0;)
    ellipsis += char('9' - d);
  if (!explicit_output) {
    std::map<char, int> seen;
    for (const std::string &term : terms)
      for (char letter : term)
        ++seen[letter];
    right = ellipsis;
    for (auto [letter, count] : seen)
      if (count == 1 && !std::isdigit(letter))
        right += letter;
  } else if (size_t dots = right.find("..."); dots != std::string::npos) {
    right.replace(dots, 3, ellipsis);
  }
  std::map<char, int64_t> extent;
  std::string loops = right;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (int64_t(terms[i].size()) != inputs[i]->rank())
      n.invalid("equation '{}': term '{}' for an input of shape {}", equation, terms[i], shape_text(inputs[i]->shape));
    for (size_t d = 0; d < terms[i].size(); ++d) {
      int64_t &known = extent.try_emplace(terms[i][d], 1).first->second;
      known = std::max(known, inputs[i]->shape[d]);
      if (loops.find(terms[i][d]) == std::string::npos)
        loops += terms[i][d];
    }
  }
  ElementType type = inputs[0]->type, accumulator = accumulator_for(type);
  SmallVector<mlir::Value> memory;
  SmallVector<ElementType> types;
  SmallVector<AffineMap> maps;
  for (size_t i = 0; i < terms.size(); ++i) {
    SmallVector<AffineExpr> exprs;
    for (size_t d = 0; d < terms[i].size(); ++d)
      exprs.push_back(inputs[i]->shape[d] == 1 && extent[terms[i][d]] > 1 ? e.b.getAffineConstantExpr(0)
                                                                          : e.b.getAffineDimExpr(loops.find(terms[i][d])));
    maps.push_back(AffineMap::get(loops.size(), 0, exprs, e.b.getContext()));
    memory.push_back(e.get(inputs[i]));
    types.push_back(type);
  }
  SmallVector<AffineExpr> out;
  Shape shape;
  for (size_t d = 0; d < right.size(); ++d) {
    if (!extent.count(right[d]))
      n.invalid("equation '{}': no input has '{}'", equation, right[d]);
    out.push_back(e.b.getAffineDimExpr(d));
    shape.push_back(extent[right[d]]);
  }
  maps.push_back(AffineMap::get(loops.size(), 0, out, e.b.getContext()));
  SmallVector<IteratorType> iterators(loops.size(), IteratorType::reduction);
  std::fill(iterators.begin(), iterators.begin() + right.size(), IteratorType::parallel);
  mlir::Value sum = e.generic(memory, types, maps, e.filled(shape, accumulator, 0), accumulator, iterators, [&](ArrayRef<Scalar> s) {
    Scalar term = convert(s[0], accumulator);
    for (size_t i = 1; i < memory.size(); ++i)
      term = term * convert(s[i], accumulator);
    return s.back() + term;
  });
  n.set(0, e.convert(e.computed(sum, accumulator, shape), type));
}

} // namespace

OpFamily contraction_ops() {
  static constexpr OpImporter list[] = {
      {"MatMul", import_matmul},
      {"Gemm", import_gemm},
      {"Einsum", import_einsum},
  };
  return list;
}

} // namespace dougong::models
