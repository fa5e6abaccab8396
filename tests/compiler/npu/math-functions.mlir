// RANGE: -20 20
// TOLERANCE: 1e-6
#id = affine_map<(d0) -> (d0)>
func.func @k(%x: tensor<777xf32>) -> (tensor<777xf32>, tensor<777xf32>, tensor<777xf32>, tensor<777xf32>) attributes {dg.kernel} {
  %e = tensor.empty() : tensor<777xf32>
  %r:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x : tensor<777xf32>) outs(%e, %e, %e, %e : tensor<777xf32>, tensor<777xf32>, tensor<777xf32>, tensor<777xf32>) {
  ^bb0(%a: f32, %o1: f32, %o2: f32, %o3: f32, %o4: f32):
    %exp = math.exp %a : f32
    %abs = math.absf %a : f32
    %log = math.log %abs : f32
    %tanh = math.tanh %a : f32
    %root = math.sqrt %abs : f32
    %erf = math.erf %a : f32
    %sin = math.sin %a : f32
    %s = arith.addf %tanh, %root : f32
    %t = arith.addf %erf, %sin : f32
    linalg.yield %exp, %log, %s, %t : f32, f32, f32, f32
  } -> (tensor<777xf32>, tensor<777xf32>, tensor<777xf32>, tensor<777xf32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<777xf32>, tensor<777xf32>, tensor<777xf32>, tensor<777xf32>
}
