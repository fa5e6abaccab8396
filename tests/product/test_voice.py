"""Silero VAD (MIT, from PyPI's silero-vad), window by window with its state handed on: recurrences, branches on the sample rate, f32 and f16 files."""
import importlib.util
import pathlib

import numpy as np
import ocr_models
import pytest

import dougong


@pytest.fixture(scope="module")
def models() -> pathlib.Path:
    found = importlib.util.find_spec("silero_vad")
    if not found:
        pytest.skip("silero-vad is not installed; ./setup installs it")
    return pathlib.Path(found.submodule_search_locations[0]) / "data"


def windows() -> list[np.ndarray]:
    """A second of hiss, then of vowel-like tones: 16 windows of 512 samples, each behind the last 64 of the one before."""
    time = np.arange(8192) / 16000
    voice = sum(np.sin(2 * np.pi * 140 * k * time) / k for k in range(1, 20)) * (1 + np.sin(2 * np.pi * 4 * time)) * 0.1
    signal = np.concatenate([np.zeros(64), np.where(time < 0.25, 0, voice) + np.random.default_rng(2).normal(0, 0.01, 8192)]).astype(np.float32)
    return [signal[at:at + 576][None] for at in range(0, 8192, 512)]


def probabilities(run, names: set[str]) -> np.ndarray:
    state, result = np.zeros((2, 1, 128), np.float32), []
    for window in windows():
        given = {"input": window, "state": state, "sr": np.array(16000, np.int64)}
        output, state = run({name: value for name, value in given.items() if name in names})
        result.append(float(output[0, 0]))
    return np.array(result)


@pytest.mark.parametrize("file", ["silero_vad.onnx", "silero_vad_half.onnx"])
def test_probabilities(models, file):
    path = str(models / file)
    peer = ocr_models.peer(path)
    inputs = {port.name for port in peer.get_inputs()}  # one file is for 16 kHz alone
    expected = probabilities(lambda given: peer.run(None, given), inputs)
    assert np.ptp(expected) > 0.1  # it hears something
    for device, tolerance in (("cpu", 1e-4), ("npu", 1e-2)):
        session = dougong.load(path, device=device)
        got = probabilities(lambda given: session.run(given).values(), inputs)
        print(f"{file} on {device}: largest difference {np.abs(got - expected).max():.1e}")
        np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)
