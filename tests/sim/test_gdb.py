"""gdb-multiarch over the model's stub: a scripted session per feature; and the protocol itself, spoken by hand."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

import pytest

SOURCE = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("DOUGONG_BUILD", SOURCE / "build")).resolve()
BIN, INPUTS = BUILD / "bin", pathlib.Path(__file__).parent / "inputs"

needs_gdb = pytest.mark.skipif(not shutil.which("gdb-multiarch"), reason="gdb-multiarch is not installed")


def line(source, letter):
    """The number of the line with this letter in its comment."""
    return next(n for n, text in enumerate((INPUTS / source).read_text().splitlines(), 1) if re.search(rf"// {letter}\b", text))


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gdb")

    def built(source, level, *flags):
        out = folder / f"{source}{level}.elf"
        if not out.exists():
            subprocess.run([BIN / "dougong-cc", "-g", level, *flags, INPUTS / source, "-o", out], check=True)
        return out
    return built


@pytest.fixture
def program(programs):
    return programs("stepping.c", "-O0")


class Model:
    """`dougong sim --gdb`, or another command whose device waits for gdb."""

    def __init__(self, *command):
        self.process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.port = int(re.search(r"target remote :(\d+)", self.process.stderr.readline()).group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def end(self):
        """Its exit status, and what it wrote to stdout and stderr."""
        out, errors = self.process.communicate(timeout=60)
        return self.process.returncode, out, errors


def gdb(symbols, port, *commands):
    script = ["set confirm off", "set pagination off", f"target remote :{port}", *commands]
    done = subprocess.run(["gdb-multiarch", "-q", "-batch", "-nx", symbols, *(item for command in script for item in ("-ex", command))],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return done.stdout


def session(program, *commands, arguments=(), options=()):
    """What gdb prints, the model's exit status, and its stderr."""
    with Model(BIN / "dougong", "sim", "--gdb", "0", *options, program, *arguments) as model:
        printed = gdb(program, model.port, *commands)
        status, _, errors = model.end()
    return printed, status, errors


# ---- Programs under gdb -----------------------------------------------------------------------------------------------------

@needs_gdb
@pytest.mark.parametrize("options", [(), ("--timing",)])
def test_break_print_step_and_finish(program, options):
    printed, status, _ = session(program, "break fib if n == 3", "continue", "backtrace", "print n + 100", "delete", "finish", "print i", "next", "continue", options=options)
    assert re.search(rf"Breakpoint 1, fib \(n=3\) at .*stepping\.c:{line('stepping.c', 'F')}", printed)
    assert re.search(rf"#1 .* in main \(argc=1, argv=.*\) at .*stepping\.c:{line('stepping.c', 'T')}", printed)
    assert "= 103" in printed
    assert re.search(r"Value returned is \$\d+ = 2", printed)  # fib(3)
    assert re.search(r"^\$\d+ = 3$", printed, re.MULTILINE)    # i
    assert "exited with code 07" in printed and status == 7


@needs_gdb
def test_step_into_next_over_until_and_up(program):
    at = line("stepping.c", "T")
    printed, _, _ = session(program, f"break stepping.c:{at}", "continue", "step", "up", "print total", "down", "finish", "delete", f"until stepping.c:{at + 1}", f"tbreak stepping.c:{line('stepping.c', 'P')}", "continue",
                            "info locals", "kill")
    assert re.search(rf"^fib \(n=0\) at .*stepping\.c", printed, re.MULTILINE)  # step
    assert re.search(rf"#1 .* in main .*stepping\.c:{at}", printed)               # up
    assert re.search(rf"main .*stepping\.c:{at + 1}|^{at + 1}\t", printed, re.MULTILINE)
    assert "total = 88" in printed and "mean = 1.5" in printed


@needs_gdb
def test_structs_arrays_and_globals(program):
    printed, _, _ = session(program, f"break stepping.c:{line('stepping.c', 'P')}", "continue", "print readings[2]", "print readings[1].value + 1", "print sizeof(readings)", "ptype struct reading",
                            "print &readings[1]", "set var readings[0].value = 8.25", "print readings[0].value", "kill")
    assert r'= {place = 2, value = 3, name = "r2\000\000\000\000\000"}' in printed
    assert "= 2.5" in printed and "= 72" in printed and "double value;" in printed and "<readings+24>" in printed and "= 8.25" in printed


