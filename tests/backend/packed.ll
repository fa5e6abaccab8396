; Whole registers of 8- and 16-bit lanes: one packed instruction an operation, and what costs more packed than it saves stays in 32-bit lanes.
; RUN: dougong-llc -O2 -verify-machineinstrs %s -o - | FileCheck %s
; RUN: dougong-llc -O0 -verify-machineinstrs %s -o - | FileCheck %s --check-prefix=ALWAYS
target datalayout = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"

; CHECK-LABEL: halves:
; CHECK-DAG: dg.vld.32 [[A:v[0-9]+]], 0(a0)
; CHECK-DAG: dg.vld.32 [[B:v[0-9]+]], 0(a1)
; CHECK: dg.vmul.i16 [[M:v[0-9]+]], [[A]], [[B]]
; CHECK-NEXT: dg.vadd.i16 [[S:v[0-9]+]], [[M]], [[A]]
; CHECK-NEXT: dg.vst.32 [[S]], 0(a2)
; CHECK-NEXT: ret
; ALWAYS-LABEL: halves:
; ALWAYS: dg.vmul.i16
; ALWAYS: dg.vadd.i16
define void @halves(ptr %p, ptr %q, ptr %o) {
  %a = load <64 x i16>, ptr %p, align 2
  %b = load <64 x i16>, ptr %q, align 2
  %m = mul <64 x i16> %a, %b
  %s = add <64 x i16> %m, %a
  store <64 x i16> %s, ptr %o, align 2
  ret void
}

; Two registers, at any address.
; CHECK-LABEL: bytes:
; CHECK-COUNT-2: dg.vsadd.u8
; CHECK-NOT: dg.v{{[a-z]+}}.i32
; CHECK: ret
define void @bytes(ptr %p, ptr %q) {
  %a = load <256 x i8>, ptr %p, align 1
  %b = load <256 x i8>, ptr %q, align 1
  %s = call <256 x i8> @llvm.uadd.sat.v256i8(<256 x i8> %a, <256 x i8> %b)
  store <256 x i8> %s, ptr %p, align 1
  ret void
}

; A mask of 128 lanes; its complement is the other operand first.
; CHECK-LABEL: choose:
; CHECK: dg.vcmplt.u8 [[M:m[0-9]+]], [[B:v[0-9]+]], [[A:v[0-9]+]]
; CHECK-NEXT: dg.vsel.8 [[S:v[0-9]+]], [[M]], [[B]], [[A]]
; CHECK-NEXT: dg.vst.32 [[S]], 0(a0)
define void @choose(ptr %p, ptr %q) {
  %a = load <128 x i8>, ptr %p, align 1
  %b = load <128 x i8>, ptr %q, align 1
  %m = icmp ugt <128 x i8> %a, %b
  %n = xor <128 x i1> %m, splat (i1 true)
  %s = select <128 x i1> %n, <128 x i8> %a, <128 x i8> %b
  store <128 x i8> %s, ptr %p, align 1
  ret void
}

; Each operation rounds once, as in 32-bit lanes.
; CHECK-LABEL: floats:
; CHECK: dg.vmul.bf16
; CHECK: dg.vfma.bf16
; CHECK: dg.vsqrt.bf16
; CHECK-NOT: dg.vround
; CHECK: ret
define void @floats(ptr %p, ptr %q) {
  %a = load <64 x bfloat>, ptr %p, align 2
  %b = load <64 x bfloat>, ptr %q, align 2
  %x = fmul <64 x bfloat> %a, %b
  %y = call <64 x bfloat> @llvm.fma.v64bf16(<64 x bfloat> %x, <64 x bfloat> %a, <64 x bfloat> %b)
  %z = call <64 x bfloat> @llvm.sqrt.v64bf16(<64 x bfloat> %y)
  store <64 x bfloat> %z, ptr %p, align 2
  ret void
}

