"""The model subcommands of `dougong` from a user's side: what they print, write, and say when something is wrong."""
import json
import os
import pathlib
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

BUILD = pathlib.Path(os.environ["DOUGONG_BUILD"])
CASES = pathlib.Path("/usr/share/libonnx-testdata/data/node")


def dougong(*arguments, cwd=None):
    return subprocess.run([BUILD / "bin" / "dougong", *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=120,
                          env={**os.environ, "DOUGONG_CACHE": str(cwd or "/tmp/dougong-test-cache")})


def expect_mistake(result, *parts):
    """Exit status 2, and a message on stderr that has all of `parts`."""
    assert result.returncode == 2, (result.returncode, result.stderr)
    for part in parts:
        assert part in result.stderr
    assert "terminate called" not in result.stderr


@pytest.fixture
def model(tmp_path):
    """y = x * w, 3x4, or any number of rows."""
    w = np.arange(4, dtype=np.float32)
    graph = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"], name="scale")], "scaled",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 4])], [numpy_helper.from_array(w, "w")])
    path = tmp_path / "scaled.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_run_takes_and_writes_npy(model, tmp_path):
    x = np.random.default_rng(1).standard_normal((3, 4), np.float32)
    np.save(tmp_path / "x.npy", x)
    result = dougong("run", model, "--device", "cpu", "--input", f"x={tmp_path}/x.npy", "--output", f"y={tmp_path}/y.npy", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), x * np.arange(4, dtype=np.float32))
    assert "scale" in result.stdout and "on the CPU" in result.stdout


def test_fortran_order_reads_the_same(model, tmp_path):
    x = np.asfortranarray(np.random.default_rng(2).standard_normal((3, 4), np.float32))
    np.save(tmp_path / "x.npy", x)
    assert dougong("run", model, "--device", "cpu", "--input", f"x={tmp_path}/x.npy", "--output", tmp_path / "out", cwd=tmp_path).returncode == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "y.npy"), x * np.arange(4, dtype=np.float32))


