"""Where a C program's stack and heap end: a clear fault for the one, NULL for the other, and never one in the other."""
import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["DOUGONG_BUILD"]).resolve()
PROGRAM = r"""
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of stack at every level; what a caller wrote into its own must be there when it comes back. */
static int level(int left, int bytes) {
  volatile char frame[bytes];
  frame[0] = frame[bytes - 1] = (char)left;
  if (left && level(left - 1, bytes) != left - 1)
    return -1;
  return frame[0] == (char)left && frame[bytes - 1] == (char)left ? left : -1;
}

int main(int count, char **arguments) {
  if (count == 3) {
    int levels = atoi(arguments[1]);
    puts(level(levels, atoi(arguments[2])) == levels ? "every frame is whole" : "overwritten");
    return 0;
  }
  int pieces = 0;
  for (char *volatile piece; (piece = malloc(1 << 20)); ++pieces)
    memset(piece, 1, 1 << 20);
  printf("%d %d\n", pieces, errno == ENOMEM);
  return 0;
}
"""


def link(folder, *options):
    (folder / "levels.c").write_text(PROGRAM)
    return subprocess.run([BUILD / "bin/dougong-cc", "-g", "-O1", "levels.c", "-o", "levels.elf", *options], cwd=folder, capture_output=True, text=True)


def run(folder, *arguments):
    return subprocess.run([BUILD / "bin/dougong", "sim", folder / "levels.elf", *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stack")
    assert link(folder).returncode == 0
    return folder


@pytest.mark.parametrize("levels, bytes", [(7000, 1000), (6, 1 << 20)])
def test_what_fits_works(program, levels, bytes):
    result = run(program, levels, bytes)
    assert (result.returncode, result.stdout) == (0, "every frame is whole\n"), result.stderr


@pytest.mark.parametrize("levels, bytes", [(9000, 1000), (100000000, 16), (9, 1 << 20), (1, 40 << 20)])
def test_an_overflow_is_a_fault_that_says_so(program, levels, bytes):
    result = run(program, levels, bytes)
    assert result.returncode == 200 and result.stdout == ""
    for part in "device fault: core 0", "levels.c:", "the stack has overflown, which is 8192 KiB", "-Wl,--defsym=__stack_size=BYTES":
        assert part in result.stderr


def test_a_larger_stack(tmp_path):
    assert link(tmp_path, "-Wl,--defsym=__stack_size=0x4000000").returncode == 0
    assert run(tmp_path, 60, 1 << 20).stdout == "every frame is whole\n"
    assert "which is 65536 KiB" in run(tmp_path, 70, 1 << 20).stderr
    result = link(tmp_path, "-Wl,--defsym=__stack_size=0x40000000")
    assert result.returncode != 0 and "do not fit in 1 GiB" in result.stderr


def test_the_heap_ends_before_the_stack(program):
    pieces, no_memory = map(int, run(program).stdout.split())
    # 1 GiB less the stack and the gap, some of it the allocator's own.
    assert 900 <= pieces <= 1024 - 8 - 64 and no_memory


def test_a_stack_in_local_memory_is_not_the_programs(tmp_path):
    (tmp_path / "local.c").write_text("""#include <dougong_npu.h>
static int deep(int n) { volatile char frame[1000]; frame[0] = n; return n ? deep(n - 1) + frame[0] : 0; }
static void run(void *levels) { *(int *)levels = deep(*(int *)levels); }
int main(int count, char **arguments) { int levels = count > 1 ? 1000000 : 10; dg_call_in_lm(run, &levels, 65536); return levels; }
""")
    subprocess.run([BUILD / "bin/dougong-cc", "-g", "-O1", "local.c", "-o", "levels.elf"], cwd=tmp_path, check=True)
    assert run(tmp_path).returncode == 55
    result = run(tmp_path, "deep")
    assert result.returncode == 200 and "local.c:2" in result.stderr and result.stderr.endswith(": the stack has overflown\n")
