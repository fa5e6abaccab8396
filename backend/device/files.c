/* Files by number, and what the C library lacks of files. picolibc has these functions too, but there a file cannot be opened to be
 * changed, nor be asked where one is in it.
 *
 * The host's calls know a handle, which is our number, and absolute places; where a program is in each of its files is kept here. All are
 * weak: none of these names is C's own, and a program may have functions of the same name. */
#include "semihosting.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WEAK __attribute__((weak))

enum { FIRST = 3, MOST = 256 };

static struct {
  bool open, readable, writable, append;
  off_t at;
} files[MOST];

static int failure(int number) {
  errno = number;
  return -1;
}

/* The host's last error; numbers that differ between Linux and picolibc are translated. */
static int host_failure(void) {
  intptr_t number = sys_semihost(SYS_ERRNO, 0);
  return failure(number == 36 ? ENAMETOOLONG : number == 39 ? ENOTEMPTY : number == 40 ? ELOOP : (int)number);
}

static intptr_t open_as(const char *name, enum host_mode mode) {
  uintptr_t request[3] = {(uintptr_t)name, mode, strlen(name)};
  return sys_semihost(SYS_OPEN, (uintptr_t)request);
}

WEAK int open(const char *name, int flags, ...) {
  bool writable = (flags & O_ACCMODE) != O_RDONLY, append = writable && flags & O_APPEND;
  intptr_t handle = -1;
  if (flags & O_CREAT && (flags & O_EXCL || (writable && !append && !(flags & O_TRUNC)))) { /* is it there? */
    handle = open_as(name, flags & O_EXCL ? HOST_READ : HOST_CHANGE);
    if (handle >= 0 && flags & O_EXCL) {
      sys_semihost(SYS_CLOSE, (uintptr_t)&handle);
      return failure(EEXIST);
    }
  }
  if (handle < 0) {
    bool create = flags & O_CREAT;
    if (writable && !create && (append || flags & O_TRUNC)) { /* the host's modes for these would make it */
      handle = open_as(name, HOST_READ);
      if (handle < 0)
        return host_failure();
      sys_semihost(SYS_CLOSE, (uintptr_t)&handle);
    }
    handle = open_as(name, !writable ? HOST_READ : append ? HOST_APPEND : create || flags & O_TRUNC ? HOST_CREATE : HOST_CHANGE);
  }
  if (handle < 0)
    return host_failure();
  if (handle >= MOST) {
    sys_semihost(SYS_CLOSE, (uintptr_t)&handle);
    return failure(EMFILE);
  }
  files[handle].open = true;
  files[handle].readable = (flags & O_ACCMODE) != O_WRONLY;
  files[handle].writable = writable;
  files[handle].append = append;
  files[handle].at = 0;
  return (int)handle;
}

static bool known(int file) { return file >= FIRST && file < MOST && files[file].open; }

WEAK int close(int file) {
  uintptr_t handle = (uintptr_t)file;
  if (!known(file))
    return file >= 0 && file < FIRST ? 0 : failure(EBADF);
  files[file].open = false;
  return sys_semihost(SYS_CLOSE, (uintptr_t)&handle) == 0 ? 0 : host_failure();
}

static off_t length(int file) {
  uintptr_t handle = (uintptr_t)file;
  return sys_semihost(SYS_FLEN, (uintptr_t)&handle);
}

WEAK off_t lseek(int file, off_t distance, int from) {
  if (!known(file))
    return failure(file >= 0 && file < FIRST ? ESPIPE : EBADF);
  off_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? files[file].at : from == SEEK_END ? length(file) : -1;
  if (base < 0 || base + distance < 0)
    return failure(EINVAL);
  return files[file].at = base + distance;
}

/* Moves bytes at the file's place; returns how many, or -1. */
static ssize_t transfer(int file, uintptr_t operation, const void *bytes, size_t count) {
  uintptr_t place[2] = {(uintptr_t)file, (uintptr_t)files[file].at}, request[3] = {(uintptr_t)file, (uintptr_t)bytes, count};
  if (sys_semihost(SYS_SEEK, (uintptr_t)place) != 0) /* also when reading and writing alternate */
    return host_failure();
  size_t left = (size_t)sys_semihost(operation, (uintptr_t)request);
  if (left == count && count && operation == SYS_WRITE)
    return host_failure();
  files[file].at = operation == SYS_WRITE && files[file].append ? length(file) : files[file].at + (off_t)(count - left);
  return (ssize_t)(count - left);
}

WEAK ssize_t read(int file, void *bytes, size_t count) {
  if (file == STDIN_FILENO) { /* to the end of a line */
    size_t got = 0;
    for (char *to = bytes; got < count && (got == 0 || to[got - 1] != '\n'); ++got) {
      int byte = getc(stdin);
      if (byte == EOF)
        break;
      to[got] = (char)byte;
    }
    return (ssize_t)got;
  }
  return known(file) && files[file].readable ? transfer(file, SYS_READ, bytes, count) : failure(EBADF);
}

WEAK ssize_t write(int file, const void *bytes, size_t count) {
  if (file == STDOUT_FILENO || file == STDERR_FILENO)
    return (ssize_t)fwrite(bytes, 1, count, file == STDOUT_FILENO ? stdout : stderr);
  return known(file) && files[file].writable ? transfer(file, SYS_WRITE, bytes, count) : failure(EBADF);
}

WEAK int rename(const char *from, const char *to) {
  uintptr_t names[4] = {(uintptr_t)from, strlen(from), (uintptr_t)to, strlen(to)};
  return sys_semihost(SYS_RENAME, (uintptr_t)names) == 0 ? 0 : host_failure();
}
