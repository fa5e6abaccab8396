"""Atomics: programs of one launch that change the same elements, on both devices."""
import numpy as np
import pytest

import dougong
import dougong.language as tl

DEVICES = ["cpu", "npu:phone"]


@dougong.jit
def count_values(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.atomic_add(counts_ptr + tl.load(x_ptr + at, mask=mask, other=0), 1, mask=mask)


@dougong.jit
def add_columns(x_ptr, sums_ptr, rows, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        tl.atomic_add(sums_ptr + at, tl.load(x_ptr + row * BLOCK + at), sem="relaxed", scope="gpu")


@dougong.jit
def tickets(next_ptr, taken_ptr):
    mine = tl.atomic_add(next_ptr, 1)
    tl.store(taken_ptr + mine, tl.program_id(0))


@dougong.jit
def extremes(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + tl.program_id(0) * N + at)
    tl.atomic_max(out_ptr + at, x)
    tl.atomic_min(out_ptr + N + at, x)


@dougong.jit
def bits(x_ptr, out_ptr, old_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(old_ptr + at, tl.atomic_and(out_ptr + at, x))
    tl.atomic_or(out_ptr + N + at, x)
    tl.atomic_xor(out_ptr + 2 * N + at, x)
    tl.store(old_ptr + N + at, tl.atomic_xchg(out_ptr + 3 * N + at, x, mask=at < N // 2))


@dougong.jit
def one_at_a_time(lock_ptr, total_ptr, x_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + tl.program_id(0) * N + at)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(total_ptr + at, tl.load(total_ptr + at) + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int64])
def test_atomic_add_of_gathered_elements(device, dtype):
    x = np.random.default_rng(1).integers(0, 10, 3000).astype(np.int32)
    counts = np.zeros(10, dtype)
    count_values[(12,)](x, counts, 3000, BLOCK=256, device=device)
    np.testing.assert_array_equal(counts, np.bincount(x, minlength=10))


@pytest.mark.parametrize("device", DEVICES)
def test_atomic_add_of_rows(device):
    x = np.random.default_rng(2).integers(-100, 100, (40, 64)).astype(np.float32)  # whole numbers: any order of adding gives the same
    sums = np.ones(64, np.float32)
    add_columns[(7,)](x, sums, 40, BLOCK=64, device=device)
    np.testing.assert_array_equal(sums, 1 + x.sum(axis=0))


@pytest.mark.parametrize("device", DEVICES)
def test_each_program_gets_a_number_of_its_own(device):
    following, taken = np.zeros(1, np.int32), np.full(50, -1, np.int32)
    tickets[(50,)](following, taken, device=device)
    assert following[0] == 50
    np.testing.assert_array_equal(np.sort(taken), np.arange(50))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.float32])
def test_atomic_max_and_min(device, dtype):
    x = np.random.default_rng(3).integers(0, 1000, (9, 32)).astype(np.int64)
    x = (x * 4000000 if dtype == np.uint32 else x - 500).astype(dtype)
    out = np.stack([np.full(32, x[0, 0]), np.full(32, x[0, 0])]).astype(dtype)
    start = out.copy()
    extremes[(9,)](x, out, N=32, device=device)
    np.testing.assert_array_equal(out[0], np.maximum(start[0], x.max(axis=0)))
    np.testing.assert_array_equal(out[1], np.minimum(start[1], x.min(axis=0)))


@pytest.mark.parametrize("device", DEVICES)
def test_bits_and_exchange(device):
    chance = np.random.default_rng(4)
    x, out = chance.integers(0, 2**31, 32).astype(np.int32), chance.integers(0, 2**31, (4, 32)).astype(np.int32)
    before, old = out.copy(), np.full((2, 32), -1, np.int32)
    bits[(1,)](x, out, old, N=32, device=device)
    half = np.arange(32) < 16
    np.testing.assert_array_equal(out, np.stack([before[0] & x, before[1] | x, before[2] ^ x, np.where(half, x, before[3])]))
    np.testing.assert_array_equal(old, np.stack([before[0], np.where(half, before[3], 0)]))


@pytest.mark.parametrize("device", DEVICES)
def test_a_lock_keeps_others_out(device):
    x = np.random.default_rng(5).integers(-50, 50, (30, 128)).astype(np.float32)
    lock, total = np.zeros(1, np.int32), np.zeros(128, np.float32)
    one_at_a_time[(30,)](lock, total, x, N=128, device=device)
    assert lock[0] == 0
    np.testing.assert_array_equal(total, x.sum(axis=0))


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_not_atomic_is_refused_with_its_line(device):
    with pytest.raises(dougong.Error, match=r"test_atomics.py:\d+:\d+: error: tl.atomic_add is not supported on memory of fp16"):
        add_columns[(1,)](np.zeros((1, 64), np.float16), np.zeros(64, np.float16), 1, BLOCK=64, device=device)
