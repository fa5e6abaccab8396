"""What vector operations cost that generic legalisation would take apart: instructions that the device model executes of what dougong-llc -O2 makes of them, loads and stores of
the operands, constants and the return included.

The list is the one of the first prototype (hundreds to thousands of instructions each). None may take more than 4 a lane; the common ones at most 16 a register of 32 lanes.
`pow`, which is not in that list, may take 5. Functions of numbers of lanes that are no whole registers count as many lanes as these have.
"""
import os
import re
import subprocess
from pathlib import Path

import pytest

BIN = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parents[2] / "build")).resolve() / "bin"
CODE = {"half": "f16", "bfloat": "bf16", "float": "f32"}
INTEGERS, FLOATS = ["i8", "i16", "i32"], ["half", "bfloat", "float"]
LANES = [32, 64, 96, 128]
ODD = [48]  # for functions of floats


def bits(e):
    return {"half": 16, "bfloat": 16, "float": 32}.get(e) or int(e[1:])


def vector(n, e):
    return f"<{n} x {e}>"


def unary(t, out, expression, *declares, before=""):
    return f"define void @f(ptr %p, ptr %o) {{\n  %a = load {t}, ptr %p\n{before}  %r = {expression}\n  store {out}, ptr %o\n  ret void\n}}\n".replace(f"store {out},", f"store {out} %r,") + "\n".join(f"declare {d}" for d in declares)


def binary(t, out, expression, *declares):
    return unary(t, out, expression, *declares, before=f"  %q = getelementptr i8, ptr %p, i64 4096\n  %b = load {t}, ptr %q\n")


def functions(n):
    for f in FLOATS:
        t, c = vector(n, f), f"v{n}{CODE[f]}"
        yield "frem", n, None, binary(t, t, f"frem {t} %a, %b")
        for op in ["exp", "exp2", "log", "log2", "log10", "exp10", "sin", "cos", "tan", "tanh", "round", "roundeven", "rint", "floor", "sqrt"]:
            yield op, n, None, unary(t, t, f"call {t} @llvm.{op}.{c}({t} %a)", f"{t} @llvm.{op}.{c}({t})")
        yield "pow", n, None, binary(t, t, f"call {t} @llvm.pow.{c}({t} %a, {t} %b)", f"{t} @llvm.pow.{c}({t}, {t})")


def operations():
    """(name, lanes, bound in instructions a lane or a register, IR)."""
    for n in LANES + ODD:
        yield from functions(n)
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
            for op in ["fadd", "fmul"]:
                for flag in ["", "reassoc "]:
                    yield flag.replace("reassoc", "pairwise") or "ordered ", n, None, (
                        f"define void @f(ptr %p, ptr %o, {f} %s) {{\n  %a = load {t}, ptr %p\n  %r = call {flag}{f} @llvm.vector.reduce.{op}.{c}({f} %s, {t} %a)\n  store {f} %r, ptr %o\n  ret void\n}}\n"
                        f"declare {f} @llvm.vector.reduce.{op}.{c}({f}, {t})")


