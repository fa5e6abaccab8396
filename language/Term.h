// What a name in a kernel stands for while it is compiled.
//
// Much of a kernel is decided at compile time (numbers, shapes, types, functions); those values live here, in C++. Tiles
// are tensors in the IR, but an integer tile that is an affine function of its indices, and a mask that is a box of them,
// are kept as such: they cost nothing, and they make the accesses built from them structured. `Emitter` turns them
// into tensors only where an operation needs the numbers.
#pragma once
#include "language/Syntax.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace dougong::language {

using Shape = llvm::SmallVector<int64_t, 3>;

struct DType {
  enum Kind { Void, Int, UInt, Float, BFloat, Fp8E4, Fp8E5 };
  Kind kind = Void;
  int bits = 0;
  bool operator==(const DType &other) const { return kind == other.kind && bits == other.bits; }
  bool isInt() const { return kind == Int || kind == UInt; }
  bool isFloat() const { return kind >= Float; }
  bool isBool() const { return isInt() && bits == 1; }
  std::string name() const;                                // "fp32", "i32", "u8", "bf16", "i1"
  static std::optional<DType> parse(llvm::StringRef name); // those, and the language's own: float32, int32, uint8, bfloat16, int1
};

// value[i0, …] = base + Σ_d strides_d · ((starts_d + i_d) mod moduli_d); all are IR values of type index. A null modulus: no wrapping.
struct Affine {
  mlir::Value base;
  llvm::SmallVector<mlir::Value, 3> strides, starts, moduli; // a null stride is 0
};

// mask[i0, …] = lower_d ≤ i_d < upper_d for every d; null: open.
struct Box {
  llvm::SmallVector<mlir::Value, 3> lower, upper;
};

// A scalar (no shape) or a tile of numbers.
struct Tile {
  DType type;
  Shape shape;
  mlir::Value value; // the number or the tensor; null while only `affine` or `box` says what it is
  std::optional<Affine> affine;
  std::optional<Box> box;
};

// A pointer or a tile of pointers: elements of one global array, at offsets (in elements).
struct Pointer {
  DType pointee;
  mlir::Value base; // memref<?xT>
  Tile offset;      // of type i64
};

// tl.make_block_ptr, tl.make_tensor_descriptor: a window into a strided array.
struct BlockPointer {
  Pointer base;
  llvm::SmallVector<mlir::Value, 3> extents, strides, offsets; // index
  Shape block;
  bool checksAlways = false; // a descriptor checks its bounds always, a block pointer where it is told to
};

struct Term {
  enum Kind { None, Bool, Int, Real, String, Type, Tuple, Tiled, Pointing, Block, Callee, Builtin, Namespace, Slice };
  Kind kind = None;
  int64_t integer = 0;          // Bool, Int
  double real = 0;              // Real
  std::string text = {};        // String; the name of a Builtin; the path of a Namespace
  DType type = {};              // Type
  bool pointerType = false;     // Type: a pointer to `type`
  std::vector<Term> items = {}; // Tuple; a Builtin's or Callee's `self` if it is a method
  Tile tile = {};               // Tiled
  Pointer pointer = {};         // Pointing
  BlockPointer block = {};      // Block
  const Function *callee = nullptr;

  bool isConstant() const { return kind == Bool || kind == Int || kind == Real; }
  bool isNumber() const { return isConstant() || kind == Tiled; }
  double asReal() const { return kind == Real ? real : static_cast<double>(integer); }

  static Term of(bool b) { return {.kind = Bool, .integer = b}; }
  static Term of(int64_t i) { return {.kind = Int, .integer = i}; }
  static Term of(double r) { return {.kind = Real, .real = r}; }
  static Term of(std::string s) { return {.kind = String, .text = std::move(s)}; }
  static Term of(DType t) { return {.kind = Type, .type = t}; }
  static Term of(Tile t) { return {.kind = Tiled, .tile = std::move(t)}; }
  static Term of(Pointer p) { return {.kind = Pointing, .pointer = std::move(p)}; }
  static Term of(BlockPointer p) { return {.kind = Block, .block = std::move(p)}; }
  static Term tuple(std::vector<Term> items) { return {.kind = Tuple, .items = std::move(items)}; }

  std::string describe() const; // for diagnostics: "a tile of 64x32 fp16", "the number 3"
};

// The IR values a value is made of, in a fixed order (null where a part is absent), and the way back: `rebuild` replaces them one by one.
llvm::SmallVector<mlir::Value> flatten(const Term &value);
Term rebuild(Term shape, llvm::ArrayRef<mlir::Value> parts);

} // namespace dougong::language
