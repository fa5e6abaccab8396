"""Copies that cores share, in C kernels on all cores of a machine: lists, sums in DRAM, multicast; against numpy, the same with and without timing."""
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "kernels"))
import device_kernels  # noqa: E402

rng = np.random.default_rng(8)
on_machines = pytest.mark.parametrize("machine, timing", [(machine, timing) for machine in ["tiny", "phone", "server"] for timing in [False, True]])


@pytest.fixture(autouse=True)
def kernels_here(monkeypatch):
    monkeypatch.setattr(device_kernels, "HERE", Path(__file__).parent / "inputs")
    monkeypatch.setattr(device_kernels.Launch, "device_options", ",check-races,check-memory")


def launch(kernel, arguments, machine, timing, instances):
    return device_kernels.Launch("shared_copies.c", kernel, arguments, machine, timing=timing, instances=instances)


def cores_of(machine):
    return device_kernels.machine(machine)["device"]["cores"]


@on_machines
def test_rows_by_lists(machine, timing):
    instances, table_rows, out_rows = 40, 100, 32 * 40 + 10
    table = rng.normal(size=(table_rows, 64)).astype(np.float32)
    indexes = rng.integers(-20, table_rows + 20, 32 * instances).astype(np.int32)
    places = rng.permutation(out_rows)[:32 * instances].astype(np.int32)
    places[::50] = [out_rows + 7, -3] * 13  # nowhere
    out = np.full((out_rows, 64), 5, np.float32)
    inside = (indexes >= 0) & (indexes < table_rows)
    rows = np.where(inside[:, None], table[np.where(inside, indexes, 0)], np.float32(-1))
    kept = (places >= 0) & (places < out_rows)
    expected = out.copy()
    expected[places[kept]] = rows[kept]
    done = launch("move_rows", [table, indexes, places, out, table_rows, out_rows], machine, timing, instances)
    np.testing.assert_array_equal(done.result(3, out), expected)


@on_machines
def test_sums_by_a_list(machine, timing):
    instances, table_rows = 40, 50
    gradients = rng.integers(-2**31, 2**31, (32 * instances, 64)).astype(np.int32)
    indexes = rng.integers(-2, table_rows + 2, 32 * instances).astype(np.int32)
    sums = rng.integers(-2**31, 2**31, (table_rows, 64)).astype(np.int32)
    inside = (indexes >= 0) & (indexes < table_rows)
    expected = sums.copy()
    np.add.at(expected, indexes[inside], gradients[inside])
    done = launch("add_rows", [gradients, indexes, sums, table_rows], machine, timing, instances)
    np.testing.assert_array_equal(done.result(2, sums), expected)


@on_machines
def test_a_product_whose_sums_are_shared(machine, timing):
    instances = 50
    k = 64 * instances
    a, b = rng.integers(-128, 128, (32, k)).astype(np.int8), rng.integers(-128, 128, (k, 32)).astype(np.int8)
    c = rng.integers(-1000, 1000, (32, 32)).astype(np.int32)
    done = launch("split_k", [a, b, c, k], machine, timing, instances)
    np.testing.assert_array_equal(done.result(2, c), c + a.astype(np.int32) @ b.astype(np.int32))


def shared_weights(machine, timing, multicast, size=65536):
    weights = rng.integers(-1000, 1000, size // 4).astype(np.int32)
    cores = cores_of(machine)
    out = np.zeros((cores, size // 4), np.int32)
    done = launch("share", [weights, np.zeros(1, np.uint64), out, size, int(multicast)], machine, timing, cores)
    np.testing.assert_array_equal(done.result(2, out), weights * np.arange(1, cores + 1)[:, None])
    return done.statistics


@on_machines
def test_weights_for_all_cores(machine, timing):
    shared_weights(machine, timing, multicast=True)


@pytest.mark.parametrize("machine", ["phone", "server"])
def test_a_multicast_passes_memory_once(machine):
    cores, size = cores_of(machine), 65536
    each, once = (shared_weights(machine, True, multicast, size)["bytes"] for multicast in [False, True])
    assert once["dma read"] == size and each["dma read"] == cores * size
    assert once["lm written"] == each["lm written"]
