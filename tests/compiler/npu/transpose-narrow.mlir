#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#swap = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
func.func @k(%x: tensor<1x3x18x30xf32>) -> tensor<1x18x30x3xf16> attributes {dg.kernel} {
  %e = tensor.empty() : tensor<1x18x30x3xf16>
  %y = linalg.generic {indexing_maps = [#swap, #i], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x3x18x30xf32>) outs(%e : tensor<1x18x30x3xf16>) {
  ^bb0(%v: f32, %o: f16):
    %s = arith.truncf %v : f32 to f16
    linalg.yield %s : f16
  } -> tensor<1x18x30x3xf16>
  return %y : tensor<1x18x30x3xf16>
}
