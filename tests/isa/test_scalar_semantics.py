"""The scalar base on the device model against QEMU: every instruction that computes or touches memory, on edge values, flags included."""
import random, shutil
import pytest
from records import BUILD, GPR, LLVM, instructions, run

QEMU = shutil.which("qemu-riscv64")
EDGES = [0, 1, -1, 2, 7, 31, 32, 63, 64, 0x7FFFFFFF, 0x80000000, -0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, -0x8000000000000000, 0x123456789ABCDEF0, 0x00FF00F000010080]
FLOATS = [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3FC00000, 0x40200000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0x00000001, 0x807FFFFF,
          0x7F7FFFFF, 0x4F000000, 0xCF000001, 0x5F000000, 0x4F800000, 0x33800000, 0x00800000, 0x3EAAAAAB, 0x501502F9]
DOUBLES = [0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF8000000000000, 0x4004000000000000, 0x7FF0000000000000, 0xFFF0000000000000,
           0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8123456789ABC, 0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF, 0x41E0000000000000, 0xC1E0000000200000,
           0x43E0000000000000, 0x43F0000000000000, 0x3FD5555555555555, 0x36A0000000000000, 0x380FFFFFF0000000, 0x47EFFFFFF0000000, 0xC3E0000000000001]


def values_for(i, rng):
    name = i.record["Mnemonic"]
    if i.opcode() in (0x53, 0x43, 0x47, 0x4B, 0x4F) and not name.startswith(("fcvt.s.w", "fcvt.s.l", "fcvt.d.w", "fcvt.d.l")):
        double = name.endswith(".d")
        pool = DOUBLES if double else FLOATS
        return [rng.choice(pool + [rng.getrandbits(64 if double else 32)]) for _ in range(3)]
    return [rng.choice(EDGES + [rng.getrandbits(64)]) for _ in range(3)]


def cases():
    rng = random.Random(11)
    for i in instructions():
        flow = i.opcode() in (0x63, 0x67, 0x6F, 0x73, 0x17, 0x0F)
        if not i.scalar or flow:
            continue
        floating = i.opcode() in (0x53, 0x43, 0x47, 0x4B, 0x4F)
        for _ in range(40 if floating else 12):
            operands = i.random_operands(rng) | {v: GPR.index(r) for v, r in (("rd", "a0"), ("rs1", "a1"), ("rs2", "a2"), ("rs3", "a3"))}
            memory = i.opcode() in (0x03, 0x23, 0x2F)
            if memory and "imm" in operands:
                operands["imm"] = rng.choice([0, 8, -8, 3])
            a, b, c = values_for(i, rng)
            frm = rng.randrange(5)
            if i.record["Mnemonic"] == "ctzw" and a & 0xFFFFFFFF == 0:
                a |= 0x40  # QEMU 7.2 counts on into the upper half; 32 says the specification
            where = f"addi a1, s1, 256; li t0, {b}; sd t0, 0(a1)" if memory else f"li a1, {a}"
            if i.record["Mnemonic"].startswith("sc."):  # whether an older reservation holds is the machine's choice
                where += f"; lr.{i.record['Mnemonic'][3]} a0, (a1)"
            yield i.text(operands).replace("\t", " "), f"{where}; li a2, {b if not memory else a}; li a3, {c}; li a0, 0; csrwi fcsr, 0; csrwi frm, {frm}"


@pytest.mark.skipif(not QEMU, reason="qemu-riscv64 is not installed; ./setup installs it")
def test_as_qemu(tmp_path):
    all_cases = list(cases())
    host = "slli zero, zero, 31; ebreak; srai zero, zero, 7"
    text = [".globl _start", "_start: la s1, scratch", "la s2, results"]
    for code, before in all_cases:  # result, flags, memory
        text += [before, code, "sd a0, 0(s2); csrr t0, fflags; sd t0, 8(s2); ld t0, 248(s1); ld t1, 256(s1); ld t2, 264(s1); xor t0, t0, t2; xor t0, t0, t1; sd t0, 16(s2); addi s2, s2, 24"]
    size = 24 * len(all_cases)
    text += ["li a0, 1; la a1, open", host, "la a1, write; sd a0, 0(a1); li a0, 5", host, "li a0, 0x18; la a1, exit", host, ".data", ".balign 8",
             "open: .dword name, 5, 8", f"write: .dword 0, results, {size}", "exit: .dword 0x20026, 0", 'name: .asciz "bytes"', f".balign 8\nscratch: .zero 512\nresults: .zero {size}"]
    (tmp_path / "all.s").write_text("\n".join(text).replace("la a1, exit", "li a1, 0x20026") + "\n")
    (tmp_path / "all-qemu.s").write_text("\n".join(text).replace("li a0, 0x18", "li a0, 0x20") + "\n")
    outputs = []
    for source, command in (("all", [BUILD / "bin/dougong", "sim", "--files", "."]),
                            ("all-qemu", [QEMU, "-cpu", "rv64,f=false,d=false,zfinx=true,zdinx=true,zba=true,zbb=true"])):
        for step in ([BUILD / "bin/dougong-mc", "-filetype=obj", f"{source}.s", "-o", "all.o"], [LLVM / "ld.lld", "--image-base=0x80000000", "all.o", "-o", "all.elf"],
                     [*command, "./all.elf"]):
            result = run(*step, cwd=tmp_path)
            assert result.returncode == 0, f"{step}: {result.stderr[:2000]}"
        outputs.append((tmp_path / "bytes").read_bytes())
        (tmp_path / "bytes").unlink()
    ours, theirs = outputs
    assert len(ours) == len(theirs) == size
    word = lambda data, at: int.from_bytes(data[at:at + 8], "little")
    wrong = []
    for n, (code, before) in enumerate(all_cases):
        got, want = ([word(data, 24 * n + 8 * k) for k in range(3)] for data in (ours, theirs))
        if got != want:
            wrong.append(f"{before}; {code}: {[hex(g) for g in got]}, QEMU says {[hex(w) for w in want]}")
    assert not wrong, f"{len(wrong)} of {len(all_cases)}:\n" + "\n".join(wrong[:20])
