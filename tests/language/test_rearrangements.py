"""What moves elements within a tile, on both devices, against numpy."""
import numpy as np
import pytest

import dougong
import dougong.language as tl

DEVICES = ["cpu", "npu:phone"]


@dougong.jit
def join_and_split(x_ptr, y_ptr, joined_ptr, woven_ptr, behind_ptr, odd_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    joined = tl.join(x, y)
    tl.store(joined_ptr + at[:, None] * 2 + tl.arange(0, 2)[None, :], joined)
    tl.store(woven_ptr + tl.arange(0, 2 * N), tl.interleave(y, x))
    tl.store(behind_ptr + tl.arange(0, 2 * N), tl.cat(x, y, can_reorder=True))
    even, odd = tl.split(joined * 2)
    tl.store(odd_ptr + at, odd - even)


@dougong.jit
def reshaped(x_ptr, out_ptr, one_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    row = tl.unsqueeze(tl.load(x_ptr + at), 0)
    both, column = tl.broadcast(row, tl.expand_dims(tl.to_tensor(at), -1))
    tl.store(out_ptr + at[:, None] * N + at[None, :], both * column)
    low, high = tl.split(tl.reshape(tl.sum(tl.squeeze(row, 0)) + tl.arange(0, 2), (2,)))
    tl.store(one_ptr, low * 10 + high)


@dougong.jit
def rotate_pairs(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    left, right = tl.split(tl.reshape(tl.load(x_ptr + at), (M, N // 2, 2)))
    tl.store(out_ptr + at, tl.interleave(-right, left))


@dougong.jit
def sort_rows(x_ptr, out_ptr, top_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, DOWN: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.sort(x, descending=DOWN))
    tl.store(top_ptr + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :], tl.topk(x, K))


@dougong.jit
def flip_and_gather(x_ptr, index_ptr, flipped_ptr, across_ptr, gathered_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(flipped_ptr + at, tl.flip(x, 1))
    tl.store(across_ptr + at, tl.flip(x))
    tl.store(gathered_ptr + at, tl.gather(x, tl.load(index_ptr + at), 1))


@dougong.jit
def count(x_ptr, all_ptr, some_ptr, N: tl.constexpr, BINS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(all_ptr + tl.arange(0, BINS), tl.histogram(x, BINS))
    tl.store(some_ptr + tl.arange(0, BINS), tl.histogram(x, BINS, mask=tl.arange(0, N) < 50))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.float16])
def test_join_split_interleave_cat(device, dtype):
    x, y = np.arange(64).astype(dtype), np.arange(100, 164).astype(dtype)
    joined, woven, behind, odd = np.empty((64, 2), dtype), np.empty(128, dtype), np.empty(128, dtype), np.empty(64, dtype)
    join_and_split[(1,)](x, y, joined, woven, behind, odd, N=64, device=device)
    np.testing.assert_array_equal(joined, np.stack([x, y], axis=-1))
    np.testing.assert_array_equal(woven, np.stack([y, x], axis=-1).ravel())
    np.testing.assert_array_equal(behind, np.concatenate([x, y]))
    np.testing.assert_array_equal(odd, 2 * y - 2 * x)


@pytest.mark.parametrize("device", DEVICES)
def test_axes_come_and_go(device):
    x, out, one = np.arange(16).astype(np.float32), np.empty((16, 16), np.float32), np.empty(1, np.float32)
    reshaped[(1,)](x, out, one, N=16, device=device)
    np.testing.assert_array_equal(out, np.outer(np.arange(16), x))
    assert one[0] == 120 * 10 + 121


@pytest.mark.parametrize("device", DEVICES)
def test_split_of_a_reshaped_tile(device):
    x = np.random.default_rng(1).normal(0, 1, (4, 32)).astype(np.float32)
    out = np.empty_like(x)
    rotate_pairs[(1,)](x, out, M=4, N=32, device=device)
    expected = np.empty_like(x)
    expected[:, 0::2], expected[:, 1::2] = -x[:, 1::2], x[:, 0::2]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint32, np.int8, np.int64])
@pytest.mark.parametrize("down", [False, True])
def test_sort_and_topk(device, dtype, down):
    chance = np.random.default_rng(5)
    if np.dtype(dtype).kind == "f":
        x = chance.normal(0, 2, (3, 64)).astype(dtype).round(1)  # with ties
        x[0, 3], x[1, 7], x[2, 9], x[2, 1] = np.inf, -np.inf, -0.0, 0.0
    else:
        info = np.iinfo(dtype)
        x = chance.integers(info.min, info.max, (3, 64), dtype=dtype, endpoint=True)
        x[1, :40] = chance.integers(0, 4, 40)
    x = np.concatenate([x, x[:1]])
    out, top = np.empty_like(x), np.empty((4, 8), dtype)
    sort_rows[(1,)](x, out, top, M=4, N=64, K=8, DOWN=down, device=device)
    expected = np.sort(x, axis=1)
    np.testing.assert_array_equal(out, expected[:, ::-1] if down else expected)
    np.testing.assert_array_equal(top, expected[:, ::-1][:, :8])


@pytest.mark.parametrize("device", DEVICES)
def test_not_a_number_sorts_last(device):
    x = np.array([[2.0, np.nan, -1.0, -np.nan, np.inf, 0.5, -np.inf, 7.0]], np.float32)
    out, top = np.empty_like(x), np.empty((1, 1), np.float32)
    sort_rows[(1,)](x, out, top, M=1, N=8, K=1, DOWN=False, device=device)
    np.testing.assert_array_equal(out, np.sort(x, axis=1))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_flip_and_gather(device, dtype):
    chance = np.random.default_rng(6)
    x = chance.integers(-50, 50, (4, 32)).astype(dtype)
    index = chance.integers(0, 32, (4, 32)).astype(np.int32)
    flipped, across, gathered = (np.empty_like(x) for _ in range(3))
    flip_and_gather[(1,)](x, index, flipped, across, gathered, M=4, N=32, device=device)
    np.testing.assert_array_equal(flipped, x[:, ::-1])
    np.testing.assert_array_equal(across, x[::-1, ::-1])
    np.testing.assert_array_equal(gathered, np.take_along_axis(x, index, axis=1))


@pytest.mark.parametrize("device", DEVICES)
def test_histogram(device):
    x = np.random.default_rng(7).integers(0, 16, 256).astype(np.int32)
    every, some = np.empty(16, np.int32), np.empty(16, np.int32)
    count[(1,)](x, every, some, N=256, BINS=16, device=device)
    np.testing.assert_array_equal(every, np.bincount(x, minlength=16))
    np.testing.assert_array_equal(some, np.bincount(x[:50], minlength=16))
