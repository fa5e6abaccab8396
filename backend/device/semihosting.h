/* The call of the host (`dougong sim`) that a program's start-up and console are made of: operation and parameter in, result out, by the
 * convention that RISC-V took over from Arm. */
#pragma once
#include <stdint.h>

enum {
  SYS_OPEN = 0x01,
  SYS_WRITEC = 0x03,
  SYS_WRITE = 0x05,
  SYS_READC = 0x07,
  SYS_RENAME = 0x0f,
  SYS_ERRNO = 0x13,
  SYS_GET_CMDLINE = 0x15
};

intptr_t sys_semihost(uintptr_t operation, uintptr_t parameter); /* in the C library */
