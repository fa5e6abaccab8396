"""Kernels as ordinary C: mathematics of the C library outside its domain gives what IEEE 754 says and touches no errno; tables of addresses move with the
image; thread-local variables, which would need memory that a kernel does not have, are refused."""
import math
import os
import pathlib
import subprocess

import numpy as np
import pytest

import dougong
import dougong.language as tl

CC = pathlib.Path(os.environ.get("DOUGONG_BUILD", pathlib.Path(__file__).parents[2] / "build")).resolve() / "bin" / "dougong-cc"

MATHEMATICS = """
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <dougong_npu.h>
struct arguments { double *x, *y, *out; float *single; uint64_t count; };
static double (*volatile const of_two[])(double, double) = {pow, fmod, atan2, hypot, remainder, fdim};
static double (*volatile const of_one[])(double) = {sqrt, exp, log, log2, exp2, expm1, log1p, sin, acos, tgamma, lgamma, sinh, atanh, cbrt};
static float (*volatile const of_single[])(float) = {expf, logf, sqrtf, exp2f, tanhf, asinf};
void kernel(const dg_launch *launch, uint64_t first, uint64_t last, uint64_t step) {
  struct arguments g = *(const struct arguments *)launch->arguments;
  for (uint64_t i = first; i < last; i += step) {
    double *out = g.out + i * 20;
    for (int f = 0; f < 6; ++f) *out++ = of_two[f](g.x[i], g.y[i]);
    for (int f = 0; f < 14; ++f) *out++ = of_one[f](g.x[i]);
    for (int f = 0; f < 6; ++f) g.single[i * 6 + f] = of_single[f](g.x[i]);
  }
}
"""


def device_with(source: str, folder: pathlib.Path):
    (folder / "kernel.c").write_text(source)
    subprocess.run([CC, "-O2", "-nostartfiles", "-Wl,-pie,--no-dynamic-linker", "-Wl,--entry=kernel", "kernel.c", "-o", "kernel.elf"], cwd=folder, check=True)
    device = dougong.Device("npu:tiny")
    return device, device.kernel(device.load((folder / "kernel.elf").read_bytes()), "kernel")


def log_gamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except ValueError:  # a pole
        return math.inf


def test_mathematics_outside_its_domain(tmp_path):
    x = np.array([-1.0, 0.0, -0.0, 1e300, -1e300, 1000.0, -1000.0, np.inf, -np.inf, np.nan, 2.0, 1e-320, 172.0, 0.5])
    y = np.array([0.5, -1.0, -1.0, 2.0, 3.0, 200.0, 0.0, 0.0, 1.0, 1.0, np.nan, 0.5, 1e300, -np.inf])
    device, kernel = device_with(MATHEMATICS, tmp_path)
    out, single = np.zeros((len(x), 20)), np.zeros((len(x), 6), np.float32)
    at = [device.put(a) for a in (x, y, out, single)]
    device.launch(kernel, [len(x)], [*at, len(x)])
    out, single = device.get(at[2], out.shape, out.dtype), device.get(at[3], single.shape, single.dtype)
    with np.errstate(all="ignore"):
        two = [np.power(x, y), np.fmod(x, y), np.arctan2(x, y), np.hypot(x, y), None, np.where(x > y, x - y, np.where(np.isnan(x - y), x - y, 0))]
        gamma = np.array([log_gamma(value) for value in x])
        one = [np.sqrt(x), np.exp(x), np.log(x), np.log2(x), np.exp2(x), np.expm1(x), np.log1p(x), np.sin(x), np.arccos(x), None, gamma, np.sinh(x), np.arctanh(x), np.cbrt(x)]
        s = x.astype(np.float32)
        singles = [np.exp(s), np.log(s), np.sqrt(s), np.exp2(s), np.tanh(s), np.arcsin(s)]
    two[5][np.isinf(x) & np.isinf(y) & (x == y)] = 0
    for column, reference in enumerate([*two, *one]):
        if reference is not None:  # numpy has neither remainder nor tgamma
            np.testing.assert_allclose(out[:, column], reference, rtol=1e-12, atol=0, err_msg=f"function {column}")
    assert np.isnan(out[6, 4]) and np.isnan(out[7, 4]) and out[13, 4] == 0.5  # remainder(-1000, 0), (inf, 0), (0.5, -inf)
    assert out[1, 15] == np.inf and out[2, 15] == -np.inf and np.isnan(out[0, 15]) and out[5, 15] == np.inf and out[10, 15] == 1  # tgamma
    for column, reference in enumerate(singles):
        np.testing.assert_allclose(single[:, column], reference, rtol=3e-6, atol=0, err_msg=f"function of float {column}")


@dougong.jit
def powers(x_ptr, y_ptr, power_ptr, rest_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(power_ptr + at, tl.extra.libdevice.pow(x, y))
    tl.store(rest_ptr + at, tl.extra.libdevice.fmod(x, y))


def test_powers_and_remainders_of_compiled_kernels():
    x = np.array([1e30, -1.0, 0.0, np.inf, 2.0, -2.0, np.nan, 5.0] * 8, np.float32)
    y = np.array([2.0, 0.5, -1.0, 0.0, 2000.0, 3.0, 1.0, 0.0] * 8, np.float32)
    power, rest = np.zeros(64, np.float32), np.zeros(64, np.float32)
    powers[(1,)](x, y, power, rest, N=64, device="npu:phone")
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(power, np.power(x, y), rtol=4e-6)
        np.testing.assert_array_equal(rest, np.fmod(x, y))


TABLES = """
#include <dougong_npu.h>
static uint64_t add(uint64_t x) { return x + 100; }
static uint64_t multiply(uint64_t x) { return x * 7; }
static uint64_t (*const functions[])(uint64_t) = {add, multiply};
static const char *const words[] = {"nought", "one", "two"};
static uint64_t length(const char *s) { uint64_t n = 0; while (s[n]) ++n; return n; }
static uint64_t choose(uint64_t x) {
  switch (x) {
  case 0: return functions[0](x);
  case 1: return length(words[x]);
  case 2: return functions[1](x) ^ 3;
  case 3: return x << 40;
  case 4: return ~x;
  case 5: return __dg_core();
  case 6: return functions[x % 2](x) + length(words[2]);
  default: return 99;
  }
}
void kernel(const dg_launch *l, uint64_t first, uint64_t last, uint64_t step) {
  uint64_t *out = (uint64_t *)l->arguments[0];
  for (uint64_t i = first; i < last; i += step) out[i] = choose(i);
}
"""


def test_tables_of_addresses_move_with_the_image(tmp_path):
    device, kernel = device_with(TABLES, tmp_path)
    moved = device.kernel(device.load((tmp_path / "kernel.elf").read_bytes()), "kernel")  # behind the first
    for each in (kernel, moved):
        at = device.put(np.zeros(8, np.uint64))
        device.launch(each, [8], [at])
        assert device.get(at, (8,), np.uint64).tolist() == [100, 3, 14 ^ 3, 3 << 40, 2**64 - 5, 0, 109, 99]


def test_thread_local_variables_are_refused(tmp_path):
    source = "#include <dougong_npu.h>\n_Thread_local int calls[4] = {1};\nvoid kernel(const dg_launch *l, uint64_t a, uint64_t b, uint64_t c) { calls[0] += a; }\n"
    device, kernel = device_with(source, tmp_path)
    with pytest.raises(dougong.Error, match="kernel 'kernel' has thread-local variables ..* bytes., for which a kernel has no memory"):
        device.launch(kernel, [1], [])
