"""Every scalar instruction that computes on *all* pairs of edge values (three-operand ones: triples), in every rounding mode, static and dynamic.

A case is an instruction between a1, a2, a3 and a0, and the lists that its operands run through, the last one fastest. Each combination
leaves 16 bytes: a0, and fflags (or, of an instruction on memory, what is there then). `scalar_tables` in inputs/host_floats.c is the same
loop on the host's floats. Each part of `./run-tests --long` has other random values in the lists, and more of them.
"""
import os
import random
from dataclasses import dataclass

import numpy as np
from records import GPR, ROUNDING
from scalar_sequences import DOUBLES, FLOAT_OPCODES, FLOATS, INTEGERS, NEVER, SCALAR, mnemonic

_part = int(os.environ.get("DOUGONG_PART", "0/1").split("/")[0])
_random = random.Random(5 + _part)
_more = 40 if _part else 6
LISTS = {
    "i": INTEGERS + [_random.getrandbits(64) for _ in range(_more)] + [_random.getrandbits(20) << k for k in (0, 13, 40)] + [0x7FFFFFFFFFFFFC00, 0x7FFFFFFFFFFFFE00, 0x1000001, 0x20000000000001],
    # Few bits and near exponents: sums, products and quotients that lie halfway.
    "s": FLOATS + [_random.getrandbits(1) << 31 | _random.randrange(120, 135) << 23 | _random.getrandbits(12) << s for s in (0, 0, 0, 11, 11)] + [_random.getrandbits(32) for _ in range(_more)]
         + [0x3F000000, 0xBEFFFFFF, 0x40600000, 0xCB000001, 0x4EFFFFFF, 0x5EFFFFFF],
    "d": DOUBLES + [_random.getrandbits(1) << 63 | _random.randrange(1016, 1031) << 52 | _random.getrandbits(26) << s for s in (0, 0, 0, 26, 26)] + [_random.getrandbits(64) for _ in range(_more)]
         + [0x3FE0000000000000, 0xBFDFFFFFFFFFFFFF, 0x400C000000000000, 0x41DFFFFFFFE00000, 0x41EFFFFFFFF00000, 0xC1E0000000100000, 0x3690000000000000, 0x380FFFFFFFFFFFFF],
}
# Of triples: zeros, ones, infinities, NaNs, the least and the greatest, what makes ties with them, and some of those.
LISTS["s3"] = [0x00000000, 0x80000000, 0x3F800000, 0xBF800001, 0x3FC00000, 0x7F800000, 0xFF800000, 0x7FC00001, 0x7F800001, 0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x33800000, 0xB3800000,
               0x4B800000, 0x3F7FFFFF, 0x20000000] + LISTS["s"][27:37]
LISTS["d3"] = [0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000001, 0x3FF8000000000000, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000001, 0x7FF0000000000001,
               0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0x3CA0000000000000, 0xBCA0000000000000, 0x4340000000000000, 0x3FEFFFFFFFFFFFFF, 0x2000000000000000] + LISTS["d"][27:37]
MODES = range(5)


def values(kind):
    """What is loaded: an f32 stands in the low half, with whatever above it."""
    if kind.startswith("s"):
        return np.array([v | (0x9E3779B9 * (n + 1) & 0xFFFFFFFF) << 32 for n, v in enumerate(LISTS[kind])], np.uint64)
    return np.array([v & (1 << 64) - 1 for v in LISTS[kind]], np.uint64)


@dataclass
class Case:
    name: str
    code: str
    kinds: list[str]  # of the operands
    frm: int = 0
    mode: int = 0  # in which it rounds: frm, or what the instruction says
    second: str = "csrr t0, fflags"

    def rows(self):
        return int(np.prod([len(LISTS[k]) for k in self.kinds]))

    def operands(self, row):
        return [hex(values(k)[int(at)]) for k, at in zip(self.kinds, np.unravel_index(row, [len(LISTS[k]) for k in self.kinds]))]


def _kinds(i):
    name, sources = mnemonic(i), [v for v in ("rs1", "rs2", "rs3") if v in i.operands]
    if i.opcode() not in FLOAT_OPCODES or name.startswith(("fcvt.s.w", "fcvt.s.l", "fcvt.d.w", "fcvt.d.l")):
        return ["i"] * len(sources)
    return [name[-1] + ("3" if len(sources) == 3 else "")] * len(sources)


