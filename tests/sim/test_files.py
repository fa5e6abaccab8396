"""Files of a C program under --files: every way to open and to move, in streams and by number; the same program on the host prints the same and leaves the same files."""
import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["DOUGONG_BUILD"]).resolve()
PROGRAM = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned state;
static unsigned below(unsigned limit) { state = state * 1664525u + 1013904223u; return (state >> 8) % limit; }

static const char *reason(void) {
  return errno == 0 ? "well" : errno == ENOENT ? "ENOENT" : errno == EBADF ? "EBADF" : errno == EEXIST ? "EEXIST" : errno == EINVAL ? "EINVAL" : "another";
}

static void start(const char *name) {
  FILE *file = fopen(name, "w");
  for (int i = 0; i < 40; ++i)
    fprintf(file, "line %d of the file\n", i);
  fclose(file);
}

/* Reads, writes and moves at random; between reading and writing one moves, as C demands. */
static void wander(const char *name, const char *mode) {
  FILE *file = fopen(name, mode);
  printf("%s %s: %s\n", name, mode, file ? "open" : reason());
  if (!file)
    return;
  rewind(file); /* where one that is appended to begins each library decides */
  int may_read = *mode == 'r' || strchr(mode, '+') != NULL, may_write = *mode != 'r' || strchr(mode, '+') != NULL;
  for (int i = 0; i < 60; ++i) {
    char bytes[64] = "";
    long size, at;
    switch (below(4)) {
    case 0:
      at = (long)below(900);
      printf("set %d at %ld\n", fseek(file, at, SEEK_SET), ftell(file));
      break;
    case 1:
      at = ftell(file);
      at = (long)below(200) - (at < 100 ? at : 100);
      printf("by %ld: %d at %ld\n", at, fseek(file, at, SEEK_CUR), ftell(file));
      break;
    case 2:
      fseek(file, 0, SEEK_END);
      size = ftell(file);
      at = -(long)below((unsigned)(size < 100 ? size + 1 : 100));
      printf("end %ld: %d at %ld of %ld\n", at, fseek(file, at, SEEK_END), ftell(file), size);
      break;
    default:
      rewind(file);
    }
    if (may_read && (!may_write || below(2))) {
      size_t got;
      if (below(2)) {
        got = fread(bytes, 1, below(60), file);
        printf("read %zu: %s, at %ld, %d\n", got, bytes, ftell(file), feof(file) != 0);
      } else if (fgets(bytes, sizeof bytes, file)) {
        printf("line: %s", bytes);
        int c = getc(file);
        if (c != EOF) { /* where one is in between picolibc does not say right */
          ungetc(c, file);
          c = getc(file);
        }
        printf("then %d, at %ld\n", c, ftell(file));
      }
      clearerr(file);
    } else {
      size = (long)below(50);
      for (long k = 0; k < size; ++k)
        bytes[k] = (char)('a' + below(26));
      printf("wrote %zu\n", fwrite(bytes, 1, (size_t)size, file));
      fflush(file);
      if (*mode == 'a') /* where it wrote picolibc does not say */
        fseek(file, 0, SEEK_END);
      printf("at %ld\n", ftell(file));
    }
  }
  printf("closed %d\n", fclose(file));
}

