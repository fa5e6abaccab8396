"""Kernels of the operator language, called from Python: `@dougong.jit`.

    @dougong.jit
    def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr): ...

    add[(dougong.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)              # on the default device
    add[(dougong.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024, device="cpu")

The source text is compiled by libdougong; Python does not run it. Arrays (numpy, or anything numpy can view, like CPU tensors) are passed as pointers and
hold the results afterwards; integers, floats and constants as Triton passes them.
"""
import inspect
import os
import textwrap

import numpy as np

_POINTERS = {"float16": "fp16", "float32": "fp32", "float64": "fp64", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
             "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "i1"}
_HINTS = {"num_warps", "num_stages", "num_ctas", "maxnreg", "launch_pdl", "waves_per_eu"}  # of other machines: taken and ignored
_devices = {}


def cdiv(a, b):
    """a / b, rounded up: how many blocks of b cover a."""
    return -(-a // b)


def device_of(spec):
    """The opened device of a spec; each is opened once. None: $DOUGONG_DEVICE, or "npu:phone"."""
    from . import Device
    if not isinstance(spec, (str, type(None))):
        return spec
    spec = spec or os.environ.get("DOUGONG_DEVICE", "npu:phone")
    if spec not in _devices:
        _devices[spec] = Device(spec)
    return _devices[spec]


class Kernel:
    """A compiled-on-demand kernel. `kernel[grid](*arguments, **named)` runs it; grid is a tuple of up to three extents, or a function of the constants."""

    def __init__(self, function, device=None):
        self.function, self.device = function, device
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.parameters = list(inspect.signature(function).parameters.values())
        self.file = inspect.getsourcefile(function)
        try:
            self.text = "".join(inspect.findsource(function)[0])
        except OSError:
            raise OSError(f"the source text of kernel '{self.__name__}' cannot be read; put the kernel into a file (or a notebook's cell)") from None
        if "<locals>" in function.__qualname__:  # not at the file's top level: it stands there for the compiler
            self.text += "\n" + textwrap.dedent(inspect.getsource(function))
        self._built = {}

    def __call__(self, *arguments, **named):
        raise RuntimeError(f"launch a kernel with a grid: {self.__name__}[(programs,)](…)")

    def __getitem__(self, grid):
        return lambda *arguments, **named: self._launch(grid, arguments, named)

    def _is_constant(self, parameter):
        return "constexpr" in str(parameter.annotation)

    def _bind(self, arguments, named):
        values = dict(zip((p.name for p in self.parameters), arguments))
        if len(arguments) > len(self.parameters):
            raise TypeError(f"{self.__name__} takes {len(self.parameters)} arguments, not {len(arguments)}")
        for key, value in named.items():
            if key in values or key not in {p.name for p in self.parameters}:
                raise TypeError(f"{self.__name__}: the argument '{key}' is " + ("given twice" if key in values else "not one of its parameters"))
            values[key] = value
        for p in self.parameters:
            if p.name not in values:
                if p.default is inspect.Parameter.empty:
                    raise TypeError(f"{self.__name__} needs its argument '{p.name}'")
                values[p.name] = p.default
        return values

    def _type_of(self, parameter, value):
        """The signature's item for one argument: a type, or the constant itself."""
        if value is None:
            return "None"
        if self._is_constant(parameter) or isinstance(value, str):
            return repr(value) if isinstance(value, (str, bool, int, float)) else getattr(value, "_name", repr(value))
        if isinstance(value, (bool, np.bool_)):
            return "i1"
        if isinstance(value, (int, np.integer)):
            if value == 1:
                return "1"  # as Triton does: a stride of 1 is known to be 1
            return "i32" if -2**31 <= value < 2**31 else "i64" if value < 2**63 else "u64"
        if isinstance(value, (float, np.floating)):
            return "fp32"
        array = _view(value)
        if array.dtype.name not in _POINTERS:
            raise TypeError(f"{self.__name__}: argument '{parameter.name}' has elements of {array.dtype}, which kernels cannot point to")
        return "*" + _POINTERS[array.dtype.name]

    def _launch(self, grid, arguments, named):
        device = device_of(named.pop("device", self.device))
        values = self._bind(arguments, {key: value for key, value in named.items() if key not in _HINTS})
        signature = ", ".join(f"{p.name}={self._type_of(p, values[p.name])}" for p in self.parameters)
        key = (signature, id(device))
        if key not in self._built:
            image, passed = device.build(self.file, self.text, self.__name__, signature)
            self._built[key] = (device.kernel(device.load(image), self.__name__), [item.rsplit(":", 1) for item in passed])
        kernel, passed = self._built[key]
        extents = grid(values) if callable(grid) else grid
        extents = (extents,) if isinstance(extents, int) else tuple(extents)
        if not 1 <= len(extents) <= 3 or any(extent < 0 for extent in extents):
            raise ValueError(f"{self.__name__}: the grid is {extents}; it has one to three extents, none below 0")
        if any(extent == 0 for extent in extents):
            return
        arrays = {name: _view(values[name]) for name, type in passed if type.startswith("*")}
        shares_memory = device.properties["kind"] == "cpu"  # an address is a host pointer there
        seen = {name: array if array.flags.writeable or not shares_memory else array.copy() for name, array in arrays.items()}
        addresses = {name: array.ctypes.data if shares_memory else device.put(array) for name, array in seen.items()}
        try:
            device.launch(kernel, extents, [addresses[name] if name in addresses else values[name] for name, _ in passed])
            for name, array in arrays.items():
                if shares_memory and seen[name] is array:
                    continue
                result = seen[name] if shares_memory else device.get(addresses[name], array.shape, array.dtype)
                if array.flags.writeable:
                    array[...] = result
                elif array.tobytes() != result.tobytes():
                    raise ValueError(f"{self.__name__} wrote to '{name}', which is a read-only array: what it wrote is lost")
        finally:
            if not shares_memory:
                for address in addresses.values():
                    device.free(address)


def _view(value):
    """The numpy array behind an argument; its memory, not a copy."""
    if isinstance(value, np.ndarray):
        array = value
    elif hasattr(value, "detach"):  # a torch tensor
        array = value.detach().numpy()
    else:
        array = np.asarray(value)
        if array is not value and isinstance(value, (list, tuple)):
            array.flags.writeable = False  # a copy: nobody would see what is written to it
    if not array.dtype.isnative:
        raise TypeError(f"kernels take numbers in this machine's byte order; make this array one with .astype('{array.dtype.name}')")
    if not array.flags.c_contiguous:
        raise TypeError("kernels take dense arrays; make this one contiguous first (numpy.ascontiguousarray)")
    return array


def jit(function=None, *, device=None):
    """Makes a kernel of a function in the operator language. `device`: where it runs unless a launch says otherwise."""
    if function is None:
        return lambda f: Kernel(f, device)
    return Kernel(function, device)
