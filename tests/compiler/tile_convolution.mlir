// A strided convolution with padding, bias and relu, cut into programs: the padding becomes bounds of the load, which reads a halo;
// the weights are loaded whole; the store is clipped where the last row of tiles hangs over.
// RUN: dougong-opt %s --emit tile --machine tiny | FileCheck %s

#all = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d3)>

// CHECK-LABEL: func.func @conv(%arg0: memref<?xf16>, %arg1: memref<?xf16>, %arg2: memref<?xf32>, %arg3: memref<?xf16>)
// CHECK-SAME:  dg.grid = array<i64: {{[0-9]+, [0-9]+, [0-9]+}}>
// CHECK:       dg.program_id 0
// CHECK:       %[[X:.*]] = dg.load %arg0{{.*}} lower{{.*}} upper{{.*}} fill {{.*}} -> tensor<1x[[H:[0-9]+]]x[[W:[0-9]+]]x16xf16>
// CHECK:       %[[K:.*]] = dg.load %arg1[%c0{{.*}}] strides[{{[^]]*}}] : memref<?xf16> -> tensor<3x3x16x32xf16>
// CHECK:       %[[C:.*]] = linalg.conv_2d_nhwc_hwcf {{.*}} ins(%[[X]], %[[K]] : tensor<1x[[H]]x[[W]]x16xf16>, tensor<3x3x16x32xf16>)
// CHECK:       dg.load %arg2
// CHECK:       %[[Y:.*]] = linalg.generic {{.*}} ins(%[[C]],
// CHECK:       arith.maximumf
// CHECK:       dg.store %[[Y]], %arg3{{.*}} lower{{.*}} upper
// CHECK-NOT:   tensor.pad
func.func @conv(%x: tensor<1x62x62x16xf16>, %w: tensor<3x3x16x32xf16>, %b: tensor<32xf32>) -> tensor<1x31x31x32xf16> attributes {dg.kernel} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %half : f16
  } : tensor<1x62x62x16xf16> to tensor<1x64x64x16xf16>
  %e = tensor.empty() : tensor<1x31x31x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x31x31x32xf32>) -> tensor<1x31x31x32xf32>
  %c = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<1x64x64x16xf16>, tensor<3x3x16x32xf16>) outs(%f : tensor<1x31x31x32xf32>) -> tensor<1x31x31x32xf32>
  %o = tensor.empty() : tensor<1x31x31x32xf16>
  %y = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %b : tensor<1x31x31x32xf32>, tensor<32xf32>) outs(%o : tensor<1x31x31x32xf16>) {
  ^bb0(%v: f32, %bias: f32, %u: f16):
    %s = arith.addf %v, %bias : f32
    %m = arith.maximumf %s, %zero : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1x31x31x32xf16>
  return %y : tensor<1x31x31x32xf16>
}
