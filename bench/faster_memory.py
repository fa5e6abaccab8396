"""A faster memory never makes a launch slower: models and kernels on `phone` with DRAM's bandwidth times 2, 4, 8 and 16, and with L2 of twice the bandwidth or half
the latency, in model cycles. The programs are those compiled for `phone`, so that only time differs. Prints each launch that took more cycles than with
the slower memory, and how many launches were compared. Run as
    PYTHONPATH=build/python .venv/bin/python bench/faster_memory.py [--long]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import dougong

SOURCE = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(SOURCE / "tests" / "product"), str(SOURCE / "bench" / "kernels")]
PHONE = (SOURCE / "machines" / "phone.toml").read_text()
MACHINES = [("as it is", {}), *((f"DRAM x{factor}", {"gb_per_s": factor}) for factor in (2, 4, 8, 16)), ("L2 x2", {"bytes_per_cycle = 256": 2}),
            ("L2 latency / 2", {"latency_cycles": 0.5}), ("DRAM latency / 2", {"latency_ns": 0.5}), ("all of them", {"gb_per_s": 16, "bytes_per_cycle = 256": 2, "latency_cycles": 0.5, "latency_ns": 0.5})]
# A machine is compared with this one.
SLOWER = {"DRAM x2": "as it is", "DRAM x4": "DRAM x2", "DRAM x8": "DRAM x4", "DRAM x16": "DRAM x8", "L2 x2": "as it is", "L2 latency / 2": "as it is",
          "DRAM latency / 2": "as it is", "all of them": "DRAM x16"}


def machine_text(factors: dict[str, float]) -> str:
    text = PHONE
    for key, factor in factors.items():
        name = key.split(" ")[0]
        pattern = re.escape(key) + r"\b" if "=" in key else rf"{key} = [0-9.]+"
        text, found = re.subn("^" + pattern, lambda m: f"{name} = {float(m[0].split('=')[1]) * factor:g}", text, flags=re.MULTILINE)
        assert found == 1, key
    return text


def network(seed: int) -> tuple[onnx.ModelProto, np.ndarray]:
    """Convolutions of random sizes, one after another and beside each other, and what mostly stands between and behind them."""
    random = np.random.default_rng(seed)
    channels, height, width = int(random.choice([3, 8, 16, 32])), int(random.integers(7, 60)), int(random.integers(7, 60))
    x = random.standard_normal((1, channels, height, width)).astype(np.float32)
    nodes, weights, now, count = [], [], "x", 0

    def weight(*shape: int) -> str:
        weights.append(numpy_helper.from_array((random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32), f"w{len(weights)}"))
        return weights[-1].name

    def node(kind: str, inputs: list[str], **attributes) -> str:
        nodes.append(helper.make_node(kind, inputs, [f"v{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    for _ in range(int(random.integers(2, 6))):
        kind, out = random.integers(5), int(random.choice([8, 16, 24, 32, 64, 96]))
        if kind == 0:
            now, channels = node("Conv", [now, weight(out, channels, 1, 1)]), out
        elif kind == 1:
            now, channels = node("Conv", [now, weight(out, channels, 3, 3)], pads=[1, 1, 1, 1]), out
        elif kind == 2:
            now = node("Conv", [now, weight(channels, 1, 3, 3)], pads=[1, 1, 1, 1], group=channels)
        elif kind == 3:
            now = node("Add", [node("Relu", [now]), node("Conv", [now, weight(channels, channels, 3, 3)], pads=[1, 1, 1, 1])])
        else:
            now = node("Mul", [now, node("Sigmoid", [node("Conv", [node("GlobalAveragePool", [now]), weight(channels, channels, 1, 1)])])])
        now = node(str(random.choice(["Relu", "Sigmoid", "HardSwish"])), [now])
    now = node("Softmax", [node("MatMul", [node("Flatten", [node("GlobalAveragePool", [now])]), weight(channels, 50)])], axis=1)
    graph = helper.make_graph(nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                              [helper.make_tensor_value_info(now, TensorProto.FLOAT, [1, 50])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), x


def model_runs(folder: pathlib.Path, networks: int, long: bool):
    """(name, what gives the cycles of each launch by its name)"""
    import ocr_models

    def compiled(name: str, file: str, array: np.ndarray):
        program = folder / f"{name}.dgx"
        shape = "=".join((onnx.load(file, load_external_data=False).graph.input[0].name, "x".join(map(str, array.shape))))
        subprocess.run([SOURCE / "build" / "bin" / "dougong", "compile", file, "-o", program, "--machine", "phone", "--shape", shape], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def cycles() -> dict[str, int]:
            session = dougong.load(str(program), timing=True)
            session.run({session.inputs[0].name: array})
            return {operator["name"]: operator["statistics"]["cycles"] for operator in session.report("json")["operators"] if operator["device"] == "npu"}

        return name, cycles

    for seed in range(networks):
        model, x = network(seed)
        path = folder / f"network{seed}.onnx"
        onnx.save(model, path)
        yield compiled(f"network {seed}", str(path), x)
    yield compiled("cls", ocr_models.path("cls"), ocr_models.shown("cls", (1, 3, 48, 192)))
    yield compiled("rec", ocr_models.path("rec"), ocr_models.shown("rec", (1, 3, 48, 320)))
    if long:
        yield compiled("det", ocr_models.path("det"), ocr_models.shown("det", (1, 3, 640, 640)))
        if (SOURCE / "build" / "resnet50.onnx").exists():
            yield compiled("ResNet-50", str(SOURCE / "build" / "resnet50.onnx"), ocr_models.reading.as_input(ocr_models.reading.resize(ocr_models.picture(), 224, 224)))


def kernel_runs(long: bool):
    import device_kernels as kernels
    chosen = {"vector add": lambda: kernels.vector_add(8), "softmax": lambda: kernels.softmax(8), "convolution": kernels.convolution, "depthwise": kernels.depthwise,
              "gemm int8": lambda: kernels.gemm("phone", "int8", 1024 if not long else 4096), "gemm bf16": lambda: kernels.gemm("phone", "bf16", 1024)}
    for name, run in chosen.items():
        yield name, lambda run=run: {"kernel": run().cycles}


def measured(networks: int = 12, long: bool = False) -> tuple[int, list[str]]:
    """How many launches were compared with the same on a slower memory, and those that took longer."""
    compared, slower = 0, []
    kept = os.environ.get("DOUGONG_MACHINES")
    with tempfile.TemporaryDirectory() as folder:
        try:
            for name, run in [*model_runs(pathlib.Path(folder), networks, long), *kernel_runs(long)]:
                cycles = {}
                for machine, factors in MACHINES:
                    (pathlib.Path(folder) / "phone.toml").write_text(machine_text(factors))
                    os.environ["DOUGONG_MACHINES"] = folder
                    cycles[machine] = run()
                    for launch, now in cycles[machine].items() if machine in SLOWER else ():
                        before = cycles[SLOWER[machine]][launch]
                        compared += 1
                        if now > before:
                            slower.append(f"{name}, {launch}: {machine} takes {now} cycles, {SLOWER[machine]} {before} (+{now - before}, {(now - before) / before:.2%})")
        finally:
            os.environ.pop("DOUGONG_MACHINES", None) if kept is None else os.environ.update(DOUGONG_MACHINES=kept)
    return compared, slower


if __name__ == "__main__":
    compared, slower = measured(long="--long" in sys.argv, networks=30 if "--long" in sys.argv else 12)
    print("\n".join(slower))
    print(f"{len(slower)} of {compared} launches are slower with the faster memory")
