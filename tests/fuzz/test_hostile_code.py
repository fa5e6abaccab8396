"""Hostile code on the device model: 2,000 inputs; DOUGONG_PART=2/8 is the second eighth of 100,000 others, under the address and
undefined-behaviour sanitizers, as `./run-tests --long` runs them. A failure names its input; the program runs it alone with --first N --count 1."""
import pathlib
import struct
import subprocess
import sys

import pytest
from programs import BUILD, HERE, LLVM, fuzz, run

sys.path.insert(0, str(HERE.parent / "isa"))
import records  # noqa: E402


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> list[pathlib.Path]:
    """Kernels, instruction words, programs: what fuzz_device takes."""
    folder = tmp_path_factory.mktemp("fuzz")
    run(BUILD / "bin/dougong-mc", "-filetype=obj", HERE / "inputs/kernels.s", "-o", folder / "kernels.o")
    run(LLVM / "ld.lld", "-e", "0", "-pie", "--no-dynamic-linker", "--image-base=0x80000000", folder / "kernels.o", "-o", folder / "kernels.elf")
    words = [instruction.fixed() for instruction in records.instructions() if len(instruction.bits) == 32]
    assert len(words) > 200
    (folder / "words").write_bytes(b"".join(struct.pack("<II", *word) for word in words))
    programs = []
    for level in ("-O0", "-O2"):
        programs.append(folder / f"program{level}.elf")
        run(BUILD / "bin/dougong-cc", level, "-g", HERE / "inputs/program.c", "-o", programs[-1])
    return [folder / "kernels.elf", folder / "words", *programs]


def test_the_program_itself_works(inputs, tmp_path):
    result = subprocess.run([BUILD / "bin/dougong", "sim", "--files", ".", inputs[-1], "one"], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (result.returncode, result.stdout) == (0, "2 one 109\n")


def test_the_device_survives_and_says_what_happened(inputs):
    fuzz("fuzz_device", 2000, 100_000, inputs)