@needs_gdb
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_watchpoint_stops_where_a_variable_changes(programs, level):
    printed, status, _ = session(programs("stepping.c", level), "watch readings[1].value", "continue", "print readings[1].value", "print readings[2].value", "delete", "continue")
    assert re.search(r"ardware watchpoint 1: readings\[1\]\.value\s+Old value = 0\s+New value = 1\.5", printed)
    assert re.findall(r"^\$\d+ = (.*)$", printed, re.MULTILINE) == ["1.5", "0"]
    assert status == 7


@needs_gdb
def test_stepping_counts_one_instruction(program):
    printed, _, _ = session(program, "break main", "continue", "print/x $pc", "stepi", "print/x $pc", "stepi", "print/x $pc", "kill")
    first, second, third = (int(v, 16) for v in re.findall(r"\$\d+ = (0x[0-9a-f]+)", printed))
    assert second - first in (2, 4) and third - second in (2, 4)


@needs_gdb
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_vectors_in_registers_and_local_memory(programs, level):
    program = programs("lanes.c", level)
    printed, status, _ = session(program, f"break lanes.c:{line('lanes.c', 'V')}", "continue", "print factor", "print scaled[3]", "print v[31]", "print whole[3]", "backtrace", "delete",
                                 f"break lanes.c:{line('lanes.c', 'M')}", "continue", f"print *(float *)0x{0x10000000 + 33 * 4:x}", "print ((float *)0x10000000)[31]@1", "continue")
    values = re.findall(r"^\$\d+ = (.*)$", printed, re.MULTILINE)
    assert (values[1], values[3], values[4]) == ("7.5", "7", "4.5") and "31" in values[5] and status == 4
    if level == "-O0":  # else what is not used again may be gone
        assert (values[0], values[2]) == ("2.5", "31")
    assert re.search(r"#0  scale .*lanes\.c", printed)


@needs_gdb
def test_registers_by_lanes_and_masks(program):
    printed, status, _ = session(program, "break main", "continue", "set var $v3.v32i32[5] = 77", "print $v3.v32i32[5]", "print $v3.v128i8[20]", "set var $v31.v32f32[0] = 1.5",
                                 "print $v31.v32f32[0]", "print $v31.v64f16[1]", "print/x $v31.v32u32[0]", "set var $m7.bits = 0x80000005", "print $m7.lanes", "set var $a7 = 1234567", "print $a7", "print $x17",
                                 "delete", "continue")
    values = re.findall(r"^\$\d+ = (.*)$", printed, re.MULTILINE)
    assert values == ["77", "77", "1.5", "1.9375", "0x3fc00000", "[ l0 l2 l31 ]", "1234567", "1234567"]  # 0x3fc0 as f16: 1.9375
    assert status == 7


@needs_gdb
def test_memory_of_every_kind(program, tmp_path):
    (tmp_path / "bytes").write_bytes(bytes(range(256)) * 40)
    printed, status, _ = session(program, "break main", "continue", "set var {int}0x10000040 = 1234", "x/dw 0x10000040", "set var {float}0x18000004 = 2.5", "x/fw 0x18000004",
                                 f"restore {tmp_path / 'bytes'} binary 0x10001000", f"dump binary memory {tmp_path / 'back'} 0x10001000 0x10003800", "x/s argv[0]", "print *(int *)0",
                                 "set var *(int *)0xfffffff8 = 1", "delete", "continue")
    assert re.search(r"0x10000040:\s+1234", printed) and re.search(r"0x18000004:\s+2\.5", printed)
    assert (tmp_path / "back").read_bytes() == (tmp_path / "bytes").read_bytes()
    assert "Cannot access memory at address 0x0" in printed and "Cannot access memory at address 0xfffffff8" in printed
    assert status == 7


