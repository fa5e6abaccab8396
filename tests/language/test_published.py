"""Kernels as a public library ships them compile unmodified. The library (liger-kernel, BSD-2-Clause, of PyPI) is read, never imported; without it these tests are skipped."""
import importlib.util
import os
import pathlib

import pytest

import dougong

LIST = pathlib.Path(__file__).parent / "published_liger.txt"
KERNELS = [line.strip().split(" | ") for line in LIST.read_text().splitlines() if not line.startswith("#")]
DEVICES = ["npu:phone", "cpu"] if os.environ.get("DOUGONG_LONG") else ["npu:phone"]


@pytest.fixture(scope="session")
def library():
    found = importlib.util.find_spec("liger_kernel")
    if not found:
        pytest.skip("liger-kernel is not installed; ./setup installs it")
    return pathlib.Path(found.submodule_search_locations[0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kernel, signature", KERNELS, ids=[kernel for kernel, _ in KERNELS])
def test_compiles(library, device, kernel, signature):
    file, name = kernel.split(":")
    image, arguments = dougong.Device(device).build(str(library / file), (library / file).read_text(), name, signature)
    assert image and arguments
