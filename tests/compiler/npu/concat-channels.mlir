func.func @k(%x: tensor<1x9x8x24xf16>, %y: tensor<1x9x8x17xf16>) -> tensor<1x9x8x65xf16> attributes {dg.kernel} {
  %r = tensor.concat dim(3) %x, %y, %x : (tensor<1x9x8x24xf16>, tensor<1x9x8x17xf16>, tensor<1x9x8x24xf16>) -> tensor<1x9x8x65xf16>
  return %r : tensor<1x9x8x65xf16>
}
