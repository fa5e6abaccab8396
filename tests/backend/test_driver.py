"""dougong-cc as users of clang use it: the usual options do what they expect, or are refused by name with the reason. Exit status 2 for a mistake."""
import os
import pathlib
import re
import subprocess

import pytest

BIN = pathlib.Path(os.environ.get("DOUGONG_BUILD", pathlib.Path(__file__).parents[2] / "build")).resolve() / "bin"
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")

FILES = {
    "main.c": '#include <stdio.h>\n#ifndef WHO\n#define WHO "world"\n#endif\nint twice(int);\nint main(void) { printf("%s %d\\n", WHO, twice(21)); return 0; }\n',
    "twice.c": "int twice(int x) { return 2 * x; }\n",
    "twice.cc": 'extern "C" int twice(int x) { auto y = x; return y + y; }\n',
    "twice.s": "  .globl twice\ntwice:\n  slli a0, a0, 1\n  ret\n",
    "twice.S": "#define SHIFT 1\n  .globl twice\ntwice:\n  dg.vmov v0, v1\n  slli a0, a0, SHIFT\n  ret\n",
    "twice.ll": "define i32 @twice(i32 %x) {\n  %y = shl i32 %x, 1\n  ret i32 %y\n}\n",
    "odd.txt": "int twice(int x) { return 2 * x; }\n",
    "header.h": "#define WHO \"header\"\n",
    "include/who.h": "#define WHO \"included\"\n",
    "with.c": '#include "who.h"\n#include "main.c"\n',
    "bad.c": "int f(void) { return x; }\n",
    "worse.c": "int g(void) { return y; }\n",
    "warns.c": "int f(void) { int unused; return 0; }\n",
    "options": "-O2 -DWHO='\"a file\"'\nmain.c twice.c\n",
}


