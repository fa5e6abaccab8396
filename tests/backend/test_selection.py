"""Everything LLVM IR can say about a value must be selected: one function per operation and type, legal types and illegal ones.

No result is looked at here (test_vectors.py does); a function fails if the code generator refuses it, or if LLVM's
verifier of machine code objects to what it made.
"""
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

LLC = os.path.join(os.environ.get("DOUGONG_BUILD", os.path.join(os.path.dirname(__file__), "../../build")), "bin", "dougong-llc")

LANES = [2, 3, 8, 16, 24, 31, 32, 33, 64, 128]
FLOATS = ["half", "bfloat", "float", "double"]
INTEGERS = ["i1", "i8", "i16", "i32", "i64"]


def code(element):  # the name of a type inside an intrinsic's name
    return {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}.get(element, element)


def shapes(elements):
    for element in elements:
        yield element, element, code(element), 0
        for n in LANES:
            yield f"<{n} x {element}>", element, f"v{n}{code(element)}", n


def like(n, element):
    return f"<{n} x {element}>" if n else element


def functions():
    """(operation, LLVM IR of a function named @f, declarations it needs)."""
    for t, e, m, n in shapes(FLOATS + INTEGERS):
        op = "fadd" if e in FLOATS else "add"
        yield "across blocks", f"define void @f({t} %a, {t} %b, i1 %k, ptr %p) {{ %c = {op} {t} %a, %b br i1 %k, label %x, label %y x: store {t} %c, ptr %p ret void y: store {t} %b, ptr %p ret void }}"
    for t, e, m, n in shapes(FLOATS):
        for op in ["fadd", "fsub", "fmul", "fdiv"]:
            yield op, f"define {t} @f({t} %a, {t} %b) {{ %r = {op} {t} %a, %b ret {t} %r }}"
        yield "fneg", f"define {t} @f({t} %a) {{ %r = fneg {t} %a ret {t} %r }}"
        for op in ["minnum", "maxnum", "minimum", "maximum", "minimumnum", "maximumnum", "copysign"]:
            yield op, f"define {t} @f({t} %a, {t} %b) {{ %r = call {t} @llvm.{op}.{m}({t} %a, {t} %b) ret {t} %r }}\ndeclare {t} @llvm.{op}.{m}({t}, {t})"
        for op in ["sqrt", "fabs", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven", "exp2", "log2", "tanh", "exp", "log", "exp10", "log10", "sin", "cos", "tan",
                   "asin", "acos", "atan", "sinh", "cosh"]:
            yield op, f"define {t} @f({t} %a) {{ %r = call {t} @llvm.{op}.{m}({t} %a) ret {t} %r }}\ndeclare {t} @llvm.{op}.{m}({t})"
        for op in ["atan2", "pow"]:
            yield op, f"define {t} @f({t} %a, {t} %b) {{ %r = call {t} @llvm.{op}.{m}({t} %a, {t} %b) ret {t} %r }}\ndeclare {t} @llvm.{op}.{m}({t}, {t})"
        yield "frem", f"define {t} @f({t} %a, {t} %b) {{ %r = frem {t} %a, %b ret {t} %r }}"
        yield "powi", f"define {t} @f({t} %a, i32 %b) {{ %r = call {t} @llvm.powi.{m}.i32({t} %a, i32 %b) ret {t} %r }}\ndeclare {t} @llvm.powi.{m}.i32({t}, i32)"
        i, im = like(n, "i32"), f"v{n}i32" if n else "i32"
        yield "ldexp", f"define {t} @f({t} %a, {i} %b) {{ %r = call {t} @llvm.ldexp.{m}.{im}({t} %a, {i} %b) ret {t} %r }}\ndeclare {t} @llvm.ldexp.{m}.{im}({t}, {i})"
        for op, second, suffix in [("modf", t, ""), ("sincos", t, ""), ("frexp", i, "." + im)]:
            for number, result in enumerate([t, second]):
                pair = f"{{ {t}, {second} }}"
                yield op, f"define {result} @f({t} %a) {{ %x = call {pair} @llvm.{op}.{m}{suffix}({t} %a) %r = extractvalue {pair} %x, {number} ret {result} %r }}\ndeclare {pair} @llvm.{op}.{m}{suffix}({t})"
        yield "fma", f"define {t} @f({t} %a, {t} %b, {t} %c) {{ %r = call {t} @llvm.fma.{m}({t} %a, {t} %b, {t} %c) ret {t} %r }}\ndeclare {t} @llvm.fma.{m}({t}, {t}, {t})"
        yield "is_fpclass", f"define {like(n, 'i1')} @f({t} %a) {{ %r = call {like(n, 'i1')} @llvm.is.fpclass.{m}({t} %a, i32 519) ret {like(n, 'i1')} %r }}\ndeclare {like(n, 'i1')} @llvm.is.fpclass.{m}({t}, i32)"
        for cc in ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "uno", "ueq", "ugt", "uge", "ult", "ule", "une"]:
            yield "fcmp", f"define {t} @f({t} %a, {t} %b) {{ %c = fcmp {cc} {t} %a, %b %r = select {like(n, 'i1')} %c, {t} %a, {t} %b ret {t} %r }}"
        for to in INTEGERS:
            for op in ["fptosi", "fptoui"]:
                yield op, f"define {like(n, to)} @f({t} %a) {{ %r = {op} {t} %a to {like(n, to)} ret {like(n, to)} %r }}"
            for op in ["sitofp", "uitofp"]:
                yield op, f"define {t} @f({like(n, to)} %a) {{ %r = {op} {like(n, to)} %a to {t} ret {t} %r }}"
            if to != "i1":
                i = like(n, to)
                im = f"v{n}{to}" if n else to
                for op in ["fptosi.sat", "fptoui.sat"]:
                    yield op, f"define {i} @f({t} %a) {{ %r = call {i} @llvm.{op}.{im}.{m}({t} %a) ret {i} %r }}\ndeclare {i} @llvm.{op}.{im}.{m}({t})"
        for to in FLOATS:
            if to != e and "bfloat" not in (to, e) or {to, e} in ({"bfloat", "float"}, {"bfloat", "double"}):
                order = ["half", "bfloat", "float", "double"]
                op = "fpext" if order.index(to) > order.index(e) else "fptrunc"
                yield op, f"define {like(n, to)} @f({t} %a) {{ %r = {op} {t} %a to {like(n, to)} ret {like(n, to)} %r }}"
        if n:
            for op in ["fadd", "fmul"]:
                for flag in ["reassoc ", ""]:
                    yield "reduce." + op, f"define {e} @f({e} %s, {t} %a) {{ %r = call {flag}{e} @llvm.vector.reduce.{op}.{m}({e} %s, {t} %a) ret {e} %r }}\ndeclare {e} @llvm.vector.reduce.{op}.{m}({e}, {t})"
            for op in ["fmin", "fmax", "fminimum", "fmaximum"]:
                yield "reduce." + op, f"define {e} @f({t} %a) {{ %r = call {e} @llvm.vector.reduce.{op}.{m}({t} %a) ret {e} %r }}\ndeclare {e} @llvm.vector.reduce.{op}.{m}({t})"

    for t, e, m, n in shapes(INTEGERS):
        for op in ["add", "sub", "mul", "and", "or", "xor", "shl", "lshr", "ashr", "sdiv", "udiv", "srem", "urem"]:
            yield op, f"define {t} @f({t} %a, {t} %b) {{ %r = {op} {t} %a, %b ret {t} %r }}"
        for op in ["smin", "smax", "umin", "umax", "uadd.sat", "ssub.sat"]:
            yield op, f"define {t} @f({t} %a, {t} %b) {{ %r = call {t} @llvm.{op}.{m}({t} %a, {t} %b) ret {t} %r }}\ndeclare {t} @llvm.{op}.{m}({t}, {t})"
        for op in ["ctpop", "bitreverse"] + (["bswap"] if e in ("i16", "i32", "i64") else []):
            yield op, f"define {t} @f({t} %a) {{ %r = call {t} @llvm.{op}.{m}({t} %a) ret {t} %r }}\ndeclare {t} @llvm.{op}.{m}({t})"
        for op in ["ctlz", "cttz", "abs"]:
            yield op, f"define {t} @f({t} %a) {{ %r = call {t} @llvm.{op}.{m}({t} %a, i1 false) ret {t} %r }}\ndeclare {t} @llvm.{op}.{m}({t}, i1)"
        for op in ["fshl", "fshr"]:
            yield op, f"define {t} @f({t} %a, {t} %b, {t} %c) {{ %r = call {t} @llvm.{op}.{m}({t} %a, {t} %b, {t} %c) ret {t} %r }}\ndeclare {t} @llvm.{op}.{m}({t}, {t}, {t})"
        for cc in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]:
            yield "icmp", f"define {t} @f({t} %a, {t} %b) {{ %c = icmp {cc} {t} %a, %b %r = select {like(n, 'i1')} %c, {t} %a, {t} %b ret {t} %r }}"
        for to in INTEGERS:
            if int(to[1:]) > int(e[1:]):
                for op in ["sext", "zext"]:
                    yield op, f"define {like(n, to)} @f({t} %a) {{ %r = {op} {t} %a to {like(n, to)} ret {like(n, to)} %r }}"
                yield "trunc", f"define {t} @f({like(n, to)} %a) {{ %r = trunc {like(n, to)} %a to {t} ret {t} %r }}"
        if n:
            for op in ["add", "mul", "and", "or", "xor", "smin", "smax", "umin", "umax"]:
                yield "reduce." + op, f"define {e} @f({t} %a) {{ %r = call {e} @llvm.vector.reduce.{op}.{m}({t} %a) ret {e} %r }}\ndeclare {e} @llvm.vector.reduce.{op}.{m}({t})"
            yield "to word", f"define i{n * int(e[1:])} @f({t} %a) {{ %r = bitcast {t} %a to i{n * int(e[1:])} ret i{n * int(e[1:])} %r }}"

    for t, e, m, n in shapes(FLOATS + INTEGERS):
        yield "load", f"define {t} @f(ptr %p) {{ %r = load {t}, ptr %p, align 1 ret {t} %r }}"
        yield "store", f"define void @f(ptr %p, {t} %a) {{ store {t} %a, ptr %p, align 1 ret void }}"
        yield "select", f"define {t} @f(i1 %c, {t} %a, {t} %b) {{ %r = select i1 %c, {t} %a, {t} %b ret {t} %r }}"
        yield "phi", f"define {t} @f(i1 %c, {t} %a, ptr %p) {{\nbr i1 %c, label %x, label %y\nx: %b = load {t}, ptr %p br label %y\ny: %r = phi {t} [ %a, %0 ], [ %b, %x ] ret {t} %r }}"
        yield "call", f"define {t} @f({t} %a, {t} %b) {{ %r = call {t} @g({t} %b, {t} %a) %q = call {t} @g({t} %r, {t} %b) ret {t} %q }}\ndeclare {t} @g({t}, {t})"
        yield "freeze", f"define {t} @f({t} %a) {{ %r = freeze {t} %a ret {t} %r }}"
        if not n:
            continue
        yield "extract", f"define {e} @f({t} %a, i32 %i) {{ %r = extractelement {t} %a, i32 %i ret {e} %r }}"
        yield "extract 1", f"define {e} @f({t} %a) {{ %r = extractelement {t} %a, i32 1 ret {e} %r }}"
        yield "insert", f"define {t} @f({t} %a, {e} %b, i32 %i) {{ %r = insertelement {t} %a, {e} %b, i32 %i ret {t} %r }}"
        yield "insert 1", f"define {t} @f({t} %a, {e} %b) {{ %r = insertelement {t} %a, {e} %b, i32 1 ret {t} %r }}"
        yield "splat", f"define {t} @f({e} %b) {{ %i = insertelement {t} poison, {e} %b, i32 0 %r = shufflevector {t} %i, {t} poison, <{n} x i32> zeroinitializer ret {t} %r }}"
        for name, lanes in {"reverse": [n - 1 - i for i in range(n)], "interleave": [i // 2 + (n if i % 2 else 0) for i in range(n)],
                            "slide": [i + 1 for i in range(n)], "odd": [(i * 7 + 3) % (2 * n) for i in range(n)]}.items():
            text = ", ".join(f"i32 {i}" for i in lanes)
            yield name, f"define {t} @f({t} %a, {t} %b) {{ %r = shufflevector {t} %a, {t} %b, <{n} x i32> <{text}> ret {t} %r }}"
        yield "masked load", f"define {t} @f(ptr %p, <{n} x i1> %m, {t} %a) {{ %r = call {t} @llvm.masked.load.{m}.p0(ptr %p, i32 4, <{n} x i1> %m, {t} %a) ret {t} %r }}\ndeclare {t} @llvm.masked.load.{m}.p0(ptr, i32, <{n} x i1>, {t})"
        yield "masked store", f"define void @f(ptr %p, <{n} x i1> %m, {t} %a) {{ call void @llvm.masked.store.{m}.p0({t} %a, ptr %p, i32 4, <{n} x i1> %m) ret void }}\ndeclare void @llvm.masked.store.{m}.p0({t}, ptr, i32, <{n} x i1>)"
        gep = f"%q = getelementptr {e}, ptr %p, <{n} x i32> %i"
        yield "gather", f"define {t} @f(ptr %p, <{n} x i32> %i, <{n} x i1> %m, {t} %a) {{ {gep} %r = call {t} @llvm.masked.gather.{m}.v{n}p0(<{n} x ptr> %q, i32 1, <{n} x i1> %m, {t} %a) ret {t} %r }}\ndeclare {t} @llvm.masked.gather.{m}.v{n}p0(<{n} x ptr>, i32, <{n} x i1>, {t})"
        yield "scatter", f"define void @f(ptr %p, <{n} x i32> %i, <{n} x i1> %m, {t} %a) {{ {gep} call void @llvm.masked.scatter.{m}.v{n}p0({t} %a, <{n} x ptr> %q, i32 1, <{n} x i1> %m) ret void }}\ndeclare void @llvm.masked.scatter.{m}.v{n}p0({t}, <{n} x ptr>, i32, <{n} x i1>)"
        if n % 2 == 0:
            half = ", ".join(f"i32 {i + n // 2}" for i in range(n // 2))
            yield "upper half", f"define <{n // 2} x {e}> @f({t} %a) {{ %r = shufflevector {t} %a, {t} poison, <{n // 2} x i32> <{half}> ret <{n // 2} x {e}> %r }}"


def compile_text(text, level):
    try:
        r = subprocess.run([LLC, f"-O{level}", "-verify-machineinstrs", "-filetype=null", "-"], input=text, text=True, capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "does not end within a minute"
    return "" if r.returncode == 0 else (r.stderr.strip().splitlines() or ["no message"])[0]


def failures(batch, level):
    """Names and messages of what fails in `batch`, found by halving: most batches are compiled once."""
    text, declarations = [], {}
    for i, (_, body) in enumerate(batch):
        define, *declares = body.replace("@f(", f"@f{i}(").replace("@g(", f"@g{i}(").split("\ndeclare")
        text.append(define)
        declarations.update({"declare" + d: None for d in declares})  # intrinsics are declared once a module
    message = compile_text("\n".join([*text, *declarations]), level)
    if not message:
        return []
    if len(batch) == 1:
        return [(batch[0][0], message, batch[0][1])]
    half = len(batch) // 2
    return failures(batch[:half], level) + failures(batch[half:], level)


@pytest.mark.parametrize("level", [2, 0])
def test_every_operation_on_every_type_is_selected(level):
    everything = list(functions())
    if not os.environ.get("DOUGONG_LONG"):  # every fifth at O2, every 37th at O0
        everything = everything[:: 5 if level else 37]
    batches = [everything[i::24] for i in range(24)]
    with ThreadPoolExecutor(2) as pool:
        found = [f for part in pool.map(lambda b: failures(b, level), batches) for f in part]
    report = "\n".join(f"{name}: {message}\n    {body.splitlines()[0]}" for name, message, body in found[:40])
    assert not found, f"{len(found)} of {len(everything)} functions fail\n{report}"
