"""Where the scalar base has no meaning: the device model stops at that instruction and says why, in both modes, and where the specifications ask for a
trap QEMU raises one too. Each case is an entry of one program; registers hold what `BEFORE` says.
At the end, what they leave to the machine and isa/README.md settles."""
import os
import re
import signal
import subprocess

import pytest
from records import BUILD, LLVM, instructions, run
from side_by_side import QEMU, QEMU_CPU, assemble_and_link

LONG = "DOUGONG_LONG" in os.environ  # every mode, order and offset that is wrong, else one each
ILL, SEGV, BUS, TRAP = signal.SIGILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGTRAP
BEFORE = "lla s1, memory\nli a1, 0x3f800000\nli a2, 0x40000000\nli a3, 0\nli a4, 1\nli a7, 5000\n"
REACHED = "\nli a0, 1\nlla a1, exit_words\nli a0, 0x20\n.balign 16\nslli zero, zero, 31\nebreak\nsrai zero, zero, 7\n"


def illegal(code, message=None, theirs=ILL):
    return code, f"illegal instruction: {message}" if message else "illegal instruction 0x[0-9a-f]+", theirs


def floats():
    """Every instruction with a rounding mode, those that never round among them, in the modes that are none."""
    for i in instructions():
        if i.scalar and "rm" in i.operands:
            place = {"rd": 10, "rs1": 11, "rs2": 12, "rs3": 13}
            values = {v: place[v] for v in i.operands if v in place}
            for rm in (5, 6) if LONG else [5 + len(i.record["Mnemonic"]) % 2]:
                yield f"{i.record['Mnemonic']} {rm}", illegal(f".4byte {i.encode(values | {'rm': rm}):#x}", "reserved rounding mode")
            for frm in (5, 6, 7) if LONG else [5 + len(i.record["Mnemonic"]) % 3]:
                yield f"{i.record['Mnemonic']} dyn {frm}", illegal(f"csrwi frm, {frm}\nbad: .4byte {i.encode(values | {'rm': 7}):#x}", "reserved rounding mode")


