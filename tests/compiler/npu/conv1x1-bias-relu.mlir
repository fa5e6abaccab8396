#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @k(%x: tensor<1x20x24x16xf16>, %w: tensor<1x1x16x40xf16>, %b: tensor<40xf32>) -> tensor<1x20x24x40xf16> attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %hz = arith.constant 0.0 : f16
  %three = arith.constant 3.0 : f32
  %six = arith.constant 6.0 : f32
  %e = tensor.empty() : tensor<1x20x24x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x20x24x40xf32>) -> tensor<1x20x24x40xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x20x24x16xf16>, tensor<1x1x16x40xf16>) outs(%f : tensor<1x20x24x40xf32>) -> tensor<1x20x24x40xf32>
  %o = tensor.empty() : tensor<1x20x24x40xf16>
  %y = linalg.generic {indexing_maps = [#i, #c, #i], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%conv, %b : tensor<1x20x24x40xf32>, tensor<40xf32>) outs(%o : tensor<1x20x24x40xf16>) {
  ^bb0(%v: f32, %bias: f32, %unused: f16):
    %s = arith.addf %v, %bias : f32
    %z = arith.maximumf %s, %zero : f32
    %r16 = arith.truncf %z : f32 to f16
    linalg.yield %r16 : f16
  } -> tensor<1x20x24x40xf16>
  return %y : tensor<1x20x24x40xf16>
}
