// Writes the operations of one model into `@main`, on values that may be known already, and that may lie in memory in ONNX's order of
// dimensions or channels last. Importers of ops stand on this; they know nothing of layouts unless they ask.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "models/model_error.h"
#include "models/scalar.h"
#include <deque>
#include <functional>
#include <map>

namespace dougong::models {

// plain: dimensions in ONNX's order (NCHW). channels_last: dimension 1 moved behind the others (NHWC); rank 3 and up.
enum class Layout { plain, channels_last };

// A tensor of the model. Either its data is known at import, or it has been computed in one layout or both.
struct Value {
  ElementType type;
  Shape shape; // in ONNX's order whatever the layout
  std::shared_ptr<const Tensor> known;
  mlir::Value plain, channels_last;

  int64_t rank() const { return shape.size(); }
  int64_t elements() const { return element_count(shape); }
  bool is_channels_last() const { return channels_last && !plain; }
  mlir::Value held(Layout layout) const { return layout == Layout::plain ? plain : channels_last; }
};

// Data outside the IR: argument `dg.weight = i` of @main is element i.
struct Weight {
  std::string name;
  Tensor data;
};

class Emitter {
public:
  using Body = std::function<Scalar(llvm::ArrayRef<Scalar>)>;

  Emitter(mlir::MLIRContext &context, std::vector<Weight> &weights);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  mlir::ImplicitLocOpBuilder b;
  std::string node_name; // of what is being imported, for weights' names

  // Values
  Value *input(ElementType type, const Shape &shape);
  Value *known(Tensor tensor);
  Value *computed(mlir::Value value, ElementType type, Shape shape, Layout layout = Layout::plain);
  mlir::Value get(Value *value, Layout layout = Layout::plain);                    // in that layout, transposed if need be
  mlir::Value weight(Tensor data);                                                 // an argument of @main, or a splat
  void finish(llvm::ArrayRef<Value *> outputs, llvm::ArrayRef<std::string> names); // writes the return

  // What ops are made of. Inputs broadcast as numpy's; 16-bit floats are extended to f32 for the body and truncated after it.
  Value *elementwise(llvm::ArrayRef<Value *> inputs, ElementType type, const Body &body);
  Value *reduce(Value *x, std::vector<int64_t> axes, bool keep, ElementType accumulator, double start,
                const Body &combine); // combine({sum, x})
  // Each element from its indices; the body may read `tensors` through `element`.
  Value *indexed(const Shape &shape, ElementType type, llvm::ArrayRef<Value *> tensors, const Body &body);
  Scalar element(Value *tensor, llvm::ArrayRef<Scalar> indices);
  Value *convert(Value *x, ElementType type);
  Value *reshape(Value *x, Shape shape);
  Value *transpose(Value *x, llvm::ArrayRef<int64_t> permutation);
  Value *broadcast(Value *x, const Shape &shape);
  Value *slice(Value *x, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> steps, const Shape &shape);
  Value *concat(llvm::ArrayRef<Value *> parts, int64_t axis);
  Value *pad(Value *x, llvm::ArrayRef<int64_t> before, llvm::ArrayRef<int64_t> after, double value);
  Value *copy(Value *x); // in memory of its own

  // The same on MLIR's values, whose shape is that in memory.
  mlir::RankedTensorType tensor_type(llvm::ArrayRef<int64_t> shape, ElementType type);
  mlir::Value empty(llvm::ArrayRef<int64_t> shape, ElementType type);
  mlir::Value filled(llvm::ArrayRef<int64_t> shape, ElementType type, double value);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value pad(mlir::Value x, ElementType type, llvm::ArrayRef<int64_t> before, llvm::ArrayRef<int64_t> after, double value);
  // The body gets the inputs' elements, then the output's.
  mlir::Value generic(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<ElementType> types, llvm::ArrayRef<mlir::AffineMap> maps,
                      mlir::Value output, ElementType output_type, llvm::ArrayRef<mlir::utils::IteratorType> iterators, const Body &body);

  Layout preferred(llvm::ArrayRef<Value *> values) const; // so that nothing big is transposed
  // For each dimension in memory, ONNX's dimension; and the inverse.
  static std::vector<int64_t> stored_dimensions(Layout layout, int64_t rank);
  static std::vector<int64_t> positions(Layout layout, int64_t rank);
  static Shape stored_shape(Layout layout, llvm::ArrayRef<int64_t> shape);

private:
  struct Operand;
  std::optional<Tensor> fold_elementwise(llvm::ArrayRef<Value *> inputs, const Shape &shape, ElementType type, const Body &body);
  std::optional<Tensor> fold_reduction(Value *x, llvm::ArrayRef<int64_t> axes, const Shape &shape, ElementType accumulator, double start,
                                       const Body &combine);
  // Builds the body on constants and lets MLIR's own folders compute it; null if one cannot.
  mlir::TypedAttr fold(llvm::function_ref<Scalar(mlir::ImplicitLocOpBuilder &)> build);

  std::vector<Weight> &weights;
  std::deque<Value> values;
  std::map<std::pair<const Tensor *, int>, mlir::Value> materialised; // known data × layout (2: without unit dimensions)
};

Shape broadcast_shapes(const Shape &a, const Shape &b);

} // namespace dougong::models
