// SIZES: 500 320 320 320
// RANGE: 0 9.9
#id = affine_map<(d0) -> (d0)>
func.func @k(%table: memref<?xf32>, %which: memref<?xi32>, %out: memref<?xf32>, %other: memref<?xf32>) attributes {dg.kernel, dg.grid = array<i64: 4, 1, 1>} {
  %c1 = arith.constant 1 : index
  %c80 = arith.constant 80 : index
  %limit = arith.constant dense<400> : tensor<80xi32>
  %p = dg.program_id 0
  %at = arith.muli %p, %c80 : index
  %offsets = dg.load %which[%at] strides [%c1] : memref<?xi32> -> tensor<80xi32>
  %low = arith.cmpi slt, %offsets, %limit : tensor<80xi32>
  %t = dg.gather %table[%offsets : tensor<80xi32>] mask %low : tensor<80xi1> : memref<?xf32> -> tensor<80xf32>
  dg.store %t, %out[%at] strides [%c1] : tensor<80xf32> -> memref<?xf32>
  %e = tensor.empty() : tensor<80xi32>
  %places = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<80xi32>) {
  ^bb0(%o: i32):
    %c79 = arith.constant 79 : index
    %i = linalg.index 0 : index
    %back = arith.subi %c79, %i : index
    %place = arith.addi %back, %at : index
    %v = arith.index_cast %place : index to i32
    linalg.yield %v : i32
  } -> tensor<80xi32>
  dg.scatter %t : tensor<80xf32>, %other[%places : tensor<80xi32>] mask %low : tensor<80xi1> : memref<?xf32>
  return
}
