// SIZES: 300 640
// Rows taken modulo 30: they wrap around inside a block.
func.func @k(%x: memref<?xf32>, %out: memref<?xf32>) attributes {dg.kernel, dg.grid = array<i64: 4, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c16 = arith.constant 16 : index
  %c30 = arith.constant 30 : index
  %block = arith.constant 160 : index
  %p = dg.program_id 0
  %start = arith.muli %p, %c16 : index
  %at = arith.muli %p, %block : index
  %t = dg.load %x[%c0] strides [%c10, %c1] starts [%start, %c0] moduli [%c30, %c0] : memref<?xf32> -> tensor<16x10xf32>
  %d = arith.addf %t, %t : tensor<16x10xf32>
  dg.store %d, %out[%at] strides [%c10, %c1] : tensor<16x10xf32> -> memref<?xf32>
  return
}

func.func @reference(%x: memref<?xf32>, %out: memref<?xf32>) attributes {dg.kernel, dg.grid = array<i64: 4, 1, 1>} {
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c16 = arith.constant 16 : index
  %c30 = arith.constant 30 : index
  %block = arith.constant 160 : index
  %p = dg.program_id 0
  %start = arith.muli %p, %c16 : index
  %at = arith.muli %p, %block : index
  %e = tensor.empty() : tensor<16x10xi32>
  %offsets = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x10xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.addi %start, %i : index
    %wrapped = arith.remui %row, %c30 : index
    %line = arith.muli %wrapped, %c10 : index
    %place = arith.addi %line, %j : index
    %v = arith.index_cast %place : index to i32
    linalg.yield %v : i32
  } -> tensor<16x10xi32>
  %t = dg.gather %x[%offsets : tensor<16x10xi32>] : memref<?xf32> -> tensor<16x10xf32>
  %d = arith.addf %t, %t : tensor<16x10xf32>
  dg.store %d, %out[%at] strides [%c10, %c1] : tensor<16x10xf32> -> memref<?xf32>
  return
}
