"""Damaged and hostile input: thousands of cases here; with DOUGONG_LONG, 100,000 of the device's under the address and undefined-behaviour
sanitizers. A failure names its input; the program runs it alone with --first N --count 1."""
import os
import pathlib
import struct
import subprocess
import sys

import numpy as np
import onnx
import pytest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
BUILD = pathlib.Path(os.environ["DOUGONG_BUILD"])
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")
LONG = bool(os.environ.get("DOUGONG_LONG"))
CASES = pathlib.Path("/usr/share/libonnx-testdata/data/node")
sys.path.insert(0, str(HERE.parent / "isa"))
import records  # noqa: E402


def run(*command, timeout=60):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout)
    assert result.returncode == 0, (command, result.stdout[-2000:], result.stderr[-6000:])
    return result.stderr


@pytest.fixture(scope="module")
def device_inputs(tmp_path_factory):
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


def test_the_program_itself_works(device_inputs, tmp_path):
    result = subprocess.run([BUILD / "bin/dougong", "sim", device_inputs[-1], "one"], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (result.returncode, result.stdout) == (0, "2 one 109\n")


def test_device(device_inputs):
    assert "2000 inputs" in run(BUILD / "bin/fuzz_device", "--count", 2000, *device_inputs, timeout=300)


@pytest.mark.skipif(not LONG, reason="DOUGONG_LONG is not set")
def test_device_under_sanitizers(device_inputs):
    run("cmake", "--preset", "sanitize", "-S", SOURCE, timeout=600)
    run("ninja", "-C", SOURCE / "build-sanitize", "fuzz_device", timeout=3600)
    run(SOURCE / "build-sanitize/bin/fuzz_device", "--seed", 2, "--count", 100_000, *device_inputs, timeout=7200)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    np.save(folder / "a.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    np.save(folder / "b.npy", np.asfortranarray(np.zeros((2, 3, 4), np.int64)))
    cases = ["test_add", "test_softmax_axis_1", "test_conv_with_strides_padding", "test_gather_0", "test_reshape_reordered_all_dims", "test_slice", "test_resize_upsample_scales_nearest",
             "test_averagepool_2d_pads", "test_reduce_sum_keepdims_example"]
    models = [CASES / case / "model.onnx" for case in cases if (CASES / case / "model.onnx").exists()]
    assert len(models) >= 6
    run(BUILD / "bin/dougong", "compile", models[0], "-o", folder / "add.dgx", "--device", "cpu")
    (folder / "kernels.py").write_text((HERE / "inputs/kernels.py").read_text())
    return [SOURCE / "machines/phone.toml", folder / "a.npy", folder / "b.npy", folder / "add.dgx", *models, folder / "kernels.py"]


@pytest.mark.parametrize("kind", [".toml", ".npy", ".dgx", ".onnx", ".py"])
def test_files(files, kind):
    chosen = [path for path in files if path.suffix == kind]
    count = 20_000 if LONG else 300
    assert f"{count} inputs" in run(BUILD / "bin/fuzz_files", "--count", count, *chosen, timeout=1800)