def test_json_report_goes_to_a_file(model, tmp_path):
    result = dougong("run", model, "--device", "npu", "--machine", "tiny", "--timing", "--random", "--shape", "x=64x4", "--report", "json", "--report-to",
                     tmp_path / "report.json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["timed"] and report["npu"]["cycles"] > 0
    npu = report["npu"]
    assert npu["energy_total_joule"] == pytest.approx(sum(npu["energy_joule"].values()))
    totals = {sum(engine.values()) for engine in npu["engines"].values()}
    assert totals == {npu["cycles"]}  # one core: busy + stalled + idle = cycles, for each engine


def test_trace_shows_engines_within_the_run(model, tmp_path):
    result = dougong("run", model, "--device", "npu", "--machine", "tiny", "--timing", "--random", "--shape", "x=64x4", "--trace", tmp_path / "a,b.json", "--report",
                     "json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    events = json.loads((tmp_path / "a,b.json").read_text())
    spans = [event for event in (events["traceEvents"] if isinstance(events, dict) else events) if event["ph"] == "X"]
    assert spans and max(event["ts"] + event["dur"] for event in spans) <= 1e6 * json.loads(result.stdout)["npu_seconds"] * 1.001
    expect_mistake(dougong("run", model, "--random", "--shape", "x=64x4", "--trace", tmp_path / "c.json", cwd=tmp_path), "needs 'timing'")


def test_compiled_file_runs_for_each_set_of_shapes(model, tmp_path):
    result = dougong("compile", model, "-o", tmp_path / "m.dgx", "--device", "cpu", "--shape", "x=2x4", "--shape", "x=5x4", cwd=tmp_path)
    assert result.returncode == 0 and "x 2x4: 1 fused operators" in result.stdout and "x 5x4: 1 fused operators" in result.stdout, result.stderr
    for rows in (2, 5):
        x = np.random.default_rng(rows).standard_normal((rows, 4), np.float32)
        np.save(tmp_path / "x.npy", x)
        result = dougong("run", tmp_path / "m.dgx", "--input", f"x={tmp_path}/x.npy", "--output", tmp_path, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), x * np.arange(4, dtype=np.float32))


def test_mistakes_with_compiled_files(model, tmp_path):
    assert dougong("compile", model, "-o", tmp_path / "m.dgx", "--device", "cpu", "--shape", "x=2x4", cwd=tmp_path).returncode == 0
    (tmp_path / "cut.dgx").write_bytes((tmp_path / "m.dgx").read_bytes()[:5000])
    run = lambda *arguments: dougong("run", *arguments, "--random", cwd=tmp_path)  # noqa: E731
    expect_mistake(run(tmp_path / "m.dgx", "--shape", "x=3x4"), "x", "3x4", "2")
    expect_mistake(run(tmp_path / "m.dgx", "--machine", "tiny"), "--machine cannot be given", "compiled for")
    expect_mistake(run(tmp_path / "cut.dgx"), "cut.dgx: truncated")
    expect_mistake(run(tmp_path / "absent.dgx"), "absent.dgx")
    expect_mistake(run(model, "--shape", "x=2x4", "--shape", "x=3x4"), "more than one shape")


def test_timing_of_a_file_for_the_cpu_has_nothing_to_time(model, tmp_path):
    assert dougong("compile", model, "-o", tmp_path / "m.dgx", "--device", "cpu", "--shape", "x=2x4", cwd=tmp_path).returncode == 0
    result = dougong("run", tmp_path / "m.dgx", "--random", "--timing", cwd=tmp_path)
    assert result.returncode == 0 and "nothing of this model ran on the NPU" in result.stderr
    result = dougong("run", model, "--random", "--shape", "x=2x4", "--machine", "tiny", "--timing", cwd=tmp_path)
    assert result.returncode == 0 and result.stderr == ""


def test_a_new_folder_takes_all_outputs(model, tmp_path):
    for folder in ("new", "other/"):
        assert dougong("run", model, "--device", "cpu", "--random", "--shape", "x=2x4", "--output", folder, cwd=tmp_path).returncode == 0
        assert (tmp_path / folder / "y.npy").exists()


def test_explain_names_nodes_and_devices(model, tmp_path):
    result = dougong("explain", model, "--device", "cpu", "--shape", "x=2x4", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "scale" in result.stdout and "cpu" in result.stdout and "compulsory bytes" in result.stdout


def test_random_runs_repeat(model, tmp_path):
    outputs = []
    for name in ("a", "b"):
        assert dougong("run", model, "--device", "cpu", "--random", "--seed", 7, "--shape", "x=5x4", "--output", tmp_path / name, cwd=tmp_path).returncode == 0
        outputs.append(np.load(tmp_path / name / "y.npy"))
    np.testing.assert_array_equal(*outputs)
    assert outputs[0].any()


def test_mistakes_are_explained(model, tmp_path):
    run = lambda *arguments: dougong("run", *arguments, cwd=tmp_path)  # noqa: E731
    np.save(tmp_path / "x.npy", np.zeros((3, 4), np.float32))
    np.save(tmp_path / "wide.npy", np.zeros((3, 5), np.float32))
    np.save(tmp_path / "whole.npy", np.zeros((3, 4), np.int64))
    np.save(tmp_path / "complex.npy", np.zeros((3, 4), np.complex64))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-1])
    (tmp_path / "cut.onnx").write_bytes(model.read_bytes()[:-20])
    (tmp_path / "machine.toml").write_text("[device]\ncores = 1\nspeed = 3\n")
    expect_mistake(run(tmp_path / "absent.onnx", "--random"), "absent.onnx")
    expect_mistake(run(tmp_path / "cut.onnx", "--random"), "cut.onnx")
    expect_mistake(run(tmp_path / "x.npy", "--random"), "x.npy")
    expect_mistake(run(model), "x f32 [rows, 4]", "--input x=FILE.npy")
    expect_mistake(run(model, "--random"), "x f32 [rows, 4]", "--shape x=")
    expect_mistake(run(model, "--random", "--shape", "x=3x5"), "3x5", "[rows, 4]")
    expect_mistake(run(model, "--random", "--shape", "z=3x4"), "no input 'z'", "x f32 [rows, 4]")
    expect_mistake(run(model, "--random", "--shape", "x=3,4"), "is no shape", "1x3x640x640")
    expect_mistake(run(model, "--input", f"z={tmp_path}/x.npy"), "no input 'z'")
    expect_mistake(run(model, "--input", f"x={tmp_path}/nothing.npy"), "nothing.npy")
    expect_mistake(run(model, "--input", f"x={tmp_path}/wide.npy"), "x", "3x5")
    expect_mistake(run(model, "--input", f"x={tmp_path}/whole.npy"), "x", "i64", "f32")
    expect_mistake(run(model, "--input", f"x={tmp_path}/complex.npy"), "c8", "cannot be read")
    expect_mistake(run(model, "--input", f"x={tmp_path}/cut.npy"), "truncated")
    expect_mistake(run(model, "--input", f"x={model}"), "not a .npy file")
    expect_mistake(run(model, "--input", f"x={tmp_path}"), "Is a directory")
    expect_mistake(run(model, "--input", f"x={tmp_path}/x.npy", "--input", f"x={tmp_path}/x.npy"), "'x' more than once")
    (tmp_path / "long.npy").write_bytes(b"\x93NUMPY\x02\x00" + (1 << 20).to_bytes(4, "little") + b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b" " * (1 << 20))
    expect_mistake(run(model, "--input", f"x={tmp_path}/long.npy"), "not one of a plain array")
    expect_mistake(run(model, "--random", "--device", "cpu", "--shape", "x=99999999999x4"), "does not fit this host's memory")
    expect_mistake(run(model, "--random", "--shape", "x=3x4", "--machine", "fridge"), "fridge", "phone")
    expect_mistake(run(model, "--random", "--shape", "x=3x4", "--machine", tmp_path / "machine.toml"), "machine.toml")
    expect_mistake(run(model, "--random", "--shape", "x=3x4", "--device", "gpu"), "gpu", "npu")
    expect_mistake(run(model, "--random", "--shape", "x=3x4", "--output", f"q={tmp_path}/q.npy"), "no output 'q'", "y f32")
    expect_mistake(run(model, "--random", "--shape", "x=3x4", "--device", "cpu", "--output", "y=/nonexistent/y.npy"), "y=/nonexistent/y.npy", "no folder '/nonexistent'")
    expect_mistake(run(model, "--random", "--shape", "x=3x4", "--output", tmp_path / "a" / "b"), "no folder", "/a'")
    expect_mistake(run(model, "--random", "--shape", "x=3x4", "--output", model), "it is a file")
    assert not (tmp_path / "a").exists()
    for option in (["--timing"], ["--machine", "tiny"], ["--cores", 1], ["--trace", "t.json"], ["--check-races"]):
        expect_mistake(run(model, "--random", "--shape", "x=3x4", "--device", "cpu", *option), f"{option[0]} is of the NPU", "--device cpu")
    expect_mistake(run("--fly", "--random"), "MODEL is required", "--fly is not known")
    expect_mistake(dougong("fly"), "no subcommand 'fly'", "run")
    expect_mistake(dougong("help", "fly"), "no subcommand 'fly'")
    expect_mistake(dougong("compile", model, "-o", tmp_path / "m.dgx", "--shape", "x=3x4", "--timing"), "--timing")
    expect_mistake(dougong("compile", model, "-o", tmp_path / "m.dgx", "--shape", "x=3x4", "--device", "cpu", "--machine", "tiny"), "--machine is of the NPU")
    expect_mistake(dougong("compile", model), "--output")
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("name", ["run", "compile", "explain", "compare", "test-onnx", "kernel", "sim", "devices"])
def test_every_subcommand_has_help(name):
    for result in (dougong(name, "--help"), dougong("help", name)):
        assert result.returncode == 0 and result.stderr == "" and f"dougong {name}" in result.stdout
    assert f"  {name} " in dougong("--help").stdout


