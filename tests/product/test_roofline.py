"""Published-style kernels and whole models reach their share of the machine's roofs, in model cycles (which are exact)."""
import pathlib
import sys

import numpy as np
import ocr_models
import pytest

import dougong

sys.path.insert(0, str(ocr_models.SOURCE / "bench"))
import operator_language  # noqa: E402


def test_matmul():
    assert 0.5 <= operator_language.matmul() <= 1


def test_vector_add():
    assert 0.6 <= operator_language.vector_add() <= 1


def share_of_roof(model: str, array: np.ndarray) -> float:
    session = dougong.load(model, device="npu", machine="phone", timing=True)
    session.run({session.inputs[0].name: array})
    report = session.report("json")
    return report["roofline_bound_seconds"] / report["npu_seconds"]


def test_detection():
    assert 0.25 <= share_of_roof(ocr_models.path("det"), ocr_models.shown("det", (1, 3, 640, 640))) <= 1


def test_resnet50():
    pytest.importorskip("torch", reason="torch is not installed; ResNet-50 is defined and exported with it")
    import resnet50
    path = pathlib.Path(ocr_models.SOURCE / "build" / "resnet50.onnx")
    if not path.exists():
        resnet50.export(str(path))
    picture = ocr_models.reading.as_input(ocr_models.reading.resize(ocr_models.picture(), 224, 224))
    assert 0.25 <= share_of_roof(str(path), picture) <= 1
