"""Layer norm forward and backward, RMS norm and cross entropy as they are published for Triton, on both devices, against float64."""
import numpy as np
import pytest

import dougong
import dougong.language as tl

DEVICES = ["cpu", "npu:phone"]


@dougong.jit
def layer_norm_fwd(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    Y += row * stride
    X += row * stride
    mean = 0
    _mean = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        a = tl.load(X + cols, mask=cols < N, other=0.).to(tl.float32)
        _mean += a
    mean = tl.sum(_mean, axis=0) / N
    _var = tl.zeros([BLOCK_SIZE], dtype=tl.float32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        x = tl.load(X + cols, mask=cols < N, other=0.).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.)
        _var += x * x
    var = tl.sum(_var, axis=0) / N
    rstd = 1 / tl.sqrt(var + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + tl.arange(0, BLOCK_SIZE)
        mask = cols < N
        w = tl.load(W + cols, mask=mask)
        b = tl.load(B + cols, mask=mask)
        x = tl.load(X + cols, mask=mask, other=0.).to(tl.float32)
        x_hat = (x - mean) * rstd
        y = x_hat * w + b
        tl.store(Y + cols, y, mask=mask)


@dougong.jit
def layer_norm_bwd_dx(DX, DY, DW, DB, X, W, Mean, Rstd, Lock, stride, N, GROUP_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE_N)
    mask = cols < N
    X += row * stride
    DY += row * stride
    DX += row * stride
    lock_id = row % GROUP_SIZE_M
    Lock += lock_id
    Count = Lock + GROUP_SIZE_M
    DW = DW + lock_id * N + cols
    DB = DB + lock_id * N + cols
    x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
    dy = tl.load(DY + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols, mask=mask).to(tl.float32)
    mean = tl.load(Mean + row)
    rstd = tl.load(Rstd + row)
    xhat = (x - mean) * rstd
    wdy = w * dy
    xhat = tl.where(mask, xhat, 0.)
    wdy = tl.where(mask, wdy, 0.)
    c1 = tl.sum(xhat * wdy, axis=0) / N
    c2 = tl.sum(wdy, axis=0) / N
    dx = (wdy - (xhat * c1 + c2)) * rstd
    tl.store(DX + cols, dx, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = (dy).to(w.dtype)
    while tl.atomic_cas(Lock, 0, 1) == 1:
        pass
    count = tl.load(Count)
    if count == 0:
        tl.atomic_xchg(Count, 1)
    else:
        partial_dw += tl.load(DW, mask=mask)
        partial_db += tl.load(DB, mask=mask)
    tl.store(DW, partial_dw, mask=mask)
    tl.store(DB, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(Lock, 0)


@dougong.jit
def layer_norm_bwd_dwdb(DW, DB, FINAL_DW, FINAL_DB, M, N, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr):
    pid = tl.program_id(0)
    cols = pid * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    dw = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    db = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for i in range(0, M, BLOCK_SIZE_M):
        rows = i + tl.arange(0, BLOCK_SIZE_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        dw += tl.load(DW + offs, mask=mask, other=0.)
        db += tl.load(DB + offs, mask=mask, other=0.)
    sum_dw = tl.sum(dw, axis=0)
    sum_db = tl.sum(db, axis=0)
    tl.store(FINAL_DW + cols, sum_dw, mask=cols < N)
    tl.store(FINAL_DB + cols, sum_db, mask=cols < N)


@dougong.jit
def rms_norm(Y_ptr, Y_row_stride, X_ptr, X_row_stride, W_ptr, RSTD_ptr, n_cols, eps, offset, casting_mode: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    row_idx = tl.program_id(0).to(tl.int64)
    col_offsets = tl.arange(0, BLOCK_SIZE)
    mask = col_offsets < n_cols
    y_base = Y_ptr + row_idx * Y_row_stride
    x_base = X_ptr + row_idx * X_row_stride
    X_row = tl.load(x_base + col_offsets, mask=mask, other=0)
    X_row_dtype = X_row.dtype
    W_row = tl.load(W_ptr + col_offsets, mask=mask, other=0)
    if casting_mode == "llama":
        X_row = X_row.to(tl.float32)
    if casting_mode == "gemma":
        W_row = W_row.to(tl.float32)
        X_row = X_row.to(tl.float32)
    mean_square = tl.sum(X_row * X_row, axis=0) / n_cols
    rstd = tl.rsqrt(mean_square + eps)
    tl.store(RSTD_ptr + row_idx, rstd)
    X_row = X_row * rstd
    if casting_mode == "llama":
        X_row = X_row.to(X_row_dtype)
    Y_row = X_row * (offset + W_row)
    if casting_mode == "gemma":
        Y_row = Y_row.to(X_row_dtype)
    tl.store(y_base + col_offsets, Y_row, mask=mask)


@dougong.jit
def cross_entropy(X_ptr, X_stride, Y_ptr, Y_stride, loss_ptr, loss_stride, n_cols, n_non_ignore, ignore_index, label_smoothing: tl.constexpr,
                  reduction: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    program_id = tl.program_id(0).to(tl.int64)
    Y_ptr += program_id * Y_stride
    y = tl.load(Y_ptr)
    X_ptr += program_id * X_stride
    if y == ignore_index:
        for i in range(0, n_cols, BLOCK_SIZE):
            X_offsets = i + tl.arange(0, BLOCK_SIZE)
            tl.store(X_ptr + X_offsets, 0.0, mask=X_offsets < n_cols)
        return
    loss_ptr += program_id * loss_stride
    m = float("-inf")
    d = 0.0
    ori_X_y = tl.load(X_ptr + y).cast(tl.float32)
    scaled_x_sum = 0.0
    eps = label_smoothing / n_cols
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
        block_max = tl.max(X_block)
        if label_smoothing > 0:
            scaled_x_sum += tl.sum(tl.where(X_offsets < n_cols, -eps * X_block, 0.0))
        m_new = tl.maximum(m, block_max)
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(X_block - m_new))
        m = m_new
    lse = m + tl.log(d)
    for i in range(0, n_cols, BLOCK_SIZE):
        X_offsets = i + tl.arange(0, BLOCK_SIZE)
        X_block = tl.load(X_ptr + X_offsets, mask=X_offsets < n_cols, other=float("-inf")).cast(tl.float32)
        X_block = tl.exp(X_block - m) / d
        X_block += -eps
        X_block = tl.where(X_offsets != y, X_block, X_block - (1 - label_smoothing))
        if reduction == "mean":
            X_block = X_block / n_non_ignore
        tl.store(X_ptr + X_offsets, X_block, mask=X_offsets < n_cols)
    tl.debug_barrier()
    loss = lse - ori_X_y
    if label_smoothing > 0:
        smooth_loss = scaled_x_sum + label_smoothing * lse
        loss = loss * (1 - label_smoothing) + smooth_loss
    if reduction == "mean":
        loss = loss / n_non_ignore
    tl.store(loss_ptr, loss)


def normal(seed, *shape, dtype=np.float32, scale=1.0, mean=0.0):
    return np.random.default_rng(seed).normal(mean, scale, shape).astype(dtype)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("m, n, block, dtype", [(5, 781, 256, np.float32), (12, 512, 512, np.float32), (7, 300, 128, np.float16)])
def test_layer_norm(device, m, n, block, dtype):
    x, w, b = normal(1, m, n, dtype=dtype, scale=2, mean=0.5), normal(2, n, dtype=dtype), normal(3, n, dtype=dtype)
    y, mean, rstd = np.empty_like(x), np.empty(m, np.float32), np.empty(m, np.float32)
    layer_norm_fwd[(m,)](x, y, w, b, mean, rstd, n, n, 1e-5, BLOCK_SIZE=block, device=device)
    exact = x.astype(np.float64)
    hat = (exact - exact.mean(axis=1, keepdims=True)) / np.sqrt(exact.var(axis=1, keepdims=True) + 1e-5)
    tolerance = 2e-3 if dtype == np.float16 else 1e-5
    np.testing.assert_allclose(mean, exact.mean(axis=1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(rstd, 1 / np.sqrt(exact.var(axis=1) + 1e-5), rtol=1e-5)
    np.testing.assert_allclose(y, hat * w.astype(np.float64) + b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("m, n", [(19, 200), (8, 256)])
def test_layer_norm_backward(device, m, n):
    x, w, dy = normal(1, m, n, scale=2), normal(2, n), normal(4, m, n)
    exact = x.astype(np.float64)
    mean, rstd = exact.mean(axis=1), 1 / np.sqrt(exact.var(axis=1) + 1e-5)
    group = 4
    locks, dx = np.zeros(2 * group, np.int32), np.empty_like(x)
    partial_dw, partial_db = np.full((group, n), np.nan, np.float32), np.full((group, n), np.nan, np.float32)
    layer_norm_bwd_dx[(m,)](dx, dy, partial_dw, partial_db, x, w, mean.astype(np.float32), rstd.astype(np.float32), locks, n, n,
                            GROUP_SIZE_M=group, BLOCK_SIZE_N=256, device=device)
    dw, db = np.empty(n, np.float32), np.empty(n, np.float32)
    layer_norm_bwd_dwdb[(dougong.cdiv(n, 128),)](partial_dw, partial_db, dw, db, group, n, BLOCK_SIZE_M=32, BLOCK_SIZE_N=128, device=device)
    hat = (exact - mean[:, None]) * rstd[:, None]
    wdy = w.astype(np.float64) * dy
    expected = (wdy - hat * (hat * wdy).mean(axis=1, keepdims=True) - wdy.mean(axis=1, keepdims=True)) * rstd[:, None]
    np.testing.assert_allclose(dx, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(dw, (dy * hat).sum(axis=0), rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(db, dy.astype(np.float64).sum(axis=0), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("casting, dtype", [("llama", np.float16), ("gemma", np.float16), ("none", np.float32)])
def test_rms_norm(device, casting, dtype):
    x, w = normal(1, 9, 300, dtype=dtype, scale=2), normal(2, 300, dtype=dtype)
    y, rstd = np.empty_like(x), np.empty(9, np.float32)
    rms_norm[(9,)](y, 300, x, 300, w, rstd, 300, 1e-6, 1.0, casting_mode=casting, BLOCK_SIZE=512, device=device)
    exact = x.astype(np.float64)
    expected = exact / np.sqrt((exact**2).mean(axis=1, keepdims=True) + 1e-6) * (1 + w.astype(np.float64))
    tolerance = 3e-3 if dtype == np.float16 else 1e-5
    np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("smoothing, reduction", [(0.0, "mean"), (0.1, "sum")])
def test_cross_entropy_and_its_gradient_in_place(device, smoothing, reduction):
    rows, n = 11, 700
    x, y = normal(1, rows, n, scale=3), np.random.default_rng(2).integers(0, n, rows)
    y[4] = -100
    kept = y != -100
    exact, loss = x.astype(np.float64), np.zeros(rows, np.float32)
    cross_entropy[(rows,)](x, n, y, 1, loss, 1, n, int(kept.sum()), -100, label_smoothing=smoothing, reduction=reduction, BLOCK_SIZE=256, device=device)
    lse = np.log(np.exp(exact - exact.max(axis=1, keepdims=True)).sum(axis=1)) + exact.max(axis=1)
    target = np.full((rows, n), smoothing / n)
    target[np.arange(rows), np.maximum(y, 0)] += 1 - smoothing
    scale = 1 / kept.sum() if reduction == "mean" else 1
    np.testing.assert_allclose(loss, np.where(kept, lse - (target * exact).sum(axis=1), 0) * scale, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(x, np.where(kept[:, None], np.exp(exact - lse[:, None]) - target, 0) * scale, rtol=2e-4, atol=1e-7)
