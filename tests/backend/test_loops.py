"""Random loops, optimised (hardware loops, software pipelining, post-increment), on the device model: programs of scalars against the host's
compiler, programs with vectors against the same code unoptimised. Both references trap on undefined behaviour.

A function has pointers A, B and C, which may overlap unless they are `restrict`, and q, which walks; values that loops carry; and a nest of
loops of random statements. It leaves everything behind: the values, what was loaded last, the induction variables, how far q went. main runs
each function for several trip counts and overlaps and prints a hash of that and of memory. Numbers stay in bounds: floats below 1000 whatever
is done to them, integers wrap.
"""
import os
import pathlib
import random
import subprocess

import pytest

BIN = pathlib.Path(os.environ.get("DOUGONG_BUILD", pathlib.Path(__file__).parents[2] / "build")) / "bin"
CLANG = "/usr/lib/llvm-22/bin/clang"
FUNCTIONS = 20  # a program

# What lies in memory → what it is computed as. Letters are rows of 32.
SCALARS = {"signed char": "int", "unsigned char": "int", "short": "int", "unsigned short": "int", "int": "int", "unsigned": "int", "long": "long",
           "float": "float", "double": "double"}
VECTORS = {"F": "F", "U": "U", "H": "F", "T": "F", "S": "U", "D": "U"}
KINDS = {**SCALARS, **VECTORS}
LANES = {"F": "float", "U": "unsigned", "H": "_Float16", "T": "__bf16", "S": "short", "D": "signed char"}
VALUES = {"int": "g", "long": "h", "float": "e", "double": "d", "F": "a", "U": "u"}  # three of each are carried: g0, g1, g2
START = {"int": "stop + {}", "long": "stop + {}", "float": "stop + {}", "double": "stop + {}", "F": "(F)(stop + {}.0f)", "U": "(U)(stop + {}u)"}
REVERSED = ", ".join(map(str, range(31, -1, -1)))
# {0} and {1} are values of the type, {2} is a variable.
OPERATIONS = {
    "int": ["(int)((unsigned){0} + {1})", "(int)((unsigned){0} - {1})", "(int)((unsigned){0} * {1})", "({0} ^ {1})", "({0} & {1})", "({0} >> 3)",
            "(int)((unsigned){0} << 2)", "(int)((unsigned){0} >> 5)", "({0} % 7)", "({0} < {1} ? {2} : {0})", "({0} < {1})", "(short){0}",
            "(unsigned char){0}", "__builtin_popcount({0})", "__builtin_clz({0} | 1)", "(int)__builtin_bswap32({0})", "(int)((unsigned){0} / ({1} | 1u))"],
    "long": ["(long)((unsigned long){0} + {1})", "(long)((unsigned long){0} - {1})", "(long)((unsigned long){0} * {1})", "({0} ^ {1})", "({0} >> 9)",
             "(long)((unsigned long){0} << 3)", "(long)(int){0}", "(long)(unsigned){0}", "({0} < {1} ? {2} : {0})", "__builtin_ctzl({0} | 64)", "({0} / 10)"],
    "float": ["(({0} + {1}) * 0.5f)", "(({0} - {1}) * 0.5f)", "({0} * {1} * 0.001f)", "__builtin_fmaf({0}, 0.5f, {1} * 0.5f)", "({0} < {1} ? {0} : {2})",
              "__builtin_fabsf({0})", "__builtin_sqrtf(__builtin_fabsf({0}))", "({0} / ({1} * {1} + 1))", "__builtin_floorf({0})", "(-{0})",
              "__builtin_copysignf({0}, {1})", "__builtin_truncf({0})"],
    "double": ["(({0} + {1}) * 0.5)", "(({0} - {1}) * 0.5)", "({0} * {1} * 0.001)", "__builtin_fma({0}, 0.5, {1} * 0.5)", "({0} < {1} ? {0} : {2})",
               "__builtin_fabs({0})", "__builtin_sqrt(__builtin_fabs({0}))", "({0} / ({1} * {1} + 1))", "__builtin_ceil({0})", "(-{0})"],
    "F": ["(({0} + {1}) * 0.5f)", "(({0} - {1}) * 0.5f)", "({0} * {1} * 0.001f)", "__builtin_elementwise_fma({0}, (F)0.5f, {1} * 0.5f)",
          "__builtin_elementwise_max({0}, {1})", "__builtin_elementwise_min({0}, {1})", "__builtin_elementwise_exp2({0} * 0.009f)",
          "__builtin_elementwise_abs({0})", "__builtin_elementwise_tanh({0})", "({0} < {1} ? {2} : {1})", "({0} / ({1} * {1} + 1.0f))",
          "__builtin_elementwise_floor({0})", f"__builtin_shufflevector({{0}}, {{0}}, {REVERSED})"],
    "U": ["({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} ^ {1})", "({0} & {1})", "({0} >> 3)", "({0} << 2)", "__builtin_elementwise_min({0}, {1})",
          "({0} < {1} ? {2} : {1})", "(U)((I){0} >> 2)"]}
