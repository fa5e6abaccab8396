"""What a model is in exact arithmetic, nearly: its ops evaluated by torch in f64. Against it both our f32 and ONNX Runtime's can be judged.

Only the ops, in the forms, that the models of this folder have; anything else is a KeyError or fails an assertion."""
import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional


def wide(array: np.ndarray) -> torch.Tensor:
    """Floats as f64; integers as they are."""
    array = np.array(array)
    return torch.from_numpy(array.astype(np.float64) if array.dtype.kind == "f" else array)


def padded(x, pads, value=0.0):
    """`pads`: the begins of the last axes, then their ends, as ONNX has them."""
    count = len(pads) // 2
    return functional.pad(x, [side for axis in reversed(range(count)) for side in (pads[axis], pads[axis + count])], value=value)


def window(a, rank):
    assert a.get("auto_pad", b"NOTSET") == b"NOTSET" and not a.get("ceil_mode")
    return {"stride": a.get("strides", [1] * rank)}, a.get("pads", [0] * 2 * rank)


def convolution(a, x, w, b=None):
    steps, pads = window(a, x.ndim - 2)
    return functional.conv2d(padded(x, pads), w, b, **steps, dilation=a.get("dilations", [1, 1]), groups=a.get("group", 1))


def transposed_convolution(a, x, w, b=None):
    steps, pads = window(a, 2)
    assert pads[:2] == pads[2:]
    return functional.conv_transpose2d(x, w, b, **steps, padding=pads[:2], output_padding=a.get("output_padding", [0, 0]), groups=a.get("group", 1))


def largest(a, x):
    steps, pads = window(a, 2)
    return functional.max_pool2d(padded(x, pads, -np.inf), a["kernel_shape"], **steps)


def average(a, x):
    steps, pads = window(a, 2)
    assert not any(pads)
    return functional.avg_pool2d(x, a["kernel_shape"], **steps)


def resized(a, x, roi=None, scales=None, sizes=None):
    assert (a["mode"], a["coordinate_transformation_mode"], a["nearest_mode"]) == (b"nearest", b"asymmetric", b"floor")
    for axis, scale in enumerate(scales.tolist()):
        at = torch.floor(torch.arange(int(x.shape[axis] * scale), dtype=torch.float64) / scale).long()
        x = x.index_select(axis, at)
    return x


def sliced(a, x, starts, ends, axes=None, steps=None):
    axes = range(len(starts)) if axes is None else axes.tolist()
    where = [slice(None)] * x.ndim
    for i, axis in enumerate(axes):
        assert steps is None or steps[i] > 0
        where[axis] = slice(int(starts[i]), int(ends[i]), 1 if steps is None else int(steps[i]))
    return x[tuple(where)]


def normalised(a, x, scale, shift, mean, variance):
    along = (-1,) + (1,) * (x.ndim - 2)
    return (x - mean.view(along)) / torch.sqrt(variance.view(along) + a.get("epsilon", 1e-5)) * scale.view(along) + shift.view(along)


def reshaped(a, x, shape):
    return x.reshape([x.shape[i] if extent == 0 else extent for i, extent in enumerate(shape.tolist())])


def product(a, x, y, z=None):
    assert a.get("alpha", 1) == a.get("beta", 1) == 1
    p = (x.T if a.get("transA") else x) @ (y.T if a.get("transB") else y)
    return p if z is None else p + z


def cast(a, x):
    kind = onnx.helper.tensor_dtype_to_np_dtype(a["to"])
    return x.double() if kind.kind == "f" else x.to(getattr(torch, kind.name))


OPS = {
    "Add": lambda a, x, y: x + y, "Sub": lambda a, x, y: x - y, "Mul": lambda a, x, y: x * y, "Div": lambda a, x, y: x / y,
    "Pow": lambda a, x, y: x ** y, "Sqrt": lambda a, x: torch.sqrt(x), "Relu": lambda a, x: torch.relu(x), "Sigmoid": lambda a, x: torch.sigmoid(x),
    "Clip": lambda a, x, low=None, high=None: torch.clamp(x, low, high), "Identity": lambda a, x: x, "Cast": cast,
    "HardSigmoid": lambda a, x: torch.clamp(x * a.get("alpha", 0.2) + a.get("beta", 0.5), 0, 1), "Softmax": lambda a, x: torch.softmax(x, a["axis"]),
    "Conv": convolution, "ConvTranspose": transposed_convolution, "BatchNormalization": normalised, "MatMul": product, "Gemm": product,
    "MaxPool": largest, "AveragePool": average, "GlobalAveragePool": lambda a, x: x.mean((2, 3), keepdim=True),
    "ReduceMean": lambda a, x: x.mean(a["axes"], keepdim=a.get("keepdims", 1) == 1), "Resize": resized,
    "Constant": lambda a: wide(numpy_helper.to_array(a["value"])), "Shape": lambda a, x: torch.tensor(x.shape), "Slice": sliced,
    "Concat": lambda a, *parts: torch.cat(parts, a["axis"]), "Transpose": lambda a, x: x.permute(a["perm"]), "Reshape": reshaped,
    "Squeeze": lambda a, x: x.squeeze(tuple(a["axes"])), "Flatten": lambda a, x: x.flatten(a.get("axis", 1)),
}


class DoubleReference:
    def __init__(self, path: str):
        self.graph = onnx.load(path).graph
        self.weights = {tensor.name: wide(numpy_helper.to_array(tensor)) for tensor in self.graph.initializer}
        self.attributes = [{a.name: onnx.helper.get_attribute_value(a) for a in node.attribute} for node in self.graph.node]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The model's only output for its only input that is no weight."""
        values = dict(self.weights)
        name, = (i.name for i in self.graph.input if i.name not in values)
        values[name] = wide(x)
        for node, attributes in zip(self.graph.node, self.attributes):
            result = OPS[node.op_type](attributes, *(values[i] if i else None for i in node.input))
            values[node.output[0]] = result
        result = values[self.graph.output[0].name]
        assert result.dtype == torch.float64
        return result.numpy()
