"""What the manual says each vector and conversion instruction computes, bit for bit, on edge values and random ones.

The reference here is written from `build/docs/isa.md`: every float operation is done in f64 and rounded once to the format asked for, never by the code that the model
executes. One program runs every instruction on blocks of 32 lanes of all inputs and writes what it got: 200,000 lanes. What makes one scalar of
a register has 6,250 results then, and 100,000 with DOUGONG_LONG.
Packed lanes, of 16 and 8 bits, are in test_packed_numerics.py; the tensor engine and the drain have the same in tests/sim/tensor_test.cc.
"""
import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "isa"))
from records import BUILD, LLVM, run  # noqa: E402

LONG = "DOUGONG_LONG" in os.environ
BLOCKS = 6250  # 16 scalar conversions each: 100,000
TIMED = 500
NAN = 0x7FC00000
rng = np.random.default_rng(11)


def as_floats(bits):
    return np.asarray(bits, np.uint32).view(np.float32)


# --- rounding, in f64 -------------------------------------------------------------------------------------------------------------------------------

def f32(wide):
    """f64 to the bits of the nearest f32; a NaN is the canonical one."""
    with np.errstate(all="ignore"):
        bits = np.asarray(wide, np.float64).astype(np.float32).view(np.uint32)
    return np.where(np.isnan(wide), np.uint32(NAN), bits)


def step(wide):
    """The same as a value in f64, to go on with."""
    return as_floats(f32(wide)).astype(np.float64)


def narrow(wide, fraction, least, bound):
    """f64 to the nearest value with `fraction` bits after the point and no exponent below `least`, ties to even; from `bound` on infinity."""
    with np.errstate(all="ignore"):
        exponent = np.frexp(wide)[1] - 1
        place = np.exp2(np.maximum(exponent, least) - fraction)
        value = np.where(np.isfinite(wide) & (wide != 0), np.copysign(np.rint(wide / place) * place, wide), wide)
        return np.where(np.abs(value) >= bound, np.copysign(np.inf, value), value)


def f16(wide):
    return narrow(wide, 10, -14, 65536.0)


def bf16(wide):
    return narrow(wide, 7, -126, 2.0**128)


def f16_bits(wide):
    value = np.abs(f16(wide))
    with np.errstate(all="ignore"):
        exponent = np.frexp(value)[1] - 1
        normal = ((exponent + 15) * 1024 + (value / np.exp2(exponent) - 1) * 1024).astype(np.int64)
        bits = np.where(value < 2.0**-14, (value * 2.0**24).astype(np.int64), np.where(np.isinf(value), 0x7C00, normal))
    return np.where(np.isnan(wide), 0x7E00, bits | np.where(np.signbit(wide), 0x8000, 0))


def bf16_bits(wide):
    return np.where(np.isnan(wide), 0x7FC0, f32(bf16(wide)).astype(np.int64) >> 16)


def of_f16(bits):
    bits = bits.astype(np.int64)
    exponent, fraction = bits >> 10 & 31, bits & 1023
    value = np.where(exponent == 0, fraction * 2.0**-24, (1 + fraction / 1024) * np.exp2(exponent - 15.0))
    value = np.where(exponent == 31, np.where(fraction, np.nan, np.inf), value)
    return np.where(bits & 0x8000, -value, value)


def of_bf16(bits):
    return as_floats(bits.astype(np.uint32) << np.uint32(16)).astype(np.float64)


def fma_odd(a, b, c):
    """a * b + c, in f64: the product is exact, the sum is made odd where it is not, and so rounds to a narrower format as the exact one would."""
    with np.errstate(all="ignore"):
        product = a * b
        total = product + c
        other = total - product
        error = (product - (total - other)) + (c - other)
        inexact = np.isfinite(total) & (error != 0)
        bits = np.ascontiguousarray(total).view(np.int64)
        odd = bits + np.where(inexact & (bits & 1 == 0), np.where((error > 0) == (total > 0), 1, -1), 0)
    return odd.view(np.float64)


def fma(a, b, c):
    """a * b + c, rounded once."""
    return step(fma_odd(a, b, c))


# --- one lane ---------------------------------------------------------------------------------------------------------------------------------------

def ordered(a, b, least):
    """The lesser or greater; -0 is less than +0."""
    first = np.where(a == b, np.signbit(a) == least, (a < b) == least)
    return np.where(first, a, b)


def number(a, b, least):
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, ordered(a, b, least)))


def either(a, b, least):
    return np.where(np.isnan(a) | np.isnan(b), np.nan, ordered(a, b, least))


def to_integer(a, low, high):
    return np.where(np.isnan(a), 0, np.clip(np.where(np.isnan(a), 0, a), low, high)).astype(np.int64)