def atomics():
    """An address that is not a multiple of the width."""
    for i in instructions():
        if i.scalar and i.opcode() == 0x2F and (LONG or i.record["Mnemonic"].endswith((".w", ".d"))):
            bytes_ = 8 if ".d" in i.record["Mnemonic"] else 4
            for off in (1, bytes_ // 2, bytes_ - 1) if LONG else [bytes_ // 2]:
                text = i.text({"rd": 10, "rs1": 9, "rs2": 12}).replace("\t", " ")
                yield f"{i.record['Mnemonic']} +{off}", (f"addi s1, s1, {off}\nbad: {text}", f"atomic access of {bytes_} bytes at 0x[0-9a-f]+, which is not a multiple of {bytes_}",
                                                     None if text[:2] == "sc" else BUS)  # QEMU does not look at the address of an sc that fails


CASES = dict(floats()) | dict(atomics()) | {
    # Control registers. The specification asks for a trap where there is none, and at each write, of the same value too, to one that is read only.
    "no such register": illegal("csrr a0, 0x7c0", "control register 0x7c0 does not exist"),
    "no such register written": illegal("csrw 0x7c0, a4", "control register 0x7c0 does not exist"),
    "no such register, of those read only": illegal("csrw 0xc50, a4", "control register 0xc50 does not exist"),
    "supervisor": illegal("csrr a0, satp", "control register 0x180 does not exist"),
    "unimp": illegal("unimp", "control register 0xc00 is read only"),
    "csrrw cycle": illegal("csrrw a0, cycle, a4", "control register 0xc00 is read only"),
    "csrrs time": illegal("csrrs a0, time, a4", "control register 0xc01 is read only"),
    # A write of the same value, which QEMU 7.2 takes for none.
    "csrrs instret of nothing in a register": illegal("csrrs a0, instret, a3", "control register 0xc02 is read only", None),
    "csrrc cycle": illegal("csrrc a0, cycle, a3", "control register 0xc00 is read only", None),
    "csrrwi cycle": illegal("csrrwi a0, cycle, 0", "control register 0xc00 is read only"),
    "csrrsi cycle": illegal("csrrsi a0, cycle, 1", "control register 0xc00 is read only"),
    "csrrci cycle": illegal("csrrci a0, cycle, 1", "control register 0xc00 is read only"),
    "mhartid": illegal("csrw mhartid, a4", "control register 0xf14 is read only"),
    # Machine level: these are all that a program sees of it here, and QEMU's user mode has none.
    "misa": illegal("csrw misa, a4", "control register 0x301 is read only"),
    "mcycle": illegal("csrw mcycle, a4", "control register 0xb00 is read only"),
    "minstret": illegal("csrw minstret, a4", "control register 0xb02 is read only"),
    "dgcores": illegal("csrw 0xcc0, a4", "control register 0xcc0 is read only"),
    # Words and half words that are no instruction of the base.
    "zeros": illegal(".2byte 0"),
    "ones": illegal(".4byte 0xffffffff"),
    "48 bits": illegal(".2byte 0x001f, 0, 0"),
    "64 bits": illegal(".2byte 0x003f, 0, 0, 0"),
    "slliw by 32": illegal(".insn r 0x1b, 1, 1, a0, a1, x0"),
    "sraiw by 32": illegal(".insn r 0x1b, 5, 0x21, a0, a1, x0"),
    "srai by 64": illegal(".insn r 0x13, 5, 0x22, a0, a1, x0"),
    "bexti": illegal(".insn r 0x13, 5, 0x24, a0, a1, x1"),
    "clmul": illegal(".insn r 0x33, 1, 5, a0, a1, a2"),
    "sub, bit 31": illegal(".insn r 0x33, 0, 0x60, a0, a1, a2"),
    "amoadd.b": illegal(".insn r 0x2f, 0, 0, a0, s1, a2"),
    "amoadd of 128 bits": illegal(".insn r 0x2f, 4, 0, a0, s1, a2"),
    "lr.w with a source": illegal(".insn r 0x2f, 2, 0x08, a0, s1, a2"),
    "fsqrt.s of two": illegal(".insn r 0x53, 0, 0x2c, a0, a1, a2"),
    "fadd.h": illegal(".insn r 0x53, 0, 0x02, a0, a1, a2"),
    "fadd.q": illegal(".insn r 0x53, 0, 0x03, a0, a1, a2"),
    "flw": illegal(".4byte 0x0004a507"),
    "fsw": illegal(".4byte 0x00a4a027"),
    "fmv.x.w": illegal(".insn r 0x53, 0, 0x70, a0, a1, x0", theirs=None),  # which QEMU 7.2 knows with Zfinx too
    "fmv.w.x": illegal(".insn r 0x53, 0, 0x78, a0, a1, x0", theirs=None),
    "fmv.x.d": illegal(".insn r 0x53, 0, 0x71, a0, a1, x0"),
    "branch, funct3 2": illegal(".insn b 0x63, 2, a0, a1, .+8"),
    "branch, funct3 3": illegal(".insn b 0x63, 3, a0, a1, .+8"),
    "load, funct3 7": illegal(".insn i 0x03, 7, a0, 0(s1)"),
    "store, funct3 4": illegal(".insn s 0x23, 4, a0, 0(s1)"),
    "jalr, funct3 1": illegal(".insn i 0x67, 1, a0, 0(s1)"),
    "ecall with a register": illegal(".4byte 0x00000573"),
    "mret": illegal("mret"),
    "sret": illegal("sret"),
    "sfence.vma": illegal("sfence.vma"),
    "vsetvli": illegal(".4byte 0x0d05f557"),
    # Code is read when it is first reached; there is no Zifencei to have it read again. QEMU has it.
    "fence.i": illegal("fence.i", theirs=None),
    "wfi": illegal("wfi", theirs=None),
    "c.addi4spn 0": illegal(".2byte 0x0008"),
    "c.addiw x0": illegal(".2byte 0x2005"),
    "c.addi16sp 0": illegal(".2byte 0x6101"),
    "c.lui 0": illegal(".2byte 0x6501"),
    "c.lwsp x0": illegal(".2byte 0x4002"),
    "c.ldsp x0": illegal(".2byte 0x6002"),
    "c.jr x0": illegal(".2byte 0x8002"),
    "c.subw's neighbour": illegal(".2byte 0x9c41"),
    "c.fld": illegal(".2byte 0x2080"),
    "c.fsd": illegal(".2byte 0xa080"),
    "c.fldsp": illegal(".2byte 0x2502"),
    "c.fsdsp": illegal(".2byte 0xa02a"),
    "100 reserved": illegal(".2byte 0x8000"),
    # Calls of an environment. ecall is Linux's in QEMU.
    "ecall": ("ecall", "ecall: there is no operating system to call", None),
    "ebreak": ("ebreak", "ebreak: the program stopped itself", TRAP),
    "c.ebreak": (".2byte 0x9002", "ebreak: the program stopped itself", TRAP),
    "ebreak after half of a call": ("slli zero, zero, 31\nbad: ebreak\nsrai zero, zero, 6", "ebreak: the program stopped itself", TRAP),
    "ebreak before half of a call": ("slli zero, zero, 30\nbad: ebreak\nsrai zero, zero, 7", "ebreak: the program stopped itself", TRAP),
    "c.ebreak in a call": ("slli zero, zero, 31\nbad: .2byte 0x9002\nsrai zero, zero, 7", "ebreak: the program stopped itself", TRAP),
    "a host call that is none": ("li a0, 0x7f\n.balign 16\nslli zero, zero, 31\nbad: ebreak\nsrai zero, zero, 7", "semihosting operation 0x7f is not known", None),
    # Jumps: to any even address; jalr clears the last bit.
    "jump to nothing": ("jalr a0, 0(zero)", "jumps to 0x0, which is not code", SEGV),
    "jump to data": ("jalr a0, 0(s1)", r"jumps to 0x[0-9a-f]+, which is not code \(data in the program \[0x", SEGV),
    "jump to the end of the address space": ("jalr a0, -1(zero)", "jumps to 0xfffffffffffffffe, which is not code", SEGV),
    "jump to local memory": ("lui a0, 0x10000\nbad: jalr a0, 0(a0)", r"jumps to 0x10000000, which is not code \(local memory holds data only\)", SEGV),
    "jump to where a kernel returns": ("li a0, 16\nbad: jalr a0, 0(a0)", "jumps to 0x10, which is not code", SEGV),
    "jal out of code": ("jal zero, _start - 64", r"jumps to 0x[0-9a-f]+, which is not code \(data in the program \[0x", None),
    # Memory: of any alignment, but mapped, the whole of it.
    "load from nothing": ("ld a0, 0(zero)", "read of 8 bytes at 0x0:", SEGV),
    "load from beneath zero": ("lw a0, -4(zero)", "read of 4 bytes at 0xfffffffffffffffc:", SEGV),
    "load across zero": ("ld a0, -4(zero)", "read of 8 bytes at 0xfffffffffffffffc:", SEGV),
    "store to nothing": ("sb a0, 8(zero)", "write of 1 byte at 0x8:", SEGV),
    "store to nothing, atomically": ("amoadd.w a0, a2, (zero)", "read of 4 bytes at 0x0:", SEGV),
    "lr from nothing": ("lr.d a0, (zero)", "read of 8 bytes at 0x0:", SEGV),
    "load of another core's memory": ("lui a0, 0x20000\nbad: ld a0, 0(a0)", "read of 8 bytes at 0x20000000: local memory of a core, seen from outside, is for DMA only", SEGV),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """One executable, and of each case the addresses of its entry and of the instruction that is at fault."""
    folder = tmp_path_factory.mktemp("faults")
    lines = [".option norvc", ".globl _start", "_start: ebreak"]
    for n, (code, _, _) in enumerate(CASES.values()):
        code = code if "bad:" in code else f"bad: {code}"
        lines.append(f".balign 16\nentry{n}: {BEFORE}{code.replace('bad:', f'bad{n}:')}{REACHED}")
    lines += [".balign 16\nover: nop", ".data", ".balign 64", "exit_words: .8byte 0x20026, 0", ".balign 64", "memory: .zero 64"]
    elf = assemble_and_link(folder, "\n".join(lines))
    symbols = {name: int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) \S (\S+)$", run(LLVM / "llvm-nm", elf).stdout, re.M)}
    return folder, elf.read_bytes(), symbols


def enter(folder, raw, address):
    """The program with another entry."""
    path = folder / f"at{address:x}.elf"
    path.write_bytes(raw[:24] + address.to_bytes(8, "little") + raw[32:])
    path.chmod(0o755)
    return path


def fault(path, *options):
    result = run(BUILD / "bin/dougong", "sim", *options, path)
    match = re.fullmatch(r"device fault: core 0 at 0x([0-9a-f]+) \([^)]*\): (.*)\n", result.stderr)
    assert result.returncode == 200 and match, f"{result.returncode} {result.stderr}"
    return int(match.group(1), 16), match.group(2)


def test_each_is_a_fault_that_names_it(programs):
    folder, raw, symbols = programs
    wrong = []
    for n, (name, (_, message, _)) in enumerate(CASES.items()):
        path = enter(folder, raw, symbols[f"entry{n}"])
        at, text = fault(path)
        if at != symbols[f"bad{n}"] or not re.match(message, text):
            wrong.append(f"{name}: {text!r} at {at:#x}, not {message!r} at {symbols[f'bad{n}']:#x}")
        if n % 10 == 0 or not name[-1].isdigit():
            assert fault(path, "--timing") == (at, text)
        path.unlink()
    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(not QEMU, reason="qemu-riscv64 is not installed; ./setup installs it")
def test_qemu_traps_too(programs):
    folder, raw, symbols = programs
    wrong = []
    for n, (name, (_, _, theirs)) in enumerate(CASES.items()):
        if theirs is None:
            continue
        path = enter(folder, raw, symbols[f"entry{n}"])
        done = subprocess.run([QEMU, "-cpu", QEMU_CPU, path], capture_output=True, text=True, timeout=30)
        if done.returncode != -theirs:
            wrong.append(f"{name}: {done.returncode}, not {-theirs}")
        path.unlink()
    assert not wrong, "\n".join(wrong)


def test_execution_does_not_run_over_the_end_of_code(programs):
    folder, raw, symbols = programs
    at, text = fault(enter(folder, raw, symbols["over"]))
    assert (at, text) == (symbols["over"] + 4, f"execution runs over the end of its code at {symbols['over'] + 4:#x}")


def digits(folder, code, modes=([], ["--timing"])):
    """What a program leaves in a5, the same in all modes."""
    elf = assemble_and_link(folder, ".option norvc\n.globl _start\n_start: li a5, 0\nlla s1, memory\n" + code
                            + f"\nlla a1, exit_words\nsd a5, 8(a1)\n{REACHED}\n.data\n.balign 64\nexit_words: .8byte 0x20026, 0\nmemory: .zero 64\n")
    codes = {run(BUILD / "bin/dougong", "sim", *options, elf).returncode for options in modes}
    assert len(codes) == 1
    return codes.pop()


def test_code_is_read_when_it_is_first_reached(tmp_path):
    """A store to it before is seen, one after is not, whatever fences stand between."""
    store = "lla t0, there\nli t1, {}\nsw t1, 0(t0)\nfence\n"
    two, three = (n << 20 | 14 << 7 | 0x13 for n in (2, 3))  # addi a4, zero, n
    around = "jal ra, there\nslli a5, a5, 2\nor a5, a5, a4\n"
    assert digits(tmp_path, store.format(two) + around + store.format(three) + around + "j 9f\nthere: addi a4, zero, 1\nret\n9:") == 0b1010


def test_reservations(tmp_path):
    """lr reserves one address until the next sc, whatever the widths and the core's own stores between."""
    sc = "\nslli a5, a5, 1\nor a5, a5, a4\n"
    assert digits(tmp_path, sc.join(["lr.w a0, (s1)\nsd zero, 0(s1)\nsc.w a4, a0, (s1)", "sc.w a4, a0, (s1)", "lr.w a0, (s1)\nsc.d a4, a0, (s1)",
                                     "addi s2, s1, 8\nlr.d a0, (s1)\nsc.d a4, a0, (s2)", "sc.d a4, a0, (s1)", "lr.w a0, (s1)\nlr.w a0, (s2)\nsc.w a4, a0, (s1)", ""])) == 0b010111


@pytest.mark.parametrize("counter", ["instret", "cycle", "time", "minstret", "mcycle"])
def test_counters_count_instructions(counter, tmp_path):
    """instret in both modes; in functional mode, which has no time, the others too."""
    code = f"csrr a3, {counter}\n.option rvc\nc.nop\n.option norvc\nnop\nj 1f\nnop\n1: csrr a4, {counter}\nsub a5, a4, a3"
    assert digits(tmp_path, code, ([], ["--timing"]) if counter.endswith("instret") else ([],)) == 4


def control_registers():
    """(name, number, whether its documentation or its number says that it is read only) of the records."""
    records = instructions()[0].records
    for name in records["!instanceof"]["ControlRegister"]:
        record = records[name]
        number = record["Number"] if isinstance(record["Number"], int) else sum(b << i for i, b in enumerate(record["Number"]))
        yield record["Name"], number, number >> 10 == 3 or "read only" in record["Documentation"]


@pytest.mark.parametrize("name, number, read_only", control_registers())
def test_every_control_register_is_as_its_record_says(name, number, read_only, tmp_path):
    """Reads; is written, and keeps what it holds (of fflags 5 bits, of frm 3, of fcsr both), or faults."""
    bits = {"fflags": 31, "frm": 7, "fcsr": 255}.get(name, -1)
    code = f"csrr a3, {number}\nli a3, 0x123456789abcdef5\n" + ("bad: " if read_only else "") + f"csrrw a5, {number}, a3\ncsrr a4, {number}\nandi a3, a3, {bits}\nxor a5, a4, a3\nsnez a5, a5"
    if not read_only:
        assert digits(tmp_path, code) == 0
        return
    elf = assemble_and_link(tmp_path, f".globl _start\n_start: {code}\n")
    assert fault(elf)[1] == f"illegal instruction: control register {number:#05x} is read only"