CONVERSIONS = {  # to a type, of a variable of another
    "int": {"long": "(int){}", "float": "(int){}", "double": "(int){}", "F": "(int){}[5]", "U": "(int){}[i & 31]"},
    "long": {"int": "(long){}", "float": "(long){}", "double": "(long){}", "F": "(long){}[31]", "U": "(long){}[7]"},
    "float": {"int": "(float)({} % 1000)", "long": "(float)({} % 1000)", "double": "(float){}", "F": "{}[9]", "U": "(float)({}[0] % 1000)"},
    "double": {"int": "(double)({} % 1000)", "long": "(double)({} % 1000)", "float": "(double){}", "F": "(double){}[i & 31]", "U": "(double)({}[30] % 1000)"},
    "F": {"int": "(F)(float)({} % 1000)", "long": "(F)(float)({} % 1000)", "float": "(F){}", "double": "(F)(float){}",
          "U": "__builtin_convertvector({} & 511u, F)"},
    "U": {"int": "(U)(unsigned){}", "long": "(U)(unsigned){}", "float": "(U)(unsigned)(int){}", "double": "(U)(unsigned)(int){}",
          "F": "(U)__builtin_convertvector({}, I)"}}
HEADS = ["for (i = 0; i < n; i++)", "for (i = 0; i < n; i++)", "for (i = 0; i != n; i++)", "for (i = n; i > 0; i--)", "for (i = n; i-- > 0;)",
         "for (i = 1; i <= n; i += 2)", "for (i = n & 1; i < n; i += 3)", "for (i = 3; i < n; i++)", "for (i = n / 2; i < n; i++)",
         "for (i = 0;; i++) if (i >= n) break; else", "for (i = 0; i < n && at[i] != stop; i++)", "for (i = n, k = 0; k < n; i--, k++)"]
UNROLLED = ["unroll(disable)", "unroll(disable)", "unroll(disable)", "unroll_count(2)", "unroll_count(4)", "vectorize(enable)", "interleave_count(2)"]
STEPS = {"q++": 1, "q--": 1, "q += 2": 2, "q -= 2": 2, "q += step": 2}


