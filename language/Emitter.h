// Runs a kernel's source symbolically, and writes the tile form as it goes.
//
// Functions.cpp: the kernel's parameters, calls of device functions.  Statements.cpp, Loops.cpp, Carried.h: control flow.
// Expressions.cpp: names, operators, attributes.  Arithmetic.cpp: types, promotion, elementwise operations, affine tiles.
// Memory.cpp: pointers, loads, stores, atomics.  Builtins.cpp: the table of the language's functions.  Math.cpp: elementwise ones.
// library.py: those that are written in the language.  Reductions.cpp: dot, reductions, shape operations.  Scans.cpp: reductions and scans
// by the user's functions. Rearrangements.cpp: what moves elements within tiles.
#pragma once
#include "compiler/dialect/Dg.h"
#include "language/Kernel.h"
#include "language/Library.h"
#include "language/Module.h"
#include "language/Term.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <fmt/format.h>

namespace dougong::language {

using Scope = std::map<std::string, Term>;

class Emitter {
public:
  Emitter(Source &source, Module &module, mlir::MLIRContext &context) : source(source), user(&module), module(&module), builder(&context) {}

  // The function in tile form inside `into`; null after diagnostics.
  mlir::func::FuncOp kernel(mlir::ModuleOp into, const std::string &name, const Signature &signature,
                            std::vector<LaunchArgument> &arguments);

private:
  using Arguments = std::vector<Term>; // of a function of the table, one a parameter

  // --- places
  struct At { // while it lives, IR and diagnostics carry this place
    At(Emitter &e, Position where) : e(e), before(e.position), beforeLoc(e.loc) { e.move(where); }
    ~At() {
      e.position = before;
      e.loc = beforeLoc;
    }
    Emitter &e;
    Position before;
    mlir::Location beforeLoc;
  };
  void move(Position where);
  [[noreturn]] void fail(std::string message) {
    source.error(position, std::move(message));
    throw Abandon();
  }

  // --- Functions.cpp
  std::vector<Term> bindKernel(const Function &function, const Signature &signature, mlir::func::FuncOp func,
                               std::vector<LaunchArgument> &arguments);
  Term call(const Function &function, std::vector<Term> arguments, std::vector<std::pair<std::string, Term>> named);
  Term elsewhere(const Expr &e, Module *home);

  // --- Statements.cpp
  void statements(const language::Block &body);
  void statement(const Stmt &s, const language::Block &body, size_t &index);
  void assign(const Expr &target, Term value);
  void conditional(const Stmt &s, const language::Block &body, size_t &index);
  void exitEarly(const Stmt &s, mlir::Value condition, const language::Block &body, size_t &index);
  void branches(const Stmt &s, mlir::Value condition);

  // --- Loops.cpp
  void loop(const Stmt &s);
  void countedLoop(const Stmt &s, const std::string &variable, Term from, Term to, Term step);
  void whileLoop(const Stmt &s);
  bool adapt(const std::string &name, Term &initial, const Term &model);

  // --- Carried.cpp
  void trial(llvm::function_ref<void()> emit);
  Term agree(const Term &value, const Term &model); // value in the structure that model has
  Term plain(const Term &value);                    // with tiles as tensors and numbers as scalars: what can always be carried

  // --- Expressions.cpp
  Term expression(const Expr &e);
  Term name(const Expr &e);
  Term languageFunction(const std::string &name);
  Term attribute(const Expr &e);
  Term attributeOf(Term object, const std::string &name);
  Term subscript(const Expr &e);
  Term callExpression(const Expr &e);
  Term unary(const std::string &op, Term value);
  Term binary(const std::string &op, Term left, Term right);
  Term compare(const std::string &op, Term left, Term right);
  Term foldConstants(const std::string &op, const Term &left, const Term &right);
  Term truth(Term value); // a constant Bool, or a scalar i1
  std::optional<bool> known(const Term &value);

  // --- Arithmetic.cpp
  mlir::Type typeOf(DType type);
  mlir::Type typeOf(DType type, const Shape &shape);
  mlir::Value index(int64_t value);
  mlir::Value asIndex(const Term &value); // of a scalar integer
  mlir::Value add(mlir::Value a, mlir::Value b), multiply(mlir::Value a, mlir::Value b), subtract(mlir::Value a, mlir::Value b);
  Tile constantTile(const Term &number, DType type, const Shape &shape = {});
  Tile toTile(const Term &value, std::optional<DType> like = std::nullopt);
  mlir::Value tensor(const Tile &tile); // the numbers, computed where they were only described
  Tile cast(const Tile &tile, DType type);
  Tile bitcast(const Tile &tile, DType type);
  Tile broadcast(const Tile &tile, const Shape &shape);
  Tile expandDims(const Tile &tile, size_t axis);
  Shape commonShape(const Shape &a, const Shape &b);
  std::pair<Tile, Tile> alike(Term left, Term right, bool division = false); // promoted to one type and shape
  std::optional<Affine> affineOf(const Tile &tile);                          // scalars too
  Tile arithmetic(const std::string &op, Tile left, Tile right);
  std::optional<Tile> affineArithmetic(const std::string &op, const Term &left, const Term &right);
  std::optional<Tile> boxComparison(const std::string &op, const Term &left, const Term &right);
  mlir::Value elementwise(llvm::ArrayRef<mlir::Value> inputs, mlir::Type element,
                          llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)> body);

