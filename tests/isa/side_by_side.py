"""One program for the device model and for QEMU: linked at the same address, writing its results to a file through semihosting, which both know."""
import re
import shutil
import struct
from pathlib import Path

from records import BUILD, LLVM, run

QEMU = shutil.which("qemu-riscv64")
QEMU_CPU = "rv64,f=false,d=false,zfinx=true,zdinx=true,zba=true,zbb=true,zbs=false,zbc=false"
ATTRIBUTES = "+m,+a,+c,+zicsr,+zfinx,+zdinx,+zba,+zbb"
LM_BASE, LM_BYTES = 0x10000000, 1 << 20  # isa/machine_layout.h, machines/phone.toml
PT_LOAD, PT_GNU_STACK, PT_RISCV_ATTRIBUTES, READ, WRITE = 1, 0x6474E551, 0x70000003, 4, 2
HOST_CALL = ".balign 16\nslli zero, zero, 31\nebreak\nsrai zero, zero, 7"


def program(folder: Path, code: str, data: str, begin: str, end: str) -> Path:
    """An executable of `code`, which then writes memory from label `begin` to `end` to the file "bytes"."""
    return assemble_and_link(folder, "\n".join([
        ".option norvc", ".globl _start", "_start:", code,
        "li a0, 1", "lla a1, .Lopen", HOST_CALL, "lla a1, .Lwrite", "sd a0, 0(a1)", "li a0, 5", HOST_CALL, "mv s0, a0", "lla a1, .Lwrite", "li a0, 2", HOST_CALL,
        "lla a1, .Lexit", "sd s0, 8(a1)", "li a0, 0x20", HOST_CALL,
        ".data", ".balign 8", ".Lopen: .8byte .Lname, 5, 5", f".Lwrite: .8byte 0, {begin}, {end} - {begin}", ".Lexit: .8byte 0x20026, 0", '.Lname: .asciz "bytes"', ".balign 64", data]))


def assemble_and_link(folder: Path, text: str) -> Path:
    """program.elf, by LLVM's assembler, which knows 16-bit instructions."""
    source = folder / "program.s"
    source.write_text(text + "\n")
    for command in ([LLVM / "llvm-mc", "-triple=riscv64", f"-mattr={ATTRIBUTES}", "-filetype=obj", source, "-o", folder / "program.o"],
                    [LLVM / "ld.lld", "--image-base=0x80000000", folder / "program.o", "-o", folder / "program.elf"]):
        result = run(*command, cwd=folder)
        assert result.returncode == 0, result.stderr[:3000]
    return folder / "program.elf"


def results(folder: Path, *command) -> bytes:
    (folder / "bytes").unlink(missing_ok=True)
    result = run(*command, cwd=folder)
    assert result.returncode == 0, f"{command}: {result.returncode} {result.stderr[:3000]}"
    return (folder / "bytes").read_bytes()


def on_model(folder: Path, *options) -> bytes:
    return results(folder, BUILD / "bin/dougong", "sim", "--files", ".", *options, "program.elf")


def on_sanitized_model(folder: Path, *options) -> bytes:
    """The model's build with the address and undefined-behaviour sanitizers."""
    return results(folder, Path(__file__).parents[2] / "build-sanitize/bin/run_program", *options, "program.elf")


def on_qemu(folder: Path, *options) -> bytes:
    """With memory where a core has its local memory."""
    raw = bytearray((folder / "program.elf").read_bytes())
    headers, size, n = struct.unpack_from("<Q", raw, 32)[0], *struct.unpack_from("<HH", raw, 54)
    unused = next(at for at in range(headers, headers + n * size, size) if struct.unpack_from("<I", raw, at)[0] in (PT_GNU_STACK, PT_RISCV_ATTRIBUTES))
    struct.pack_into("<IIQQQQQQ", raw, unused, PT_LOAD, READ | WRITE, 0, LM_BASE, LM_BASE, 0, LM_BYTES, 0x1000)
    (folder / "qemu.elf").write_bytes(raw)
    (folder / "qemu.elf").chmod(0o755)
    return results(folder, QEMU, "-cpu", QEMU_CPU, *options, "./qemu.elf")


def executed(folder: Path) -> dict[str, int]:
    """How many places of the program QEMU has executed, by mnemonic. It translates a stretch of code when it gets there, up to the next jump, and
    all of it then runs; what stands there LLVM's disassembler says."""
    on_qemu(folder, "-d", "in_asm", "-D", "log")
    addresses = {int(a, 16) for a in re.findall(r"^0x([0-9a-f]+):", (folder / "log").read_text(), re.M)}
    listing = run(LLVM / "llvm-objdump", "-d", "-M", "no-aliases", f"--mattr={ATTRIBUTES}", "--no-show-raw-insn", folder / "program.elf")
    counts = {}
    for address, name in re.findall(r"^\s*([0-9a-f]+):\s+(\S+)", listing.stdout, re.M):
        if int(address, 16) in addresses:
            counts[name] = counts.get(name, 0) + 1
    return counts
