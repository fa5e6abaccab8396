#p2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @k(%x: tensor<37x50xf32>) -> (tensor<37xf32>, tensor<37xi32>) attributes {dg.kernel} {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
  %e = tensor.empty() : tensor<37xf32>
  %ei = tensor.empty() : tensor<37xi32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<37xf32>) -> tensor<37xf32>
  %fi = linalg.fill ins(%none : i32) outs(%ei : tensor<37xi32>) -> tensor<37xi32>
  %m:2 = linalg.generic {indexing_maps = [#p2, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<37x50xf32>) outs(%f, %fi : tensor<37xf32>, tensor<37xi32>) {
  ^bb0(%v: f32, %best: f32, %at: i32):
    %j = linalg.index 1 : index
    %n = arith.index_cast %j : index to i32
    %more = arith.cmpf ogt, %v, %best : f32
    %b = arith.select %more, %v, %best : f32
    %a = arith.select %more, %n, %at : i32
    linalg.yield %b, %a : f32, i32
  } -> (tensor<37xf32>, tensor<37xi32>)
  return %m#0, %m#1 : tensor<37xf32>, tensor<37xi32>
}
