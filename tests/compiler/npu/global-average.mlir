// TOLERANCE: 1e-5
#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#nc = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#p2 = affine_map<(d0, d1) -> (d0, d1)>
func.func @k(%x: tensor<2x12x9x70xf16>) -> tensor<2x70xf32> attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 108.0 : f32
  %e = tensor.empty() : tensor<2x70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x70xf32>) -> tensor<2x70xf32>
  %s = linalg.generic {indexing_maps = [#i, #nc], iterator_types = ["parallel", "reduction", "reduction", "parallel"]} ins(%x : tensor<2x12x9x70xf16>) outs(%f : tensor<2x70xf32>) {
  ^bb0(%v: f16, %a: f32):
    %w = arith.extf %v : f16 to f32
    %t = arith.addf %w, %a : f32
    linalg.yield %t : f32
  } -> tensor<2x70xf32>
  %q = linalg.generic {indexing_maps = [#p2, #p2], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<2x70xf32>) outs(%e : tensor<2x70xf32>) {
  ^bb0(%v: f32, %o: f32):
    %d = arith.divf %v, %n : f32
    linalg.yield %d : f32
  } -> tensor<2x70xf32>
  return %q : tensor<2x70xf32>
}
