"""What a timing report says must hold together, on every shipped machine; and nothing that only concerns time may change a result."""
import pathlib
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import dougong

MACHINES = pathlib.Path(__file__).parents[2] / "machines"
CORES = {"tiny": 1, "phone": 6, "server": 24}


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Two convolutions with a residual, a pooling, a matmul and a softmax: every engine has work."""
    rng = np.random.default_rng(5)
    weights = {"w1": rng.standard_normal((32, 16, 3, 3)) / 12, "b1": rng.standard_normal(32), "w2": rng.standard_normal((32, 32, 3, 3)) / 17,
               "b2": rng.standard_normal(32), "w3": rng.standard_normal((32, 100)) / 6}
    node = helper.make_node
    nodes = [node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]), node("Relu", ["c1"], ["r1"]), node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1, 1, 1, 1]),
             node("Add", ["c2", "r1"], ["a"]), node("GlobalAveragePool", ["a"], ["g"]), node("Flatten", ["g"], ["f"]), node("MatMul", ["f", "w3"], ["m"]),
             node("Softmax", ["m"], ["y"], axis=1)]
    graph = helper.make_graph(nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16, 40, 56])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 100])],
                              [numpy_helper.from_array(value.astype(np.float32), key) for key, value in weights.items()])
    path = tmp_path_factory.mktemp("network") / "network.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path, np.random.default_rng(6).standard_normal((1, 16, 40, 56)).astype(np.float32)


def run(network, **options):
    session = dougong.load(network[0], device="npu", cache=False, **options)
    return session.run({"x": network[1]})["y"], session.report("json")


@pytest.mark.parametrize("machine", CORES)
def test_report_is_consistent(network, machine):
    _, report = run(network, machine=machine, timing=True)
    npu = report["npu"]
    assert npu["energy_total_joule"] == pytest.approx(sum(npu["energy_joule"].values()), rel=1e-12)
    for engine, cycles in npu["engines"].items():
        assert sum(cycles.values()) == npu["cycles"] * CORES[machine], engine
    assert sum(npu["stall_cycles"].values()) == npu["engines"]["core"]["stalled_cycles"]
    for operator in report["operators"]:
        assert operator["device"] == "npu"
        assert operator["seconds"] >= operator["roofline_bound_seconds"] > 0, operator["name"]
    assert report["latency_seconds"] == pytest.approx(sum(operator["seconds"] for operator in report["operators"]))
    # Weights and input lie in DRAM at first: all of them must have been read, in the types they are kept in.
    assert npu["bytes"]["dram read"] >= 2 * (16 * 32 * 9 + 32 * 32 * 9 + 32 * 100) + 4 * 16 * 40 * 56
    # The output has reached DRAM, or L2 says that it still has to.
    assert npu["bytes"]["dram written"] + npu["l2_dirty_bytes"] >= 4 * 100
    assert npu["l2_dirty_joule"] == pytest.approx(npu["l2_dirty_bytes"] * 31.2e-12)
    assert (npu["l2_dirty_bytes"] > 0) == (machine != "tiny")
    assert npu["tensor_macs"] >= 40 * 56 * 9 * (16 * 32 + 32 * 32)


def test_time_and_cores_never_change_a_bit(network):
    expected, _ = run(network, machine="phone")
    for options in ({"timing": True}, {"cores": 1}, {"cores": 1, "timing": True}, {"cores": 5, "timing": True}):
        np.testing.assert_array_equal(run(network, machine="phone", **options)[0], expected)


# The programs that are compared are the same ones; a compiler that knows of a faster memory may choose other tiles, and may be wrong in it.
@pytest.mark.parametrize("key", ["gb_per_s = 76.8", "latency_ns = 90", "bytes_per_cycle = 256\nlatency", "latency_cycles = 30"])
def test_a_faster_memory_makes_no_operator_slower(network, tmp_path, monkeypatch, key):
    text = (MACHINES / "phone.toml").read_text()
    assert text.count(key) == 1
    monkeypatch.setenv("DOUGONG_MACHINES", str(tmp_path))  # where `phone` is looked for
    name, number = re.match(r"(\w+) = ([0-9.]+)", key).groups()
    cycles = []
    for factor in (0.1, 0.5, 1, 2, 16):
        value = float(number) * (1 / factor if name.startswith("latency") else factor)
        (tmp_path / "phone.toml").write_text(text.replace(key, key.replace(number, f"{max(1, value):.0f}" if name != "gb_per_s" else f"{value}")))
        if not cycles:
            session = dougong.load(network[0], device="npu", machine="phone", cache=False)
            session.run({"x": network[1]})
            session.save(tmp_path / "network.dgx")
        session = dougong.load(tmp_path / "network.dgx", timing=True)
        session.run({"x": network[1]})
        cycles.append([operator["statistics"]["cycles"] for operator in session.report("json")["operators"]])
    for slower, faster in zip(cycles, cycles[1:]):
        assert all(b <= a for a, b in zip(slower, faster))
    assert sum(cycles[0]) > sum(cycles[-1])


def test_more_cores_are_faster(network):
    one, six = (run(network, machine="phone", cores=cores, timing=True)[1]["npu"]["cycles"] for cores in (1, 6))
    assert six < one
