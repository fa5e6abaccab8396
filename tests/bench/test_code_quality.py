"""The code our backend makes against what LLVM's RISC-V backend makes of the same programs, for the same base, on the same model.

Instructions and cycles are counted by the model, so that the figures are exact and no matter of the host's speed."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "../../bench"))
from code_quality import all_programs, mean  # noqa: E402


@pytest.fixture(scope="module")
def ratios():
    return all_programs()


def test_instructions_are_as_few_as_the_stock_backends(ratios):
    assert mean([r[0] for r in ratios.values()]) <= 1.01, ratios


def test_cycles_are_fewer_than_the_stock_backends(ratios):
    assert mean([r[1] for r in ratios.values()]) <= 0.98, ratios


@pytest.mark.parametrize("measure", [0, 1], ids=["instructions", "cycles"])
def test_no_program_is_much_worse(ratios, measure):
    worst = max(ratios, key=lambda name: ratios[name][measure])
    assert ratios[worst][measure] <= 1.06, f"{worst}: {ratios[worst][measure]:.3f} times the stock backend's"
