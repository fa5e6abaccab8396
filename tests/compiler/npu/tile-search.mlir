// RANGE: 1 3
// TOLERANCE: 1e-6
// SIZES: 1000 20
// Newton's square root of each row's first element, as long as it moves, and a branch on the program.
func.func @k(%x: memref<?xf32>, %out: memref<?xf32>) attributes {dg.kernel, dg.grid = array<i64: 20, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c50 = arith.constant 50 : index
  %limit = arith.constant 60 : i32
  %step = arith.constant 1 : i32
  %start = arith.constant 0 : i32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %p = dg.program_id 0
  %at = arith.muli %p, %c50 : index
  %t = dg.load %x[%at] strides [%c1] : memref<?xf32> -> tensor<50xf32>
  %v = tensor.extract %t[%c0] : tensor<50xf32>
  %w:3 = scf.while (%g = %one, %n = %start, %keep = %t) : (f32, i32, tensor<50xf32>) -> (f32, i32, tensor<50xf32>) {
    %q = arith.divf %v, %g : f32
    %s = arith.addf %g, %q : f32
    %h = arith.mulf %s, %half : f32
    %moved = arith.cmpf une, %h, %g : f32
    %few = arith.cmpi slt, %n, %limit : i32
    %go = arith.andi %moved, %few : i1
    scf.condition(%go) %h, %n, %keep : f32, i32, tensor<50xf32>
  } do {
  ^bb0(%g: f32, %n: i32, %keep: tensor<50xf32>):
    %m = arith.addi %n, %step : i32
    %k = arith.addf %keep, %keep : tensor<50xf32>
    %k2 = arith.subf %k, %keep : tensor<50xf32>
    scf.yield %g, %m, %k2 : f32, i32, tensor<50xf32>
  }
  %odd = arith.remui %p, %c2 : index
  %isOdd = arith.cmpi eq, %odd, %c1 : index
  %r = scf.if %isOdd -> (tensor<1xf32>) {
    %a = tensor.splat %w#0 : tensor<1xf32>
    scf.yield %a : tensor<1xf32>
  } else {
    %a = tensor.extract_slice %w#2[3] [1] [1] : tensor<50xf32> to tensor<1xf32>
    scf.yield %a : tensor<1xf32>
  }
  dg.store %r, %out[%p] strides [%c1] : tensor<1xf32> -> memref<?xf32>
  return
}
