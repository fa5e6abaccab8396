// Names of types, descriptions of values, and their parts.
#include "language/Term.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace dougong::language;

std::string DType::name() const {
  switch (kind) {
  case Void:
    return "void";
  case Int:
    return fmt::format("i{}", bits);
  case UInt:
    return fmt::format("u{}", bits);
  case Float:
    return fmt::format("fp{}", bits);
  case BFloat:
    return "bf16";
  case Fp8E4:
    return "fp8e4nv";
  case Fp8E5:
    return "fp8e5";
  }
  return "?";
}

std::optional<DType> DType::parse(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<DType>>(name)
      .Cases({"i1", "int1"}, DType{Int, 1})
      .Cases({"i8", "int8"}, DType{Int, 8})
      .Cases({"i16", "int16"}, DType{Int, 16})
      .Cases({"i32", "int32"}, DType{Int, 32})
      .Cases({"i64", "int64"}, DType{Int, 64})
      .Cases({"u8", "uint8"}, DType{UInt, 8})
      .Cases({"u16", "uint16"}, DType{UInt, 16})
      .Cases({"u32", "uint32"}, DType{UInt, 32})
      .Cases({"u64", "uint64"}, DType{UInt, 64})
      .Cases({"fp16", "float16", "f16"}, DType{Float, 16})
      .Cases({"bf16", "bfloat16"}, DType{BFloat, 16})
      .Cases({"fp32", "float32", "f32"}, DType{Float, 32})
      .Cases({"fp64", "float64", "f64"}, DType{Float, 64})
      .Cases({"fp8e4nv", "float8e4nv"}, DType{Fp8E4, 8})
      .Cases({"fp8e5", "float8e5"}, DType{Fp8E5, 8})
      .Default(std::nullopt);
}

static std::string describeTile(const DType &type, const Shape &shape, const char *scalar, const char *many) {
  if (shape.empty())
    return fmt::format("{} {}", scalar, type.name());
  return fmt::format("a tile of {} {}{}", fmt::join(shape, "x"), many, type.name());
}

std::string Term::describe() const {
  switch (kind) {
  case None:
    return "None";
  case Bool:
    return integer ? "True" : "False";
  case Int:
    return fmt::format("the number {}", integer);
  case Real:
    return fmt::format("the number {}", real);
  case String:
    return fmt::format("the string \"{}\"", text);
  case Type:
    return fmt::format("the type {}{}", pointerType ? "*" : "", type.name());
  case Tuple:
    return fmt::format("a tuple of {}", items.size());
  case Tiled:
    return describeTile(tile.type, tile.shape, "a scalar", "");
  case Pointing:
    return describeTile(pointer.pointee, pointer.offset.shape, "a pointer to", "pointers to ");
  case Block:
    return fmt::format("a block pointer to {} {}", fmt::join(block.block, "x"), block.base.pointee.name());
  case Callee:
    return fmt::format("the function {}", callee->name);
  case Builtin:
    return fmt::format("the function {}", text);
  case Namespace:
    return fmt::format("the module {}", text);
  case Slice:
    return "a slice";
  }
  return "?";
}

// Visits every IR value that `value` holds, in an order that depends on its structure only.
static void visit(Term &value, llvm::function_ref<void(mlir::Value &)> each) {
  auto tile = [&](Tile &t) {
    each(t.value);
    if (t.affine) {
      each(t.affine->base);
      for (auto *part : {&t.affine->strides, &t.affine->starts, &t.affine->moduli})
        for (mlir::Value &v : *part)
          each(v);
    }
    if (t.box)
      for (auto *part : {&t.box->lower, &t.box->upper})
        for (mlir::Value &v : *part)
          each(v);
  };
  auto pointer = [&](Pointer &p) {
    each(p.base);
    tile(p.offset);
  };
  if (value.kind == Term::Tuple)
    for (Term &item : value.items)
      visit(item, each);
  if (value.kind == Term::Tiled)
    tile(value.tile);
  if (value.kind == Term::Pointing)
    pointer(value.pointer);
  if (value.kind == Term::Block) {
    pointer(value.block.base);
    for (auto *part : {&value.block.extents, &value.block.strides, &value.block.offsets})
      for (mlir::Value &v : *part)
        each(v);
  }
}

llvm::SmallVector<mlir::Value> dougong::language::flatten(const Term &value) {
  llvm::SmallVector<mlir::Value> parts;
  Term copy = value;
  visit(copy, [&](mlir::Value &v) { parts.push_back(v); });
  return parts;
}

Term dougong::language::rebuild(Term shape, llvm::ArrayRef<mlir::Value> parts) {
  size_t at = 0;
  visit(shape, [&](mlir::Value &v) { v = parts[at++]; });
  return shape;
}