@needs_gdb
def test_code_that_is_written_runs_as_written(program):
    # li a0, 9; ret in the place of fib: main adds 9 ten times.
    printed, _, _ = session(program, "break main", "continue", "set var {int}&fib = 0x00900513", "set var *(int *)((char *)&fib + 4) = 0x00008067", "delete",
                            f"break stepping.c:{line('stepping.c', 'P')}", "continue", "print total", "kill")
    assert re.search(r"^\$\d+ = 90$", printed, re.MULTILINE)


@needs_gdb
def test_monitor_commands(program):
    printed, _, _ = session(program, "break main", "continue", "info threads", "monitor engines", "monitor memory", "monitor cores", "monitor help", "monitor nonsense", "kill")
    assert '"core 0" (running)' in printed and '"core 5" (not running)' in printed
    assert "tensor   flag 0 = 0: 0 issued, 0 waiting" in printed
    assert re.search(r"0x80000000  \d+ bytes: the program", printed) and "bytes: the heap" in printed and "8388608 bytes: the stack" in printed
    assert re.search(r"core 0 is at 0x[0-9a-f]+ \(main\+\d+\), [1-9]\d* instructions", printed)
    assert "no monitor command 'nonsense'" in printed and printed.count("queues, flags") == 2


@needs_gdb
@pytest.mark.parametrize("argument,signal,reason", [("read", "SIGSEGV", "read of 4 bytes at 0x10: a null pointer"), ("stop", "SIGTRAP", "ebreak: the program stopped itself"),
                                                    ("illegal", "SIGILL", "illegal instruction 0xffffffff")])
def test_a_fault_stops_with_its_reason(program, argument, signal, reason):
    printed, status, errors = session(program, "continue", "print total", "continue", arguments=[argument])
    assert reason in printed and f"received signal {signal}" in printed and re.search(r"main \(argc=2", printed)
    assert "= 88" in printed  # fib(0) + … + fib(9)
    assert status == 200 and "device fault" in errors and reason in errors


@needs_gdb
def test_the_limit_of_instructions_holds_under_gdb(program):
    printed, status, errors = session(program, "continue", "continue", arguments=["spin"], options=["--max-instructions", "100000"])
    assert "received signal SIGXCPU" in printed and status == 200 and "limit: core 0" in errors


@needs_gdb
def test_backwards_is_refused(program):
    printed, status, _ = session(program, "break main", "continue", "reverse-step", "reverse-continue", "delete", "continue")
    assert printed.count("Target remote does not support this command.") == 2 and status == 7


@needs_gdb
def test_a_client_that_leaves_lets_the_program_end(program):
    _, status, _ = session(program, "break fib", "continue", "delete", "detach")
    assert status == 7


@needs_gdb
def test_calling_a_function_of_the_program(program):
    printed, status, _ = session(program, f"break stepping.c:{line('stepping.c', 'P')}", "continue", "print fib(11)", "delete", "continue")
    assert re.search(r"^\$\d+ = 89$", printed, re.MULTILINE) and status == 7


# ---- Kernels on all cores ---------------------------------------------------------------------------------------------------

LAUNCH = """
import pathlib, sys
import numpy as np, dougong
device = dougong.Device("npu:phone,cores=3" + sys.argv[2])
shared = device.put(np.zeros(2, np.uint64))
module = device.load(pathlib.Path(sys.argv[1]).read_bytes())
device.launch(device.kernel(module, "turns"), [3], [shared])
print(device.get(shared, (2,), np.uint64).tolist(), device.statistics.get("cycles", ""))
"""


@pytest.fixture
def kernel(programs):
    return programs("turns.c", "-O2", "-ffreestanding", "-nostartfiles", "-Wl,-pie,--no-dynamic-linker,--no-gc-sections", "-Wl,--entry=turns")


