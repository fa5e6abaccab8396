#!/usr/bin/env python
"""Published-style Triton kernels on the CPU target beside numpy, in one process.

    PYTHONPATH=build/python OPENBLAS_NUM_THREADS=2 bench/cpu_language.py
"""
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "language"))
import dougong
from test_kernels import add, matmul, softmax


def best(run, limit=0.5):
    run()
    least, total = 1e9, 0.0
    while total < limit:
        start = time.perf_counter()
        run()
        seconds = time.perf_counter() - start
        least, total = min(least, seconds), total + seconds
    return least


def line(name, ours, peer):
    print(f"{name:32} {ours * 1e3:9.3f} ms   numpy {peer * 1e3:9.3f} ms   ratio {peer / ours:5.2f}", flush=True)


def main():
    random = np.random.default_rng(0)
    device = dougong.Device("cpu")
    n = 1 << 22
    x, y, out = (random.standard_normal(n, np.float32) for _ in range(3))
    line("add 4M", best(lambda: add[(dougong.cdiv(n, 4096),)](x, y, out, n, BLOCK_SIZE=4096, device=device)), best(lambda: np.add(x, y, out=out)))
    rows, columns = 2048, 781
    x = random.standard_normal((rows, columns), np.float32)
    out = np.empty_like(x)

    def reference():
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    line("softmax 2048x781", best(lambda: softmax[(64,)](out, x, columns, columns, rows, columns, BLOCK=1024, device=device)), best(reference))
    for size, block in ((1024, 64), (1000, 64), (1024, 128)):
        a, b = (random.standard_normal((size, size), np.float32) for _ in range(2))
        c = np.empty_like(a)
        grid = (dougong.cdiv(size, block) ** 2,)
        line(f"matmul {size}, blocks of {block}", best(lambda: matmul[grid](a, b, c, size, size, size, size, 1, size, 1, size, 1, BLOCK_M=block, BLOCK_N=block, BLOCK_K=32,
                                                                    GROUP_M=8, ACTIVATION="", device=device)), best(lambda: np.matmul(a, b, out=c)))


if __name__ == "__main__":
    main()
