#i = affine_map<(d0, d1) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>
func.func @k(%x: tensor<70x45xf32>) -> tensor<45x70xf32> attributes {dg.kernel} {
  %e = tensor.empty() : tensor<45x70xf32>
  %y = linalg.generic {indexing_maps = [#swap, #i], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<70x45xf32>) outs(%e : tensor<45x70xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  } -> tensor<45x70xf32>
  return %y : tensor<45x70xf32>
}
