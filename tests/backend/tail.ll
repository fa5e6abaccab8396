; A call in the place of a return is a jump where all it passes is in registers, and a frame is made only on the paths that need one.
; RUN: dougong-llc -O2 -verify-machineinstrs %s -o - | FileCheck %s
; RUN: dougong-llc -O2 -verify-machineinstrs --filetype=obj %s -o %t.o && dougong-objdump -d %t.o | FileCheck %s --check-prefix=CODE
target datalayout = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"
declare i64 @callee(i64, i64)
declare i64 @many(i64, i64, i64, i64, i64, i64, i64, i64, i64)
declare void @use(ptr)

; CHECK-LABEL: jump:
; CHECK-NOT: sp
; CHECK: tail callee
; CODE: jr t1
define i64 @jump(i64 %a, i64 %b) {
  %s = add i64 %a, %b
  %r = tail call i64 @callee(i64 %s, i64 %b)
  ret i64 %r
}

; The saved registers come back before the jump.
; CHECK-LABEL: restored:
; CHECK: call callee
; CHECK: ld ra
; CHECK: .cfi_restore ra
; CHECK-NEXT: addi sp, sp, 16
; CHECK-NEXT: .cfi_def_cfa_offset 0
; CHECK-NEXT: tail callee
define i64 @restored(i64 %a, i64 %b) {
  %x = call i64 @callee(i64 %a, i64 %b)
  %r = tail call i64 @callee(i64 %x, i64 1)
  ret i64 %r
}

; The ninth argument is on the stack.
; CHECK-LABEL: stack:
; CHECK: call many
define i64 @stack(i64 %a) {
  %r = tail call i64 @many(i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a, i64 %a)
  ret i64 %r
}

; The first path has no frame.
; CHECK-LABEL: early:
; CHECK-NOT: addi sp
; CHECK: beqz a0
; CHECK: addi sp, sp, -
; CHECK: call use
define i64 @early(i64 %a) {
  %z = icmp eq i64 %a, 0
  br i1 %z, label %done, label %work
work:
  %slot = alloca i64
  call void @use(ptr %slot)
  %v = load i64, ptr %slot
  br label %done
done:
  %r = phi i64 [ 0, %0 ], [ %v, %work ]
  ret i64 %r
}

; A path without a frame that stands behind the one with it: debuggers find the caller where it was at the entry.
; CHECK-LABEL: behind:
; CHECK: bnez a0, [[SHORT:.*]]
; CHECK: .cfi_offset ra
; CHECK: .cfi_restore ra
; CHECK: .cfi_def_cfa_offset 0
; CHECK-NEXT: ret
; CHECK-NEXT: [[SHORT]]:
; CHECK-NEXT: li a0, 5
define i64 @behind(i64 %a) uwtable {
  %z = icmp eq i64 %a, 0
  br i1 %z, label %work, label %done, !prof !0
work:
  %slot = alloca i64
  call void @use(ptr %slot)
  %v = load i64, ptr %slot
  ret i64 %v
done:
  ret i64 5
}
!0 = !{!"branch_weights", i32 200, i32 1}
