#p2 = affine_map<(d0, d1) -> (d0, d1)>
func.func @k(%x: tensor<6x5x9xf32>) -> tensor<5x40xf32> attributes {dg.kernel} {
  %flat = tensor.collapse_shape %x [[0], [1, 2]] : tensor<6x5x9xf32> into tensor<6x45xf32>
  %s = tensor.extract_slice %flat[1, 3] [5, 40] [1, 1] : tensor<6x45xf32> to tensor<5x40xf32>
  %e = tensor.empty() : tensor<5x40xf32>
  %y = linalg.generic {indexing_maps = [#p2, #p2], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<5x40xf32>) outs(%e : tensor<5x40xf32>) {
  ^bb0(%v: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.addi %i, %j : index
    %n = arith.index_cast %k : index to i32
    %f = arith.sitofp %n : i32 to f32
    %r = arith.mulf %v, %f : f32
    linalg.yield %r : f32
  } -> tensor<5x40xf32>
  return %y : tensor<5x40xf32>
}