@needs_gdb
def test_cores_of_a_kernel_are_threads(kernel):
    with Model(sys.executable, "-c", LAUNCH, kernel, ",gdb=0") as model:
        printed = gdb(kernel, model.port, "info threads", f"break turns.c:{line('turns.c', 'L')}", "continue", "print shared[0]", "print core", "thread 2", "print $x10 != 0", "stepi",
                      "continue", "print shared[1]", "print core", "delete", "continue")
        status, out, errors = model.end()
    assert len(re.findall(r"Thread \d .*turns\.c:\d+", printed)) >= 3, printed  # info threads: all at the kernel, whose symbols moved with it
    assert len(set(re.findall(r"Thread (\d) .* hit Breakpoint 1", printed))) == 2
    assert (status, out) == (0, "[0, 6] 0\n"), errors  # the lock is free; 1 + 2 + 3


@needs_gdb
def test_stepping_one_core_while_others_stand(kernel):
    with Model(sys.executable, "-c", LAUNCH, kernel, ",gdb=0") as model:
        printed = gdb(kernel, model.port, "set scheduler-locking on", "thread 3", f"tbreak turns.c:{line('turns.c', 'U')}", "continue", "monitor cores", "set scheduler-locking off", "continue")
        status, out, errors = model.end()
    assert "Thread 3" in printed and 'hit Temporary breakpoint 1' in printed, printed
    assert re.search(r"core 0 is at .*\(turns\+0\), 0 instructions", printed) and re.search(r"core 2 is at .*, [1-9]\d* instructions", printed)
    assert (status, out) == (0, "[0, 6] 0\n"), errors


@needs_gdb
def test_next_over_a_lock_that_another_core_holds(kernel):
    # Thread 1 stops inside; the others, which wait for it, are stepped beside it or stand, and all come through.
    with Model(sys.executable, "-c", LAUNCH, kernel, ",gdb=0") as model:
        printed = gdb(kernel, model.port, f"tbreak turns.c:{line('turns.c', 'L')}", "continue", "next", "next", "next", "next", "continue")
        status, out, _ = model.end()
    assert (status, out) == (0, "[0, 6] 0\n") and "Cannot insert breakpoint" not in printed, printed


@needs_gdb
def test_a_launch_takes_as_long_under_gdb(kernel):
    plain = subprocess.run([sys.executable, "-c", LAUNCH, kernel, ",timing"], capture_output=True, text=True, timeout=60, check=True).stdout
    with Model(sys.executable, "-c", LAUNCH, kernel, ",timing,gdb=0") as model:
        gdb(kernel, model.port, "continue")
        status, out, errors = model.end()
    assert (status, out) == (0, plain), errors
    assert int(plain.split()[-1]) > 100


def test_a_port_that_is_none():
    done = subprocess.run([sys.executable, "-c", "import dougong; dougong.Device('npu:phone,gdb=99999')"], capture_output=True, text=True, timeout=60)
    assert done.returncode and "'gdb=99999' is no option of an NPU" in done.stderr and "'gdb=PORT'" in done.stderr


@needs_gdb
def test_a_killed_launch_is_an_error(kernel):
    with Model(sys.executable, "-c", LAUNCH, kernel, ",gdb=0") as model:
        gdb(kernel, model.port, "kill")
        status, _, errors = model.end()
    assert status != 0 and "the debugger has ended the launch" in errors


# ---- The protocol -----------------------------------------------------------------------------------------------------------

class Client:
    """Speaks packets."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def raw(self, data):
        self.socket.sendall(data)

    def byte(self):
        while not self.buffer:
            self.buffer = self.socket.recv(65536)
            assert self.buffer, "the server closed the connection"
        first, self.buffer = self.buffer[:1], self.buffer[1:]
        return first

    def reply(self):
        """The next packet's body; acknowledgements are passed over."""
        while self.byte() != b"$":
            pass
        body = b""
        while (c := self.byte()) != b"#":
            body += c
        self.byte(), self.byte()
        self.raw(b"+")
        return body

    def ask(self, body):
        body = body.encode() if isinstance(body, str) else body
        self.raw(b"$" + body + b"#" + f"{sum(body) % 256:02x}".encode())
        return self.reply()


def served(program, *arguments, options=()):
    return Model(BIN / "dougong", "sim", "--gdb", "0", *options, program, *arguments)


