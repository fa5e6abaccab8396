"""Dependencies between components point one way (ARCHITECTURE.md): what each may include is listed here, once."""
import pathlib
import re

import pytest

SOURCE = pathlib.Path(__file__).parents[2]

# A component may include itself and these. "machines" and "isa" are plain facts.
MAY_USE = {
    "machines": [],
    "isa": [],
    "backend": ["isa"],
    "sim": ["isa", "machines"],
    "compiler": ["isa", "machines", "backend"],
    "runtime": ["isa", "machines", "sim"],
    "language": ["compiler/dialect"],
    "models": ["compiler", "runtime", "machines"],
    "api": ["models", "language", "compiler", "runtime", "machines"],
    "tools": ["api", "models", "language", "compiler", "runtime", "sim", "backend", "isa", "machines"],
    "python": ["api"],
    "examples": ["api"],
}
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.MULTILINE)


def components_of(include: str) -> str | None:
    """The component an include names; None for a header beside the file, or one of the build."""
    top = include.split("/")[0]
    return include if top in MAY_USE and (SOURCE / include).exists() else None


@pytest.mark.parametrize("component", MAY_USE)
def test_includes_point_down(component):
    wrong = []
    files = [f for f in (SOURCE / component).rglob("*") if f.suffix in (".h", ".hpp", ".cc", ".cpp", ".c", ".inc")]
    for file in files:
        for include in INCLUDE.findall(file.read_text(errors="replace")):
            target = components_of(include)
            allowed = [component, *MAY_USE[component]]
            if target and not any(target == a or target.startswith(a + "/") for a in allowed):
                wrong.append(f"{file.relative_to(SOURCE)} includes {include}")
    assert not wrong, "\n".join(wrong)


def test_every_component_is_listed():
    built = re.search(r"foreach\(component ([^)]+)\)", (SOURCE / "CMakeLists.txt").read_text()).group(1).split()
    assert set(built) - {"bench", "tests"} == set(MAY_USE)
