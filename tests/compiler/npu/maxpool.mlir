func.func @k(%x: tensor<1x21x30x40xf16>) -> tensor<1x11x15x40xf16> attributes {dg.kernel} {
  %low = arith.constant 0xFC00 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %low : f16
  } : tensor<1x21x30x40xf16> to tensor<1x23x32x40xf16>
  %win = tensor.empty() : tensor<3x3xf16>
  %e = tensor.empty() : tensor<1x11x15x40xf16>
  %f = linalg.fill ins(%low : f16) outs(%e : tensor<1x11x15x40xf16>) -> tensor<1x11x15x40xf16>
  %y = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %win : tensor<1x23x32x40xf16>, tensor<3x3xf16>) outs(%f : tensor<1x11x15x40xf16>) -> tensor<1x11x15x40xf16>
  return %y : tensor<1x11x15x40xf16>
}
