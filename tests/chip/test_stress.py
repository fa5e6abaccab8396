"""llvm-stress: random IR over every type it knows is selected, at O2 and O0, and LLVM's verifier of machine code finds nothing. 60 programs, 1,000 with DOUGONG_LONG."""
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LLC = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parents[2] / "build")) / "bin/dougong-llc"
COUNT = 1000 if os.environ.get("DOUGONG_LONG") else 60


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
        found = [w for w in pool.map(wrong, range(1, COUNT + 1)) if w]
    assert not found, f"{len(found)} of {COUNT} programs\n" + "\n".join(found)
