"""Hand-written C kernels on the device model, beside the machine's roofs, in model cycles (which are exact).

Builds each .c file here with dougong-cc, launches its kernel in timing mode, compares the values with numpy, and prints the share of the roof.
Run as  PYTHONPATH=build/python .venv/bin/python bench/kernels/device_kernels.py [NAME...]
"""
import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import tomllib

import numpy as np

import dougong

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ.get("DOUGONG_BUILD", HERE.parents[1] / "build"))
MACHINES = HERE.parents[1] / "machines"
I8, F16, BF16, F32 = 0, 4, 5, 6  # enum dg_type


@functools.cache
def machine(name: str) -> dict:
    return tomllib.loads((MACHINES / f"{name}.toml").read_text())


def tensor_peak(name: str, rate: str, cores: int = 0) -> float:
    """Multiply-adds a cycle."""
    m = machine(name)
    return m["tensor"]["rows"] * m["tensor"]["columns"] * m["tensor"][rate] * (cores or m["device"]["cores"])


def dram_peak(name: str) -> float:
    """Bytes a cycle."""
    m = machine(name)
    return m["dram"]["gb_per_s"] / m["device"]["clock_ghz"]


@functools.cache
def image(source: str, kernel: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        elf = pathlib.Path(folder) / "kernel.elf"
        subprocess.run([BUILD / "bin" / "dougong-cc", "-O2", "-Wall", "-Werror", "-ffreestanding", "-nostartfiles", "-Wl,-pie,--no-dynamic-linker,--no-gc-sections",
                        f"-Wl,--entry={kernel}", HERE / source, "-o", elf], check=True)
        return elf.read_bytes()


class Launch:
    """One launch on a fresh device, of `instances` (as many as cores): `arguments` are arrays (copied to the device), ints and floats. Afterwards `cycles` and `statistics`."""

    device_options = ""  # of the device's spec, for all launches: ",check-races"

    def __init__(self, source: str, kernel: str, arguments: list, machine_name: str = "phone", cores: int = 0, timing: bool = True, instances: int = 0):
        self.device = dougong.Device(f"npu:{machine_name}" + (",timing" if timing else "") + (f",cores={cores}" if cores else "") + self.device_options)
        self.addresses = {i: self.device.put(a) for i, a in enumerate(arguments) if isinstance(a, np.ndarray)}
        slots = [self.addresses.get(i, a) for i, a in enumerate(arguments)]
        module = self.device.load(image(source, kernel))
        entry = self.device.kernel(module, kernel)
        started, began = time.perf_counter(), time.process_time()
        self.device.launch(entry, [instances or self.device.properties["cores"]], slots)
        self.host_seconds, self.processor_seconds = time.perf_counter() - started, time.process_time() - began
        self.statistics = self.device.statistics
        self.cycles = self.statistics["cycles"]

    def result(self, index: int, like: np.ndarray) -> np.ndarray:
        return self.device.get(self.addresses[index], like.shape, like.dtype)


def bf16_bits(x: np.ndarray) -> np.ndarray:
    """f32 to the bits of bf16, to nearest even; finite numbers only."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def bf16_value(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def fused_scale(sums: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """sums * scale + bias rounded once to f32, from sums exact in f32. A product of two f32 is exact in f64; so the f64 sum errs only where it rounds
    to a tie of f32, which `assert`s of equality here would show."""
    return (sums.astype(np.float64) * scale.astype(np.float64) + bias.astype(np.float64)).astype(np.float32)


# ---- Matrix products ------------------------------------------------------------------------------------------------------

# Tiles by machine: what ACC and LM hold, and a row of pieces as high as the tensor engine.
TILES = {"tiny": dict(tile_m=64, tile_n=128, block_k={1: 256, 2: 128}, piece=16, acc_slots=1, group=2, serpentine=1),
         "phone": dict(tile_m=256, tile_n=256, block_k={1: 512, 2: 256}, piece=64, acc_slots=1, group=2, serpentine=1),
         "server": dict(tile_m=256, tile_n=256, block_k={1: 512, 2: 256}, piece=128, acc_slots=2, group=4, serpentine=1)}


def summed(a: np.ndarray, b: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Rows of a, bf16, by b, as the tensor engine sums: k by k. Products of bf16 are exact in f32, so that each step rounds once."""
    left, right = bf16_value(a), bf16_value(b)
    sums = np.zeros((len(left), right.shape[1]), np.float32)
    for k in order:
        sums += left[:, k, None] * right[k]
    return sums


def odd_rounds(size: int, tile: dict, cores: int) -> np.ndarray:
    """Which tiles, by row and column, a core computes as its second, fourth, ...: gemm.c walks k backwards there."""
    tiles_m, tiles_n = size // tile["tile_m"], size // tile["tile_n"]
    odd, t = np.zeros((tiles_m, tiles_n), bool), 0
    for band, top in enumerate(range(0, tiles_m, tile["group"])):
        for column in reversed(range(tiles_n)) if band % 2 else range(tiles_n):
            for row in range(top, min(top + tile["group"], tiles_m)):
                odd[row, column] = t // cores % 2
                t += 1
    return odd


def gemm(machine_name: str, kind: str, size: int = 4096, sampled_rows: int = 16, cores: int = 0, timing: bool = True, **options) -> Launch:
    """size^3, int8 to int8 with a scale and bias a column, or bf16 to bf16. Compares `sampled_rows` whole rows with the reference."""
    chance = np.random.default_rng(2)
    tile = TILES[machine_name] | options
    width = 1 if kind == "int8" else 2
    assert size % tile["tile_m"] == size % tile["tile_n"] == size % tile["block_k"][width] == 0, f"{size} is not a multiple of the tile {tile}"
    if kind == "int8":
        a, b = (chance.integers(-128, 128, (size, size), np.int8) for _ in range(2))
        scale = chance.uniform(0.5, 1.5, size).astype(np.float32) / np.float32(200 * np.sqrt(size))
    else:
        a, b = (bf16_bits(chance.standard_normal((size, size), np.float32)) for _ in range(2))
        scale = chance.uniform(0.5, 1.5, size).astype(np.float32)
    bias = chance.uniform(-8, 8, size).astype(np.float32)
    c = np.zeros((size, size), a.dtype)
    type_number = I8 if kind == "int8" else BF16
    launch = Launch("gemm.c", "gemm", [a, b, c, scale, bias, size, size, size, tile["tile_m"], tile["tile_n"], tile["block_k"][width], tile["piece"], tile["acc_slots"],
                                       tile["group"], tile["serpentine"], type_number, type_number], machine_name, cores, timing)
    got = launch.result(2, c)
    rows = np.sort(chance.choice(size, sampled_rows, replace=False))
    if kind == "int8":
        sums = a[rows].astype(np.float64) @ b.astype(np.float64)  # exact: below 2^53
        wanted = np.clip(np.rint(fused_scale(sums.astype(np.float32), scale, bias)), -128, 127).astype(np.int8)
    else:
        block, ascending = tile["block_k"][width], np.arange(size)
        sums = summed(a[rows], b, ascending)
        if tile["serpentine"]:
            backwards = summed(a[rows], b, ascending.reshape(-1, block)[::-1].ravel())
            odd = odd_rounds(size, tile, cores or machine(machine_name)["device"]["cores"])[rows // tile["tile_m"]].repeat(tile["tile_n"], axis=1)
            sums = np.where(odd, backwards, sums)
        wanted = bf16_bits(fused_scale(sums, scale, bias))
    assert np.array_equal(got[rows], wanted), f"{np.count_nonzero(got[rows] != wanted)} of {wanted.size} values differ"
    launch.share = size**3 / tensor_peak(machine_name, "int8_rate" if kind == "int8" else "bf16_rate", cores) / launch.cycles if timing else 0
    return launch


def gemm_local(m: int = 256, k: int = 1024, n: int = 256) -> Launch:
    """int8, one core of the phone, operands in LM. The share is of that core's peak, over the cycles that the kernel counted itself."""
    chance = np.random.default_rng(3)
    a, b = chance.integers(-128, 128, (m, k), np.int8), chance.integers(-128, 128, (k, n), np.int8)
    c, cycles = np.zeros((m, n), np.int32), np.zeros(1, np.uint64)
    launch = Launch("gemm_local.c", "gemm_local", [a, b, c, cycles, m, n, k, machine("phone")["tensor"]["rows"]])
    assert np.array_equal(launch.result(2, c), a.astype(np.int32) @ b.astype(np.int32))
    launch.share = m * k * n / tensor_peak("phone", "int8_rate", cores=1) / int(launch.result(3, cycles)[0])
    return launch


# ---- Streams: bound by DRAM -------------------------------------------------------------------------------------------------

def crossed(launch: Launch, needed: int, machine_name: str = "phone") -> float:
    """The share of DRAM's bandwidth that the `needed` bytes took. What L2 still holds of the results at the end has not crossed."""
    moved = launch.statistics["bytes"]["dram read"] + launch.statistics["bytes"]["dram written"]
    l2 = machine(machine_name)["l2"]["kib"] * 1024
    assert needed - l2 <= moved <= 1.02 * needed, f"{moved} bytes crossed DRAM, {needed} are needed"
    return min(moved, needed) / dram_peak(machine_name) / launch.cycles


def vector_add(megabytes: int = 64, chunk: int = 4096) -> Launch:
    """f32; operands and result are `megabytes` MiB together."""
    n = (megabytes << 20) // 12 // chunk * chunk
    x, y = (np.random.default_rng(4).standard_normal(n, np.float32) for _ in range(2))
    launch = Launch("vector_add.c", "vector_add", [x, y, np.zeros_like(x), n, chunk])
    assert np.array_equal(launch.result(2, x), x + y)
    launch.share = crossed(launch, 12 * n)
    return launch


def softmax(megabytes: int = 64, columns: int = 1024, rows_at_once: int = 4) -> Launch:
    """f32 rows of 1024; operand and result are `megabytes` MiB together."""
    rows = (megabytes << 20) // 8 // columns
    x = np.random.default_rng(5).normal(0, 4, (rows, columns)).astype(np.float32)
    launch = Launch("softmax.c", "softmax", [x, np.zeros_like(x), rows, columns, rows_at_once])
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(launch.result(1, x), e / e.sum(1, keepdims=True), rtol=4e-6, atol=0)
    launch.share = crossed(launch, 2 * x.nbytes)
    return launch


# ---- Convolutions -------------------------------------------------------------------------------------------------------------

def windows(x: np.ndarray) -> np.ndarray:
    """[3, 3, height, width, channels]: what a 3x3 window with zeros around sees."""
    height, width, _ = x.shape
    padded = np.pad(x, ((1, 1), (1, 1), (0, 0)))
    return np.stack([np.stack([padded[ky:ky + height, kx:kx + width] for kx in range(3)]) for ky in range(3)])


def convolution(size: int = 56, channels: int = 128, filters: int = 128) -> Launch:
    """int8, cold from DRAM, all cores of the phone, against the tensor peak."""
    chance = np.random.default_rng(6)
    x, w = chance.integers(-128, 128, (size, size, channels), np.int8), chance.integers(-128, 128, (3, 3, channels, filters), np.int8)
    scale, bias = chance.uniform(1e-4, 4e-4, filters).astype(np.float32), chance.uniform(-8, 8, filters).astype(np.float32)
    out = np.zeros((size, size, filters), np.int8)
    launch = Launch("convolution.c", "convolution", [x, w, scale, bias, out, size, size, channels, filters])
    sums = np.tensordot(windows(x).astype(np.float64), w.astype(np.float64), axes=([0, 1, 4], [0, 1, 2]))  # exact: below 2^24
    wanted = np.clip(np.rint(fused_scale(sums, scale, bias)), -128, 127).astype(np.int8)
    assert np.array_equal(launch.result(4, out), wanted)
    launch.share = sums.size * 9 * channels / tensor_peak("phone", "int8_rate") / launch.cycles
    return launch


def depthwise(size: int = 56, channels: int = 128, band: int = 4) -> Launch:
    """f16, cold from DRAM, all cores of the phone, against one multiply-add of 32 lanes a cycle and core: of the nine
    products of an output the first is a multiplication, which the other pipe may take."""
    chance = np.random.default_rng(7)
    x, w = (chance.standard_normal(shape).astype(np.float16) for shape in ((size, size, channels), (3, 3, channels)))
    launch = Launch("depthwise.c", "depthwise", [x, w, np.zeros_like(x), size, size, channels, band])
    seen, sums = windows(x.astype(np.float32)), np.zeros(x.shape, np.float32)
    for kx in range(3):  # the kernel's order; products of f16 are exact in f32
        for ky in range(3):
            sums += seen[ky, kx] * w[ky, kx].astype(np.float32)
    assert np.array_equal(launch.result(2, x), sums.astype(np.float16))
    launch.share = x.size * 8 / 32 / machine("phone")["device"]["cores"] / launch.cycles
    return launch


def describe(launch: Launch) -> str:
    s = launch.statistics
    total = sum(s["engines"]["core"].values())  # cycles of all cores
    engines = "  ".join(f"{name} {100 * e['busy_cycles'] / total:.0f}+{100 * e['stalled_cycles'] / total:.0f}%" for name, e in s["engines"].items())
    stalls = "  ".join(f"{cause} {100 * n / total:.1f}%" for cause, n in s["stall_cycles"].items() if n)
    moved = s["bytes"]["dram read"] + s["bytes"]["dram written"]
    return f"DRAM {moved / 1e6:.1f} MB, {moved / s['cycles']:.1f} B/cycle; busy+stalled: {engines}; core stalls: {stalls}; {launch.host_seconds:.1f} s"


KERNELS = {
    "gemm int8 in LM, one core": (0.97, gemm_local),
    "gemm int8 4096^3 phone": (0.90, lambda: gemm("phone", "int8")),
    "gemm bf16 4096^3 phone": (0.90, lambda: gemm("phone", "bf16")),
    "gemm int8 4096^3 server": (0.85, lambda: gemm("server", "int8")),
    "gemm bf16 4096^3 server": (0.85, lambda: gemm("server", "bf16")),
    "vector add 64 MiB phone": (0.90, vector_add),
    "softmax 64 MiB phone": (0.90, softmax),
    "convolution 3x3 int8 phone": (0.70, convolution),
    "depthwise 3x3 f16 phone": (0.71, depthwise),
}

if __name__ == "__main__":
    for name, (wanted, run) in KERNELS.items():
        if all(word in name for word in sys.argv[1:]):
            launch = run()
            print(f"{name:32} {launch.cycles:9} cycles  {launch.share:6.1%} of the roof (wanted {wanted:.0%})\n    {describe(launch)}", flush=True)
