"""The product's main job: the lines read from a drawn picture are those drawn, whoever runs the models."""
import subprocess
import sys

import numpy as np
import ocr_models
import pytest
from ocr_models import draw, reading
from PIL import Image

import dougong

SOURCE = ocr_models.SOURCE


def as_model(model: str, device: str) -> reading.Model:
    if device == "onnxruntime":
        return lambda array: ocr_models.reference(ocr_models.path(model), array)
    session = dougong.load(ocr_models.path(model), device=device)
    return lambda array: next(iter(session.run({session.inputs[0].name: array}).values()))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    picture, texts = draw.draw(8)
    path = tmp_path_factory.mktemp("picture") / "drawn.png"
    picture.save(path)
    return path, texts


@pytest.mark.parametrize("device", ["onnxruntime", "cpu", "npu"])
def test_lines(drawn, device):
    characters = reading.alphabet(ocr_models.peer(ocr_models.path("rec")).get_modelmeta().custom_metadata_map["character"])
    lines = reading.read(np.asarray(Image.open(drawn[0])), *(as_model(model, device) for model in ("det", "cls", "rec")), characters)
    assert [line.text for line in lines] == drawn[1]


def test_programs(drawn, tmp_path):
    """The C++ and the Python example, and the boxes that the first draws."""
    boxes = tmp_path / "boxes.png"
    for command in ([SOURCE / "build" / "bin" / "ocr", drawn[0], "--models", ocr_models.FOLDER, "--boxes", boxes], [sys.executable, SOURCE / "examples" / "ocr.py", drawn[0]]):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert [line.split("  ")[0].strip() for line in done.stdout.splitlines()] == drawn[1]
    marked = np.asarray(Image.open(boxes)).astype(int)
    assert marked.shape == (640, 640, 3) and (np.abs(marked - [220, 30, 30]).sum(axis=2) == 0).sum() > 1000


def test_programs_with_compiled_models(drawn, tmp_path):
    """From .dgx files alone: the alphabet, too, is in there."""
    shapes = {"det": [(1, 3, 640, 640)], "cls": [(1, 3, 48, reading.CLASSIFIER_WIDTH)], "rec": [(1, 3, reading.HEIGHT, width) for width in reading.WIDTHS]}
    for model, file in ocr_models.FILES.items():
        session = dougong.load(ocr_models.path(model), device="cpu")
        for shape in shapes[model]:
            session.prepare({session.inputs[0].name: shape})
        session.save(tmp_path / file.replace(".onnx", ".dgx"))
    for command in ([SOURCE / "build" / "bin" / "ocr"], [sys.executable, SOURCE / "examples" / "ocr.py"]):
        done = subprocess.run([*command, drawn[0], "--models", tmp_path], capture_output=True, text=True, check=True)
        assert [line.split("  ")[0].strip() for line in done.stdout.splitlines()] == drawn[1]


def test_a_picture_that_is_none(tmp_path):
    file = tmp_path / "no.png"
    file.write_text("no picture")
    done = subprocess.run([SOURCE / "build" / "bin" / "ocr", file, "--models", ocr_models.FOLDER], capture_output=True, text=True)
    assert done.returncode == 2 and "cannot read the picture" in done.stderr
    done = subprocess.run([SOURCE / "quickstart", tmp_path / "nowhere.png"], capture_output=True, text=True)
    assert done.returncode == 2 and "there is no picture" in done.stderr