def test_test_onnx_counts(tmp_path):
    result = dougong("test-onnx", CASES / "test_add", CASES / "test_relu", "--device", "cpu", "--verbose", cwd=tmp_path)
    assert result.stdout.splitlines() == ["passed test_add", "passed test_relu", "2 passed, 0 failed, 0 skipped"], result.stdout + result.stderr
    assert result.returncode == 0


def test_test_onnx_fails_on_a_wrong_output_and_skips_with_a_reason(tmp_path):
    wrong = tmp_path / "cases" / "test_wrong"
    (wrong / "test_data_set_0").mkdir(parents=True)
    for name in ("model.onnx", "test_data_set_0/input_0.pb", "test_data_set_0/input_1.pb"):
        (wrong / name).write_bytes((CASES / "test_add" / name).read_bytes())
    (wrong / "test_data_set_0/output_0.pb").write_bytes((CASES / "test_add" / "test_data_set_0/input_0.pb").read_bytes())
    result = dougong("test-onnx", tmp_path / "cases", CASES / "test_strnormalizer_export_monday_casesensintive_lower", "--device", "cpu", cwd=tmp_path)
    lines = result.stdout.splitlines()
    assert lines[-1].endswith("1 failed, 1 skipped") and result.returncode == 1, result.stdout + result.stderr
    assert any(line.startswith("FAILED test_wrong: output 'sum': ") and "elements differ" in line for line in lines)
    assert any(line.startswith("skipped test_strnormalizer") and "string" in line.lower() for line in lines)


