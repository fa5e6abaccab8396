"""How fast the device model is on one core of this host: millions of instructions a second on a small loop and on large flat code, functional and with
timing, beside qemu-riscv64 on the same machine code, which LLVM's RISC-V backend made; nanoseconds a vector instruction; multiply-adds of the tensor engine; and a whole launch.

Times are the processor's, not the clock's on the wall, and what the start of a process takes is subtracted. Run as
    PYTHONPATH=build/python .venv/bin/python bench/model_speed.py
"""
import json
import pathlib
import random
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "kernels"))
import device_kernels  # noqa: E402

BIN = device_kernels.BUILD / "bin"
STOCK = ["/usr/lib/llvm-22/bin/clang", "--target=riscv64-unknown-elf", "-march=rv64ima_zicsr_zfinx_zdinx_zba_zbb", "-mabi=lp64", "-mcmodel=medany", "-mno-relax",
         "-O2", "-w", "-fno-builtin", "-ffreestanding", "-c"]
# `work(n)` is the program; the same machine code runs on QEMU, which needs another entry and exit.
MAIN = r"""
unsigned long work(unsigned long n);
static unsigned long number(const char *s) { unsigned long n = 0; while (*s) n = n * 10 + (*s++ - '0'); return n; }
#ifdef FOR_QEMU
static void leave(long status) { register long a0 __asm__("a0") = status, a7 __asm__("a7") = 93; __asm__ volatile("ecall" : : "r"(a0), "r"(a7)); __builtin_unreachable(); }
__attribute__((used)) static void begin(const long *stack) { leave(work(number((const char *)stack[2])) & 127); }
__asm__(".globl _start\n_start:\n\tmv a0, sp\n\tj begin\n");
#else
int main(int argc, char **argv) { return work(number(argv[1])) & 127; }
#endif
"""
LOOPS = r"""
static unsigned char composite[1 << 12];
static unsigned table[256];
unsigned long work(unsigned long n) {
  unsigned long result = 0;
  for (unsigned i = 0; i < 256; ++i) { unsigned c = i; for (int j = 0; j < 8; ++j) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1; table[i] = c; }
  for (unsigned long round = 0; round < n; ++round) {
    for (unsigned i = 0; i < sizeof composite; ++i) composite[i] = 0;
    for (unsigned i = 2; i * i < sizeof composite; ++i)
      if (!composite[i]) for (unsigned j = i * i; j < sizeof composite; j += i) composite[j] = 1;
    unsigned crc = ~0u;
    for (unsigned i = 0; i < sizeof composite; ++i) crc = table[(crc ^ composite[i]) & 255] ^ crc >> 8;
    result += crc ^ round;
  }
  return result;
}
"""


def flat_code(functions: int = 600) -> str:
    """Functions of straight-line arithmetic, about 70 instructions each, called in random order: 42,000 instructions that hardly repeat."""
    chance = random.Random(1)
    text = ["static unsigned long memory[1024];"]
    for f in range(functions):
        lines = [f"__attribute__((noinline)) static unsigned long f{f}(unsigned long a, unsigned long b) {{ unsigned long c = a ^ b, d = a + {chance.randrange(1 << 11)};"]
        for _ in range(22):
            x, y, z = (chance.choice("abcd") for _ in range(3))
            lines.append(chance.choice([f"{x} = {y} + {z};", f"{x} ^= {y} << {chance.randrange(1, 20)};", f"{x} = {y} * {z} + {chance.randrange(2000)};",
                                        f"if ({x} > {y}) {z} += {chance.randrange(2000)};", f"{x} += memory[{y} % 1024];", f"memory[{x} % 1024] = {y};"]))
        text.append(" ".join(lines) + " return a + b + c + d; }")
    order = chance.sample(range(functions), functions)
    calls = " ".join(f"r += f{f}(r, i);" for f in order)
    text.append(f"unsigned long work(unsigned long n) {{ unsigned long r = 1; for (unsigned long i = 0; i < n; ++i) {{ {calls} }} return r; }}")
    return "\n".join(text)


def processor_seconds(command: list) -> tuple[float, int]:
    """And the exit status."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run(command, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, status


def scalar_rates(source: str, rounds: int) -> dict[str, float]:
    """Million instructions a second, by who runs it. `rounds` are as many as take about a second."""
    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        (here / "program.c").write_text(MAIN + source)
        for name, options in (("program", []), ("qemu", ["-DFOR_QEMU"])):
            subprocess.run(STOCK + options + [here / "program.c", "-o", here / f"{name}.o"], check=True)
        subprocess.run([BIN / "dougong-cc", here / "program.o", "-o", here / "program.elf"], check=True)
        (here / "anywhere.ld").write_text("")  # pages of their own for code and data, which program.ld does without
        subprocess.run([BIN / "dougong-cc", here / "qemu.o", "-o", here / "qemu.elf", "-T", here / "anywhere.ld", "-nostartfiles", "-Wl,--entry=_start"], check=True)

        def instructions(n: int) -> int:
            subprocess.run([BIN / "dougong", "sim", "--stats", here / "stats.json", here / "program.elf", str(n)], check=False)
            return json.loads((here / "stats.json").read_text())["instructions"]

        count = instructions(rounds) - instructions(1)
        ways = {"functional": [BIN / "dougong", "sim", here / "program.elf"], "timing": [BIN / "dougong", "sim", "--timing", here / "program.elf"]}
        if shutil.which("qemu-riscv64"):
            ways["qemu"] = ["qemu-riscv64", "-cpu", "rv64,zba=true,zbb=true", here / "qemu.elf"]
        statuses = set()
        for way, command in ways.items():
            short = min(processor_seconds(command + ["1"])[0] for _ in range(3))
            seconds, status = min(processor_seconds(command + [str(rounds)]) for _ in range(3))
            statuses.add(status)
            rates[way] = count / 1e6 / (seconds - short)
        assert len(statuses) == 1, f"exit statuses differ: {statuses}"
    return rates


def vector_nanoseconds(timing: bool, iterations: int = 3_000_000) -> float:
    launch = device_kernels.Launch("speed.c", "vectors", [iterations], timing=timing)
    return 1e9 * launch.processor_seconds / launch.statistics["vector_instructions"]


def tensor_rate(kind: int, commands: int = 3000) -> float:
    """Billion multiply-adds a second."""
    launch = device_kernels.Launch("speed.c", "tensors", [commands, kind], timing=False)
    return launch.statistics["tensor_macs"] / 1e9 / launch.processor_seconds


if __name__ == "__main__":
    for name, source, rounds in (("small loops", LOOPS, 8000), ("large flat code", flat_code(), 4000)):
        rates = scalar_rates(source, rounds)
        print(f"{name}: " + ", ".join(f"{way} {rate:.0f}" for way, rate in rates.items()) + " million instructions a second"
              + (f"; functional / qemu {rates['functional'] / rates['qemu']:.2f}" if "qemu" in rates else ""), flush=True)
    print(f"vector instruction: functional {vector_nanoseconds(False):.2f} ns, timing {vector_nanoseconds(True):.2f} ns", flush=True)
    print(f"tensor engine: f16 {tensor_rate(device_kernels.F16):.0f}, bf16 {tensor_rate(device_kernels.BF16):.0f}, int8 {tensor_rate(device_kernels.I8):.0f} GMAC/s", flush=True)
    launch = device_kernels.gemm("phone", "int8", sampled_rows=1)
    print(f"int8 4096^3 on the phone, with timing: {launch.processor_seconds:.2f} s of the processor, {launch.host_seconds:.2f} s", flush=True)
