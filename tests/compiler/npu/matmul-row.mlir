// TOLERANCE: 1e-5
#p2 = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @k(%a: tensor<1x120xf16>, %b: tensor<120x513xf16>, %c: tensor<513xf32>) -> (tensor<1x513xf16>, tensor<1x513xf32>) attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x513xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x513xf32>) -> tensor<1x513xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1x120xf16>, tensor<120x513xf16>) outs(%f : tensor<1x513xf32>) -> tensor<1x513xf32>
  %o = tensor.empty() : tensor<1x513xf16>
  %y = linalg.generic {indexing_maps = [#p2, #col, #p2], iterator_types = ["parallel", "parallel"]} ins(%r, %c : tensor<1x513xf32>, tensor<513xf32>) outs(%o : tensor<1x513xf16>) {
  ^bb0(%v: f32, %bias: f32, %unused: f16):
    %s = arith.addf %v, %bias : f32
    %u = arith.maximumf %s, %zero : f32
    %r16 = arith.truncf %u : f32 to f16
    linalg.yield %r16 : f16
  } -> tensor<1x513xf16>
  return %y, %r : tensor<1x513xf16>, tensor<1x513xf32>
}
