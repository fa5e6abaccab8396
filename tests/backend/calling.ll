; The calling convention is RISC-V's lp64, floats in integer registers.
; RUN: dougong-llc -O2 -verify-machineinstrs %s -o - | FileCheck %s
target datalayout = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"

; CHECK-LABEL: floats:
; CHECK: fcvt.d.s [[A:[a-z0-9]+]], a1
; CHECK: fadd.d a0, a0, [[A]]
define double @floats(double %a, float %b) {
  %c = fpext float %b to double
  %d = fadd double %a, %c
  ret double %d
}

; The ninth is on the stack, and a word is sign-extended by whoever passes it.
; CHECK-LABEL: nine:
; CHECK: ld [[I:[a-z0-9]+]], 0(sp)
; CHECK: add a0, {{.*}}
define i64 @nine(i64 %a, i64 %b, i64 %c, i64 %d, i64 %e, i64 %f, i64 %g, i64 %h, i64 %i) {
  %r = add i64 %h, %i
  ret i64 %r
}

; Twice the width: in a7 and on the stack.
; CHECK-LABEL: halves:
; CHECK-DAG: sd {{[a-z0-9]+}}, 0(sp)
; CHECK-DAG: mv a7, a0
; CHECK: call take
define void @halves(i128 %x) {
  call void @take(i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i128 %x)
  ret void
}
declare void @take(i64, i64, i64, i64, i64, i64, i64, i128)

; CHECK-LABEL: word:
; CHECK: addw a0, a0, a1
define signext i32 @word(i32 signext %a, i32 signext %b) {
  %c = add i32 %a, %b
  ret i32 %c
}

; Callee-saved registers are saved, and the CFI says where.
; CHECK-LABEL: saved:
; CHECK: addi sp, sp, -16
; CHECK-NEXT: .cfi_def_cfa_offset 16
; CHECK-DAG: sd ra, 8(sp)
; CHECK-DAG: sd s0, 0(sp)
; CHECK-DAG: .cfi_offset ra, -8
; CHECK-DAG: .cfi_offset s0, -16
; CHECK: mv s0, a0
; CHECK: call f
; CHECK: ld s0, 0(sp)
; CHECK: ret
define i64 @saved(i64 %x) {
  %y = call i64 @f(i64 %x)
  %z = add i64 %x, %y
  ret i64 %z
}
declare i64 @f(i64)

; A weak symbol may be undefined, 0, out of reach: through the GOT. A thread's variable: from tp.
@weak = extern_weak global i64
@thread = thread_local global i64 0
; CHECK-LABEL: symbols:
; CHECK: lui [[T:[a-z0-9]+]], %tprel_hi(thread)
; CHECK: add [[T]], [[T]], tp
; CHECK: addi [[T]], [[T]], %tprel_lo(thread)
; CHECK: auipc [[W:[a-z0-9]+]], %got_pcrel_hi(weak)
; CHECK: ld [[W]], %pcrel_lo({{.*}})([[W]])
define i1 @symbols() {
  %a = load i64, ptr @thread
  store i64 1, ptr @thread
  %c = icmp ne ptr @weak, null
  ret i1 %c
}
