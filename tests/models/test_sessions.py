"""Sessions: shapes that come at run time, specialisation on values, the cache, and what is said to wrong input."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import pytest

import dougong

sys.path.insert(0, str(pathlib.Path(__file__).parent / "inputs"))
import write_model  # noqa: E402
from write_model import model, node  # noqa: E402

PROGRAM = pathlib.Path(os.environ["DOUGONG_BUILD"]) / "bin" / "dougong"


@pytest.fixture
def rows(tmp_path):
    """y[N, 2] = x[N, 3] · w"""
    w = np.arange(6, dtype=np.float32).reshape(3, 2)
    path = tmp_path / "rows.onnx"
    onnx.save(model([node("MatMul", "x w", "y")], {"x": ["N", 3]}, {"y": ["N", 2]}, {"w": w}), path)
    return path, w


def test_shapes_come_at_run_time(rows):
    path, w = rows
    session = dougong.load(path, device="cpu", cache=False)
    for n in (1, 5, 2, 5):
        x = np.full((n, 3), n, np.float32)
        np.testing.assert_array_equal(session.run({"x": x})["y"], x @ w)


def test_values_that_make_shapes_come_at_run_time(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(model([node("Reshape", "x s", "y")], {"x": [2, 6], "s": (onnx.TensorProto.INT64, [2])}, {"y": ["a", "b"]}), path)
    session = dougong.load(path, device="cpu", cache=False)
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    for shape in ([3, 4], [4, 3], [1, -1]):
        np.testing.assert_array_equal(session.run({"x": x, "s": np.array(shape)})["y"], x.reshape(shape))


def test_a_compiled_model_is_found_again(rows, tmp_path, monkeypatch):
    path, w = rows
    monkeypatch.setenv("DOUGONG_CACHE", str(tmp_path / "cache"))
    x = np.ones((4, 3), np.float32)
    first = dougong.load(path, device="cpu").run({"x": x})["y"]
    files = list((tmp_path / "cache").glob("*.dgx"))
    assert len(files) == 1
    content = files[0].read_bytes()
    np.testing.assert_array_equal(dougong.load(path, device="cpu").run({"x": x})["y"], first)
    assert [file.read_bytes() for file in (tmp_path / "cache").glob("*.dgx")] == [content]
    files[0].write_bytes(files[0].read_bytes()[:100])  # damaged: compiled anew
    np.testing.assert_array_equal(dougong.load(path, device="cpu").run({"x": x})["y"], first)
    assert files[0].stat().st_size > 100


def test_the_cache_keeps_to_its_limit(rows, tmp_path, monkeypatch):
    path, _ = rows
    monkeypatch.setenv("DOUGONG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("DOUGONG_CACHE_MB", "0")
    session = dougong.load(path, device="cpu")
    for n in (1, 2, 3):  # the newest always stays
        session.run({"x": np.ones((n, 3), np.float32)})
        assert len(list((tmp_path / "cache").glob("*.dgx"))) == 1


def test_several_shapes_in_one_file(rows, tmp_path):
    path, w = rows
    session = dougong.load(path, device="cpu", cache=False)
    for n in (2, 3):
        session.run({"x": np.ones((n, 3), np.float32)})
    session.save(tmp_path / "rows.dgx")
    again = dougong.load(tmp_path / "rows.dgx", device="cpu")
    for n in (3, 2):
        np.testing.assert_array_equal(again.run({"x": np.ones((n, 3), np.float32)})["y"], np.ones((n, 3)) @ w)
    with pytest.raises(dougong.Error, match="was compiled for x=2x3 or x=3x3"):
        again.run({"x": np.ones((7, 3), np.float32)})


def test_a_compiled_model_knows_what_the_onnx_file_said(rows, tmp_path):
    proto = onnx.load(rows[0])
    onnx.helper.set_model_props(proto, {"character": "'\n疗\n绚", "empty": ""})
    proto.producer_name, proto.producer_version, proto.doc_string, proto.model_version = "exporter", "2.1", "rows times w", 7
    proto.graph.name = "product"
    onnx.save(proto, tmp_path / "m.onnx")
    session = dougong.load(tmp_path / "m.onnx", device="cpu", cache=False)
    for n in (2, 3):
        session.prepare({"x": (n, 3)})
    session.save(tmp_path / "m.dgx")
    compiled = dougong.load(tmp_path / "m.dgx")
    expected = {"character": "'\n疗\n绚", "empty": "", "onnx.producer": "exporter 2.1", "onnx.description": "rows times w", "onnx.version": "7",
                "onnx.graph": "product", "onnx.opset": "13"}
    assert session.properties == compiled.properties == expected
    assert compiled.property("character") == "'\n疗\n绚" and compiled.property("nothing") == ""
    for path in ("m.onnx", "m.dgx"):
        text = explained(tmp_path / path, *(["cpu"] if path == "m.onnx" else [None]), "--shape", "x=2x3")
        assert "the ONNX file says: character '\\n疗\\n绚; empty ; onnx.description rows times w; " in text
    run = subprocess.run([PROGRAM, "run", tmp_path / "m.dgx", "--random", "--shape", "x=2x3", "--report", "json"], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout)["properties"] == expected


def test_an_open_dimension_of_a_compiled_model_has_its_name(rows, tmp_path):
    session = dougong.load(rows[0], device="cpu", cache=False)
    for n in (2, 3):
        session.prepare({"x": (n, 3)})
    session.save(tmp_path / "rows.dgx")
    result = subprocess.run([PROGRAM, "run", tmp_path / "rows.dgx", "--random"], capture_output=True, text=True)
    assert result.returncode == 2 and "x f32 [N, 3]" in result.stderr


def test_properties_that_are_no_utf8_do_no_harm(rows, tmp_path):
    marked = onnx.load(rows[0])
    onnx.helper.set_model_props(marked, {"k": "@@@@"})
    (tmp_path / "m.onnx").write_bytes(marked.SerializeToString().replace(b"@@@@", b"\xff\xfe@\x80"))
    session = dougong.load(tmp_path / "m.onnx", device="cpu", cache=False)
    assert "\ufffd" in session.property("k")
    session.run({"x": np.ones((1, 3), np.float32)})
    assert session.report("json")["properties"]["k"] == session.property("k")


@pytest.mark.parametrize("inputs, message", [
    ({"z": np.ones((1, 3), np.float32)}, r"no input 'z'; its inputs are: 'x' f32 \[N, 3\]"),
    ({}, r"input 'x' f32 \[N, 3\] is missing"),
    ({"x": np.ones((1, 4), np.float32)}, r"input 'x': the shape 1x4 does not fit; allowed is 'x' f32 \[N, 3\]"),
    ({"x": np.ones((3,), np.float32)}, r"input 'x': the shape 3 does not fit"),
    ({"x": np.ones((1, 3), np.float64)}, r"input 'x': the type is f64, wanted is f32"),
])
def test_wrong_inputs_are_named(rows, inputs, message):
    with pytest.raises(dougong.Error, match=message):
        dougong.load(rows[0], device="cpu", cache=False).run(inputs)


def refusal(path, *arguments):
    result = subprocess.run([PROGRAM, "run", path, "--random", "--device", "cpu", "--no-cache", *arguments], capture_output=True, text=True)
    assert result.returncode == 2, result
    return result.stderr


def test_files_that_are_no_models(rows, tmp_path):
    path, _ = rows
    assert "No such file" in refusal(tmp_path / "missing.onnx")
    (tmp_path / "empty.onnx").write_bytes(b"")
    assert "empty.onnx: the file is empty" in refusal(tmp_path / "empty.onnx")
    whole = path.read_bytes()
    (tmp_path / "short.onnx").write_bytes(whole[:len(whole) // 2])
    assert "short.onnx: not an ONNX model, or cut short" in refusal(tmp_path / "short.onnx")
    (tmp_path / "text.onnx").write_text("hello, I am not a model at all")
    assert "text.onnx: not an ONNX model" in refusal(tmp_path / "text.onnx")


@pytest.mark.parametrize("name, message", [
    ("unknown_op", "op NonMaxSuppression ('NonMaxSuppression_y') is not supported"),
    ("string_input", "type string is not supported"),
])
def test_what_is_not_supported_is_named(tmp_path, name, message):
    onnx.save(getattr(write_model, name)(), tmp_path / "m.onnx")
    assert message in refusal(tmp_path / "m.onnx")


BROKEN = {
    "rank": (node("Conv", "x w", "y"), {"x": [1, 3, 8, 8]}, {"w": np.ones((4, 3, 3), np.float32)}, "must have the same rank"),
    "channels": (node("Conv", "x w", "y"), {"x": [1, 3, 8, 8]}, {"w": np.ones((4, 2, 3, 3), np.float32)}, "weights 4x2x3x3 do not fit 3 channels"),
    "window": (node("MaxPool", "x", "y", kernel_shape=[9, 9]), {"x": [1, 3, 8, 8]}, {}, "the window of 9 is larger than the padded input of 8"),
    "broadcast": (node("Add", "x w", "y"), {"x": [2, 3]}, {"w": np.ones((2, 4), np.float32)}, "shapes 2x3 and 2x4 do not broadcast"),
    "product": (node("MatMul", "x w", "y"), {"x": [2, 3]}, {"w": np.ones((4, 5), np.float32)}, "do not multiply: 3 columns, 4 rows"),
    "reshape": (node("Reshape", "x w", "y"), {"x": [2, 3]}, {"w": np.array([4, 2])}, "6 elements (2x3) do not fit the shape 4x2"),
    "axis": (node("Softmax", "x", "y", axis=3), {"x": [2, 3]}, {}, "axis 3 of a tensor of rank 2"),
    "permutation": (node("Transpose", "x", "y", perm=[0, 0]), {"x": [2, 3]}, {}, "perm is no permutation of 2 dimensions"),
    "index": (node("Gather", "x w", "y"), {"x": [2, 3]}, {"w": np.array([5])}, "index 5 in a dimension of 2"),
    "undefined": (node("Add", "x nobody", "y"), {"x": [2, 3]}, {}, "nothing defines its input 'nobody'"),
    "split": (node("Split", "x w", "y z", axis=1), {"x": [2, 3]}, {"w": np.array([1, 1])}, "its parts do not add up to 3"),
    "squeeze": (node("Squeeze", "x w", "y"), {"x": [2, 3]}, {"w": np.array([0])}, "dimension 0 of 2x3 is not 1"),
    "unsqueeze": (node("Unsqueeze", "x w", "y"), {"x": [2, 3]}, {"w": np.array([0, 0])}, "an axis is given twice"),
    "flatten": (node("Flatten", "x", "y", axis=3), {"x": [2, 3]}, {}, "axis 3 of a tensor of rank 2"),
    "slice": (node("Slice", "x a b c d", "y"), {"x": [2, 3]}, {"a": np.array([0]), "b": np.array([1]), "c": np.array([0]), "d": np.array([0])}, "a step of 0"),
    "slice counts": (node("Slice", "x a b", "y"), {"x": [2, 3]}, {"a": np.array([0, 0]), "b": np.array([1])}, "2 starts, 1 ends, 2 axes"),
    "pad": (node("Pad", "x w", "y"), {"x": [2, 3]}, {"w": np.array([1, 1])}, "2 pads for 2 axes"),
    "tile": (node("Tile", "x w", "y"), {"x": [2, 3]}, {"w": np.array([1])}, "1 repeats for a tensor of rank 2"),
    "types": (node("Add", "x w", "y"), {"x": [2, 3]}, {"w": np.array([1])}, "its inputs have types f32 and i64"),
    "stride": (node("MaxPool", "x", "y", kernel_shape=[2, 2], strides=[0, 1]), {"x": [1, 3, 8, 8]}, {}, "stride 0 and dilation 1"),
    "pool rank": (node("GlobalAveragePool", "x", "y"), {"x": [2, 3]}, {}, "its input has shape 2x3, rank 3 or more is wanted"),
    "transposed conv": (node("ConvTranspose", "x w", "y"), {"x": [1, 3, 4, 4]}, {"w": np.ones((4, 2, 2, 2), np.float32)}, "weights 4x2x2x2 do not fit"),
    "gemm": (node("Gemm", "x w", "y"), {"x": [2, 3, 4]}, {"w": np.ones((4, 2), np.float32)}, "its inputs have shapes 2x3x4 and 4x2"),
    "einsum terms": (node("Einsum", "x w", "y", equation="ij->i"), {"x": [2, 3]}, {"w": np.ones((4, 2), np.float32)}, "equation 'ij->i' has 1 terms for 2 inputs"),
    "einsum rank": (node("Einsum", "x", "y", equation="ijk->i"), {"x": [2, 3]}, {}, "term 'ijk' for an input of shape 2x3"),
    "einsum letter": (node("Einsum", "x", "y", equation="ij->k"), {"x": [2, 3]}, {}, "no input has 'k'"),
    "batch normalisation": (node("BatchNormalization", "x w w w w", "y"), {"x": [1, 3, 2, 2]}, {"w": np.ones(2, np.float32)}, "input 1 has shape 2"),
    "groups": (node("LRN", "x", "y"), {"x": [1, 3, 2, 2]}, {}, "attribute 'size' is missing"),
    "resize counts": (node("Resize", "x r s", "y"), {"x": [1, 1, 2, 2]}, {"r": np.array([], np.float32), "s": np.ones(3, np.float32)}, "3 scales or sizes for 4 axes"),
    "resize to nothing": (node("Resize", "x r s", "y"), {"x": [1, 1, 2, 2]}, {"r": np.array([], np.float32), "s": np.array([1, 1, 0.1, 1], np.float32)}, "dimension 2 of 2 becomes 0"),
    "eye": (node("EyeLike", "x", "y"), {"x": [2, 2, 2]}, {}, "a matrix is wanted"),
    "missing": (node("Where", "x", "y"), {"x": [2, 2]}, {}, "input 1 is missing"),
    "k": (node("TopK", "x w", "y z"), {"x": [2, 3]}, {"w": np.array([4])}, "k is 4, the axis has 3 elements"),
    "recurrent weights": (node("LSTM", "x w r", "y", hidden_size=4), {"x": [2, 1, 3]}, {"w": np.ones((1, 16, 3), np.float32), "r": np.ones((1, 12, 4), np.float32)},
                          "a matrix of weights has shape 1x12x4, wanted is 1x16x4"),
    "recurrent steps": (node("RNN", "x w r", "y", hidden_size=4), {"x": [2000, 1, 3]}, {"w": np.ones((1, 4, 3), np.float32), "r": np.ones((1, 4, 4), np.float32)}, "2000 steps; up to 1024 are unrolled"),
    "activation": (node("RNN", "x w r", "y", hidden_size=4, activations=["Gelu"]), {"x": [2, 1, 3]}, {"w": np.ones((1, 4, 3), np.float32), "r": np.ones((1, 4, 4), np.float32)}, "activation Gelu"),
    "grid": (node("GridSample", "x w", "y"), {"x": [2, 3, 4, 4]}, {"w": np.ones((1, 4, 4, 2), np.float32)}, "a grid of shape 1x4x4x2 for an input of shape 2x3x4x4"),
    "training": (node("BatchNormalization", "x w w w w", "y", training_mode=1), {"x": [1, 2, 2, 2]}, {"w": np.ones(2, np.float32)}, "training_mode is not supported"),
    "concat": (node("Concat", "x w", "y", axis=0), {"x": [2, 3]}, {"w": np.ones((2, 4), np.float32)}, "shapes 2x3 and 2x4 do not join along axis 0"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_node_is_named(tmp_path, name):
    one, inputs, weights, message = BROKEN[name]
    onnx.save(model([one], inputs, {"y": ["a"]}, weights), tmp_path / "m.onnx")
    text = refusal(tmp_path / "m.onnx")
    assert f"op {one.op_type} ('{one.name}'): " in text and message in text


def with_external_data(tmp_path, location, length=None):
    proto = model([node("Add", "x w", "y")], {"x": [4]}, {"y": [4]}, {"w": np.arange(4, dtype=np.float32)})
    tensor = proto.graph.initializer[0]
    data = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": "16", "length": str(length or len(data))}.items():
        tensor.external_data.add(key=key, value=value)
    onnx.save(proto, tmp_path / "m.onnx")
    return b"\0" * 16 + data


def test_weights_beside_the_model(tmp_path):
    (tmp_path / "w.bin").write_bytes(with_external_data(tmp_path, "w.bin"))
    got = dougong.load(tmp_path / "m.onnx", device="cpu", cache=False).run({"x": np.ones(4, np.float32)})["y"]
    np.testing.assert_array_equal(got, [1, 2, 3, 4])


def test_weights_that_are_not_there(tmp_path):
    with_external_data(tmp_path, "w.bin")
    assert "w.bin: No such file" in refusal(tmp_path / "m.onnx")
    (tmp_path / "w.bin").write_bytes(b"\0" * 20)
    assert "w.bin: tensor 'w' has 16 bytes at 16, the file has 20" in refusal(tmp_path / "m.onnx")
    with_external_data(tmp_path, "../w.bin")
    assert "does not lie beside the model" in refusal(tmp_path / "m.onnx")


def test_a_cycle_is_found(tmp_path):
    onnx.save(model([node("Add", "x b", "a"), node("Neg", "a", "b")], {"x": [2]}, {"b": [2]}), tmp_path / "m.onnx")
    assert "the graph has a cycle" in refusal(tmp_path / "m.onnx")


def test_an_output_nobody_makes(tmp_path):
    onnx.save(model([node("Neg", "x", "a")], {"x": [2]}, {"b": [2]}), tmp_path / "m.onnx")
    assert "nothing defines the model's output 'b'" in refusal(tmp_path / "m.onnx")


def explained(path, device, *arguments):
    where = ["--device", device] if device else []  # a .dgx knows
    result = subprocess.run([PROGRAM, "explain", path, *where, "--no-cache", *arguments], capture_output=True, text=True, check=True)
    return result.stdout


def test_the_device_decides_where_kernels_run(rows):
    path, _ = rows
    assert "100.00% on the NPU" in explained(path, "npu", "--shape", "x=64x3")
    assert " 0.00% on the NPU" in explained(path, "auto", "--shape", "x=64x3")  # too little work
    assert " 0.00% on the NPU" in explained(path, "cpu", "--shape", "x=64x3")


def test_a_large_model_runs_on_both_devices_on_auto(tmp_path):
    rng = np.random.default_rng(3)
    weights = {"w": rng.standard_normal((64, 32, 3, 3)).astype(np.float32), "v": rng.standard_normal((8, 64, 1, 1)).astype(np.float32)}
    onnx.save(model([node("Conv", "x w", "a", pads=[1, 1, 1, 1]), node("Relu", "a", "r"), node("GlobalAveragePool", "r", "g"), node("Conv", "g v", "y")],
                    {"x": [1, 32, 32, 32]}, {"y": [1, 8, 1, 1]}, weights), tmp_path / "m.onnx")
    text = explained(tmp_path / "m.onnx", "auto")
    assert " npu Conv" in text and " cpu Conv" in text and "too small for a launch on the NPU" in text
    x = rng.standard_normal((1, 32, 32, 32)).astype(np.float32)
    on_cpu, on_both = (dougong.load(tmp_path / "m.onnx", device=device, cache=False).run({"x": x})["y"] for device in ("cpu", "auto"))
    difference = np.abs(on_both - on_cpu).max() / np.abs(on_cpu).max()
    assert 0 < difference < 2e-3  # f16 was used, and is near


@pytest.mark.parametrize("device", ["npu", "cpu"])
@pytest.mark.parametrize("scale", [1, 0.01, 300, 3])
def test_quantisation_is_exact(tmp_path, device, scale):
    """Numbers in f32 as the standard writes them, ties to even: on an NPU, too, whose tensors are f16."""
    kind = onnx.TensorProto.UINT8
    onnx.save(model([node("DynamicQuantizeLinear", "x", "q s z"), node("QuantizeLinear", "x t u", "p")], {"x": [40, 300]},
                    {"q": (kind, [40, 300]), "s": [], "z": (kind, []), "p": (kind, [40, 300])}, {"t": np.float32(0.0371 * scale), "u": np.uint8(117)}), tmp_path / "m.onnx")
    x = (np.random.default_rng(5).standard_normal((40, 300)) * scale).astype(np.float32)
    x[0, :40] = (np.arange(40) - 19.5).astype(np.float32) * np.float32(0.0371 * scale)  # near ties
    got = dougong.load(tmp_path / "m.onnx", device=device, cache=False).run({"x": x})
    low, high = min(x.min(), np.float32(0)), max(x.max(), np.float32(0))
    s = (high - low) / np.float32(255)
    z = np.clip(np.rint(-low / s), 0, 255)
    assert got["s"] == s and got["z"] == z
    np.testing.assert_array_equal(got["q"], np.clip(np.rint(x / s) + z, 0, 255))
    np.testing.assert_array_equal(got["p"], np.clip(np.rint(x / np.float32(0.0371 * scale)) + 117, 0, 255))
