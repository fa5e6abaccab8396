"""The functions of dougong_npu.h on whole registers compute what their comments say: a C program writes their results, numpy says what they must be.

At -O0 as at -O2: operands and masks then pass through memory. C++ as C: the header says some types by other names there.
"""
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

BIN = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parents[2] / "build")) / "bin"
ROUNDS = 3
NAMES1 = ["dg_f32_from_e4m3", "dg_f32_from_e5m2", "dg_e4m3_from_f32", "dg_e5m2_from_f32"]
PROGRAM = r"""
#include <dougong_npu.h>
#include <stdio.h>
enum { A, B, FIRST };
static dg_register *const lm = (dg_register *)DG_LM_BASE;
static int used;
static void run(void *unused) {
  (void)unused;
  dg_register a = lm[A], b = lm[B], *o = lm + FIRST;
  uint32_t bits = dg_bits((dg_i32x32)(a > b));
  RESULTS
  *o++ = dg_compress(a, bits), *o++ = dg_expand(a, bits);
  for (int i = 0; i < 32; ++i) o[i] = a * (i + 1) ^ b;
  dg_transpose_32x32(o);
  used = o + 32 - (lm + FIRST);
}
int main(void) {
  uint32_t seed = 7;
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < 64; ++i) seed = seed * 1664525u + 1013904223u, ((uint32_t *)lm)[i] = seed ^ seed >> 15;
    dg_call_in_lm(run, 0, 0x40000);
    for (int i = 0; i < 32 * (used + FIRST); ++i) printf("%08x", (unsigned)((uint32_t *)lm)[i]);
    puts("");
  }
}
"""


def pack(kind):
    info = np.iinfo(kind)
    wide = f"i{2 * info.bits // 8}"
    return lambda a, b: np.clip(np.concatenate([a.view(wide), b.view(wide)]), info.min, info.max).astype(kind)


def whole(kind, operation):
    return lambda a, b: operation(a.view(kind).astype(np.int64), b.view(kind).astype(np.int64)).astype(kind)


def zipped(bits, half):
    def lanes(a, b):
        a, b = a.view(f"u{bits // 8}"), b.view(f"u{bits // 8}")
        part = slice(len(a) // 2 * half, len(a) // 2 * (half + 1))
        return np.stack([a[part], b[part]], 1).ravel()
    return lanes


def unzipped(bits, odd):
    return lambda a, b: np.concatenate([a.view(f"u{bits // 8}")[odd::2], b.view(f"u{bits // 8}")[odd::2]])


TWO = {}
for kind in ["i16", "u16", "i8", "u8"]:
    numpy_kind = kind[0] + str(int(kind[1:]) // 8)
    TWO[f"dg_pack_{kind}"] = pack(numpy_kind)
    TWO[f"dg_average_{kind}"] = whole(numpy_kind, lambda a, b: a + b + 1 >> 1)
TWO["dg_mulh_i16"] = whole("i2", lambda a, b: a * b >> 16)
TWO["dg_mulh_u16"] = whole("u2", lambda a, b: a * b >> 16)
TWO["dg_permute_8"] = lambda a, b: a.view("u1")[b.view("u1") % 128]
TWO["dg_permute_16"] = lambda a, b: a.view("u2")[b.view("u2") % 64]
for width in [8, 16, 32]:
    for number, (zip_half, unzip_half) in enumerate([("low", "even"), ("high", "odd")]):
        TWO[f"dg_zip_{zip_half}_{width}"] = zipped(width, number)
        TWO[f"dg_unzip_{unzip_half}_{width}"] = unzipped(width, number)


def eight_bit_floats(exponent_bits):
    """The value of each of the 256 codes: OCP's formats, NaNs and infinities included."""
    codes = np.arange(256)
    fraction_bits, bias = 7 - exponent_bits, (1 << exponent_bits - 1) - 1
    exponent, fraction = codes >> fraction_bits & (1 << exponent_bits) - 1, codes & (1 << fraction_bits) - 1
    values = np.where(exponent == 0, fraction * 2.0 ** (1 - bias - fraction_bits), (1 + fraction * 2.0 ** -fraction_bits) * 2.0 ** (exponent - bias))
    if exponent_bits == 4:
        values[codes & 127 == 127] = np.nan
    else:
        values[exponent == 31] = np.where(fraction[exponent == 31] == 0, np.inf, np.nan)
    return np.where(codes & 128, -values, values).astype(np.float32)


@pytest.mark.parametrize("level, language", [("-O2", "c"), ("-O0", "c"), ("-O2", "c++")])
def test_functions_of_registers(tmp_path, level, language):
    results = "".join(f"*o++ = {name}(a);\n" for name in NAMES1) + "*o++ = dg_e4m3_from_f32(dg_f32_from_e4m3(a)), *o++ = dg_e5m2_from_f32(dg_f32_from_e5m2(a));\n"
    results += "".join(f"*o++ = {name}(a, b);\n" for name in TWO)
    (tmp_path / "program.c").write_text(PROGRAM.replace("RESULTS", results).replace("ROUNDS", str(ROUNDS)))
    made = subprocess.run([BIN / "dougong-cc", level, "-Wall", "-Werror", "-x", language, "program.c", "-x", "none", "-mllvm", "-verify-machineinstrs", "-o", "program.elf"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    lines = subprocess.run([BIN / "dougong", "sim", "program.elf"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert len(lines) == ROUNDS
    for line in lines:
        registers = list(np.array([int(line[i:i + 8], 16) for i in range(0, len(line), 8)], np.uint32).reshape(-1, 32))
        a, b, *got = registers
        e4m3, e5m2 = eight_bit_floats(4), eight_bit_floats(5)
        same = lambda values, register: np.array_equal(values, register.view(np.float32), equal_nan=True)
        assert same(e4m3[a & 255], got[0]) and same(e5m2[a & 255], got[1])
        # To the nearest of all codes: no other is nearer, and what is too large is NaN or infinity.
        for table, largest, beyond, register in [(e4m3, 464, np.nan, got[2]), (e5m2, 61440, np.inf, got[3])]:
            x = a.view(np.float32).astype(np.float64)
            distances = np.abs(np.where(np.isfinite(table), table, np.inf)[None].astype(np.float64) - x[:, None])
            chosen = table[register]
            for lane in range(32):
                if np.isnan(x[lane]) or abs(x[lane]) > largest:
                    assert np.isnan(chosen[lane]) if np.isnan(x[lane]) or np.isnan(beyond) else np.isinf(chosen[lane])
                elif abs(x[lane]) < largest:
                    assert distances[lane].min() == abs(float(chosen[lane]) - x[lane]), (x[lane], chosen[lane])
        assert same(e4m3[got[4]], got[0]) and same(e5m2[got[5]], got[1])
        got = got[6:]
        for (name, expected), register in zip(TWO.items(), got):
            assert np.array_equal(expected(a, b).view(np.uint32), register), name
        got = got[len(TWO):]
        chosen = a.view(np.int32) > b.view(np.int32)
        assert 0 < chosen.sum() < 32
        assert np.array_equal(got[0], np.concatenate([a[chosen], np.zeros(32 - chosen.sum(), np.uint32)]))
        expanded = np.zeros(32, np.uint32)
        expanded[chosen] = a[:chosen.sum()]
        assert np.array_equal(got[1], expanded)
        rows = np.stack([a * np.uint32(i + 1) ^ b for i in range(32)])
        assert np.array_equal(rows.T, np.stack(got[2:34]))
