; What the compiler's 32-lane code becomes: one instruction an operation, conversions folded into loads and stores.
; RUN: dougong-llc -O2 -verify-machineinstrs %s -o - | FileCheck %s
target datalayout = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"

; CHECK-LABEL: widen:
; CHECK-NEXT: .cfi_startproc
; CHECK-DAG: dg.vld.f16 [[A:v[0-9]+]], 0(a0)
; CHECK-DAG: dg.vld.bf16 [[B:v[0-9]+]], 128(a0)
; CHECK-DAG: dg.vld.i8 [[C:v[0-9]+]], -8192(a0)
; CHECK-NEXT: dg.vcvt.f32.i32 [[C2:v[0-9]+]], [[C]]
; CHECK-NEXT: dg.vfma.f32 [[D:v[0-9]+]], [[A]], [[B]], [[C2]]
; CHECK-NEXT: dg.vst.f16 [[D]], 64(a1)
; CHECK-NEXT: ret
define void @widen(ptr %p, ptr %q) {
  %a = load <32 x half>, ptr %p, align 2
  %af = fpext <32 x half> %a to <32 x float>
  %pb = getelementptr i8, ptr %p, i64 128
  %b = load <32 x bfloat>, ptr %pb, align 2
  %bf = fpext <32 x bfloat> %b to <32 x float>
  %pc = getelementptr i8, ptr %p, i64 -8192
  %c = load <32 x i8>, ptr %pc, align 1
  %cf = sitofp <32 x i8> %c to <32 x float>
  %d = call <32 x float> @llvm.fma.v32f32(<32 x float> %af, <32 x float> %bf, <32 x float> %cf)
  %h = fptrunc <32 x float> %d to <32 x half>
  %pd = getelementptr i8, ptr %q, i64 64
  store <32 x half> %h, ptr %pd, align 2
  ret void
}

; CHECK-LABEL: narrow:
; CHECK: dg.vld.u8 [[A:v[0-9]+]], 0(a0)
; CHECK: dg.vmin.u32
; CHECK: dg.vst.i8 {{v[0-9]+}}, 0(a1)
define void @narrow(ptr %p, ptr %q) {
  %a = load <32 x i8>, ptr %p, align 1
  %w = zext <32 x i8> %a to <32 x i32>
  %m = call <32 x i32> @llvm.umin.v32i32(<32 x i32> %w, <32 x i32> splat (i32 200))
  %t = trunc <32 x i32> %m to <32 x i8>
  store <32 x i8> %t, ptr %q, align 1
  ret void
}

; The ragged end of a row: lanes below n, the others neutral, a pairwise reduction.
; CHECK-LABEL: ragged:
; CHECK-DAG: dg.viota.i32
; CHECK-DAG: dg.vsplat.32 [[N:v[0-9]+]], a1
; CHECK: dg.vcmplt.i32 [[M:m[0-9]+]]
; CHECK: dg.vsel {{v[0-9]+}}, [[M]]
; CHECK: dg.vredmax.f32 a0
define float @ragged(ptr %p, i32 %n) {
  %x = load <32 x float>, ptr %p, align 4
  %s = call <32 x i32> @llvm.stepvector.v32i32()
  %i = insertelement <32 x i32> poison, i32 %n, i32 0
  %v = shufflevector <32 x i32> %i, <32 x i32> poison, <32 x i32> zeroinitializer
  %m = icmp slt <32 x i32> %s, %v
  %y = select <32 x i1> %m, <32 x float> %x, <32 x float> splat (float 0xFFF0000000000000)
  %r = call float @llvm.vector.reduce.fmax.v32f32(<32 x float> %y)
  ret float %r
}

; CHECK-LABEL: sums:
; CHECK: dg.vredsum.f32 [[S:[a-z0-9]+]], v0
; CHECK: fadd.s [[T:[a-z0-9]+]], {{.*}}[[S]]
; CHECK: dg.vredosum.f32 a0, [[T]], v0
define float @sums(<32 x float> %x, float %s) {
  %a = call reassoc float @llvm.vector.reduce.fadd.v32f32(float %s, <32 x float> %x)
  %b = call float @llvm.vector.reduce.fadd.v32f32(float %a, <32 x float> %x)
  ret float %b
}

; CHECK-LABEL: gather:
; CHECK: dg.vslli.i32 [[I:v[0-9]+]], v0, 1
; CHECK: dg.vgather.f16 v0, (a0), [[I]]
define <32 x float> @gather(ptr %p, <32 x i32> %i) {
  %q = getelementptr half, ptr %p, <32 x i32> %i
  %h = call <32 x half> @llvm.masked.gather.v32f16.v32p0(<32 x ptr> %q, i32 2, <32 x i1> splat (i1 true), <32 x half> poison)
  %f = fpext <32 x half> %h to <32 x float>
  ret <32 x float> %f
}

; More vectors than registers: spilled to the stack, which in a kernel lies in LM.
; CHECK-LABEL: call:
; CHECK: dg.vst.32 v0, [[AT:[0-9]+]](sp)
; CHECK: call callee
; CHECK: dg.vld.32 {{v[0-9]+}}, [[AT]](sp)
define <32 x float> @call(<32 x float> %x) {
  %y = call <32 x float> @callee(<32 x float> %x)
  %z = fadd <32 x float> %x, %y
  ret <32 x float> %z
}
declare <32 x float> @callee(<32 x float>)
declare <32 x float> @llvm.fma.v32f32(<32 x float>, <32 x float>, <32 x float>)
declare <32 x i32> @llvm.umin.v32i32(<32 x i32>, <32 x i32>)
declare <32 x i32> @llvm.stepvector.v32i32()
declare float @llvm.vector.reduce.fmax.v32f32(<32 x float>)
declare float @llvm.vector.reduce.fadd.v32f32(float, <32 x float>)
declare <32 x half> @llvm.masked.gather.v32f16.v32p0(<32 x ptr>, i32, <32 x i1>, <32 x half>)