def polynomial(x, coefficients):
    result = np.full_like(x, float.fromhex(coefficients[0]))
    for c in coefficients[1:]:
        result = fma(result, x, np.full_like(x, float.fromhex(c)))
    return result


def exp2_fraction(f):
    return polynomial(f, "0x1.416b50p-13 0x1.5f082ep-10 0x1.3b2de0p-7 0x1.c6af7cp-5 0x1.ebfbdcp-3 0x1.62e430p-1 0x1p0".split())


def exp2(a):
    bounded = np.clip(np.where(np.isnan(a), 0, a), -151, 129)
    whole = np.rint(bounded)
    half = np.floor(whole / 2)
    return np.where(np.isnan(a), np.nan, step(step(exp2_fraction(step(bounded - whole)) * np.exp2(half)) * np.exp2(whole - half)))


def log2(a):
    small = a < 2.0**-126
    scaled = np.where(small, step(a * 2.0**24), a)
    bits = f32(np.where(np.isnan(scaled), 1, scaled)).astype(np.int64)
    e = ((bits - 0x3F3504F3) & 0xFFFFFFFF).astype(np.uint32).view(np.int32).astype(np.int64) >> 23
    f = step(as_floats(((bits - (e << 23)) & 0xFFFFFFFF).astype(np.uint32)).astype(np.float64) - 1)
    p = polynomial(f, """0x1.32cc2cp-4 -0x1.985262p-4 0x1.266182p-3 -0x1.843478p-3 0x1.af9ac6p-3 -0x1.eb8136p-3 0x1.2726ccp-2 -0x1.715614p-2
                         0x1.ec723ap-2 -0x1.715476p-1 0x1.715476p+0""".split())
    result = fma(f, p, np.where(small, e - 24, e).astype(np.float64))
    return np.where(np.isnan(a) | (a < 0), np.nan, np.where(a == 0, -np.inf, np.where(a == np.inf, a, result)))


def tanh(a):
    x = np.abs(a)
    z = step(x * x)
    q = polynomial(z, "0x1.1a27fep-9 -0x1.0c5ecep-7 0x1.63a550p-6 -0x1.b9f188p-5 0x1.11107ap-3 -0x1.555554p-2".split())
    small = fma(step(x * z), q, x)
    bounded = np.where(x < 10, x, 10.0)
    factor = np.full_like(x, float.fromhex("0x1.715476p+1"))
    high = step(bounded * factor)
    low = step(fma(bounded, factor, -high) + step(bounded * float.fromhex("0x1.4ae0cp-25")))
    whole = np.rint(high)
    power = step(exp2_fraction(step(step(high - whole) + low)) * np.exp2(whole))
    large = step(1 - step(2 / step(power + 1)))
    return np.where(np.isnan(a), np.nan, np.copysign(np.where(x < 0.625, small, large), a))


def classes(bits):
    bits = bits.astype(np.int64)
    exponent, fraction, negative = bits >> 23 & 255, bits & 0x7FFFFF, bits >> 31 == 1
    kind = np.where(exponent == 255, np.where(fraction == 0, 7, np.where(fraction >> 22, 9, 8)), np.where(exponent, 6, np.where(fraction, 5, 4)))
    return 1 << np.where(negative & (kind < 8), 7 - kind, kind)


def tree(values, combine):
    """Pairwise: lanes i and i + 16, then i and i + 8, ..."""
    while values.shape[1] > 1:
        half = values.shape[1] // 2
        values = combine(values[:, :half], values[:, half:])
    return values[:, 0]


def in_order(values, combine):
    total = np.full(len(values), 0.25)
    for lane in range(32):
        total = combine(total, values[:, lane])
    return total


def wrapped(values):
    return np.asarray(values).astype(np.int64) & 0xFFFFFFFF


def signed32(values):
    return (wrapped(values) ^ 0x80000000) - 0x80000000


def quotient(a, b, by_zero):
    with np.errstate(all="ignore"):
        q = np.abs(a) // np.maximum(np.abs(b), 1)
    return np.where(b == 0, by_zero, np.where((a < 0) != (b < 0), -q, q))


def remainder(a, b):
    r = np.abs(a) % np.maximum(np.abs(b), 1)
    return np.where(b == 0, a, np.where(a < 0, -r, r))


def popcount(a):
    return sum(a >> i & 1 for i in range(32))


def leading_zeros(a):
    return 32 - np.frexp(a.astype(np.float64))[1]  # a whole number below 2^53 is exact; 0 has exponent 0


def mask_word(condition):
    return (condition.astype(np.int64) << np.arange(32)).sum(1)