@pytest.mark.parametrize("options", [(), ("--timing",)])
def test_a_running_program_can_be_interrupted(program, options):
    with served(program, "spin", options=options) as model, Client(model.port) as client:
        client.raw(b"$vCont;c#a8")
        time.sleep(0.3)
        client.raw(b"\x03")
        assert client.reply().startswith(b"T02thread:1;")
        assert client.ask("?").startswith(b"T02")
        client.raw(b"$c#63")
        time.sleep(0.1)
        client.raw(b"\x03")
        assert client.reply().startswith(b"T02")
        client.raw(b"$k#6b")
        assert model.end()[0] == 1


def test_a_client_that_is_lost_comes_back_to_the_same_place(program):
    with served(program) as model:
        with Client(model.port) as client:
            client.ask("vCont;s:1")
            pc = client.ask("p20")
        with Client(model.port) as client:
            assert client.ask("p20") == pc
            client.raw(b"$c#63")  # and one that is lost while the program runs
        with Client(model.port) as client:
            assert client.ask("?")[:3] in (b"T02", b"T05")


def test_a_client_that_detached_can_come_back(program):
    with served(program, "spin") as model:
        with Client(model.port) as client:
            assert client.ask("D") == b"OK"
        time.sleep(0.2)
        with Client(model.port) as client:  # stops the program
            assert client.ask("?").startswith(b"T")
            assert client.ask("p20") != b"0" * 16
            assert client.ask("vKill;1") == b"OK"
        assert model.end()[0] == 1


def test_requests_that_make_no_sense(program):
    with served(program) as model, Client(model.port) as client:
        for request in ("bs", "bc", "vRun;x", "vMustReplyEmpty", "qNothing", "R00", "!", "Z3,80000000,4", "Z9,0,0", "Z", "", "e", "X"):
            assert client.ask(request) in (b"", b"E01"), request
        for request in ("p", "pzz", "p999", "p-1", "P0", "P5=12", "P20=0000000000000000", "Hg99", "H", "T", "T0", "Tff", "m", "m80000000", "m,4", "M80000000,2:1", "M80000000,1:zz", "M80000000,2:000000",
                        "X80000000,5:ab", "Z0,80000000", "vCont;x", "vCont;s:99", "vCont;r80", "vCont;", "G00", "qXfer:features:read:target.xml:0", "qRcmd,6", "s1", "c7"):
            assert client.ask(request).startswith(b"E"), request
        for request in ("m0,4", "mffffffffffffffff,ffffffffffffffff", "M0,1:00", "X18,0:", "Z0,0,4", "Z2,0,4", "Z2,80000000,ffffffffffff", "x0,8"):
            assert client.ask(request) in (b"E14", b"E01"), request
        assert client.ask("m80000000,0") == b"" and client.ask("X80000000,0:") == b"OK"
        assert client.ask(b"X10000000,5:\x01}\x03}\x04}\x5d}\x0a") == b"OK"    # bytes escaped: # $ } *
        assert client.ask("m10000000,5") == b"0123247d2a"
        assert client.ask("x10000000,5") == b"b\x01}\x03}\x04}\x5d}\x0a"


def test_packets_that_are_damaged(program):
    with served(program) as model, Client(model.port) as client:
        client.raw(b"junk$?#00")
        assert client.byte() == b"-"                       # a wrong checksum
        client.raw(b"$?#3f")
        assert client.byte() == b"+" and client.reply().startswith(b"T05")
        client.raw(b"-")                                   # not received: once more
        assert client.reply().startswith(b"T05")
        client.raw(b"$m8000$?#3f")                         # begun anew
        assert client.reply().startswith(b"T05")
        client.raw(b"$" + b"m" * 300000 + b"#" + f"{300000 * ord('m') % 256:02x}".encode())
        assert client.reply() == b""                       # longer than any request
        assert client.ask("QStartNoAckMode") == b"OK"
        client.raw(b"$?#zz$?#3f")
        assert client.reply().startswith(b"T05")


def test_a_port_that_is_taken(program):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = subprocess.run([BIN / "dougong", "sim", "--gdb", str(other.getsockname()[1]), program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and re.search(r"--gdb: cannot listen on port \d+: Address already in use; choose another port, or 0 for any", done.stderr)
