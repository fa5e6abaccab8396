"""The NPU's fused operators one by one on the CPU in f32, from the inputs the NPU had: each within the rounding of f16."""
import json
import pathlib
import subprocess

import numpy as np
import ocr_models
import pytest


def compared(model: str, name: str, array: np.ndarray, tmp_path: pathlib.Path) -> list[dict]:
    np.save(tmp_path / "input.npy", array)
    command = [ocr_models.SOURCE / "build" / "bin" / "dougong", "compare", model, "--input", f"{name}={tmp_path / 'input.npy'}", "--report", "json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.parametrize("model, shape", [("det", (1, 3, 320, 480)), ("rec", (1, 3, 48, 320)), ("cls", (1, 3, 48, 192))])
def test_each_operator_rounds_as_its_type_does(model, shape, tmp_path):
    operators = compared(ocr_models.path(model), "x", ocr_models.shown(model, shape), tmp_path)
    worst = max(operators, key=lambda op: op["difference"] / op["largest"] if op["largest"] else 0)
    print(f"{model}: worst of {len(operators)} operators is {worst['name']}: {worst['difference']:.3g} at values up to {worst['largest']:.3g}")
    assert len(operators) > 20
    for op in operators:
        # A result is rounded once, to half a spacing: 2^-11 of its value. An operator whose inner values are stored in f16 may round twice.
        assert op["difference"] <= 2**-10 * op["largest"], op["name"]
