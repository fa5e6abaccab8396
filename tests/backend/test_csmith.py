"""Random C programs: three compilers, one checksum. What our backend's code prints on the device model, at O0 and O2, is what the
program prints on the host and what LLVM's RISC-V backend's code for the same base prints on the model.

Csmith's programs have no undefined behaviour, so that correct compilers must agree. A program counts when it ends soon, on the host
(the packaged clang without optimisation) and as the stock backend compiles it; then ours must end too. How long a program may run is
counted in instructions of the model, so that the verdict does not depend on this machine's load.

60 programs; DOUGONG_PART=2/20 is the second twentieth of 1,000 others, as `./run-tests --long` runs them.
"""
import itertools
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
FLAGS = ["-w", "-I", CSMITH]
HOST_SECONDS = 1  # of processor time
STOCK_INSTRUCTIONS = 400_000_000  # less than a second
OUR_INSTRUCTIONS = 20 * STOCK_INSTRUCTIONS  # ours at O0 against stock's at O2
SIMULATOR = [BIN / "dougong", "sim", "--max-instructions"]
if part := os.environ.get("DOUGONG_PART"):
    PART, PARTS = map(int, part.split("/"))
    WANTED, SEEDS = 1000 * PART // PARTS - 1000 * (PART - 1) // PARTS, itertools.count(1000 + PART, PARTS)
else:
    WANTED, SEEDS = 60, itertools.count(1)


def run(command, folder):
    """What it did; None if it does not end."""
    try:
        return subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None


def built(commands, folder):
    """Runs the compilers in order: what the first that fails says, or nothing."""
    for command in commands:
        done = run(command, folder)
        if done is None or done.returncode != 0:
            return f"does not compile: {done.stderr[:300] if done else 'more than two minutes'}"
    return ""


def wrong(got, expected):
    if got is None:
        return "runs for over two minutes"
    return "" if got.returncode == 0 and got.stdout == expected.stdout else f"prints {got.stdout.strip()} {got.stderr[:300]}, host {expected.stdout.strip()}"


def check(seed, folder):
    """None when the program does not end or cannot be had; else what is wrong with it, empty if nothing is."""
    source = folder / f"{seed}.c"
    run(["csmith", "--seed", seed, "--no-packed-struct", "--max-funcs", "6", "-o", source], folder)
    # int, char and bit-fields as on the target, where plain char is unsigned.
    if built([[CLANG, *FLAGS, "-O0", "-funsigned-char", source, "-o", f"{seed}.host"]], folder):
        return None
    expected = run(["prlimit", f"--cpu={HOST_SECONDS}", f"./{seed}.host"], folder)
    if expected is None or expected.returncode != 0:
        return None
    stock = built([[CLANG, *STOCK, *FLAGS, "-O2", "-c", source, "-o", f"{seed}.stock.o"], [BIN / "dougong-cc", f"{seed}.stock.o", "-o", f"{seed}.stock"]], folder)
    got = None if stock else run([*SIMULATOR, STOCK_INSTRUCTIONS, f"{seed}.stock"], folder)
    if not stock and (got is None or "instructions, the most that were allowed" in got.stderr):
        return None
    problem = stock or wrong(got, expected)
    if problem:
        return f"seed {seed} stock: {problem}"
    for level in ["-O2", "-O0"]:
        problem = built([[BIN / "dougong-cc", *FLAGS, level, source, "-mllvm", "-verify-machineinstrs", "-o", f"{seed}.elf"]], folder)
        problem = problem or wrong(run([*SIMULATOR, OUR_INSTRUCTIONS, f"{seed}.elf"], folder), expected)
        if problem:
            return f"seed {seed} {level}: {problem}"
    for path in folder.glob(f"{seed}.*"):
        path.unlink()
    return ""


@pytest.mark.skipif(not os.path.exists(CSMITH), reason="csmith is not installed (./setup installs it)")
def test_random_programs_print_the_checksum_of_the_host_and_of_the_stock_backend(tmp_path):
    seeds = itertools.islice(SEEDS, 2 * WANTED)  # one program in eight does not end soon
    checked = []
    with ThreadPoolExecutor(2) as pool:
        while len(checked) < WANTED and (batch := list(itertools.islice(seeds, WANTED - len(checked)))):
            checked += [w for w in pool.map(lambda seed: check(seed, tmp_path), batch) if w is not None]
    bad = [w for w in checked if w]
    assert not bad, f"{len(bad)} of {len(checked)} programs, kept in {tmp_path}\n" + "\n".join(bad)
    assert len(checked) == WANTED, f"only {len(checked)} programs end"
