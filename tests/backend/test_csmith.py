"""Random C programs: the checksum they print on the device model equals the one they print on the host.

Csmith's programs have no undefined behaviour, so that two correct compilers must agree. Seeds are fixed: 30 by default, 300 with DOUGONG_LONG.
The host's reference is the packaged clang without optimisation.
"""
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

BIN = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parent / "../../build")) / "bin"
CSMITH = "/usr/include/csmith"
COUNT = 300 if os.environ.get("DOUGONG_LONG") else 30
LEVELS = ["-O2", "-O0"]


def run(command, folder, seconds=60):
    try:
        return subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


def check(seed, folder):
    """A line that says what is wrong with the seed's program; empty if nothing is. `None` from the host: the program runs too long, skip it."""
    source = folder / f"{seed}.c"
    run(["csmith", "--seed", seed, "--no-packed-struct", "--max-funcs", "6", "-o", source], folder)
    # int, char and bit-fields as on the target, where plain char is unsigned.
    host = ["/usr/lib/llvm-22/bin/clang", "-w", "-O0", "-funsigned-char", "-I", CSMITH, source, "-o", f"{seed}.host"]
    if run(host, folder) is None:
        return ""
    expected = run([f"./{seed}.host"], folder, 5)
    if expected is None or expected.returncode != 0:
        return ""
    for level in LEVELS:
        built = run([BIN / "dougong-cc", "-w", level, "-I", CSMITH, source, "-mllvm", "-verify-machineinstrs", "-o", f"{seed}.elf"], folder)
        if built is None or built.returncode != 0:
            return f"seed {seed} {level}: does not compile: {built.stderr[:300] if built else 'more than a minute'}"
        got = run([BIN / "dougong", "sim", f"{seed}.elf"], folder)
        if got is None or got.returncode != 0 or got.stdout != expected.stdout:
            return f"seed {seed} {level}: host {expected.stdout.strip()}, model {got.stdout.strip() + ' ' + got.stderr[:300] if got else 'runs for over a minute'}"
    return ""


@pytest.mark.skipif(not os.path.exists(CSMITH), reason="csmith is not installed (./setup installs it)")
def test_random_programs_print_the_host_s_checksum(tmp_path):
    with ThreadPoolExecutor(2) as pool:
        wrong = [w for w in pool.map(lambda seed: check(seed, tmp_path), range(1, COUNT + 1)) if w]
    assert not wrong, f"{len(wrong)} of {COUNT} programs\n" + "\n".join(wrong)
