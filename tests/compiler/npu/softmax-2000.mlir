#p2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @k(%x: tensor<3x2000xf16>) -> tensor<3x2000xf16> attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %re = tensor.empty() : tensor<3xf32>
  %we = tensor.empty() : tensor<3x2000xf32>
  %xe = tensor.empty() : tensor<3x2000xf16>
  %f0 = linalg.fill ins(%low : f32) outs(%re : tensor<3xf32>) -> tensor<3xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%re : tensor<3xf32>) -> tensor<3xf32>
  %m = linalg.generic {indexing_maps = [#p2, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x2000xf16>) outs(%f0 : tensor<3xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %s = arith.maximumf %w, %o : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  %e = linalg.generic {indexing_maps = [#p2, #row, #p2], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<3x2000xf16>, tensor<3xf32>) outs(%we : tensor<3x2000xf32>) {
  ^bb0(%a: f16, %b: f32, %o: f32):
    %w = arith.extf %a : f16 to f32
    %d = arith.subf %w, %b : f32
    %s = math.exp %d : f32
    linalg.yield %s : f32
  } -> tensor<3x2000xf32>
  %s = linalg.generic {indexing_maps = [#p2, #row], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<3x2000xf32>) outs(%f1 : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<3xf32>
  %q = linalg.generic {indexing_maps = [#p2, #row, #p2], iterator_types = ["parallel", "parallel"]} ins(%e, %s : tensor<3x2000xf32>, tensor<3xf32>) outs(%xe : tensor<3x2000xf16>) {
  ^bb0(%a: f32, %b: f32, %o: f16):
    %d = arith.divf %a, %b : f32
    %t = arith.truncf %d : f32 to f16
    linalg.yield %t : f16
  } -> tensor<3x2000xf16>
  return %q : tensor<3x2000xf16>
}