def top(a, b):
    """The high half of a product of 32-bit numbers, which may be 64 bits: from 16-bit parts of the second."""
    return (a * (b >> 16) + (a * (b & 0xFFFF) >> 16)) >> 16


# --- the instructions -------------------------------------------------------------------------------------------------------------------------------
# Each entry: what the inputs are, the assembly from v1, v2, v3 (s0: where they lie; s3: a mask's worth of bits, also in m1) to v0 or a0, the value expected.
MASK = 0xA5C3F00F
ON = np.array([MASK >> i & 1 for i in range(32)], bool)
FLOAT = {
    "dg.vadd.f32 v0, v1, v2": lambda a, b, c: f32(a + b), "dg.vsub.f32 v0, v1, v2": lambda a, b, c: f32(a - b),
    "dg.vmul.f32 v0, v1, v2": lambda a, b, c: f32(a * b), "dg.vdiv.f32 v0, v1, v2": lambda a, b, c: f32(a / b),
    "dg.vmin.f32 v0, v1, v2": lambda a, b, c: f32(number(a, b, True)), "dg.vmax.f32 v0, v1, v2": lambda a, b, c: f32(number(a, b, False)),
    "dg.vminimum.f32 v0, v1, v2": lambda a, b, c: f32(either(a, b, True)), "dg.vmaximum.f32 v0, v1, v2": lambda a, b, c: f32(either(a, b, False)),
    "dg.vfma.f32 v0, v1, v2, v3": lambda a, b, c: f32(fma(a, b, c)), "dg.vfms.f32 v0, v1, v2, v3": lambda a, b, c: f32(fma(a, b, -c)),
    "dg.vfnma.f32 v0, v1, v2, v3": lambda a, b, c: f32(fma(-a, b, c)), "dg.vfnms.f32 v0, v1, v2, v3": lambda a, b, c: f32(fma(-a, b, -c)),
    "dg.vsqrt.f32 v0, v1": lambda a, b, c: f32(np.sqrt(a)), "dg.vrcp.f32 v0, v1": lambda a, b, c: f32(1 / a),
    "dg.vrsqrt.f32 v0, v1": lambda a, b, c: f32(1 / step(np.sqrt(a))),
    "dg.vfloor.f32 v0, v1": lambda a, b, c: f32(np.floor(a)), "dg.vceil.f32 v0, v1": lambda a, b, c: f32(np.ceil(a)),
    "dg.vtrunc.f32 v0, v1": lambda a, b, c: f32(np.trunc(a)), "dg.vrint.f32 v0, v1": lambda a, b, c: f32(np.rint(a)),
    "dg.vround.f32 v0, v1": lambda a, b, c: f32(np.copysign(np.floor(np.abs(a) + 0.5), a)),
    "dg.vexp2.f32 v0, v1": lambda a, b, c: f32(exp2(a)), "dg.vlog2.f32 v0, v1": lambda a, b, c: f32(log2(a)), "dg.vtanh.f32 v0, v1": lambda a, b, c: f32(tanh(a)),
    "dg.vcvt.i32.f32 v0, v1": lambda a, b, c: to_integer(np.trunc(a), -2**31, 2**31 - 1), "dg.vcvt.u32.f32 v0, v1": lambda a, b, c: to_integer(np.trunc(a), 0, 2**32 - 1),
    "dg.vcvtn.i32.f32 v0, v1": lambda a, b, c: to_integer(np.rint(a), -2**31, 2**31 - 1),
    "dg.vround.f16 v0, v1": lambda a, b, c: f32(f16(a)), "dg.vround.bf16 v0, v1": lambda a, b, c: f32(bf16(a)),
    "dg.vpack.f16 v0, v1, v2": lambda a, b, c: f16_bits(np.concatenate([a, b], 1)).astype(np.uint16).view(np.uint32),
    "dg.vpack.bf16 v0, v1, v2": lambda a, b, c: bf16_bits(np.concatenate([a, b], 1)).astype(np.uint16).view(np.uint32),
    "dg.vst.f16 v1, 0(s6); dg.vst.f16 v2, 64(s6); dg.vld.32 v0, 0(s6)": lambda a, b, c: f16_bits(np.concatenate([a, b], 1)).astype(np.uint16).view(np.uint32),
    "dg.vst.bf16 v1, 0(s6); dg.vst.bf16 v2, 64(s6); dg.vld.32 v0, 0(s6)": lambda a, b, c: bf16_bits(np.concatenate([a, b], 1)).astype(np.uint16).view(np.uint32),
    "dg.vcmpeq.f32 m2, v1, v2; dg.mtoxw a0, m2": lambda a, b, c: mask_word(a == b), "dg.vcmplt.f32 m2, v1, v2; dg.mtoxw a0, m2": lambda a, b, c: mask_word(a < b),
    "dg.vcmple.f32 m2, v1, v2; dg.mtoxw a0, m2": lambda a, b, c: mask_word(a <= b), "dg.vcmpun.f32 m2, v1, v2; dg.mtoxw a0, m2": lambda a, b, c: mask_word(np.isnan(a) | np.isnan(b)),
    "dg.vredsum.f32 a0, v1": lambda a, b, c: signed32(f32(tree(a, lambda x, y: step(x + y)))), "dg.vredmul.f32 a0, v1": lambda a, b, c: signed32(f32(tree(a, lambda x, y: step(x * y)))),
    "dg.vredmin.f32 a0, v1": lambda a, b, c: signed32(f32(tree(a, lambda x, y: number(x, y, True)))),
    "dg.vredmax.f32 a0, v1": lambda a, b, c: signed32(f32(tree(a, lambda x, y: number(x, y, False)))),
    "dg.vredminimum.f32 a0, v1": lambda a, b, c: signed32(f32(tree(a, lambda x, y: either(x, y, True)))),
    "dg.vredmaximum.f32 a0, v1": lambda a, b, c: signed32(f32(tree(a, lambda x, y: either(x, y, False)))),
    "li a1, 0x3e800000; dg.vredosum.f32 a0, a1, v1": lambda a, b, c: signed32(f32(in_order(a, lambda x, y: step(x + y)))),
    "li a1, 0x3e800000; dg.vredomul.f32 a0, a1, v1": lambda a, b, c: signed32(f32(in_order(a, lambda x, y: step(x * y)))),
}
WORDS = {  # a, b, c: int64 arrays of the unsigned words; s(): signed
    "dg.vneg.f32 v0, v1": lambda a, b, c: a ^ 0x80000000, "dg.vabs.f32 v0, v1": lambda a, b, c: a & 0x7FFFFFFF,
    "dg.vcopysign.f32 v0, v1, v2": lambda a, b, c: a & 0x7FFFFFFF | b & 0x80000000, "dg.vclass.f32 v0, v1": lambda a, b, c: classes(a),
    "dg.vcvt.f32.i32 v0, v1": lambda a, b, c: f32(s(a).astype(np.float64)), "dg.vcvt.f32.u32 v0, v1": lambda a, b, c: f32(a.astype(np.float64)),
    "dg.vadd.i32 v0, v1, v2": lambda a, b, c: a + b, "dg.vsub.i32 v0, v1, v2": lambda a, b, c: a - b, "dg.vmul.i32 v0, v1, v2": lambda a, b, c: s(a) * s(b),
    "dg.vmadd.i32 v0, v1, v2, v3": lambda a, b, c: s(a) * s(b) + c, "dg.vmulh.i32 v0, v1, v2": lambda a, b, c: s(a) * s(b) >> 32,
    "dg.vmulh.u32 v0, v1, v2": lambda a, b, c: top(a, b),
    "dg.vmin.i32 v0, v1, v2": lambda a, b, c: np.minimum(s(a), s(b)), "dg.vmax.i32 v0, v1, v2": lambda a, b, c: np.maximum(s(a), s(b)),
    "dg.vmin.u32 v0, v1, v2": lambda a, b, c: np.minimum(a, b), "dg.vmax.u32 v0, v1, v2": lambda a, b, c: np.maximum(a, b),
    "dg.vand v0, v1, v2": lambda a, b, c: a & b, "dg.vor v0, v1, v2": lambda a, b, c: a | b, "dg.vxor v0, v1, v2": lambda a, b, c: a ^ b, "dg.vnot v0, v1": lambda a, b, c: ~a,
    "dg.vsll.i32 v0, v1, v2": lambda a, b, c: a << (b & 31), "dg.vsrl.i32 v0, v1, v2": lambda a, b, c: a >> (b & 31), "dg.vsra.i32 v0, v1, v2": lambda a, b, c: s(a) >> (b & 31),
    "dg.vslli.i32 v0, v1, 31": lambda a, b, c: a << 31, "dg.vsrli.i32 v0, v1, 3": lambda a, b, c: a >> 3, "dg.vsrai.i32 v0, v1, 30": lambda a, b, c: s(a) >> 30,
    "dg.vdiv.i32 v0, v1, v2": lambda a, b, c: quotient(s(a), s(b), -1), "dg.vrem.i32 v0, v1, v2": lambda a, b, c: remainder(s(a), s(b)),
    "dg.vdiv.u32 v0, v1, v2": lambda a, b, c: quotient(a, b, 0xFFFFFFFF), "dg.vrem.u32 v0, v1, v2": lambda a, b, c: remainder(a, b),
    "dg.vabs.i32 v0, v1": lambda a, b, c: np.abs(s(a)), "dg.vclz.i32 v0, v1": lambda a, b, c: leading_zeros(a), "dg.vpopc.i32 v0, v1": lambda a, b, c: popcount(a),
    "dg.vperm v0, v1, v2": lambda a, b, c: np.take_along_axis(a, b & 31, 1), "dg.vperm2 v0, v1, v2, v3": lambda a, b, c: np.take_along_axis(np.concatenate([a, b], 1), c & 63, 1),
    "dg.valign v0, v1, v2, 17": lambda a, b, c: np.concatenate([a, b], 1)[:, 17:49], "dg.vsel v0, m1, v1, v2": lambda a, b, c: np.where(ON, a, b),
    "dg.vbcast.32 v0, v1, 30": lambda a, b, c: np.repeat(a[:, 30:31], 32, 1), "dg.vmov v0, v1": lambda a, b, c: a, "dg.viota.i32 v0": lambda a, b, c: np.tile(np.arange(32), (len(a), 1)),
    "lw a1, 16(s0); dg.vsplat.32 v0, a1": lambda a, b, c: np.repeat(a[:, 4:5], 32, 1),
    "lw a1, 16(s0); dg.vsplat.16 v0, a1": lambda a, b, c: np.repeat((a[:, 4:5] & 0xFFFF) * 0x10001, 32, 1),
    "lw a1, 16(s0); dg.vsplat.8 v0, a1": lambda a, b, c: np.repeat((a[:, 4:5] & 0xFF) * 0x1010101, 32, 1),
    "lw a1, 16(s0); dg.vmov v0, v1; dg.vinsert.32 v0, a1, 9": lambda a, b, c: np.where(np.arange(32) == 9, a[:, 4:5], a),
    "lw a1, 16(s0); dg.vmov v0, v1; dg.vinsert.32 v0, a1, a1": lambda a, b, c: np.where(np.arange(32) == (a[:, 4:5] & 31), a[:, 4:5], a),
    "dg.vextract.32 a0, v1, 31": lambda a, b, c: s(a[:, 31]), "lw a1, 16(s0); dg.vextract.32 a0, v1, a1": lambda a, b, c: s(np.take_along_axis(a, a[:, 4:5] & 31, 1)[:, 0]),
    **{f"dg.vwiden.f16 v0, v1, {i}": lambda a, b, c, i=i: f32(of_f16(halves(a)[:, 32 * i:32 * i + 32])) for i in range(2)},
    **{f"dg.vwiden.bf16 v0, v1, {i}": lambda a, b, c, i=i: f32(of_bf16(halves(a)[:, 32 * i:32 * i + 32])) for i in range(2)},
    **{f"dg.vwiden.i16 v0, v1, {i}": lambda a, b, c, i=i: halves(a).view(np.int16)[:, 32 * i:32 * i + 32] for i in range(2)},
    **{f"dg.vwiden.u16 v0, v1, {i}": lambda a, b, c, i=i: halves(a)[:, 32 * i:32 * i + 32] for i in range(2)},
    **{f"dg.vwiden.i8 v0, v1, {i}": lambda a, b, c, i=i: halves(a).view(np.int8)[:, 32 * i:32 * i + 32] for i in range(4)},
    **{f"dg.vwiden.u8 v0, v1, {i}": lambda a, b, c, i=i: halves(a).view(np.uint8)[:, 32 * i:32 * i + 32] for i in range(4)},
    "dg.vld.f16 v0, 64(s0)": lambda a, b, c: f32(of_f16(halves(a)[:, 32:])), "dg.vld.bf16 v0, 0(s0)": lambda a, b, c: f32(of_bf16(halves(a)[:, :32])),
    "dg.vpack.i16 v0, v1, v2": lambda a, b, c: (np.concatenate([a, b], 1) & 0xFFFF).astype(np.uint16).view(np.uint32),
    "dg.vpack.i8 v0, v1, v2": lambda a, b, c: (np.concatenate([halves(a), halves(b)], 1) & 0xFF).astype(np.uint8).view(np.uint32),
    "dg.vcmpeq.i32 m2, v1, v2; dg.mtoxw a0, m2": lambda a, b, c: mask_word(a == b), "dg.vcmpne.i32 m2, v1, v2; dg.mtoxw a0, m2": lambda a, b, c: mask_word(a != b),
    "dg.vcmplt.i32 m2, v1, v2; dg.mtoxw a0, m2": lambda a, b, c: mask_word(s(a) < s(b)), "dg.vcmple.i32 m2, v1, v2; dg.mtoxw a0, m2": lambda a, b, c: mask_word(s(a) <= s(b)),
    "dg.vcmplt.u32 m2, v1, v2; dg.mtoxw a0, m2": lambda a, b, c: mask_word(a < b), "dg.vcmple.u32 m2, v1, v2; dg.mtoxw a0, m2": lambda a, b, c: mask_word(a <= b),
    "dg.vredsum.i32 a0, v1": lambda a, b, c: signed32(a.sum(1)), "dg.vredmul.i32 a0, v1": lambda a, b, c: signed32(tree(a, lambda x, y: wrapped(signed32(x) * signed32(y)))),
    "dg.vredmin.i32 a0, v1": lambda a, b, c: s(a).min(1), "dg.vredmax.i32 a0, v1": lambda a, b, c: s(a).max(1),
    "dg.vredmin.u32 a0, v1": lambda a, b, c: signed32(a.min(1)), "dg.vredmax.u32 a0, v1": lambda a, b, c: signed32(a.max(1)),
    "dg.vredand a0, v1": lambda a, b, c: signed32(np.bitwise_and.reduce(a, 1)), "dg.vredor a0, v1": lambda a, b, c: signed32(np.bitwise_or.reduce(a, 1)),
    "dg.vredxor a0, v1": lambda a, b, c: signed32(np.bitwise_xor.reduce(a, 1)),
}
MASKS = {  # x, y: the low and high 64 bits of masks, from the first words of the inputs
    "dg.mand m4, m2, m3": lambda x, y: x & y, "dg.mor m4, m2, m3": lambda x, y: x | y, "dg.mxor m4, m2, m3": lambda x, y: x ^ y, "dg.mandn m4, m2, m3": lambda x, y: x & ~y,
    "dg.morn m4, m2, m3": lambda x, y: x | ~y, "dg.mnot m4, m2": lambda x, y: ~x, "dg.mmov m4, m3": lambda x, y: y,
}
SCALAR = {  # 16 values a block, from the words of v1 or from doubles: expected registers, as int64
    "dg.fcvt.s.h": ("lw", lambda w: signed32(f32(of_f16(w & 0xFFFF)))), "dg.fcvt.s.bf16": ("lw", lambda w: signed32(f32(of_bf16(w & 0xFFFF)))),
    "dg.fcvt.h.s": ("lw", lambda w: f16_bits(as_floats(w.astype(np.uint32)).astype(np.float64)).astype(np.int16)),
    "dg.fcvt.bf16.s": ("lw", lambda w: bf16_bits(as_floats(w.astype(np.uint32)).astype(np.float64)).astype(np.int16)),
    "dg.fcvt.d.h": ("lw", lambda w: double_bits(of_f16(w & 0xFFFF))), "dg.fcvt.d.bf16": ("lw", lambda w: double_bits(of_bf16(w & 0xFFFF))),
    "dg.fcvt.h.d": ("ld", lambda d: f16_bits(d).astype(np.int16)), "dg.fcvt.bf16.d": ("ld", lambda d: bf16_bits(d).astype(np.int16)),
}


