"""Ops and attributes that ONNX's own cases leave out, on the CPU device, against ONNX Runtime."""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

import dougong

sys.path.insert(0, str(pathlib.Path(__file__).parent / "inputs"))
from write_model import model, node  # noqa: E402

rng = np.random.default_rng(7)
f32 = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
i64 = lambda *values: np.array(values, np.int64)  # noqa: E731


def case(op, inputs, outputs=1, weights=None, opset=13, **attributes):
    """One node: `inputs` are given at run time, `weights` are initializers; both in the order of the node's inputs."""
    weights = weights or {}
    names = " ".join([*inputs, *weights])
    results = " ".join(f"y{i}" for i in range(outputs))
    return model([node(op, names, results, **attributes)], {name: list(array.shape) for name, array in inputs.items()},
                 {f"y{i}": None for i in range(outputs)}, weights, opset), inputs


CASES = {
    "conv, dilated, uneven pads": lambda: case("Conv", {"x": f32(2, 5, 11, 9)}, weights={"w": f32(7, 5, 3, 3), "b": f32(7)}, dilations=[2, 1], pads=[1, 0, 2, 1]),
    "conv, three groups": lambda: case("Conv", {"x": f32(1, 6, 8, 8)}, weights={"w": f32(9, 2, 3, 3)}, group=3, strides=[2, 1]),
    "conv, channel multiplier": lambda: case("Conv", {"x": f32(1, 4, 7, 7)}, weights={"w": f32(8, 1, 3, 3)}, group=4),
    "conv, one dimension": lambda: case("Conv", {"x": f32(2, 3, 20)}, weights={"w": f32(4, 3, 5), "b": f32(4)}, strides=[2], pads=[2, 2]),
    "conv, three dimensions": lambda: case("Conv", {"x": f32(1, 2, 5, 6, 7)}, weights={"w": f32(3, 2, 3, 2, 3)}),
    "conv, same lower": lambda: case("Conv", {"x": f32(1, 2, 8, 8)}, weights={"w": f32(3, 2, 4, 4)}, auto_pad="SAME_LOWER", strides=[3, 3]),
    "transposed conv, overlapping, groups": lambda: case("ConvTranspose", {"x": f32(1, 4, 5, 6)}, weights={"w": f32(4, 3, 3, 3), "b": f32(6)}, group=2, strides=[2, 3], pads=[1, 0, 0, 2],
                                                          output_padding=[1, 0]),
    "transposed conv, blocks": lambda: case("ConvTranspose", {"x": f32(2, 3, 4, 5)}, weights={"w": f32(3, 2, 2, 2), "b": f32(2)}, strides=[2, 2]),
    "transposed conv, dilated": lambda: case("ConvTranspose", {"x": f32(1, 2, 4, 4)}, weights={"w": f32(2, 3, 3, 3)}, dilations=[2, 2], pads=[1, 1, 1, 1]),
    "max pool, ceil, dilated": lambda: case("MaxPool", {"x": f32(1, 3, 10, 9)}, kernel_shape=[3, 2], strides=[2, 2], dilations=[2, 1], ceil_mode=1),
    "average pool, padding not counted": lambda: case("AveragePool", {"x": f32(1, 3, 7, 7)}, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 1]),
    "average pool, padding counted": lambda: case("AveragePool", {"x": f32(1, 3, 7, 7)}, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1),
    "matmul, broadcast batch": lambda: case("MatMul", {"a": f32(2, 1, 3, 4), "b": f32(5, 4, 6)}),
    "matmul, row": lambda: case("MatMul", {"a": f32(4), "b": f32(3, 4, 2)}),
    "gemm, all": lambda: case("Gemm", {"a": f32(4, 3), "b": f32(5, 4), "c": f32(5)}, alpha=0.5, beta=2.0, transA=1, transB=1),
    "einsum, attention": lambda: case("Einsum", {"q": f32(2, 3, 4, 5), "k": f32(2, 3, 6, 5)}, equation="bhqd,bhkd->bhqk"),
    "einsum, ellipsis": lambda: case("Einsum", {"a": f32(2, 3, 4), "b": f32(4, 5)}, equation="...k,kn->...n"),
    "softmax before opset 13": lambda: case("Softmax", {"x": f32(2, 3, 4)}, opset=11, axis=1),
    "layer normalisation": lambda: case("LayerNormalization", {"x": f32(2, 5, 6)}, weights={"s": f32(6), "b": f32(6)}, opset=17),
    "instance normalisation": lambda: case("InstanceNormalization", {"x": f32(2, 3, 4, 5)}, weights={"s": f32(3), "b": f32(3)}),
    "resize, linear, half pixel": lambda: case("Resize", {"x": f32(1, 2, 5, 7)}, weights={"r": np.array([], np.float32), "s": np.array([1, 1, 1.7, 2.3], np.float32)}, mode="linear"),
    "resize, cubic, to sizes": lambda: case("Resize", {"x": f32(1, 2, 5, 7)}, weights={"r": np.array([], np.float32), "s": np.array([], np.float32), "z": i64(1, 2, 9, 4)}, mode="cubic"),
    "resize, nearest, down": lambda: case("Resize", {"x": f32(1, 2, 9, 9)}, weights={"r": np.array([], np.float32), "s": np.array([1, 1, 0.6, 0.4], np.float32)}, mode="nearest",
                                          nearest_mode="round_prefer_floor"),
    "slice, backwards": lambda: case("Slice", {"x": f32(5, 6)}, weights={"s": i64(4, -1), "e": i64(-6, 0), "a": i64(0, 1), "t": i64(-2, -1)}),
    "pad, reflect": lambda: case("Pad", {"x": f32(2, 4, 5)}, weights={"p": i64(0, 1, 2, 0, 2, 1)}, mode="reflect"),
    "gather, negative": lambda: case("Gather", {"x": f32(3, 5, 2)}, weights={"i": i64(-1, 0, 2).reshape(1, 3)}, axis=1),
    "split, unequal": lambda: case("Split", {"x": f32(2, 7)}, 3, weights={"s": i64(2, 4, 1)}, axis=1),
    "cumulative sum, backwards": lambda: case("CumSum", {"x": f32(3, 6)}, weights={"a": i64(1).reshape(())}, reverse=1, exclusive=1),
    "one arg of many": lambda: case("ArgMax", {"x": f32(3, 4, 5)}, axis=-1, keepdims=0),
    "prelu, one slope a channel": lambda: case("PRelu", {"x": f32(2, 3, 4, 4)}, weights={"s": f32(3, 1, 1)}),
    "power of two": lambda: case("Pow", {"x": f32(3, 4)}, weights={"e": np.array(2, np.float32)}),
    "erf": lambda: case("Erf", {"x": f32(3, 50)}),
    "lrn": lambda: case("LRN", {"x": f32(1, 7, 3, 3)}, size=5, alpha=0.5, bias=2.0),
    "lstm, both ways, lengths, peepholes": lambda: case("LSTM", {"x": f32(6, 3, 5)}, 3, weights={
        "w": f32(2, 16, 5), "r": f32(2, 16, 4), "b": f32(2, 32), "l": np.array([6, 2, 4], np.int32), "h": f32(2, 3, 4), "c": f32(2, 3, 4), "p": f32(2, 12)},
        hidden_size=4, direction="bidirectional", opset=14),
    "lstm, backwards, clipped": lambda: case("LSTM", {"x": f32(5, 2, 3)}, 3, weights={"w": f32(1, 16, 3), "r": f32(1, 16, 4)}, hidden_size=4, direction="reverse", clip=0.5,
                                              activations=["HardSigmoid", "Tanh", "Softsign"], activation_alpha=[0.3], activation_beta=[0.4], opset=14),
    "gru, reset late, both ways": lambda: case("GRU", {"x": f32(5, 2, 3)}, 2, weights={"w": f32(2, 12, 3), "r": f32(2, 12, 4), "b": f32(2, 24)}, hidden_size=4, linear_before_reset=1,
                                               direction="bidirectional", opset=14),
    "gru, reset early, lengths": lambda: case("GRU", {"x": f32(5, 2, 3)}, 2, weights={"w": f32(1, 12, 3), "r": f32(1, 12, 4), "b": f32(1, 24), "l": np.array([3, 5], np.int32),
                                                                                      "h": f32(1, 2, 4)}, hidden_size=4, opset=14),
    "rnn": lambda: case("RNN", {"x": f32(4, 2, 3)}, 2, weights={"w": f32(1, 4, 3), "r": f32(1, 4, 4), "b": f32(1, 8)}, hidden_size=4, activations=["Relu"], opset=14),
    "top k, with ties": lambda: case("TopK", {"x": np.round(f32(3, 40, 2))}, 2, weights={"k": i64(7)}, axis=1),
    "top k, smallest": lambda: case("TopK", {"x": f32(5, 33)}, 2, weights={"k": i64(33)}, largest=0),
    "grid sample, cubic, reflected": lambda: case("GridSample", {"x": f32(2, 3, 6, 5), "g": 1.7 * f32(2, 4, 7, 2)}, mode="bicubic", padding_mode="reflection", opset=16),
    "grid sample, border, corners": lambda: case("GridSample", {"x": f32(2, 3, 6, 5), "g": 1.7 * f32(2, 4, 7, 2)}, mode="bilinear", padding_mode="border", align_corners=1, opset=16),
    "dft, of complex numbers, padded": lambda: case("DFT", {"x": f32(2, 3, 10, 2)}, weights={"n": i64(16).reshape(())}, axis=2, opset=17),
    "dft, back": lambda: case("DFT", {"x": f32(2, 9, 2)}, axis=1, inverse=1, opset=17),
    "stft": lambda: case("STFT", {"x": f32(2, 200, 1)}, weights={"s": i64(40).reshape(()), "w": np.hanning(64).astype(np.float32)}, opset=17),
    "mean over channels": lambda: case("ReduceMean", {"x": f32(2, 3, 4, 5)}, axes=[1], keepdims=1),
}


