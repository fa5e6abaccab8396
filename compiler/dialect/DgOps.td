//===-- The dg dialect: what upstream has no word for (D7) ----------------===//
//
// Program ids, and structured or gathered access to global memory. Both front ends meet here: the operator language
// writes these operations itself, and tiling turns a kernel on whole tensors into them (`compiler/tile`).
//
// Global memory is a `memref<?xT>`: a base pointer to elements of T, of unknown extent. Everything else about an access
// (offset, sizes, strides, bounds) stands in the operation, so that it stays structured to the end.
//
//===----------------------------------------------------------------------===//

#ifndef DOUGONG_DIALECT_DG_OPS
#define DOUGONG_DIALECT_DG_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Dialect/Arith/IR/ArithBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dg_Dialect : Dialect {
  let name = "dg";
  let cppNamespace = "::dougong::dg";
  let summary = "Programs of a grid, and their access to global memory.";
}

class Dg_Op<string mnemonic, list<Trait> traits = []> : Op<Dg_Dialect, mnemonic, traits>;

def Dg_GlobalMemory : MemRefRankOf<[AnyType], [1]>;
def Dg_Index : Variadic<Index>;

//===-- Programs ----------------------------------------------------------===//

def Dg_ProgramIdOp : Dg_Op<"program_id", [Pure]> {
  let summary = "The index of this program instance along one axis (0 = x, 1 = y, 2 = z) of the launch's grid.";
  let arguments = (ins I32Attr:$axis);
  let results = (outs Index:$id);
  let assemblyFormat = "$axis attr-dict";
}

def Dg_NumProgramsOp : Dg_Op<"num_programs", [Pure]> {
  let summary = "The extent of the launch's grid along one axis.";
  let arguments = (ins I32Attr:$axis);
  let results = (outs Index:$count);
  let assemblyFormat = "$axis attr-dict";
}

//===-- Structured access -------------------------------------------------===//

def Dg_LoadOp : Dg_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "A tile of global memory, as a tensor of static shape.";
  let description = [{
    Element (i0, …, ir) is `base[offset + Σ i_d · strides_d]` where `lower_d ≤ i_d < upper_d` for every dimension d, and
    `fill` elsewhere. All numbers count elements. `lower` and `upper` are either both empty (every element is in
    bounds) or give one index a dimension; they may lie outside [0, size], and an empty range reads nothing. Memory outside the bounds is never touched.
    `fill` absent means zero.

    A dimension may wrap: where `moduli_d` is not 0, index i_d stands for `(starts_d + i_d) mod moduli_d` in the address (never in the
    bounds). `starts` and `moduli` are either both empty or give one index a dimension.

    ```mlir
    %t = dg.load %base[%offset] strides [%s, %c1] lower [%c0, %c0] upper [%m, %n] fill %zero : f16
         : memref<?xf16> -> tensor<64x128xf16>
    ```
  }];
  let arguments = (ins Arg<Dg_GlobalMemory, "read", [MemRead]>:$base, Index:$offset, Dg_Index:$strides, Dg_Index:$lower, Dg_Index:$upper,
                       Optional<AnyType>:$fill, Dg_Index:$starts, Dg_Index:$moduli);
  let results = (outs AnyStaticShapeTensor:$tile);
  let assemblyFormat = [{
    $base `[` $offset `]` `strides` `[` $strides `]` (`lower` `[` $lower^ `]` `upper` `[` $upper `]`)?
    (`fill` $fill^ `:` type($fill))? (`starts` `[` $starts^ `]` `moduli` `[` $moduli `]`)? attr-dict `:` type($base) `->` type($tile)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$tile, "::mlir::Value":$base, "::mlir::Value":$offset, "::mlir::ValueRange":$strides,
                                 "::mlir::ValueRange":$lower, "::mlir::ValueRange":$upper, CArg<"::mlir::Value", "{}">:$fill), [{
    build($_builder, $_state, tile, base, offset, strides, lower, upper, fill, ::mlir::ValueRange(), ::mlir::ValueRange());
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isBounded() { return !getLower().empty(); }
    bool isWrapped() { return !getModuli().empty(); }
    ::mlir::RankedTensorType getTileType() { return ::mlir::cast<::mlir::RankedTensorType>(getTile().getType()); }
  }];
}

