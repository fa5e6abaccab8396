"""Every record against the toolchain that was made from it, and the scalar base against LLVM's own RISC-V target."""
import os, random, re
import pytest
from records import BUILD, LLVM, assemble, disassembly, instructions, run

ALL = instructions()
OURS = [BUILD / "bin/dougong-objdump", "-d", "-no-aliases"]
RISCV = [LLVM / "llvm-objdump", "-d", "-M", "no-aliases", "--no-print-imm-hex", "--mattr=+m,+a,+zfinx,+zdinx,+zba,+zbb"]


def test_no_word_is_two_instructions():
    fixed = [(i.name, *i.fixed()) for i in ALL]
    for n, (name, mask, value) in enumerate(fixed):
        for other, mask2, value2 in fixed[:n]:
            assert (value ^ value2) & mask & mask2, f"{name} and {other} share an encoding"


def test_every_record_is_documented():
    for i in ALL:
        assert i.record["Documentation"].endswith("."), i.name
        assert i.record["Semantics"].strip(), i.name
        assert i.record["Latency"] >= 1, i.name


def test_assemble_and_disassemble(tmp_path):
    """Operands at random: the assembler's bits are the record's, and the disassembler gives back the text."""
    rng = random.Random(1)
    cases = [(i, i.random_operands(rng)) for i in ALL for _ in range(8)]
    texts = [i.text(values) for i, values in cases]
    words = assemble("\n".join(texts) + "\n", tmp_path / "all.o")
    assert len(words) == len(cases)
    for (i, values), text, word in zip(cases, texts, words):
        assert word == i.encode(values), f"{text}: {word:08x}, the record says {i.encode(values):08x}"
    for (i, values), text, (word, printed) in zip(cases, texts, disassembly(OURS, tmp_path / "all.o")):
        if any(kind in ("branch_target", "jump_target") for kind in i.operands.values()):
            continue  # printed as an address: see test_branch_targets
        assert printed == text.replace("\t", " "), f"{word:08x}"


def test_what_is_disassembled_assembles(tmp_path):
    """With aliases too: text made from bytes gives the same bytes."""
    rng = random.Random(2)
    cases = [i.encode(i.random_operands(rng)) for i in ALL for _ in range(4)]
    data = " ".join(f"0x{word >> s & 255:02x}" for word in cases for s in (0, 8, 16, 24))
    for flags in ([], ["-no-aliases"]):
        result = run(BUILD / "bin/dougong-mc", "-disassemble", *flags, input=data)
        assert result.returncode == 0, result.stderr[:1000]
        assert assemble(result.stdout, tmp_path / "again.o") == cases


def same_as_riscv(words, path):
    """The text of both disassemblers for words of the scalar base; returns how many both decode."""
    assemble("\n".join(f".word {word}" for word in words) + "\n", path)
    both = 0
    for (word, ours), (word2, theirs) in zip(disassembly(OURS, path), disassembly(RISCV, path), strict=True):
        assert word == word2
        theirs = re.sub(r" <.*>$| # .*", "", theirs) if theirs != "<unknown>" else theirs
        ours = re.sub(r" <.*>$", "", ours) if ours != "<unknown>" else ours
        if word & 0x7F in (0x0B, 0x2B, 0x5B, 0x7B):
            continue
        if word & 0x7F == 0x73 and word >> 12 & 7 in (1, 2, 3, 5, 6, 7):  # control registers: LLVM knows more names
            ours, theirs = (re.sub(r", \w+, ", ", csr, ", t) for t in (ours, theirs))
        if re.match(r"(mret|sret|wfi|fence\.i|sfence|hfence|hinval|hlv|hsv|sinval|mnret|dret|pause|ntl|lpad|ssrdp|c\.|unimp|sctrclr|sf\.|th\.)", theirs):
            assert ours == "<unknown>" or theirs.startswith(("unimp", "lpad", "pause", "ntl")), f"{word:08x}: {ours} / {theirs}"
            continue  # outside our base
        if not re.match(r"fcvt.d.(w|wu|s) ", theirs):
            theirs = theirs.removesuffix(", dyn")
        assert ours == theirs, f"{word:08x}"
        both += ours != "<unknown>"
    return both


def test_scalar_base_as_llvm_sees_it(tmp_path):
    rng = random.Random(3)
    words = [i.encode(i.random_operands(rng)) for i in ALL if i.scalar for _ in range(12)]
    assert same_as_riscv(words, tmp_path / "scalar.o") > 0.95 * len(words)


@pytest.mark.parametrize("seed", range(4, 14 if os.environ.get("DOUGONG_LONG") else 5))
def test_random_words(tmp_path, seed):
    """100,000 words with the length bits of 32-bit instructions, a million with DOUGONG_LONG: decoded as LLVM does, or refused."""
    rng = random.Random(seed)
    words = [w for w in (rng.getrandbits(32) | 3 for _ in range(115_000)) if w & 0x1C != 0x1C]  # those are longer than 32 bits
    assert same_as_riscv(words, tmp_path / "random.o") > 5_000


def with_distance(text, address):
    """The end of a loop is printed with its target's address, and read with the distance."""
    if not text.startswith("dg.loop"):
        return text
    count, target = text.removeprefix("dg.loop ").split(", ")
    distance = int(target.split()[0], 16) - address
    return f"dg.loop {count}, {distance - (1 << 64) if distance >= 1 << 63 else distance}"


@pytest.mark.parametrize("seed", range(5, 15 if os.environ.get("DOUGONG_LONG") else 6))
def test_random_words_survive_the_round_trip(tmp_path, seed):
    rng = random.Random(seed)
    words = [rng.getrandbits(25) << 7 | rng.choice((0x0B, 0x2B, 0x5B, 0x7B)) for _ in range(20_000)]  # custom opcodes
    assemble("\n".join(f".word {word}" for word in words) + "\n", tmp_path / "custom.o")
    lines = disassembly(OURS, tmp_path / "custom.o")
    known = [(w, with_distance(t, 4 * i)) for i, (w, t) in enumerate(lines) if t != "<unknown>"]
    assert any(t.startswith("dg.loop") for _, t in known)
    assert len(known) > 1_000
    again = assemble("\n".join(t for _, t in known) + "\n", tmp_path / "custom2.o")
    assert again == [w for w, _ in known]
