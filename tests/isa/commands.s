# Bytes in, text out; nonsense is named and skipped.
# RUN: echo "0x13 0x05 0x10 0x00, 0x73 0x25 0x40 0xf1 # a comment" | dougong-mc -disassemble | FileCheck %s
# CHECK: li a0, 1
# CHECK-NEXT: csrr a0, mhartid
# RUN: echo "0xff 0xff 0xff 0xff 0x13 0x05 0x10 0x00" | not dougong-mc -disassemble 2>&1 | FileCheck --check-prefix=UNKNOWN %s
# UNKNOWN: <stdin>:1:1: error: no instruction has this encoding
# UNKNOWN: li a0, 1
# RUN: echo "0x13 256" | not dougong-mc -disassemble 2>&1 | FileCheck --check-prefix=BYTE %s
# BYTE: <stdin>:1:6: error: expected a byte, 0x00 to 0xff
# RUN: not dougong-mc %t.missing 2>&1 | FileCheck --check-prefix=MISSING %s
# MISSING: dougong-mc: error: {{.*}}.missing: No such file or directory
# RUN: not dougong-objdump %t.missing 2>&1 | FileCheck --check-prefix=NOTHING %s
# NOTHING: dougong-objdump: error: nothing to do; use -d to disassemble
# RUN: not dougong-objdump -d %t.missing 2>&1 | FileCheck --check-prefix=MISSING2 %s
# MISSING2: dougong-objdump: error: {{.*}}.missing: No such file or directory
# RUN: not dougong-objdump -d %s 2>&1 | FileCheck --check-prefix=TEXT %s
# TEXT: dougong-objdump: error: {{.*}}commands.s: The file was not recognized as a valid object file
# RUN: dougong-mc -filetype=obj %s -o %t.o && head -c 200 %t.o > %t.cut && not dougong-objdump -d %t.cut 2>&1 | FileCheck --check-prefix=CUT %s
# CUT: dougong-objdump: error: {{.*}}.cut: {{.+}}
# RUN: echo "addi a0, a0, 1" | dougong-mc -show-encoding | FileCheck --check-prefix=ENCODING %s
# ENCODING: addi a0, a0, 1 # encoding: [0x13,0x05,0x15,0x00]
# RUN: not dougong-objdump -d %build/bin/dougong-mc 2>&1 | FileCheck --check-prefix=HOST %s
# HOST: dougong-objdump: error: {{.*}}dougong-mc: not a 64-bit RISC-V ELF file; dougong-objdump reads objects, archives and executables of the NPU
# RUN: not dougong-mc %s -o %t.missing/out 2>&1 | FileCheck --check-prefix=OUT %s
# OUT: dougong-mc: error: {{.*}}.missing/out: No such file or directory
  nop
