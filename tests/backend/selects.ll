; Selects that arithmetic on the condition does, compares next to zero, products of small constants: no branch, no constant in a register.
; RUN: dougong-llc -O2 -verify-machineinstrs %s -o - | FileCheck %s
target datalayout = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"

; CHECK-LABEL: value_or_zero:
; CHECK:      slt [[C:[a-z0-9]+]], a0, a1
; CHECK-NEXT: neg [[M:[a-z0-9]+]], [[C]]
; CHECK-NEXT: and a0, [[M]], a2
; CHECK-NEXT: ret
define i64 @value_or_zero(i64 %a, i64 %b, i64 %x) {
  %c = icmp slt i64 %a, %b
  %r = select i1 %c, i64 %x, i64 0
  ret i64 %r
}

; CHECK-LABEL: zero_or_value:
; CHECK:      slt [[C:[a-z0-9]+]], a0, a1
; CHECK-NEXT: addi [[M:[a-z0-9]+]], [[C]], -1
; CHECK-NEXT: and a0, [[M]], a2
; CHECK-NEXT: ret
define i64 @zero_or_value(i64 %a, i64 %b, i64 %x) {
  %c = icmp slt i64 %a, %b
  %r = select i1 %c, i64 0, i64 %x
  ret i64 %r
}

; CHECK-LABEL: ones_or_value:
; CHECK:      sltu [[C:[a-z0-9]+]], a0, a1
; CHECK-NEXT: neg [[M:[a-z0-9]+]], [[C]]
; CHECK-NEXT: or a0, [[M]], a2
; CHECK-NEXT: ret
define i64 @ones_or_value(i64 %a, i64 %b, i64 %x) {
  %c = icmp ult i64 %a, %b
  %r = select i1 %c, i64 -1, i64 %x
  ret i64 %r
}

; 17 - 5 = 12.
; CHECK-LABEL: two_constants:
; CHECK:      neg
; CHECK-NEXT: andi [[D:[a-z0-9]+]], {{.*}}, 12
; CHECK-NEXT: addi a0, [[D]], 5
; CHECK-NEXT: ret
define i64 @two_constants(i64 %a, i64 %b) {
  %c = icmp slt i64 %a, %b
  %r = select i1 %c, i64 17, i64 5
  ret i64 %r
}

; CHECK-LABEL: positive:
; CHECK-NOT: li
; CHECK: {{blez|bgtz}} a0
declare void @f()
define void @positive(i64 %a) {
  %c = icmp sgt i64 %a, 0
  br i1 %c, label %then, label %done
then:
  call void @f()
  call void @f()
  br label %done
done:
  ret void
}

; The inverse of a float compare is the other branch.
; CHECK-LABEL: not_less:
; CHECK: flt.d [[C:[a-z0-9]+]], a0, a1
; CHECK-NOT: xori
; CHECK: {{beqz|bnez}} [[C]]
define void @not_less(double %a, double %b) {
  %c = fcmp uge double %a, %b
  br i1 %c, label %then, label %done
then:
  call void @f()
  call void @f()
  br label %done
done:
  ret void
}

; CHECK-LABEL: times_ten:
; CHECK:      sh2add [[A:[a-z0-9]+]], a0, a0
; CHECK-NEXT: slli a0, [[A]], 1
; CHECK-NEXT: ret
define i64 @times_ten(i64 %x) {
  %r = mul i64 %x, 10
  ret i64 %r
}

; 45 = 5 * 9.
; CHECK-LABEL: times_45:
; CHECK-NOT: mul
; CHECK: sh{{[23]}}add [[A:[a-z0-9]+]], a0, a0
; CHECK-NEXT: sh{{[23]}}add a0, [[A]], [[A]]
; CHECK-NEXT: ret
define i64 @times_45(i64 %x) {
  %r = mul i64 %x, 45
  ret i64 %r
}

; CHECK-LABEL: times_minus_31:
; CHECK-NOT: mul
; CHECK: ret
define i64 @times_minus_31(i64 %x) {
  %r = mul i64 %x, -31
  ret i64 %r
}

; 43 is prime and no power of two is near.
; CHECK-LABEL: times_43:
; CHECK: mul
define i64 @times_43(i64 %x) {
  %r = mul i64 %x, 43
  ret i64 %r
}

; Bits 20..39: masks of more than an immediate's width are two shifts.
; CHECK-LABEL: bit_field:
; CHECK:      slli [[A:[a-z0-9]+]], a0, 24
; CHECK-NEXT: srli a0, [[A]], 44
; CHECK-NEXT: ret
define i64 @bit_field(i64 %x) {
  %a = lshr i64 %x, 20
  %r = and i64 %a, 1048575
  ret i64 %r
}

; The shift looks at five bits of the amount, extended or not.
; CHECK-LABEL: amount:
; CHECK:      srlw a0, a0, a1
; CHECK-NEXT: ret
define signext i32 @amount(i32 signext %x, i64 %n) {
  %k = and i64 %n, 31
  %t = trunc i64 %k to i32
  %r = lshr i32 %x, %t
  ret i32 %r
}

; CHECK-LABEL: remainder_of_16:
; CHECK:      andi {{.*}}, -16
; CHECK-NEXT: subw a0, a0,
; CHECK-NEXT: ret
define signext i32 @remainder_of_16(i32 signext %x) {
  %r = srem i32 %x, 16
  ret i32 %r
}

; CHECK-LABEL: magnitude:
; CHECK:      negw [[N:[a-z0-9]+]], a0
; CHECK-NEXT: max a0, a0, [[N]]
; CHECK-NEXT: ret
define signext i32 @magnitude(i32 signext %x) {
  %r = call i32 @llvm.abs.i32(i32 %x, i1 false)
  ret i32 %r
}
declare i32 @llvm.abs.i32(i32, i1)
