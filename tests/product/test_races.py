"""What the compiler makes of whole models has no races: every two accesses to a byte that conflict are ordered by a wait, on chip and in DRAM."""
import subprocess

import ocr_models
import pytest


@pytest.mark.parametrize("model, shape", [("det", "x=1x3x96x160"), ("rec", "x=1x3x48x96")])
@pytest.mark.parametrize("machine", ["phone", "tiny"])
def test_no_race(model, shape, machine):
    program = ocr_models.SOURCE / "build" / "bin" / "dougong"
    command = [program, "run", ocr_models.path(model), "--random", "--shape", shape, "--machine", machine, "--check-races", "--report", "json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert "race" not in result.stderr