def s(words):
    return signed32(words)


def halves(words):
    return np.ascontiguousarray(words.astype(np.uint32)).view(np.uint16)


def double_bits(values):
    return np.where(np.isnan(values), 0x7FF8000000000000, np.ascontiguousarray(values).view(np.int64))


# --- inputs -----------------------------------------------------------------------------------------------------------------------------------------
EDGES = [0, 1, 2, 0x7FFFFF, 0x800000, 0x3F800000, 0x3F800001, 0x3F7FFFFF, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800001, 0x7FD12345, 0x3F000000, 0x3FC00000, 0x40200000,
         0x4AFFFFFF, 0x4B000000, 0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000, 0x477FE000, 0x477FEFFF, 0x477FF000, 0x33800000, 0x33000000, 0x33000001, 0x387FC000, 0x387FE000,
         0x42FE0000, 0x43000000, 0xC2FC0000 ^ 0x80000000, 0x43160000, 0x3F3504F3, 0x3F3504F4, 0x3F200000, 0x411FFFFF, 0x3F808000, 0x3F818000, 0x7F7F8000]
EDGES += [e ^ 0x80000000 for e in EDGES]
INTEGER_EDGES = [0, 1, 2, 31, 32, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFF, 0x10000, 0x1000001, 0xFFFFFF80, 0xFFFFFF7F, 0x7FFFFFC0]


