"""Random straight and looping code over the scalar base, for two machines to agree on: blocks of groups.

A *block* loads every register and fcsr from an area of its own, runs about a hundred *groups*, and stores them back there:

    area + 0      fcsr, x1 .. x31          anchor - 1024
    area + 256    64 values, read only     anchor - 768
    area + 768    512 bytes to work on     anchor - 256 .. anchor + 255

`anchor` is a register that groups read and never write, `digest` one that takes in every result (rotated, then exclusive or), so that
none is lost when its register is written again. A `local` block works on a copy of its area at the beginning or end of local memory. Both are other registers in every block. A group is what must stay together: a
loop, a branch with what it jumps over, a load-reserved with its store-conditional. It leaves frm at a mode that exists.

Blocks know nothing of each other, so that a block cut off after n groups is a block too: that is how a difference is traced to a group.
"""
import random
import re
from itertools import count

from records import GPR, instructions
from side_by_side import LM_BASE, LM_BYTES

AREA, ANCHOR = 1280, 1024
POOL, WORK = -768, 256  # from the anchor; the work area is [-WORK, WORK)
INTEGERS = [0, 1, -1, 2, 7, 31, 32, 63, 64, 0x7FFFFFFF, 0x80000000, -0x80000000, 0xFFFFFFFF, -0x80000001, 0x100000000, 0x7FFFFFFFFFFFFFFF, -0x8000000000000000,
            -0x7FFFFFFFFFFFFFFF, 0x123456789ABCDEF0, 0x00FF00F000010080, 0x5555555555555555, -0x5555555500000000]
FLOATS = [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3FC00000, 0x40200000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345, 0x00000001, 0x807FFFFF,
          0x7F7FFFFF, 0xFF7FFFFF, 0x4F000000, 0xCF000001, 0x5F000000, 0xDF000000, 0x4F800000, 0x33800000, 0x00800000, 0x80800001, 0x3EAAAAAB, 0x501502F9, 0x3F7FFFFF, 0x3F800001]
DOUBLES = [0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF8000000000000, 0x4004000000000000, 0x7FF0000000000000, 0xFFF0000000000000,
           0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8123456789ABC, 0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF, 0x41E0000000000000, 0xC1E0000000200000,
           0x43E0000000000000, 0x43F0000000000000, 0x3FD5555555555555, 0x36A0000000000000, 0x380FFFFFF0000000, 0x47EFFFFFF0000000, 0xC3E0000000000001,
           0x0010000000000000, 0x3FEFFFFFFFFFFFFF, 0x3FF0000000000001, 0x3CA0000000000000, 0x3FF0000010000000]
FLOAT_OPCODES = (0x53, 0x43, 0x47, 0x4B, 0x4F)
NEVER = ("ecall", "ebreak")  # what they do stands in test_scalar_faults.py; ebreak as a call of the host writes the results

SCALAR = [i for i in instructions() if i.scalar]


def mnemonic(instruction):
    return instruction.record["Mnemonic"]


class Deck:
    """Deals all of its cards before it deals one again."""

    def __init__(self, rng, cards):
        self.rng, self.cards, self.left = rng, list(cards), []

    def deal(self):
        if not self.left:
            self.left = self.rng.sample(self.cards, len(self.cards))
        return self.left.pop()


class Decks:
    def __init__(self, rng):
        def of(*opcodes):
            return Deck(rng, [i for i in SCALAR if i.opcode() in opcodes and mnemonic(i) not in NEVER])
        self.integer, self.floating = of(0x13, 0x1B, 0x33, 0x3B, 0x37, 0x17), of(*FLOAT_OPCODES)
        self.load, self.store, self.branch, self.fence, self.csr = of(0x03), of(0x23), of(0x63), of(0x0F), of(0x73)
        atomic = of(0x2F).cards
        self.reserve, self.conditional = (Deck(rng, [i for i in atomic if mnemonic(i).startswith(p)]) for p in ("lr.", "sc."))
        self.atomic = Deck(rng, [i for i in atomic if mnemonic(i).startswith("amo")])
        self.compressed = Deck(rng, Block.COMPRESSED)
        self.kind = Deck(rng, [k for kind, n in Block.KINDS.items() for k in n * [kind]])


