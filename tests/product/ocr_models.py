"""The PP-OCRv4 models (Apache-2.0, from PyPI's rapidocr-onnxruntime) and what they are shown, for the tests of this folder."""
import functools
import pathlib
import subprocess
import sys

import numpy as np
import onnxruntime

SOURCE = pathlib.Path(__file__).parents[2]
FOLDER = SOURCE / "build" / "ocr-models"
sys.path.insert(0, str(SOURCE / "examples" / "ocr"))
import draw  # noqa: E402
import reading  # noqa: E402

FILES = {"det": "ch_PP-OCRv4_det_infer.onnx", "cls": "ch_ppocr_mobile_v2.0_cls_infer.onnx", "rec": "ch_PP-OCRv4_rec_infer.onnx"}


def path(model: str) -> str:
    if not FOLDER.exists():
        subprocess.run([SOURCE / "examples" / "ocr" / "models"], check=True)
    return str(FOLDER / FILES[model])


@functools.cache
def peer(file: str) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(file)


def reference(file: str, array: np.ndarray) -> np.ndarray:
    """What ONNX Runtime makes of it."""
    session = peer(file)
    return session.run(None, {session.get_inputs()[0].name: array})[0]


@functools.cache
def picture(seed: int = 8) -> np.ndarray:
    return np.asarray(draw.draw(seed)[0])


def crops_of(page: np.ndarray) -> list[np.ndarray]:
    """The lines of a picture, cut out along the boxes that the reference finds."""
    return [reading.crop(page, box, reading.HEIGHT) for box in reading.detect(page, lambda x: reference(path("det"), x))]


@functools.cache
def crops() -> list[np.ndarray]:
    return crops_of(picture())


def shown(model: str, shape: tuple[int, ...]) -> np.ndarray:
    """An input of `shape` for the model: the drawn picture, or lines of it."""
    if model == "det":
        return reading.as_input(reading.resize(picture(), *shape[2:]))
    lines = [reading.padded(crops()[i % len(crops())], shape[3]) for i in range(shape[0])]
    return np.concatenate(lines)
