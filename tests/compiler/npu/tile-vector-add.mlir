// SIZES: 10000 10000 10000
func.func @k(%x: memref<?xf32>, %y: memref<?xf32>, %out: memref<?xf32>) attributes {dg.kernel, dg.grid = array<i64: 10, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 10000 : index
  %block = arith.constant 1024 : index
  %p = dg.program_id 0
  %at = arith.muli %p, %block : index
  %left = arith.subi %n, %at : index
  %a = dg.load %x[%at] strides [%c1] lower [%c0] upper [%left] : memref<?xf32> -> tensor<1024xf32>
  %b = dg.load %y[%at] strides [%c1] lower [%c0] upper [%left] : memref<?xf32> -> tensor<1024xf32>
  %s = arith.addf %a, %b : tensor<1024xf32>
  dg.store %s, %out[%at] strides [%c1] lower [%c0] upper [%left] : tensor<1024xf32> -> memref<?xf32>
  return
}
