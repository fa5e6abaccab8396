"""Where tools write to: what cannot be written is said, whatever it is; links, pipes and devices stay what they are."""
import json
import os
import subprocess
from pathlib import Path

import pytest

BIN = Path(os.environ["DOUGONG_BUILD"]).resolve() / "bin"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }")
    (tmp_path / "f.ll").write_text("define void @f() {\n  ret void\n}\n")
    (tmp_path / "f.s").write_text("addi a0, a0, 1\n")
    (tmp_path / "f.mlir").write_text("module {}\n")
    (tmp_path / "full").symlink_to("/dev/full")  # a device that has no room; only the link could get lost
    subprocess.run([BIN / "dougong-cc", "main.c", "-o", "main.elf"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("command", ["dougong-llc f.ll -o full", "dougong-llc -filetype=obj f.ll -o full", "dougong-mc f.s -o full", "dougong-mc -filetype=obj f.s -o full", "dougong-cc -S main.c -o full",
                                     "dougong-cc -c main.c -o full", "dougong-opt f.mlir --emit prepared -o full", "dougong sim --stats full main.elf"])
def test_a_full_device_is_said(folder, command):
    program, *arguments = command.split()
    done = subprocess.run([BIN / program, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 2 and "full" in done.stderr and "No space left on device" in done.stderr and "LLVM ERROR" not in done.stderr, done.stderr


def test_a_trace_that_is_not_complete_is_said(folder):
    done = subprocess.run([BIN / "dougong", "sim", "--timing", "--trace", "full", "main.elf"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "the trace 'full' is not complete: No space left on device\n"


def test_pipes_and_links_stay_what_they_are(folder):
    done = subprocess.run([BIN / "dougong", "sim", "--stats", "/dev/stdout", "main.elf"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["instructions"] > 0
    (folder / "link.json").symlink_to("real.json")
    (folder / "real.json").write_text("old")
    subprocess.run([BIN / "dougong", "sim", "--stats", "link.json", "main.elf"], cwd=folder, check=True)
    assert (folder / "link.json").is_symlink() and json.loads((folder / "real.json").read_text())["instructions"] > 0
    assert not list(folder.glob("*.part"))


@pytest.mark.parametrize("arguments", [["devices"], ["--help"], ["sim", "--help"], ["sim", "hello.elf"]])
def test_a_full_standard_output_is_said(folder, arguments):
    (folder / "hello.c").write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 0; }')
    subprocess.run([BIN / "dougong-cc", "hello.c", "-o", "hello.elf"], cwd=folder, check=True)
    with open("/dev/full", "w") as full:
        done = subprocess.run([BIN / "dougong", *arguments], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "dougong: what was printed is not complete: No space left on device\n")
