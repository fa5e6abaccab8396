"""Writes a small ONNX model by name: `write_model.py NAME FILE`. One function a model; tests say what should become of it."""
import sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def model(nodes, inputs, outputs, weights=(), opset=13):
    """`inputs`: name -> shape (f32) or (type, shape)."""
    def info(name, spec):
        kind, shape = spec if isinstance(spec, tuple) else (TensorProto.FLOAT, spec)
        return helper.make_tensor_value_info(name, kind, shape)
    graph = helper.make_graph(nodes, "g", [info(*item) for item in inputs.items()], [info(*item) for item in outputs.items()],
                              [numpy_helper.from_array(array, name) for name, array in dict(weights).items()])
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    result.ir_version = 8
    return result


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=f"{op}_{outputs.split()[0]}", **attributes)


def conv_batch_normalization():
    weights = {"w": np.array([2.0], np.float32).reshape(1, 1, 1, 1), "scale": np.array([3.0], np.float32), "shift": np.array([1.0], np.float32),
               "mean": np.array([0.5], np.float32), "var": np.array([4.0], np.float32)}
    return model([node("Conv", "x w", "c"), node("BatchNormalization", "c scale shift mean var", "y", epsilon=0.0)], {"x": [1, 1, 2, 2]}, {"y": [1, 1, 2, 2]}, weights)


def two_convolutions():
    rng = np.random.default_rng(0)
    weights = {"w1": rng.standard_normal((4, 3, 3, 3)).astype(np.float32), "b1": rng.standard_normal(4).astype(np.float32),
               "w2": rng.standard_normal((4, 1, 3, 3)).astype(np.float32)}
    return model([node("Conv", "x w1 b1", "a", pads=[1, 1, 1, 1]), node("Relu", "a", "r"), node("Conv", "r w2", "y", group=4)], {"x": [1, 3, 8, 8]}, {"y": [1, 4, 6, 6]}, weights)


def transposes_of_channels():
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((4, 3, 1, 1)).astype(np.float32), "shape": np.array([0, 0, -1], np.int64), "m": rng.standard_normal((4, 5)).astype(np.float32)}
    return model([node("Conv", "x w", "a"), node("Reshape", "a shape", "r"), node("Transpose", "r", "t", perm=[0, 2, 1]), node("MatMul", "t m", "y")],
                 {"x": [1, 3, 2, 6]}, {"y": [1, 12, 5]}, weights)


def shape_arithmetic():
    weights = {"first": np.array([0], np.int64), "last": np.array([-1], np.int64)}
    return model([node("Shape", "x", "s"), node("Gather", "s first", "batch", axis=0), node("Concat", "batch last", "target", axis=0), node("Reshape", "x target", "y")],
                 {"x": ["N", 2, 3]}, {"y": ["N", 6]}, weights)


def unsorted_nodes():
    return model([node("Neg", "a", "y"), node("Abs", "x", "a")], {"x": [3]}, {"y": [3]})


def constant_branch():
    then = helper.make_graph([node("Neg", "x", "t")], "then", [], [helper.make_tensor_value_info("t", TensorProto.FLOAT, [3])])
    otherwise = helper.make_graph([node("Abs", "x", "e")], "else", [], [helper.make_tensor_value_info("e", TensorProto.FLOAT, [3])])
    return model([node("If", "c", "y", then_branch=then, else_branch=otherwise)], {"x": [3]}, {"y": [3]}, {"c": np.array(False)})


def unknown_op():
    return model([node("NonMaxSuppression", "b s", "y")], {"b": [1, 6, 4], "s": [1, 1, 6]}, {"y": (TensorProto.INT64, ["n", 3])})


def nearest_by_two():
    return model([node("Resize", "x  scales".replace("  ", " none "), "y", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")],
                 {"x": [1, 1, 2, 3]}, {"y": [1, 1, 4, 6]}, {"none": np.array([], np.float32), "scales": np.array([1, 1, 2, 2], np.float32)})


def touching_blocks():
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((3, 2, 2, 2)).astype(np.float32), "b": np.array([0.5, -0.5], np.float32).reshape(1, 2, 1, 1)}
    return model([node("ConvTranspose", "x w", "c", strides=[2, 2]), node("Add", "c b", "a"), node("Sigmoid", "a", "y")], {"x": [1, 3, 4, 5]}, {"y": [1, 2, 8, 10]}, weights)


def string_input():
    return model([node("Identity", "x", "y")], {"x": (TensorProto.STRING, [2])}, {"y": (TensorProto.STRING, [2])})


if __name__ == "__main__":
    onnx.save(globals()[sys.argv[1]](), sys.argv[2])
