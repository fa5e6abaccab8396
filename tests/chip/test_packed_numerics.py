"""What the manual says each instruction on lanes of 16 and 8 bits computes, bit for bit, and those that move lanes and convert 8-bit floats.

As test_numerics.py, whose rounding is used here too: numpy's f64 and integers of 64 bits, written from `build/docs/isa.md` and, for 8-bit floats, from OCP's table of
formats. Lanes of 8 bits see all pairs, 8-bit floats all 256; lanes of 16 bits all pairs of edges and random ones, 102,400. With DOUGONG_LONG every
instruction has 100,000 results, those that make one scalar of a register too.
"""
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from test_numerics import BUILD, LONG, ORDER, bf16, bf16_bits, either, f16, f16_bits, f32, number, of_bf16, of_f16, run_blocks

BLOCKS = 3200 if LONG else 1600
rng = np.random.default_rng(12)


# --- lanes: each takes registers, [block, 128] bytes ---------------------------------------------------------------------------------------------------

def signed(register, bits):
    return register.view(f"i{bits // 8}").astype(np.int64)


def unsigned(register, bits):
    return register.view(f"u{bits // 8}").astype(np.int64)


def lanes(values, bits):
    """The low bits of whole numbers."""
    return (values & ((1 << bits) - 1)).astype(f"u{bits // 8}")


def integers(operation, bits, sign=signed):
    return lambda a, b, c: lanes(operation(sign(a, bits), sign(b, bits)), bits)


def saturating(operation, bits, sign):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign is signed else (0, (1 << bits) - 1)
    return lambda a, b, c: lanes(np.clip(operation(sign(a, bits), sign(b, bits)), low, high), bits)


def packed(low, high, bits):
    """Two registers of twice the width."""
    return lambda a, b, c: lanes(np.clip(np.concatenate([signed(a, 2 * bits), signed(b, 2 * bits)], 1), low, high), bits)


def mask(condition):
    """16 bytes; what the lanes do not reach is 0."""
    bits = np.packbits(condition, axis=1, bitorder="little")
    return np.pad(bits, ((0, 0), (0, 16 - bits.shape[1])))


def compared(operation, bits, sign=signed):
    return lambda a, b, c: mask(operation(sign(a, bits), sign(b, bits)))


def chosen(c, count):
    """The mask that the first 16 bytes of the third input are."""
    return np.unpackbits(c[:, :16], axis=1, bitorder="little")[:, :count].astype(bool)


def halves(operation, read, write):
    def lane(a, b, c):
        return write(operation(*(read(r.view(np.uint16)) for r in (a, b, c)))).astype(np.uint16)
    return lane


def fused(a, b, c):
    """a * b + c in rational numbers, as the f64 beside it whose last bit is 1 where there is none: it rounds to fewer bits as the exact number would."""
    result = a * b + c
    for at in np.argwhere(np.isfinite(result) & (result != 0)):
        x, y, z = (Fraction(float(v[tuple(at)])) for v in (a, b, c))
        exact = x * y + z
        near = float(exact)
        if Fraction(near) != exact and int(np.float64(near).view(np.int64)) & 1 == 0:
            near = math.nextafter(near, math.inf if exact > Fraction(near) else -math.inf)
        result[tuple(at)] = near
    return result


def compared_halves(operation, read):
    return lambda a, b, c: mask(operation(read(a.view(np.uint16)), read(b.view(np.uint16))))


def index(a, count):
    """What `lw a1, 16(s0)` loads, as the number of one of `count` lanes."""
    return a[:, 16:17].astype(np.int64) % count


