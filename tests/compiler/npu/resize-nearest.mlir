#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#half = affine_map<(d0, d1, d2, d3) -> (d0, d1 floordiv 2, d2 floordiv 2, d3)>
func.func @k(%x: tensor<1x9x14x24xf16>, %r: tensor<1x18x28x24xf16>) -> tensor<1x18x28x24xf16> attributes {dg.kernel} {
  %e = tensor.empty() : tensor<1x18x28x24xf16>
  %y = linalg.generic {indexing_maps = [#half, #i, #i], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %r : tensor<1x9x14x24xf16>, tensor<1x18x28x24xf16>) outs(%e : tensor<1x18x28x24xf16>) {
  ^bb0(%v: f16, %a: f16, %o: f16):
    %s = arith.addf %v, %a : f16
    linalg.yield %s : f16
  } -> tensor<1x18x28x24xf16>
  return %y : tensor<1x18x28x24xf16>
}
