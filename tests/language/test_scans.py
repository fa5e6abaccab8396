"""Reductions and scans by functions of the kernel's author, on both devices, against numpy."""
import numpy as np
import pytest

import dougong
import dougong.language as tl

DEVICES = ["cpu", "npu:phone"]


@dougong.jit
def add(a, b):
    return a + b


@dougong.jit
def larger(a, b):
    return tl.maximum(a, b)


@dougong.jit
def log_sum_exp(a, b):
    high = tl.maximum(a, b)
    return high + tl.log(tl.exp(a - high) + tl.exp(b - high))


@dougong.jit
def welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    delta = mean_b - mean_a
    share = tl.where(n > 0, n_b / n, 0.0)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * n_a * share, n


@dougong.jit
def first_order(a_left, b_left, a_right, b_right):  # h = a * h + b, of two steps
    return a_left * a_right, a_right * b_left + b_right


@dougong.jit
def take_later(a, b):
    return b


@dougong.jit
def reduce_rows(x_ptr, out_ptr, FN: tl.constexpr, AXIS: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    if FN == "lse":
        y = tl.reduce(x, AXIS, log_sum_exp)
    elif FN == "add":
        y = tl.reduce(x, AXIS, add)
    else:
        y = x.reduce(AXIS, larger)
    if AXIS is None:
        tl.store(out_ptr, y)
    else:
        tl.store(out_ptr + tl.arange(0, M if AXIS == 1 else N), y)


@dougong.jit
def statistics(x_ptr, mean_ptr, variance_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * N + tl.arange(0, N))
    mean, m2, n = tl.reduce((x, tl.zeros_like(x), tl.full((N,), 1.0, tl.float32)), 0, welford)
    tl.store(mean_ptr + row, mean)
    tl.store(variance_ptr + row, m2 / n)


@dougong.jit
def scan_rows(x_ptr, out_ptr, KIND: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    if KIND == "sum":
        y = tl.cumsum(x, AXIS, reverse=REVERSE)
    elif KIND == "product":
        y = tl.cumprod(x, AXIS, REVERSE)
    elif KIND == "last":
        y = tl.associative_scan(x, AXIS, take_later, REVERSE)
    else:
        y = tl.associative_scan(x, AXIS, larger, reverse=REVERSE)
    tl.store(out_ptr + at, y)


@dougong.jit
def recurrence(a_ptr, b_ptr, h_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(a_ptr + at), tl.load(b_ptr + at)), 0, first_order)
    tl.store(h_ptr + at, h)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("fn, reference", [("lse", np.logaddexp.reduce), ("add", np.add.reduce), ("max", np.maximum.reduce)])
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("m, n", [(4, 64), (16, 8)])
def test_reduce(device, fn, reference, axis, m, n):
    x = np.random.default_rng(m).normal(0, 3, (m, n)).astype(np.float32)
    out = np.full(1 if axis is None else x.shape[1 - axis], np.nan, np.float32)
    reduce_rows[(1,)](x, out, FN=fn, AXIS=axis, M=m, N=n, device=device)
    expected = reference(x.astype(np.float64).ravel() if axis is None else x.astype(np.float64), axis=axis or 0)
    np.testing.assert_allclose(out, np.atleast_1d(expected), rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_reduce_of_three_tiles_at_once(device):
    x = np.random.default_rng(1).normal(5, 2, (6, 256)).astype(np.float32)
    mean, variance = np.empty(6, np.float32), np.empty(6, np.float32)
    statistics[(6,)](x, mean, variance, N=256, device=device)
    np.testing.assert_allclose(mean, x.mean(axis=1, dtype=np.float64), rtol=1e-5)
    np.testing.assert_allclose(variance, x.var(axis=1, dtype=np.float64), rtol=1e-4)


def reference_scan(kind, x, axis, reverse):
    x = np.flip(x, axis) if reverse else x
    if kind == "last":
        y = x
    else:
        y = {"sum": np.cumsum, "product": np.cumprod, "max": np.maximum.accumulate}[kind](x, axis=axis)
    return np.flip(y, axis) if reverse else y


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["sum", "product", "max", "last"])
@pytest.mark.parametrize("axis, reverse", [(0, False), (1, False), (1, True), (0, True), (-1, False)])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_scan(device, kind, axis, reverse, dtype):
    chance = np.random.default_rng(3)
    x = chance.integers(-3, 4, (8, 64)).astype(dtype) if dtype == np.int32 else chance.uniform(0.5, 1.4, (8, 64)).astype(dtype)
    out = np.empty_like(x)
    scan_rows[(1,)](x, out, KIND=kind, AXIS=axis, REVERSE=reverse, M=8, N=64, device=device)
    if dtype == np.int32:
        np.testing.assert_array_equal(out, reference_scan(kind, x, axis, reverse).astype(np.int32))
    else:
        np.testing.assert_allclose(out, reference_scan(kind, x.astype(np.float64), axis, reverse), rtol=5e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_small_integers_widen_in_cumsum(device):
    x = np.full((2, 64), 100, np.int8)
    out = np.empty((2, 64), np.int32)
    scan_rows[(1,)](x, out, KIND="sum", AXIS=1, REVERSE=False, M=2, N=64, device=device)
    np.testing.assert_array_equal(out, np.cumsum(x, axis=1, dtype=np.int32))


@pytest.mark.parametrize("device", DEVICES)
def test_recurrence_as_a_scan_of_pairs(device):
    chance = np.random.default_rng(4)
    a, b = chance.uniform(0.2, 1.0, (3, 128)).astype(np.float32), chance.normal(0, 1, (3, 128)).astype(np.float32)
    h = np.empty_like(a)
    recurrence[(3,)](a, b, h, N=128, device=device)
    state, expected = np.zeros(3), np.empty((3, 128))
    for t in range(128):
        state = a[:, t] * state + b[:, t]
        expected[:, t] = state
    np.testing.assert_allclose(h, expected, rtol=1e-4, atol=1e-5)
