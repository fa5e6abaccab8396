#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @k(%x: tensor<1x14x14x32xf16>, %w: tensor<3x3x32x32xf16>, %b: tensor<32xf32>, %r: tensor<1x14x14x32xf16>) -> tensor<1x14x14x32xf16> attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %hz = arith.constant 0.0 : f16
  %three = arith.constant 3.0 : f32
  %six = arith.constant 6.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %hz : f16
  } : tensor<1x14x14x32xf16> to tensor<1x16x16x32xf16>
  %e = tensor.empty() : tensor<1x14x14x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<1x16x16x32xf16>, tensor<3x3x32x32xf16>) outs(%f : tensor<1x14x14x32xf32>) -> tensor<1x14x14x32xf32>
  %o = tensor.empty() : tensor<1x14x14x32xf16>
  %y = linalg.generic {indexing_maps = [#i, #c, #i, #i], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%conv, %b, %r : tensor<1x14x14x32xf32>, tensor<32xf32>, tensor<1x14x14x32xf16>) outs(%o : tensor<1x14x14x32xf16>) {
  ^bb0(%v: f32, %bias: f32, %res: f16, %unused: f16):
    %s = arith.addf %v, %bias : f32
    %wide = arith.extf %res : f16 to f32
    %q = arith.addf %s, %wide : f32
    %z = arith.maximumf %q, %zero : f32
    %r16 = arith.truncf %z : f32 to f16
    linalg.yield %r16 : f16
  } -> tensor<1x14x14x32xf16>
  return %y : tensor<1x14x14x32xf16>
}
