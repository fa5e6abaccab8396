"""All 65,536 half words: which of them are 16-bit instructions, and of which 32-bit ones, as LLVM's RISC-V target knows them."""
import re

from records import BUILD, LLVM, run

C_WITHOUT_FLOATS = [LLVM / "llvm-objdump", "-d", "-M", "no-aliases", "--no-print-imm-hex", "--mattr=+c"]
# Where LLVM's assembler never makes the short form: what it does is nothing (hints), or a shift by 0.
HINT = re.compile(r"c\.nop -?\d+|c\.(li|lui|slli|mv|add|addi) zero\b.*|c\.addi \w+, 0|c\.(slli|srli|srai)(64)? \w+(, 0)?$")


def listing(command, path):
    """Address to the text there, of what is disassembled as two bytes."""
    lines = {}
    for address, raw, text in re.findall(r"^\s*([0-9a-f]+):\s+((?:[0-9a-f]{2} ?)+|[0-9a-f]{4}|[0-9a-f]{8})\s+(.*)$", run(*command, path).stdout, re.M):
        if len(raw.replace(" ", "")) == 4:
            lines[int(address, 16)] = re.sub(r"\s+", " ", re.sub(r" <.*>$", "", text.strip()))
    return lines


def test_every_half_word(tmp_path):
    halves = [h for h in range(1 << 16) if h & 3 != 3]
    source = tmp_path / "halves.s"
    source.write_text("".join(f".insn 2, {h}\n" for h in halves))
    assert run(LLVM / "llvm-mc", "-triple=riscv64", "-mattr=+c", "-filetype=obj", source, "-o", tmp_path / "halves.o").returncode == 0
    ours, theirs = listing([BUILD / "bin/dougong-objdump", "-d", "-no-aliases"], tmp_path / "halves.o"), listing(C_WITHOUT_FLOATS, tmp_path / "halves.o")
    assert len(theirs) == len(halves)
    expanded, wrong = [], []
    for n, half in enumerate(halves):
        short, long = theirs[2 * n], ours.get(2 * n, "<unknown>")
        if short in ("<unknown>", "c.unimp") or short.startswith(("c.fld", "c.fsd", "c.flw", "c.fsw")):
            if long != "<unknown>":
                wrong.append(f"{half:04x}: {long}, LLVM says {short}")
        elif jump := re.fullmatch(r"c\.(j|beqz|bnez) (?:(\w+), )?(0x[0-9a-f]+)", short):
            name, register, target = jump.groups()
            if long != {"j": f"jal zero, {target}", "beqz": f"beq {register}, zero, {target}", "bnez": f"bne {register}, zero, {target}"}[name]:
                wrong.append(f"{half:04x}: {long}, LLVM says {short}")
        elif HINT.fullmatch(short):
            if not re.fullmatch(r"(addi|add|lui|slli) zero\b.*|(addi|slli|srli|srai) (\w+), \3, 0", long):
                wrong.append(f"{half:04x}: {long} is no hint, LLVM says {short}")
        else:
            expanded.append((half, short, long))
    # The long form goes in, and LLVM's assembler makes the short one of it.
    source.write_text("".join(f"{long}\n" for _, _, long in expanded))
    result = run(LLVM / "llvm-mc", "-triple=riscv64", "-mattr=+c", "-filetype=obj", source, "-o", tmp_path / "again.o")
    assert result.returncode == 0, result.stderr[:2000]
    assert run(LLVM / "llvm-objcopy", "-O", "binary", "-j", ".text", tmp_path / "again.o", tmp_path / "again.bin").returncode == 0
    data, at = (tmp_path / "again.bin").read_bytes(), 0
    for half, short, long in expanded:
        again = int.from_bytes(data[at:at + 2], "little")
        if again != half and short not in ("c.addi16sp sp, 16", "c.addi16sp sp, -16", "c.addi16sp sp, -32"):  # which a c.addi does too
            wrong.append(f"{half:04x}: {long}, LLVM says {short}, and makes {again:04x} of ours")
        at += 4 if again & 3 == 3 else 2
    assert len(expanded) > 30_000
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:20])
