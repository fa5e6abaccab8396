"""ONNX's own node tests: none may fail, and what is skipped says which op or type it lacks."""
import os
import pathlib
import re
import subprocess

import pytest

CASES = pathlib.Path("/usr/share/libonnx-testdata/data/node")
PROGRAM = pathlib.Path(os.environ["DOUGONG_BUILD"]) / "bin" / "dougong"


@pytest.mark.skipif(not CASES.exists(), reason="Debian's libonnx-testdata is not installed")
def test_node_cases():
    result = subprocess.run([PROGRAM, "test-onnx", CASES, "--device", "auto", "--no-cache"], capture_output=True, text=True)
    lines = result.stdout.splitlines()
    passed, failed, skipped = map(int, re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1]).groups())
    assert failed == 0 and result.returncode == 0, [line for line in lines if line.startswith("FAILED")]
    assert passed >= 835 and passed + skipped == len(list(CASES.iterdir()))
    for line in lines[:-1]:
        assert re.match(r"skipped \S+: .*(\bop \S|\btype \w|contradicts itself)", line), line
