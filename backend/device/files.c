/* What the C library declares of files and does not have. */
#include "semihosting.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

int rename(const char *from, const char *to) {
  uintptr_t names[4] = {(uintptr_t)from, strlen(from), (uintptr_t)to, strlen(to)};
  if (sys_semihost(SYS_RENAME, (uintptr_t)names) == 0)
    return 0;
  errno = (int)sys_semihost(SYS_ERRNO, 0);
  return -1;
}
