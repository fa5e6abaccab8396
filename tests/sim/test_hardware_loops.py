"""The end of a hardware loop costs nothing: cycles per iteration by hand, and counts, on the device model."""
import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parents[2] / "build"))
LLVM = Path("/usr/lib/llvm-22/bin")
HOST = "slli zero, zero, 31; ebreak; srai zero, zero, 7"
EXIT = f"li a0, 0x18; li a1, 0x20026; {HOST}"


def run(folder, text, *options):
    """Runs a program that leaves eight words at `words`; returns them."""
    text = f""".globl _start
_start:
  la s0, words
{text}
  li a0, 1; la a1, open; {HOST}
  la a1, write; sd a0, 0(a1); li a0, 5; {HOST}
  {EXIT}
.data
.balign 8
open: .dword name, 5, 5
write: .dword 0, words, 64
name: .asciz "words"
.balign 8
words: .zero 64
"""
    (folder / "a.s").write_text(text)
    for command in ([BUILD / "bin/dougong-mc", "-filetype=obj", "a.s", "-o", "a.o"], [LLVM / "ld.lld", "--image-base=0x80000000", "a.o", "-o", "a.elf"],
                    [BUILD / "bin/dougong", "sim", "--files", ".", "--machine", "phone", *options, "a.elf"]):
        done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{command}: {done.stderr[:2000]}"
    data = (folder / "words").read_bytes()
    return [int.from_bytes(data[8 * i:8 * i + 8], "little") for i in range(8)]


# The body, and the cycles of an iteration. One instruction a cycle to each of scalar unit, vector pipes A and B, memory; a0 is the count.
BODIES = {
    "": 1,  # the count is there a cycle later
    "addi t0, t0, 1": 1,
    "addi t0, t0, 1; addi t1, t1, 1": 2,
    "addi t0, t0, 1; addi t1, t1, 1; addi t2, t2, 1": 3,
    "mul t0, t0, t0": 3,
    "dg.vfma.f32 v0, v1, v2, v3; dg.vmax.f32 v4, v5, v6; dg.vld.32 v7, 0(s1); addi t0, t0, 1": 1,  # four units, four slots
    "dg.vfma.f32 v0, v1, v2, v3; dg.vfma.f32 v4, v1, v2, v3; dg.vmax.f32 v5, v6, v7": 2,
    "dg.vfma.f32 v0, v1, v2, v0": 4,
    "dg.vld.32 v1, 0(s1); dg.vadd.f32 v2, v1, v1; dg.vst.32 v2, 128(s1)": 9,  # 4 until it is loaded, 4 until it is added, and the next load behind the store
}


@pytest.mark.parametrize("body", BODIES)
def test_an_iteration_takes_the_time_of_its_body(tmp_path, body):
    # The same code with twice the count: what is before and behind the loop takes the same time.
    text = f"""  li s1, 0x10000000
  li s2, 100
  jal ra, timed
  li s2, 100
  jal ra, timed
  sd a1, 0(s0)
  li s2, 200
  jal ra, timed
  sd a1, 8(s0)
  j done
timed:
  mv a0, s2
  fence rw, rw
  csrr t5, cycle
1: {body}
  dg.loop a0, 1b
  csrr t6, cycle
  sub a1, t6, t5
  ret
done:"""
    short, long, *_ = run(tmp_path, text, "--timing")
    assert long - short == 100 * BODIES[body]


def test_leaving_costs_nothing_and_loops_nest(tmp_path):
    """Ten times round, each a scalar instruction and seven times round an inner loop of one: 80 cycles, whatever a predictor would know."""
    text = """  li s2, 10
  jal ra, timed
  jal ra, timed
  sd a1, 0(s0)
  li s2, 20
  jal ra, timed
  sd a1, 8(s0)
  sd t0, 16(s0)
  j done
timed:
  li t0, 0
  mv a0, s2
  csrr t5, cycle
1: li a2, 7
2: addi t0, t0, 1
  dg.loop a2, 2b
  dg.loop a0, 1b
  csrr t6, cycle
  sub a1, t6, t5
  ret
done:"""
    short, long, count, *_ = run(tmp_path, text, "--timing")
    assert long - short == 10 * 8
    assert count == 140


@pytest.mark.parametrize("mode", [[], ["--timing"]])
def test_counts(tmp_path, mode):
    """n times for n > 0; calls inside; forwards; of x0 always; 0 comes round to 2^64 - 1."""
    text = """  li a0, 1
  li t0, 0
1: addi t0, t0, 1
  dg.loop a0, 1b
  sd t0, 0(s0)
  sd a0, 8(s0)
  li s3, 5
  li s4, 0
2: jal ra, callee
  dg.loop s3, 2b
  sd s4, 16(s0)
  li a0, 2
  dg.loop a0, 3f
  li a0, 77
3: sd a0, 24(s0)
  dg.loop zero, 4f
  li a0, 78
4: sd a0, 32(s0)
  li a0, 0
  dg.loop a0, 5f
  li a0, 79
5: sd a0, 40(s0)
  j done
callee:
  addi s4, s4, 3
  ret
done:"""
    assert run(tmp_path, text, *mode)[:6] == [1, 0, 15, 1, 1, 2**64 - 1]


def test_an_endless_loop_meets_the_limit(tmp_path):
    """An empty loop takes a cycle each time round, so that time and the limit of instructions go on."""
    (tmp_path / "a.s").write_text(".globl _start\n_start: 1: dg.loop zero, 1b\n")
    for command in ([BUILD / "bin/dougong-mc", "-filetype=obj", "a.s", "-o", "a.o"], [LLVM / "ld.lld", "--image-base=0x80000000", "a.o", "-o", "a.elf"]):
        subprocess.run([str(c) for c in command], cwd=tmp_path, check=True)
    for mode in ([], ["--timing"]):
        done = subprocess.run([BUILD / "bin/dougong", "sim", *mode, "--max-instructions", "100000", "a.elf"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and "100000" in done.stderr, done.stderr
