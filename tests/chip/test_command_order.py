"""Loops of commands and waits keep their order, whatever LLVM's schedulers are told: values, and the race check, under every option.

The two miscompiles of the first prototype would show here: a command moved above the store of its input, and the load of a result lifted above the wait.
"""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "kernels"))
import device_kernels  # noqa: E402

INPUTS = Path(__file__).parent / "inputs"
BIN = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parents[2] / "build")).resolve() / "bin"
OPTIONS = ["", "-enable-misched=0", "-enable-post-misched=0", "-misched=ilpmax", "-misched=ilpmin", "-misched=converge", "-misched-prera-direction=topdown", "-misched-prera-direction=bottomup",
           "-misched-prera-direction=bidirectional", "-misched-postra-direction=topdown", "-misched-postra-direction=bottomup", "-misched-postra-direction=bidirectional",
           "-misched-regpressure=0", "-misched-cluster=0", "-misched-cyclicpath", "-enable-aa-sched-mi", "-pre-RA-sched=list-ilp", "-pre-RA-sched=list-hybrid", "-pre-RA-sched=list-burr",
           "-pre-RA-sched=source", "-pre-RA-sched=fast", "-pre-RA-sched=linearize", "-break-anti-dependencies=all", "-enable-pipeliner", "-disable-machine-licm", "-disable-machine-cse", "-misched-postra"]


@pytest.mark.parametrize("level, option", [("-O0", ""), ("-O3", ""), *(("-O2", option) for option in OPTIONS)])
def test_commands_and_waits_keep_their_order(tmp_path, monkeypatch, level, option):
    elf = tmp_path / "loop.elf"
    done = subprocess.run([BIN / "dougong-cc", level, "-nostartfiles", "-Wl,-pie,--no-dynamic-linker,--no-gc-sections,--entry=command_loop", "-mllvm", "-verify-machineinstrs",
                           *(["-mllvm", option] if option else []), INPUTS / "command_loop.c", "-o", elf], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(device_kernels, "image", lambda source, kernel: elf.read_bytes())
    monkeypatch.setattr(device_kernels.Launch, "device_options", ",check-races")
    rounds = 9
    x = (np.arange(32 * rounds, dtype=np.float32).reshape(rounds, 32) - 100) / 4  # exact in f16, as is everything made of it in f32
    for timing in [False, True]:
        launch = device_kernels.Launch("", "command_loop", [x, np.zeros_like(x), rounds], timing=timing)
        before = np.vstack([np.zeros((1, 32), np.float32), x[:-1]])
        assert np.array_equal(launch.result(1, x), 2 * x + 1 + 3 * x + before)
