"""Kernels in the style that is published for Triton, on both devices, against numpy: aligned and odd sizes."""
import numpy as np
import pytest

import dougong
import dougong.language as tl

DEVICES = ["cpu", "npu:phone"]


@dougong.jit
def add(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@dougong.jit
def softmax(out_ptr, in_ptr, in_stride, out_stride, n_rows, n_cols, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0)):
        cols = tl.arange(0, BLOCK)
        mask = cols < n_cols
        x = tl.load(in_ptr + row * in_stride + cols, mask=mask, other=-float("inf"))
        numerator = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * out_stride + cols, numerator / tl.sum(numerator, axis=0), mask=mask)


@dougong.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@dougong.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr, ACTIVATION: tl.constexpr):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    num_pid_in_group = GROUP_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    offs_am = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    offs_bn = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    if ACTIVATION == "leaky_relu":
        accumulator = leaky_relu(accumulator)
    offs_cm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_cn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    tl.store(c_ptrs, accumulator, mask=(offs_cm[:, None] < M) & (offs_cn[None, :] < N))


@dougong.jit
def sums_and_their_number(x_ptr, out_ptr, count_ptr, N: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x_ptr + row * N + tl.arange(0, N)), axis=0)
    if total > 0:
        if row == 0:
            tl.store(count_ptr, tl.num_programs(0))
        tl.store(out_ptr + row, total)
    else:
        tl.store(out_ptr + row, -total)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("n", [1, 1000, 1024, 98432])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_vector_add(device, n, dtype):
    chance = np.random.default_rng(n)
    x, y = (chance.uniform(-100, 100, n).astype(dtype) for _ in range(2))
    out = np.full(n, -1, dtype)
    add[lambda meta: (dougong.cdiv(n, meta["BLOCK_SIZE"]),)](x, y, out, n, BLOCK_SIZE=1024, device=device)
    np.testing.assert_array_equal(out, x + y)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rows, cols", [(1, 1), (5, 781), (64, 1024), (37, 500)])
def test_softmax(device, rows, cols):
    x = np.random.default_rng(cols).normal(0, 3, (rows, cols)).astype(np.float32)
    out = np.empty_like(x)
    softmax[(6,)](out, x, cols, cols, rows, cols, BLOCK=1 << (cols - 1).bit_length() if cols > 1 else 2, device=device)
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis=1, keepdims=True), rtol=2e-5, atol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("m, n, k", [(128, 128, 64), (100, 77, 50), (1, 130, 65), (257, 64, 200)])
@pytest.mark.parametrize("dtype, activation", [(np.float16, "leaky_relu"), (np.float32, "")])
def test_matmul(device, m, n, k, dtype, activation):
    chance = np.random.default_rng(m * n)
    a, b = chance.normal(0, 1, (m, k)).astype(dtype), chance.normal(0, 1, (k, n)).astype(dtype)
    c = np.full((m, n), np.nan, dtype)
    grid = lambda meta: (dougong.cdiv(m, meta["BLOCK_M"]) * dougong.cdiv(n, meta["BLOCK_N"]),)
    matmul[grid](a, b, c, m, n, k, k, 1, n, 1, n, 1, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, GROUP_M=8, ACTIVATION=activation, device=device)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    if activation:
        expected = np.where(expected >= 0, expected, 0.01 * expected)
    tolerance = 2e-3 if dtype == np.float16 else 2e-5
    np.testing.assert_allclose(c, expected, rtol=tolerance, atol=tolerance * np.sqrt(k))


@pytest.mark.parametrize("device", DEVICES)
def test_conditions_that_only_store(device):
    x = np.random.default_rng(3).integers(-5, 6, (8, 64)).astype(np.float32)
    x[0] = np.abs(x[0])
    out, count = np.empty(8, np.float32), np.zeros(1, np.int32)
    sums_and_their_number[(8,)](x, out, count, N=64, device=device)
    np.testing.assert_array_equal(out, np.abs(x.sum(axis=1)))
    assert count[0] == 8


@pytest.mark.parametrize("device", DEVICES)
def test_arrays_that_may_not_be_written(device):
    x, out = np.ones(8, np.float32), np.zeros(8, np.float32)
    x.flags.writeable = False
    add[(1,)](x, x, out, 8, BLOCK_SIZE=8, device=device)
    assert (out == 2).all()
    for kept in (x, [1.0] * 8):
        with pytest.raises(ValueError, match="wrote to 'out_ptr', which is a read-only array"):
            add[(1,)](x, x, kept, 8, BLOCK_SIZE=8, device=device)
    assert (x == 1).all()


def test_mistakes_of_a_launch():
    x = np.ones(8, np.float32)
    with pytest.raises(TypeError, match="byte order"):
        add[(1,)](x.astype(">f4"), x, x, 8, BLOCK_SIZE=8, device="cpu")
    for grid in ((1, 1, 1, 1), (-1,), ()):
        with pytest.raises(ValueError, match="one to three extents, none below 0"):
            add[grid](x, x, x, 8, BLOCK_SIZE=8, device="cpu")


def test_a_mistake_names_its_line():
    @dougong.jit
    def wrong(x_ptr):
        tl.store(x_ptr, nowhere)  # noqa: F821

    with pytest.raises(dougong.Error, match="the name 'nowhere' is not defined"):
        wrong[(1,)](np.zeros(4, np.float32), device="cpu")
