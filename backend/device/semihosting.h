/* The call of the host (`dougong sim`) that a program's start-up and console are made of: operation and parameter in, result out, by the
 * convention that RISC-V took over from Arm. */
#pragma once
#include <stdint.h>

enum {
  SYS_OPEN = 0x01,
  SYS_CLOSE = 0x02,
  SYS_WRITEC = 0x03,
  SYS_WRITE = 0x05,
  SYS_READ = 0x06,
  SYS_READC = 0x07,
  SYS_SEEK = 0x0a,
  SYS_FLEN = 0x0c,
  SYS_RENAME = 0x0f,
  SYS_ERRNO = 0x13,
  SYS_GET_CMDLINE = 0x15
};

/* How SYS_OPEN opens: as C's "rb", "r+b", "w+b", "a+b". */
enum host_mode { HOST_READ = 1, HOST_CHANGE = 3, HOST_CREATE = 7, HOST_APPEND = 11 };

intptr_t sys_semihost(uintptr_t operation, uintptr_t parameter); /* in the C library */
