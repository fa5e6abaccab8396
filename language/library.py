# The operator language's standard functions that can be said in the language itself: `tl.NAME` and `libdevice.NAME` find them here.
# The compiler holds this text (Library.cpp); a mistake in a call is reported at the call.
import dougong
import dougong.language as tl


@dougong.jit
def sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@dougong.jit
def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):
    axis: tl.constexpr = 0 if dim is None else dim
    e = tl.exp(x - tl.max(x, axis, keep_dims=True))
    return tl.fdiv(e, tl.sum(e, axis, keep_dims=True))


@dougong.jit
def to_tensor(x):
    return tl.cast(x, x.dtype)


# --- scans

@dougong.jit
def _sum(a, b):
    return a + b


@dougong.jit
def _product(a, b):
    return a * b


@dougong.jit
def _widened(x, dtype):
    if dtype is not None:
        x = x.to(dtype)
    elif x.dtype.is_int() and x.dtype.primitive_bitwidth < 32:
        x = x.to(tl.int32 if x.dtype.is_int_signed() else tl.uint32)
    elif x.dtype.is_bf16():
        x = x.to(tl.float32)
    return x


@dougong.jit
def cumsum(input, axis=0, reverse=False, dtype=None):
    return tl.associative_scan(_widened(input, dtype), axis, _sum, reverse)


@dougong.jit
def cumprod(input, axis=0, reverse=False):
    return tl.associative_scan(_widened(input, None), axis, _product, reverse)


# --- the order of programs

# (i, j) of a row-major grid of size_i x size_j → its place where groups of size_g rows are walked column by column.
@dougong.jit
def swizzle2d(i, j, size_i, size_j, size_g):
    ij = i * size_j + j
    size_gj = size_g * size_j
    group = ij // size_gj
    off_i = group * size_g
    size_g = tl.minimum(size_i - off_i, size_g)
    ij = ij % size_gj
    return off_i + ij % size_g, ij // size_g


# --- random numbers: Philox 4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11), counter c, key k

_N_ROUNDS: tl.constexpr = 10


@dougong.jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: tl.constexpr = _N_ROUNDS):
    a = tl.full((), 0xD2511F53, tl.uint32)
    b = tl.full((), 0xCD9E8D57, tl.uint32)
    for _ in tl.static_range(n_rounds):
        p0 = c0
        p2 = c2
        c0 = tl.umulhi(b, p2) ^ c1 ^ k0
        c2 = tl.umulhi(a, p0) ^ c3 ^ k1
        c1 = b * p2
        c3 = a * p0
        k0 = k0 + tl.full((), 0x9E3779B9, tl.uint32)
        k1 = k1 + tl.full((), 0xBB67AE85, tl.uint32)
    return c0, c1, c2, c3


@dougong.jit
def philox(seed, c0, c1, c2, c3, n_rounds: tl.constexpr = _N_ROUNDS):
    seed = tl.cast(seed, tl.uint64)
    low = (seed & tl.full((), 0xFFFFFFFF, tl.uint64)).to(tl.uint32)
    high = (seed >> tl.full((), 32, tl.uint64)).to(tl.uint32)
    return philox_impl(tl.cast(c0, tl.uint32), tl.cast(c1, tl.uint32), tl.cast(c2, tl.uint32), tl.cast(c3, tl.uint32), low, high, n_rounds)


@dougong.jit
def randint4x(seed, offset, n_rounds: tl.constexpr = _N_ROUNDS):
    offset = tl.cast(offset, offset.dtype)
    high = 0
    if offset.dtype.primitive_bitwidth > 32:
        high = (offset >> 32).to(tl.uint32)
    return philox(seed, offset.to(tl.uint32), high, 0, 0, n_rounds)


@dougong.jit
def randint(seed, offset, n_rounds: tl.constexpr = _N_ROUNDS):
    return randint4x(seed, offset, n_rounds)[0]


# 32 random bits → [0, 1): a negative number's complement is positive, and 2^31 steps of a little less than 2^-31 stay below 1.
@dougong.jit
def uint_to_uniform_float(x):
    x = x.to(tl.int32, bitcast=True)
    return tl.where(x < 0, -x - 1, x).to(tl.float32) * 4.6566127342e-10


@dougong.jit
def rand4x(seed, offset, n_rounds: tl.constexpr = _N_ROUNDS):
    a, b, c, d = randint4x(seed, offset, n_rounds)
    return uint_to_uniform_float(a), uint_to_uniform_float(b), uint_to_uniform_float(c), uint_to_uniform_float(d)


@dougong.jit
def rand(seed, offset, n_rounds: tl.constexpr = _N_ROUNDS):
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


# Box and Muller: two uniform numbers → two normal ones.
@dougong.jit
def pair_uniform_to_normal(u1, u2):
    u1 = tl.maximum(1.0e-7, u1)
    angle = 6.283185307179586 * u2
    radius = tl.sqrt(-2.0 * tl.log(u1))
    return radius * tl.cos(angle), radius * tl.sin(angle)


@dougong.jit
def randn4x(seed, offset, n_rounds: tl.constexpr = _N_ROUNDS):
    a, b, c, d = rand4x(seed, offset, n_rounds)
    n0, n1 = pair_uniform_to_normal(a, b)
    n2, n3 = pair_uniform_to_normal(c, d)
    return n0, n1, n2, n3


@dougong.jit
def randn(seed, offset, n_rounds: tl.constexpr = _N_ROUNDS):
    a, b, c, d = randint4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(uint_to_uniform_float(a), uint_to_uniform_float(b))[0]


# --- libdevice

@dougong.jit
def isnan(x):
    return x != x


@dougong.jit
def isinf(x):
    return tl.abs(x) == float("inf")


@dougong.jit
def isfinited(x):
    return tl.abs(x) < float("inf")


@dougong.jit
def exp10(x):
    return tl.exp2(x * 3.3219280948873623)


@dougong.jit
def rcp_rn(x):
    return 1.0 / x


@dougong.jit
def hypot(x, y):
    return tl.sqrt(x * x + y * y)


@dougong.jit
def fdim(x, y):
    return tl.where(x > y, x - y, 0.0)


@dougong.jit
def saturatef(x):
    return tl.clamp(x, 0.0, 1.0)


@dougong.jit
def erfc(x):
    return 1.0 - tl.erf(x)


@dougong.jit
def normcdf(x):
    return 0.5 * (1.0 + tl.erf(x * 0.7071067811865476))


@dougong.jit
def signbit(x):
    return x.to(tl.int32, bitcast=True) < 0


finitef = isfinited
fast_expf = tl.exp
fast_exp10f = exp10
fast_logf = tl.log
fast_log2f = tl.log2
fast_log10f = tl.log10
fast_sinf = tl.sin
fast_cosf = tl.cos
fast_tanf = tl.tan
fast_tanhf = tl.tanh
fast_powf = tl.pow
fast_dividef = tl.fdiv
nearbyint = tl.rint
fabs = tl.abs
fmax = tl.maximum
fmin = tl.minimum
rsqrt_rn = tl.rsqrt
fma_rn = tl.fma
