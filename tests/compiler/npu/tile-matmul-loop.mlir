// SIZES: 12000 9000 10800
// TOLERANCE: 1e-5
// 100x120 times 120x75, in blocks of 32x32, 32 steps of k at a time.
func.func @k(%a: memref<?xf16>, %b: memref<?xf16>, %c: memref<?xf16>) attributes {dg.kernel, dg.grid = array<i64: 12, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %m = arith.constant 100 : index
  %k = arith.constant 120 : index
  %n = arith.constant 75 : index
  %zero = arith.constant 0.0 : f32
  %p = dg.program_id 0
  %pm = arith.divui %p, %c3 : index
  %pn = arith.remui %p, %c3 : index
  %i = arith.muli %pm, %c32 : index
  %j = arith.muli %pn, %c32 : index
  %mleft = arith.subi %m, %i : index
  %nleft = arith.subi %n, %j : index
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %sum = scf.for %step = %c0 to %k step %c32 iter_args(%acc = %f) -> (tensor<32x32xf32>) {
    %kleft = arith.subi %k, %step : index
    %arow = arith.muli %i, %k : index
    %aat = arith.addi %arow, %step : index
    %x = dg.load %a[%aat] strides [%k, %c1] lower [%c0, %c0] upper [%mleft, %kleft] : memref<?xf16> -> tensor<32x32xf16>
    %brow = arith.muli %step, %n : index
    %bat = arith.addi %brow, %j : index
    %y = dg.load %b[%bat] strides [%n, %c1] lower [%c0, %c0] upper [%kleft, %nleft] : memref<?xf16> -> tensor<32x32xf16>
    %next = linalg.matmul ins(%x, %y : tensor<32x32xf16>, tensor<32x32xf16>) outs(%acc : tensor<32x32xf32>) -> tensor<32x32xf32>
    scf.yield %next : tensor<32x32xf32>
  }
  %out = arith.truncf %sum : tensor<32x32xf32> to tensor<32x32xf16>
  %crow = arith.muli %i, %n : index
  %cat = arith.addi %crow, %j : index
  dg.store %out, %c[%cat] strides [%n, %c1] lower [%c0, %c0] upper [%mleft, %nleft] : tensor<32x32xf16> -> memref<?xf16>
  return
}
