"""Runs the fuzz programs: some inputs as they are built, or a part of many under the sanitizers."""
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
BUILD = pathlib.Path(os.environ["DOUGONG_BUILD"])
SANITIZED = SOURCE / "build-sanitize"
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")


def run(*command, timeout=60) -> str:
    """What the command says on stderr; it must succeed."""
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, env={"UBSAN_OPTIONS": "print_stacktrace=1", **os.environ})
    assert result.returncode == 0, (command, result.stdout[-2000:], result.stderr[:6000])
    return result.stderr


def fuzz(program: str, few: int, many: int, files: list[pathlib.Path]) -> None:
    """`few` inputs; or, where DOUGONG_PART is K/N, the Kth of N parts of `many` others, sanitized."""
    build, seed, first, count = BUILD, 1, 0, few
    if part := os.environ.get("DOUGONG_PART"):
        k, n = map(int, part.split("/"))
        build, seed, first = SANITIZED, 2, many * (k - 1) // n
        count = many * k // n - first
    said = run(build / "bin" / program, "--seed", seed, "--first", first, "--count", count, *files, timeout=3600)
    assert f"{count} inputs" in said
