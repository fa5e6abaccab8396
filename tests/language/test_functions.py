"""The language's elementwise functions, one by one, on both devices, against numpy in float64."""
import math

import numpy as np
import pytest

import dougong
import dougong.language as tl

DEVICES = ["cpu", "npu:phone"]
REAL, POSITIVE, UNIT, SMALL = (-6.0, 6.0), (0.01, 50.0), (-0.95, 0.95), (-0.5, 3.0)


def each(function):
    return np.vectorize(function, otypes=[np.float64])


def rounded(x):  # halves away from zero
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


# name, reference, where
ONE = [
    ("exp", np.exp, REAL), ("exp2", np.exp2, REAL), ("log", np.log, POSITIVE), ("log2", np.log2, POSITIVE), ("log10", np.log10, POSITIVE),
    ("sqrt", np.sqrt, POSITIVE), ("sqrt_rn", np.sqrt, POSITIVE), ("rsqrt", lambda x: 1 / np.sqrt(x), POSITIVE), ("sin", np.sin, REAL),
    ("cos", np.cos, REAL), ("tan", np.tan, (-1.4, 1.4)), ("tanh", np.tanh, REAL), ("erf", each(math.erf), REAL), ("floor", np.floor, REAL),
    ("ceil", np.ceil, REAL), ("rint", np.rint, REAL), ("round", rounded, REAL), ("trunc", np.trunc, REAL), ("log1p", np.log1p, SMALL),
    ("expm1", np.expm1, SMALL), ("atan", np.arctan, REAL), ("asin", np.arcsin, UNIT), ("acos", np.arccos, UNIT), ("sinh", np.sinh, REAL),
    ("cosh", np.cosh, REAL), ("abs", np.abs, REAL), ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), REAL), ("exp10", lambda x: 10.0**x, UNIT),
    ("rcp_rn", np.reciprocal, POSITIVE), ("saturatef", lambda x: np.clip(x, 0, 1), REAL), ("erfc", each(math.erfc), UNIT),
    ("normcdf", lambda x: 0.5 * (1 + each(math.erf)(x / np.sqrt(2))), UNIT), ("fast_expf", np.exp, REAL), ("nearbyint", np.rint, REAL),
]  # fmt: skip
TWO = [
    ("pow", np.power), ("atan2", np.arctan2), ("fdiv", np.divide), ("div_rn", np.divide), ("fmod", np.fmod), ("hypot", np.hypot),
    ("copysign", np.copysign), ("maximum", np.fmax), ("minimum", np.fmin), ("fmax", np.fmax), ("fdim", lambda x, y: np.maximum(x - y, 0)),
    ("fast_dividef", np.divide),
]  # fmt: skip


