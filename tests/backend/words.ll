; i32 operations use the instructions that work in 32 bits, and what is sign-extended is not extended again, across blocks.
; RUN: dougong-llc -O2 -verify-machineinstrs %s -o - | FileCheck %s
target datalayout = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"

; CHECK-LABEL: rotate:
; CHECK: roriw a0, a0, 7
define signext i32 @rotate(i32 signext %x) {
  %r = call i32 @llvm.fshl.i32(i32 %x, i32 %x, i32 25)
  ret i32 %r
}

; CHECK-LABEL: shifts:
; CHECK: srlw [[A:[a-z0-9]+]], a0, a1
; CHECK: sraw [[B:[a-z0-9]+]], [[A]], a1
; CHECK: srliw a0, [[B]], 3
define signext i32 @shifts(i32 signext %x, i32 signext %n) {
  %a = lshr i32 %x, %n
  %b = ashr i32 %a, %n
  %c = lshr i32 %b, 3
  ret i32 %c
}

; CHECK-LABEL: divide:
; CHECK: divuw
; CHECK: remw
define signext i32 @divide(i32 signext %x, i32 signext %y) {
  %a = udiv i32 %x, %y
  %b = srem i32 %a, %y
  ret i32 %b
}

; The counter comes from an argument and an addition, of which nobody wants more than the word.
; CHECK-LABEL: loop:
; CHECK-NOT: sext.w
; CHECK: addiw
; CHECK-NOT: sext.w
; CHECK: ret
define void @loop(i32 signext %n, i32 signext %m) {
entry:
  br label %body
body:
  %i = phi i32 [ %n, %entry ], [ %j, %body ]
  call void @g(i32 signext %i)
  %j = add i32 %i, 3
  %c = icmp slt i32 %i, %m
  br i1 %c, label %body, label %exit
exit:
  ret void
}
declare void @g(i32 signext)

; What a call returns as an i64, and an argument that nobody has extended, must be.
; CHECK-LABEL: needed:
; CHECK: sext.w {{[a-z0-9]+}}, a0
; CHECK: call h
; CHECK: sext.w a0, a0
define i1 @needed(i32 %x) {
  %w = call i64 @h()
  %t = trunc i64 %w to i32
  %c = icmp slt i32 %t, %x
  ret i1 %c
}
declare i64 @h()
declare i32 @llvm.fshl.i32(i32, i32, i32)
