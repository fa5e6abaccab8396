"""Reads the text in a picture with the three PP-OCRv4 models, on an NPU with the CPU beside it.

    PYTHONPATH=build/python .venv/bin/python examples/ocr.py PICTURE.png [--device npu|cpu|auto] [--machine phone] [--report]

What happens between the models stands in ocr/reading.py; this file is how a program uses Dougong.
"""
import argparse
import pathlib
import sys

import numpy as np
from PIL import Image

import dougong

sys.path.insert(0, str(pathlib.Path(__file__).parent / "ocr"))
import reading  # noqa: E402

MODELS = pathlib.Path(__file__).parent.parent / "build" / "ocr-models"


def as_model(session: dougong.Session) -> reading.Model:
    """A model with one input and one output, as the reading steps call it."""
    name, = (port.name for port in session.inputs)
    return lambda array: next(iter(session.run({name: array}).values()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Reads the text in a picture.")
    parser.add_argument("picture", help="a PNG or JPEG file")
    parser.add_argument("--models", type=pathlib.Path, default=MODELS, help="the folder with the PP-OCRv4 models, as .onnx or compiled as .dgx")
    parser.add_argument("--device", default="npu", choices=["npu", "cpu", "auto"])
    parser.add_argument("--machine", default="phone", help="the NPU's machine")
    parser.add_argument("--report", action="store_true", help="keep time, and say where time, bytes and energy went")
    arguments = parser.parse_args()

    def load(name: str) -> dougong.Session:
        compiled, model = arguments.models / f"{name}.dgx", arguments.models / f"{name}.onnx"
        return dougong.load(compiled if compiled.exists() else model, device=arguments.device, machine=arguments.machine, timing=arguments.report)

    detector, classifier = load("ch_PP-OCRv4_det_infer"), load("ch_ppocr_mobile_v2.0_cls_infer")
    recogniser = load("ch_PP-OCRv4_rec_infer")
    picture = np.asarray(Image.open(arguments.picture).convert("RGB"))
    lines = reading.read(picture, as_model(detector), as_model(classifier), as_model(recogniser), reading.alphabet(recogniser.property("character")))
    for line in lines:
        print(f"{line.text:40} {line.confidence:6.1%}  at ({line.box.centre[0]:.0f}, {line.box.centre[1]:.0f})")
    if arguments.report:
        print(detector.report())


if __name__ == "__main__":
    main()
