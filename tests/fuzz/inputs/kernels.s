# Kernels of fuzz_device. Launch slots: 24(a0), 32(a0), ... See isa/machine_layout.h.
  .text
# *slot0 = slot1 + slot2
  .globl adds
adds:
  ld t0, 24(a0)
  ld t1, 32(a0)
  ld t2, 40(a0)
  add t1, t1, t2
  sd t1, 0(t0)
  ret

# slot0: a list of slot1 entries of operation, value and the descriptor's address.
  .globl commands
commands:
  ld t0, 24(a0)
  ld t1, 32(a0)
next:
  beqz t1, finished
  ld t2, 0(t0)
  ld t3, 8(t0)
  ld t4, 16(t0)
  addi t0, t0, 24
  addi t1, t1, -1
  la t5, table
  slli t2, t2, 3
  add t5, t5, t2
  jr t5
finished:
  ret
  .p2align 3
table:                         # two instructions an operation
  dg.tensor a5, (t4)
  j next
  dg.drain a5, (t4)
  j next
  dg.dma a5, 2, (t4)
  j next
  dg.dma a5, 3, (t4)
  j next
  dg.dma a5, 4, (t4)
  j next
  dg.dma a5, 5, (t4)
  j next
  dg.await 0, t3
  j next
  dg.await 2, t3
  j next
  dg.qwait 1, 0, t3
  j next
  dg.qwait 3, 9, t3
  j next
  dg.flag.add 9, t3
  j next
  dg.qwait 0, 2, t3
  j next

# All registers from the slots, then whatever is put here.
  .globl hostile
hostile:
  ld x1, 32(a0)
  ld x3, 48(a0)
  ld x4, 56(a0)
  ld x5, 64(a0)
  ld x6, 72(a0)
  ld x7, 80(a0)
  ld x8, 88(a0)
  ld x9, 96(a0)
  ld x11, 112(a0)
  ld x12, 120(a0)
  ld x13, 128(a0)
  ld x14, 136(a0)
  ld x15, 144(a0)
  ld x16, 152(a0)
  ld x17, 160(a0)
  ld x18, 168(a0)
  ld x19, 176(a0)
  ld x20, 184(a0)
  ld x21, 192(a0)
  ld x22, 200(a0)
  ld x23, 208(a0)
  ld x24, 216(a0)
  ld x25, 224(a0)
  ld x26, 232(a0)
  ld x27, 240(a0)
  ld x28, 248(a0)
  ld x29, 256(a0)
  ld x30, 264(a0)
  ld x31, 272(a0)
  ld x10, 104(a0)
  .p2align 2
  .ascii "room for hostile instructions"
  .zero 227
  ret
  .globl tail
tail:
  ret

  .section .data
  .globl pointer_in_data
pointer_in_data:
  .quad adds
