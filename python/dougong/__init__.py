"""Dougong: run models and kernels on NPUs and CPUs.

    import dougong
    session = dougong.load("model.onnx", device="npu", machine="phone", timing=True)
    outputs = session.run({"x": array})       # name -> numpy array, both ways
    print(session.report())
"""
import contextlib as _contextlib
import json as _json

import numpy as _np

from . import _dougong
from ._dougong import Error
from .progress import Progress

__version__ = _dougong.version
__all__ = ["Device", "Error", "Port", "Session", "cdiv", "jit", "load"]

_TYPE_OF = {"float16": "f16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
            "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "bool"}


class Port:
    """An input or output of a model: `name`, `type` ("f32", "i64", …) and `shape`, in which an open dimension is None."""

    def __init__(self, name, type, shape):
        self.name, self.type = name, type
        self.shape = tuple(None if extent < 0 else extent for extent in shape)

    def __repr__(self):
        return f"{self.name}: {self.type} [{', '.join('?' if extent is None else str(extent) for extent in self.shape)}]"


def _as_argument(name, value, type):
    """An array as the native part takes it: its element type's name, and C-contiguous data."""
    array = _np.asarray(value)
    if type == "bf16" and array.dtype == _np.float32:  # to nearest even, as the machine does
        bits = array.view(_np.uint32).astype(_np.uint64)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        return type, _np.ascontiguousarray(_np.where(_np.isnan(array), 0x7FC0, rounded).astype(_np.uint16))
    if array.dtype.name not in _TYPE_OF or not array.dtype.isnative:
        raise TypeError(f"input '{name}': arrays of {array.dtype} cannot be passed; {', '.join(_TYPE_OF)} can")
    return _TYPE_OF[array.dtype.name], array.copy(order="C") if not array.flags.c_contiguous else array


def _as_result(type, array):
    return (array.astype(_np.uint32) << 16).view(_np.float32) if type == "bf16" else array


class Session:
    """A model on its devices. Made by `load`."""

    def __init__(self, path, device, machine, timing, cores, threads, cache, progress):
        self._work = progress if isinstance(progress, Progress) else _contextlib.nullcontext()
        with self._work:
            self._native = _dougong.Session(str(path), device, machine, timing, cores, threads, cache, progress)
        self.inputs = [Port(*port) for port in self._native.inputs()]
        self.outputs = [Port(*port) for port in self._native.outputs()]
        self.properties = self._native.properties()

    def run(self, inputs):
        """Runs the model. `inputs`: name -> array (anything numpy.asarray takes, of the input's type and shape); returns name -> numpy array.
        bfloat16 is float32 on this side. Raises Error, which names the input and says what is allowed."""
        types = {port.name: port.type for port in self.inputs}
        arguments = {name: _as_argument(name, value, types.get(name)) for name, value in inputs.items()}
        with self._work:
            results = self._native.run(arguments)
        return {port.name: _as_result(*results[port.name]) for port in self.outputs}

    def prepare(self, shapes):
        """Compiles for these input shapes (name -> shape) ahead of the first run."""
        with self._work:
            self._native.prepare({name: [int(extent) for extent in shape] for name, shape in shapes.items()})

    def property(self, name):
        """What the ONNX file says of itself under that name, "" if nothing: `properties` has all of it, its metadata and "onnx.opset",
        "onnx.producer", "onnx.graph", "onnx.domain", "onnx.version" and "onnx.description". A .dgx has those of the file it was made of."""
        return self.properties.get(name, "")

    def report(self, format="text"):
        """Where the last run's time, bytes and energy went: as text, or with format="json" as a dictionary."""
        report = self._native.report(format)
        return _json.loads(report) if format == "json" else report

    def explain(self, shapes=None, format="text"):
        """What the model is made of for these input shapes (name -> shape; fixed ones may be left out), without running it: each fused operator, its
        nodes, device and reason, tile, work and bytes. As text, or with format="json" as a dictionary."""
        with self._work:
            text = self._native.explain({name: [int(extent) for extent in shape] for name, shape in (shapes or {}).items()}, format)
        return _json.loads(text) if format == "json" else text

    def save(self, path):
        """Writes everything compiled so far as a .dgx file."""
        self._native.save(str(path))


def load(path, device="npu", machine="phone", timing=False, cores=0, threads=0, cache=True, progress=True):
    """Opens an ONNX model or a .dgx.

    device: "npu", "cpu", or "auto" (whichever suits each operator); machine: the NPU's, a shipped name or a file; timing: the NPU's
    model keeps time; cores, threads: how many of the NPU's cores and the CPU's threads to use (0: all); cache: keep compiled models
    on disk; progress: True shows on stderr what takes over two seconds, None nothing, and a function is called with a line of text."""
    if progress is True or progress is False:
        progress = Progress() if progress else None
    return Session(path, device, machine, timing, cores, threads, cache, progress)


class Device:
    """A device opened by its spec ("cpu", "npu:phone,timing", "null"): memory, modules, launches. Addresses are the device's own."""

    def __init__(self, spec):
        self._native = _dougong.Device(spec)
        self.spec = spec

    def __getattr__(self, name):
        if name in ("allocate", "free", "load", "unload", "kernel", "build"):
            return getattr(self._native, name)
        raise AttributeError(name)

    @property
    def properties(self):
        return self._native.properties()

    @property
    def statistics(self):
        """What the device has counted since it was opened."""
        return _json.loads(self._native.statistics())

    def put(self, array):
        """Allocates and fills device memory; returns its address."""
        array = _np.ascontiguousarray(array)
        address = self.allocate(array.nbytes)
        self._native.copy_in(address, array)
        return address

    def get(self, address, shape, dtype):
        """A numpy array with what stands at `address`."""
        array = _np.empty(shape, dtype)
        self._native.copy_out(address, array)
        return array

    def launch(self, kernel, grid, arguments):
        """Runs `kernel` for every program of `grid` (up to three extents). An argument is an address, an int, or a float (passed as f32)."""
        slots = [int(_np.float32(a).view(_np.uint32)) if isinstance(a, (float, _np.floating)) else int(a) & (2**64 - 1) for a in arguments]
        extents = ([int(extent) for extent in grid] + [1, 1, 1])[:3]
        self._native.launch(kernel, extents, slots)


from .kernel import cdiv, jit  # noqa: E402  (it needs Device)
