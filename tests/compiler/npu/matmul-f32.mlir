// TOLERANCE: 1e-5
#p2 = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
func.func @k(%a: tensor<50x33xf32>, %b: tensor<33x70xf32>, %c: tensor<70xf32>) -> (tensor<50x70xf16>, tensor<50x70xf32>) attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x70xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<50x70xf32>) -> tensor<50x70xf32>
  %r = linalg.matmul ins(%a, %b : tensor<50x33xf32>, tensor<33x70xf32>) outs(%f : tensor<50x70xf32>) -> tensor<50x70xf32>
  %o = tensor.empty() : tensor<50x70xf16>
  %y = linalg.generic {indexing_maps = [#p2, #col, #p2], iterator_types = ["parallel", "parallel"]} ins(%r, %c : tensor<50x70xf32>, tensor<70xf32>) outs(%o : tensor<50x70xf16>) {
  ^bb0(%v: f32, %bias: f32, %unused: f16):
    %s = arith.addf %v, %bias : f32
    %u = arith.maximumf %s, %zero : f32
    %r16 = arith.truncf %u : f32 to f16
    linalg.yield %r16 : f16
  } -> tensor<50x70xf16>
  return %y, %r : tensor<50x70xf16>, tensor<50x70xf32>
}