def set_output_types(proto):
    """The outputs' types, which `case` leaves open, from shape inference."""
    for output in proto.graph.output:
        output.ClearField("type")
    inferred = {v.name: v for v in onnx.shape_inference.infer_shapes(proto, strict_mode=True).graph.output}
    del proto.graph.output[:]
    proto.graph.output.extend(inferred.values())
    return proto


@pytest.mark.parametrize("name", CASES)
def test_op(name, tmp_path):
    proto, inputs = CASES[name]()
    path = tmp_path / "model.onnx"
    onnx.save(set_output_types(proto), path)
    expected = onnxruntime.InferenceSession(str(path)).run(None, inputs)
    got = dougong.load(path, device="cpu", cache=False).run(inputs)
    for port, reference in zip(proto.graph.output, expected):
        np.testing.assert_allclose(got[port.name], reference, rtol=2e-5, atol=2e-5 * max(1, np.abs(reference).max()))


def test_loop_whose_trips_are_known(tmp_path):
    """c ← tanh(c · w + i), five times, each c put out."""
    value = onnx.helper.make_tensor_value_info
    body = onnx.helper.make_graph(
        [node("MatMul", "c w", "p"), node("Cast", "i", "f", to=onnx.TensorProto.FLOAT), node("Add", "p f", "s"), node("Tanh", "s", "next"), node("Identity", "next", "seen"),
         node("Identity", "go", "on")],
        "body", [value("i", onnx.TensorProto.INT64, []), value("go", onnx.TensorProto.BOOL, []), value("c", onnx.TensorProto.FLOAT, [2, 3])],
        [value("on", onnx.TensorProto.BOOL, []), value("next", onnx.TensorProto.FLOAT, [2, 3]), value("seen", onnx.TensorProto.FLOAT, [2, 3])])
    proto = model([node("Loop", "n t x", "y all", body=body)], {"x": [2, 3]}, {"y": [2, 3], "all": [5, 2, 3]}, {"n": np.array(5), "t": np.array(True), "w": f32(3, 3)})
    onnx.save(proto, tmp_path / "m.onnx")
    inputs = {"x": f32(2, 3)}
    got = dougong.load(tmp_path / "m.onnx", device="cpu", cache=False).run(inputs)
    for name, expected in zip(("y", "all"), onnxruntime.InferenceSession(str(tmp_path / "m.onnx")).run(None, inputs)):
        np.testing.assert_allclose(got[name], expected, rtol=2e-5, atol=2e-5)


def test_places_of_what_is_not_zero_are_found_at_import(tmp_path):
    """As exporters write a mask's places: they depend on a constant, and are one themselves."""
    mask = np.array([[0, 1, 1], [1, 0, 0]], np.int64)
    proto = model([node("NonZero", "m", "at"), node("Transpose", "at", "t", perm=[1, 0]), node("GatherND", "x t", "y")], {"x": [2, 3]}, {"y": [3]}, {"m": mask})
    onnx.save(proto, tmp_path / "m.onnx")
    x = f32(2, 3)
    np.testing.assert_array_equal(dougong.load(tmp_path / "m.onnx", device="cpu", cache=False).run({"x": x})["y"], x[mask != 0])
