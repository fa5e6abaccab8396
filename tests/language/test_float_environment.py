"""What a kernel computes does not depend on how the thread that launches it has set its floats: rounding upwards, subnormals flushed to zero.

Both devices run in that thread (the model alone, the CPU with others beside it)."""
import ctypes
import ctypes.util
import platform

import numpy as np
import pytest

import dougong
import dougong.language as tl

FE_TONEAREST, FE_UPWARD = 0, {"x86_64": 0x800, "aarch64": 0x400000}[platform.machine()]
libm = ctypes.CDLL(ctypes.util.find_library("m"))


@dougong.jit
def third(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at) / 3.0)


@dougong.jit
def square(x_ptr, y_ptr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.dot(x, x))


def upwards(on):
    assert libm.fesetround(FE_UPWARD if on else FE_TONEAREST) == 0


def flushing(on):
    """Subnormals are zeros, as operands and as results: a bit of fenv_t that C has no name for."""
    environment = (ctypes.c_uint32 * 8)()
    libm.fegetenv(environment)
    word, bits = {"x86_64": (7, 0x8040), "aarch64": (0, 1 << 24)}[platform.machine()]
    environment[word] = environment[word] | bits if on else environment[word] & ~bits
    assert libm.fesetenv(environment) == 0


@pytest.mark.parametrize("device", ["cpu", "npu:phone"])
@pytest.mark.parametrize("change", [upwards, flushing])
def test_results_are_those_of_default_floats(device, change):
    x = np.random.default_rng(1).normal(size=64 * 50).astype(np.float32)
    x[::2] *= np.float32(2e-39)
    a = np.random.default_rng(2).normal(size=(32, 32)).astype(np.float16)
    quotients, products = x / np.float32(3), np.zeros((2, 32, 32), np.float32)
    assert (np.abs(quotients[::2]) < 1.2e-38).all() and np.count_nonzero(quotients) == len(x)
    y = np.zeros_like(x)
    square[(1,)](a, products[0], N=32, device=device)
    third[(50,)](x, y, BLOCK=64, device=device)  # compiled before floats change
    y[:] = 0
    change(True)
    try:
        third[(50,)](x, y, BLOCK=64, device=device)
        square[(1,)](a, products[1], N=32, device=device)
        # and the caller has its own again
        changed = np.float32(1e-38) / np.array([3], np.float32), np.array([1], np.float32) / np.array([3], np.float32)
    finally:
        change(False)
    assert changed[0][0] == 0 if change is not upwards else changed[1].view(np.uint32)[0] == 0x3EAAAAAB
    np.testing.assert_array_equal(y.view(np.uint32), quotients.view(np.uint32))
    np.testing.assert_array_equal(products[1].view(np.uint32), products[0].view(np.uint32))
