// Sums of products of bytes, exact, added to what was there before.
func.func @k(%a: tensor<70x45xi8>, %b: tensor<45x90xi8>, %c: tensor<70x90xi32>) -> tensor<70x90xi32> attributes {dg.kernel} {
  %r = linalg.matmul ins(%a, %b : tensor<70x45xi8>, tensor<45x90xi8>) outs(%c : tensor<70x90xi32>) -> tensor<70x90xi32>
  return %r : tensor<70x90xi32>
}