@pytest.fixture
def cc(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def run(line: str, stdin: str = "") -> subprocess.CompletedProcess:
        return subprocess.run(f"{BIN}/dougong-cc {line}", shell=True, cwd=tmp_path, input=stdin, capture_output=True, text=True, timeout=60)

    run.folder = tmp_path
    return run


def printed(cc, program="a.out") -> str:
    return subprocess.run([BIN / "dougong", "sim", cc.folder / program], capture_output=True, text=True, check=True, timeout=60).stdout


# Each makes a program that prints the second.
PROGRAMS = {
    "main.c twice.c": "world 42",
    "-O0 -g main.c twice.cc -o x": "world 42",
    "-O3 -std=c11 -Wall -Wextra -Werror -pedantic main.c twice.c -ox": "world 42",
    "-Os -ffunction-sections -fdata-sections -fno-common main.c twice.s -o x": "world 42",
    "-Og -fno-builtin -fno-strict-aliasing main.c twice.S -o x": "world 42",
    "-Oz -fPIC main.c twice.ll -o x": "world 42",
    "-Ofast -Werror main.c twice.c -o x": "world 42",
    "-O -static -no-pie -pipe main.c -x c odd.txt -o x": "world 42",
    "-x c odd.txt -x none main.c -o x": "world 42",
    "-DWHO='\"you\"' main.c twice.c -o x": "you 42",
    "-D WHO=1 -U WHO main.c twice.c -o x": "world 42",
    "-include header.h main.c twice.c -o x": "header 42",
    "-Iinclude with.c twice.c -o x": "included 42",
    "-I include with.c twice.c -o x": "included 42",
    "-iquote include with.c twice.c -o x": "included 42",
    "@options -o x": "a file 42",
    "-O2 main.c twice.c -lm -lc -o x": "world 42",
    "-Wl,--defsym=nothing=0,-Map=map main.c twice.c -o x && test -s map": "world 42",
    "-Xlinker -Map=map main.c twice.c -s -o x && test -s map": "world 42",
    "-c main.c twice.c && {cc} main.o twice.o -o x": "world 42",
    "-c -O2 twice.cc -o t.o && {ar} rcs libt.a t.o && {cc} main.c -L. -lt -o x": "world 42",
    "-c -O2 twice.cc -o t.o && {ar} rcs libt.a t.o && {cc} main.c -L . -l t -o x": "world 42",
    "-c twice.s && {ar} rcs libt.a twice.o && {cc} main.c libt.a -o x": "world 42",
    "-S -O2 twice.c && {cc} main.c twice.s -o x": "world 42",
    "-S -emit-llvm -O2 twice.c -o t.ll && {cc} main.c t.ll -o x": "world 42",
    "-c -emit-llvm twice.c && {cc} main.c twice.bc -o x": "world 42",
    "-E main.c -o m.i && {cc} m.i twice.c -o x": "world 42",
    "-r main.c twice.c -o both.o && {cc} both.o -o x": "world 42",
    "-mllvm -verify-machineinstrs -O1 main.c twice.c -o x": "world 42",
    "-o x -- main.c twice.c": "world 42",
}


@pytest.mark.parametrize("line", PROGRAMS)
def test_programs(cc, line):
    result = cc(line.replace("{cc}", f"{BIN}/dougong-cc").replace("{ar}", f"{LLVM}/llvm-ar"))
    assert result.returncode == 0, result.stderr
    assert printed(cc, "x" if re.search(r"-o ?x\b", line) else "a.out") == PROGRAMS[line] + "\n"


def test_standard_input_and_output(cc):
    assert cc("-x c - -O1 -S -o -", "int f(int x) { return x + 1; }").stdout.count("addiw") == 1
    assert cc("-x c -c - -o t.o", FILES["twice.c"]).returncode == 0
    assert cc("-x assembler -c - -o t.o", FILES["twice.s"]).returncode == 0
    assert cc("-x ir - -S -o -", FILES["twice.ll"]).stdout.count("twice:") == 1
    assert cc("main.c t.o").returncode == 0 and printed(cc) == "world 42\n"
    assert "int f" in cc("-E -", "int f(void);").stdout
    assert "#define __riscv 1" in cc("-E -dM -x c /dev/null").stdout


def test_dependencies_name_the_object(cc):
    (cc.folder / "out").mkdir()
    assert cc("-c -MD with.c -Iinclude -o out/w.o").returncode == 0
    text = (cc.folder / "out/w.d").read_text()
    assert text.startswith("out/w.o: with.c") and "include/who.h" in text and "stdio.h" in text
    assert cc("-c -MMD -MP with.c -Iinclude").returncode == 0
    text = (cc.folder / "with.d").read_text()
    assert text.startswith("with.o: with.c") and "stdio.h" not in text and "\nmain.c:\n" in text
    assert cc("-c -MMD -MF deps -MT target twice.S").returncode == 0
    assert (cc.folder / "deps").read_text() == "target: twice.S\n"
    assert cc("-MM with.c -Iinclude").stdout.startswith("with.o: with.c")


def test_commands_are_shown(cc):
    shown = cc("-### main.c twice.s -lfoo")
    assert shown.returncode == 0 and not (cc.folder / "a.out").exists()
    assert [line.split('"')[1].rsplit("/", 1)[1] for line in shown.stderr.splitlines()] == ["clang", "ld.lld"] and '"-lfoo"' in shown.stderr
    assert cc("-v main.c twice.c").stderr.count("ld.lld") == 1 and printed(cc) == "world 42\n"


def test_what_nothing_uses_is_left_out(cc):
    (cc.folder / "spare.c").write_text("int spare_table[500] = {1};\nint spare(int x) { return spare_table[x] * 3; }\nint twice(int x) { return 2 * x; }\n")
    sizes = []
    for options in ("", "-ffunction-sections -fdata-sections"):
        assert cc(f"-O1 {options} main.c spare.c").returncode == 0 and printed(cc) == "world 42\n"
        symbols = subprocess.run([LLVM / "llvm-nm", "a.out"], cwd=cc.folder, capture_output=True, text=True).stdout
        sizes.append(["spare" in symbols.split(), "spare_table" in symbols.split()])
    assert sizes == [[True, True], [False, False]]


def test_switches_of_inline_functions_of_two_files(cc):
    cases = "".join(f"case {k}: return x * {k + 3} ^ {k * k};" for k in range(12))
    (cc.folder / "choose.h").write_text(f"inline int choose(int k, int x) {{ switch (k) {{ {cases} default: return 0; }} }}\nstruct s {{ int (*f)(int, int); }};\n")
    (cc.folder / "one.cc").write_text('#include "choose.h"\nextern const s t; const s t = {choose};\nextern "C" int twice(int x) { return t.f(x / 2, x) + choose(x % 3, 5); }\n')
    (cc.folder / "two.cc").write_text('#include "choose.h"\n#include <stdio.h>\nextern const s t;\nextern "C" int twice(int);\nint main() { printf("%d %d\\n", twice(7), t.f == choose); }\n')
    for options in ("-O0", "-O2", "-O2 -ffunction-sections", "-O2 -fno-inline"):
        assert cc(f"{options} one.cc two.cc").returncode == 0
        assert printed(cc) == f"{(7 * 6 ^ 9) + (5 * 4 ^ 1)} 1\n"


def test_questions(cc):
    version = cc("--version").stdout
    assert re.match(r"dougong-cc \d+\.\d+\.\d+, ", version) and "clang version 22" in version
    assert cc("-v").returncode == 0
    assert cc("-dumpmachine").stdout.startswith("riscv64")
    assert "usage: dougong-cc" in cc("--help").stdout
    for option in ("-###", "-emit-llvm", "-MD", "-Wl,", "-mllvm", "-nostdlib", "-x LANGUAGE", "@FILE"):
        assert option in cc("--help").stdout


# Options that mean nothing here, and mistakes: what the message says.
REFUSED = {
    "-shared main.c": "'-shared' is not for the NPU: programs for the NPU are linked statically",
    "-march=rv64gc main.c": "'-march=rv64gc' is not for the NPU: the NPU's core has one instruction set",
    "-mabi=lp64d main.c": "'-mabi=lp64d' is not for the NPU",
    "--target=x86_64 main.c": "'--target=x86_64' is not for the NPU",
    "-target x86_64 main.c": "'-target' is not for the NPU",
    "-flto main.c": "'-flto' is not for the NPU: each file is compiled by itself",
    "-fsanitize=address main.c": "'-fsanitize=address' is not for the NPU: there is no runtime for it",
    "-fopenmp main.c": "'-fopenmp' is not for the NPU: a program has one thread",
    "-pthread main.c": "'-pthread' is not for the NPU: a program has one thread",
    "--coverage main.c": "'--coverage' is not for the NPU: programs do not write profiles",
    "-fprofile-instr-generate main.c": "'-fprofile-instr-generate' is not for the NPU",
    "-save-temps main.c": "'-save-temps' is not for the NPU: -E, -S -emit-llvm and -S write",
    "-Wa,-a main.c": "'-Wa,-a' is not for the NPU: the assembler has no options",
    "-no-such-option main.c": "unknown argument: '-no-such-option'",
    "-fno-such-option main.c": "unknown argument: '-fno-such-option'",
    "-std=c1066 main.c": "invalid value 'c1066' in '-std=c1066'",
    "-Werror -Wall -c warns.c": "unused variable 'unused'",
    "-O7 main.c": "unknown optimisation level '-O7'",
    "-x pascal main.c": "'-x pascal': there are c, c++",
    "-c -": "standard input has no name that says what it is; add -x LANGUAGE",
    "-c header.h": "'header.h' is a header; headers are not precompiled",
    "-S twice.s": "'twice.s' is assembly already; -c makes an object of it",
    "-S -emit-llvm twice.S": "'twice.S' is assembly already",
    "-emit-llvm twice.c": "'-emit-llvm' makes no program",
    "-c twice.c -c main.c -o both.o": "-o names one output, but there are 2 inputs",
    "odd.txt": "'odd.txt' is no C, C++, assembly, LLVM IR or object file by its name",
    "missing.c": "no such file: 'missing.c'",
    "main.c -o": "'-o' wants a value after it",
    "main.c -I": "'-I' wants a value after it",
    "@missing": "missing",
    "main.c": "undefined symbol: twice",
    "main.c twice.c -lnowhere": "unable to find library -lnowhere",
    "-mllvm -no-such-flag twice.c -c": "-no-such-flag",
    "twice.c main.c -o no/such/folder": "no/such/folder",
}


@pytest.mark.parametrize("line", REFUSED)
def test_mistakes_are_explained(cc, line):
    result = cc(line)
    assert result.returncode == 2, (result.returncode, result.stderr)
    assert REFUSED[line] in result.stderr
    assert not (cc.folder / "a.out").exists()


def test_each_mistake_is_told(cc):
    result = cc("-c bad.c worse.c twice.c")
    assert result.returncode == 2 and "'x'" in result.stderr and "'y'" in result.stderr
    assert (cc.folder / "twice.o").exists()
    result = cc("-shared -flto missing.c main.c")
    assert all(part in result.stderr for part in ("'-shared'", "'-flto'", "'missing.c'"))
    (cc.folder / "bad.s").write_text("  addi a0, a0, 5000\n  addi a0, a0\n")
    result = cc("-c bad.s")
    assert result.returncode == 2 and "bad.s:1:" in result.stderr and "bad.s:2:" in result.stderr and not (cc.folder / "bad.o").exists()


def test_no_temporary_files_are_left(cc, monkeypatch, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    assert cc("main.c twice.S").returncode == 0 and cc("main.c bad.c").returncode == 2 and cc("-### main.c").returncode == 0
    assert list(folder.iterdir()) == []
