// SIZES: 21000 35 7
// TOLERANCE: 1e-4
// Mean and variance of rows of 3000 elements, 256 at a time, the last block ragged; a scalar is carried beside the tiles.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @k(%x: memref<?xf32>, %out: memref<?xf32>, %last: memref<?xf32>) attributes {dg.kernel, dg.grid = array<i64: 7, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c256 = arith.constant 256 : index
  %n = arith.constant 3000 : index
  %zero = arith.constant 0.0 : f32
  %count = arith.constant dense<3000.0> : tensor<f32>
  %p = dg.program_id 0
  %base = arith.muli %p, %n : index
  %e0 = tensor.empty() : tensor<f32>
  %z = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %r:3 = scf.for %i = %c0 to %n step %c256 iter_args(%sum = %z, %squares = %z, %largest = %zero) -> (tensor<f32>, tensor<f32>, f32) {
    %at = arith.addi %base, %i : index
    %left = arith.subi %n, %i : index
    %t = dg.load %x[%at] strides [%c1] lower [%c0] upper [%left] : memref<?xf32> -> tensor<256xf32>
    %s:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%t : tensor<256xf32>) outs(%sum, %squares : tensor<f32>, tensor<f32>) {
    ^bb0(%a: f32, %o: f32, %q: f32):
      %n1 = arith.addf %a, %o : f32
      %aa = arith.mulf %a, %a : f32
      %n2 = arith.addf %aa, %q : f32
      linalg.yield %n1, %n2 : f32, f32
    } -> (tensor<f32>, tensor<f32>)
    %first = tensor.extract %t[%c0] : tensor<256xf32>
    %more = arith.maximumf %largest, %first : f32
    scf.yield %s#0, %s#1, %more : tensor<f32>, tensor<f32>, f32
  }
  %mean = arith.divf %r#0, %count : tensor<f32>
  %meansq = arith.divf %r#1, %count : tensor<f32>
  %mm = arith.mulf %mean, %mean : tensor<f32>
  %var = arith.subf %meansq, %mm : tensor<f32>
  %m5 = tensor.expand_shape %mean [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %v5 = tensor.expand_shape %var [] output_shape [1] : tensor<f32> into tensor<1xf32>
  %to = arith.muli %p, %c5 : index
  %to1 = arith.addi %to, %c1 : index
  dg.store %m5, %out[%to] strides [%c1] : tensor<1xf32> -> memref<?xf32>
  dg.store %v5, %out[%to1] strides [%c1] : tensor<1xf32> -> memref<?xf32>
  %l = tensor.splat %r#2 : tensor<1xf32>
  dg.store %l, %last[%p] strides [%c1] : tensor<1xf32> -> memref<?xf32>
  return
}