class Loop:
    """What a function's statements may use."""

    def __init__(self, chance, types, style):
        self.chance, self.memory, self.style, self.walked, self.fresh, self.inside = chance, dict(zip("ABC", types)), style, 0, 0, 0
        kinds = {"int", *(KINDS[t] for t in types)}
        if chance.random() < 0.3:
            kinds.add(chance.choice(["long", "float", "double"]))
        self.carried = {kind: [f"{VALUES[kind]}{k}" for k in range(3)] for kind in sorted(kinds)}
        self.values = {kind: list(names) for kind, names in self.carried.items()}

    def kind(self):
        return self.chance.choice([kind for kind in self.values for _ in range(4 if kind in VECTORS else 1)])

    def value(self, kind, depth=2):
        if depth == 0 or self.chance.random() < 0.15:
            other = self.kind()
            if other != kind and self.chance.random() < 0.15:
                return CONVERSIONS[kind][other].format(self.chance.choice(self.values[other]))
            return self.chance.choice(self.values[kind][-5:])
        return self.chance.choice(OPERATIONS[kind]).format(*(self.value(kind, d) for d in (depth - 1, depth - 1, 0)))

    def condition(self):
        kind = self.chance.choice([k for k in self.values if k not in VECTORS])
        return self.chance.choice([f"{self.value(kind, 1)} < {self.value(kind, 1)}", "at[i] > 30", "(i & 3) == 1", f"{self.value(kind, 0)} > 20", "at[i] == stop"])

    def index(self):
        if self.chance.random() < 0.06:
            return str(self.chance.randrange(12))
        up = ["i"] * 9 + ["i * 2"]
        walk = self.chance.choice(up if self.style in (FLOWING, PLAIN) else up + ["i * 3", "n - i", "n - i"] + ["j", "i + j"] * self.inside * 5)
        return f"{walk} + {self.chance.randrange(9)}"

    def element(self, places=None):
        """An element of memory, and its type."""
        pointer = self.chance.choice("ABC")
        return f"{pointer}[{places or self.index()}]", self.memory[pointer]

    def read(self, element, kind):
        return f"__builtin_convertvector({element}, {VECTORS[kind]})" if kind in VECTORS and VECTORS[kind] != kind else element

    def write(self, element, kind, value=None):
        value = value or self.value(KINDS[kind], self.chance.choice([0, 1, 2] if self.style in (SIMPLE, WILD) else [1, 2, 3, 3]))
        return f"{element} = {f'__builtin_convertvector({value}, {kind})' if kind in VECTORS and VECTORS[kind] != kind else value};"


def load(b):
    (element, memory), name = b.element(), f"t{b.fresh}"
    kind, b.fresh = KINDS[memory], b.fresh + 1
    text = f"{kind} {name} = {b.read(element, memory)};"
    b.values[kind].append(name)
    return text


def keep(b):
    element, memory = b.element()
    return f"{b.chance.choice(b.carried[KINDS[memory]])} = {b.read(element, memory)};"


def store(b):
    return b.write(*b.element())


def update(b):
    element, memory = b.element()
    kind = KINDS[memory]
    return b.write(element, memory, b.chance.choice(OPERATIONS[kind][:4]).format(f"({kind}){b.read(element, memory)}", b.value(kind, 1), b.value(kind, 0)))


def carry(b):
    kind = b.kind()
    name = b.chance.choice(b.carried[kind])
    if b.chance.random() < 0.3:
        return f"{name} = {b.value(kind)};"
    return f"{name} = {b.chance.choice(OPERATIONS[kind][:4]).format(name, b.value(kind, 1), b.value(kind, 0))};"


def rotate(b):
    kind = b.kind()
    x, y, z = b.chance.sample(b.carried[kind], 3)
    new = b.chance.choice(OPERATIONS[kind][:4]).format(x, b.value(kind, 1), z)
    return b.chance.choice([f"{{ {kind} t = {x}; {x} = {y}; {y} = {z}; {z} = t; }}", f"{{ {kind} t = {x}; {x} = {y}; {y} = t; }}",
                            f"{{ {kind} t = {new}; {x} = {y}; {y} = {z}; {z} = t; }}", f"{x} = {y}; {y} = {new};"])


def walk(b):
    step = b.chance.choice(["q++", "q += 2"] if b.style == FLOWING else list(STEPS))
    if b.inside or b.walked + STEPS[step] > 3:
        return load(b)
    b.walked += STEPS[step]
    memory = b.memory["C"]
    kind, element = KINDS[memory], f"q[{b.chance.randrange(-2, 3)}]"
    return b.chance.choice([b.write(element, memory), f"{b.chance.choice(b.carried[kind])} = {b.read(element, memory)};"]) + f" {step};"


def select(b):
    kind = b.kind()
    return f"{b.chance.choice(b.carried[kind])} = {b.condition()} ? {b.value(kind)} : {b.value(kind, 1)};"


def branch(b):
    inside = [simple(b) for _ in range(b.chance.randrange(1, 3))]
    other = f" else {{ {simple(b)} }}" if b.chance.random() < 0.4 else ""
    return f"if ({b.condition()}) {{ {' '.join(inside)} }}{other}"


