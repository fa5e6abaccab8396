"""The device model takes for an instruction what the disassembler does, which test_encodings.py compares with LLVM's: words one bit away from the records'.
A word is the entry of a program of nothing else; what it goes on to do does not matter."""
import os
import random
import re

from records import BUILD, assemble, disassembly, instructions, run
from side_by_side import assemble_and_link

LONG = "DOUGONG_LONG" in os.environ


def test_words_one_bit_away(tmp_path):
    rng = random.Random(9)
    words = []
    for i in instructions() if LONG else rng.sample(instructions(), 200):
        fixed, _ = i.fixed()
        for bit in rng.sample([b for b in range(2, 32) if fixed >> b & 1], 3 if LONG else 1):
            words.append(i.encode(i.random_operands(rng)) ^ 1 << bit)
    elf = assemble_and_link(tmp_path, ".option norvc\n.globl _start\n_start:\n" + "\n".join(f".balign 64\nentry{n}: .4byte {word:#x}\nebreak" for n, word in enumerate(words)))
    raw = elf.read_bytes()
    first = int.from_bytes(raw[24:32], "little")
    assemble("".join(f".word {word}\n" for word in words), tmp_path / "words.o")
    wrong, refused = [], 0
    for n, (word, text) in enumerate(disassembly([BUILD / "bin/dougong-objdump", "-d", "-no-aliases"], tmp_path / "words.o")):
        assert word == words[n]
        entry = first + 64 * n
        elf.write_bytes(raw[:24] + entry.to_bytes(8, "little") + raw[32:])
        said = run(BUILD / "bin/dougong", "sim", "--max-instructions", 3, elf).stderr
        illegal = re.search(rf" at {entry:#x} .*: illegal instruction( {word:#010x}|: reserved rounding mode)$", said, re.M) is not None
        if illegal != (text == "<unknown>") and word & 0x707F != 0x0F:  # a fence's reserved fields are ignored
            wrong.append(f"{word:08x}: {text}; {said}")
        refused += illegal
    assert 0.2 * len(words) < refused < 0.95 * len(words)
    assert not wrong, "\n".join(wrong[:20])
