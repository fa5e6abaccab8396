// SIZES: 4000 4000
// A tile put together from parts of others: padded, sliced with steps, reshaped, in seven dimensions.
func.func @k(%x: memref<?xf32>, %out: memref<?xf32>) attributes {dg.kernel, dg.grid = array<i64: 3, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c24 = arith.constant 24 : index
  %c700 = arith.constant 700 : index
  %seven = arith.constant 7.0 : f32
  %p = dg.program_id 0
  %at = arith.muli %p, %c700 : index
  %a = dg.load %x[%at] strides [%c24, %c1] lower [%c1, %c3] upper [%c5, %c24] fill %seven : f32 : memref<?xf32> -> tensor<6x30xf32>
  %pad = tensor.pad %a low[1, 2] high[2, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %seven : f32
  } : tensor<6x30xf32> to tensor<9x35xf32>
  %part = tensor.extract_slice %pad[1, 4] [4, 6] [2, 3] : tensor<9x35xf32> to tensor<4x6xf32>
  %deep = tensor.expand_shape %part [[0, 1, 2], [3, 4, 5, 6]] output_shape [2, 1, 2, 1, 3, 2, 1] : tensor<4x6xf32> into tensor<2x1x2x1x3x2x1xf32>
  %e = tensor.empty() : tensor<2x2x3x1x2x1x1xf32>
  %turned = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e, f, g) -> (a, d, b, f, c, e, g)>, affine_map<(a, b, c, d, e, f, g) -> (a, b, c, d, e, f, g)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%deep : tensor<2x1x2x1x3x2x1xf32>) outs(%e : tensor<2x2x3x1x2x1x1xf32>) {
  ^bb0(%v: f32, %o: f32):
    %d = arith.addf %v, %v : f32
    linalg.yield %d : f32
  } -> tensor<2x2x3x1x2x1x1xf32>
  %flat = tensor.collapse_shape %turned [[0, 1, 2, 3, 4, 5, 6]] : tensor<2x2x3x1x2x1x1xf32> into tensor<24xf32>
  %both = tensor.concat dim(0) %flat, %flat : (tensor<24xf32>, tensor<24xf32>) -> tensor<48xf32>
  dg.store %both, %out[%at] strides [%c1] : tensor<48xf32> -> memref<?xf32>
  return
}
