"""What vector operations cost that generic legalisation would take apart: instructions that dougong-llc -O2 writes, loads and stores of the operands included.

The list is the one of the first prototype (hundreds to thousands of instructions each). None may take more than 4 a lane; the common ones at most 16 a register of 32 lanes.
Counted is the text: calls of the C library, one a lane, count as what stands there, and are named in `CALLS`.
"""
import math
import os
import re
import subprocess
from pathlib import Path

import pytest

LLC = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parents[2] / "build")) / "bin/dougong-llc"
CODE = {"half": "f16", "bfloat": "bf16", "float": "f32"}
INTEGERS, FLOATS = ["i8", "i16", "i32"], ["half", "bfloat", "float"]
LANES = [32, 64, 128]


def bits(e):
    return {"half": 16, "bfloat": 16, "float": 32}.get(e) or int(e[1:])


def vector(n, e):
    return f"<{n} x {e}>"


def unary(t, out, expression, *declares, before=""):
    return f"define void @f(ptr %p, ptr %o) {{\n  %a = load {t}, ptr %p\n{before}  %r = {expression}\n  store {out}, ptr %o\n  ret void\n}}\n".replace(f"store {out},", f"store {out} %r,") + "\n".join(f"declare {d}" for d in declares)


def binary(t, out, expression, *declares):
    return unary(t, out, expression, *declares, before=f"  %q = getelementptr i8, ptr %p, i64 4096\n  %b = load {t}, ptr %q\n")


