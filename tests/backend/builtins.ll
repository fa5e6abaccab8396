; Each engine builtin is one instruction, and nothing moves across it: not the store of a descriptor that is written again
; after the command was issued, not the load of what a command has written.
; RUN: dougong-llc -O2 -verify-machineinstrs %s -o - | FileCheck %s
; RUN: dougong-llc -O0 -verify-machineinstrs %s -o - | FileCheck %s --check-prefix=O0
; RUN: dougong-llc -O2 --optimize -verify-machineinstrs %s -o - | FileCheck %s
target datalayout = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"
declare i64 @__dg_tensor(ptr)
declare i64 @__dg_drain(ptr)
declare i64 @__dg_dma(i32, ptr)
declare void @__dg_qwait(i32, i32, i64)
declare void @__dg_await(i32, i64)
declare i64 @__dg_flag(i32)
declare void @__dg_flag_add(i32, i64)
declare i64 @__dg_core()
declare i64 @__dg_cores()
declare i64 @__dg_cycle()

; CHECK-LABEL: descriptor:
; CHECK: sd {{.*}}, [[AT:[0-9]+]](sp)
; CHECK: dma {{[a-z0-9]+}}, 2, ([[D:[a-z0-9]+]])
; CHECK: sd {{.*}}, [[AT]](sp)
; CHECK: dma [[T:[a-z0-9]+]], 2, ({{.*}})
; CHECK: qwait 0, 2, [[T]]
; CHECK: tensor [[T2:[a-z0-9]+]], (a0)
; CHECK: await 0, [[T2]]
; CHECK: ld {{[a-z0-9]+}}, 0(a1)
; CHECK: ret
; O0-LABEL: descriptor:
; O0: dma
; O0: sd
; O0: dma
; O0: qwait 0, 2
; O0: tensor
; O0: await 0
; O0: ld
; O0: ret
define i64 @descriptor(ptr %tensor, ptr %result) {
  %d = alloca [184 x i8], align 8
  store i64 5, ptr %d
  %t1 = call i64 @__dg_dma(i32 2, ptr %d)
  store i64 6, ptr %d
  %t2 = call i64 @__dg_dma(i32 2, ptr %d)
  call void @__dg_qwait(i32 0, i32 2, i64 %t2)
  %t3 = call i64 @__dg_tensor(ptr %tensor)
  call void @__dg_await(i32 0, i64 %t3)
  %r = load i64, ptr %result
  ret i64 %r
}

; The result is loaded anew after each wait, in a loop too, though no store is to be seen.
; CHECK-LABEL: poll:
; CHECK: [[LOOP:\.LBB[0-9_]+]]:
; CHECK: await 3
; CHECK: dg.vld.32 [[V:v[0-9]+]], 0(a0)
; CHECK: dg.vadd.f32
; CHECK: dg.loop {{.*}}, [[LOOP]]
define void @poll(ptr %p, ptr %o, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %j, %loop ]
  %s = phi <32 x float> [ zeroinitializer, %entry ], [ %t, %loop ]
  call void @__dg_await(i32 3, i64 %i)
  %v = load <32 x float>, ptr %p, align 4
  %t = fadd <32 x float> %s, %v
  %j = add i64 %i, -1
  %c = icmp ne i64 %j, 0
  br i1 %c, label %loop, label %exit
exit:
  store <32 x float> %t, ptr %o, align 4
  ret void
}

; CHECK-LABEL: others:
; CHECK: dg.drain {{[a-z0-9]+}}, (a0)
; CHECK: dg.flag.add 9, a1
; CHECK: dg.flag {{[a-z0-9]+}}, 9
; CHECK: csrr {{[a-z0-9]+}}, mhartid
; CHECK: csrr {{[a-z0-9]+}}, dgcores
; CHECK: csrr {{[a-z0-9]+}}, cycle
define i64 @others(ptr %d, i64 %n) {
  %t = call i64 @__dg_drain(ptr %d)
  call void @__dg_flag_add(i32 9, i64 %n)
  %f = call i64 @__dg_flag(i32 9)
  %c = call i64 @__dg_core()
  %m = call i64 @__dg_cores()
  %y = call i64 @__dg_cycle()
  %1 = add i64 %t, %f
  %2 = add i64 %1, %c
  %3 = add i64 %2, %m
  %4 = add i64 %3, %y
  ret i64 %4
}
