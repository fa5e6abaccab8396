"""What the core has not is told with its place, status 2; what it has, registers kept free, rounding modes, traps, C++ without a library, works."""
import os
import pathlib
import subprocess

import pytest

BIN = pathlib.Path(os.environ.get("DOUGONG_BUILD", pathlib.Path(__file__).parents[2] / "build")).resolve() / "bin"


def tool(folder, line: str, **files: str) -> subprocess.CompletedProcess:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return subprocess.run(f"{BIN}/{line}", shell=True, cwd=folder, capture_output=True, text=True, timeout=60)


REFUSED_C = {
    'register long x __asm__("s11"); long f(void) { return x; }': ("", "t.c:1:", "variable in register 's11', which the compiler uses; -ffixed-x27"),
    "__attribute__((interrupt)) void f(void) {}": ("", "f", "a handler of interrupts; the core has none"),
    "__bf16 f(__int128 x) { return (__bf16)x; }": ("", "t.c:1:", "between bf16 and an integer of more than 64 bits; convert through float"),
    "unsigned __int128 f(__bf16 x) { return (unsigned __int128)x; }": ("", "t.c:1:", "between bf16 and an integer of more than 64 bits"),
    "int f(int x) { return x; }": ("-ffixed-x10", "f", "-ffixed-x10: calls need that register"),
}


@pytest.mark.parametrize("text", REFUSED_C)
def test_c_that_the_core_has_not(tmp_path, text):
    options, *said = REFUSED_C[text]
    result = tool(tmp_path, f"dougong-cc -O1 -g {options} -c t.c", t_c=text)
    assert result.returncode == 2 and all(part in result.stderr for part in said), result.stderr
    assert not (tmp_path / "t.o").exists()


REFUSED_IR = {
    "call void (i64, i32, ...) @llvm.experimental.stackmap(i64 1, i32 0)": ("declare void @llvm.experimental.stackmap(i64, i32, ...)", "stack maps"),
    "call void (i64, i32, ptr, i32, ...) @llvm.experimental.patchpoint.void(i64 1, i32 16, ptr null, i32 0)":
        ("declare void @llvm.experimental.patchpoint.void(i64, i32, ptr, i32, ...)", "stack maps"),
    "call void @llvm.init.trampoline(ptr %p, ptr @g, ptr %p)": ("declare void @llvm.init.trampoline(ptr, ptr, ptr)\ndeclare void @g(ptr nest)", "trampolines"),
    "%r = call i32 @llvm.eh.sjlj.setjmp(ptr %p)": ("declare i32 @llvm.eh.sjlj.setjmp(ptr)", "the C library has setjmp and longjmp"),
    "%r = call i32 @llvm.get.fpmode.i32()": ("declare i32 @llvm.get.fpmode.i32()", "floating-point modes as one value"),
    "call void @llvm.pcmarker(i32 1)": ("declare void @llvm.pcmarker(i32)", "a call of llvm.pcmarker; the core has nothing for it"),
    "%v = load <vscale x 4 x i32>, ptr %p": ("", "vectors of scalable length"),
    '%r = call i64 @llvm.read_register.i64(metadata !{!"q7"})': ("declare i64 @llvm.read_register.i64(metadata)", "register 'q7', which the core has not"),
}


@pytest.mark.parametrize("line", REFUSED_IR)
def test_ir_that_the_core_has_not(tmp_path, line):
    declarations, said = REFUSED_IR[line]
    result = tool(tmp_path, "dougong-llc t.ll -o t.s", t_ll=f"{declarations}\ndefine void @f(ptr %p) {{\n  {line}\n  ret void\n}}\n")
    assert result.returncode == 2 and "dougong-llc: error: " in result.stderr and said in result.stderr, result.stderr
    assert not (tmp_path / "t.s").exists()


def test_registers_kept_free(tmp_path):
    text = 'register long kept __asm__("s11"); register long sp __asm__("sp"); long f(long x) { kept += x; return sp; }\n'
    text += "long g(void); long h(long a) { long b = g(), c = g(), d = g(); return a * b + c * d * g() + a * d; }\n"
    result = tool(tmp_path, "dougong-cc -O2 -ffixed-x27 -ffixed-x9 -S t.c -o -", t_c=text)
    assert result.returncode == 0, result.stderr
    assert "add s11, s11, a0" in result.stdout.replace("\t", " ") and "mv a0, sp" in result.stdout.replace("\t", " ")
    assert "sd s11" not in result.stdout.replace("\t", " ")  # no caller gets it back
    assert "s1," not in result.stdout


