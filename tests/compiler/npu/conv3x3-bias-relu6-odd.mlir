#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @k(%x: tensor<2x13x17x24xf16>, %w: tensor<3x3x24x33xf16>, %b: tensor<33xf32>) -> tensor<2x13x17x33xf16> attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %hz = arith.constant 0.0 : f16
  %three = arith.constant 3.0 : f32
  %six = arith.constant 6.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %hz : f16
  } : tensor<2x13x17x24xf16> to tensor<2x15x19x24xf16>
  %e = tensor.empty() : tensor<2x13x17x33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x13x17x33xf32>) -> tensor<2x13x17x33xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<2x15x19x24xf16>, tensor<3x3x24x33xf16>) outs(%f : tensor<2x13x17x33xf32>) -> tensor<2x13x17x33xf32>
  %o = tensor.empty() : tensor<2x13x17x33xf16>
  %y = linalg.generic {indexing_maps = [#i, #c, #i], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%conv, %b : tensor<2x13x17x33xf32>, tensor<33xf32>) outs(%o : tensor<2x13x17x33xf16>) {
  ^bb0(%v: f32, %bias: f32, %unused: f16):
    %s = arith.addf %v, %bias : f32
    %u = arith.maximumf %s, %zero : f32
    %z = arith.minimumf %u, %six : f32
    %r16 = arith.truncf %z : f32 to f16
    linalg.yield %r16 : f16
  } -> tensor<2x13x17x33xf16>
  return %y : tensor<2x13x17x33xf16>
}
