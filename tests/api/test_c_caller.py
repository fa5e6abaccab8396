"""A C program against libdougong."""
import os
import pathlib
import subprocess

import onnx
import pytest
from onnx import TensorProto, helper

BUILD = pathlib.Path(os.environ["DOUGONG_BUILD"])
SOURCE = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("c") / "caller"
    subprocess.run(["/usr/lib/llvm-22/bin/clang", "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE}/api/include", SOURCE / "tests/api/caller/c_caller.c",
                    f"-L{BUILD}/lib", "-ldougong", f"-Wl,-rpath,{BUILD}/lib", "-o", path], check=True)
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "relu.onnx"
    info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("x", "y")]
    onnx.save(helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", info[:1], info[1:]),
                                opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.parametrize("device", ["cpu", "npu"])
def test_runs_a_model(program, model, device):
    result = subprocess.run([program, model, device], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == "y: 1 0 3 0 5 0"
    assert f"1 on the {device.upper()}" in result.stdout


def test_says_what_is_wrong(program):
    result = subprocess.run([program, "/nonexistent.onnx"], capture_output=True, text=True)
    assert result.returncode == 1 and "open: " in result.stderr and "/nonexistent.onnx" in result.stderr


def test_only_the_api_leaves_the_library():
    symbols = subprocess.run(["/usr/lib/llvm-22/bin/llvm-nm", "-D", "--defined-only", "--format=just-symbols", BUILD / "lib" / "libdougong.so"],
                             capture_output=True, text=True, check=True).stdout.split()
    assert "dg_session_run" in symbols
    assert not [symbol for symbol in symbols if not symbol.startswith("dg_")]
