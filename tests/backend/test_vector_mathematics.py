"""Sines, cosines, tangents, powers and remainders in vector code: all values of f16 and bf16, and f32 of any size, against numpy in f64.

f64 has more than twice the bits of f32, and the C library's own reduction of large arguments there is exact to the last of them.
"""
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

BIN = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parents[2] / "build")).resolve() / "bin"
CODE = {"half": "f16", "bfloat": "bf16", "float": "f32"}
rng = np.random.default_rng(4)
SPECIAL = {"half": [0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x3C00, 0x4200], "bfloat": [0, 0x8000, 1, 0x8001, 0x7F, 0x80, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0, 0x3F80, 0x4040],
           "float": [0, 1 << 31, 1, 1 + (1 << 31), 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000, 0x40400000]}  # bits
DRIVER = r"""
#include <dougong_npu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { A = 0x8000, B = 0x10000, O = 0x18000, BYTES = LANES * SIZE };
void f(void *a, void *b, void *o);
static void run(void *unused) { f((char *)DG_LM_BASE + A, (char *)DG_LM_BASE + B, (char *)DG_LM_BASE + O); }
int main(void) {
  FILE *in = fopen("in", "rb"), *out = fopen("out", "wb");
  char *block = malloc(2 * BYTES);
  while (fread(block, 1, 2 * BYTES, in) == 2 * BYTES) {
    memcpy((char *)DG_LM_BASE + A, block, BYTES), memcpy((char *)DG_LM_BASE + B, block + BYTES, BYTES);
    dg_call_in_lm(run, 0, 0x40000);
    memcpy(block, (char *)DG_LM_BASE + O, BYTES);
    fwrite(block, 1, BYTES, out);
  }
  return fclose(out);
}
"""


