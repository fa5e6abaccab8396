"""What the records say vector and mask instructions compute, on the device model, against numpy.

Each case is one instruction between v1, v2, v3 (inputs, from LM) and v0 or a0 (result); all run in one program, which writes its results to a file."""
import math, random, struct
from fractions import Fraction
import numpy as np
import pytest
from records import BUILD, LLVM, run

LANES = 32
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 1e-45, -1e-40, 3.4e38, 1e10, -1e10, 2147483648.0, 4294967296.0]
rng = np.random.default_rng(7)


def floats():
    values = rng.normal(size=LANES).astype(np.float32) * np.exp2(rng.integers(-20, 20, LANES)).astype(np.float32)
    values[rng.permutation(LANES)[:len(SPECIAL)]] = SPECIAL
    return values


F = [floats() for _ in range(3)]
I = [rng.integers(-2**31, 2**31, LANES).astype(np.int32) for _ in range(3)]
for i, values in enumerate(I):
    values[rng.permutation(LANES)[:8]] = [0, 1, -1, 2**31 - 1, -2**31, 7, -7, 33]
U = [v.view(np.uint32) for v in I]
A, B, C = F
MASK = 0xA5C3F00F
ON = np.array([MASK >> i & 1 for i in range(LANES)], bool)
HALVES = rng.normal(size=64).astype(np.float16)
HALVES[:6] = [math.inf, -math.inf, math.nan, 6e-8, -0.0, 65504]


def canonical(values):
    bits = np.asarray(values, np.float32).view(np.uint32).copy()
    bits[np.isnan(values)] = 0x7FC00000
    return bits


def fused(a, b, c):
    """a * b + c rounded once: exact as a fraction, to f64 with the last bit odd when inexact, then to f32."""
    out = []
    for x, y, z in zip(a.astype(float), b.astype(float), c.astype(float)):
        if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
            with np.errstate(all="ignore"):
                out.append(np.float32(np.float64(x) * np.float64(y) + np.float64(z)))
            continue
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        if exact == 0:
            out.append(np.float32(x * y + z))
            continue
        near = float(exact)
        if Fraction(near) != exact and struct.unpack("<Q", struct.pack("<d", near))[0] & 1 == 0:
            near = math.nextafter(near, math.inf if exact > Fraction(near) else -math.inf)
        with np.errstate(over="ignore"):
            out.append(np.float32(near))
    return np.array(out, np.float32)


def number_select(a, b, pick):
    """IEEE minimumNumber or maximumNumber of two floats."""
    out = []
    for x, y in zip(a, b):
        if math.isnan(x) or math.isnan(y):
            out.append(y if math.isnan(x) else x)
        elif x == y == 0:
            out.append(np.float32(-0.0 if pick is min and (np.signbit(x) or np.signbit(y)) or (np.signbit(x) and np.signbit(y)) else 0.0))
        else:
            out.append(pick(x, y))
    return np.array(out, np.float32)


def nan_select(a, b, pick):
    return np.where(np.isnan(a) | np.isnan(b), np.float32(math.nan), number_select(a, b, pick))


def saturating(values, low, high):
    return np.array([0 if math.isnan(v) else low if v < low else high if v > high else int(v) for v in values.astype(float)], np.int64)


def tree(values, step):
    values = list(values)
    while len(values) > 1:
        half = len(values) // 2
        values = [step(values[i], values[i + half]) for i in range(half)]
    return values[0]


def signed_divide(a, b):
    return 0xFFFFFFFF if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def signed_remainder(a, b):
    return a if b == 0 else abs(a) % abs(b) * (1 if a >= 0 else -1)


def each(function, *vectors):
    return np.array([function(*(int(v) for v in lanes)) & 0xFFFFFFFF for lanes in zip(*vectors)], np.uint32)


