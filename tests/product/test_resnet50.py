"""ResNet-50, exported by torch, against ONNX Runtime on both devices."""
import pathlib

import numpy as np
import ocr_models
import pytest

import dougong

pytest.importorskip("torch", reason="torch is not installed; ResNet-50 is defined and exported with it")


@pytest.fixture(scope="module")
def model():
    import resnet50
    path = pathlib.Path(ocr_models.SOURCE / "build" / "resnet50.onnx")
    if not path.exists():
        resnet50.export(str(path))
    return str(path)


@pytest.fixture(scope="module")
def picture():
    return ocr_models.reading.as_input(ocr_models.reading.resize(ocr_models.picture(), 224, 224))


@pytest.mark.parametrize("device, tolerance", [("cpu", 1e-4), ("npu", 1e-2)])
def test_against_onnx_runtime(model, picture, device, tolerance):
    expected = ocr_models.reference(model, picture)
    got = dougong.load(model, device=device).run({"x": picture})["y"]
    print(f"ResNet-50 on {device}: largest difference {np.abs(got - expected).max() / np.abs(expected).max():.2e} of the largest value")
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())
    assert got.argmax() == expected.argmax()
