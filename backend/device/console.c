/* stdin, stdout, stderr, and fgets. picolibc has them too, but there the end of the input is a byte like any, stderr is stdout, and a last
 * line without a newline is lost. */
#include "semihosting.h"
#include <stdio.h>

static int get(FILE *file) {
  (void)file;
  intptr_t byte = sys_semihost(SYS_READC, 0);
  return byte < 0 ? _FDEV_EOF : (int)byte;
}

static int put(char byte, FILE *file) {
  (void)file;
  sys_semihost(SYS_WRITEC, (uintptr_t)&byte);
  return (unsigned char)byte;
}

static int put_error(char byte, FILE *file) {
  static intptr_t handle = -1;
  (void)file;
  if (handle < 0) {
    uintptr_t console[3] = {(uintptr_t)":tt", 8, 3}; /* to append to: stderr */
    handle = sys_semihost(SYS_OPEN, (uintptr_t)console);
  }
  uintptr_t bytes[3] = {(uintptr_t)handle, (uintptr_t)&byte, 1};
  return sys_semihost(SYS_WRITE, (uintptr_t)bytes) == 0 ? (unsigned char)byte : _FDEV_ERR;
}

static FILE input = FDEV_SETUP_STREAM(NULL, get, NULL, _FDEV_SETUP_READ);
static FILE output = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
static FILE errors = FDEV_SETUP_STREAM(put_error, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stdin = &input;
FILE *const stdout = &output;
FILE *const stderr = &errors;

char *fgets(char *restrict line, int room, FILE *restrict file) {
  char *to = line;
  while (room-- > 1) {
    int byte = getc(file);
    if (byte == EOF) {
      if (to == line || ferror(file))
        return NULL;
      break;
    }
    *to++ = (char)byte;
    if (byte == '\n')
      break;
  }
  *to = 0;
  return line;
}