@dougong.jit
def special(x_ptr, nan_ptr, inf_ptr, finite_ptr, sign_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(nan_ptr + at, tl.extra.libdevice.isnan(x))
    tl.store(inf_ptr + at, tl.extra.cuda.libdevice.isinf(x))
    tl.store(finite_ptr + at, tl.extra.libdevice.finitef(x))
    tl.store(sign_ptr + at, tl.extra.libdevice.signbit(x))


@dougong.jit
def whole(x_ptr, y_ptr, high_ptr, order_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(high_ptr + at, tl.umulhi(x, y))
    i, j = tl.swizzle2d(at // 8, at % 8, 8, 8, 4)
    tl.store(order_ptr + at, i * 8 + j)


@dougong.jit
def exact_dot(a_ptr, b_ptr, c_ptr, half_ptr, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(a_ptr + at), tl.load(b_ptr + at)
    tl.store(c_ptr + at, tl.dot(a, b, input_precision="ieee"))
    tl.store(half_ptr + at, tl.dot(a.to(tl.float16), b.to(tl.float16), allow_tf32=False, out_dtype=tl.float16))


@dougong.jit
def hints(x_ptr, n, BLOCK: tl.constexpr):
    tl.assume(n > 0)
    at = tl.max_contiguous(tl.multiple_of(tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), BLOCK), BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, cache_modifier=".cg", eviction_policy="evict_last")
    tl.device_print("x", x)
    tl.static_print("BLOCK", BLOCK)
    tl.device_assert(n > 0, "n must be positive")
    for k in tl.static_range(3):
        x += k
    tl.store(x_ptr + at, x, mask=at < n, eviction_policy="evict_first")


def of_text(tmp_path, name, arguments):
    """A kernel that applies one function; each has a file of its own, as its name is part of the text."""
    loads = "".join(f"    v{k} = tl.load(x{k} + at)\n" for k in range(arguments))
    path = tmp_path / f"{name}.py"
    path.write_text("import dougong\nimport dougong.language as tl\n\n\n@dougong.jit\n"
                    f"def apply({''.join(f'x{k}, ' for k in range(arguments))}out, N: tl.constexpr):\n    at = tl.arange(0, N)\n" + loads +
                    f"    tl.store(out + at, tl.{name}({', '.join(f'v{k}' for k in range(arguments))}))\n")
    scope = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return scope["apply"]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name, reference, where", ONE, ids=[row[0] for row in ONE])
def test_function_of_one(tmp_path, device, name, reference, where):
    x = np.random.default_rng(len(name)).uniform(*where, 256).astype(np.float32)
    out = np.full(256, np.nan, np.float32)
    of_text(tmp_path, name, 1)[(1,)](x, out, N=256, device=device)
    np.testing.assert_allclose(out, reference(x.astype(np.float64)).astype(np.float64), rtol=4e-6, atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name, reference", TWO, ids=[row[0] for row in TWO])
def test_function_of_two(tmp_path, device, name, reference):
    chance = np.random.default_rng(len(name))
    x = chance.uniform(0.1 if name == "pow" else -4, 4, 256).astype(np.float32)
    y = (chance.uniform(0.5, 4, 256) * chance.choice([-1, 1], 256)).astype(np.float32)
    out = np.full(256, np.nan, np.float32)
    of_text(tmp_path, name, 2)[(1,)](x, y, out, N=256, device=device)
    np.testing.assert_allclose(out, reference(x.astype(np.float64), y.astype(np.float64)), rtol=4e-6, atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_special_numbers(device):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -3.0, 1e-45] * 4, np.float32)
    out = [np.full(32, 9, np.bool_) for _ in range(4)]
    special[(1,)](x, *out, N=32, device=device)
    for got, reference in zip(out, (np.isnan, np.isinf, np.isfinite, np.signbit)):
        np.testing.assert_array_equal(got, reference(x), err_msg=reference.__name__)


@pytest.mark.parametrize("device", DEVICES)
def test_upper_half_of_products_and_swizzle(device):
    chance = np.random.default_rng(8)
    x, y = (chance.integers(0, 2**32, 64, dtype=np.uint32) for _ in range(2))
    x[0], y[0] = 2**32 - 1, 2**32 - 1
    high, order = np.empty(64, np.uint32), np.empty(64, np.int32)
    whole[(1,)](x, y, high, order, N=64, device=device)
    np.testing.assert_array_equal(high, ((x.astype(np.uint64) * y) >> np.uint64(32)).astype(np.uint32))
    # groups of four rows, column by column: the n-th program takes row n % 4 of column n / 4 of its group
    n = np.arange(64)
    np.testing.assert_array_equal(order, (n // 32 * 4 + n % 32 % 4) * 8 + n % 32 // 4)


@pytest.mark.parametrize("device", DEVICES)
def test_dot_takes_precision_and_type(device):
    a, b = (np.random.default_rng(k).normal(0, 1, (32, 32)).astype(np.float32) for k in (1, 2))
    c, half = np.empty_like(a), np.empty((32, 32), np.float16)
    exact_dot[(1,)](a, b, c, half, N=32, device=device)
    expected = a.astype(np.float64) @ b
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(half, expected, rtol=1e-2, atol=2e-2)


@pytest.mark.parametrize("device", DEVICES)
def test_hints_change_nothing(device):
    x = np.arange(100, dtype=np.float32)
    hints[(2,)](x, 100, BLOCK=64, device=device)
    np.testing.assert_array_equal(x, np.arange(100) + 3)