def gather(b):
    element, memory = b.element(f"at[{b.index()}]")
    return f"{b.chance.choice(b.carried[KINDS[memory]])} = {b.read(element, memory)};"


def scatter(b):
    return b.write(*b.element(f"at[{b.index()}]"))


def masked(b):
    pointer = next((p for p in b.memory if b.memory[p] in "FU"), None)
    if not pointer:
        return gather(b)
    kind = b.memory[pointer]
    which, where = f"__builtin_convertvector({b.value(kind, 0)} < {b.value(kind, 0)}, M)", f"({LANES[kind]} *)({pointer} + {b.index()})"
    lanes, row = (b.value("U", 1) if "U" in b.values else "(U)(unsigned)i") + " & 63u", b.chance.choice(b.carried[kind])
    return b.chance.choice([f"{row} = __builtin_masked_gather({which}, {lanes}, {where}, {row});", f"{row} = __builtin_masked_load({which}, {where}, {row});",
                            f"__builtin_masked_scatter({which}, {lanes}, {row}, {where});", f"__builtin_masked_store({which}, {row}, {where});"])


def volatile(b):
    element, memory = b.element()
    return b.chance.choice(["seen = (int)((unsigned)seen + g0);", "g1 = seen; seen = g0;", f"*(volatile {memory} *)&{b.write(element, memory)}"])


def assembly(b):
    kind = b.kind()
    if kind in ("float", "double"):
        return '__asm__ volatile("" ::: "memory");'
    value = f'"+{"vr" if kind in VECTORS else "r"}"({b.chance.choice(b.carried[kind])})'
    return b.chance.choice([f'__asm__("" : {value});', f'__asm__ volatile("" : {value});', f'__asm__ volatile("" : {value} :: "memory");'])


def call(b):
    element = b.element()[0]
    return b.chance.choice([f"g2 = first_of(at + {b.index()}, n, {b.value('int', 0)} & 63);", f"g0 = mixed(g1, {b.value('int', 1)});",
                            f"g1 = (int)((unsigned)g1 + sum((unsigned char *)&{element}, 4));", f"memmove(&{element}, &{element} + 1, sizeof {element});"])


def lane(b):
    kind = next((k for k in b.values if k in VECTORS), None)
    if not kind:
        return select(b)
    row = b.chance.choice(b.carried[kind])
    return b.chance.choice([f"{row}[i & 31] = {row}[3];", f"g2 = (int){row}[i & 31];", f"{row}[3] = ({LANES[kind]})(g1 % 1000);"])


def leave(b):
    return f"if ({b.chance.choice(['at[i] == stop', b.condition()])}) {b.chance.choice(['break', 'continue', 'goto out'])};"


def inner(b):
    if b.inside:
        return update(b)
    known, b.inside = {k: list(v) for k, v in b.values.items()}, 1
    body = " ".join(statement(b) for _ in range(b.chance.randrange(1, 5)))
    b.values, b.inside = known, 0
    return f"{pragma(b.chance)} for (j = 0; j < {b.chance.choice(['n', 'i', 'n - i', '(i & 3) + 1', '4', '8'])}; j++) {{ {body} }}"


# A loop's style: what pipelines; what would if the compiler knew better what it accesses, one block, and all.
FLOWING = [load, load, load, load, load, load, store, carry, carry, keep, walk]
PLAIN = [load, load, load, load, store, carry, keep, walk, walk, rotate, rotate]
SIMPLE = [load, keep, store, store, update, carry, carry, rotate, walk, select]
WILD = [*SIMPLE, *SIMPLE, branch, branch, gather, scatter, masked, volatile, assembly, call, lane, leave, leave, inner, inner]


def simple(b):
    return b.chance.choice([keep, store, update, carry, rotate])(b)


def statement(b):
    return b.chance.choice(b.style)(b)


def pragma(chance):
    return f'_Pragma("clang loop {chance.choice(UNROLLED)}")' if chance.random() < 0.8 else ""