with np.errstate(all="ignore"):
    VECTOR = {  # assembly: (register kind of the inputs, expected bits of 32 lanes)
        "dg.vadd.f32 v0, v1, v2": (F, canonical(A + B)), "dg.vsub.f32 v0, v1, v2": (F, canonical(A - B)),
        "dg.vmul.f32 v0, v1, v2": (F, canonical(A * B)), "dg.vdiv.f32 v0, v1, v2": (F, canonical(A / B)),
        "dg.vsqrt.f32 v0, v1": (F, canonical(np.sqrt(A))), "dg.vrcp.f32 v0, v1": (F, canonical(np.float32(1) / A)),
        "dg.vmin.f32 v0, v1, v2": (F, canonical(number_select(A, B, min))), "dg.vmax.f32 v0, v1, v2": (F, canonical(number_select(A, B, max))),
        "dg.vminimum.f32 v0, v1, v2": (F, canonical(nan_select(A, B, min))), "dg.vmaximum.f32 v0, v1, v2": (F, canonical(nan_select(A, B, max))),
        "dg.vfma.f32 v0, v1, v2, v3": (F, canonical(fused(A, B, C))), "dg.vfms.f32 v0, v1, v2, v3": (F, canonical(fused(A, B, -C))),
        "dg.vfnma.f32 v0, v1, v2, v3": (F, canonical(fused(-A, B, C))), "dg.vfnms.f32 v0, v1, v2, v3": (F, canonical(fused(-A, B, -C))),
        "dg.vneg.f32 v0, v1": (F, A.view(np.uint32) ^ 0x80000000), "dg.vabs.f32 v0, v1": (F, A.view(np.uint32) & 0x7FFFFFFF),
        "dg.vcopysign.f32 v0, v1, v2": (F, A.view(np.uint32) & 0x7FFFFFFF | B.view(np.uint32) & 0x80000000),
        "dg.vfloor.f32 v0, v1": (F, canonical(np.floor(A))), "dg.vceil.f32 v0, v1": (F, canonical(np.ceil(A))),
        "dg.vtrunc.f32 v0, v1": (F, canonical(np.trunc(A))), "dg.vrint.f32 v0, v1": (F, canonical(np.rint(A))),
        "dg.vround.f32 v0, v1": (F, canonical(np.copysign(np.floor(np.abs(A).astype(float) + 0.5), A).astype(np.float32))),
        "dg.vround.f16 v0, v1": (F, canonical(A.astype(np.float16).astype(np.float32))),
        "dg.vcvt.i32.f32 v0, v1": (F, saturating(A, -2**31, 2**31 - 1)), "dg.vcvt.u32.f32 v0, v1": (F, saturating(A, 0, 2**32 - 1)),
        "dg.vcvtn.i32.f32 v0, v1": (F, saturating(np.rint(A), -2**31, 2**31 - 1)),
        "dg.vcvt.f32.i32 v0, v1": (I, canonical(I[0].astype(np.float32))), "dg.vcvt.f32.u32 v0, v1": (I, canonical(U[0].astype(np.float32))),
        "dg.vadd.i32 v0, v1, v2": (I, U[0] + U[1]), "dg.vsub.i32 v0, v1, v2": (I, U[0] - U[1]), "dg.vmul.i32 v0, v1, v2": (I, U[0] * U[1]),
        "dg.vmadd.i32 v0, v1, v2, v3": (I, U[0] * U[1] + U[2]),
        "dg.vmulh.i32 v0, v1, v2": (I, each(lambda a, b: a * b >> 32, I[0], I[1])), "dg.vmulh.u32 v0, v1, v2": (I, each(lambda a, b: a * b >> 32, U[0], U[1])),
        "dg.vmin.i32 v0, v1, v2": (I, np.minimum(I[0], I[1])), "dg.vmax.i32 v0, v1, v2": (I, np.maximum(I[0], I[1])),
        "dg.vmin.u32 v0, v1, v2": (I, np.minimum(U[0], U[1])), "dg.vmax.u32 v0, v1, v2": (I, np.maximum(U[0], U[1])),
        "dg.vand v0, v1, v2": (I, U[0] & U[1]), "dg.vor v0, v1, v2": (I, U[0] | U[1]), "dg.vxor v0, v1, v2": (I, U[0] ^ U[1]), "dg.vnot v0, v1": (I, ~U[0]),
        "dg.vsll.i32 v0, v1, v2": (I, U[0] << (U[1] & 31)), "dg.vsrl.i32 v0, v1, v2": (I, U[0] >> (U[1] & 31)), "dg.vsra.i32 v0, v1, v2": (I, I[0] >> (I[1] & 31)),
        "dg.vslli.i32 v0, v1, 5": (I, U[0] << 5), "dg.vsrli.i32 v0, v1, 31": (I, U[0] >> 31), "dg.vsrai.i32 v0, v1, 7": (I, I[0] >> 7),
        "dg.vdiv.i32 v0, v1, v2": (I, each(signed_divide, I[0], I[1])), "dg.vrem.i32 v0, v1, v2": (I, each(signed_remainder, I[0], I[1])),
        "dg.vdiv.u32 v0, v1, v2": (I, each(lambda a, b: a // b if b else -1, U[0], U[1])), "dg.vrem.u32 v0, v1, v2": (I, each(lambda a, b: a % b if b else a, U[0], U[1])),
        "dg.vabs.i32 v0, v1": (I, each(abs, I[0])), "dg.vclz.i32 v0, v1": (I, each(lambda a: 32 - a.bit_length(), U[0])),
        "dg.vpopc.i32 v0, v1": (I, each(lambda a: a.bit_count(), U[0])),
        "dg.vsel v0, m1, v1, v2": (I, np.where(ON, I[0], I[1])), "dg.viota.i32 v0": (I, np.arange(LANES)),
        "dg.vperm v0, v1, v2": (I, U[0][U[1] & 31]), "dg.vperm2 v0, v1, v2, v3": (I, np.concatenate([U[0], U[1]])[U[2] & 63]),
        "dg.valign v0, v1, v2, 5": (I, np.concatenate([U[0], U[1]])[5:37]), "dg.vbcast.32 v0, v1, 9": (I, np.full(LANES, U[0][9])),
        "dg.vmov v0, v1": (I, U[0]), "dg.vsplat.32 v0, s3": (I, np.full(LANES, 0x89ABCDEF)),
        "dg.vinsert.32 v0, s3, 31": (I, np.concatenate([np.zeros(31, np.uint32), [0x89ABCDEF]])),
        # In place: the destination is a source.
        "dg.vmov v0, v2; dg.vperm v0, v1, v0": (I, U[0][U[1] & 31]), "dg.vmov v0, v1; dg.valign v0, v2, v0, 31": (I, np.concatenate([U[1], U[0]])[31:63]),
        # Memory: s0 inputs of this kind, s2 the halves.
        "dg.vld.f16 v0, 0(s2)": (I, canonical(HALVES[:32].astype(np.float32))), "dg.vld.i16 v0, 64(s2)": (I, HALVES.view(np.int16)[32:].astype(np.int32)),
        "dg.vld.u16 v0, 0(s2)": (I, HALVES.view(np.uint16)[:32]), "dg.vld.i8 v0, 16(s2)": (I, HALVES.view(np.int8)[16:48].astype(np.int32)),
        "dg.vld.u8 v0, 16(s2)": (I, HALVES.view(np.uint8)[16:48]), "dg.vld.bf16 v0, 0(s2)": (I, canonical((HALVES.view(np.uint16)[:32].astype(np.uint32) << 16).view(np.float32))),
        "dg.vldb.f16 v0, 14(s2)": (I, canonical(np.full(LANES, HALVES[7], np.float32))), "dg.vldb.32 v0, 12(s0)": (I, np.full(LANES, U[0][3])),
        "dg.vldb.i8 v0, 15(s2)": (I, np.full(LANES, HALVES.view(np.int8)[15], np.int32)),
        "dg.vmov v0, v2; dg.vldm.32 v0, (s0), m1": (I, np.where(ON, U[0], U[1])),
        "dg.vslli.i32 v4, v2, 29; dg.vsrli.i32 v4, v4, 27; dg.vgather.32 v0, (s0), v4": (I, U[0][U[1] & 7]),
        "dg.vslli.i32 v4, v2, 29; dg.vsrli.i32 v4, v4, 27; dg.vmov v0, v1; dg.vgatherm.32 v0, (s0), v4, m1": (I, np.where(ON, U[0][U[1] & 7], U[0])),
        "mv a1, s0; dg.vldp.32 v0, (a1), 128; dg.vld.32 v0, 0(a1)": (I, U[1]),
        "mv a1, s2; dg.vldp.i8 v4, (a1), 32; dg.vldp.u16 v0, (a1), -16; dg.vld.u8 v4, -16(a1); dg.vadd.i32 v0, v0, v4": (
            I, HALVES.view(np.uint16)[16:48].astype(np.int32) + HALVES.view(np.uint8)[0:32]),
        "mv a1, s4; dg.vstp.i16 v1, (a1), 64; dg.vstp.i16 v2, (a1), -32; dg.vld.i16 v0, -16(a1)": (
            I, np.concatenate([I[0], I[1]]).astype(np.int16).astype(np.int32)[8:40]),
        "addi a1, s4, 256; dg.vstp.i8 v1, (a1), -8192; lui a0, 2; add a1, a1, a0; dg.vld.i8 v0, 0(a1)": (I, I[0].astype(np.int8).astype(np.int32)),
        "dg.vst.f16 v1, 0(s4); dg.vld.f16 v0, 0(s4)": (F, canonical(A.astype(np.float16).astype(np.float32))),
        "dg.vst.i8 v1, 0(s4); dg.vld.u8 v0, 0(s4)": (I, U[0] & 255), "dg.vst.i16 v1, 0(s4); dg.vld.i16 v0, 0(s4)": (I, I[0].astype(np.int16).astype(np.int32)),
        "dg.vst.32 v2, 0(s4); dg.vstm.32 v1, (s4), m1; dg.vld.32 v0, 0(s4)": (I, np.where(ON, U[0], U[1])),
        "dg.viota.i32 v4; dg.vnot v4, v4; dg.vslli.i32 v4, v4, 2; addi a1, s4, 128; dg.vscatter.32 v1, (a1), v4; dg.vld.32 v0, 0(s4)": (I, U[0][::-1]),
        "dg.vpack.f16 v4, v1, v2; dg.vwiden.f16 v0, v4, 1": (F, canonical(B.astype(np.float16).astype(np.float32))),
        "dg.vpack.i16 v4, v1, v2; dg.vwiden.i16 v0, v4, 0": (I, I[0].astype(np.int16).astype(np.int32)),
        "dg.vpack.i16 v4, v1, v2; dg.vpack.i8 v4, v4, v4; dg.vwiden.u8 v0, v4, 3": (I, U[1] & 255),
        "dg.mst m1, 0(s4); dg.mnot m2, m1; dg.mld m2, 0(s4); dg.vsel v0, m2, v1, v2": (I, np.where(ON, I[0], I[1])),
    }
    finite = [np.where(np.isfinite(v), v, np.float32(3)) for v in F]
    add32, mul32 = (lambda a, b: np.float32(a + b)), (lambda a, b: np.float32(a * b))
    ordered = np.float32(0.25)
    for value in C:
        ordered = np.float32(ordered + value)
    bit = lambda condition: sum(int(c) << i for i, c in enumerate(condition))
    SCALAR = {  # assembly: (inputs, expected a0)
        "dg.vredsum.f32 a0, v1": (F, int(canonical(np.array([tree(A, add32)]))[0])), "dg.vredmul.f32 a0, v2": (F, int(canonical(np.array([tree(B, mul32)]))[0])),
        "dg.vredmax.f32 a0, v1": (F, int(canonical(np.array([np.nanmax(A)]))[0])), "dg.vredmin.f32 a0, v1": (F, int(canonical(np.array([np.nanmin(A)]))[0])),
        "dg.vredmaximum.f32 a0, v1": (F, 0x7FC00000), "li a1, 0x3e800000; dg.vredosum.f32 a0, a1, v3": (F, int(canonical(np.array([ordered]))[0])),
        "dg.vredsum.i32 a0, v1": (I, int(U[0].astype(np.uint64).sum())), "dg.vredmax.i32 a0, v1": (I, int(I[0].max())), "dg.vredmin.i32 a0, v2": (I, int(I[1].min())),
        "dg.vredmax.u32 a0, v1": (I, int(U[0].max())), "dg.vredmin.u32 a0, v1": (I, int(U[0].min())), "dg.vredand a0, v1": (I, int(np.bitwise_and.reduce(U[0]))),
        "dg.vredor a0, v1": (I, int(np.bitwise_or.reduce(U[0]))), "dg.vredxor a0, v1": (I, int(np.bitwise_xor.reduce(U[0]))),
        "dg.vextract.32 a0, v1, 13": (I, int(I[0][13])), "li a1, 45; dg.vextract.32 a0, v1, a1": (I, int(I[0][13])),
        "dg.vcmpeq.f32 m2, v1, v1; dg.mtoxw a0, m2": (F, bit(A == A)), "dg.vcmplt.f32 m2, v1, v2; dg.mtoxw a0, m2": (F, bit(A < B)),
        "dg.vcmple.f32 m2, v1, v2; dg.mtoxw a0, m2": (F, bit(A <= B)), "dg.vcmpun.f32 m2, v1, v2; dg.mtoxw a0, m2": (F, bit(np.isnan(A) | np.isnan(B))),
        "dg.vcmpeq.i32 m2, v1, v2; dg.mtoxw a0, m2": (I, bit(I[0] == I[1])), "dg.vcmpne.i32 m2, v1, v2; dg.mtoxw a0, m2": (I, bit(I[0] != I[1])),
        "dg.vcmplt.i32 m2, v1, v2; dg.mtoxw a0, m2": (I, bit(I[0] < I[1])), "dg.vcmple.i32 m2, v1, v2; dg.mtoxw a0, m2": (I, bit(I[0] <= I[1])),
        "dg.vcmplt.u32 m2, v1, v2; dg.mtoxw a0, m2": (I, bit(U[0] < U[1])), "dg.vcmple.u32 m2, v1, v2; dg.mtoxw a0, m2": (I, bit(U[0] <= U[1])),
        "dg.mnot m2, m1; dg.mtox a0, m2": (I, ~MASK), "dg.mnot m2, m1; dg.mtoxh a0, m2": (I, -1), "dg.mxor m2, m1, m1; dg.mtox a0, m2": (I, 0),
        "li a1, 0xff; dg.xtom m2, a1; dg.mand m3, m1, m2; dg.mtox a0, m3": (I, MASK & 0xFF), "li a1, 0xff; dg.xtom m2, a1; dg.mor m3, m1, m2; dg.mtox a0, m3": (I, MASK | 0xFF),
        "li a1, 0xff; dg.xtom m2, a1; dg.mandn m3, m1, m2; dg.mtox a0, m3": (I, MASK & ~0xFF), "li a1, 0xff; dg.xtom m2, a1; dg.morn m3, m1, m2; dg.mtox a0, m3": (I, MASK | ~0xFF),
        "li a1, 5; dg.mfirst m2, a1; dg.mtox a0, m2": (I, 31), "li a1, 70; dg.mfirst m2, a1; dg.mtoxh a0, m2": (I, 63),
        "li a1, 7; dg.xtomh m2, m1, a1; dg.mtoxh a0, m2": (I, 7),
        "li a1, 0x3555; dg.fcvt.s.h a0, a1": (I, int(np.array([0x3555], np.uint16).view(np.float16).astype(np.float32).view(np.int32)[0])),
        "li a1, 0x477ff000; dg.fcvt.h.s a0, a1": (I, 0x7C00), "li a1, 0xbf800001; dg.fcvt.bf16.s a0, a1": (I, 0xBF80 - 0x10000),
        # 1 + 2^-11 + 2^-40: rounding through f32 first would make a tie of it, and 1.
        "li a1, 0x3ff0020000001000; dg.fcvt.h.d a0, a1": (I, 0x3C01),
    }


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("semantics")
    text = [".globl _start", "_start:", "li s1, 0x10000000", "la t0, data", "li t1, 1024",
            "1: ld t2, 0(t0); sd t2, 0(s1); addi t0, t0, 8; addi s1, s1, 8; addi t1, t1, -8; bnez t1, 1b",
            "li s1, 0x10000000", "addi s2, s1, 768", "li s4, 0x10001000", "la s5, results", f"li s3, 0x89abcdef; li t0, {MASK}; dg.xtom m1, t0", "dg.vsplat.32 v5, zero"]
    for code, (inputs, _) in (VECTOR | SCALAR).items():
        text += [f"addi s0, s1, {0 if inputs is F else 384}", *(f"dg.vld.32 v{i + 1}, {128 * i}(s0)" for i in range(3)), "dg.vmov v0, v5", code]
        if code in VECTOR:
            text += ["dg.vst.32 v0, 512(s4)", "addi t0, s4, 512", "li t1, 128",
                     "1: ld t2, 0(t0); sd t2, 0(s5); addi t0, t0, 8; addi s5, s5, 8; addi t1, t1, -8; bnez t1, 1b"]
        else:
            text += ["sd a0, 0(s5)", "addi s5, s5, 128"]
    size = 128 * len(VECTOR | SCALAR)
    host = "slli zero, zero, 31; ebreak; srai zero, zero, 7"
    text += ["li a0, 1; la a1, open", host, "la a1, write; sd a0, 0(a1); li a0, 5", host, "li a0, 0x18; li a1, 0x20026", host,
             ".data", ".balign 8", "open: .dword name, 5, 8", f"write: .dword 0, results, {size}", 'name: .asciz "bytes"', ".balign 8", "data:"]
    memory = b"".join(v.tobytes() for v in (*F, *I)) + HALVES.tobytes()
    text += [".byte " + ", ".join(str(b) for b in memory.ljust(1024, b"\0")), f".balign 8\nresults: .zero {size}"]
    (folder / "all.s").write_text("\n".join(text) + "\n")
    for command in ([BUILD / "bin/dougong-mc", "-filetype=obj", "all.s", "-o", "all.o"], [LLVM / "ld.lld", "--image-base=0x80000000", "all.o", "-o", "all.elf"]):
        result = run(*command, cwd=folder)
        assert result.returncode == 0, f"{command}: {result.stderr[:2000]}"
    raws = []
    for mode in ([], ["--timing"]):
        result = run(BUILD / "bin/dougong", "sim", "--files", ".", "--machine", "tiny", *mode, "all.elf", cwd=folder)
        assert result.returncode == 0, f"sim {mode}: {result.stderr[:2000]}"
        raws.append((folder / "bytes").read_bytes())
    raw, timed = raws
    assert len(raw) == size
    assert raw == timed, "functional and timing mode differ"
    return {code: raw[128 * i:128 * i + 128] for i, code in enumerate(VECTOR | SCALAR)}


@pytest.mark.parametrize("code", VECTOR)
def test_vector(results, code):
    want = np.asarray(VECTOR[code][1]).astype(np.int64).astype(np.uint32)
    got = np.frombuffer(results[code], np.uint32)
    wrong = np.flatnonzero(want != got)
    assert not wrong.size, [f"lane {i}: {got[i]:08x}, not {want[i]:08x}" for i in wrong[:4]]


@pytest.mark.parametrize("code", SCALAR)
def test_scalar(results, code):
    want = SCALAR[code][1]
    if "vred" in code:  # 32 bits, sign-extended
        want = (want & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
    got, = struct.unpack("<Q", results[code][:8])
    assert got == want & 0xFFFFFFFFFFFFFFFF, f"{got:x}, not {want & 0xFFFFFFFFFFFFFFFF:x}"
