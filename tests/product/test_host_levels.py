"""A model's outputs have the same bits on hosts with and without AVX2 and AVX-512, in both modes, on one core and on all."""
import os
import subprocess

import ocr_models
import pytest


def outputs(folder, level, *options):
    program = ocr_models.SOURCE / "build" / "bin" / "dougong"
    command = [program, "run", ocr_models.path("rec"), "--random", "--shape", "x=1x3x48x64", "--output", folder, "--report", "none", *options]
    subprocess.run(command, check=True, env=os.environ | {"DOUGONG_HOST_LEVEL": level}, timeout=300)
    files = sorted(folder.iterdir())
    assert files
    return [file.read_bytes() for file in files]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return outputs(tmp_path_factory.mktemp("plain"), "base", "--cores", "1")


@pytest.mark.parametrize("level, options", [("v3", []), ("v4", []), ("v4", ["--timing"]), ("v3", ["--timing", "--cores", "1"])])
def test_same_bits(plain, tmp_path, level, options):
    assert outputs(tmp_path, level, *options) == plain
