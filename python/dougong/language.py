"""The operator language's names, for kernels to import: `import dougong.language as tl`.

Kernels are compiled from their source text and never run as Python, so these names only need to exist.
"""


class constexpr:
    """Annotates a parameter that is known at compile time; a number given for it is the number."""

    def __new__(cls, value):
        return value


class _Name:
    """A function or type of the operator language. Means something inside a kernel only."""

    def __init__(self, name):
        self._name = name

    def __call__(self, *arguments, **named):
        raise RuntimeError(f"{self._name} works inside a kernel only (a function with @dougong.jit)")

    def __repr__(self):
        return f"dougong.language.{self._name}"


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Name(name)
