"""What a debugger shows of optimised programs: as much as of the stock backend's, and right. The programs call probe() where it is plain what every variable
holds; what that is, says the same program without optimisation."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(SOURCE / "bench"))
from code_quality import CLANG, STOCK  # noqa: E402

BIN = pathlib.Path(os.environ.get("DOUGONG_BUILD", SOURCE / "build")).resolve() / "bin"
INPUTS = pathlib.Path(__file__).parent / "inputs" / "debug"
DWARFDUMP = "/usr/lib/llvm-22/bin/llvm-dwarfdump"
PROGRAMS = sorted(path.stem for path in INPUTS.glob("*.c") if path.stem != "probe")
UNKNOWN = re.compile("optimized out|synthetic pointer|error")


def compiled(folder, name, compiler, level):
    command = [BIN / "dougong-cc"] if compiler == "ours" else [CLANG, *STOCK]
    out = folder / f"{name}.{compiler}{level}.o"
    if not out.exists():
        subprocess.run([*command, "-w", "-g", level, "-c", INPUTS / f"{name}.c", "-o", out], check=True)
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("debugging")


def scripted(folder, name, compiler, level, script, variable, **environment):
    """What the script has written that gdb has run on the program."""
    program, out = folder / f"{name}.{compiler}{level}.elf", folder / f"{name}.{compiler}{level}.{script}.txt"
    subprocess.run([BIN / "dougong-cc", compiled(folder, name, compiler, level), compiled(folder, "probe", "ours", "-O0"), "-o", program], check=True)
    with subprocess.Popen([BIN / "dougong", "sim", "--gdb", "0", program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as model:
        port = re.search(r":(\d+)", model.stderr.readline()).group(1)
        try:
            subprocess.run(["gdb-multiarch", "-q", "-batch", "-nx", program, "-ex", "set confirm off", "-ex", f"target remote :{port}", "-x", INPUTS / script],
                           env=os.environ | {variable: str(out)} | environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        finally:
            model.kill()
    return out.read_text()


def walked(folder, name, compiler, level):
    """At each stop the frames, from probe's caller outwards, with their variables."""
    walk = json.loads(scripted(folder, name, compiler, level, "walk.py", "WALK_OUTPUT"))
    return [stop[1:] for stop in walk["stops"]], walk["status"]


def compare(truth, other, shown):
    """How many variables of which `truth` is sure (both unoptimised programs agree) are shown right, and those that are shown wrong."""
    right, wrong = 0, []
    for number, (frames, doubles, seen) in enumerate(zip(truth, other, shown)):
        rest = list(seen)
        for frame, double in zip(frames, doubles):  # calls that became jumps have no frame
            at = next((i for i, f in enumerate(rest) if f["function"] == frame["function"]), None)
            if at is None:
                continue
            found, rest = rest[at], rest[at + 1:]
            for variable, value in frame["variables"].items():
                text = found["variables"].get(variable, "<optimized out>")
                if double["variables"].get(variable) != value or UNKNOWN.search(text):
                    continue
                if text == value:
                    right += 1
                else:
                    wrong.append(f"stop {number}, {found['function']}:{found['line']}: {variable} = {text}, not {value}")
    return right, wrong


@pytest.mark.skipif(not shutil.which("gdb-multiarch"), reason="gdb-multiarch is not installed")
def test_variables_of_optimised_programs(folder):
    right, wrong = {"ours": 0, "stock": 0}, {"ours": [], "stock": []}
    for name in PROGRAMS:
        truth, status = walked(folder, name, "ours", "-O0")
        other, other_status = walked(folder, name, "stock", "-O0")
        assert len(truth) == len(other) > 9 and status == other_status
        for compiler in right:
            shown, shown_status = walked(folder, name, compiler, "-O2")
            assert len(shown) == len(truth) and shown_status == status, name
            assert all(stop[-1]["function"] == "main" for stop in shown), name  # every stop unwinds to main
            good, bad = compare(truth, other, shown)
            right[compiler] += good
            wrong[compiler] += [f"{name}: {line}" for line in bad]
    assert right["stock"] > 1000
    assert right["ours"] >= 0.98 * right["stock"]
    assert len(wrong["ours"]) <= len(wrong["stock"]), "\n".join(wrong["ours"])


@pytest.mark.skipif(not shutil.which("gdb-multiarch"), reason="gdb-multiarch is not installed")
@pytest.mark.parametrize("name,level", [("frames", "-O0"), ("frames", "-O2"), ("structs", "-O2"), ("recursion", "-O1")])
def test_the_way_back_is_known_from_every_instruction(folder, name, level):
    # frames.c: small and large frames, alloca, realigned stacks; prologues and epilogues of all of them
    steps, *lost = scripted(folder, name, "ours", level, "unwind.py", "UNWIND_OUTPUT", UNWIND_STEPS="350").splitlines()
    assert int(steps) > 280 and not lost


def test_locations_cover_as_much_as_the_stock_backends(folder):
    def coverage(compiler):
        covered = scope = 0
        for name in PROGRAMS:
            dump = subprocess.run([DWARFDUMP, "--statistics", compiled(folder, name, compiler, "-O2")], capture_output=True, text=True, check=True)
            counted = json.loads(dump.stdout)
            covered += counted["sum_all_variables(#bytes in parent scope covered by DW_AT_location)"]
            scope += counted["sum_all_variables(#bytes in parent scope)"]
        return covered / scope

    assert coverage("ours") >= 0.95 * coverage("stock") > 0.5


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_debug_information_is_well_formed(folder, level):
    # Of objects: on a linked program llvm-dwarfdump 22 does not end, because it looks for ever for the function around a call in a block of the C library's.
    for name in PROGRAMS:
        done = subprocess.run([DWARFDUMP, "--verify", compiled(folder, name, "ours", level)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "No errors." in done.stdout, done.stdout[-2000:]
