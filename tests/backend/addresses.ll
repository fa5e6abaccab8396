; Where values come from: variables of a file share one address, far elements have theirs in the symbol's, wide constants are loaded, words are
; loaded where the word is wanted.
; RUN: dougong-llc -O2 -verify-machineinstrs %s -o - | FileCheck %s
target datalayout = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"

@a = internal global i64 0
@b = internal global i64 0
@table = global [4096 x i64] zeroinitializer

; CHECK-LABEL: shared:
; CHECK:      auipc [[BASE:[a-z0-9]+]], %pcrel_hi([[MERGED:.*]])
; CHECK-NOT:  auipc
; CHECK:      ld {{.*}}, 0([[ADDRESS:[a-z0-9]+]])
; CHECK:      ld {{.*}}, 8([[ADDRESS]])
; CHECK:      ret
define i64 @shared(i64 %x) {
  %a = load i64, ptr @a
  %b = load i64, ptr @b
  %s = add i64 %a, %x
  store i64 %s, ptr @a
  %t = add i64 %b, %s
  store i64 %t, ptr @b
  ret i64 %t
}

; Element 512 is beyond an access's offset, element 1 as an address is the symbol's own.
; CHECK-LABEL: far:
; CHECK:      auipc {{.*}}, %pcrel_hi(table+4096)
; CHECK:      ld a0, 0(
define i64 @far() {
  %v = load i64, ptr getelementptr (i8, ptr @table, i64 4096)
  ret i64 %v
}

; CHECK-LABEL: element:
; CHECK:      auipc {{.*}}, %pcrel_hi(table+8)
; CHECK-NEXT: addi a0
; CHECK-NEXT: ret
define ptr @element() {
  ret ptr getelementptr (i8, ptr @table, i64 8)
}

; CHECK-LABEL: wide:
; CHECK:      auipc {{.*}}, %pcrel_hi(.LCPI
; CHECK-NEXT: ld [[K:[a-z0-9]+]], %pcrel_lo(
; CHECK:      xor a0, a0, [[K]]
define i64 @wide(i64 %x) {
  %r = xor i64 %x, 8234104122482341265
  ret i64 %r
}

; 0x100d << 38 is 0x100d << 12 << 26: what has twenty bits and no more takes lui and a shift.
; CHECK-LABEL: high:
; CHECK:      lui [[K:[a-z0-9]+]], 4109
; CHECK-NEXT: slli a0, [[K]], 26
; CHECK-NEXT: ret
define i64 @high() {
  ret i64 1129473319632896
}

; The low half of 64 bits, sign-extended across a block.
; CHECK-LABEL: low_half:
; CHECK:      lw {{.*}}, 0(a0)
; CHECK-NOT:  sext.w
; CHECK:      ret
define signext i32 @low_half(ptr %p, i64 %c, i32 signext %y) {
  %zero = icmp eq i64 %c, 0
  br i1 %zero, label %then, label %done
then:
  %v = load i64, ptr %p
  %w = trunc i64 %v to i32
  br label %done
done:
  %r = phi i32 [ %w, %then ], [ %y, %0 ]
  ret i32 %r
}
