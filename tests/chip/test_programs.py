"""C programs on the device model: what they print there is what they print on the host; parts compiled by two compilers; all cores on the same counters."""
import itertools
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parents[2] / "bench"), str(Path(__file__).parents[2] / "bench" / "kernels")]
from code_quality import CLANG, STOCK  # noqa: E402
import device_kernels  # noqa: E402

BIN = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parents[2] / "build")).resolve() / "bin"
INPUTS = Path(__file__).parent / "inputs"


def run(*command, folder):
    done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(str(c) for c in command)}: {done.stderr[:2000]}"
    return done.stdout


def compiled(compiler, level, source, name, folder, *flags):
    command = [BIN / "dougong-cc"] if compiler == "ours" else [CLANG, *STOCK]
    run(*command, "-w", level, "-c", *flags, source, "-o", name, folder=folder)
    return name


def on_the_host(folder, *parts):
    """What the program prints when the host's compiler made it; parts: (source, flags)."""
    objects = []
    for i, (source, *flags) in enumerate(parts):
        objects.append(f"host{i}.o")
        run(CLANG, "-w", "-O1", "-funsigned-char", "-ffp-contract=off", "-c", *flags, source, "-o", objects[-1], folder=folder)
    run(CLANG, "--rtlib=compiler-rt", *objects, "-o", "host", "-lm", folder=folder)
    return run("./host", folder=folder)


BORDER = [(INPUTS / "border.c", "-DSIDE=left"), (INPUTS / "border.c", "-DSIDE=right"), (INPUTS / "border_main.c",)]


@pytest.fixture(scope="module")
def border(tmp_path_factory):
    """The folder with every part compiled by both compilers at O0 and O2, and what the host's program prints."""
    folder = tmp_path_factory.mktemp("border")
    for (source, *flags), part in zip(BORDER, ["left", "right", "main"]):
        for compiler, level in itertools.product(["ours", "stock"], ["-O0", "-O2"]):
            compiled(compiler, level, source, f"{part}.{compiler}{level}.o", folder, *flags)
    compiled("ours", "-O2", INPUTS / "half_routines.c", "half_routines.o", folder)
    return folder, on_the_host(folder, *BORDER)


@pytest.mark.parametrize("levels", [("-O2", "-O2"), ("-O0", "-O2"), ("-O2", "-O0")])
@pytest.mark.parametrize("main", ["ours", "stock"])
def test_half_of_a_program_compiled_by_the_stock_backend(border, main, levels):
    folder, expected = border
    assert expected.count("\n") > 16
    ours, stock = levels
    parts = [f"left.ours{ours}.o", f"right.stock{stock}.o", f"main.{main}{ours if main == 'ours' else stock}.o", "half_routines.o"]
    run(BIN / "dougong-cc", *parts, "-o", "mixed.elf", folder=folder)
    assert run(BIN / "dougong", "sim", "mixed.elf", folder=folder) == expected


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_library(tmp_path, level):
    run(BIN / "dougong-cc", "-w", level, INPUTS / "library.c", "-o", "library.elf", "-lm", folder=tmp_path)
    assert run(BIN / "dougong", "sim", "library.elf", folder=tmp_path) == on_the_host(tmp_path, (INPUTS / "library.c",))


@pytest.mark.parametrize("timing", [False, True])
@pytest.mark.parametrize("machine", ["tiny", "phone", "server"])
def test_atomics_across_all_cores(machine, timing, monkeypatch):
    monkeypatch.setattr(device_kernels, "HERE", INPUTS)
    rounds, cores = 50, tomllib.loads((Path(__file__).parents[2] / "machines" / f"{machine}.toml").read_text())["device"]["cores"]
    cells = np.zeros((cores * rounds, 2), np.uint64)
    launch = device_kernels.Launch("counters.c", "count", [np.zeros(6, np.uint64), cells, rounds], machine, timing=timing)
    added, swapped, locked, lock, largest, head = (int(v) for v in launch.result(0, np.zeros(6, np.uint64)))
    assert added == sum(core + i for core in range(cores) for i in range(rounds))
    expected = 0
    for _ in range(cores * rounds):
        expected = (expected * 3 + 1) % 2**64
    assert (swapped, locked, lock, largest) == (expected, cores * rounds, 0, (cores - 1) * 1000 + rounds - 1)
    # Every cell is in the list once; a core's own are in the order in which it put them there.
    cells, base = launch.result(1, cells), launch.addresses[1]
    seen = []
    while head:
        seen.append((head - base) // 16)
        assert len(seen) <= len(cells) and seen[-1] < len(cells)
        head = int(cells[seen[-1], 0])
    assert sorted(seen) == list(range(cores * rounds))
    for core in range(cores):
        assert [i for i in seen if i // rounds == core] == list(range((core + 1) * rounds - 1, core * rounds - 1, -1))
        assert all(cells[i, 1] == core for i in range(core * rounds, (core + 1) * rounds))