def _immediates(i):
    operand = i.records[i.operands["imm"]]
    low, high = (-(1 << operand["Width"] - 1), (1 << operand["Width"] - 1) - 1) if operand["Signed"] else (0, (1 << operand["Width"]) - 1)
    return [v for v in (low, low + 1, -1, 0, 1, 5, 31, 32, 255, high - 1, high) if low <= v <= high]


def cases() -> list[Case]:
    found = []
    places = {v: GPR.index(r) for v, r in (("rd", "a0"), ("rs1", "a1"), ("rs2", "a2"), ("rs3", "a3"))}
    for i in SCALAR:
        name, opcode, kinds = mnemonic(i), i.opcode(), _kinds(i)
        def text(**more):
            return i.text({v: places[v] for v in i.operands if v in places} | more).replace("\t", " ")
        rounding = next((k for k in i.operands.values() if k in ("rounding", "exact_rounding")), None)
        if rounding:
            # LLVM's assembler, as ours, says the mode of a conversion that is exact only where it is not the first.
            for rm in (*MODES, 7):
                for frm in MODES if rm == 7 and len(kinds) < 3 else [_random.randrange(5)]:
                    found.append(Case(f"{name}{ROUNDING[rm] or ', dyn'}", text(rm=rm), kinds, frm, frm if rm == 7 else rm))
        elif opcode in FLOAT_OPCODES:
            found.append(Case(name, text(), kinds))
        elif opcode in (0x33, 0x3B) or (opcode in (0x13, 0x1B) and "imm" not in i.operands):
            found.append(Case(name, text(), kinds))
        elif opcode in (0x13, 0x1B):
            found += [Case(f"{name} {imm}", text(imm=imm), kinds) for imm in _immediates(i)]
        elif opcode == 0x63:
            found.append(Case(name, f"li a0, 1\n{text(imm='9f')}\nli a0, 0\n9:", kinds))
        elif name.startswith("amo"):
            code = text().replace("(a1)", "(s7)")
            found.append(Case(name, f"sd a1, 0(s7)\n{code}", kinds, second="ld t0, 0(s7)"))
        else:
            assert opcode in (0x03, 0x23, 0x0F, 0x73, 0x6F, 0x67, 0x37, 0x17) or name.startswith(("lr.", "sc.")) or name in NEVER, name
    return found


def code(all_cases: list[Case]) -> str:
    lines = ["lla s1, results", "lla s7, cell"]
    for n, case in enumerate(all_cases):
        lines.append(f"li s6, {case.frm << 5}")
        for depth, kind in enumerate(case.kinds):
            at = ("s2", "s4", "s8")[depth]
            lines.append(f"lla {at}, list_{kind}\nlla {('s3', 's5', 's9')[depth]}, list_{kind}_end\n.Lloop{n}_{depth}: ld a{depth + 1}, 0({at})")
        lines.append(f"csrw fcsr, s6\nli a0, -1\n{case.code}\n{case.second}\nsd a0, 0(s1)\nsd t0, 8(s1)\naddi s1, s1, 16")
        for depth in reversed(range(len(case.kinds))):
            at, end = ("s2", "s4", "s8")[depth], ("s3", "s5", "s9")[depth]
            lines.append(f"addi {at}, {at}, 8\nbne {at}, {end}, .Lloop{n}_{depth}")
    return "\n".join(lines)


def data(all_cases: list[Case]) -> str:
    lists = "\n".join(f"list_{kind}: .8byte " + ", ".join(str(v) for v in values(kind)) + f"\nlist_{kind}_end:" for kind in LISTS)
    return f"{lists}\ncell: .8byte 0\n.balign 64\nresults: .zero {16 * sum(case.rows() for case in all_cases)}\nresults_end:"


def split(all_cases: list[Case], raw: bytes) -> list[np.ndarray]:
    """The rows (a0, second) of each case."""
    table = np.frombuffer(raw, np.uint64).reshape(-1, 2)
    ends = np.cumsum([case.rows() for case in all_cases])
    assert len(table) == ends[-1]
    return np.split(table, ends[:-1])
