"""llvm-stress: random IR over every type it knows is selected, at O2 and O0, and LLVM's verifier of machine code finds nothing. 60 programs;
DOUGONG_PART=2/10 is the second tenth of 1,000 others, as `./run-tests --long` runs them."""
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LLC = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parents[2] / "build")) / "bin/dougong-llc"
if part := os.environ.get("DOUGONG_PART"):
    PART, PARTS = map(int, part.split("/"))
    SEEDS = range(1000 + PART, 2001, PARTS)
else:
    SEEDS = range(1, 61)


def wrong(seed):
    text = subprocess.run(["/usr/lib/llvm-22/bin/llvm-stress", f"-seed={seed}", f"-size={100 + seed * 37 % 300}"], capture_output=True, text=True, check=True).stdout
    for level in ["-O2", "-O0"]:
        try:
            done = subprocess.run([LLC, level, "-verify-machineinstrs", "-filetype=null", "-"], input=text, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return f"seed {seed} {level}: does not end within two minutes"
        if done.returncode:
            return f"seed {seed} {level}: {(done.stderr.strip().splitlines() or ['no message'])[0]}"
    return ""


def test_random_ir_is_selected_and_verifies():
    with ThreadPoolExecutor(2) as pool:
        found = [w for w in pool.map(wrong, SEEDS) if w]
    assert not found, f"{len(found)} of {len(SEEDS)} programs\n" + "\n".join(found)
