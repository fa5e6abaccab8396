// TOLERANCE: 1e-5
// Both operands transposed, the result too: rows and columns change places.
func.func @k(%a: tensor<37x52xf16>, %b: tensor<66x37xf16>) -> tensor<66x52xf32> attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<66x52xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<66x52xf32>) -> tensor<66x52xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n, m)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<37x52xf16>, tensor<66x37xf16>) outs(%f : tensor<66x52xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %wx = arith.extf %x : f16 to f32
    %wy = arith.extf %y : f16 to f32
    %p = arith.mulf %wx, %wy : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<66x52xf32>
  return %r : tensor<66x52xf32>
}
