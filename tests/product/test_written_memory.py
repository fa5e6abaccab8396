"""--check-memory: what the compiler makes of whole models reads nothing on chip that nobody has written; a kernel that does is told where."""
import subprocess

import ocr_models
import pytest

BIN = ocr_models.SOURCE / "build" / "bin"


@pytest.mark.parametrize("model, shape", [("det", "x=1x3x96x160"), ("rec", "x=1x3x48x96"), ("cls", "x=1x3x48x192")])
@pytest.mark.parametrize("machine", ["phone", "tiny"])
def test_models_read_what_was_written(model, shape, machine):
    command = [BIN / "dougong", "run", ocr_models.path(model), "--random", "--shape", shape, "--machine", machine, "--check-memory", "--report", "json"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr


def test_a_program_that_reads_what_nobody_wrote(tmp_path):
    source = tmp_path / "forgets.c"
    source.write_text("int main(void) {\n  volatile int *lm = (int *)0x10000000;\n  lm[0] = 0;\n  return lm[0] + lm[1];\n}\n")
    subprocess.run([BIN / "dougong-cc", "-O2", "-g", source, "-o", tmp_path / "forgets.elf"], check=True)
    assert subprocess.run([BIN / "dougong", "sim", tmp_path / "forgets.elf"], timeout=60).returncode == 0
    checked = subprocess.run([BIN / "dougong", "sim", "--check-memory", tmp_path / "forgets.elf"], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 200
    assert "the core reads local memory [0x10000004, 0x10000008), and nothing has written 0x10000004 since the launch began" in checked.stderr
    assert "forgets.c:4" in checked.stderr