  // --- Memory.cpp
  Pointer advance(const Pointer &pointer, const Term &by, bool backwards);
  Term load(const Pointer &pointer, const Term &mask, const Term &other);
  void store(const Pointer &pointer, const Term &value, const Term &mask);
  Term atomicBuiltin(const std::string &, Arguments &);
  Term loadBlock(const BlockPointer &pointer, const Term &checked, bool padNan);
  void storeBlock(const BlockPointer &pointer, const Term &value, const Term &checked);
  struct Window { // what a dg.load and a dg.store have in common
    mlir::Value base, offset;
    llvm::SmallVector<mlir::Value> strides, lower, upper, starts, moduli;
  };
  std::optional<Window> window(const Pointer &pointer, const Tile *mask);
  Window windowOf(const BlockPointer &pointer, const Term &checked);
  Tile loadWindow(const Window &w, DType type, const Shape &shape, mlir::Value fill);
  void storeWindow(const Window &w, const Tile &tile);
  Tile memoryForm(const Tile &tile, bool toMemory); // i1 in memory is a byte

  // --- Builtins.cpp
  using Builtin = Term (Emitter::*)(const std::string &name, Arguments &arguments);
  struct BuiltinEntry {
    const char *names;      // "exp exp2 …"
    const char *parameters; // "pointer mask=None other=None …"
    Builtin function;
  };
  static const std::vector<BuiltinEntry> &builtins();
  static const BuiltinEntry *findBuiltin(llvm::StringRef name);
  Term callBuiltin(const std::string &name, std::vector<Term> arguments, std::vector<std::pair<std::string, Term>> named);
  Term programBuiltin(const std::string &, Arguments &), createBuiltin(const std::string &, Arguments &),
      memoryBuiltin(const std::string &, Arguments &);
  Term blockBuiltin(const std::string &, Arguments &), mathBuiltin(const std::string &, Arguments &),
      binaryMathBuiltin(const std::string &, Arguments &);
  Term whereBuiltin(const std::string &, Arguments &), clampBuiltin(const std::string &, Arguments &),
      fmaBuiltin(const std::string &, Arguments &), umulhiBuiltin(const std::string &, Arguments &);
  Term castBuiltin(const std::string &, Arguments &), shapeBuiltin(const std::string &, Arguments &),
      transposeBuiltin(const std::string &, Arguments &), broadcastBuiltin(const std::string &, Arguments &);
  Term reduceBuiltin(const std::string &, Arguments &), dotBuiltin(const std::string &, Arguments &);
  Term hintBuiltin(const std::string &, Arguments &), checkBuiltin(const std::string &, Arguments &),
      pythonBuiltin(const std::string &, Arguments &);
  int64_t constantInt(const Term &value, const char *what);
  Shape constantShape(const Term &value, const char *what);
  DType dtypeOf(const Term &value, const char *what);

  // --- Scans.cpp
  Term reduceByBuiltin(const std::string &, Arguments &), scanBuiltin(const std::string &, Arguments &);
  std::vector<Tile> combined(const Term &function, const std::vector<Tile> &left, const std::vector<Tile> &right);
  std::vector<Tile> alongAxis(const std::string &name, const Term &input, const Term &function, std::optional<int64_t> &axis);
  std::string knownReduction(const Term &function, DType type);
  Tile slice(const Tile &tile, int64_t axis, int64_t offset, int64_t size);
  Tile withSlice(const Tile &whole, const Tile &part, int64_t axis, int64_t offset);

  // --- Rearrangements.cpp
  Term joinBuiltin(const std::string &, Arguments &), splitBuiltin(const std::string &, Arguments &),
      gatherBuiltin(const std::string &, Arguments &);
  Term flipBuiltin(const std::string &, Arguments &), sortBuiltin(const std::string &, Arguments &),
      histogramBuiltin(const std::string &, Arguments &);
  int64_t constantAxis(const Term &value, const Tile &tile, const std::string &name);
  mlir::Value
  overPairs(llvm::ArrayRef<mlir::Value> byI, llvm::ArrayRef<mlir::Value> byJ, const Shape &shape, mlir::Type element, bool sum,
            llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange, mlir::Value, mlir::Value)> body);
  Tile sortKey(const Tile &tile);
  Tile sorted(const Tile &tile, int64_t kept, bool descending);

  // --- Reductions.cpp
  Tile reduce(const std::string &kind, const Tile &tile, std::optional<int64_t> axis, bool keepDims);
  Term argReduce(const std::string &kind, const Tile &tile, int64_t axis, bool keepDims);
  Tile dot(const Tile &a, const Tile &b, const Term &accumulator, DType outType);
  Tile permute(const Tile &tile, llvm::ArrayRef<int64_t> order);
  Tile reshape(const Tile &tile, const Shape &shape);
  mlir::Value filled(mlir::Type element, const Shape &shape, mlir::Value value);

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return builder.createOrFold<Op>(loc, std::forward<Args>(args)...);
  }

  Source &source;
  Source librarySource{"dougong.language", libraryText()};
  Module library{librarySource};
  Module *user, *module; // the user's file; the one whose code is being emitted: that or the library
  mlir::OpBuilder builder;
  mlir::Location loc = builder.getUnknownLoc();
  Position position;
  Scope scope;
  int callDepth = 0;
  bool inKernel = true;         // in the kernel's own body, where a return needs no value
  std::optional<Term> returned; // set by `return`: the rest of the function is skipped
};

} // namespace dougong::language
