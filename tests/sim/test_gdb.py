"""gdb-multiarch over the model's stub: break, step, print, threads, vector registers, engines, faults."""
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).parents[2]
BIN = SOURCE / "build" / "bin"

PROGRAM = r"""
#include <stdio.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(int argc, char **argv) {
  int total = 0;
  for (int i = 0; i < 10; ++i)
    total += fib(i);
  printf("total %d\n", total);
  if (argc > 1)
    *(volatile int *)16 = total;
  return 7;
}
"""

pytestmark = pytest.mark.skipif(not shutil.which("gdb-multiarch"), reason="gdb-multiarch is not installed")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gdb")
    (folder / "fib.c").write_text(PROGRAM)
    subprocess.run([BIN / "dougong-cc", "-g", "-O0", "fib.c", "-o", "fib.elf"], cwd=folder, check=True)
    return folder / "fib.elf"


def session(program, *commands, arguments=(), options=()):
    """What gdb prints, and the model's exit status."""
    model = subprocess.Popen([BIN / "dougong", "sim", "--gdb", "0", *options, program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    port = re.search(r":(\d+)", model.stderr.readline()).group(1)
    script = ["set confirm off", "set pagination off", f"target remote :{port}", *commands]
    try:
        gdb = subprocess.run(["gdb-multiarch", "-q", "-batch", "-nx", program, *(item for command in script for item in ("-ex", command))],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, stdin=subprocess.DEVNULL)
        _, errors = model.communicate(timeout=60)
    finally:
        model.kill()
    return gdb.stdout, model.returncode, errors


@pytest.mark.parametrize("options", [(), ("--timing",)])
def test_break_print_step_and_finish(program, options):
    printed, status, _ = session(program, "break fib if n == 3", "continue", "backtrace", "print n + 100", "delete", "finish", "print i", "next", "continue", options=options)
    assert re.search(r"Breakpoint 1, fib \(n=3\) at .*fib\.c:3", printed)
    assert re.search(r"#1 .* in main \(argc=1, argv=.*\) at .*fib\.c:7", printed)
    assert "= 103" in printed
    assert re.search(r"Value returned is \$\d+ = 2", printed)  # fib(3)
    assert re.search(r"^\$\d+ = 3$", printed, re.MULTILINE)    # i
    assert "exited with code 07" in printed and status == 7


def test_stepping_counts_one_instruction(program):
    printed, _, _ = session(program, "break main", "continue", "print/x $pc", "stepi", "print/x $pc", "stepi", "print/x $pc", "kill")
    first, second, third = (int(v, 16) for v in re.findall(r"\$\d+ = (0x[0-9a-f]+)", printed))
    assert second - first in (2, 4) and third - second in (2, 4)


def test_registers_threads_memory_and_engines(program):
    printed, status, _ = session(program, "break main", "continue", "set var $v3.i32[5] = 77", "print $v3.i32[5]", "print $m1", "set var {int}0x10000040 = 1234",
                                 "x/dw 0x10000040", "x/dw 0x18000000", "info threads", "monitor engines", "monitor nonsense", "print total", "delete", "continue")
    assert "= 77" in printed and re.search(r"0x10000040:\s+1234", printed) and re.search(r"0x18000000:\s+0", printed)
    assert "(core 0)" in printed and "(core 5, not running)" in printed
    assert "tensor   flag 0 = 0: 0 issued, 0 waiting" in printed and "monitor commands: engines" in printed
    assert status == 7


def test_a_fault_stops_with_its_reason(program):
    printed, status, errors = session(program, "continue", "print total", "continue", arguments=["fault"])
    assert "write of 4 bytes at 0x10" in printed
    assert re.search(r"SIGSEGV.*", printed) and re.search(r"main \(argc=2", printed)
    assert "= 88" in printed  # fib(0) + … + fib(9)
    assert status == 200 and "device fault" in errors


def test_a_client_that_leaves_lets_the_program_end(program):
    _, status, _ = session(program, "break fib", "continue", "delete", "detach")
    assert status == 7