static void by_number(void) {
  char bytes[32] = "";
  struct { const char *name; int flags; } ways[] = {
      {"there", O_RDONLY}, {"there", O_WRONLY}, {"there", O_RDWR}, {"there", O_WRONLY | O_TRUNC}, {"missing", O_RDONLY}, {"missing", O_RDWR}, {"missing", O_WRONLY | O_TRUNC},
      {"missing", O_WRONLY | O_APPEND}, {"new", O_RDWR | O_CREAT}, {"new", O_RDWR | O_CREAT | O_EXCL}, {"newer", O_WRONLY | O_CREAT | O_EXCL}, {"newer", O_RDWR | O_CREAT | O_APPEND},
      {"newest", O_WRONLY | O_CREAT | O_TRUNC}, {"no/such", O_RDWR | O_CREAT}};
  start("there");
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; ++i) {
    errno = 0;
    int file = open(ways[i].name, ways[i].flags, 0666);
    printf("%u %s: ", i, ways[i].name);
    if (file < 0) {
      puts(reason());
      continue;
    }
    errno = 0;
    printf("write %d ", (int)write(file, "0123456789", 10));
    printf("at %d, to %d, ", (int)lseek(file, 0, SEEK_CUR), (int)lseek(file, 4, SEEK_SET));
    memset(bytes, 0, sizeof bytes);
    int got = (int)read(file, bytes, 3);
    printf("read %d %s, at %d, %s, ", got, bytes, (int)lseek(file, 0, SEEK_CUR), reason());
    errno = 0;
    int back = (int)lseek(file, -100000, SEEK_CUR);
    printf("back %d %s, end %d, close %d\n", back, reason(), (int)lseek(file, 0, SEEK_END), close(file));
  }
  errno = 0;
  int closed = close(200);
  printf("%d %s\n", closed, reason());
  for (int i = 0; i < 1000; ++i) { /* numbers are used again */
    FILE *file = fopen("there", "r");
    if (!file) printf("no more after %d\n", i);
    else fclose(file);
  }
  printf("by number %d\n", (int)write(1, "", 0));
}

int main(void) {
  static const char *const modes[] = {"r", "r+", "w", "w+", "a", "a+", "rb+", "wb", "ab+"};
  for (unsigned i = 0; i < 27; ++i) {
    char name[16];
    snprintf(name, sizeof name, "file%u", i % 9);
    state = i;
    if (i < 9)
      start(name);
    wander(name, modes[i % 9]);
  }
  by_number();
  printf("%d ", rename("file0", "moved"));
  printf("%d ", remove("file1"));
  int gone = remove("file1");
  printf("%d %s\n", gone, reason());
  FILE *file = fopen("moved", "r");
  fseek(file, 0, SEEK_END);
  printf("%ld\n", ftell(file));
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_files_are_those_of_the_host(tmp_path, level):
    left = {}
    (tmp_path / "program.c").write_text(PROGRAM)
    for who, compiler in (("ours", BUILD / "bin/dougong-cc"), ("host", "/usr/lib/llvm-22/bin/clang")):
        subprocess.run([compiler, level, "-w", "program.c", "-o", who], cwd=tmp_path, check=True)
        folder = tmp_path / f"{who}.files"
        folder.mkdir()
        command = [BUILD / "bin/dougong", "sim", "--files", ".", tmp_path / "ours"] if who == "ours" else [tmp_path / "host"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout[-500:]
        left[who] = done.stdout.splitlines(), {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    assert left["ours"][0] == left["host"][0]
    assert left["ours"][1] == left["host"][1] and len(left["host"][1]) > 9


def test_without_files_nothing_opens(tmp_path):
    (tmp_path / "program.c").write_text('#include <errno.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <string.h>\nint main(void) { printf("%d ", open("x", O_RDWR | O_CREAT, 0666)); puts(strerror(errno)); }')
    subprocess.run([BUILD / "bin/dougong-cc", "program.c", "-o", "program"], cwd=tmp_path, check=True)
    done = subprocess.run([BUILD / "bin/dougong", "sim", "program"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "-1 Permission denied\n" and "only with --files FOLDER" in done.stderr


def test_a_program_may_have_functions_of_these_names(tmp_path):
    (tmp_path / "program.c").write_text('#include <stdio.h>\nint read(int a) { return a + 1; }\nint main(void) { FILE *file = fopen("x", "w"); fputs("written", file); return read(fclose(file)); }')
    subprocess.run([BUILD / "bin/dougong-cc", "-w", "-fno-builtin", "program.c", "-o", "program"], cwd=tmp_path, check=True)
    done = subprocess.run([BUILD / "bin/dougong", "sim", "--files", ".", "program"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr, (tmp_path / "x").read_text()) == (1, "", "written")