HEAD = """#include <stdio.h>
#include <string.h>
#ifdef ROWS
#include <dougong_npu.h>
typedef float F __attribute__((ext_vector_type(32), aligned(4)));
typedef unsigned U __attribute__((ext_vector_type(32), aligned(4)));
typedef int I __attribute__((ext_vector_type(32), aligned(4)));
typedef _Float16 H __attribute__((ext_vector_type(32), aligned(2)));
typedef __bf16 T __attribute__((ext_vector_type(32), aligned(2)));
typedef short S __attribute__((ext_vector_type(32), aligned(2)));
typedef signed char D __attribute__((ext_vector_type(32), aligned(1)));
typedef dg_bool32 M;
enum { elements = 160, middle = 64, bytes = elements * 128 };
static const signed char overlaps[] = {0, 1, -2, 3}, counts[] = {0, 1, 2, 3, 4, 5, 9};
#define memory ((unsigned char(*)[bytes])DG_LM_BASE)
#else
enum { elements = 1024, middle = 400, bytes = elements * 8 };
static const signed char overlaps[] = {0, 1, -2, 3, 8, -1}, counts[] = {0, 1, 2, 3, 4, 5, 6, 7, 12, 21, 40};
static unsigned char memory[3][bytes] __attribute__((aligned(8)));
#endif
static unsigned char before[3][bytes] __attribute__((aligned(128)));
static unsigned short at[256];
static volatile int seen;
static int first_of(const unsigned short *p, int n, int what) {
  for (int i = 0; i < n; i++)
    if (p[i] == what) return i;
  return -1;
}
static unsigned sum(const unsigned char *p, int n) {
  unsigned s = 0;
  for (int i = 0; i < n; i++) s += p[i] * (i + 1u);
  return s;
}
__attribute__((noinline)) static int mixed(int a, int b) { return (int)((unsigned)a * 31 + b); }
static unsigned long hash;
__attribute__((noinline)) static void add(const void *from, long size) {
  for (const unsigned char *p = from; size > 0; size -= 4, p += 4) hash = (hash ^ *(const unsigned *)p) * 1099511628211u;
}
"""
FUNCTION = """
typedef struct {{ {fields} long walked, i, j, k; }} left{number};
__attribute__((noinline)) static void f{number}({A} *{restrict} A, {B} *{restrict} B, {C} *{restrict} C, {count} n, int stop, left{number} *left) {{
  {C} *q = C;
  {declared}
  {count} i = 0, j = 0, k = 0;
  long step = stop & 1 ? 1 : -2;
  {loop}
out:
  {leaves} left->walked = q - C, left->i = i, left->j = j, left->k = k;
}}
__attribute__((optnone, noinline)) static void run{number}(void) {{
  {fills}
  hash = {number};
  for (unsigned c = 0; c < sizeof counts; c++)
    for (unsigned o = 0; o < {overlaps}; o++) {{
      left{number} left;
      memset(&left, 0, sizeof left), memcpy(memory, before, 3 * bytes);
      f{number}({pointers}, counts[c], c % 3 ? 99 : at[c], &left);
      add(&left, sizeof left), add(memory, 3 * bytes);
#ifdef EACH
      if (EACH == {number}) printf("n %d overlap %d %lx\\n", counts[c], overlaps[o], hash);
#endif
    }}
  printf("%d %lx\\n", {number}, hash);
}}
"""
MAIN = """
static void run(void *nothing) {{
  for (int i = 0; i < 256; i++) at[i] = (unsigned)i * 167 % 64;
  {runs}
}}
#ifdef ROWS
int main(void) {{ dg_call_in_lm(run, 0, 0x40000); }}
#else
int main(void) {{ run(0); }}
#endif
"""


