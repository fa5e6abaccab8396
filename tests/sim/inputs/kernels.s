# Kernels of device_test.cc. Launch slots: 24(a0), 32(a0), ... See isa/machine_layout.h.
  .text
# dst[i] = 2 * src[i], 128 floats a program. Slots: src, dst, descriptor of the load (LM part filled in), of the store.
  .globl double_rows
double_rows:
  addi sp, sp, -384
  ld t0, 40(a0)
  ld t1, 48(a0)
  li t2, 176
copy:
  addi t2, t2, -8
  add t3, t0, t2
  ld t4, 0(t3)
  add t5, sp, t2
  sd t4, 0(t5)
  add t3, t1, t2
  ld t4, 0(t3)
  sd t4, 192(t5)
  bnez t2, copy
row:
  bgeu a1, a2, finished
  slli t0, a1, 9
  ld t1, 24(a0)
  add t1, t1, t0
  sd t1, 0(sp)
  ld t1, 32(a0)
  add t1, t1, t0
  sd t1, 200(sp)
  dg.dma t2, 2, (sp)
  dg.await 2, t2
  li t3, 0x10000000
  li t4, 4
part:
  dg.vld.32 v1, 0(t3)
  dg.vadd.f32 v1, v1, v1
  dg.vst.32 v1, 0(t3)
  addi t3, t3, 128
  addi t4, t4, -1
  bnez t4, part
  addi t5, sp, 192
  dg.qwait 2, 3, t6          # t6: the ticket of the store before
  dg.dma t6, 3, (t5)
  dg.await 3, t6
  add a1, a1, a3
  j row
finished:
  addi sp, sp, 384
  ret

# dst[8 * core] = core, dst[8 * core + 1] = cores, dst[8 * core + 2] = first, +3 = last
  .globl who
who:
  ld t0, 24(a0)
  csrr t1, mhartid
  slli t2, t1, 6
  add t0, t0, t2
  sd t1, 0(t0)
  csrr t1, 0xcc0
  sd t1, 8(t0)
  sd a1, 16(t0)
  sd a2, 24(t0)
  ret

  .globl read_slot
read_slot:
  ld t0, 24(a0)
  lw t0, 0(t0)
  ret

  .globl write_slot
write_slot:
  ld t0, 24(a0)
  sb zero, 0(t0)
  ret

  .globl vector_load_of_slot
vector_load_of_slot:
  ld t0, 24(a0)
  dg.vld.32 v0, 0(t0)
  ret

  .globl stuck
stuck:
  li t0, 1
  dg.await 8, t0
  ret

  .globl leaves_a_command
leaves_a_command:
  li t0, 1
  dg.qwait 0, 9, t0
  ret

  .globl spin
spin:
  j spin

  .globl illegal
illegal:
  .word 0x00000000

  .globl jumps_away
jumps_away:
  li t0, 0x1234000
  jr t0

  .globl stops_itself
stops_itself:
  ebreak

  .globl calls_the_system
calls_the_system:
  ecall
  ret

  .globl unknown_register
unknown_register:
  csrr t0, 0x123
  ret

  .globl pointer_in_data
pointer_in_data:
  la t0, where
  ld t0, 0(t0)
  lw t1, 0(t0)
  ld t2, 24(a0)
  sw t1, 0(t2)
  ret

  .section .data
where:
  .quad value
value:
  .word 4711
