"""Hand-written kernels in C compute what numpy computes, and reach their share of the machine's roof, in model cycles (which are exact).

Each function of bench/kernels/device_kernels.py compares the values itself.
"""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "bench" / "kernels"))
import device_kernels as kernels  # noqa: E402

long = pytest.mark.skipif(not os.environ.get("DOUGONG_LONG"), reason="DOUGONG_LONG is not set")


@pytest.mark.parametrize("kind", ["int8", "bf16"])
@pytest.mark.parametrize("machine, size, options", [("tiny", 256, {}), ("phone", 1024, {}), ("phone", 512, {"cores": 1}), ("phone", 1024, {"cores": 4, "serpentine": 0}),
                                                    ("phone", 1536, {"group": 4}), ("server", 1024, {})])
def test_matrix_product_equals_numpy(machine, size, kind, options):
    assert 0 < kernels.gemm(machine, kind, size, sampled_rows=48, timing=size == 1024, **options).statistics["tensor_macs"] == size**3


@pytest.mark.parametrize("machine, kind, wanted", [
    ("phone", "int8", 0.90),
    pytest.param("phone", "bf16", 0.90, marks=long),
    pytest.param("server", "int8", 0.85, marks=long),
    pytest.param("server", "bf16", 0.85, marks=long),
])
def test_matrix_product_from_dram(machine, kind, wanted):
    assert wanted <= kernels.gemm(machine, kind).share <= 1


def test_matrix_product_from_local_memory():
    assert 0.97 <= kernels.gemm_local().share <= 1


def test_l2_keeps_a_panel_of_the_product():
    """DRAM moves less than the 238 MB that a compute-bound 4096^3 may take; here for the quarter of it, 2048^3, on two rows of tiles at a time."""
    moved = kernels.gemm("phone", "int8", 2048).statistics["bytes"]
    tiles = (2048 // 256)**2
    from_dram_alone = tiles * 2 * 256 * 2048
    assert moved["dma read"] < from_dram_alone
    assert moved["dram read"] < 0.4 * from_dram_alone


def test_vector_add():
    assert 0.90 <= kernels.vector_add().share <= 1


def test_softmax():
    assert 0.90 <= kernels.softmax().share <= 1


def test_convolution():
    assert 0.70 <= kernels.convolution().share <= 1


@pytest.mark.parametrize("size, channels, filters", [(24, 32, 128), (40, 64, 64)])
def test_convolution_of_other_shapes_equals_numpy(size, channels, filters):
    kernels.convolution(size, channels, filters)


def test_depthwise_convolution():
    assert 0.71 <= kernels.depthwise().share <= 1


@pytest.mark.parametrize("size, channels, band", [(16, 32, 2), (30, 96, 10)])
def test_depthwise_convolution_of_other_shapes_equals_numpy(size, channels, band):
    kernels.depthwise(size, channels, band)


@pytest.mark.parametrize("run", [
    lambda: kernels.gemm("phone", "int8", 1536, 4, group=4), lambda: kernels.gemm("server", "bf16", 1024, 4), lambda: kernels.gemm("tiny", "int8", 512, 4), kernels.gemm_local,
    lambda: kernels.vector_add(2), lambda: kernels.softmax(2), lambda: kernels.convolution(40, 64, 64), lambda: kernels.depthwise(24, 64, 4),
], ids=["gemm phone", "gemm server", "gemm tiny", "gemm_local", "vector_add", "softmax", "convolution", "depthwise"])
def test_every_access_is_ordered_by_a_wait(monkeypatch, run):
    monkeypatch.setattr(kernels.Launch, "device_options", ",check-races")
    run()


def test_cycles_repeat_exactly():
    first, again = (kernels.gemm("phone", "int8", 1024, 4) for _ in range(2))
    assert first.cycles == again.cycles and first.statistics["stall_cycles"] == again.statistics["stall_cycles"]
