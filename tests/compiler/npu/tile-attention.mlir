// SIZES: 2560 6400 6400 2560
// TOLERANCE: 2e-3
// Attention over 200 keys, 40 at a time, for 16 queries a program: maximum, sum and weighted sum are carried, the addresses move on.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @k(%q: memref<?xf16>, %k: memref<?xf16>, %v: memref<?xf16>, %out: memref<?xf32>) attributes {dg.kernel, dg.grid = array<i64: 5, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c40 = arith.constant 40 : index
  %c200 = arith.constant 200 : index
  %c512 = arith.constant 512 : index
  %c1280 = arith.constant 1280 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = dg.program_id 0
  %at = arith.muli %p, %c512 : index
  %queries = dg.load %q[%at] strides [%c32, %c1] : memref<?xf16> -> tensor<16x32xf16>
  %er = tensor.empty() : tensor<16xf32>
  %ea = tensor.empty() : tensor<16x32xf32>
  %es = tensor.empty() : tensor<16x40xf32>
  %eh = tensor.empty() : tensor<16x40xf16>
  %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<16xf32>) -> tensor<16xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%er : tensor<16xf32>) -> tensor<16xf32>
  %a0 = linalg.fill ins(%zero : f32) outs(%ea : tensor<16x32xf32>) -> tensor<16x32xf32>
  %sz = linalg.fill ins(%zero : f32) outs(%es : tensor<16x40xf32>) -> tensor<16x40xf32>
  %r:4 = scf.for %i = %c0 to %c200 step %c40 iter_args(%max = %m0, %sum = %s0, %acc = %a0, %place = %c0) -> (tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>, index) {
    %keys = dg.load %k[%place] strides [%c32, %c1] : memref<?xf16> -> tensor<40x32xf16>
    %values = dg.load %v[%place] strides [%c32, %c1] : memref<?xf16> -> tensor<40x32xf16>
    %scores = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%queries, %keys : tensor<16x32xf16>, tensor<40x32xf16>) outs(%sz : tensor<16x40xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %wa = arith.extf %a : f16 to f32
      %wb = arith.extf %b : f16 to f32
      %ab = arith.mulf %wa, %wb : f32
      %s = arith.addf %c, %ab : f32
      linalg.yield %s : f32
    } -> tensor<16x40xf32>
    %newmax = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%scores : tensor<16x40xf32>) outs(%max : tensor<16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.maximumf %a, %o : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    %exps = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%scores, %newmax : tensor<16x40xf32>, tensor<16xf32>) outs(%es : tensor<16x40xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %e = math.exp %d : f32
      linalg.yield %e : f32
    } -> tensor<16x40xf32>
    %diff = arith.subf %max, %newmax : tensor<16xf32>
    %alpha = math.exp %diff : tensor<16xf32>
    %scaled = arith.mulf %sum, %alpha : tensor<16xf32>
    %newsum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%exps : tensor<16x40xf32>) outs(%scaled : tensor<16xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %o, %a : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    %half = arith.truncf %exps : tensor<16x40xf32> to tensor<16x40xf16>
    %shrunk = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%acc, %alpha : tensor<16x32xf32>, tensor<16xf32>) outs(%ea : tensor<16x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.mulf %a, %b : f32
      linalg.yield %d : f32
    } -> tensor<16x32xf32>
    %newacc = linalg.matmul ins(%half, %values : tensor<16x40xf16>, tensor<40x32xf16>) outs(%shrunk : tensor<16x32xf32>) -> tensor<16x32xf32>
    %next = arith.addi %place, %c1280 : index
    scf.yield %newmax, %newsum, %newacc, %next : tensor<16xf32>, tensor<16xf32>, tensor<16x32xf32>, index
  }
  %result = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%r#2, %r#1 : tensor<16x32xf32>, tensor<16xf32>) outs(%ea : tensor<16x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<16x32xf32>
  dg.store %result, %out[%at] strides [%c32, %c1] : tensor<16x32xf32> -> memref<?xf32>
  return
}
