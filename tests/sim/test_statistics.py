"""`dougong sim --stats`: the parts of each core's and engine's time add up, and nothing is faster than a roof."""
import json
import os
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("DOUGONG_BUILD", Path(__file__).parents[2] / "build"))

PROGRAMS = {
    "issue": "int main(void) { volatile long kept; long a = 1, b = 2, c = 3; for (int i = 0; i < 100000; ++i) { a += b; b ^= c; c -= a; __asm__ volatile(\"\" : \"+r\"(a), \"+r\"(b), \"+r\"(c)); } kept = a; return 0; }",
    "dram": """
#include "copies.h"
#include <unistd.h>
int main(void) {
  enum { bytes = 32 << 20, piece = 64 << 10 };
  char *p = sbrk(bytes); // malloc would clear it
  dg_dma_command copy;
  copy_rows(&copy, DG_LM_BASE, 0, 0, 0, 1, piece);
  for (copy.src = (uint64_t)p; copy.src < (uint64_t)p + bytes; copy.src += piece)
    __dg_dma(DG_LOAD0, &copy);
  __dg_await(DG_LOAD0, bytes / piece);
}""",
}


def statistics(folder, name, *options):
    (folder / "p.c").write_text(PROGRAMS[name])
    subprocess.run([BUILD / "bin/dougong-cc", "-O2", f"-I{Path(__file__).parents[2]}/bench/kernels", "p.c", "-o", "p.elf"], cwd=folder, check=True)
    subprocess.run([BUILD / "bin/dougong", "sim", "--stats", "s.json", *options, "p.elf"], cwd=folder, check=True, timeout=120)
    return json.loads((folder / "s.json").read_text())


@pytest.mark.parametrize("machine", ["tiny", "phone", "server"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_times_add_up_and_no_roof_is_broken(tmp_path, name, machine):
    s = statistics(tmp_path, name, "--timing", "--machine", machine)
    for core in s["cores"]:
        assert core["busy"] + sum(core["stalls"].values()) + core["idle"] == core["cycles"]
        for engine in core["engines"].values():
            assert engine["busy"] + engine["stalled"] + engine["idle"] == core["cycles"]
            assert engine["utilisation"] == (engine["busy"] / core["cycles"] if core["cycles"] else 0)
    for roof in s["roofs"].values():
        assert 0 <= roof["share"] <= 1
        assert roof["share"] == roof["cycles"] / s["cycles"]
    assert s["roof"] == max(s["roofs"], key=lambda roof: s["roofs"][roof]["cycles"])
    assert s["roof"] == name or machine != "tiny"  # one core draws less than the DRAM of the others gives
    assert ("l2" in s["roofs"]) == (machine != "tiny")


def test_without_timing_nothing_binds(tmp_path):
    assert not {"roof", "roofs"} & set(statistics(tmp_path, "issue"))