def Dg_StoreOp : Dg_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "Writes a tile to global memory.";
  let description = [{
    As `dg.load`, in the other direction: elements out of bounds are not written. Two stores of one launch that write the
    same element, from different programs, are a race unless they write the same value.
  }];
  let arguments = (ins AnyStaticShapeTensor:$tile, Arg<Dg_GlobalMemory, "written", [MemWrite]>:$base, Index:$offset, Dg_Index:$strides,
                       Dg_Index:$lower, Dg_Index:$upper);
  let assemblyFormat = [{
    $tile `,` $base `[` $offset `]` `strides` `[` $strides `]` (`lower` `[` $lower^ `]` `upper` `[` $upper `]`)?
    attr-dict `:` type($tile) `->` type($base)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isBounded() { return !getLower().empty(); }
    ::mlir::RankedTensorType getTileType() { return ::mlir::cast<::mlir::RankedTensorType>(getTile().getType()); }
  }];
}

//===-- Gathered access ---------------------------------------------------===//

def Dg_GatherOp : Dg_Op<"gather", [AttrSizedOperandSegments]> {
  let summary = "Elements of global memory at computed offsets: tile[i] = mask[i] ? base[offsets[i]] : other[i].";
  let arguments = (ins Arg<Dg_GlobalMemory, "read", [MemRead]>:$base, AnyStaticShapeTensor:$offsets, Optional<AnyStaticShapeTensor>:$mask,
                       Optional<AnyStaticShapeTensor>:$other);
  let results = (outs AnyStaticShapeTensor:$tile);
  let assemblyFormat = [{
    $base `[` $offsets `:` type($offsets) `]` oilist(`mask` $mask `:` type($mask) | `other` $other `:` type($other)) attr-dict `:` type($base) `->` type($tile)
  }];
}

def Dg_ScatterOp : Dg_Op<"scatter", []> {
  let summary = "Writes elements at computed offsets: if mask[i], base[offsets[i]] = tile[i].";
  let arguments = (ins AnyStaticShapeTensor:$tile, Arg<Dg_GlobalMemory, "written", [MemWrite]>:$base, AnyStaticShapeTensor:$offsets,
                       Optional<AnyStaticShapeTensor>:$mask);
  let assemblyFormat = [{
    $tile `:` type($tile) `,` $base `[` $offsets `:` type($offsets) `]` (`mask` $mask^ `:` type($mask))? attr-dict `:` type($base)
  }];
}

def Dg_AtomicOp : Dg_Op<"atomic", [AttrSizedOperandSegments]> {
  let summary = "Changes elements of global memory at computed offsets, each in one step, and gives what they were.";
  let description = [{
    `if mask[i]: old[i] = base[offsets[i]]; base[offsets[i]] = kind(old[i], values[i])`, where no other program's access comes between the
    two. With `expected` (of kind `assign`), the element changes only where it equals `expected[i]`. Where the mask is clear `old[i]` is 0.
    A program's accesses before it are done when it begins, and those behind it begin after it: locks are made of it.
  }];
  let arguments = (ins AtomicRMWKindAttr:$kind, AnyStaticShapeTensor:$values, Arg<Dg_GlobalMemory, "changed", [MemRead, MemWrite]>:$base,
                       AnyStaticShapeTensor:$offsets, Optional<AnyStaticShapeTensor>:$mask, Optional<AnyStaticShapeTensor>:$expected);
  let results = (outs AnyStaticShapeTensor:$old);
  let assemblyFormat = [{
    $kind $values `:` type($values) `,` $base `[` $offsets `:` type($offsets) `]`
    oilist(`mask` $mask `:` type($mask) | `expected` $expected `:` type($expected)) attr-dict `:` type($base) `->` type($old)
  }];
  let hasVerifier = 1;
}

#endif
