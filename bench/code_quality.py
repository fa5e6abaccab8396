"""Our backend beside LLVM's RISC-V one: the same C, base and library, -O2, on the same device model. Instructions executed, and cycles in timing mode.

    .venv/bin/python bench/code_quality.py         below 1: ours needs fewer
"""
import json
import math
import pathlib
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).parents[1]
BIN = SOURCE / "build" / "bin"
CLANG = "/usr/lib/llvm-22/bin/clang"
STOCK = ["--target=riscv64-unknown-elf", "-march=rv64ima_zicsr_zfinx_zdinx_zba_zbb", "-mabi=lp64", "-mcmodel=medany", "-mno-relax", "-ffp-contract=off",
         "-isystem", "/usr/lib/picolibc/riscv64-unknown-elf/include"]


def measured(program: pathlib.Path) -> tuple[str, int, int]:
    """What the program prints, instructions executed, and cycles."""
    stats = program.with_suffix(".json")
    done = subprocess.run([BIN / "dougong", "sim", "--timing", "--machine", "phone", "--stats", stats, program], capture_output=True, text=True, check=True)
    counted = json.loads(stats.read_text())
    return done.stdout, counted["instructions"], counted["cycles"]


def compare(source: pathlib.Path, folder: pathlib.Path) -> tuple[float, float]:
    """Ours over stock: instructions, cycles."""
    ours, stock, peer = folder / f"{source.stem}.elf", folder / f"{source.stem}.stock.o", folder / f"{source.stem}.stock.elf"
    subprocess.run([BIN / "dougong-cc", "-O2", source, "-o", ours], check=True)
    subprocess.run([CLANG, *STOCK, "-O2", "-c", source, "-o", stock], check=True)
    subprocess.run([BIN / "dougong-cc", stock, "-o", peer], check=True)
    (text, instructions, cycles), (other, peer_instructions, peer_cycles) = measured(ours), measured(peer)
    assert text == other and text, f"{source.name} prints {text!r}, compiled by the stock backend {other!r}"
    return instructions / peer_instructions, cycles / peer_cycles


def mean(ratios) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def all_programs() -> dict[str, tuple[float, float]]:
    with tempfile.TemporaryDirectory() as folder:
        return {source.stem: compare(source, pathlib.Path(folder)) for source in sorted((SOURCE / "bench" / "programs").glob("*.c"))}


if __name__ == "__main__":
    ratios = all_programs()
    for name, (instructions, cycles) in ratios.items():
        print(f"{name:12} instructions {instructions:6.3f}   cycles {cycles:6.3f}")
    print(f"{'geometric mean':12} {mean([r[0] for r in ratios.values()]):6.3f}          {mean([r[1] for r in ratios.values()]):6.3f}")
