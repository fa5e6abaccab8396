"""Random C programs: three compilers, one checksum. What our backend's code prints on the device model, at O0 and O2, is what the
program prints on the host and what LLVM's RISC-V backend's code for the same base prints on the model.

Csmith's programs have no undefined behaviour, so that correct compilers must agree. A seed counts when the program ends, on the host
and as the stock backend compiles it; then ours must end too. 60 programs by default, 1,000 with DOUGONG_LONG.
The host's reference is the packaged clang without optimisation.
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "../../bench"))
from code_quality import CLANG, STOCK  # noqa: E402

BIN = (Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parent / "../../build")) / "bin").resolve()
CSMITH = "/usr/include/csmith"
COUNT = 1000 if os.environ.get("DOUGONG_LONG") else 60
FLAGS = ["-w", "-I", CSMITH]


def run(command, folder, seconds=60):
    try:
        return subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


def built(commands, folder):
    """Runs the compilers in order: what the first that fails says, or nothing."""
    for command in commands:
        done = run(command, folder)
        if done is None or done.returncode != 0:
            return f"does not compile: {done.stderr[:300] if done else 'more than a minute'}"
    return ""


def wrong(got, expected):
    if got is None:
        return "runs for over a minute"
    return "" if got.returncode == 0 and got.stdout == expected.stdout else f"prints {got.stdout.strip()} {got.stderr[:300]}, host {expected.stdout.strip()}"


def check(seed, folder):
    """None when the program does not end or cannot be had; else what is wrong with it, empty if nothing is."""
    source = folder / f"{seed}.c"
    run(["csmith", "--seed", seed, "--no-packed-struct", "--max-funcs", "6", "-o", source], folder)
    # int, char and bit-fields as on the target, where plain char is unsigned.
    if built([[CLANG, *FLAGS, "-O0", "-funsigned-char", source, "-o", f"{seed}.host"]], folder):
        return None
    expected = run([f"./{seed}.host"], folder, 5)
    if expected is None or expected.returncode != 0:
        return None
    stock = built([[CLANG, *STOCK, *FLAGS, "-O2", "-c", source, "-o", f"{seed}.stock.o"], [BIN / "dougong-cc", f"{seed}.stock.o", "-o", f"{seed}.stock"]], folder)
    got = None if stock else run([BIN / "dougong", "sim", f"{seed}.stock"], folder)
    if not stock and got is None:
        return None
    problem = stock or wrong(got, expected)
    if problem:
        return f"seed {seed} stock: {problem}"
    for level in ["-O2", "-O0"]:
        problem = built([[BIN / "dougong-cc", *FLAGS, level, source, "-mllvm", "-verify-machineinstrs", "-o", f"{seed}.elf"]], folder)
        problem = problem or wrong(run([BIN / "dougong", "sim", f"{seed}.elf"], folder), expected)
        if problem:
            return f"seed {seed} {level}: {problem}"
    for path in folder.glob(f"{seed}.*"):
        path.unlink()
    return ""


@pytest.mark.skipif(not os.path.exists(CSMITH), reason="csmith is not installed (./setup installs it)")
def test_random_programs_print_the_checksum_of_the_host_and_of_the_stock_backend(tmp_path):
    with ThreadPoolExecutor(2) as pool:  # one program in eight never ends
        checked = [w for w in pool.map(lambda seed: check(seed, tmp_path), range(1, COUNT * 5 // 4 + 1)) if w is not None]
    bad = [w for w in checked if w]
    assert not bad, f"{len(bad)} of {len(checked)} programs\n" + "\n".join(bad)
    assert len(checked) >= COUNT, f"only {len(checked)} programs end"