def operations():
    """(name, lanes, bound in instructions a lane or a register, IR)."""
    for n in LANES:
        for e in INTEGERS + FLOATS:
            t, m, c = vector(n, e), vector(n, "i1"), f"v{n}{CODE.get(e, e)}"
            size = max(1, bits(e) // 8)
            yield "unaligned load, store", n, 16, f"define void @f(ptr %p, ptr %o) {{\n  %a = load {t}, ptr %p, align {size}\n  store {t} %a, ptr %o, align {size}\n  ret void\n}}"
            yield "load, store of unaligned elements", n, None, f"define void @f(ptr %p, ptr %o) {{\n  %a = load {t}, ptr %p, align 1\n  store {t} %a, ptr %o, align 1\n  ret void\n}}"
            mask = f"  %m = call {m} @llvm.get.active.lane.mask.v{n}i1.i32(i32 %k, i32 %l)\n"
            d = f"{m} @llvm.get.active.lane.mask.v{n}i1.i32(i32, i32)"
            yield "active lane mask", n, 16, (f"define void @f(ptr %p, ptr %o, i32 %k, i32 %l) {{\n{mask}  %a = load {t}, ptr %p\n  %r = select {m} %m, {t} %a, {t} zeroinitializer\n"
                                              f"  store {t} %r, ptr %o\n  ret void\n}}\ndeclare {d}")
            yield "masked load, store", n, 16, (f"define void @f(ptr %p, ptr %o, i32 %k, i32 %l) {{\n{mask}  %a = call {t} @llvm.masked.load.{c}.p0(ptr align {size} %p, {m} %m, {t} zeroinitializer)\n"
                                                f"  call void @llvm.masked.store.{c}.p0({t} %a, ptr align {size} %o, {m} %m)\n  ret void\n}}\ndeclare {d}\n"
                                                f"declare {t} @llvm.masked.load.{c}.p0(ptr, {m}, {t})\ndeclare void @llvm.masked.store.{c}.p0({t}, ptr, {m})")
            yield "gather", n, 16 if bits(e) == 32 else None, (
                f"define void @f(ptr %p, ptr %o, ptr %x) {{\n  %i = load <{n} x i32>, ptr %x\n  %g = getelementptr {e}, ptr %p, <{n} x i32> %i\n"
                f"  %r = call {t} @llvm.masked.gather.{c}.v{n}p0(<{n} x ptr> align {size} %g, {m} splat (i1 true), {t} poison)\n  store {t} %r, ptr %o\n  ret void\n}}\n"
                f"declare {t} @llvm.masked.gather.{c}.v{n}p0(<{n} x ptr>, {m}, {t})")
            yield "scatter", n, None, (
                f"define void @f(ptr %p, ptr %o, ptr %x) {{\n  %i = load <{n} x i32>, ptr %x\n  %g = getelementptr {e}, ptr %o, <{n} x i32> %i\n  %r = load {t}, ptr %p\n"
                f"  call void @llvm.masked.scatter.{c}.v{n}p0({t} %r, <{n} x ptr> align {size} %g, {m} splat (i1 true))\n  ret void\n}}\n"
                f"declare void @llvm.masked.scatter.{c}.v{n}p0({t}, <{n} x ptr>, {m})")
            compare = f"  %m = {'icmp slt' if e in INTEGERS else 'fcmp olt'} {t} %a, {t.replace(t, '')}zeroinitializer\n"
            yield "expanding load", n, None, (f"define void @f(ptr %p, ptr %o, ptr %s) {{\n  %a = load {t}, ptr %p\n{compare}  %r = call {t} @llvm.masked.expandload.{c}(ptr align {size} %s, {m} %m, {t} %a)\n"
                                              f"  store {t} %r, ptr %o\n  ret void\n}}\ndeclare {t} @llvm.masked.expandload.{c}(ptr, {m}, {t})")
            yield "compressing store", n, None, (f"define void @f(ptr %p, ptr %o) {{\n  %a = load {t}, ptr %p\n{compare}  call void @llvm.masked.compressstore.{c}({t} %a, ptr align {size} %o, {m} %m)\n"
                                                 f"  ret void\n}}\ndeclare void @llvm.masked.compressstore.{c}({t}, ptr, {m})")
        for e in INTEGERS:
            t, c = vector(n, e), f"v{n}{e}"
            for op in ["sdiv", "udiv", "srem", "urem"]:
                yield "integer division", n, None, binary(t, t, f"{op} {t} %a, %b")
            for op in ["uadd", "sadd", "usub", "ssub"]:
                yield "saturating arithmetic", n, None, binary(t, t, f"call {t} @llvm.{op}.sat.{c}({t} %a, {t} %b)", f"{t} @llvm.{op}.sat.{c}({t}, {t})")
            for op in ["umul", "smul"]:
                pair = f"{{ {t}, <{n} x i1> }}"
                yield "multiplication with overflow", n, None, (
                    f"define void @f(ptr %p, ptr %o) {{\n  %a = load {t}, ptr %p\n  %q = getelementptr i8, ptr %p, i64 4096\n  %b = load {t}, ptr %q\n  %x = call {pair} @llvm.{op}.with.overflow.{c}({t} %a, {t} %b)\n"
                    f"  %y = extractvalue {pair} %x, 0\n  %z = extractvalue {pair} %x, 1\n  %r = select <{n} x i1> %z, {t} splat ({e} -1), {t} %y\n  store {t} %r, ptr %o\n  ret void\n}}\n"
                    f"declare {pair} @llvm.{op}.with.overflow.{c}({t}, {t})")
            for to in INTEGERS:
                if bits(to) < bits(e):
                    yield "narrowing", n, 16, unary(t, vector(n, to), f"trunc {t} %a to {vector(n, to)}")
            for f in FLOATS:
                for op in ["sitofp", "uitofp"]:
                    yield "i8, u8 to float" if e == "i8" else "integer to float", n, 16 if e == "i8" else None, unary(t, vector(n, f), f"{op} {t} %a to {vector(n, f)}")
                for op in ["fptosi", "fptoui"]:
                    yield "float to integer", n, 16, unary(vector(n, f), t, f"{op} {vector(n, f)} %a to {t}")
                    yield "saturating conversion", n, 16, unary(vector(n, f), t, f"call {t} @llvm.{op}.sat.{c}.v{n}{CODE[f]}({vector(n, f)} %a)", f"{t} @llvm.{op}.sat.{c}.v{n}{CODE[f]}({vector(n, f)})")
        for f in FLOATS:
            t, c = vector(n, f), f"v{n}{CODE[f]}"
            if f != "float":
                yield "narrowing", n, 16, unary(vector(n, "float"), t, f"fptrunc {vector(n, 'float')} %a to {t}")
                yield "widening", n, 16, unary(t, vector(n, "float"), f"fpext {t} %a to {vector(n, 'float')}")
            yield "frem", n, None, binary(t, t, f"frem {t} %a, %b")
            for op in ["exp", "exp2", "log", "log2", "log10", "exp10", "sin", "cos", "tan", "tanh", "round", "roundeven", "rint", "floor", "sqrt"]:
                yield op, n, None, unary(t, t, f"call {t} @llvm.{op}.{c}({t} %a)", f"{t} @llvm.{op}.{c}({t})")
            yield "pow", n, None, binary(t, t, f"call {t} @llvm.pow.{c}({t} %a, {t} %b)", f"{t} @llvm.pow.{c}({t}, {t})")
            for op in ["fadd", "fmul"]:
                for flag in ["", "reassoc "]:
                    yield flag.replace("reassoc", "pairwise") or "ordered ", n, None, (
                        f"define void @f(ptr %p, ptr %o, {f} %s) {{\n  %a = load {t}, ptr %p\n  %r = call {flag}{f} @llvm.vector.reduce.{op}.{c}({f} %s, {t} %a)\n  store {f} %r, ptr %o\n  ret void\n}}\n"
                        f"declare {f} @llvm.vector.reduce.{op}.{c}({f}, {t})")


def counted(batch):
    """Instructions of each function's text, and how many of them are calls."""
    text, declares = [], {}
    for i, (*_, body) in enumerate(batch):
        define, *rest = body.replace("@f(", f"@f{i}(").split("\ndeclare ")
        text.append(define)
        declares.update({"declare " + d.strip(): 1 for d in rest})
    done = subprocess.run([LLC, "-O2", "-verify-machineinstrs", "-", "-o", "-"], input="\n".join([*text, *declares]), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    functions = re.split(r"^f(\d+):", done.stdout, flags=re.M)
    result = [None] * len(batch)
    for number, body in zip(functions[1::2], functions[2::2]):
        body = body.split(".cfi_endproc")[0]
        lines = [line.split()[0] for line in body.splitlines() if re.match(r"\s+[a-z]", line)]
        result[int(number)] = len(lines), sum(line in ("call", "tail") for line in lines)
    return result


def test_no_operation_explodes():
    every = list(operations())
    found = [(*case[:3], *count, case[3]) for case, count in zip(every, counted(every))]
    wrong = {}
    for name, n, bound, count, calls, text in found:
        limit = min(4 * n, bound * (n // 32) if bound else math.inf)
        if count > limit:
            wrong[f"{name}: {count} instructions, {calls} calls, at most {limit}: {text.splitlines()[-3 if 'declare' not in text else 0]}"] = 1
    for name in dict.fromkeys(c[0] for c in found):
        per_lane = [c[3] / c[1] for c in found if c[0] == name]
        print(f"{name:40} {min(per_lane):6.2f} .. {max(per_lane):6.2f} a lane, {max(c[4] / c[1] for c in found if c[0] == name):.2f} calls")
    assert not wrong, f"{len(wrong)} of {len(found)}\n" + "\n".join(wrong)
