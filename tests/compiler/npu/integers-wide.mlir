#id = affine_map<(d0) -> (d0)>
func.func @k(%x: tensor<133xi64>, %y: tensor<133xi64>) -> tensor<133xi64> attributes {dg.kernel} {
  %e = tensor.empty() : tensor<133xi64>
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<133xi64>, tensor<133xi64>) outs(%e : tensor<133xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %s = arith.muli %a, %b : i64
    %t = arith.maxsi %s, %a : i64
    linalg.yield %t : i64
  } -> tensor<133xi64>
  return %m : tensor<133xi64>
}