def test_patchable_entries_and_stack_sizes(tmp_path):
    result = tool(tmp_path, "dougong-cc -O1 -fpatchable-function-entry=3 -fstack-usage -c t.c -o t.o && " + f"{BIN}/dougong-cc -O1 -fpatchable-function-entry=3 -S t.c -o -", t_c="int f(int x) { return x + 1; }\nvoid use(char *); void g(void) { char a[200]; use(a); }\n")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("nop") == 6
    rows = [line.split("\t") for line in (tmp_path / "t.su").read_text().splitlines()]
    assert [(row[0].split(":")[-1], row[2]) for row in rows] == [("f", "static"), ("g", "static")] and int(rows[0][1]) == 0 and int(rows[1][1]) >= 208
    assert tool(tmp_path, "dougong-cc -O1 -fstack-size-section -S t.c -o -").stdout.count(".stack_sizes") == 2


def test_rounding_modes(tmp_path):
    # LLVM's modes: towards zero, to nearest even, up, down, nearest away. 1/3 and its negative tell directions apart, 1 + 2^-24 what becomes of ties.
    text = r"""
#include <stdio.h>
void set_rounding(int mode);
int main(void) {
  volatile float one = 1, minus = -1, three = 3;
  for (int mode = 0; mode < 5; ++mode) {
    set_rounding(mode);
    float up = one / three, down = minus / three, tie = one + 0x1p-24f;
    int now = __builtin_flt_rounds();
    set_rounding(1);
    printf("%d %a %a %d\n", now, up, down, tie > 1);
  }
}
"""
    result = tool(tmp_path, f"dougong-cc -O2 -frounding-math t.c set.ll -o t && {BIN}/dougong sim t", t_c=text, set_ll="declare void @llvm.set.rounding(i32)\ndefine void @set_rounding(i32 %m) {\n  call void @llvm.set.rounding(i32 %m)\n  ret void\n}\n")
    low, high = "0x1.555554p-2", "0x1.555556p-2"  # either side of 1/3, which is nearer to the second
    expected = [(low, low, 0), (high, high, 0), (high, low, 1), (low, high, 0), (high, high, 1)]
    assert [line.split() for line in result.stdout.splitlines()] == [[str(m), a, "-" + b, str(up)] for m, (a, b, up) in enumerate(expected)], result.stderr


def test_undefined_behaviour_traps(tmp_path):
    text = "#include <stdlib.h>\nint main(int c, char **v) { return atoi(v[1]) + 0x7fffff00 < 0; }\n"
    result = tool(tmp_path, "dougong-cc -O1 -fsanitize=undefined -fsanitize-trap=undefined -mcmodel=medany t.c -o t", t_c=text)
    assert result.returncode == 0, result.stderr
    assert tool(tmp_path, "dougong sim t 5").returncode == 0
    trapped = tool(tmp_path, "dougong sim t 500")  # without the trap the sum wraps, and the status is 1
    assert trapped.returncode == 200 and "device fault: core 0" in trapped.stderr
    for options in ("-fsanitize=undefined", "-fsanitize=address -fsanitize-trap=all", "-fsanitize=undefined,thread -fsanitize-trap=undefined"):
        refused = tool(tmp_path, f"dougong-cc {options} -c t.c -o no.o")
        assert refused.returncode == 2 and "there is no runtime for it" in refused.stderr
    assert "medlow' is not for the NPU: programs lie at 2 GiB" in tool(tmp_path, "dougong-cc -mcmodel=medlow -c t.c").stderr


