"""Vector code computes on the device model what the same LLVM IR computes on the host, bit for bit.

Each operation is a function `void f(a, b, c, o)` that loads vectors from three buffers and stores its result; the host's reference is the packaged clang
for x86-64. NaNs compare equal to NaNs (the core's are canonical). Approximations (exp2, log2, tanh, exp, log) are compared in ulp instead.
"""
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

BIN = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parent / "../../build")) / "bin"
CLANG = "/usr/lib/llvm-22/bin/clang"
N = 32
CODE = {"half": "f16", "bfloat": "bf16", "float": "f32"}

DRIVER = r"""
#include <stdint.h>
#include <stdio.h>
#include <string.h>
enum { COUNT = %d, BYTES = 2048 };
typedef void function(uint8_t *a, uint8_t *b, uint8_t *c, uint8_t *o);
%s
static function *const functions[] = { %s };
static const char kinds[] = "%s";
static const int sizes[] = { %s };
static uint32_t seed = 1;
static uint32_t next(void) { seed = seed * 1664525u + 1013904223u; return seed >> 8 ^ seed << 13; }
static const float special[] = { 0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 2.5f, 3.5f, -2.5f, 1e-40f, -1e-42f, 3.4e38f, __builtin_inff(), -__builtin_inff(), __builtin_nanf(""),
                                 65504.0f, 65520.0f, 1e-7f, 2147483648.0f, -2147483648.0f, 4294967296.0f, 127.5f, 128.5f, 1e10f };
static void fill(uint8_t *p, char kind, int round) {
  for (int i = 0; i < BYTES / 4; ++i) {
    uint32_t r = next();
    if (kind == 'f') {
      float f = r %% 4 == 0 ? special[(r >> 4) %% (sizeof special / sizeof *special)] : (float)(int32_t)next() / (float)(1u << (r %% 31));
      memcpy(&r, &f, 4);
    } else if (kind == 's') { /* small numbers */
      float f = (float)((int32_t)next() %% 4096) / 64.0f;
      memcpy(&r, &f, 4);
    } else if (kind == 'h') {
      r = r %% 3 ? r : (r & 0x80008000u) | 0x3c007bffu;
    } else if (round == 0) r = (uint32_t)i %% 37 - 18;
    memcpy(p + 4 * i, &r, 4);
  }
}
#ifdef __DOUGONG__
#include <dougong_npu.h>
#define BUFFER(n) ((uint8_t *)(DG_LM_BASE + (n) * 0x2000))
struct call { function *f; uint8_t *a, *b, *c, *o; };
static void enter(void *p) { struct call *k = p; k->f(k->a, k->b, k->c, k->o); }
#else
static uint8_t buffers[4][BYTES] __attribute__((aligned(128)));
#define BUFFER(n) buffers[n]
#endif
int main(void) {
  static uint8_t text[2 * BYTES + 2];
  for (int k = 0; k < COUNT; ++k)
    for (int round = 0; round < 3; ++round) {
      for (int n = 0; n < 3; ++n) fill(BUFFER(n), kinds[k], round);
      memset(BUFFER(3), 0xee, BYTES);
#ifdef __DOUGONG__
      struct call call = { functions[k], BUFFER(0), BUFFER(1), BUFFER(2), BUFFER(3) };
      dg_call_in_lm(enter, &call, 0x40000);
#else
      functions[k](BUFFER(0), BUFFER(1), BUFFER(2), BUFFER(3));
#endif
      for (int i = 0; i < sizes[k] + 4; ++i) { uint8_t x = BUFFER(3)[i]; text[2 * i] = "0123456789abcdef"[x >> 4]; text[2 * i + 1] = "0123456789abcdef"[x & 15]; }
      text[2 * (sizes[k] + 4)] = 0;
      puts((char *)text);
    }
}
"""


class Case:
    def __init__(self, name, kind, element, lanes, body, ulp=0, declares=()):
        self.name, self.kind, self.element, self.lanes, self.body, self.ulp, self.declares = name, kind, element, lanes, body, ulp, declares

    @property
    def bytes(self):
        return {"half": 2, "bfloat": 2, "float": 4, "i1": 4, "i8": 1, "i16": 2, "i32": 4, "double": 8, "i64": 8}[self.element] * self.lanes


