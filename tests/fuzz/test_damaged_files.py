"""Damaged files of every kind that is read: 300 inputs a kind; DOUGONG_PART=2/8 is the second eighth of 20,000 others a kind, under the
sanitizers, as `./run-tests --long` runs them. A failure names its input; the program runs it alone with --first N --count 1."""
import pathlib

import numpy as np
import pytest
from programs import BUILD, HERE, SOURCE, fuzz, run

CASES = pathlib.Path("/usr/share/libonnx-testdata/data")


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[pathlib.Path]:
    folder = tmp_path_factory.mktemp("files")
    np.save(folder / "a.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    np.save(folder / "b.npy", np.asfortranarray(np.zeros((2, 3, 4), np.int64)))
    models = sorted(path for kind in ("node", "simple", "pytorch-converted", "pytorch-operator") for path in (CASES / kind).glob("*/model.onnx"))
    assert len(models) > 900
    run(BUILD / "bin/dougong", "compile", CASES / "node/test_add/model.onnx", "-o", folder / "add.dgx", "--device", "cpu")
    (folder / "kernels.py").write_text((HERE / "inputs/kernels.py").read_text())
    return [SOURCE / "machines/phone.toml", folder / "a.npy", folder / "b.npy", folder / "add.dgx", *models, folder / "kernels.py"]


@pytest.mark.parametrize("kind", [".toml", ".npy", ".dgx", ".onnx", ".py"])
def test_each_is_read_or_refused_with_a_reason(files, kind):
    fuzz("fuzz_files", 300, 20_000, [path for path in files if path.suffix == kind])