CPLUSPLUS = r"""
#include <stdio.h>
#include <stdint.h>
struct Shape { virtual int area() const = 0; virtual ~Shape() { printf("~shape\n"); } };
struct Square : Shape { int side; explicit Square(int s) : side(s) {} int area() const override { return side * side; } ~Square() override { printf("~square %d\n", side); } };
struct alignas(64) Wide : Shape { int x[20]; int area() const override { return int((uintptr_t)this % 64) + 7; } };
struct Told { const char *name; Told(const char *n) : name(n) { printf("+%s\n", n); } ~Told() { printf("-%s\n", name); } };
static Told first("first"), second("second");
static Told &local(const char *n) { static Told told(n); return told; }
template <class T, int N> struct Sum { static T of(const T *x) { return x[0] + Sum<T, N - 1>::of(x + 1); } };
template <class T> struct Sum<T, 0> { static T of(const T *) { return 0; } };
int main() {
  double x[4] = {1, 2, 3.5, 4};
  printf("%g\n", Sum<double, 4>::of(x));
  Shape *shapes[] = {new Square(3), new Wide, new Square(5)};
  for (Shape *shape : shapes) printf("%d\n", shape->area());
  for (Shape *shape : shapes) delete shape;
  local("once"), local("twice");
  Told *many = new Told[2]{"a", "b"};
  delete[] many;
  auto add = [&](int k) { return x[k] + 1; };
  printf("%g\n", add(2));
  return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_cplusplus_without_a_library_against_the_host(tmp_path, level):
    result = tool(tmp_path, f"dougong-cc {level} -std=c++17 -Wall -Werror t.cc -o t && {BIN}/dougong sim t", t_cc=CPLUSPLUS)
    assert result.returncode == 0, result.stderr
    subprocess.run("/usr/lib/llvm-22/bin/clang++ -std=c++17 t.cc -o host", shell=True, cwd=tmp_path, check=True)
    assert result.stdout == subprocess.run("./host", cwd=tmp_path, capture_output=True, text=True, check=True).stdout and "twice" not in result.stdout


@pytest.mark.parametrize("option", ["-fexceptions", "-frtti"])
def test_what_needs_a_library_of_cplusplus(tmp_path, option):
    refused = tool(tmp_path, f"dougong-cc {option} -c t.cc", t_cc="int x;\n")
    assert refused.returncode == 2 and f"'{option}' is not for the NPU: no library of C++ is shipped" in refused.stderr


def test_words_of_128_bits_to_halves(tmp_path):
    # Ties of the half's 11 bits, and the same with a bit below that breaks them.
    text = r"""
#include <stdio.h>
int main(void) {
  volatile __int128 over = 65520, under = 65519, odd = 2049, more = 2051, huge = (__int128)1 << 100;
  volatile unsigned __int128 all = ~(unsigned __int128)0, five = 5;
  printf("%g %g %g %g %g %g ", (double)(_Float16)over, (double)(_Float16)under, (double)(_Float16)odd, (double)(_Float16)-more, (double)(_Float16)all, (double)(_Float16)-huge);
  volatile _Float16 h = -65504, k = 60000;
  printf("%g %lld %lld\n", (double)(_Float16)five, (long long)(__int128)h, (long long)(unsigned __int128)k);
}
"""
    result = tool(tmp_path, f"dougong-cc -O1 t.c -o t && {BIN}/dougong sim t", t_c=text)
    assert result.stdout == "inf 65504 2048 -2052 inf -inf 5 -65504 60000\n", (result.stdout, result.stderr)


def test_what_cplusplus_ends_a_program_for(tmp_path):
    text = r"""
#include <stddef.h>
struct A { A(); int v; };
static A &get();
A::A() { v = get().v; }
static A &get() { static A a; return a; }
struct P { P(); virtual void f() = 0; void g() { f(); } };
P::P() { g(); }
struct Q : P { void f() override {} };
int main(int c, char **) {
  if (c == 1) get();
  if (c == 2) Q q;
  return new char[(size_t)c << 31] != nullptr;
}
"""
    assert tool(tmp_path, "dougong-cc t.cc -o t", t_cc=text).returncode == 0
    for words, said in ("", "initialiser needs that variable"), ("a", "a pure virtual function was called"), ("a b", "operator new: no room for"):
        ended = tool(tmp_path, f"dougong sim t {words}")
        assert ended.returncode == 134 and said in ended.stderr


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_strict_comparisons(tmp_path, level):
    """Every comparison, of floats and doubles, NaN among them, under -ffp-exception-behavior=strict as the host has it."""
    kinds = "".join(f"{t} {n}[] = {{-1, 0, 2, __builtin_nan(\"\")}};" for t, n in (("volatile float", "f"), ("volatile double", "d")))
    prints = "".join(f'printf("%d%d ", {a}[i] {op} {a}[j], !({a}[i] {op} {a}[j]));' for a in "fd" for op in ("<", "<=", ">", ">=", "==", "!="))
    text = f"#include <stdio.h>\nint main(void) {{ {kinds} for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) {{ {prints} }} }}\n"
    result = tool(tmp_path, f"dougong-cc {level} -ffp-exception-behavior=strict t.c -o t && {BIN}/dougong sim t", t_c=text)
    assert result.returncode == 0, result.stderr
    subprocess.run("/usr/lib/llvm-22/bin/clang t.c -o host", shell=True, cwd=tmp_path, check=True)
    assert result.stdout == subprocess.run("./host", cwd=tmp_path, capture_output=True, text=True, check=True).stdout
