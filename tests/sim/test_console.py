"""What a C program sees of the host: the standard streams, its arguments, the clock and files. The same program runs on the host for comparison."""
import json
import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["DOUGONG_BUILD"])


def programs(folder, text):
    (folder / "program.c").write_text(text)
    subprocess.run([BUILD / "bin/dougong-cc", "-O2", "program.c", "-o", "program.elf"], cwd=folder, check=True)
    subprocess.run(["/usr/lib/llvm-22/bin/clang", "-O2", "program.c", "-o", "program"], cwd=folder, check=True)


def run(command, **more):
    return subprocess.run(command, capture_output=True, **more)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reader")
    programs(folder, r"""
#include <stdio.h>
#include <string.h>
int main(int count, char **arguments) {
  char line[8], word[20];
  int n = 0, byte;
  if (!strcmp(arguments[1], "bytes"))
    while ((byte = getchar()) != EOF)
      n = n * 31 + byte;
  if (!strcmp(arguments[1], "lines"))
    while (fgets(line, sizeof line, stdin))
      printf("<%s>", line);
  if (!strcmp(arguments[1], "words"))
    while (scanf("%19s", word) == 1)
      printf("<%s>", word);
  if (!strcmp(arguments[1], "block"))
    n = (int)fread(word, 1, sizeof word, stdin);
  fprintf(stderr, "%d of %d\n", n, count);
  printf("%d %d %d\n", n, feof(stdin) != 0, ferror(stdin) != 0);
  return getchar() == EOF ? 0 : 1;
}
""")
    return folder


@pytest.mark.parametrize("given", [b"", b"one", b"one\n", b"one two\nthe third line is long\n\nlast", bytes(range(256))])
@pytest.mark.parametrize("way", ["bytes", "lines", "words", "block"])
def test_standard_streams(reader, way, given):
    if way in ("lines", "words"):
        given = given.replace(b"\0", b"0")  # which would end what is printed
    ours, host = run([BUILD / "bin/dougong", "sim", reader / "program.elf", way], input=given), run([reader / "program", way], input=given)
    assert (ours.returncode, ours.stdout, ours.stderr) == (host.returncode, host.stdout, host.stderr)


def test_arguments_arrive_as_they_are(tmp_path):
    programs(tmp_path, '#include <stdio.h>\nint main(int n, char **a) { for (int i = 1; i < n; ++i) printf("%s|", a[i]); return n + (a[n] != NULL); }')
    for arguments in [], ["one"], ["a b", "", '"', "\\", "\\ ", "it's", "tab\tand\nline", "--help", ""], [" "] * 100, ["x" * 50000, "y"], ["x" * 100000] * 9:
        ours, host = run([BUILD / "bin/dougong", "sim", tmp_path / "program.elf", *arguments]), run([tmp_path / "program", *arguments])
        assert (ours.returncode, ours.stdout, ours.stderr) == (host.returncode, host.stdout, b""), arguments
    (tmp_path / "name.c").write_text("#include <stdio.h>\nint main(int n, char **a) { puts(a[0]); }")
    subprocess.run([BUILD / "bin/dougong-cc", "name.c", "-o", "a name.elf"], cwd=tmp_path, check=True)
    assert run([BUILD / "bin/dougong", "sim", "a name.elf"], cwd=tmp_path).stdout == b"a name.elf\n"


def test_clock_is_the_time_of_the_npu(tmp_path):
    (tmp_path / "clock.c").write_text(r"""
#include <dougong_npu.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
int main(void) {
  struct timeval from, to;
  gettimeofday(&from, NULL);
  clock_t began = clock();
  uint64_t cycles = __dg_cycle();
  for (volatile int i = 0; i < 300000; ++i) {
  }
  cycles = __dg_cycle() - cycles;
  clock_t took = clock() - began;
  gettimeofday(&to, NULL);
  printf("[%llu, %f, %lld]\n", (unsigned long long)cycles, (double)took / CLOCKS_PER_SEC, (to.tv_sec - from.tv_sec) * 1000000ll + to.tv_usec - from.tv_usec);
}
""")
    subprocess.run([BUILD / "bin/dougong-cc", "-O2", "clock.c", "-o", "clock.elf"], cwd=tmp_path, check=True)
    cycles, seconds, microseconds = json.loads(run([BUILD / "bin/dougong", "sim", "--timing", "clock.elf"], cwd=tmp_path).stdout)
    assert cycles > 600000
    assert seconds == pytest.approx(cycles / 0.9e9, rel=0.01)  # `phone` has 0.9 GHz
    assert microseconds == pytest.approx(cycles / 900, rel=0.02)


