#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @k(%x: tensor<30x70xf32>, %m: tensor<30x70xi1>, %n: tensor<30x70xi16>) -> (tensor<30x70xi1>, tensor<30x70xi16>, tensor<30xi1>) attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %no = arith.constant false
  %e1 = tensor.empty() : tensor<30x70xi1>
  %e16 = tensor.empty() : tensor<30x70xi16>
  %er = tensor.empty() : tensor<30xi1>
  %f = linalg.fill ins(%no : i1) outs(%er : tensor<30xi1>) -> tensor<30xi1>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m, %n : tensor<30x70xf32>, tensor<30x70xi1>, tensor<30x70xi16>) outs(%e1, %e16 : tensor<30x70xi1>, tensor<30x70xi16>) {
  ^bb0(%a: f32, %b: i1, %c: i16, %o1: i1, %o2: i16):
    %p = arith.cmpf ogt, %a, %zero : f32
    %q = arith.xori %p, %b : i1
    %five = arith.constant 5 : i16
    %d = arith.muli %c, %five : i16
    %s = arith.select %q, %c, %d : i16
    linalg.yield %q, %s : i1, i16
  } -> (tensor<30x70xi1>, tensor<30x70xi16>)
  %any = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<30x70xi1>) outs(%f : tensor<30xi1>) {
  ^bb0(%a: i1, %o: i1):
    %s = arith.andi %a, %a : i1
    %t = arith.ori %s, %o : i1
    linalg.yield %t : i1
  } -> tensor<30xi1>
  return %r#0, %r#1, %any : tensor<30x70xi1>, tensor<30x70xi16>, tensor<30xi1>
}
