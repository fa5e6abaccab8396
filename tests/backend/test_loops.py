"""Random loops over vectors and scalars, optimised (hardware loops, software pipelining, post-increment) against unoptimised, on the device model."""
import os
import pathlib
import random
import subprocess

import pytest

BIN = pathlib.Path(os.environ.get("DOUGONG_BUILD", pathlib.Path(__file__).parents[2] / "build")) / "bin"
FUNCTIONS = 12  # a program

# A function's loop works on vectors x, y and q, which may overlap unless they are `restrict`, words p and w, and carried values. main runs each
# function for trip counts 0 to 7 and 12 and several overlaps, and prints a hash of all that it left behind.
HEAD = """
#include <dougong_npu.h>
#include <stdio.h>
typedef dg_f32x32 F;
typedef struct { F a, b, c, s; F *q; int g, g0, g1; double d, d0; } carried;
static int p[400];
static short w[400];
"""
FUNCTION = """
__attribute__((noinline)) static void f{number}(F *{restrict} y, F *{restrict} x, F *{restrict} q, {count} n, int stop, carried *left) {{
  F a = x[0], b = x[1], c = x[2], s = x[3];
  int g = 1, g0 = 2, g1 = 3;
  double d = 0, d0 = 1;
  long step = stop & 1 ? 1 : -2;
  {loop}
  *left = (carried){{a, b, c, s, q, g, g0, g1, d, d0}};
}}
"""
MAIN = """
typedef void function(F *, F *, F *, long, int, carried *);
static function *const functions[] = {{{functions}}};
static const char apart[] = {{{apart}}};
enum {{ vectors = 900 }};
static unsigned long hash;
static void add(const void *from, long bytes) {{
  for (const unsigned *at = from; bytes > 0; bytes -= 4) hash = hash * 1099511628211u + *at++;
}}
static void run(void *nothing) {{
  F *lm = (F *)DG_LM_BASE;
  for (unsigned f = 0; f < sizeof apart; f++) {{
    hash = 0;
    for (int n = 0; n < 13; n += n == 7 ? 5 : 1)
      for (int overlap = 0; overlap < (apart[f] ? 1 : 4); overlap++) {{
        for (long i = 0; i < vectors * 32; i++) ((float *)lm)[i] = (float)((i * 7919 + i / 32 * 13) % 101 - 50) * 0.03f;
        for (int i = 0; i < 400; i++) p[i] = i * 37 % 11, w[i] = i * 3;
        F *x = lm + 400, *y = apart[f] ? lm + 520 : x + (int[]){{0, 1, -2, 3}}[overlap], *q = apart[f] ? lm + 700 : overlap == 2 ? x + 2 : x - 1;
        carried *left = (carried *)(lm + 890);
        functions[f](y, x, q, n, n % 3 == 0 ? p[n / 2] : 99, left);
        left->q = (F *)(left->q - q);
        add(lm, vectors * 128), add(p, sizeof p), add(w, sizeof w);
      }}
    printf("%u %lx\\n", f, hash);
  }}
}}
int main(void) {{ dg_call_in_lm(run, 0, 0x40000); }}
"""
OPERATIONS = ["({0} + {1})", "({0} * {1})", "({0} - {1})", "__builtin_elementwise_fma({0}, {1}, {2})", "__builtin_elementwise_max({0}, {1})", "({0} * 0.5f)",
              "__builtin_elementwise_min({0}, {1})", "__builtin_elementwise_exp2({0} * 0.01f)", "__builtin_elementwise_abs({0})", "__builtin_elementwise_tanh({0})"]
SCALARS = ["g = g * 3 + p[{i} + {k}];", "p[{i} + {k}] += g;", "g = g * 3 + p[{i} + {k}]; p[{i}] += g;", "d += g * 0.5 + p[{i} + {k}]; if (d > 1e12) d = 0;",
           "c = c + (float)p[{i} + {k}];", "w[i] = w[i + {k}] + (short)g;"]
