"""What stands in docs/ runs: every block of sh, python and cpp, in order, in a folder of its document's own."""
import os
import pathlib
import re
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ["DOUGONG_BUILD"])


def blocks():
    for document in sorted((SOURCE / "docs").glob("*.md")):
        for match in re.finditer(r"^```(sh|python|cpp)\n(.*?)^```$", document.read_text(), re.M | re.S):
            line = document.read_text()[: match.start()].count("\n") + 1
            yield pytest.param(*match.groups(), id=f"{document.name}:{line}")


@pytest.mark.parametrize("language, text", blocks())
def test_block(language, text, tmp_path):
    environment = {**os.environ, "PATH": f"{BUILD}/bin:{SOURCE}/.venv/bin:{os.environ['PATH']}", "PYTHONPATH": f"{BUILD}/python", "DOUGONG_CACHE": str(tmp_path / "cache")}
    if language == "cpp":
        (tmp_path / "block.cc").write_text(text)
        text = (f"/usr/lib/llvm-22/bin/clang++ -std=c++20 -Wall -Werror -Wno-missing-field-initializers -I{SOURCE}/api/include block.cc -L{BUILD}/lib -ldougong "
                f"-Wl,-rpath,{BUILD}/lib -o block && ./block")
    if language == "python":
        (tmp_path / "block.py").write_text(text)  # a kernel's text is read from its file
    command = ["python", "block.py"] if language == "python" else ["bash", "-euo", "pipefail", "-c", text]
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
