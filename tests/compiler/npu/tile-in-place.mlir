// SIZES: 1000
func.func @k(%x: memref<?xf32>) attributes {dg.kernel, dg.grid = array<i64: 10, 1, 1>} {
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %p = dg.program_id 0
  %at = arith.muli %p, %c100 : index
  %t = dg.load %x[%at] strides [%c1] : memref<?xf32> -> tensor<100xf32>
  %d = arith.mulf %t, %t : tensor<100xf32>
  dg.store %d, %x[%at] strides [%c1] : tensor<100xf32> -> memref<?xf32>
  %again = dg.load %x[%at] strides [%c1] : memref<?xf32> -> tensor<100xf32>
  %s = arith.addf %again, %d : tensor<100xf32>
  dg.store %s, %x[%at] strides [%c1] : tensor<100xf32> -> memref<?xf32>
  return
}
