// TOLERANCE: 1e-5
func.func @k(%a: tensor<5x20x15xf16>, %b: tensor<5x15x40xf16>) -> tensor<5x20x40xf32> attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x20x40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x20x40xf32>) -> tensor<5x20x40xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<5x20x15xf16>, tensor<5x15x40xf16>) outs(%f : tensor<5x20x40xf32>) -> tensor<5x20x40xf32>
  return %r : tensor<5x20x40xf32>
}