class Block:
    KINDS = {"compute": 30, "floats": 22, "memory": 10, "atomics": 7, "reserved": 4, "branch": 6, "loop": 2, "jump": 2, "jump_back": 1, "call": 3, "csr": 5, "reserved_mode": 1, "fences": 2, "overlap": 1,
             "compressed": 14, "hint": 1, "compressed_branch": 2, "compressed_call": 1}
    # The operands of 16-bit instructions: r any register but x0, r' x8 to x15; the rest in `compressed` below.
    COMPRESSED = ["c.nop", "c.addi r, n6", "c.addiw r, i6", "c.li r, i6", "c.lui r, u", "c.slli r, s", "c.srli r', s", "c.srai r', s", "c.andi r', i6", "c.sub r', q'", "c.xor r', q'",
                  "c.or r', q'", "c.and r', q'", "c.subw r', q'", "c.addw r', q'", "c.mv r, q", "c.add r, q", "c.addi4spn", "c.addi16sp", "c.lwsp", "c.ldsp", "c.swsp", "c.sdsp",
                  "c.lw", "c.ld", "c.sw", "c.sd"]
    # That they do nothing is all that they do: c.nop 5, c.li x0, c.lui x0, c.slli x0, c.mv x0, c.add x0, c.addi a0 0, c.slli a0 0, c.srli a0 0, c.srai a0 0.
    HINTS = [0x0015, 0x4029, 0x6029, 0x000E, 0x802A, 0x902A, 0x0501, 0x0502, 0x8101, 0x8501]

    def __init__(self, rng, decks, labels):
        self.rng, self.decks, self.labels = rng, decks, labels
        self.anchor, self.digest = rng.sample(range(1, 32), 2)
        self.taken = {self.anchor, self.digest}  # not to be written
        self.groups = []
        self.local = False

    # ---- registers and lines ----
    def source(self):
        return self.rng.randrange(32)

    def target(self, among=range(32)):
        free = [r for r in among if r not in self.taken]
        return self.rng.choice(free)

    def line(self, text):
        self.lines.append(text)

    def short(self, text):
        self.lines.append(f".option rvc\n{text}\n.option norvc")

    def mix(self, *registers):
        d = GPR[self.digest]
        for r in registers:
            if r and r != self.digest:
                self.line(f"rori {d}, {d}, 7\nxor {d}, {d}, {GPR[r]}")

    def edge(self, register, kind=None):
        """A value of the area's table in a register, if that may be written. Of floats: `kind` s or d."""
        if register and register not in self.taken:
            first, n = {None: (0, 24), "s": (24, 20), "d": (44, 20)}[kind]
            self.line(f"ld {GPR[register]}, {POOL + 8 * (first + self.rng.randrange(n))}({GPR[self.anchor]})")

    def work(self, size, aligned=False):
        offset = self.rng.randrange(-WORK, WORK - size + 1)
        return offset // size * size if aligned else offset

    def label(self):
        return f".L{next(self.labels)}"

    def operands(self, instruction):
        values = instruction.random_operands(self.rng)
        sources = [v for v in ("rs1", "rs2", "rs3") if v in values]
        for v in sources:
            values[v] = self.source()
        if len(sources) > 1 and self.rng.random() < 0.15:
            values["rs2"] = values["rs1"]
        if "rd" in values:
            values["rd"] = self.target()
            same = [values[v] for v in sources if values[v] not in self.taken]
            if same and self.rng.random() < 0.25:
                values["rd"] = self.rng.choice(same)
        return values

    def put(self, instruction, values):
        self.line(instruction.text(values).replace("\t", " "))
        return values.get("rd", 0)

    # ---- groups ----
    def simple(self, instruction):
        """An instruction that only computes; its result's register."""
        values, name = self.operands(instruction), mnemonic(instruction)
        kind = None
        if instruction.opcode() in FLOAT_OPCODES and not name.startswith(("fcvt.s.w", "fcvt.s.l", "fcvt.d.w", "fcvt.d.l")):
            kind = name[-1]
        for v in ("rs1", "rs2", "rs3"):
            if v in values and self.rng.random() < (0.6 if kind else 0.35):
                self.edge(values[v], kind)
        if name == "ctzw":
            # QEMU 7.2 counts on into the upper half of a low word of 0; 32 says the specification. So such a word gets a 1.
            values["rs1"] = one = self.target([r for r in range(1, 32) if r != values["rs1"]])
            source = GPR[self.source()]
            self.line(f"slli {GPR[one]}, {source}, 32\nseqz {GPR[one]}, {GPR[one]}" + (f"\nor {GPR[one]}, {GPR[one]}, {source}" if source != GPR[one] else ""))
        return self.put(instruction, values)

    def several(self, deck):
        self.mix(*[self.simple(deck.deal()) for _ in range(self.rng.choice([1, 1, 2, 3]))])

    def compute(self):
        self.several(self.decks.integer)

    def floats(self):
        self.several(self.decks.floating)

    def address(self, size, aligned=False, imm=0):
        """A register with anchor + offset - imm, so that imm(register) lies in the work area."""
        offset, base = self.work(size, aligned), self.target(range(1, 32))
        self.line(f"addi {GPR[base]}, {GPR[self.anchor]}, {offset - imm}")
        return base

    def memory(self):
        for _ in range(self.rng.choice([1, 2, 3])):
            load = self.rng.random() < 0.5
            instruction = (self.decks.load if load else self.decks.store).deal()
            size = {"b": 1, "h": 2, "w": 4, "d": 8}[mnemonic(instruction)[1]]
            values = self.operands(instruction)
            if self.rng.random() < 0.4:
                values["rs1"], values["imm"] = self.anchor, self.work(size, self.rng.random() < 0.3)
            else:
                values["imm"] = self.rng.choice([0, 1, -1, 8, -2048 + WORK, 2047 - WORK, self.rng.randrange(-1700, 1700)])
                values["rs1"] = self.address(size, self.rng.random() < 0.3, values["imm"])
                if load and self.rng.random() < 0.3:
                    values["rd"] = values["rs1"]
            if not load and self.rng.random() < 0.5:
                self.edge(values["rs2"] if values["rs2"] != values["rs1"] else 0)
            self.mix(self.put(instruction, values))

    def atomics(self):
        for _ in range(self.rng.choice([1, 1, 2])):
            instruction = self.decks.atomic.deal()
            values = self.operands(instruction)
            if self.rng.random() < 0.6:
                self.edge(values["rs2"])
            values["rs1"] = self.address(8 if ".d" in mnemonic(instruction) else 4, aligned=True)
            if self.rng.random() < 0.1:
                values["rs2"] = values["rs1"]
            values["rd"] = values["rs1"] if self.rng.random() < 0.2 else self.target()
            self.mix(self.put(instruction, values))

    def reserved(self):
        """Of a reservation: a store that succeeds, one to another place, one without it. Code in between may not jump: the model may drop it."""
        width = self.rng.choice("wd")
        size = 4 if width == "w" else 8
        lr, sc = (self.of_width(deck, width) for deck in (self.decks.reserve, self.decks.conditional))
        offset = self.work(size, aligned=True)
        base = self.target(range(1, 32))
        self.line(f"addi {GPR[base]}, {GPR[self.anchor]}, {offset}")
        values = self.operands(lr) | {"rs1": base}
        self.taken.add(base)
        values["rd"] = self.target()
        self.taken.discard(base)
        results = [self.put(lr, values)]
        other = self.rng.random() < 0.3
        if other:
            self.line(f"addi {GPR[base]}, {GPR[base]}, {size if offset + 2 * size <= WORK else -size}")
        values = self.operands(sc) | {"rs1": base}
        if self.rng.random() < 0.2:
            values["rd"] = base
        results.append(self.put(sc, values))
        self.mix(*results)
        if self.rng.random() < 0.3:  # nothing is reserved now
            sc = self.of_width(self.decks.conditional, width)
            self.mix(self.put(sc, self.operands(sc) | {"rs1": self.address(size, aligned=True)}))

    @staticmethod
    def of_width(deck, width):
        while mnemonic(card := deck.deal())[3] != width:
            pass
        return card

    def step(self):
        """Tells one path from another."""
        self.line(f"addi {GPR[self.digest]}, {GPR[self.digest]}, {self.rng.randrange(1, 2048)}")

    def branch(self):
        instruction, over = self.decks.branch.deal(), self.label()
        values = self.operands(instruction)
        for v in ("rs1", "rs2"):
            if self.rng.random() < 0.5:
                self.edge(values[v])
        values["imm"] = over
        self.put(instruction, values)
        self.step()
        results = [self.simple(self.decks.integer.deal()) for _ in range(self.rng.randrange(3))]
        self.line(f"{over}:")
        self.mix(*results)

    def loop(self):
        """Counts down or up to a limit, with a body of a few groups."""
        counter, again = self.target(range(1, 32)), self.label()
        self.taken.add(counter)
        limit = self.target(range(1, 32))
        self.taken.add(limit)
        n, way = self.rng.randrange(2, 6), self.rng.randrange(5)
        c, x = GPR[counter], GPR[limit]
        self.line(f"addi {c}, zero, {-n if way in (2, 3) else n}\naddi {x}, zero, {[0, 0, 0, -1, 1][way]}\n{again}:")
        for _ in range(self.rng.randrange(1, 4)):
            self.group(self.rng.choice(["compute", "floats", "memory", "atomics", "branch", "compressed", "csr", "call"] + ["loop"] * (len(self.taken) < 6)))
        self.line([f"addi {c}, {c}, -1\nbne {c}, {x}, {again}", f"addi {c}, {c}, -1\nblt {x}, {c}, {again}", f"addi {c}, {c}, 1\nbltu {x}, {c}, {again}",
                   f"addi {c}, {c}, 1\nbge {x}, {c}, {again}", f"addi {c}, {c}, -1\nbgeu {c}, {x}, {again}"][way])
        self.taken -= {counter, limit}

    def jump(self):
        over, rd = self.label(), self.target()
        self.line(f"jal {GPR[rd]}, {over}")
        self.step()
        self.line(f"{over}:")
        self.mix(rd)

    def jump_back(self):
        start, back, end, rd = self.label(), self.label(), self.label(), self.target()
        self.line(f"jal zero, {start}\n{back}:")
        self.mix(rd)
        self.line(f"jal {GPR[self.target()]}, {end}\n{start}:\njal {GPR[rd]}, {back}")
        self.step()
        self.line(f"{end}:")

    def call(self):
        """jalr there, to an odd address half the time (it clears the bit), and back by the register that it kept."""
        here, there, end = self.label(), self.label(), self.label()
        base, imm, odd = self.target(range(1, 32)), self.rng.choice([0, -2048, 2046, 2 * self.rng.randrange(-1000, 1000)]), self.rng.randrange(2)
        rd = base if self.rng.random() < 0.3 else self.target()
        b, r = GPR[base], GPR[rd]
        half = (odd - imm) // 2
        self.line(f"{here}:\nauipc {b}, %pcrel_hi({there})\naddi {b}, {b}, %pcrel_lo({here})\naddi {b}, {b}, {half}\naddi {b}, {b}, {odd - imm - half}")
        self.line(f"jalr {r}, {imm}({b})")
        self.step()
        self.line(f"jal zero, {end}\n{there}:")
        self.taken.add(rd)
        self.mix(rd, self.simple(self.decks.integer.deal()))
        self.taken.discard(rd)
        if rd:
            link = self.target()
            self.line(f"jalr {GPR[link]}, 0({r})")
            self.line(f"{end}:")
            self.mix(link)
        else:
            self.line(f"{end}:")

    def csr(self):
        for _ in range(self.rng.choice([1, 2])):
            instruction = self.decks.csr.deal()
            values = self.operands(instruction) | {"csr": self.rng.choice([1, 2, 3])}
            if self.rng.random() < 0.2:
                values |= {"rs1": 0} if "rs1" in values else {"imm": 0}
            self.mix(self.put(instruction, values))
        if self.rng.random() < 0.5:  # also of a mode that does not exist
            rd = self.target()
            self.line(f"csrrs {GPR[rd]}, {self.rng.choice(['fflags', 'frm', 'fcsr'])}, zero")
            self.mix(rd)
        self.line(f"csrrwi {GPR[rd := self.target()]}, frm, {self.rng.randrange(5)}")
        self.mix(rd)

    def reserved_mode(self):
        """frm is no mode: what says its own rounds nevertheless."""
        self.line(f"csrrwi zero, frm, {self.rng.randrange(5, 8)}")
        while "rounding" not in (instruction := self.decks.floating.deal()).operands.values():
            pass
        values = self.operands(instruction) | {"rm": self.rng.randrange(5)}
        rd = self.put(instruction, values)
        self.line(f"csrrwi zero, frm, {self.rng.randrange(5)}")
        self.mix(rd)

    def fences(self):
        if self.rng.random() < 0.5:  # fields that are reserved are ignored
            self.line(f".4byte {0x0F | self.source() << 7 | self.source() << 15 | self.rng.getrandbits(12) << 20:#x}")
        else:
            instruction = self.decks.fence.deal()
            self.put(instruction, self.operands(instruction))

    def overlap(self):
        """The upper half of a lui, at first run as a whole, is an instruction too: c.addi."""
        counter, again, word = self.target(range(1, 32)), self.label(), self.label()
        self.taken.add(counter)
        whole, half = self.target(), self.target(range(1, 32))
        self.taken.discard(counter)
        c = GPR[counter]
        self.line(f"addi {c}, zero, 2\n{again}:\naddi {c}, {c}, -1\nbeq {c}, zero, {word} + 2\n{word}:")
        self.line(f".2byte {0x37 | whole << 7 | self.rng.getrandbits(4) << 12:#x}, {0x0001 | half << 7 | self.rng.randrange(1, 32) << 2:#x}")
        self.mix(whole, half)
        self.line(f"bne {c}, zero, {again}")

    FAR = [(name, at) for name, low, high in (("jal", -1048576, 1048574), ("beq", -4096, 4094), ("bge", -4096, 4094), ("bgeu", -4096, 4094), ("c.j", -2048, 2046), ("c.beqz", -256, 254))
           for at in (low, high)]

    def far(self, name, distance):
        """A jump as far as it goes; what lies between is no code."""
        here, there, end, rd = self.label(), self.label(), self.label(), self.target()
        zero = self.target(range(8, 16))
        link = self.target([r for r in range(1, 32) if r != zero])
        def go(to):
            at = self.label()
            self.line(f"{at}:\nauipc {GPR[link]}, %pcrel_hi({to})\naddi {GPR[link]}, {GPR[link]}, %pcrel_lo({at})\njalr zero, 0({GPR[link]})")
        self.line(f"addi {GPR[zero]}, zero, 0")
        jump = {"jal": f"jal {GPR[rd]},", "c.j": "c.j", "c.beqz": f"c.beqz {GPR[zero]},"}.get(name, f"{name} zero, {GPR[zero]},")
        put = self.short if name.startswith("c.") else self.line
        if distance > 0:
            put(f"{here}: {jump} {there}\n.org {here} + {distance}\n{there}:")
            return self.mix(rd, link)
        go(here)
        self.line(f"{there}:")
        self.mix(rd)
        go(end)
        put(f".org {there} + {-distance}\n{here}: {jump} {there}\n{end}:")
        return self.mix(link)

    def compressed(self):
        for _ in range(self.rng.choice([1, 2, 3, 4])):
            self.one_compressed(self.decks.compressed.deal())

    def one_compressed(self, form):
        name, anchor = form.split()[0], GPR[self.anchor]
        if name == "c.nop":
            return self.short("c.nop")
        if len(form.split()) > 1:
            rd = self.target(range(8, 16) if "r'" in form else range(1, 32))
            if name == "c.lui" and rd == 2:
                return None  # is c.addi16sp
            rs = self.rng.randrange(8, 16) if "q'" in form else self.rng.randrange(1, 32)
            if self.rng.random() < 0.4:
                self.edge(self.rng.choice([rd, rs]))
            words = {"r'": GPR[rd], "r": GPR[rd], "q'": GPR[rs], "q": GPR[rs], "i6": self.rng.choice([-32, 31, 0, self.rng.randrange(-32, 32)]),
                     "n6": self.rng.choice([-32, 31, -1, self.rng.randrange(1, 32)]), "s": self.rng.choice([1, 31, 32, 63, self.rng.randrange(1, 64)]),
                     "u": self.rng.choice([1, 31, 0xFFFE0, 0xFFFFF, self.rng.randrange(1, 32)])}
            self.short(f"{name} " + ", ".join(str(words[w.strip(",")]) for w in form.split()[1:]))
            return self.mix(rd)
        if name in ("c.addi4spn", "c.addi16sp"):
            if name == "c.addi4spn":
                rd = self.target(range(8, 16))
                self.short(f"c.addi4spn {GPR[rd]}, sp, {self.rng.choice([4, 1020, 4 * self.rng.randrange(1, 256)])}")
                return self.mix(rd)
            if 2 not in self.taken:
                self.short(f"c.addi16sp sp, {self.rng.choice([-512, 496, -16, 16 * self.rng.randrange(1, 32)])}")
                self.mix(2)
            return None
        on_stack, size = name.endswith("sp"), 4 if "w" in name else 8
        offset = self.rng.randrange((256 if on_stack else 128) // 4 if size == 4 else (512 if on_stack else 256) // 8) * size
        if on_stack and self.anchor != 2:
            if 2 in self.taken:
                return None
            base = 2
        elif on_stack:
            base, offset = 2, offset % 248
        else:
            base = self.target(range(8, 16))
        if base != self.anchor:
            self.line(f"addi {GPR[base]}, {anchor}, {self.work(size, self.rng.random() < 0.5) - offset}")
        if name[2] == "l":
            rd = self.target(range(1, 32) if on_stack else range(8, 16))
            self.short(f"{name} {GPR[rd]}, {offset}({GPR[base]})")
            return self.mix(rd)
        rs = self.source() if on_stack else self.rng.randrange(8, 16)
        return self.short(f"{name} {GPR[rs]}, {offset}({GPR[base]})")

    def hint(self):
        self.line(f".2byte {self.rng.choice(self.HINTS):#06x}")

    def compressed_branch(self):
        over, name = self.label(), self.rng.choice(["c.beqz", "c.bnez", "c.j"])
        if name == "c.j":
            self.short(f"c.j {over}")
        else:
            rs = self.rng.randrange(8, 16)
            if rs not in self.taken and self.rng.random() < 0.5:
                self.line(f"sltu {GPR[rs]}, {GPR[self.source()]}, {GPR[self.source()]}")
            self.short(f"{name} {GPR[rs]}, {over}")
        self.step()
        self.line(f"{over}:")

    def compressed_call(self):
        here, there, end, base = self.label(), self.label(), self.label(), self.target(range(1, 32))
        linked = 1 not in self.taken and self.rng.random() < 0.7
        b = GPR[base]
        self.line(f"{here}:\nauipc {b}, %pcrel_hi({there})\naddi {b}, {b}, %pcrel_lo({here})")
        self.short(f"{'c.jalr' if linked else 'c.jr'} {b}")
        self.step()
        if linked:
            self.short(f"c.j {end}")
        self.line(f"{there}:")
        if linked:
            self.mix(1)
            self.short("c.jr ra")
        self.line(f"{end}:")

    def group(self, kind, *how):
        getattr(self, kind)(*how)

    def build(self, kinds):
        for kind in kinds:
            self.lines = []
            self.group(*kind)
            self.groups.append("\n".join(self.lines))
        # At the end, what a block leaves in its registers: start and end of every area look alike.
        area = [(self.rng.randrange(5) << 5 | self.rng.randrange(32))] + [self.value(self.rng.choice([None, "s", "d"])) for _ in range(31)]
        area += [self.value(kind) for kind, n in ((None, 24), ("s", 20), ("d", 20)) for _ in range(n)] + [self.value(None) for _ in range(2 * WORK // 8)]
        self.area = b"".join((v & (1 << 64) - 1).to_bytes(8, "little") for v in area)
        assert len(self.area) == AREA
        return self

    def value(self, kind):
        """An integer, or the register of an f32 or f64: an edge, anything, or one of few bits (so that sums and products are halfway)."""
        random = self.rng
        style = random.random()
        if kind is None:
            return random.choice(INTEGERS) if style < 0.6 else random.getrandbits(64) if style < 0.8 else random.getrandbits(random.randrange(1, 64)) << random.randrange(8)
        if kind == "s":
            bits = random.choice(FLOATS) if style < 0.5 else random.getrandbits(32) if style < 0.7 else (
                random.getrandbits(1) << 31 | random.randrange(110, 146) << 23 | random.getrandbits(12) << random.choice([0, 0, 11]))
            return bits - (bits >> 31 << 32) if random.random() < 0.8 else bits | random.getrandbits(32) << 32  # the upper half is ignored
        return random.choice(DOUBLES) if style < 0.5 else random.getrandbits(64) if style < 0.7 else (
            random.getrandbits(1) << 63 | random.randrange(993, 1053) << 52 | random.getrandbits(26) << random.choice([0, 0, 26]))

    @staticmethod
    def copy(source, target, loop):
        return [source, target, f"addi t2, t0, {AREA}", f"{loop}: ld t3, 0(t0)", "sd t3, 0(t1)", "addi t0, t0, 8", "addi t1, t1, 8", f"bne t0, t2, {loop}"]

    def text(self, number, groups=None):
        anchor = GPR[self.anchor]
        first = GPR[next(r for r in range(1, 32) if r != self.anchor)]
        others = [r for r in range(1, 32) if r != self.anchor]
        start = [f"lla {anchor}, areas + {number * AREA + ANCHOR}"]
        if self.local:
            base = LM_BASE if number % 2 else LM_BASE + LM_BYTES - AREA
            start = self.copy(f"lla t0, areas + {number * AREA}", f"li t1, {base}", f".L{number}_in") + [f"li {anchor}, {base + ANCHOR}"]
        start += [f"ld {first}, {-ANCHOR}({anchor})", f"csrw fcsr, {first}"]
        start += [f"ld {GPR[r]}, {8 * r - ANCHOR}({anchor})" for r in others]
        end = [f"sd {GPR[r]}, {8 * r - ANCHOR}({anchor})" for r in others] + [f"csrr {first}, fcsr", f"sd {first}, {-ANCHOR}({anchor})"]
        if self.local:
            end += self.copy(f"li t0, {base}", f"lla t1, areas + {number * AREA}", f".L{number}_out")
        return re.sub(r"\.L(?=\d)", f".L{number}_", "\n".join(start + self.groups[:groups] + end))


def blocks(seed, n, groups=100):
    rng = random.Random(seed)
    decks, labels = Decks(rng), count()
    return [Block(rng, decks, labels).build([(decks.kind.deal(),) for _ in range(groups)]) for _ in range(n)]


def far_blocks(seed):
    """Blocks of jumps to either end of their reach, each with something else behind it."""
    rng = random.Random(seed)
    decks, labels = Decks(rng), count()
    return [Block(rng, decks, labels).build([("far", *far), ("compute",)]) for far in Block.FAR]
