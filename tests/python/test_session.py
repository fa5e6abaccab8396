"""The Python package on small models: against numpy, on each device, and its errors."""
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import dougong


def write_model(path, nodes, inputs, outputs, initializers=(), name="small"):
    graph = helper.make_graph(nodes, name, inputs, outputs, [numpy_helper.from_array(array, key) for key, array in initializers])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture
def linear(tmp_path):
    """y = relu(x @ w + b), batch open."""
    rng = np.random.default_rng(1)
    w, b = rng.standard_normal((24, 40), np.float32), rng.standard_normal(40, np.float32)
    path = write_model(tmp_path / "linear.onnx",
                       [helper.make_node("Gemm", ["x", "w", "b"], ["t"]), helper.make_node("Relu", ["t"], ["y"])],
                       [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 24])],
                       [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 40])], [("w", w), ("b", b)])
    return path, lambda x: np.maximum(x @ w + b, 0)


def test_cpu_equals_numpy_for_several_batches(linear):
    path, reference = linear
    session = dougong.load(path, device="cpu", cache=False)
    assert [port.name for port in session.inputs] == ["x"] and session.inputs[0].shape == (None, 24)
    for batch in (1, 7, 33):
        x = np.random.default_rng(batch).standard_normal((batch, 24), np.float32)
        np.testing.assert_allclose(session.run({"x": x})["y"], reference(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("timing", [False, True])
def test_npu_is_within_half_precision(linear, timing):
    path, reference = linear
    session = dougong.load(path, device="npu", machine="tiny", timing=timing, cache=False)
    x = np.random.default_rng(3).standard_normal((32, 24), np.float32)
    y = session.run({"x": x})["y"]
    np.testing.assert_allclose(y, reference(x), rtol=1e-2, atol=2e-2)
    report = session.report("json")
    assert report["npu"]["tensor_macs"] >= 32 * 24 * 40
    assert report["timed"] == timing
    if timing:
        assert report["npu"]["cycles"] > 0 and report["npu"]["energy_total_joule"] > 0
        for operator in report["operators"]:
            assert operator["seconds"] >= operator["roofline_bound_seconds"]


def test_saved_artifact_runs_the_same(linear, tmp_path):
    path, reference = linear
    session = dougong.load(path, device="cpu", cache=False)
    session.prepare({"x": (5, 24)})
    session.save(tmp_path / "linear.dgx")
    x = np.ones((5, 24), np.float32)
    again = dougong.load(tmp_path / "linear.dgx", device="cpu")
    np.testing.assert_array_equal(again.run({"x": x})["y"], session.run({"x": x})["y"])


def test_explain_says_what_will_run(linear):
    session = dougong.load(linear[0], device="npu", machine="tiny", cache=False)
    operators = session.explain({"x": (32, 24)}, "json")["operators"]
    assert sum(operator["tensor_macs"] for operator in operators) == 32 * 24 * 40
    assert all(operator["device"] == "npu" for operator in operators)
    assert "Gemm" in session.explain({"x": (32, 24)})
    with pytest.raises(dougong.Error, match="no format 'html'"):
        session.explain({"x": (32, 24)}, "html")


def test_non_contiguous_input_is_taken_as_it_reads(linear):
    path, reference = linear
    x = np.random.default_rng(4).standard_normal((24, 6), np.float32).T
    np.testing.assert_allclose(dougong.load(path, device="cpu", cache=False).run({"x": x})["y"], reference(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("inputs, part", [
    ({}, "x"),
    ({"z": np.zeros((1, 24), np.float32)}, "z"),
    ({"x": np.zeros((1, 25), np.float32)}, "25"),
    ({"x": np.zeros((1, 24), np.int32)}, "i32"),
])
def test_wrong_inputs_are_named(linear, inputs, part):
    session = dougong.load(linear[0], device="cpu", cache=False)
    with pytest.raises(dougong.Error) as error:
        session.run(inputs)
    assert part in str(error.value) and error.value.status == "invalid"


def test_unknown_machine_and_missing_file(linear, tmp_path):
    with pytest.raises(dougong.Error, match="fridge"):
        dougong.load(linear[0], machine="fridge", cache=False).run({"x": np.zeros((1, 24), np.float32)})
    with pytest.raises(dougong.Error, match="absent.onnx"):
        dougong.load(tmp_path / "absent.onnx")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_progress_callback_failure_does_not_stop_the_run(linear):
    def broken(now):
        raise ValueError("no")
    session = dougong.load(linear[0], device="cpu", cache=False, progress=broken)
    assert session.run({"x": np.zeros((1, 24), np.float32)})["y"].shape == (1, 40)
