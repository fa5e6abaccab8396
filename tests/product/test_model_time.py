"""What the device model says of time, bytes and energy is consistent, and time never changes a bit."""
import dataclasses
import re
import sys

import numpy as np
import ocr_models
import pytest

import dougong

SHAPE = (1, 3, 320, 480)


@dataclasses.dataclass
class Run:
    output: np.ndarray
    report: dict


@pytest.fixture(scope="module")
def run():
    array = ocr_models.shown("det", SHAPE)
    runs = {}

    def once(machine="phone", timing=True, cores=0) -> Run:
        key = (str(machine), timing, cores)
        if key not in runs:
            session = dougong.load(ocr_models.path("det"), device="npu", machine=str(machine), timing=timing, cores=cores)
            output = next(iter(session.run({"x": array}).values()))
            runs[key] = Run(output, session.report("json"))
        return runs[key]

    return once


def test_the_same_bits_in_both_modes_and_on_any_cores(run):
    bits = [run(timing=timing, cores=cores).output.tobytes() for timing in (False, True) for cores in (1, 6)]
    assert len(set(bits)) == 1


def test_every_engine_is_busy_stalled_or_idle(run):
    npu = run().report["npu"]
    for name, engine in npu["engines"].items():
        assert engine["busy_cycles"] + engine["stalled_cycles"] + engine["idle_cycles"] == 6 * npu["cycles"], name
    assert sum(npu["stall_cycles"].values()) == npu["engines"]["core"]["stalled_cycles"]


def test_energy_is_the_sum_of_its_parts(run):
    npu = run().report["npu"]
    assert npu["energy_total_joule"] == pytest.approx(sum(npu["energy_joule"].values()))
    assert npu["energy_total_joule"] == pytest.approx(sum(op["statistics"]["energy_total_joule"] for op in run().report["operators"] if op["device"] == "npu"))


def test_no_operator_beats_its_roof(run):
    report = run().report
    for op in report["operators"]:
        assert op["seconds"] >= op["roofline_bound_seconds"] * 0.999, op["name"]
    # The tensor engines' peak in f16 is half of 64x64 multiply-adds a cycle and core.
    assert report["npu"]["cycles"] >= report["npu"]["tensor_macs"] / (6 * 64 * 64 / 2)
    dram = report["npu"]["bytes"]["dram read"] + report["npu"]["bytes"]["dram written"]
    assert report["npu"]["seconds"] >= dram / 76.8e9


def test_dram_carries_what_it_must(run):
    """Every weight and the input are read at least once. (Intermediates may stay in L2.)"""
    import onnx
    weights = 0
    for tensor in list(onnx.load(ocr_models.path("det")).graph.initializer) + [n.attribute[0].t for n in onnx.load(ocr_models.path("det")).graph.node if n.op_type == "Constant"]:
        if len(tensor.dims) == 4:  # the convolutions', two bytes each
            weights += int(np.prod(tensor.dims)) * 2
    assert run().report["npu"]["bytes"]["dram read"] >= weights + int(np.prod(SHAPE)) * 4


def test_the_model_counts_the_work(run):
    report = run().report
    assert report["npu_macs"] >= 0.95 * (report["npu_macs"] + report["cpu_macs"])
    assert report["npu"]["tensor_macs"] >= 0.9 * report["npu_macs"] - sum(op["macs"] for op in report["operators"] if op["statistics"]["tensor_macs"] == 0)


def test_more_bandwidth_is_never_slower(run, tmp_path):
    text = (ocr_models.SOURCE / "machines" / "phone.toml").read_text()
    faster = tmp_path / "faster.toml"
    faster.write_text(re.sub(r"gb_per_s = [0-9.]+", "gb_per_s = 153.6", text))
    assert run(machine=faster).report["npu"]["cycles"] <= run().report["npu"]["cycles"]


def test_a_faster_memory_makes_no_launch_slower():
    """Of the classifier, the recogniser, random networks and the kernels in bench/, whichever part of memory is faster."""
    sys.path.insert(0, str(ocr_models.SOURCE / "bench"))
    import faster_memory
    compared, slower = faster_memory.measured(networks=4)
    assert compared > 1000 and not slower, slower