def test_mistakes_with_programs_and_kernels(tmp_path):
    (tmp_path / "program.c").write_text("int main(void) { return 3; }")
    subprocess.run([BUILD / "bin" / "dougong-cc", "program.c", "-o", "program.elf"], cwd=tmp_path, check=True)
    assert dougong("sim", "program.elf", "--fly", cwd=tmp_path).returncode == 3  # the program's own option
    expect_mistake(dougong("sim", "--max-instructions", "-5", "program.elf", cwd=tmp_path), "'-5' is no whole number")
    expect_mistake(dougong("sim", "--gdb", 99999, "program.elf", cwd=tmp_path), "--gdb", "65535")
    expect_mistake(dougong("sim", "--stats", tmp_path, "program.elf", cwd=tmp_path), "cannot be written: Is a directory")
    (tmp_path / "talks.c").write_text("#include <stdio.h>\nint main(void) { puts(\"it ran\"); }")
    subprocess.run([BUILD / "bin" / "dougong-cc", "talks.c", "-o", "talks.elf"], cwd=tmp_path, check=True)
    before_it_runs = dougong("sim", "--stats", "nowhere/s.json", "talks.elf", cwd=tmp_path)
    expect_mistake(before_it_runs, "'nowhere/s.json' cannot be written: No such file")
    assert before_it_runs.stdout == ""
    expect_mistake(dougong("sim", tmp_path, cwd=tmp_path), "cannot read the program")
    (tmp_path / "k.py").write_text("import dougong, dougong.language as tl\n@dougong.jit\ndef k(x):\n    tl.store(x, 1.0)\n")
    (tmp_path / "folder").mkdir()
    kernel = lambda name, *rest: dougong("kernel", "compile", name, "--signature", "*fp32", *rest, cwd=tmp_path)  # noqa: E731
    assert kernel("k.py:k").returncode == 0
    expect_mistake(kernel("k.py:k", "-o", "folder"), "folder: cannot be written: Is a directory")
    expect_mistake(kernel("folder:k"), "cannot read 'folder'")
    assert not list(tmp_path.glob("*.part"))