; Nothing to save: loads extend and stores truncate.
; CHECK-LABEL: quotient:
; CHECK-COUNT-4: dg.vld.u16
; CHECK-COUNT-2: dg.vst.i16
define void @quotient(ptr %p, ptr %q) {
  %a = load <64 x i16>, ptr %p, align 2
  %b = load <64 x i16>, ptr %q, align 2
  %d = udiv <64 x i16> %a, %b
  store <64 x i16> %d, ptr %p, align 2
  ret void
}

; The border: packed on either side of what has no packed instruction.
; CHECK-LABEL: border:
; CHECK: dg.vadd.i16
; CHECK: dg.vwiden.u16 {{v[0-9]+}}, [[X:v[0-9]+]], 0
; CHECK-NOT: dg.vand
; CHECK: dg.vmulh.u32
; CHECK: dg.vpack.i16
; CHECK: dg.vxor
; CHECK: dg.vst.32
define void @border(ptr %p, ptr %q) {
  %a = load <64 x i16>, ptr %p, align 2
  %b = load <64 x i16>, ptr %q, align 2
  %s = add <64 x i16> %a, %b
  %t = mul <64 x i16> %s, %a
  %d = udiv <64 x i16> %t, splat (i16 300)
  %x = xor <64 x i16> %d, %t
  %y = sub <64 x i16> %x, %s
  store <64 x i16> %y, ptr %p, align 2
  ret void
}

; Lanes of two registers in turn, backwards, and a sum over a loop that stays in its register.
; CHECK-LABEL: move:
; CHECK: dg.vzip.16
; CHECK: dg.vperm.16
define void @move(ptr %p, ptr %q) {
  %a = load <64 x i16>, ptr %p, align 2
  %b = load <64 x i16>, ptr %q, align 2
  %z = shufflevector <64 x i16> %a, <64 x i16> %b, <64 x i32> <i32 0, i32 64, i32 1, i32 65, i32 2, i32 66, i32 3, i32 67, i32 4, i32 68, i32 5, i32 69, i32 6, i32 70, i32 7, i32 71, i32 8, i32 72, i32 9, i32 73, i32 10, i32 74, i32 11, i32 75, i32 12, i32 76, i32 13, i32 77, i32 14, i32 78, i32 15, i32 79, i32 16, i32 80, i32 17, i32 81, i32 18, i32 82, i32 19, i32 83, i32 20, i32 84, i32 21, i32 85, i32 22, i32 86, i32 23, i32 87, i32 24, i32 88, i32 25, i32 89, i32 26, i32 90, i32 27, i32 91, i32 28, i32 92, i32 29, i32 93, i32 30, i32 94, i32 31, i32 95>
  %s = add <64 x i16> %z, %a
  %r = shufflevector <64 x i16> %s, <64 x i16> poison, <64 x i32> <i32 63, i32 62, i32 61, i32 60, i32 59, i32 58, i32 57, i32 56, i32 55, i32 54, i32 53, i32 52, i32 51, i32 50, i32 49, i32 48, i32 47, i32 46, i32 45, i32 44, i32 43, i32 42, i32 41, i32 40, i32 39, i32 38, i32 37, i32 36, i32 35, i32 34, i32 33, i32 32, i32 31, i32 30, i32 29, i32 28, i32 27, i32 26, i32 25, i32 24, i32 23, i32 22, i32 21, i32 20, i32 19, i32 18, i32 17, i32 16, i32 15, i32 14, i32 13, i32 12, i32 11, i32 10, i32 9, i32 8, i32 7, i32 6, i32 5, i32 4, i32 3, i32 2, i32 1, i32 0>
  store <64 x i16> %r, ptr %p, align 2
  ret void
}