def random_words(count, edges, rng):
    """A third any bits, a third floats of everyday size, the rest edges and their neighbours."""
    words = rng.integers(0, 2**32, count, np.uint32)
    third = count // 3
    words[:third] = (rng.normal(size=third) * np.exp2(rng.integers(-12, 12, third))).astype(np.float32).view(np.uint32)
    words[third:2 * third] = rng.choice(np.array(edges, np.uint32), third) + rng.integers(-1, 2, third).astype(np.uint32)
    return rng.permutation(words)


def inputs(blocks=BLOCKS, rng=rng):
    """[blocks, 3, 32] words for the float instructions, the same for the others, [blocks, 16] doubles."""
    count = blocks * 32
    floats, words = (np.stack([random_words(count, e, rng) for _ in range(3)]) for e in (EDGES, INTEGER_EDGES))
    # All pairs of edges; the third input is a random one.
    for bank, edges in (floats, EDGES), (words, INTEGER_EDGES + EDGES[::5]):
        pairs = np.array([(a, b) for a in edges for b in edges], np.uint32)
        pairs = rng.permutation(pairs)[:count // 2]
        bank[:2, :len(pairs)] = pairs.T
        bank[2, :len(pairs)] = rng.choice(np.array(edges, np.uint32), len(pairs))
    with np.errstate(all="ignore"):
        near = as_floats(floats[0]).reshape(blocks, 32)[:, :16].astype(np.float64)  # doubles about f16 and bf16 ties
        ties = np.where(rng.random(near.shape) < 0.5, f16(near) + f16(near) * 2.0**-11, bf16(near) + bf16(near) * 2.0**-8)
    doubles = np.where(rng.random(near.shape) < 0.7, ties, near)
    doubles = (doubles.view(np.int64) + rng.integers(-1, 2, near.shape)).view(np.float64)
    return [np.ascontiguousarray(bank.reshape(3, blocks, 32).transpose(1, 0, 2)) for bank in (floats, words)] + [doubles]


def is_vector(code):
    return "a0" not in code


def run_blocks(folder, block, body, many, results=0x10002000, options=()):
    """Runs the lines `body` once a block, a row of input bytes, which they find at s1; `many` results, 128 bytes apart from s4 on, lie at `results` afterwards.
    s6 is memory to use."""
    (folder / "input").write_bytes(block.tobytes())
    copy = "1: ld t2, 0(t0); sd t2, 0(t3); addi t0, t0, 8; addi t3, t3, 8; addi t1, t1, -8; bnez t1, 1b"
    size = 128 * many * len(block)
    host = "slli zero, zero, 31; ebreak; srai zero, zero, 7"
    text = [".globl _start", "_start:", "li s1, 0x10000000", "li s6, 0x10001000", "la s7, data", "la s5, results", f"li s8, {len(block)}", f"li t0, {MASK}; dg.xtom m1, t0",
            "loop:", f"mv t0, s7; mv t3, s1; li t1, {block.shape[1]}", copy, f"li t1, {block.shape[1]}; add s7, s7, t1", f"li s4, {results}", *body,
            f"li t0, {results}; mv t3, s5; li t1, {128 * many}", copy, "mv s5, t3", "addi s8, s8, -1; beqz s8, 2f; j loop", "2:",
            "li a0, 1; la a1, open", host, "la a1, write; sd a0, 0(a1); li a0, 5", host, "li a0, 0x18; li a1, 0x20026", host,
            ".data", ".balign 8", "open: .dword name, 5, 8", f"write: .dword 0, results, {size}", 'name: .asciz "bytes"', ".balign 8", 'data: .incbin "input"', ".bss", ".balign 8",
            f"results: .zero {size}"]
    (folder / "all.s").write_text("\n".join(text) + "\n")
    for command in ([BUILD.resolve() / "bin/dougong-mc", "-filetype=obj", "all.s", "-o", "all.o"], [LLVM / "ld.lld", "--image-base=0x80000000", "all.o", "-o", "all.elf"],
                    [BUILD.resolve() / "bin/dougong", "sim", "--files", ".", *options, "all.elf"]):
        result = run(*command, cwd=folder)
        assert result.returncode == 0, f"{command}: {result.stderr[:2000]}"
    return np.fromfile(folder / "bytes", np.uint8).reshape(len(block), many, 128)


def as_blocks(floats, words, doubles):
    """One row of bytes a block."""
    return np.concatenate([np.ascontiguousarray(bank).reshape(len(bank), -1).view(np.uint8) for bank in (floats, words, doubles)], 1)


def lines_of(float_codes, word_codes):
    text = []
    for codes, offset in (float_codes, 0), (word_codes, 384):
        text += [f"addi s0, s1, {offset}", *(f"dg.vld.32 v{i + 1}, {128 * i}(s0)" for i in range(3))]
        for code in codes:
            text += [code, "dg.vst.32 v0, 0(s4)" if is_vector(code) else "sd a0, 0(s4)", "addi s4, s4, 128"]
    return text


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The inputs, and what the program wrote: [block, instruction, 128 bytes]."""
    floats, words, doubles = inputs()
    block = as_blocks(floats, words, doubles)
    text = lines_of(FLOAT, WORDS)
    text += ["ld a0, 0(s0); ld a1, 8(s0); ld a2, 128(s0); ld a3, 136(s0)", "dg.xtom m2, a0; dg.xtomh m2, m2, a1; dg.xtom m3, a2; dg.xtomh m3, m3, a3"]
    for code in MASKS:
        text += [code, "dg.mtox a0, m4; sd a0, 0(s4); dg.mtoxh a0, m4; sd a0, 8(s4); addi s4, s4, 128"]
    for code, (load, _) in SCALAR.items():
        text += [f"{load} a1, {4 * i if load == 'lw' else 768 + 8 * i}(s1); {code} a0, a1; sd a0, {8 * i}(s4)" for i in range(16)] + ["addi s4, s4, 128"]
    many = len(FLOAT) + len(WORDS) + len(MASKS) + len(SCALAR)
    raw = run_blocks(tmp_path_factory.mktemp("numerics"), block, text, many)
    timed = run_blocks(tmp_path_factory.mktemp("timed"), block[:TIMED], text, many, options=("--timing",))
    return floats, words, doubles, raw, timed


def test_timing_mode_computes_the_same(ran):
    _, _, _, raw, timed = ran
    assert len(timed) == TIMED and np.array_equal(timed, raw[:TIMED])


def first_wrong(got, want, arguments):
    wrong = np.argwhere(got != want)
    if len(wrong):
        at = tuple(wrong[0])
        where = at if len(at) == arguments[0].ndim else (at[0], slice(None))
        values = [f"{x:#x}" for x in (np.atleast_1d(a[where])[0] for a in arguments)]
        pytest.fail(f"{len(wrong)} of {want.size} differ: block {at[0]}, lane {at[1:]}: of {', '.join(values)}: {int(got[at]):#x}, not {int(want[at]):#x}")


ORDER = [*FLOAT, *WORDS, *MASKS, *SCALAR]


def compare(code, bank, out):
    """What an instruction on registers, of FLOAT or WORDS, wrote; returns how many results these are."""
    bits = [bank[:, i].astype(np.int64) for i in range(3)]
    with np.errstate(all="ignore"):
        want = FLOAT[code](*(as_floats(bank[:, i]).astype(np.float64) for i in range(3))) if code in FLOAT else WORDS[code](*bits)
    got = out.view(np.uint32).astype(np.int64) if is_vector(code) else out.view(np.int64)[:, 0]
    first_wrong(got, wrapped(want) if is_vector(code) else want.astype(np.int64), bits)
    return want.size


@pytest.mark.parametrize("code", ORDER)
def test_bit_for_bit(ran, code):
    floats, words, doubles, raw, _ = ran
    out = np.ascontiguousarray(raw[:, ORDER.index(code)])
    if code in SCALAR:
        load, reference = SCALAR[code]
        of = floats[:, 0, :16].astype(np.int64) if load == "lw" else doubles
        with np.errstate(all="ignore"):
            first_wrong(out.view(np.int64), reference(of).astype(np.int64), [of if load == "lw" else of.view(np.int64)])
        return
    if code in MASKS:
        x, y = (np.ascontiguousarray(words[:, i, :4]).view(np.int64) for i in (0, 1))
        first_wrong(out.view(np.int64)[:, :2], MASKS[code](x, y), [x, y])
        return
    results = compare(code, floats if code in FLOAT else words, out)
    assert results >= (100_000 if is_vector(code) else BLOCKS)


@pytest.mark.skipif(not LONG, reason="DOUGONG_LONG is not set")
def test_scalars_of_100_000_registers(tmp_path):
    codes = [[code for code in bank if not is_vector(code)] for bank in (FLOAT, WORDS)]
    results = dict.fromkeys(codes[0] + codes[1], 0)
    for seed in range(4):
        floats, words, doubles = inputs(25_000, np.random.default_rng(seed))
        raw = run_blocks(tmp_path, as_blocks(floats, words, doubles), lines_of(*codes), len(results))
        for i, code in enumerate(results):
            results[code] += compare(code, floats if code in FLOAT else words, np.ascontiguousarray(raw[:, i]))
    assert min(results.values()) >= 100_000 and len(results) > 20
