// SIZES: 4000 400
// TOLERANCE: 1e-5
// A tile of partial sums and a scalar count, carried by a loop with a branch in it.
func.func @k(%x: memref<?xf32>, %out: memref<?xf32>) attributes {dg.kernel, dg.grid = array<i64: 4, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c100 = arith.constant 100 : index
  %c1000 = arith.constant 1000 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %p = dg.program_id 0
  %base = arith.muli %p, %c1000 : index
  %e = tensor.empty() : tensor<100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
  %sum, %count = scf.for %i = %c0 to %c10 step %c1 iter_args(%acc = %f, %n = %zero) -> (tensor<100xf32>, f32) {
    %row = arith.muli %i, %c100 : index
    %at = arith.addi %base, %row : index
    %t = dg.load %x[%at] strides [%c1] : memref<?xf32> -> tensor<100xf32>
    %early = arith.cmpi slt, %i, %c5 : index
    %next = scf.if %early -> (tensor<100xf32>) {
      %a = arith.addf %acc, %t : tensor<100xf32>
      scf.yield %a : tensor<100xf32>
    } else {
      %a = arith.subf %acc, %t : tensor<100xf32>
      scf.yield %a : tensor<100xf32>
    }
    %m = arith.addf %n, %one : f32
    scf.yield %next, %m : tensor<100xf32>, f32
  }
  %ns = tensor.splat %count : tensor<100xf32>
  %mean = arith.divf %sum, %ns : tensor<100xf32>
  %to = arith.muli %p, %c100 : index
  dg.store %mean, %out[%to] strides [%c1] : tensor<100xf32> -> memref<?xf32>
  return
}
