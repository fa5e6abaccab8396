"""clang-format decides how the sources of C and C++ look (.clang-format)."""
import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).parents[2]
CLANG_FORMAT = "/usr/lib/llvm-22/bin/clang-format"
SUFFIXES = {".c", ".cc", ".cpp", ".h", ".hpp"}


def test_sources_are_formatted():
    listed = subprocess.run(["git", "ls-files"], cwd=SOURCE, capture_output=True, text=True, check=True).stdout.split()
    files = [f for f in listed if pathlib.Path(f).suffix in SUFFIXES and (SOURCE / f).exists()]
    assert files
    checked = subprocess.run([CLANG_FORMAT, "--dry-run", "--Werror", *files], cwd=SOURCE, capture_output=True, text=True)
    wrong = sorted({line.split(":")[0] for line in checked.stderr.splitlines() if "error:" in line})
    assert checked.returncode == 0, f"run {CLANG_FORMAT} -i on: {' '.join(wrong)}"
