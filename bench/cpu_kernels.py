#!/usr/bin/env python
"""Kernels of the CPU target beside ONNX Runtime, one after the other on the same machine: ratio = peer's time / ours.

    build/…/cpu_kernels must be built;   bench/cpu_kernels.py [THREADS]     prints one line a kernel
"""
import os
import subprocess
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

BINARY = os.environ.get("CPU_KERNELS", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "bin", "cpu_kernels"))
CASES = [  # ResNet-50's and PP-OCRv4 det's kinds of layers
    "matmul 1024 1024 1024", "matmul 128 768 3072", "matmul 1 2048 1000",
    "conv 1 224 224 3 64 7 2", "conv 1 56 56 64 64 3 1", "conv 1 56 56 64 256 1 1", "conv 1 56 56 256 64 1 1", "conv 1 28 28 128 128 3 1",
    "conv 1 14 14 256 256 3 1", "conv 1 14 14 1024 256 1 1", "conv 1 7 7 512 512 3 1", "conv 1 7 7 2048 512 1 1",
    "conv 1 160 160 24 96 1 1", "conv 1 80 80 56 56 3 1", "depthwise 160 160 48 3", "depthwise 40 40 224 5",
    "softmax 4096 1024",
]


def model(words):
    kind, n = words[0], [int(w) for w in words[1:]]
    relu = [helper.make_node("Relu", ["c"], ["y"])]
    if kind == "matmul":
        m, k, f = n
        nodes, inputs = [helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (m, k)}
        weights = {"w": (k, f)}
    elif kind == "conv":
        b, h, w, c, f, kernel, stride = n
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[kernel // 2] * 4, strides=[stride] * 2)] + relu
        inputs, weights = {"x": (b, c, h, w)}, {"w": (f, c, kernel, kernel), "b": (f,)}
    elif kind == "depthwise":
        h, w, c, kernel = n
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[kernel // 2] * 4, group=c)] + relu
        inputs, weights = {"x": (1, c, h, w)}, {"w": (c, 1, kernel, kernel), "b": (c,)}
    else:
        nodes, inputs, weights = [helper.make_node("Softmax", ["x"], ["y"])], {"x": tuple(n)}, {}
    random = np.random.default_rng(0)
    initializers = [onnx.numpy_helper.from_array(random.standard_normal(s, np.float32), name) for name, s in weights.items()]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(k, TensorProto.FLOAT, s) for k, s in inputs.items()],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], initializers)
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    result.ir_version = 8
    return result, {k: random.standard_normal(s, np.float32) for k, s in inputs.items()}


def peer_seconds(words, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    proto, feeds = model(words)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    best, total = 1e9, 0.0
    while total < 0.3:
        start = time.perf_counter()
        session.run(None, feeds)
        seconds = time.perf_counter() - start
        best, total = min(best, seconds), total + seconds
    return best


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    for case in CASES:
        words = case.split()
        line = subprocess.run([BINARY, str(threads), *words], check=True, capture_output=True, text=True).stdout.strip()
        ours = float(line.split(" s ")[0].split()[-1])
        peer = peer_seconds(words, threads)
        print(f"{line}   ONNX Runtime {peer * 1e3:8.3f} ms   ratio {peer / ours:5.2f}", flush=True)


if __name__ == "__main__":
    main()
