// TOLERANCE: 1e-5
func.func @k(%x: tensor<1x12x20x240xf16>, %w: tensor<5x5x240xf16>) -> tensor<1x6x10x240xf32> attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %hz = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 2, 2, 0] high[0, 2, 2, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %hz : f16
  } : tensor<1x12x20x240xf16> to tensor<1x16x24x240xf16>
  %e = tensor.empty() : tensor<1x6x10x240xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x6x10x240xf32>) -> tensor<1x6x10x240xf32>
  %y = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<1x16x24x240xf16>, tensor<5x5x240xf16>) outs(%f : tensor<1x6x10x240xf32>) -> tensor<1x6x10x240xf32>
  return %y : tensor<1x6x10x240xf32>
}