def cases():
    def vec(e, n=N):
        return f"<{n} x {e}>"

    def case(name, kind, e, body, out=None, n=N, ulp=0, declares=(), out_lanes=None):
        """`body` computes %r from %a, %b, %c of element type e."""
        def natural(element):
            return 1 if name.startswith("unaligned") else {"float": 4, "half": 2, "bfloat": 2}.get(element) or max(1, int(element[1:]) // 8)
        loads = "".join(f"  %{v} = load {vec(e, n)}, ptr %p{v}, align {natural(e)}\n" for v in "abc")
        out = out or e
        lanes = n if out_lanes is None else out_lanes
        t = out if lanes == 0 else vec(out, lanes)
        return Case(name, kind, out, lanes or 1, f"{loads}{body}\n  store {t} %r, ptr %po, align {natural(out)}\n", ulp, declares)

    def intrinsic(name, kind, e, operands, n=N, ulp=0):
        t, m = vec(e, n), f"v{n}{CODE.get(e, e)}"
        arguments = ", ".join(f"{t} %{v}" for v in "abc"[:operands])
        return case(f"{name} {t}", kind, e, f"  %r = call {t} @llvm.{name}.{m}({arguments})", n=n, ulp=ulp,
                    declares=[f"declare {t} @llvm.{name}.{m}({', '.join([t] * operands)})"])

    f = vec("float")
    for op in ["fadd", "fsub", "fmul", "fdiv"]:
        yield case(op, "f", "float", f"  %r = {op} {f} %a, %b")
    yield case("fneg", "f", "float", f"  %r = fneg {f} %a")
    for op in ["sqrt", "fabs", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven"]:
        yield intrinsic(op, "f", "float", 1)
    for op in ["minimum", "maximum", "copysign"]:
        yield intrinsic(op, "f", "float", 2)
    for op in ["minimumnum", "maximumnum"]:
        yield intrinsic(op, "f", "float", 2)
    yield intrinsic("fma", "f", "float", 3)
    for op in ["exp2", "exp", "log2", "log", "tanh"]:
        yield intrinsic(op, "s", "float", 1, ulp=4)
    for cc in ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "uno", "ueq", "ugt", "uge", "ult", "ule", "une"]:
        yield case("fcmp " + cc, "f", "float", f"  %m = fcmp {cc} {f} %a, %b\n  %r = select <32 x i1> %m, {f} %b, {f} %c")
    for e in ["half", "bfloat"]:
        t = vec(e)
        yield case(f"{e} to float", "h", e, f"  %r = fpext {t} %a to {f}", out="float")
        yield case(f"float to {e}", "f", "float", f"  %r = fptrunc {f} %a to {t}", out=e)
        yield case(f"{e} add", "h", e, f"  %r = fadd {t} %a, %b")
        yield case(f"{e} multiply, add", "h", e, f"  %x = fmul {t} %a, %b\n  %r = fadd {t} %x, %c")
        yield case(f"{e} compare", "h", e, f"  %m = fcmp olt {t} %a, %b\n  %r = select <32 x i1> %m, {t} %a, {t} %c")
        yield case(f"{e} lanes", "h", e, f"  %x = extractelement {t} %a, i32 7\n  %r = insertelement {t} %b, {e} %x, i32 3")
        yield case(f"{e} of 64 lanes", "h", e, f"  %x = fmul {vec(e, 64)} %a, %b\n  %r = fsub {vec(e, 64)} %x, %c", n=64)
        yield case(f"{e} bits", "h", e, f"  %x = bitcast {t} %a to <32 x i16>\n  %y = xor <32 x i16> %x, splat (i16 -32768)\n  %r = bitcast <32 x i16> %y to {t}")

    for e in ["i32", "i16", "i8"]:
        t = vec(e)
        for op in ["add", "sub", "mul", "and", "or", "xor"]:
            yield case(f"{op} {e}", "i", e, f"  %r = {op} {t} %a, %b")
        bits = int(e[1:])
        for op in ["shl", "lshr", "ashr"]:
            yield case(f"{op} {e}", "i", e, f"  %n = and {t} %b, splat ({e} {bits - 1})\n  %r = {op} {t} %a, %n")
            yield case(f"{op} {e} by 3", "i", e, f"  %r = {op} {t} %a, splat ({e} 3)")
        for op in ["udiv", "urem", "sdiv", "srem"]:
            yield case(f"{op} {e}", "i", e, f"  %d = and {t} %b, splat ({e} 63)\n  %e = or {t} %d, splat ({e} 1)\n  %r = {op} {t} %a, %e")
        for cc in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]:
            yield case(f"icmp {cc} {e}", "i", e, f"  %m = icmp {cc} {t} %a, %b\n  %r = select <32 x i1> %m, {t} %b, {t} %c")
        for op in ["smin", "smax", "umin", "umax", "uadd.sat", "ssub.sat"]:
            yield intrinsic(op, "i", e, 2)
        yield intrinsic("ctpop", "i", e, 1)
        yield intrinsic("fshl", "i", e, 3)
        for to, op in [("i32", "sext"), ("i32", "zext"), ("float", "sitofp"), ("float", "uitofp")]:
            if to != e:
                yield case(f"{op} {e}", "i", e, f"  %r = {op} {t} %a to {vec(to)}", out=to)
        if e != "i32":
            yield case(f"trunc to {e}", "i", "i32", f"  %r = trunc <32 x i32> %a to {t}", out=e)
        m = "v32" + e
        for op in ["add", "mul", "and", "or", "xor", "smin", "smax", "umin", "umax"]:
            yield case(f"reduce {op} {e}", "i", e, f"  %r = call {e} @llvm.vector.reduce.{op}.{m}({t} %a)", out_lanes=0,
                       declares=[f"declare {e} @llvm.vector.reduce.{op}.{m}({t})"])
        yield case(f"fptosi.sat {e}", "f", "float", f"  %r = call {t} @llvm.fptosi.sat.{m}.v32f32({f} %a)", out=e, declares=[f"declare {t} @llvm.fptosi.sat.{m}.v32f32({f})"])
        yield case(f"fptoui.sat {e}", "f", "float", f"  %r = call {t} @llvm.fptoui.sat.{m}.v32f32({f} %a)", out=e, declares=[f"declare {t} @llvm.fptoui.sat.{m}.v32f32({f})"])
    yield case("mul, add i32", "i", "i32", "  %x = mul <32 x i32> %a, %b\n  %r = add <32 x i32> %x, %c")
    yield case("fptosi", "s", "float", f"  %r = fptosi {f} %a to <32 x i32>", out="i32")

    yield case("reduce fadd in order", "s", "float", f"  %s = extractelement {f} %b, i32 0\n  %r = call float @llvm.vector.reduce.fadd.v32f32(float %s, {f} %a)", out_lanes=0,
               declares=["declare float @llvm.vector.reduce.fadd.v32f32(float, <32 x float>)"])
    for op in ["fminimum", "fmaximum"]:
        yield case("reduce " + op, "f", "float", f"  %r = call float @llvm.vector.reduce.{op}.v32f32({f} %a)", out_lanes=0, declares=[f"declare float @llvm.vector.reduce.{op}.v32f32({f})"])
    # Pairwise, as the contract says: the host adds the same pairs in the same order.
    steps, value = "", "%a"
    for k in (16, 8, 4, 2, 1):
        lanes = ", ".join(f"i32 {i + k if i < k else 'poison'}" for i in range(32))
        steps += f"  %h{k} = shufflevector {f} {value}, {f} poison, <32 x i32> <{lanes}>\n  %t{k} = fadd {f} {value}, %h{k}\n"
        value = f"%t{k}"
    yield case("pairwise sum by hand", "s", "float", steps + f"  %r = extractelement {f} {value}, i32 0", out_lanes=0)

    for e, kind in [("float", "f"), ("i32", "i"), ("half", "h"), ("i8", "i"), ("i16", "i")]:
        t = vec(e)
        for name, lanes in {"reverse": [31 - i for i in range(32)], "slide": [i + 5 for i in range(32)], "rotate": [(i + 9) % 32 for i in range(32)],
                            "zip": [i // 2 + 32 * (i % 2) for i in range(32)], "any": [(i * 7 + 3) % 64 for i in range(32)], "one": [13] * 32,
                            "transpose 4x8": [(i % 4) * 8 + i // 4 for i in range(32)]}.items():
            yield case(f"{name} {e}", kind, e, f"  %r = shufflevector {t} %a, {t} %b, <32 x i32> <{', '.join(f'i32 {i}' for i in lanes)}>")
        yield case(f"extract {e}", kind, e, f"  %i = load i8, ptr %pc, align 1\n  %j = and i8 %i, 31\n  %r = extractelement {t} %a, i8 %j", out_lanes=0)
        yield case(f"insert {e}", kind, e, f"  %i = load i8, ptr %pc, align 1\n  %j = and i8 %i, 31\n  %x = extractelement {t} %b, i32 2\n  %r = insertelement {t} %a, {e} %x, i8 %j")
        constant = {"float": "1.5", "half": "1.5"}.get(e, "3")
        yield case(f"select {e} by a scalar", kind, e, f"  %i = load i8, ptr %pc, align 1\n  %j = trunc i8 %i to i1\n  %r = select i1 %j, {t} %a, {t} %b")
        yield case(f"masked load, store {e}", kind, e,
                   f"  %x = load <32 x i32>, ptr %pc, align 1\n  %m = icmp slt <32 x i32> %x, zeroinitializer\n"
                   f"  %q = call {t} @llvm.masked.load.v32{CODE.get(e, e)}.p0(ptr %pb, i32 1, <32 x i1> %m, {t} %a)\n  %n = xor <32 x i1> %m, splat (i1 true)\n"
                   f"  store {t} %q, ptr %po, align 1\n  call void @llvm.masked.store.v32{CODE.get(e, e)}.p0({t} %c, ptr %po, i32 1, <32 x i1> %n)\n  %r = load {t}, ptr %po, align 1",
                   declares=[f"declare {t} @llvm.masked.load.v32{CODE.get(e, e)}.p0(ptr, i32, <32 x i1>, {t})", f"declare void @llvm.masked.store.v32{CODE.get(e, e)}.p0({t}, ptr, i32, <32 x i1>)"])
        yield case(f"gather, scatter {e}", kind, e,
                   f"  %x = load <32 x i32>, ptr %pc, align 1\n  %i = and <32 x i32> %x, splat (i32 63)\n  %m = icmp ult <32 x i32> %i, splat (i32 50)\n"
                   f"  %g = getelementptr {e}, ptr %pb, <32 x i32> %i\n"
                   f"  %q = call {t} @llvm.masked.gather.v32{CODE.get(e, e)}.v32p0(<32 x ptr> %g, i32 1, <32 x i1> %m, {t} %a)\n"
                   f"  store {t} %q, ptr %po, align 1\n  %j = and <32 x i32> %i, splat (i32 31)\n  %h = getelementptr {e}, ptr %po, <32 x i32> %j\n"
                   f"  call void @llvm.masked.scatter.v32{CODE.get(e, e)}.v32p0({t} %c, <32 x ptr> %h, i32 1, <32 x i1> %m)\n  %r = load {t}, ptr %po, align 1",
                   declares=[f"declare {t} @llvm.masked.gather.v32{CODE.get(e, e)}.v32p0(<32 x ptr>, i32, <32 x i1>, {t})", f"declare void @llvm.masked.scatter.v32{CODE.get(e, e)}.v32p0({t}, <32 x ptr>, i32, <32 x i1>)"])
    # Three registers and five: numbers of them that are no powers of two.
    for n, e, kind in [(96, "float", "s"), (96, "i8", "i"), (160, "i16", "i"), (96, "half", "s"), (160, "i32", "i")]:
        t, m, mask, code, size = vec(e, n), f"<{n} x i1>", f"  %m = {'icmp slt' if e[0] == 'i' else 'fcmp olt'} {vec(e, n)} %a, %b\n", f"v{n}{CODE.get(e, e)}", {"float": 4, "i32": 4, "i8": 1}.get(e, 2)
        yield case(f"masked accesses {t}", kind, e, mask + f"  %q = call {t} @llvm.masked.load.{code}.p0(ptr align {size} %pb, {m} %m, {t} %c)\n  store {t} %q, ptr %po, align {size}\n"
                   f"  call void @llvm.masked.store.{code}.p0({t} %a, ptr align {size} %po, {m} %m)\n  %x = load {t}, ptr %po, align {size}\n  %r = select {m} %m, {t} %x, {t} %q", n=n,
                   declares=[f"declare {t} @llvm.masked.load.{code}.p0(ptr, {m}, {t})", f"declare void @llvm.masked.store.{code}.p0({t}, ptr, {m})"])
        numbers = ", ".join(f"i32 {(i * 37 + 11) % n}" for i in range(n))
        yield case(f"gather, scatter {t}", kind, e, mask + f"  %g = getelementptr {e}, ptr %pb, <{n} x i32> <{numbers}>\n  %q = call {t} @llvm.masked.gather.{code}.v{n}p0(<{n} x ptr> align {size} %g, {m} %m, {t} %c)\n"
                   f"  store {t} %q, ptr %po, align {size}\n  %h = getelementptr {e}, ptr %po, <{n} x i32> <{numbers}>\n"
                   f"  call void @llvm.masked.scatter.{code}.v{n}p0({t} %a, <{n} x ptr> align {size} %h, {m} %m)\n  %r = load {t}, ptr %po, align {size}", n=n,
                   declares=[f"declare {t} @llvm.masked.gather.{code}.v{n}p0(<{n} x ptr>, {m}, {t})", f"declare void @llvm.masked.scatter.{code}.v{n}p0({t}, <{n} x ptr>, {m})"])
        if e == "float":
            yield case(f"sum in order {t}", kind, e, f"  %s = extractelement {t} %b, i32 0\n  %r = call float @llvm.vector.reduce.fadd.{code}(float %s, {t} %a)", n=n, out_lanes=0,
                       declares=[f"declare float @llvm.vector.reduce.fadd.{code}(float, {t})"])
        elif e[0] == "i":
            for op in ["sdiv", "udiv", "srem", "urem"]:
                yield case(f"{op} {t}", kind, e, f"  %d = or {t} %b, splat ({e} 3)\n  %r = {op} {t} %a, %d", n=n)
        else:
            yield case(f"frem {t}", kind, e, f"  %r = frem {t} %a, %b", n=n)
    for e, kind in [("float", "s"), ("half", "s"), ("bfloat", "s")]:
        yield case(f"frem {e}", kind, e, f"  %r = frem {vec(e)} %a, %b")
    for op, operands in [("sin", 1), ("cos", 1), ("pow", 2)]:
        yield intrinsic(op, "s", "float", operands, ulp=3)
    yield intrinsic("sin", "s", "float", 1, n=64, ulp=3)
    for e, n in [("float", 32), ("i32", 64), ("half", 32), ("i8", 96)]:
        t, kind, code = vec(e, n), "i" if e[0] == "i" else "s", f"v{n}{CODE.get(e, e)}"
        size = {"float": 4, "i32": 4, "half": 2, "i8": 1}[e]
        mask = f"  %m = {'icmp slt' if e[0] == 'i' else 'fcmp olt'} {t} %a, %b\n"
        yield case(f"expanding load {t}", kind, e, mask + f"  %r = call {t} @llvm.masked.expandload.{code}(ptr align {size} %pc, <{n} x i1> %m, {t} %a)", n=n,
                   declares=[f"declare {t} @llvm.masked.expandload.{code}(ptr, <{n} x i1>, {t})"])
        yield case(f"compressing store {t}", kind, e, mask + f"  store {t} %c, ptr %po, align {size}\n  call void @llvm.masked.compressstore.{code}({t} %a, ptr align {size} %po, <{n} x i1> %m)\n"
                   f"  %r = load {t}, ptr %po, align {size}", n=n, declares=[f"declare void @llvm.masked.compressstore.{code}({t}, ptr, <{n} x i1>)"])
        yield case(f"unaligned {t}", kind, e, f"  %s = alloca [{n * size + 16} x i8], align 16\n  %u = getelementptr i8, ptr %s, i64 5\n  store {t} %a, ptr %u, align 1\n"
                   f"  %v = load {t}, ptr %u, align 1\n  %w = getelementptr i8, ptr %u, i64 {size}\n  store {t} %v, ptr %w, align 1\n  %r = load {t}, ptr %u, align 1", n=n)
    yield from packed_cases(case, intrinsic)
    yield case("constants", "i", "i32", f"  %r = add <32 x i32> %a, <{', '.join(f'i32 {(i * i * 37) % 1000 - 500}' for i in range(32))}>")
    yield case("float constants", "s", "float", f"  %r = fadd {f} %a, <{', '.join(f'float {i * i / 4.0:e}' for i in range(32))}>")
    yield case("affine", "i", "i32", "  %s = call <32 x i32> @llvm.stepvector.v32i32()\n  %x = mul <32 x i32> %s, splat (i32 12)\n  %y = add <32 x i32> %x, splat (i32 -7)\n  %r = add <32 x i32> %y, %a",
               declares=["declare <32 x i32> @llvm.stepvector.v32i32()"])
    yield case("lane mask", "i", "i32", "  %n = extractelement <32 x i32> %b, i32 0\n  %m = call <32 x i1> @llvm.get.active.lane.mask.v32i1.i32(i32 5, i32 %n)\n  %r = select <32 x i1> %m, <32 x i32> %a, <32 x i32> %c",
               declares=["declare <32 x i1> @llvm.get.active.lane.mask.v32i1.i32(i32, i32)"])
    masks = "  %x = icmp slt <32 x i32> %a, %b\n  %y = icmp slt <32 x i32> %b, %c\n"
    for name, text in {"and": "  %m = and <32 x i1> %x, %y\n", "or not": "  %z = xor <32 x i1> %y, splat (i1 true)\n  %m = or <32 x i1> %x, %z\n", "equal": "  %m = icmp eq <32 x i1> %x, %y\n",
                       "less": "  %m = icmp ult <32 x i1> %x, %y\n", "select": "  %z = icmp eq <32 x i32> %a, %c\n  %m = select <32 x i1> %z, <32 x i1> %x, <32 x i1> %y\n",
                       "shuffle": "  %m = shufflevector <32 x i1> %x, <32 x i1> %y, <32 x i32> <" + ", ".join(f"i32 {(i * 11 + 5) % 64}" for i in range(32)) + ">\n",
                       "lanes": "  %e = extractelement <32 x i1> %x, i32 4\n  %m = insertelement <32 x i1> %y, i1 %e, i32 31\n"}.items():
        yield case("mask " + name, "i", "i32", masks + text + "  %r = sext <32 x i1> %m to <32 x i32>")
    yield case("mask bits", "i", "i32", masks + "  %r = bitcast <32 x i1> %x to i32", out="i32", out_lanes=0)
    yield case("mask from bits", "i", "i32", "  %w = extractelement <32 x i32> %a, i32 3\n  %x = bitcast i32 %w to <32 x i1>\n  %r = zext <32 x i1> %x to <32 x i32>")
    for op in ["and", "or", "xor"]:
        yield case(f"reduce mask {op}", "i", "i32", masks + f"  %s = call i1 @llvm.vector.reduce.{op}.v32i1(<32 x i1> %x)\n  %r = zext i1 %s to i32", out_lanes=0,
                   declares=[f"declare i1 @llvm.vector.reduce.{op}.v32i1(<32 x i1>)"])
    yield case("64 lanes", "f", "float", "  %x = fmul <64 x float> %a, %b\n  %m = fcmp olt <64 x float> %x, %c\n  %r = select <64 x i1> %m, <64 x float> %x, <64 x float> %a", n=64)
    yield case("short vectors", "i", "i32", "  %x = mul <4 x i32> %a, %b\n  %r = add <4 x i32> %x, %c", n=4)
    yield case("odd vectors", "f", "float", "  %r = fadd <33 x float> %a, %b", n=33)
    yield case("doubles", "i", "i32", "  %x = sitofp <32 x i32> %a to <32 x double>\n  %y = fdiv <32 x double> %x, splat (double 3.0)\n  %r = fptosi <32 x double> %y to <32 x i32>")
    # More live values than registers: spills.
    text = ""
    for i in range(40):
        text += f"  %q{i} = getelementptr i8, ptr %pb, i32 {i * 4}\n  %v{i} = load {f}, ptr %q{i}, align 1\n  %m{i} = fcmp olt {f} %v{i}, %a\n  %w{i} = fmul {f} %v{i}, %a\n"
    acc = "%c"
    for i in reversed(range(40)):
        text += f"  %s{i} = select <32 x i1> %m{i}, {f} %w{i}, {f} %v{i}\n  %z{i} = fsub {f} {acc}, %s{i}\n"
        acc = f"%z{i}"
    yield case("spills of vectors and masks", "s", "float", text + f"  %r = fadd {f} {acc}, %a")


def packed_cases(case, intrinsic):
    """Whole registers of lanes of 8 and 16 bits, which have instructions of their own."""
    for e, n in [("i16", 64), ("i8", 128), ("i16", 128), ("i8", 256), ("i16", 96)]:
        t, m, bits = f"<{n} x {e}>", f"<{n} x i1>", int(e[1:])
        for op in ["add", "sub", "mul", "and", "or", "xor"]:
            yield case(f"{op} {t}", "i", e, f"  %r = {op} {t} %a, %b", n=n)
        for op in ["shl", "lshr", "ashr"]:
            yield case(f"{op} {t}", "i", e, f"  %n = and {t} %b, splat ({e} {bits - 1})\n  %r = {op} {t} %a, %n", n=n)
            yield case(f"{op} {t} by 3", "i", e, f"  %r = {op} {t} %a, splat ({e} 3)", n=n)
        for cc in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]:
            yield case(f"icmp {cc} {t}", "i", e, f"  %m = icmp {cc} {t} %a, %b\n  %r = select {m} %m, {t} %b, {t} %c", n=n)
            yield case(f"masks {cc} {t}", "i", e, f"  %x = icmp {cc} {t} %a, %b\n  %y = icmp slt {t} %b, %c\n  %z = xor {m} %y, splat (i1 true)\n  %u = and {m} %x, %z\n"
                       f"  %v = or {m} %z, %u\n  %w = xor {m} %v, %x\n  %q = xor {m} %w, splat (i1 true)\n  %s = sext {m} %q to {t}\n  %p = zext {m} %u to {t}\n"
                       f"  %o = and {m} %q, %z\n  %k = select {m} %o, {t} %s, {t} %c\n  %r = add {t} %k, %p", n=n)
        for op in ["smin", "smax", "umin", "umax", "sadd.sat", "uadd.sat", "ssub.sat", "usub.sat"]:
            yield intrinsic(op, "i", e, 2, n=n)
        yield case(f"abs {t}", "i", e, f"  %x = call {t} @llvm.abs.v{n}{e}({t} %a, i1 false)\n  %r = sub {t} %x, %b", n=n, declares=[f"declare {t} @llvm.abs.v{n}{e}({t}, i1)"])
        yield case(f"divided in between {t}", "i", e, f"  %x = add {t} %a, %b\n  %y = mul {t} %x, %x\n  %d = or {t} %c, splat ({e} 1)\n  %q = udiv {t} %y, %d\n  %z = xor {t} %q, %x\n  %r = sub {t} %z, %y", n=n)
        constants = ", ".join(f"{e} {(i * i * 37) % 200 - 100}" for i in range(n))
        yield case(f"constants {t}", "i", e, f"  %x = add {t} %a, <{constants}>\n  %r = mul {t} %x, %b", n=n)
        yield case(f"lanes {t}", "i", e, f"  %x = extractelement {t} %a, i32 {n - 3}\n  %y = insertelement {t} %b, {e} %x, i32 3\n  %z = mul {t} %y, %y\n  %r = add {t} %z, %c", n=n)
        yield case(f"lanes by number {t}", "i", e, f"  %w = add {t} %a, %b\n  %i = load i8, ptr %pc, align 1\n  %j = and i8 %i, 63\n  %x = extractelement {t} %w, i8 %j\n  %k = xor i8 %j, 9\n"
                   f"  %y = insertelement {t} %b, {e} %x, i8 %k\n  %z = mul {t} %y, %w\n  %r = add {t} %z, %c", n=n)
        yield case(f"splat {t}", "i", e, f"  %x = extractelement {t} %a, i32 5\n  %y = insertelement {t} poison, {e} %x, i32 0\n  %s = shufflevector {t} %y, {t} poison, <{n} x i32> zeroinitializer\n"
                   f"  %z = mul {t} %s, %b\n  %r = add {t} %z, %c", n=n)
        yield case(f"select {t} by a scalar", "i", e, f"  %i = load i8, ptr %pc, align 1\n  %j = trunc i8 %i to i1\n  %x = add {t} %a, %b\n  %y = sub {t} %a, %b\n  %z = select i1 %j, {t} %x, {t} %y\n  %f = freeze {t} %z\n  %r = xor {t} %f, %c", n=n)
        yield case(f"sum of a loop {t}", "i", e, f"  br label %loop\nloop:\n  %i = phi i64 [ 0, %0 ], [ %j, %loop ]\n  %s = phi {t} [ %a, %0 ], [ %v, %loop ]\n  %l = phi {t} [ splat ({e} 7), %0 ], [ %s, %loop ]\n"
                   f"  %q = getelementptr i8, ptr %pb, i64 %i\n  %x = load {t}, ptr %q, align {bits // 8}\n  %y = mul {t} %x, %l\n  %v = add {t} %s, %y\n  %j = add i64 %i, {bits // 8}\n  %d = icmp eq i64 %j, {bits}\n"
                   f"  br i1 %d, label %out, label %loop\nout:\n  %r = xor {t} %v, %l", n=n)
        wide = f"<{n} x i32>"
        for op in ["sext", "zext"]:
            yield case(f"{op} after add {t}", "i", e, f"  %x = add {t} %a, %b\n  %y = mul {t} %x, %c\n  %w = {op} {t} %y to {wide}\n  %h = lshr {wide} %w, splat (i32 {bits - 3})\n  %k = trunc {wide} %h to {t}\n  %r = add {t} %k, %x", n=n)
        for name, lanes in {"reverse": [n - 1 - i for i in range(n)], "slide": [i + 5 for i in range(n)], "rotate": [(i + 9) % n for i in range(n)], "zip": [i // 2 + n * (i % 2) for i in range(n)],
                            "zip the upper": [n // 2 + i // 2 + n * (i % 2) for i in range(n)], "even": [2 * i for i in range(n)], "odd": [2 * i + 1 for i in range(n)], "any": [(i * 7 + 3) % (2 * n) for i in range(n)],
                            "every third": [i * 3 % n for i in range(n)], "one": [n // 2 + 1] * n, "double": [i // 2 for i in range(n)], "the second": [i + n for i in range(n)], "halves": [(i + n // 2) % n for i in range(n)],
                            "some poison": [-1 if i % 5 == 2 else n - 1 - i for i in range(n)]}.items():
            text = ", ".join(f"i32 {i if i >= 0 else 'poison'}" for i in lanes)
            known = f"  %g = select {m} <{', '.join(f'i1 {int(i >= 0)}' for i in lanes)}>, {t} %s, {t} %c\n" if -1 in lanes else f"  %g = freeze {t} %s\n"
            yield case(f"{name} {t}", "i", e, f"  %x = mul {t} %a, %c\n  %y = mul {t} %b, %c\n  %s = shufflevector {t} %x, {t} %y, <{n} x i32> <{text}>\n{known}  %r = add {t} %g, %x", n=n)
        for op in ["sitofp", "uitofp"]:
            yield case(f"{op} {t}", "i", e, f"  %x = add {t} %a, %b\n  %y = mul {t} %x, %c\n  %r = {op} {t} %y to <{n} x float>", out="float", n=n)
    for n in [128, 256]:
        yield case(f"i8 through i16, {n} lanes", "i", "i8", f"  %s = add <{n} x i8> %a, %b\n  %x = zext <{n} x i8> %s to <{n} x i16>\n  %y = sext <{n} x i8> %c to <{n} x i16>\n  %z = mul <{n} x i16> %x, %y\n"
                   f"  %h = lshr <{n} x i16> %z, splat (i16 5)\n  %k = trunc <{n} x i16> %h to <{n} x i8>\n  %r = xor <{n} x i8> %k, %s", n=n)
    for e, n in [("i16", 64), ("i8", 128), ("i16", 128)]:
        t, m, bits = f"<{n} x {e}>", f"<{n} x i1>", int(e[1:])
        for w in ["i16", "i32"] if e == "i8" else ["i32", "i64"]:
            wide = f"<{n} x {w}>"
            for ext in ["sext", "zext"]:
                for shift in ["lshr", "ashr"]:
                    widen = f"  %s = add {t} %a, %c\n  %x = {ext} {t} %s to {wide}\n  %y = {ext} {t} %b to {wide}\n"
                    end = f"  %k = trunc {wide} %h to {t}\n  %l = xor {t} %k, %c\n  %r = sub {t} %l, %b"
                    yield case(f"average {ext} {shift} {t} in {w}", "i", e, f"{widen}  %p = add {wide} %x, %y\n  %q = add {wide} %p, splat ({w} 1)\n  %h = {shift} {wide} %q, splat ({w} 1)\n{end}", n=n)
                    yield case(f"average, otherwise, {ext} {shift} {t} in {w}", "i", e, f"{widen}  %p = add {wide} %x, splat ({w} 1)\n  %q = add {wide} %y, %p\n  %h = {shift} {wide} %q, splat ({w} 1)\n{end}", n=n)
                    yield case(f"high half {ext} {shift} {t} in {w}", "i", e, f"{widen}  %p = mul {wide} %x, %y\n  %h = {shift} {wide} %p, splat ({w} {bits})\n{end}", n=n)
                    yield case(f"high half of a square {ext} {shift} {t} in {w}", "i", e, f"{widen}  %p = mul {wide} %x, %x\n  %h = {shift} {wide} %p, splat ({w} {bits})\n{end}", n=n)
                    yield case(f"high half by a constant {ext} {shift} {t} in {w}", "i", e, f"{widen}  %p = mul {wide} %x, splat ({w} {100 if bits == 8 else 20000})\n  %h = {shift} {wide} %p, splat ({w} {bits})\n{end}", n=n)
                    yield case(f"high half by too large a constant {ext} {shift} {t} in {w}", "i", e, f"{widen}  %p = mul {wide} %x, splat ({w} {200 if bits == 8 else 40000})\n  %h = {shift} {wide} %p, splat ({w} {bits})\n{end}", n=n)
                    yield case(f"high half, used twice, {ext} {shift} {t} in {w}", "i", e, f"{widen}  %p = mul {wide} %x, %y\n  %h = {shift} {wide} %p, splat ({w} {bits})\n  %k = trunc {wide} %h to {t}\n  %u = add {wide} %h, %x\n  %v = trunc {wide} %u to {t}\n  %l = xor {t} %k, %v\n  %r = sub {t} %l, %s", n=n)
            yield case(f"high half of different signs {t} in {w}", "i", e, f"  %s = add {t} %a, %c\n  %x = sext {t} %s to {wide}\n  %y = zext {t} %b to {wide}\n  %p = mul {wide} %x, %y\n  %h = lshr {wide} %p, splat ({w} {bits})\n  %k = trunc {wide} %h to {t}\n  %r = xor {t} %k, %c", n=n)
        masks = f"  %x = icmp slt {t} %a, %b\n  %y = icmp ult {t} %b, %c\n  %z = xor {m} %y, splat (i1 true)\n"
        for name, last in {"and": f"  %m = and {m} %x, %z\n", "not": f"  %m = xor {m} %x, splat (i1 true)\n"}.items():
            cut = "".join(f"  %w{k} = lshr i{n} %b0, {64 * k}\n  %t{k} = trunc i{n} %w{k} to i64\n" for k in range(n // 64)) if n > 64 else "  %t0 = or i64 %b0, 0\n"
            join = f"  %e = mul i64 %t0, 3\n  %r = xor i64 %e, %t{n // 64 - 1}"
            yield case(f"bits of a mask, {name}, {t}", "i", e, masks + last + f"  %b0 = bitcast {m} %m to i{n}\n{cut}{join}", out="i64", out_lanes=0, n=n)
        yield case(f"any lane of {t}", "i", e, masks + f"  %m = and {m} %x, %z\n  %b0 = bitcast {m} %m to i{n}\n  %any = icmp ne i{n} %b0, 0\n  %r = select i1 %any, {t} %a, {t} %c", n=n)
    for k in [0, 1]:
        yield case(f"half {k} of 128 lanes of 16 bits, twice", "i", "i16", "  %s = mul <128 x i16> %a, %b\n  %h = shufflevector <128 x i16> %s, <128 x i16> poison, <64 x i32> <" + ", ".join(f"i32 {64 * k + i}" for i in range(64)) + ">\n"
                   "  %t = add <64 x i16> %h, splat (i16 3)\n  %r = shufflevector <64 x i16> %t, <64 x i16> %h, <128 x i32> <" + ", ".join(f"i32 {i}" for i in range(128)) + ">", n=128)
    yield case("bits of i16 as bytes, words and bf16", "i", "i16", "  %x = add <64 x i16> %a, %b\n  %y = bitcast <64 x i16> %x to <128 x i8>\n  %z = mul <128 x i8> %y, %y\n  %u = bitcast <128 x i8> %z to <32 x i32>\n"
               "  %v = mul <32 x i32> %u, splat (i32 77777)\n  %w = bitcast <32 x i32> %v to <16 x i64>\n  %k = bitcast <16 x i64> %w to <64 x i16>\n  %r = sub <64 x i16> %k, %x", n=64)
    for e in ["half", "bfloat"]:
        for n in [64, 128]:
            t, m, c = f"<{n} x {e}>", f"<{n} x i1>", f"v{n}{CODE[e]}"
            for op in ["fadd", "fsub", "fmul", "fdiv"]:
                yield case(f"{op} {t}", "h", e, f"  %r = {op} {t} %a, %b", n=n)
            yield case(f"fneg {t}", "h", e, f"  %x = fneg {t} %a\n  %r = fadd {t} %x, %b", n=n)
            for op in ["minimum", "maximum", "minimumnum", "maximumnum", "copysign"]:
                yield intrinsic(op, "h", e, 2, n=n)
            yield intrinsic("sqrt", "h", e, 1, n=n)
            yield intrinsic("fabs", "h", e, 1, n=n)
            for cc in ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "uno", "ueq", "ugt", "uge", "ult", "ule", "une"]:
                yield case(f"fcmp {cc} {t}", "h", e, f"  %m = fcmp {cc} {t} %a, %b\n  %r = select {m} %m, {t} %b, {t} %c", n=n)
            yield case(f"rounded in between {t}", "h", e, f"  %x = fadd {t} %a, %b\n  %y = fmul {t} %x, %c\n  %f = call {t} @llvm.floor.{c}({t} %y)\n  %z = fsub {t} %f, %x\n  %r = fmul {t} %z, %y", n=n,
                       declares=[f"declare {t} @llvm.floor.{c}({t})"])
            yield case(f"through float {t}", "h", e, f"  %x = fsub {t} %a, %b\n  %y = fadd {t} %x, %c\n  %w = fpext {t} %y to <{n} x float>\n  %v = fmul <{n} x float> %w, splat (float 0x3FF2000000000000)\n"
                       f"  %h = fptrunc <{n} x float> %v to {t}\n  %z = fadd {t} %h, %y\n  %r = fsub {t} %z, %x", n=n)
            yield case(f"bits {t}", "h", e, f"  %s = fadd {t} %a, %b\n  %x = bitcast {t} %s to <{n} x i16>\n  %y = and <{n} x i16> %x, splat (i16 -2)\n  %w = bitcast <{n} x i16> %y to {t}\n  %r = fmul {t} %w, %c", n=n)
            yield case(f"all bits {t}", "h", e, f"  %x = bitcast {t} %a to <{n // 4} x i64>\n  %y = bitcast {t} %b to <{n // 4} x i64>\n  %r = xor <{n // 4} x i64> %x, %y", out="i64", out_lanes=n // 4, n=n)
            yield case(f"a bit {t}", "h", e, f"  %x = bitcast {t} %a to <{16 * n} x i1>\n  %y = extractelement <{16 * n} x i1> %x, i32 33\n  %m = select i1 %y, {t} %b, {t} %c\n  %r = fadd {t} %m, %m", n=n)
            if n == 64:
                yield case(f"bits as a mask {t}", "h", e, f"  %x = bitcast {t} %a to <{16 * n} x i1>\n  %y = shufflevector <{16 * n} x i1> %x, <{16 * n} x i1> poison, {f'<{n} x i32>'} <{', '.join(f'i32 {16 * i + 5}' for i in range(n))}>\n"
                           f"  %m = select {m} %y, {t} %b, {t} %c\n  %r = fadd {t} %m, %b", n=n)
            yield case(f"lanes {t}", "h", e, f"  %s = fadd {t} %a, %b\n  %x = extractelement {t} %s, i32 {n - 7}\n  %y = insertelement {t} %s, {e} %x, i32 3\n  %r = fmul {t} %y, %c", n=n)


def random_packed_case(seed):
    """Random operations on 64 lanes of 16 bits and 128 of 8, in blocks with a branch and a loop, some of which have no packed instruction."""
    rng = random.Random(seed)
    e, n = rng.choice([("i16", 64), ("i8", 128), ("i16", 128), ("i8", 256), ("half", 64), ("bfloat", 64), ("half", 128)])
    real = e in CODE
    bits, t, m, c = 16 if real else int(e[1:]), f"<{n} x {e}>", f"<{n} x i1>", f"v{n}{CODE.get(e, e)}"
    text = "".join(f"  %{v} = load {t}, ptr %p{v}, align {rng.choice([1, bits // 8])}\n" for v in "abc") + f"  %q = {'fcmp olt' if real else 'icmp slt'} {t} %a, %b\n"
    pool, masks, declares = ["%a", "%b", "%c"], ["%q"], set()

    def operation(k):
        x, y, z = (rng.choice(pool[-6:]) for _ in range(3))
        name = rng.choice(["smin", "umax", "umin", "smax", "uadd.sat", "ssub.sat", "usub.sat", "sadd.sat", "ctpop", "bitreverse"])
        arguments = [t] if name in ("ctpop", "bitreverse") else [t, t]
        choice = rng.randrange(10)
        if choice == 9:
            last = rng.choice(masks)
            return f"  %b{k} = bitcast {m} {last} to i{n}\n  %n{k} = icmp {rng.choice(['ne', 'ugt', 'eq'])} i{n} %b{k}, {rng.choice([0, 5, -1])}\n  %v{k} = select i1 %n{k}, {t} {x}, {t} {y}\n"
        if real and choice < 4:
            number = rng.choice([y, f"splat ({e} {rng.choice(['0xH3C00', '0xHC500', '0xH0001'] if e == 'half' else ['0xR3F80', '0xRC0A0', '0xR0001'])})"])
            return f"  %v{k} = {rng.choice(['fadd', 'fsub', 'fmul', 'fdiv'])} {t} {x}, {number}\n"
        if real and choice in (4, 5):
            name, count = rng.choice([("minimum", 2), ("maximum", 2), ("minimumnum", 2), ("maximumnum", 2), ("fneg", 1), ("fabs", 1), ("sqrt", 1), ("floor", 1), ("rint", 1)])
            if name == "fneg":
                return f"  %v{k} = fneg {t} {x}\n"
            declares.add(f"declare {t} @llvm.{name}.{c}({', '.join([t] * count)})")
            return f"  %v{k} = call {t} @llvm.{name}.{c}({', '.join(f'{t} {o}' for o in (x, y)[:count])})\n"
        if choice < 4:
            return f"  %v{k} = {rng.choice(['add', 'sub', 'mul', 'and', 'or', 'xor'])} {t} {x}, {rng.choice([y, f'splat ({e} {rng.randrange(-100, 100)})'])}\n"
        if choice == 4:
            return f"  %v{k} = {rng.choice(['shl', 'lshr', 'ashr'])} {t} {x}, splat ({e} {rng.randrange(bits)})\n"
        if choice == 5:
            declares.add(f"declare {t} @llvm.{name}.v{n}{e}({', '.join(arguments)})")
            return f"  %v{k} = call {t} @llvm.{name}.v{n}{e}({', '.join(f'{a} {o}' for a, o in zip(arguments, (x, y)))})\n"
        if choice == 6:
            masks.append(f"%m{k}")
            compare = f"fcmp {rng.choice(['olt', 'uge', 'one', 'ueq', 'ord', 'une', 'ogt'])}" if real else f"icmp {rng.choice(['ult', 'sge', 'eq', 'ne', 'sgt'])}"
            new = rng.choice([f"{compare} {t} {x}, {y}", f"{rng.choice(['and', 'or', 'xor'])} {m} {masks[-2]}, {rng.choice(masks[:-1])}", f"xor {m} {masks[-2]}, splat (i1 true)"])
            return f"  %m{k} = {new}\n  %v{k} = select {m} %m{k}, {t} {x}, {t} {z}\n"
        if choice == 7 and real:
            return f"  %w{k} = fpext {t} {x} to <{n} x float>\n  %u{k} = fmul <{n} x float> %w{k}, splat (float 1.5)\n  %v{k} = fptrunc <{n} x float> %u{k} to {t}\n"
        if choice == 7:
            return f"  %v{k} = {rng.choice(['sext', 'zext'])} {m} {rng.choice(masks)} to {t}\n"
        lanes = ", ".join(f"i32 {rng.randrange(2 * n)}" for _ in range(n))
        at, step = rng.randrange(n), rng.choice([1, -1, 2])
        lanes = rng.choice([lanes, ", ".join(f"i32 {(at + i * step) % n}" for i in range(n))])
        return rng.choice([f"  %x{k} = extractelement {t} {x}, i32 {rng.randrange(n)}\n  %v{k} = insertelement {t} {y}, {e} %x{k}, i32 {rng.randrange(n)}\n",
                           f"  %v{k} = shufflevector {t} {x}, {t} {y}, <{n} x i32> <{lanes}>\n", f"  %v{k} = select i1 %bit, {t} {x}, {t} {y}\n"])

    def operations(first, count):
        nonlocal text
        for k in range(first, first + count):
            text += operation(k)
            pool.append(f"%v{k}")

    text += "  %byte = load i8, ptr %pc, align 1\n  %bit = trunc i8 %byte to i1\n"
    operations(0, rng.randrange(3, 12))
    before, known, start = pool[-1], len(masks), rng.choice([pool[-2], pool[-3] if real else f"splat ({e} 5)"])
    text += f"  br i1 %bit, label %loop, label %join\nloop:\n  %i = phi i32 [ 0, %0 ], [ %j, %loop ]\n  %s = phi {t} [ {start}, %0 ], [ %last, %loop ]\n"
    outside = len(pool)
    pool.append("%s")
    operations(100, rng.randrange(3, 12))
    text += f"  %last = {'fadd' if real else 'add'} {t} {pool[-1]}, %s\n  %j = add i32 %i, 1\n  %d = icmp eq i32 %j, 3\n  br i1 %d, label %join, label %loop\njoin:\n  %w = phi {t} [ {before}, %0 ], [ %last, %loop ]\n"
    del pool[outside:], masks[known:]
    pool.append("%w")
    operations(200, rng.randrange(3, 12))
    text += f"  %r = {'fmul' if real else 'xor'} {t} {pool[-1]}, {pool[-2]}\n  store {t} %r, ptr %po, align {bits // 8}\n"
    return Case(f"random packed {seed}", "h" if real else "i", e, n, text, declares=sorted(declares))


def random_case(seed):
    """Some 40 random operations on 32 lanes; what NaNs look like inside (their bits) is never looked at."""
    rng = random.Random(seed)
    f, i, h, m = "<32 x float>", "<32 x i32>", "<32 x half>", "<32 x i1>"
    code = {f: "v32f32", i: "v32i32", h: "v32f16"}
    pool = {f: ["%a", "%b"], i: ["%c", "%k"], h: ["%g"], m: ["%q"]}
    text = [f"  %a = load {f}, ptr %pa, align 1", f"  %b = load {f}, ptr %pb, align 1", f"  %c = load {i}, ptr %pc, align 1", "  %k1 = getelementptr i8, ptr %pa, i32 256",
            "  %k2 = getelementptr i8, ptr %pc, i32 128", f"  %k = load {i}, ptr %k2, align 1", f"  %g = load {h}, ptr %k1, align 1", f"  %q = icmp slt {i} %c, %k"]
    declares = set()

    def pick(t):
        return rng.choice(pool[t][-6:]) if rng.random() < 0.8 else rng.choice(pool[t])

    def call(result, name, types, operands, extra=""):
        declares.add(f"declare {result} @llvm.{name}({', '.join(types)}{extra and ', i1'})")
        return f"call {result} @llvm.{name}({', '.join(f'{t} {o}' for t, o in zip(types, operands))}{extra})"

    for n in range(rng.randrange(25, 60)):
        t = rng.choice([f, f, f, i, i, h, m])
        x, y, z = pick(t), pick(t), pick(t)
        lanes = ", ".join(f"i32 {rng.randrange(64)}" for _ in range(32))
        if t == m:
            e = rng.choice([f"{rng.choice(['and', 'or', 'xor'])} {m} {x}, {y}", f"select {m} {z}, {m} {x}, {m} {y}", f"icmp {rng.choice(['ult', 'sge', 'eq', 'ne', 'ule'])} {m} {x}, {y}",
                            f"shufflevector {m} {x}, {m} {y}, <32 x i32> <{lanes}>", f"icmp {rng.choice(['slt', 'ugt', 'eq', 'sle', 'uge'])} {i} {pick(i)}, {pick(i)}",
                            f"fcmp {rng.choice(['olt', 'uge', 'one', 'ueq', 'ord', 'une', 'ogt'])} {f} {pick(f)}, {pick(f)}", f"trunc {i} {pick(i)} to {m}", f"fcmp ole {h} {pick(h)}, {pick(h)}"])
        elif t == i:
            small = f"splat (i32 {rng.randrange(32)})"
            e = rng.choice([f"{rng.choice(['add', 'sub', 'mul', 'and', 'or', 'xor'])} {i} {x}, {y}", f"{rng.choice(['shl', 'lshr', 'ashr'])} {i} {x}, {small}", f"select {m} {pick(m)}, {i} {x}, {i} {y}",
                            call(i, rng.choice(["smin", "umax", "umin", "smax", "uadd.sat", "ssub.sat"]) + ".v32i32", [i, i], [x, y]), call(i, "fptosi.sat.v32i32.v32f32", [f], [pick(f)]),
                            f"shufflevector {i} {x}, {i} {y}, <32 x i32> <{lanes}>", f"{rng.choice(['sext', 'zext'])} {m} {pick(m)} to {i}", f"add {i} {x}, {small}"])
        elif t == h:
            e = rng.choice([f"fptrunc {f} {pick(f)} to {h}", f"{rng.choice(['fadd', 'fmul', 'fsub'])} {h} {x}, {y}", f"select {m} {pick(m)}, {h} {x}, {h} {y}", f"shufflevector {h} {x}, {h} {y}, <32 x i32> <{lanes}>"])
        else:
            e = rng.choice([f"{rng.choice(['fadd', 'fsub', 'fmul', 'fdiv'])} {f} {x}, {y}", call(f, "fma.v32f32", [f] * 3, [x, y, z]), call(f, rng.choice(["minimum", "maximum"]) + ".v32f32", [f, f], [x, y]),
                            f"select {m} {pick(m)}, {f} {x}, {f} {y}", f"fpext {h} {pick(h)} to {f}", f"sitofp {i} %o{n} to {f}", f"uitofp {i} %o{n} to {f}",
                            call(f, rng.choice(["floor", "ceil", "trunc", "rint", "fabs", "sqrt"]) + ".v32f32", [f], [x]), f"shufflevector {f} {x}, {f} {y}, <32 x i32> <{lanes}>", f"fneg {f} {x}"])
        # Bits known to be zero make LLVM 22 take a conversion to f16 for exact that overflows: fpext(fptrunc(uitofp(x << 23))) becomes uitofp(x << 23).
        if f"%o{n} " in e:
            text.append(f"  %o{n} = or {i} {pick(i)}, %c")
        text.append(f"  %v{n} = {e}")
        pool[t].append(f"%v{n}")
    # All that is still alive, into one float.
    text.append(f"  %i1 = xor {i} {pool[i][-1]}, {pool[i][-2]}\n  %i2 = sitofp {i} %i1 to {f}\n  %h1 = fpext {h} {pool[h][-1]} to {f}\n"
                f"  %s1 = select {m} {pool[m][-1]}, {f} %i2, {f} {pool[f][-2]}\n  %s2 = fadd {f} %s1, %h1\n  %r = fmul {f} %s2, {pool[f][-1]}\n  store {f} %r, ptr %po, align 1\n")
    return Case(f"random {seed}", "f", "float", 32, "\n".join(text), declares=sorted(declares))


def decode(data, element, lanes):
    raw = bytes.fromhex(data)
    body, guard = raw[:-4], raw[-4:]
    kind = {"float": np.float32, "half": np.float16, "i64": np.uint64, "i32": np.uint32, "i16": np.uint16, "i8": np.uint8, "bfloat": np.uint16}[element]
    values = np.frombuffer(body, kind)
    if element == "bfloat":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return values, guard


def ulps(a, b):
    def order(x):
        i = x.view(np.int32).astype(np.int64)
        return np.where(i < 0, -(i & 0x7FFFFFFF), i)
    return np.abs(order(a) - order(b))


def build(all_cases, folder):
    module, declares = [], {}
    for i, c in enumerate(all_cases):
        module.append(f"; {c.name}\ndefine void @f{i}(ptr %pa, ptr %pb, ptr %pc, ptr %po) {{\n{c.body}  ret void\n}}")
        declares.update({d: 1 for d in c.declares})
    (folder / "vectors.ll").write_text("\n".join([*declares, *module]))
    names = [f"f{i}" for i in range(len(all_cases))]
    driver = DRIVER % (len(all_cases), "".join(f"extern function {n};\n" for n in names), ", ".join(names), "".join(c.kind for c in all_cases),
                       ", ".join(str(c.bytes) for c in all_cases))
    (folder / "driver.c").write_text(driver)


def output(command, folder):
    r = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, timeout=300)
    assert r.returncode == 0, f"{command[0]} failed: {r.stderr[:2000]}"
    return r.stdout.split("\n")


def compare(all_cases, tmp_path, level):
    """What is wrong, a line a case; empty if nothing is."""
    build(all_cases, tmp_path)
    output([CLANG, "-O1", "-w", "-ffp-contract=off", "-march=x86-64-v3", "--rtlib=compiler-rt", "driver.c", "vectors.ll", "-o", "host", "-lm"], tmp_path)
    output([BIN / "dougong-cc", level, "-w", "driver.c", "vectors.ll", "-mllvm", "-verify-machineinstrs", "-o", "core.elf"], tmp_path)
    expected, got = output(["./host"], tmp_path), output([BIN / "dougong", "sim", "core.elf"], tmp_path)
    wrong = []
    for i, c in enumerate(all_cases):
        for round in range(3):
            e, guard = decode(expected[3 * i + round], c.element, c.lanes)
            g, guard2 = decode(got[3 * i + round], c.element, c.lanes)
            both_nan = np.isnan(e) & np.isnan(g) if e.dtype.kind == "f" else np.zeros(e.shape, bool)
            bad = ulps(e, g) > c.ulp if c.ulp else e.view(f"u{e.itemsize}") != g.view(f"u{g.itemsize}")
            bad &= ~both_nan
            if bad.any() or guard != guard2:
                lane = int(np.argmax(bad))
                wrong.append(f"{c.name}, round {round}: {int(bad.sum())} lanes differ, lane {lane}: host {e[lane]}, core {g[lane]}" if bad.any() else f"{c.name}: writes beyond its result")
                break
    return wrong


@pytest.mark.parametrize("level", ["-O2", "-O0"])
def test_vector_code_computes_what_the_host_computes(tmp_path, level):
    all_cases = list(cases())
    wrong = compare(all_cases, tmp_path, level)
    assert not wrong, f"{len(wrong)} of {len(all_cases)} operations\n" + "\n".join(wrong)


@pytest.mark.parametrize("level", ["-O2", "-O0"])
def test_random_vector_code_computes_what_the_host_computes(tmp_path, level):
    count = 400 if os.environ.get("DOUGONG_LONG") else 60
    all_cases = [random_case(seed) for seed in range(count)] + [random_packed_case(seed) for seed in range(count)]
    wrong = compare(all_cases, tmp_path, level)
    assert not wrong, f"{len(wrong)} of {len(all_cases)} random functions\n" + "\n".join(wrong)