def computed(folder, element, expression, a, b, lanes=64, level="-O2"):
    """Of two arrays of bits, the bits of the results."""
    t, name = f"<{lanes} x {element}>", expression.format(t=f"<{lanes} x {element}>", c=f"v{lanes}{CODE[element]}")
    declare = f"\ndeclare {name[5:].split('(')[0]}({', '.join([t] * name.count('%'))})" if name.startswith("call") else ""
    (folder / "f.ll").write_text(f"define void @f(ptr %p, ptr %q, ptr %o) {{\n  %a = load {t}, ptr %p\n  %b = load {t}, ptr %q\n  %r = {name}\n  store {t} %r, ptr %o\n  ret void\n}}{declare}\n")
    (folder / "driver.c").write_text(DRIVER.replace("LANES", str(lanes)).replace("SIZE", str(a.itemsize)))
    np.stack([a.reshape(-1, lanes), b.reshape(-1, lanes)], 1).tofile(folder / "in")
    for command in ([BIN / "dougong-cc", level, "-w", "driver.c", "f.ll", "-o", "f.elf"], [BIN / "dougong", "sim", "--files", ".", "f.elf"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr[:2000]}"
    return np.fromfile(folder / "out", a.dtype)


def value(bits, element):
    """In f64, without signalling NaNs, which the host's functions treat otherwise."""
    exact = bits.view(np.float16) if element == "half" else (bits.astype(np.uint32) << 16 if element == "bfloat" else bits).view(np.float32)
    return np.where(np.isnan(exact), np.nan, exact.astype(np.float64))


def inputs(element, count):
    """Bits: all of 16, or floats of every size, those next to multiples of pi / 2, and the special ones."""
    if element != "float":
        return np.arange(65536, dtype=np.uint16)
    near = (rng.integers(1, 1 << 30, count // 2) * np.exp2(rng.integers(-3, 90, count // 2)) * (np.pi / 2)).astype(np.float32)
    everyday = (rng.normal(size=count // 4) * np.exp2(rng.integers(-3, 10, count // 4))).astype(np.float32)
    bits = np.concatenate([near.view(np.uint32), everyday.view(np.uint32), rng.integers(0, 2**32, count // 4, np.uint32)])
    worst = np.float32(16367173 * 2.0**72)  # of all f32 the closest to a multiple of pi / 2
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 2**-30, 2**-30 * 1.0000001, 2**-31, 3.4028235e38, -3.4028235e38, np.pi / 2, np.pi, np.pi / 4, 0.78539819, worst, -worst], np.float32)
    bits[:len(special)] = special.view(np.uint32)
    return bits


def compare(got, want, element, ulps):
    """`want` in f64, NaN for NaN."""
    result = value(got, element)
    nan = np.isnan(want)
    assert np.array_equal(np.isnan(result), nan), [(int(i), result[i], want[i]) for i in np.flatnonzero(np.isnan(result) != nan)[:4]]
    fraction, least = {"half": (10, -14), "bfloat": (7, -126), "float": (23, -126)}[element]
    with np.errstate(all="ignore"):
        unit = np.exp2(np.maximum(np.frexp(want)[1] - 1, least) - fraction)
        wrong = np.where(nan | (result == want), 0, np.abs(result - want) / unit)
        limit = {"half": 65520.0, "bfloat": 2.0**128 * (1 - 2.0**-9), "float": 2.0**128 * (1 - 2.0**-25)}[element]
        wrong = np.where((np.abs(want) >= limit) & np.isinf(result), 0, wrong)
    assert wrong.max() <= ulps, f"{wrong.max():.3f} ulp at {np.argmax(wrong)}"
    assert np.array_equal(np.signbit(result[want == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize("element", ["half", "bfloat", "float"])
@pytest.mark.parametrize("function, ulps", [("sin", 1.5), ("cos", 1.5), ("tan", 3.5)])
def test_sines(tmp_path, element, function, ulps):
    bits = inputs(element, 1 << 18)
    got = computed(tmp_path, element, f"call {{t}} @llvm.{function}.{{c}}({{t}} %a)", bits, bits)
    with np.errstate(all="ignore"):
        compare(got, getattr(np, function)(value(bits, element)), element, 0.51 if element != "float" else ulps)


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("lanes", [32, 48, 96, 128])
@pytest.mark.parametrize("element", ["half", "bfloat", "float"])
def test_remainders_are_exact(tmp_path, element, lanes, level):
    count = lanes * 256
    kind = np.uint32 if element == "float" else np.uint16
    a, b = (rng.integers(0, np.iinfo(kind).max + 1, count, kind) for _ in range(2))
    close = rng.random(count) < 0.5  # quotients below 2^25; then the same exponent
    shift = np.iinfo(kind).bits - {"half": 6, "bfloat": 9, "float": 9}[element]
    b[close] = a[close] - (rng.integers(0, 26, close.sum()) << shift).astype(kind) + rng.integers(0, 9, close.sum()).astype(kind)
    pairs = np.array([(x, y) for x in SPECIAL[element] for y in SPECIAL[element]], kind)
    a[:len(pairs)], b[:len(pairs)] = pairs.T
    got = computed(tmp_path, element, "frem {t} %a, %b", a, b, lanes, level)
    with np.errstate(all="ignore"):
        compare(got, np.fmod(value(a, element), value(b, element)), element, 0)


@pytest.mark.parametrize("element", ["half", "bfloat", "float"])
def test_powers(tmp_path, element):
    count = 1 << 18
    kind = np.uint32 if element == "float" else np.uint16

    def bits_of(values):
        with np.errstate(all="ignore"):
            f32, values = values.astype(np.float32).view(np.uint32), np.clip(values, -65504, 65504)
        return values.astype(np.float16).view(np.uint16) if element == "half" else (f32 >> 16).astype(np.uint16) if element == "bfloat" else f32
    # A third any bits; a third with results of all sizes; the rest whole powers of numbers near one.
    a, b = (rng.integers(0, np.iinfo(kind).max + 1, count, kind) for _ in range(2))
    third = count // 3
    x = np.exp2(rng.uniform(-20, 20, third))
    a[:third], b[:third] = bits_of(x), bits_of(rng.uniform(-155, 155, third) / np.log2(x))
    x = 1 + rng.normal(size=third) * np.exp2(rng.integers(-22, -1, third))
    a[third:2 * third], b[third:2 * third] = bits_of(x * rng.choice([-1, 1], third)), bits_of(np.rint(rng.normal(size=third) * 60 / np.abs(np.log2(np.abs(x)) + 1e-9)) % 2**24)
    extra = bits_of(np.array([0.5, -0.5, 2, -2, 3, -3, 1 / 3, 1e30, -1e30, 16777216, 33554432, -1, 0.99999994]))
    special = np.concatenate([np.array(SPECIAL[element], kind), extra.astype(kind)])
    pairs = np.array([(x, y) for x in special for y in special], kind)
    a[:len(pairs)], b[:len(pairs)] = pairs.T
    got = computed(tmp_path, element, "call {t} @llvm.pow.{c}({t} %a, {t} %b)", a, b)
    with np.errstate(all="ignore"):
        compare(got, np.power(value(a, element), value(b, element)), element, 1 if element == "float" else 0.51)


@pytest.mark.parametrize("lanes", [33, 48, 96])
@pytest.mark.parametrize("function, operands", [("sin", "{t} %a"), ("pow", "{t} %a, {t} %b")])
def test_numbers_of_lanes(tmp_path, lanes, function, operands):
    """The same as in whole registers."""
    a, b = (rng.normal(size=lanes * 64).astype(np.float32).view(np.uint32) for _ in range(2))
    rest = -len(a) % 64
    (tmp_path / "whole").mkdir()
    whole = computed(tmp_path / "whole", "float", f"call {{t}} @llvm.{function}.{{c}}({operands})", np.pad(a, (0, rest)), np.pad(b, (0, rest)))
    assert np.array_equal(computed(tmp_path, "float", f"call {{t}} @llvm.{function}.{{c}}({operands})", a, b, lanes), whole[:len(a)])