def inserted(bits, lane=None):
    def insert(a, b, c):
        there = np.arange(1024 // bits) == (index(a, 1024 // bits) if lane is None else lane)
        return np.where(there, a[:, 16:16 + bits // 8].view(f"u{bits // 8}"), a.view(f"u{bits // 8}"))
    return insert


def extracted(bits, lane=None):
    return lambda a, b, c: np.take_along_axis(signed(a, bits), index(a, 1024 // bits) if lane is None else np.full((len(a), 1), lane), 1)


def permuted(bits):
    return lambda a, b, c: np.take_along_axis(unsigned(a, bits), unsigned(b, bits) % (1024 // bits), 1).astype(f"u{bits // 8}")


def compressed(a, b, c):
    return np.array([np.pad(lanes[on], (0, 32 - on.sum())) for lanes, on in zip(a.view(np.uint32), chosen(c, 32))], np.uint32)


def expanded(a, b, c):
    result = np.zeros((len(a), 32), np.uint32)
    for row, values, on in zip(result, a.view(np.uint32), chosen(c, 32)):
        row[on] = values[:on.sum()]
    return result


def transposed(high, power):
    def step(a, b, c):
        first, second = (r.reshape(len(a), -1, 1 << power) for r in (a, b))
        if power == 7:
            return b if high else a
        result = np.empty_like(first)
        result[:, 0::2] = first[:, high::2]  # even blocks: the same or the next one
        result[:, 1::2] = second[:, high::2]  # odd blocks: the one before, or the same
        return result.reshape(len(a), 128)
    return step


def zipped(bits, high):
    """Pairs of one lane each, of the lower or upper halves."""
    def zip_lanes(a, b, c):
        first, second = (np.split(unsigned(r, bits), 2, axis=1)[high] for r in (a, b))
        return lanes(np.stack([first, second], 2).reshape(len(a), -1), bits)
    return zip_lanes


def unzipped(bits, odd):
    return lambda a, b, c: lanes(np.concatenate([unsigned(a, bits), unsigned(b, bits)], 1)[:, odd::2], bits)


# --- 8-bit floats: (bits of the exponent, of the fraction, bias), from OCP's table -----------------------------------------------------------------------

def table(exponent, fraction, bias, infinite):
    """The value of each of the 256 codes."""
    values = []
    for code in range(256):
        e, f = code >> fraction & (1 << exponent) - 1, code & (1 << fraction) - 1
        value = f / 2**fraction * 2.0**(1 - bias) if e == 0 else (1 + f / 2**fraction) * 2.0**(e - bias)
        if infinite and e == (1 << exponent) - 1:
            value = np.nan if f else np.inf
        elif not infinite and code & 127 == 127:
            value = np.nan
        values.append(-value if code & 128 else value)
    return np.array(values)


E4M3, E5M2 = table(4, 3, 7, False), table(5, 2, 15, True)


def of_f8(values):
    return lambda a, b, c: f32(values[a[:, ::4]])


def to_f8(values, beyond, nan):
    """The nearest of the finite values, the even code of two; what lies nearer to the next power of two than to the greatest is `beyond`."""
    finite = values[:128][np.isfinite(values[:128])]
    middles = (finite[1:] + finite[:-1]) / 2
    last = finite[-1] + (finite[-1] - finite[-2]) / 2

    def convert(a, b, c):
        wide = a.view(np.float32).astype(np.float64)
        size = np.where(np.isnan(wide), 0, np.abs(wide))
        code = np.searchsorted(middles, size, "left")  # a middle itself: the lower one
        code = np.where((code < len(middles)) & (middles[np.minimum(code, len(middles) - 1)] == size) & (code & 1 == 1), code + 1, code)
        code = np.where((size > last) | ((size == last) & (len(finite) % 2 == 0)), beyond, code)
        code = np.where(code == nan, nan, code | np.where(np.signbit(wide), 128, 0))
        return np.where(np.isnan(wide), nan, code).astype(np.uint32)
    return convert


# --- the instructions ----------------------------------------------------------------------------------------------------------------------------------
# From v1, v2, v3 and m1 (the third input's first bytes) to v0, m2 or a0.
def of_width(n):
    last = n - 1
    return {
        f"dg.vadd.i{n} v0, v1, v2": integers(lambda a, b: a + b, n), f"dg.vsub.i{n} v0, v1, v2": integers(lambda a, b: a - b, n),
        f"dg.vsadd.i{n} v0, v1, v2": saturating(lambda a, b: a + b, n, signed), f"dg.vsadd.u{n} v0, v1, v2": saturating(lambda a, b: a + b, n, unsigned),
        f"dg.vssub.i{n} v0, v1, v2": saturating(lambda a, b: a - b, n, signed), f"dg.vssub.u{n} v0, v1, v2": saturating(lambda a, b: a - b, n, unsigned),
        f"dg.vmin.i{n} v0, v1, v2": integers(np.minimum, n), f"dg.vmax.i{n} v0, v1, v2": integers(np.maximum, n),
        f"dg.vmin.u{n} v0, v1, v2": integers(np.minimum, n, unsigned), f"dg.vmax.u{n} v0, v1, v2": integers(np.maximum, n, unsigned),
        f"dg.vmul.i{n} v0, v1, v2": integers(lambda a, b: a * b, n), f"dg.vabs.i{n} v0, v1": integers(lambda a, b: np.abs(a), n),
        f"dg.vavg.i{n} v0, v1, v2": integers(lambda a, b: a + b + 1 >> 1, n), f"dg.vavg.u{n} v0, v1, v2": integers(lambda a, b: a + b + 1 >> 1, n, unsigned),
        f"dg.vsll.i{n} v0, v1, v2": integers(lambda a, b: a << (b & last), n), f"dg.vsrl.i{n} v0, v1, v2": integers(lambda a, b: a >> (b & last), n, unsigned),
        f"dg.vsra.i{n} v0, v1, v2": integers(lambda a, b: a >> (b & last), n),
        f"dg.vcmpeq.i{n} m2, v1, v2": compared(np.equal, n), f"dg.vcmpne.i{n} m2, v1, v2": compared(np.not_equal, n),
        f"dg.vcmplt.i{n} m2, v1, v2": compared(np.less, n), f"dg.vcmple.i{n} m2, v1, v2": compared(np.less_equal, n),
        f"dg.vcmplt.u{n} m2, v1, v2": compared(np.less, n, unsigned), f"dg.vcmple.u{n} m2, v1, v2": compared(np.less_equal, n, unsigned),
        f"dg.vsel.{n} v0, m1, v1, v2": lambda a, b, c: np.where(chosen(c, 1024 // n), unsigned(a, n), unsigned(b, n)).astype(f"u{n // 8}"),
        f"dg.viota.i{n} v0": lambda a, b, c: np.tile(np.arange(1024 // n, dtype=f"u{n // 8}"), (len(a), 1)),
        f"dg.vperm.{n} v0, v1, v2": permuted(n),
        f"lw a1, 16(s0); dg.vextract.{n} a0, v1, a1": extracted(n), **{f"dg.vextract.{n} a0, v1, {i}": extracted(n, i) for i in (0, 30, 1024 // n - 1)},
        f"lw a1, 16(s0); dg.vmov v0, v1; dg.vinsert.{n} v0, a1, a1": inserted(n),
        **{f"lw a1, 16(s0); dg.vmov v0, v1; dg.vinsert.{n} v0, a1, {i}": inserted(n, i) for i in (0, 30, 1024 // n - 1)},
    }


def of_format(name, read, write):
    return {
        f"dg.vadd.{name} v0, v1, v2": halves(lambda a, b, c: a + b, read, write), f"dg.vsub.{name} v0, v1, v2": halves(lambda a, b, c: a - b, read, write),
        f"dg.vmul.{name} v0, v1, v2": halves(lambda a, b, c: a * b, read, write), f"dg.vdiv.{name} v0, v1, v2": halves(lambda a, b, c: a / b, read, write),
        f"dg.vsqrt.{name} v0, v1": halves(lambda a, b, c: np.sqrt(a), read, write),
        f"dg.vmin.{name} v0, v1, v2": halves(lambda a, b, c: number(a, b, True), read, write), f"dg.vmax.{name} v0, v1, v2": halves(lambda a, b, c: number(a, b, False), read, write),
        f"dg.vminimum.{name} v0, v1, v2": halves(lambda a, b, c: either(a, b, True), read, write),
        f"dg.vmaximum.{name} v0, v1, v2": halves(lambda a, b, c: either(a, b, False), read, write),
        f"dg.vcmpeq.{name} m2, v1, v2": compared_halves(np.equal, read), f"dg.vcmplt.{name} m2, v1, v2": compared_halves(np.less, read),
        f"dg.vcmple.{name} m2, v1, v2": compared_halves(np.less_equal, read), f"dg.vcmpun.{name} m2, v1, v2": compared_halves(lambda a, b: np.isnan(a) | np.isnan(b), read),
    }


SIXTEEN = {
    **of_width(16), **of_format("f16", of_f16, f16_bits), **of_format("bf16", of_bf16, bf16_bits),
    "dg.vmulh.i16 v0, v1, v2": integers(lambda a, b: a * b >> 16, 16), "dg.vmulh.u16 v0, v1, v2": integers(lambda a, b: a * b >> 16, 16, unsigned),
    "dg.vfma.f16 v0, v1, v2, v3": halves(fused, of_f16, f16_bits), "dg.vfma.bf16 v0, v1, v2, v3": halves(fused, of_bf16, bf16_bits),
    "dg.vneg.16 v0, v1": integers(lambda a, b: a ^ 0x8000, 16), "dg.vabs.16 v0, v1": integers(lambda a, b: a & 0x7FFF, 16),
    "dg.vcopysign.16 v0, v1, v2": integers(lambda a, b: a & 0x7FFF | b & 0x8000, 16),
    "dg.vpacks.i8 v0, v1, v2": packed(-128, 127, 8), "dg.vpacks.u8 v0, v1, v2": packed(0, 255, 8),
    **{f"dg.vtrnlo v0, v1, v2, {i}": transposed(0, i) for i in range(8)}, **{f"dg.vtrnhi v0, v1, v2, {i}": transposed(1, i) for i in range(8)},
}
EIGHT = of_width(8)
THIRTY_TWO = {
    "dg.vpacks.i16 v0, v1, v2": packed(-32768, 32767, 16), "dg.vpacks.u16 v0, v1, v2": packed(0, 65535, 16),
    "dg.vcompress.32 v0, v1, m1": compressed, "dg.vexpand.32 v0, v1, m1": expanded,
    "dg.vcvt.f32.f8e4m3 v0, v1": of_f8(E4M3), "dg.vcvt.f32.f8e5m2 v0, v1": of_f8(E5M2),
    "dg.vcvt.f8e4m3.f32 v0, v1": to_f8(E4M3, 0x7F, 0x7F), "dg.vcvt.f8e5m2.f32 v0, v1": to_f8(E5M2, 0x7C, 0x7E),
}
for n, codes in (16, SIXTEEN), (8, EIGHT), (32, THIRTY_TWO):
    codes |= {f"dg.vzip.{n} v0, v1, v2, {i}": zipped(n, i) for i in (0, 1)} | {f"dg.vunzip.{n} v0, v1, v2, {i}": unzipped(n, i) for i in (0, 1)}
BANKS = {"16 bits": SIXTEEN, "8 bits": EIGHT, "32 bits": THIRTY_TWO}


# --- inputs --------------------------------------------------------------------------------------------------------------------------------------------
# Integers, f16 and bf16 about their ends; the sign is set in half of them.
EDGES = [0, 1, 2, 7, 8, 15, 16, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF, 0x100, 0x3FF, 0x400, 0x401, 0x7FF, 0x800, 0x3BFF, 0x3C00, 0x3C01, 0x3800, 0x3E00, 0x5640, 0x67FF, 0x6800,
         0x7BFE, 0x7BFF, 0x7C00, 0x7C01, 0x7E00, 0x7F00, 0x7FFE, 0x7FFF, 0x3F7F, 0x3F80, 0x3F81, 0x3FC0, 0x7F7E, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x4B00, 0x5F00, 0x1F80, 0x2040]
EDGES += [e ^ 0x8000 for e in EDGES]


def sixteen_bit_lanes():
    """Three registers a block: all pairs of edges, then a third any bits, a third edges and their neighbours, the rest floats of everyday size."""
    count = BLOCKS * 64
    a, b, c = (np.where(rng.random(count) < 0.5, rng.choice(EDGES, count) + rng.integers(-1, 2, count), rng.integers(0, 65536, count)) for _ in range(3))
    pairs = np.array([(x, y) for x in EDGES for y in EDGES])
    a[:len(pairs)], b[:len(pairs)] = pairs.T
    everyday = slice(len(pairs), len(pairs) + count // 2)
    for bank in (a, b, c):
        values = rng.normal(size=count // 2) * np.exp2(rng.integers(-8, 8, count // 2))
        bank[everyday] = np.where(rng.random(count // 2) < 0.5, f16_bits(values), bf16_bits(values))
    # Fused: the sum nearly cancels, or is the middle of two f16 but for one part in 2^24.
    near = slice(len(pairs) + count // 4, len(pairs) + count // 2)
    with np.errstate(all="ignore"):
        product = of_f16(a[near]) * of_f16(b[near])
        tiny = of_f16(rng.integers(0, 4, len(product)) | rng.integers(0, 2, len(product)) << 15)
        b[near] = np.where(rng.random(len(product)) < 0.5, b[near], rng.choice([0x3E00, 0xBE00, 0x3D00, 0x3F00, 0x4700], len(product)))
        c[near] = np.where(rng.random(len(product)) < 0.5, f16_bits(-product), f16_bits(tiny))
    order = rng.permutation(count)
    return np.stack([x[order].astype(np.uint16).reshape(BLOCKS, 64) for x in (a, b, c)], 1).view(np.uint8)


def eight_bit_lanes():
    """All pairs, in an order that has nothing to do with the lanes', and any third ones."""
    pairs = np.tile(rng.permutation(65536), -(-BLOCKS * 128 // 65536))[:BLOCKS * 128]
    return np.stack([x.astype(np.uint8).reshape(BLOCKS, 128) for x in (pairs >> 8, pairs, rng.integers(0, 256, BLOCKS * 128))], 1)


def thirty_two_bit_lanes():
    """Middles of two 8-bit floats and their neighbours, whole numbers about the ends of 16 bits, any bits; 8-bit floats are the low bits of all."""
    count = BLOCKS * 32

    def bank():
        values = np.concatenate([t[np.isfinite(t)] for t in (E4M3, E5M2, E4M3 * 2, E5M2 * 2)])
        values = np.concatenate([values, np.concatenate([(np.sort(v)[1:] + np.sort(v)[:-1]) / 2 for v in (t[np.isfinite(t)] for t in (E4M3, E5M2))]), [464.0, 480.0, 61440.0, 65536.0, 2.0**-11]])
        words = (rng.choice(values, count).astype(np.float32) * rng.choice([1, -1], count)).astype(np.float32).view(np.int32) + rng.integers(-1, 2, count)
        words = np.where(rng.random(count) < 0.25, rng.choice([0, 32767, 32768, 65535, 65536, -32768, -32769], count) + rng.integers(-2, 3, count), words)
        words = np.where(rng.random(count) < 0.25, rng.integers(-2**31, 2**31, count), words)
        words[:512] = np.arange(512) % 256 | rng.integers(0, 2**23, 512) << 8
        words[512:520] = [0x7F800000, -0x800000, 0x7FC00000, 0x7F800001, -1, -0x80000000, 1, 0x33800000]
        return rng.permutation(words).astype(np.int32).reshape(BLOCKS, 32)
    return np.stack([bank() for _ in range(3)], 1).view(np.uint8)


def results_of(folder, banks, codes):
    """By instruction of `codes` what it wrote, [block, 128 bytes]; `banks`: three inputs each, [block, 3, 128 bytes]."""
    text, order = [], []
    for n, bank in enumerate(banks):
        text += [f"addi s0, s1, {384 * n}", *(f"dg.vld.32 v{i + 1}, {128 * i}(s0)" for i in range(3)), "dg.mld m1, 256(s0)"]
        for code in BANKS[bank]:
            if code in codes:
                store = "sd a0, 0(s4)" if "a0" in code else "dg.mst m2, 0(s4)" if " m2" in code else "dg.vst.32 v0, 0(s4)"
                text += ["dg.mnot m2, m1", code, store, "addi s4, s4, 128"]
                order.append(code)
    block = np.concatenate([bank.reshape(len(bank), 384) for bank in banks.values()], 1)
    out = run_blocks(folder, block, text, len(order))
    return {code: np.ascontiguousarray(out[:, i]) for i, code in enumerate(order)}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    banks = {"16 bits": sixteen_bit_lanes(), "8 bits": eight_bit_lanes(), "32 bits": thirty_two_bit_lanes()}
    return banks, results_of(tmp_path_factory.mktemp("packed"), banks, {code for codes in BANKS.values() for code in codes})


CODES = [(bank, code) for bank, codes in BANKS.items() for code in codes]


@pytest.mark.parametrize("bank, code", CODES)
def test_bit_for_bit(ran, bank, code):
    banks, out = ran
    results = compare(bank, code, banks, out)
    assert results >= 100_000 or not LONG or "a0" in code


@pytest.mark.skipif(not LONG, reason="DOUGONG_LONG is not set")
def test_scalars_of_100_000_registers(tmp_path):
    codes = [(bank, code) for bank, code in CODES if "a0" in code]
    results = dict.fromkeys((code for _, code in codes), 0)
    for seed in range(4):
        banks = {bank: np.random.default_rng(seed).integers(0, 256, (25_000, 3, 128)).astype(np.uint8) for bank in BANKS}
        out = results_of(tmp_path, banks, results)
        for bank, code in codes:
            results[code] += compare(bank, code, banks, out)
    assert min(results.values()) >= 100_000 and len(results) == 8


def compare(bank, code, banks, out):
    """Returns how many results these are."""
    inputs = [np.ascontiguousarray(banks[bank][:, i]) for i in range(3)]
    with np.errstate(all="ignore"):
        want = np.ascontiguousarray(BANKS[bank][code](*inputs))
    got = out[code].view(want.dtype)[:, :want.shape[1]]
    assert want.dtype.itemsize * want.shape[1] == (8 if "a0" in code else 16 if " m2" in code else 128)
    wrong = np.argwhere(got != want)
    if len(wrong):
        block, lane = wrong[0]
        of = [f"{x.view(want.dtype)[block, lane]:#x}" if " m2" not in code else x[block].tobytes().hex() for x in inputs]
        pytest.fail(f"{len(wrong)} of {want.size} differ: block {block}, lane {lane}: of {', '.join(of)}: {int(got[block, lane]):#x}, not {int(want[block, lane]):#x}")
    return want.size * (8 if " m2" in code else 1)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_butterflies_transpose(tmp_path, size):
    """Rows of one register, as many as it has elements: after log2 steps rows are columns."""
    rows = 128 // size
    matrix = rng.integers(0, 256, (rows, 128)).astype(np.uint8)
    text = ["li t0, 8192; add s2, s1, t0"]

    def at(row):
        return f"{128 * row % 8192}({'s1' if row < 64 else 's2'})"
    for step in range(rows.bit_length() - 1):
        apart = 1 << step
        power = (apart * size).bit_length() - 1
        for row in range(rows):
            if not row & apart:
                text.append(f"dg.vld.32 v1, {at(row)}; dg.vld.32 v2, {at(row + apart)}; dg.vtrnlo v3, v1, v2, {power}; dg.vtrnhi v4, v1, v2, {power}; "
                            f"dg.vst.32 v3, {at(row)}; dg.vst.32 v4, {at(row + apart)}")
    text.append("li t4, 0x10008000")
    text += [f"dg.vld.32 v1, {at(row)}; dg.vst.32 v1, 0(t4); addi t4, t4, 128" for row in range(rows)]
    out = run_blocks(tmp_path, matrix.reshape(1, -1), text, rows, results=0x10008000)
    element = f"u{size}"
    assert np.array_equal(out[0].view(element), np.ascontiguousarray(matrix).view(element).T)


def test_every_instruction_that_computes_is_among_them():
    """Here or in test_numerics.py."""
    manual = (BUILD / "docs/isa.md").read_text()
    there = set(re.findall(r"^### `(dg\.(?:v|m|fcvt)[\w.]*)", manual, re.M))
    moves = {m for m in there if re.match(r"dg\.(v(ld|st|gather|scatter)|mld|mst|mtox|xtom|mfirst)", m)}  # tests/isa/test_semantics.py
    tested = {m for code in [*ORDER, *(c for codes in BANKS.values() for c in codes)] for m in re.findall(r"dg\.[\w.]+", code)}
    assert not there - moves - tested, sorted(there - moves - tested)