# Calls each function once on numbers of everyday size, and says how many instructions were retired in between, less those of a call of nothing.
DRIVER = r"""
#include <dougong_npu.h>
#include <stdio.h>
enum { P = 0x8000, O = 0x10000, X = 0x18000, STACK = 0x40000 };
typedef void function(void *p, void *o, uint64_t a, uint64_t b);
EXTERNS
static void nothing(void *p, void *o, uint64_t a, uint64_t b) {}
static const struct operation { function *f; char element, arguments; int lanes; } operations[] = {{nothing, 'f', 'n', 32}, TABLE};
static const struct operation *now;
static uint64_t count;
static void run(void *unused) {
  char *lm = (char *)DG_LM_BASE;
  uint64_t a = now->arguments == 'm' ? 3 : now->arguments == 'p' ? DG_LM_BASE + X : 0, b = now->lanes, before, after;
  function *f = now->f;
  __asm__ volatile("csrr %0, instret" : "=r"(before) :: "memory");
  f(lm + P, lm + O, a, b);
  __asm__ volatile("csrr %0, instret" : "=r"(after) :: "memory");
  count = after - before;
}
int main(void) {
  uint32_t seed = 1;
  for (now = operations; now < operations + sizeof operations / sizeof *operations; ++now) {
    for (int operand = 0; operand < 2; ++operand)
      for (int i = 0; i < 256; ++i) {
        seed = seed * 1664525u + 1013904223u;
        char *at = (char *)DG_LM_BASE + P + 4096 * operand;
        float number = (int)(seed >> 16) / 256.0f - 100.0f;
        if (now->element == 'f') ((float *)at)[i] = number;
        else if (now->element == 'h') ((_Float16 *)at)[i] = (_Float16)number;
        else if (now->element == 'b') ((__bf16 *)at)[i] = (__bf16)number;
        else ((uint32_t *)at)[i] = seed ^ seed >> 15;
        ((uint32_t *)(DG_LM_BASE + X))[i] = seed >> 20 & 127;
      }
    uint64_t base = count;
    dg_call_in_lm(run, 0, STACK);
    if (now == operations) printf("%d\n", (int)count);
    else printf("%d\n", (int)count);
  }
}
"""


def executed(folder, cases):
    """Instructions of each function, its return included."""
    text, declares, table = [], {}, []
    for i, (_, n, _, body) in enumerate(cases):
        define, *rest = body.replace("@f(", f"@f{i}(").split("\ndeclare ")
        text.append(define)
        declares.update({"declare " + d.strip(): 1 for d in rest})
        arguments = re.search(r"%o(?:, (\w+))?", define.splitlines()[0]).group(1) or "none"
        element = re.search(r"load <\d+ x (\w+)>, ptr %p|store <\d+ x (\w+)>|<\d+ x (\w+)>", define)
        element = next(g for g in element.groups() if g)
        kind = {"i32": "m", "ptr": "p"}.get(arguments, "n")
        table.append(f"{{(function *)f{i}, '{element[0]}', '{kind}', {n}}}")
    (folder / "operations.ll").write_text("\n".join([*text, *declares]))
    externs = "".join(f"function f{i};\n" for i in range(len(cases)))
    (folder / "driver.c").write_text(DRIVER.replace("EXTERNS", externs).replace("TABLE", ",\n".join(table)))
    for command in ([BIN / "dougong-llc", "-O2", "-verify-machineinstrs", "-filetype=obj", "operations.ll", "-o", "operations.o"],
                    [BIN / "dougong-cc", "-O2", "-w", "driver.c", "operations.o", "-lm", "-o", "all.elf"], [BIN / "dougong", "sim", "all.elf"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stderr[:2000]}"
    empty, *counts = (int(line) for line in done.stdout.split())
    return [count - empty + 1 for count in counts]


def test_no_operation_explodes(tmp_path):
    every = list(operations())
    found = [(*case[:3], count, case[3]) for case, count in zip(every, executed(tmp_path, every), strict=True)]
    wrong = {}
    for name, n, bound, count, text in found:
        lanes = -(-n // 32) * 32
        limit = min(4 * n, bound * (n // 32)) if bound else 5 * lanes if name == "pow" else 4 * lanes
        if count > limit:
            wrong[f"{name}: {count} instructions, at most {limit}: {text.splitlines()[-3 if 'declare' not in text else 0]}"] = 1
    for name in dict.fromkeys(c[0] for c in found):
        per_lane = [c[3] / c[1] for c in found if c[0] == name]
        print(f"{name:40} {min(per_lane):6.2f} .. {max(per_lane):6.2f} a lane")
    assert not wrong, f"{len(wrong)} of {len(found)}\n" + "\n".join(wrong)
