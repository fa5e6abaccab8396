#i = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @k(%x: tensor<1x33x35x3xf16>, %w: tensor<3x3x3x16xf16>, %b: tensor<16xf32>) -> tensor<1x17x18x16xf16> attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %hz = arith.constant 0.0 : f16
  %three = arith.constant 3.0 : f32
  %six = arith.constant 6.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %hz : f16
  } : tensor<1x33x35x3xf16> to tensor<1x35x37x3xf16>
  %e = tensor.empty() : tensor<1x17x18x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x17x18x16xf32>) -> tensor<1x17x18x16xf32>
  %conv = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<1x35x37x3xf16>, tensor<3x3x3x16xf16>) outs(%f : tensor<1x17x18x16xf32>) -> tensor<1x17x18x16xf32>
  %o = tensor.empty() : tensor<1x17x18x16xf16>
  %y = linalg.generic {indexing_maps = [#i, #c, #i], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%conv, %b : tensor<1x17x18x16xf32>, tensor<16xf32>) outs(%o : tensor<1x17x18x16xf16>) {
  ^bb0(%v: f32, %bias: f32, %unused: f16):
    %s = arith.addf %v, %bias : f32
    %t = arith.addf %s, %three : f32
    %u = arith.maximumf %t, %zero : f32
    %m = arith.minimumf %u, %six : f32
    %z = arith.mulf %s, %m : f32
    %r16 = arith.truncf %z : f32 to f16
    linalg.yield %r16 : f16
  } -> tensor<1x17x18x16xf16>
  return %y : tensor<1x17x18x16xf16>
}
