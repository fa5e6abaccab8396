"""Kernels of the operator language on the phone's device model, in model cycles: f16 matmul 1024^3 against the tensor engines' peak, vector add over
64 MiB against DRAM's bandwidth. Run as  PYTHONPATH=build/python .venv/bin/python bench/operator_language.py
"""
import pathlib
import sys

import numpy as np

import dougong

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "language"))
import test_kernels as kernels  # noqa: E402  (the kernels that the tests check against numpy)


def cycles_of(launch) -> dict:
    device = dougong.Device("npu:phone,timing")
    launch(device)
    return device.statistics


def matmul(size: int = 1024) -> float:
    """The share of the tensor engines' f16 peak: half of 64x64 multiply-adds a cycle, on 6 cores."""
    chance = np.random.default_rng(0)
    a, b = (chance.normal(0, 1, (size, size)).astype(np.float16) for _ in range(2))
    c = np.empty((size, size), np.float16)
    statistics = cycles_of(lambda device: kernels.matmul[lambda meta: (dougong.cdiv(size, meta["BLOCK_M"]) * dougong.cdiv(size, meta["BLOCK_N"]),)](
        a, b, c, size, size, size, size, 1, size, 1, size, 1, BLOCK_M=256, BLOCK_N=256, BLOCK_K=64, GROUP_M=4, ACTIVATION="", device=device))
    assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=2e-3, atol=0.1)
    return size**3 / (6 * 64 * 64 / 2) / statistics["cycles"]


def vector_add(bytes_in_all: int = 64 << 20) -> float:
    """The share of DRAM's bandwidth, 76.8 GB/s, that the bytes which crossed it took. Two operands and the result, 64 MiB together (the last
    4 MiB of the result may stay in L2)."""
    n = bytes_in_all // 3 // 4
    x, y = (np.random.default_rng(1).normal(0, 1, n).astype(np.float32) for _ in range(2))
    out = np.empty_like(x)
    statistics = cycles_of(lambda device: kernels.add[lambda meta: (dougong.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, out, n, BLOCK_SIZE=16384, device=device))
    assert np.array_equal(out, x + y)
    crossed = statistics["bytes"]["dram read"] + statistics["bytes"]["dram written"]
    assert crossed >= 3 * 4 * n - (4 << 20)
    return crossed / 76.8e9 / statistics["seconds"]


if __name__ == "__main__":
    print(f"f16 matmul 1024^3: {matmul():.1%} of the tensor peak")
    print(f"vector add, 64 MiB: {vector_add():.1%} of the DRAM bandwidth")
