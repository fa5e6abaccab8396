"""Random numbers: Philox 4x32-10's published test vectors, a numpy model of it, and what is made of its bits; on both devices."""
import numpy as np
import pytest

import dougong
import dougong.language as tl

DEVICES = ["cpu", "npu:phone"]

# counter, key, result: the known answers that the authors publish with Random123
KNOWN = [
    ((0x00000000, 0x00000000, 0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]


@dougong.jit
def philox_of(counter_ptr, seed, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b, c, d = tl.philox(seed, tl.load(counter_ptr + at), tl.load(counter_ptr + N + at), tl.load(counter_ptr + 2 * N + at), tl.load(counter_ptr + 3 * N + at))
    tl.store(out_ptr + at, a)
    tl.store(out_ptr + N + at, b)
    tl.store(out_ptr + 2 * N + at, c)
    tl.store(out_ptr + 3 * N + at, d)


@dougong.jit
def numbers(seed, first, uniform_ptr, normal_ptr, whole_ptr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(uniform_ptr + at, tl.rand(seed, first + at))
    tl.store(normal_ptr + at, tl.randn(seed, first + at))
    tl.store(whole_ptr + at, tl.randint(seed, first + at))


@dougong.jit
def four(seed, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    for k in tl.static_range(4):
        tl.store(out_ptr + k * N + at, tl.rand4x(seed, at)[k])


@dougong.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    kept = tl.rand(seed, at) > p
    tl.store(out_ptr + at, tl.where(kept, x / (1 - p), 0.0), mask=mask)


def philox(counter, key):
    c, k = [np.asarray(x, np.uint64) for x in counter], [np.uint64(x) for x in key]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p, q = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(q >> np.uint64(32)) ^ c[1] ^ k[0], q & low, (p >> np.uint64(32)) ^ c[3] ^ k[1], p & low]
        k = [(k[0] + np.uint64(0x9E3779B9)) & low, (k[1] + np.uint64(0xBB67AE85)) & low]
    return [x.astype(np.uint32) for x in c]


def bits(seed, offset):
    offset = np.asarray(offset, np.int64)
    zero = np.zeros(len(offset), np.uint64)
    return philox((offset & 0xFFFFFFFF, (offset >> 32) & 0xFFFFFFFF, zero, zero), (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF))


def uniform(x):
    x = x.view(np.int32)
    return np.where(x < 0, -x - 1, x).astype(np.float32) * np.float32(4.6566127342e-10)


@pytest.mark.parametrize("counter, key, expected", KNOWN)
def test_the_model_gives_the_published_answers(counter, key, expected):
    assert tuple(int(x) for x in philox(counter, key)) == expected


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("counter, key, expected", KNOWN)
def test_published_answers(device, counter, key, expected):
    counters = np.repeat(np.array(counter, np.uint32)[:, None], 32, axis=1)
    out = np.empty((4, 32), np.uint32)
    philox_of[(1,)](counters, key[0] | key[1] << 32, out, N=32, device=device)
    np.testing.assert_array_equal(out, np.repeat(np.array(expected, np.uint32)[:, None], 32, axis=1))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed, first", [(0, 0), (1234, 7), (-5, 100), (2**40 + 3, 0), (77, 2**35)])
def test_rand_randn_randint(device, seed, first):
    u, normal, whole = np.empty(1024, np.float32), np.empty(1024, np.float32), np.empty(1024, np.int32)
    numbers[(4,)](seed, first, u, normal, whole, N=256, device=device)
    a, b, _, _ = bits(seed, first + np.arange(1024))
    np.testing.assert_array_equal(whole.view(np.uint32), a)
    np.testing.assert_array_equal(u, uniform(a))
    assert 0 <= u.min() and u.max() < 1
    u1, u2 = np.maximum(uniform(a), np.float32(1e-7)).astype(np.float64), uniform(b).astype(np.float64)
    np.testing.assert_allclose(normal, np.sqrt(-2 * np.log(u1)) * np.cos(2 * np.pi * u2), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_rand4x(device):
    out = np.empty((4, 128), np.float32)
    four[(1,)](99, out, N=128, device=device)
    np.testing.assert_array_equal(out, np.stack([uniform(x) for x in bits(99, np.arange(128))]))


@pytest.mark.parametrize("device", DEVICES)
def test_dropout_with_a_seed(device):
    x = np.random.default_rng(1).normal(0, 1, 5000).astype(np.float32)
    out = np.empty_like(x)
    dropout[(5,)](x, out, 5000, 0.25, 123, BLOCK=1024, device=device)
    kept = uniform(bits(123, np.arange(5000))[0]) > np.float32(0.25)
    np.testing.assert_allclose(out, np.where(kept, x / np.float32(0.75), 0), rtol=1e-6)
    assert 0.7 < kept.mean() < 0.8