def function(chance, number, rows):
    style = chance.choice([FLOWING, FLOWING, FLOWING, PLAIN, PLAIN, PLAIN, SIMPLE, WILD, WILD])
    restrict = chance.random() < (0.7 if style == FLOWING else 0.4)
    types = [chance.choice(list(VECTORS) if rows and chance.random() < 0.85 else list(SCALARS)) for _ in range(3)]
    for k in 1, 2:
        types[k] = chance.choice([types[k], types[0], types[k - 1]])
    b = Loop(chance, types, style)
    body = " ".join(statement(b) for _ in range(chance.randrange(2, 9)))
    loop = f"{pragma(chance)} {chance.choice(HEADS[:3] if style == FLOWING else HEADS[:6] if style == PLAIN else HEADS)} {{ {body} {store(b)} }}"
    if chance.random() < 0.15:
        loop = f"for (int o = 0; o < 2; o++) {{ {loop} A += 1; }}"
    if chance.random() < 0.1:
        loop = f"if (n < 2) goto out; {loop}"
    counts = ["long", "int", "int", "unsigned", "unsigned long"] + ["short", "unsigned char"] * (style in (SIMPLE, WILD))

    # Pointers of one type are into one region, bytes into that of other integers too; the rest may not overlap.
    region, pointers = [], []
    for k, kind in enumerate(types):
        bytes_of_first = kind == "unsigned char" and KINDS[types[0]] in ("int", "long", "U")
        region.append(k if restrict else 0 if bytes_of_first else types.index(kind))
        base = f"({types[0]} *)memory[0] + middle" if bytes_of_first and not restrict else f"({kind} *)memory[{region[k]}] + middle"
        pointers.append(f"({kind} *)({base})" + (f" {'+-'[k - 1]} overlaps[o]" if region[k] != k else ""))
    fills = []
    for k, kind in enumerate(types):
        lane, size = LANES.get(kind, kind), 32 if kind in VECTORS else 1
        fills.append(f"for (int i = 0; i < elements * {size}; i++) (({lane} *)before[{k}])[i] = ({lane})((i * 7919 + i / 32 * 13 + {k}) % 101 - 50);")
    names = [(kind, name) for kind in b.carried for name in b.carried[kind]]
    return FUNCTION.format(
        number=number, A=types[0], B=types[1], C=types[2], restrict="restrict" if restrict else "", count=chance.choice(counts), loop=loop,
        fields=" ".join(f"{kind} {name};" for kind, name in names), leaves=" ".join(f"left->{name} = {name};" for _, name in names),
        declared=" ".join(f"{kind} {name} = {START[kind].format(k)};" for k, (kind, name) in enumerate(names, 1)),
        fills="\n  ".join(fills), overlaps="sizeof overlaps" if len(set(region)) < 3 else 1, pointers=", ".join(pointers))


def program(seed: int, rows: bool) -> str:
    chance = random.Random(f"{seed} {rows}")
    functions = [function(chance, number, rows) for number in range(FUNCTIONS)]
    return "".join(["#define ROWS\n" * rows, HEAD, *functions, MAIN.format(runs=" ".join(f"run{n}();" for n in range(FUNCTIONS)))])


# Vectors of ours are aligned as their elements are. Half of the programs run where signed overflow is undefined to the compiler.
REFERENCE = ["-O0", "-fsanitize=undefined", "-fno-sanitize=alignment", "-fsanitize-trap=undefined"]


def printed(folder, compiler, *options) -> list[str]:
    subprocess.run([compiler, "-w", "-funsigned-char", "-ffp-contract=off", *options, "loops.c", "-o", "loops.elf", "-lm"], cwd=folder, check=True, timeout=120)
    command = ["./loops.elf"] if compiler == CLANG else [BIN / "dougong", "sim", "loops.elf"]
    return subprocess.run(command, cwd=folder, check=True, timeout=120, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.parametrize("rows", [False, True], ids=["scalars", "rows"])
@pytest.mark.parametrize("seed", range(200 if os.environ.get("DOUGONG_LONG") else 4))
def test_random_loops(tmp_path, seed, rows):
    (tmp_path / "loops.c").write_text(program(seed, rows))
    expected = printed(tmp_path, BIN / "dougong-cc" if rows else CLANG, *REFERENCE)
    assert len(expected) == FUNCTIONS
    for level in "-O2", ("-O1", "-O3", "-Os")[seed % 3]:
        assert printed(tmp_path, BIN / "dougong-cc", level, *["-fwrapv"] * (seed % 2), "-mllvm", "-verify-machineinstrs") == expected, level