; The loop of a saxpy: post-increments, and a hardware loop.
; CHECK-LABEL: saxpy:
; CHECK: dg.vsplat.16
; CHECK: [[LOOP:.LBB[0-9_]+]]:
; CHECK-DAG: dg.vldp.32
; CHECK-DAG: dg.vmul.i16
; CHECK-DAG: dg.vadd.i16
; CHECK: dg.loop {{[a-z0-9]+}}, [[LOOP]]
define void @saxpy(i16 %k, ptr noalias %x, ptr noalias %y, i64 %n) {
entry:
  %i = insertelement <64 x i16> poison, i16 %k, i32 0
  %s = shufflevector <64 x i16> %i, <64 x i16> poison, <64 x i32> zeroinitializer
  br label %loop
loop:
  %j = phi i64 [ 0, %entry ], [ %next, %loop ]
  %px = getelementptr <64 x i16>, ptr %x, i64 %j
  %py = getelementptr <64 x i16>, ptr %y, i64 %j
  %a = load <64 x i16>, ptr %px, align 2
  %b = load <64 x i16>, ptr %py, align 2
  %m = mul <64 x i16> %a, %s
  %r = add <64 x i16> %m, %b
  store <64 x i16> %r, ptr %py, align 2
  %next = add nuw nsw i64 %j, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %loop
out:
  ret void
}

; Arguments and results keep the form of 32-bit lanes, whatever is between.
; CHECK-LABEL: call:
; CHECK: dg.vpack.i16
; CHECK: dg.vpack.i16
; CHECK: dg.vadd.i16
; CHECK-COUNT-2: dg.vwiden.u16
; CHECK: ret
define <64 x i16> @call(<64 x i16> %a, <64 x i16> %b) {
  %s = add <64 x i16> %a, %b
  %t = mul <64 x i16> %s, %a
  %u = xor <64 x i16> %t, %b
  %v = sub <64 x i16> %u, %s
  %w = mul <64 x i16> %v, %t
  ret <64 x i16> %w
}

; What the calls in between look like: the name of the instruction's record.
; CHECK-LABEL: alone:
; CHECK: dg.vavg.u8 v0, v0, v1
; CHECK-NEXT: ret
define <32 x i32> @alone(<32 x i32> %a, <32 x i32> %b) {
  %r = tail call <32 x i32> @__dg_op.VAVG_U8(<32 x i32> %a, <32 x i32> %b)
  ret <32 x i32> %r
}
declare <32 x i32> @__dg_op.VAVG_U8(<32 x i32>, <32 x i32>)

; What wider lanes say and one instruction does; and whether any lane is chosen.
; CHECK-LABEL: fused:
; CHECK: dg.vavg.u8
; CHECK: dg.vcmplt.u8 [[M:m[0-9]+]]
; CHECK-NOT: dg.vwiden
; CHECK-DAG: dg.mtox {{[a-z0-9]+}}, [[M]]
; CHECK-DAG: dg.mtoxh {{[a-z0-9]+}}, [[M]]
; CHECK: snez
define i1 @fused(ptr %p, ptr %q) {
  %a = load <128 x i8>, ptr %p, align 1
  %b = load <128 x i8>, ptr %q, align 1
  %x = zext <128 x i8> %a to <128 x i16>
  %y = zext <128 x i8> %b to <128 x i16>
  %s = add nuw nsw <128 x i16> %x, splat (i16 1)
  %t = add nuw nsw <128 x i16> %s, %y
  %h = lshr <128 x i16> %t, splat (i16 1)
  %r = trunc nuw <128 x i16> %h to <128 x i8>
  store <128 x i8> %r, ptr %p, align 1
  %m = icmp ult <128 x i8> %r, %b
  %i = bitcast <128 x i1> %m to i128
  %any = icmp ne i128 %i, 0
  ret i1 %any
}

; CHECK-LABEL: scaled:
; CHECK: dg.vmulh.i16
; CHECK-NOT: dg.vmul.i32
; CHECK: ret
define void @scaled(ptr %p) {
  %a = load <64 x i16>, ptr %p, align 2
  %x = sext <64 x i16> %a to <64 x i32>
  %m = mul nsw <64 x i32> %x, splat (i32 -20000)
  %h = lshr <64 x i32> %m, splat (i32 16)
  %r = trunc nuw <64 x i32> %h to <64 x i16>
  store <64 x i16> %r, ptr %p, align 2
  ret void
}