WALKS = ["*q++ = a;", "c = c + *q; q += 2;", "b = q[1]; *q = b * 0.5f; q += 1;", "*q-- = a;", "c = c + *q; q -= 2;", "b = q[-1]; *q = b * 0.5f; q -= 1;", "*q = c; q += step;", "b = *q; q += step;"]
ROTATIONS = ["{ F t = a; a = b; b = c; c = t * 0.5f; }", "{ F t = a; a = b; b = t; }", "{ int t = g0; g0 = g1; g1 = g; g = t + p[i]; }",
             "{ double t = d0; d0 = d; d = t * 0.5 + p[i]; }"]
UNROLLED = ["unroll(disable)", "unroll(disable)", "unroll_count(2)", "unroll_count(4)", "vectorize(enable)"]
HEADS = ["for ({count} i = 0; i < n; i++)", "for ({count} i = 0; i < n; i++)", "for ({count} i = 0; i != n; i++)", "for (long i = (long)n - 1; i >= 0; i--)"]


def expression(chance, depth, values):
    if depth == 0 or chance.random() < 0.15:
        return chance.choice(values)
    return chance.choice(OPERATIONS).format(*(expression(chance, d, values) for d in (depth - 1, depth - 1, 0)))


def loop(chance, count):
    values, body = ["a", "b", "c", "s"], []
    i = chance.choice(["i", "i", "i", "i * 2", "i * 3"])
    odd_one = chance.choice([WALKS, ROTATIONS])
    for j in range(chance.randrange(2, 8)):
        k = chance.randrange(5)
        kind = chance.choice(["load", "load", "store", "carry", "reload", "scalar", "odd one", "odd one"])
        if kind in ("load", "reload"):
            body.append(f"F t{j} = {'x' if kind == 'load' else 'y'}[{i} + {k}];")
            values.append(f"t{j}")
        elif kind == "store":
            body.append(f"y[{i} + {k}] = {expression(chance, chance.randrange(1, 4), values)};")
        elif kind == "carry":
            body.append(f"{chance.choice('abc')} = {expression(chance, chance.randrange(1, 3), values)} * 0.75f;")
        else:
            body.append(chance.choice(SCALARS).format(i=i, k=k) if kind == "scalar" else chance.choice(odd_one))
    body.append(f"y[{i}] = {expression(chance, 2, values)};")
    if chance.random() < 0.15:
        body.insert(chance.randrange(len(body)), "if (p[i] == stop) break;")
    inner = f"_Pragma(\"clang loop {chance.choice(UNROLLED)}\") {chance.choice(HEADS).format(count=count)} {{ {' '.join(body)} }}"
    return f"for (int o = 0; o < 2; o++) {{ {inner} y += 1; }}" if chance.random() < 0.15 else inner


def program(seed: int) -> str:
    chance = random.Random(seed)
    text, apart = [HEAD], [chance.random() < 0.4 for _ in range(FUNCTIONS)]
    for number in range(FUNCTIONS):
        count = chance.choice(["long", "int", "unsigned", "unsigned long"])
        text.append(FUNCTION.format(number=number, restrict="restrict" if apart[number] else "", count=count, loop=loop(chance, count)))
    text.append(MAIN.format(functions=", ".join(f"(function *)f{n}" for n in range(FUNCTIONS)), apart=", ".join(str(int(a)) for a in apart)))
    return "".join(text)


def printed(folder, *options) -> list[str]:
    subprocess.run([BIN / "dougong-cc", "-w", "-fwrapv", "-ffp-contract=off", *options, "loops.c", "-o", "loops.elf"], cwd=folder, check=True, timeout=120)
    return subprocess.run([BIN / "dougong", "sim", "loops.elf"], cwd=folder, check=True, timeout=120, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.parametrize("seed", range(200 if os.environ.get("DOUGONG_LONG") else 8))
def test_random_loops(tmp_path, seed):
    (tmp_path / "loops.c").write_text(program(seed))
    expected = printed(tmp_path, "-O0")
    assert len(expected) == FUNCTIONS
    for level in "-O2", ("-O1", "-O3", "-Os")[seed % 3]:
        assert printed(tmp_path, level, "-mllvm", "-verify-machineinstrs") == expected, level