FILES = r"""
#include <errno.h>
#include <stdio.h>
#include <string.h>
static void show(const char *name) {
  char line[100];
  FILE *file = fopen(name, "r");
  if (!file) {
    printf("%s: %s\n", name, errno == ENOENT ? "none" : errno == EACCES ? "refused" : "other");
    return;
  }
  while (fgets(line, sizeof line, file))
    printf("%s:<%s>", name, line);
  fclose(file);
}
static int put(const char *name, const char *mode, const char *text) {
  FILE *file = fopen(name, mode);
  return file ? (fputs(text, file), fclose(file)) : -1;
}
int main(int count, char **arguments) {
  for (int i = 1; i < count; ++i)
    show(arguments[i]);
  for (int round = 0; round < 4; ++round) {
    put("one", "w", "first\nsecond");
    show("one");
    put("one", "a", " and third\n");
    put("two", "wb", "other\n");
    show("one"), show("two");
  }
  FILE *both = fopen("both", "w+"), *again = fopen("two", "r");
  if (both && again) {
    fputs("0123456789", both);
    fseek(both, 3, SEEK_SET);
    printf("%c%c", getc(both), getc(again));
    fclose(both), fclose(again);
  }
  printf(" %d %d %d\n", rename("two", "three"), remove("one"), remove("none"));
  show("one"), show("two"), show("three"), show("folder/deep");
}
"""


def test_files_in_the_folder_given(tmp_path):
    programs(tmp_path, FILES)
    printed = []
    for name, command in ("host", [tmp_path / "program"]), ("ours", [BUILD / "bin/dougong", "sim", "--files", ".", tmp_path / "program.elf"]):
        folder = tmp_path / name
        (folder / "folder").mkdir(parents=True)
        (folder / "folder" / "deep").write_text("deep down\n")
        result = run(command, cwd=folder)
        assert result.stderr == b""
        printed.append((result.stdout, sorted((str(file.relative_to(folder)), file.is_file() and file.read_text()) for file in folder.rglob("*"))))
    assert printed[0] == printed[1]
    assert b"deep down" in printed[0][0] and ("three", "other\n") in printed[0][1]


def test_other_files_are_refused(tmp_path):
    programs(tmp_path, FILES)
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "given" / "one").symlink_to(tmp_path / "made")  # which is not there: the program writes `one`
    (tmp_path / "given-not").mkdir()
    names = ["../secret", str(tmp_path / "secret"), "link", "./../given-not/x", "/proc/self/environ", "."]
    result = run([BUILD / "bin/dougong", "sim", "--files", "given", "program.elf", *names], cwd=tmp_path, text=True)
    assert "secret\n" not in result.stdout
    assert result.stdout.splitlines()[:6] == [f"{name}: refused" for name in names]
    assert result.stderr == "dougong sim: file '../secret' is refused (EACCES): it is not in 'given', which --files allows\n"
    assert not (tmp_path / "made").exists()

    result = run([BUILD / "bin/dougong", "sim", "program.elf", "secret"], cwd=tmp_path, text=True)
    assert result.stdout.startswith("secret: refused\none: refused\n") and result.stderr.count("\n") == 1 and "--files FOLDER" in result.stderr
    assert not (tmp_path / "one").exists()
    assert run([BUILD / "bin/dougong", "sim", "--files", "nowhere", "program.elf"], cwd=tmp_path).returncode == 2
