#!/usr/bin/env python
"""Whole models on the CPU target beside ONNX Runtime, in one process: ratio = ONNX Runtime's time / ours, and the largest difference
of an output, relative to its largest value.

    PYTHONPATH=build/python bench/cpu_models.py [--threads N] [--report FOLDER] MODEL.onnx:1x3x640x640 … | resnet50
"""
import argparse
import os
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import dougong


def resnet50(path):
    """ResNet-50 (He et al. 2015, stride in the 3x3) with random weights, batch norms folded as an exporter folds them."""
    random = np.random.default_rng(0)
    nodes, weights = [], []

    def name():
        return f"v{len(nodes)}"

    def conv(x, cin, cout, kernel, stride, relu=True):
        w = random.standard_normal((cout, cin, kernel, kernel), np.float32) * np.float32(np.sqrt(2 / (cin * kernel * kernel)) * (1 if relu else 0.5))
        weights.append(numpy_helper.from_array(w, f"w{len(weights)}"))
        weights.append(numpy_helper.from_array(random.standard_normal(cout, np.float32) * np.float32(0.1), f"w{len(weights)}"))
        y = name()
        nodes.append(helper.make_node("Conv", [x, weights[-2].name, weights[-1].name], [y], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, name=y))
        if relu:
            x, y = y, name()
            nodes.append(helper.make_node("Relu", [x], [y], name=y))
        return y

    x = conv("x", 3, 64, 7, 2)
    y = name()
    nodes.append(helper.make_node("MaxPool", [x], [y], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, name=y))
    x, cin = y, 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            s = stride if block == 0 else 1
            shortcut = x if block else conv(x, cin, 4 * width, 1, s, relu=False)
            y = conv(conv(conv(x, cin, width, 1, 1), width, width, 3, s), width, 4 * width, 1, 1, relu=False)
            total = name()
            nodes.append(helper.make_node("Add", [y, shortcut], [total], name=total))
            x, cin = name(), 4 * width
            nodes.append(helper.make_node("Relu", [total], [x], name=x))
    pooled, flat = name(), name() + "f"
    nodes.append(helper.make_node("GlobalAveragePool", [x], [pooled], name=pooled))
    nodes.append(helper.make_node("Flatten", [pooled], [flat], name=flat))
    weights.append(numpy_helper.from_array(random.standard_normal((1000, 2048), np.float32) * np.float32(0.02), "fc"))
    weights.append(numpy_helper.from_array(np.zeros(1000, np.float32), "fcb"))
    nodes.append(helper.make_node("Gemm", [flat, "fc", "fcb"], ["y"], transB=1, name="fc"))
    graph = helper.make_graph(nodes, "resnet50", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 224, 224])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1000])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)


def best_seconds(run, limit=1.5):
    best, total = 1e9, 0.0
    while total < limit:
        start = time.perf_counter()
        run()
        seconds = time.perf_counter() - start
        best, total = min(best, seconds), total + seconds
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--report")
    options = parser.parse_args()
    folder = tempfile.TemporaryDirectory()
    for word in options.models:
        path, _, text = word.partition(":")
        if path == "resnet50":
            path, text = os.path.join(folder.name, "resnet50.onnx"), "1x3x224x224"
            resnet50(path)
        shape = [int(part) for part in text.split("x")]
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = options.threads
        peer = onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])
        feeds = {peer.get_inputs()[0].name: np.random.default_rng(1).standard_normal(shape, np.float32)}
        start = time.perf_counter()
        session = dougong.load(path, device="cpu", threads=options.threads)
        ours = session.run(feeds)
        compiled = time.perf_counter() - start
        expected = dict(zip([o.name for o in peer.get_outputs()], peer.run(None, feeds)))
        worst = max(float(np.abs(ours[k] - v).max() / np.abs(v).max()) for k, v in expected.items())
        seconds, peers = best_seconds(lambda: session.run(feeds)), best_seconds(lambda: peer.run(None, feeds))
        print(f"{os.path.basename(path):36} {text:12} {seconds * 1e3:9.2f} ms   ONNX Runtime {peers * 1e3:9.2f} ms   ratio {peers / seconds:5.2f}   "
              f"difference {worst:.1e}   first run {compiled:.1f} s", flush=True)
        if options.report:
            session.run(feeds)
            with open(os.path.join(options.report, os.path.basename(path) + ".json"), "w") as out:
                import json
                json.dump(session.report("json"), out)


if __name__ == "__main__":
    main()
