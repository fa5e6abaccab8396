"""The instruction records as the tests see them: the JSON dump, and an encoder of its own to compare the toolchain's with."""
import json, os, pathlib, random, re, subprocess

BUILD = pathlib.Path(os.environ.get("DOUGONG_BUILD", pathlib.Path(__file__).parents[2] / "build"))
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")
GPR = "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6".split()
ROUNDING = {0: ", rne", 1: ", rtz", 2: ", rdn", 3: ", rup", 4: ", rmm", 7: ""}


class Instruction:
    def __init__(self, records, name):
        self.name, self.record, self.records = name, records[name], records
        self.bits = self.record["Inst"]
        self.scalar = (self.opcode() & 0x7F) not in (0x0B, 0x2B, 0x5B, 0x7B)
        tied = dict(re.findall(r"\$(\w+) = \$(\w+)", self.record["Constraints"]))
        self.tied = set(tied) | set(tied.values())
        self.operands = {}
        for field in ("OutOperandList", "InOperandList"):
            for operand, variable in self.record[field]["args"]:
                kind = operand["def"] if isinstance(operand, dict) else operand
                if any(isinstance(b, dict) and b["var"] == variable for b in self.bits):
                    self.operands[variable] = kind

    def opcode(self):
        return sum(b << i for i, b in enumerate(self.bits[:7]))

    def fixed(self):
        """The bits that do not depend on operands, as (mask, value)."""
        mask = sum(1 << i for i, b in enumerate(self.bits) if isinstance(b, int))
        return mask, sum(b << i for i, b in enumerate(self.bits) if isinstance(b, int))

    def random_operands(self, rng):
        values = {}
        for variable, kind in self.operands.items():
            operand = self.records[kind]
            if kind in ("GPR", "VR", "MR"):
                values[variable] = rng.randrange(8 if kind == "MR" else 32)
            elif kind in ("rounding", "exact_rounding"):
                values[variable] = rng.choice(list(ROUNDING))
            elif kind == "queue":
                values[variable] = rng.randrange(6)
            else:
                width, signed, scale = operand["Width"], operand["Signed"], operand["Scale"]
                low, high = (-(1 << (width - 1)), (1 << (width - 1))) if signed else (0, 1 << width)
                values[variable] = rng.choice([low, high - scale, 0, rng.randrange(low, high, scale)])
        return values

    def encode(self, values):
        word = 0
        for i, b in enumerate(self.bits):
            word |= (b if isinstance(b, int) else values[b["var"]] >> b.get("index", 0) & 1) << i
        return word

    def text(self, values):
        def operand(match):
            variable = match.group(1) or match.group(2)
            kind, value = self.operands.get(variable), values.get(variable)
            if kind in ("GPR", "VR", "MR"):
                return GPR[value] if kind == "GPR" else f"{'v' if kind == 'VR' else 'm'}{value}"
            if kind == "rounding":
                return ROUNDING[value]
            if kind == "exact_rounding":
                return {0: "", 7: ", dyn"}.get(value, ROUNDING[value])
            if kind == "fence_set":
                return "".join(c for i, c in enumerate("iorw") if value & (8 >> i)) or "0"
            if kind == "csr_number":
                names = {self.records[r]["Number"] if isinstance(self.records[r]["Number"], int) else number(self.records[r]["Number"]): self.records[r]["Name"]
                         for r in self.records["!instanceof"]["ControlRegister"]}
                return names.get(value, str(value))
            return str(value)
        return re.sub(r"\$(?:\{(\w+)\}|(\w+))", operand, self.record["AsmString"])


def number(bits):
    return sum(b << i for i, b in enumerate(bits))


def instructions():
    records = json.loads((BUILD / "isa" / "isa.json").read_text())
    return [Instruction(records, name) for name in records["!instanceof"]["DougongInst"]]


def run(*command, **options):
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120, **options)
    assert result.returncode >= 0, f"{command[0]} died of signal {-result.returncode}: {result.stderr[-2000:]}"
    return result


def assemble(text, path):
    """Assembles to an object, and returns the words of its .text."""
    source = path.with_suffix(".s")
    source.write_text(text)
    result = run(BUILD / "bin/dougong-mc", "-filetype=obj", source, "-o", path)
    assert result.returncode == 0, result.stderr[:2000]
    raw = path.with_suffix(".bin")
    assert run(LLVM / "llvm-objcopy", "-O", "binary", "-j", ".text", path, raw).returncode == 0
    data = raw.read_bytes()
    return [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]


def disassembly(command, path):
    """(word, text) of every line of an objdump."""
    result = run(*command, path)
    assert result.returncode == 0, result.stderr[:2000]
    lines = []
    for line in result.stdout.splitlines():
        if match := re.match(r"\s*[0-9a-f]+: ([0-9a-f]{8})\s*(.*)", line):
            lines.append((int(match.group(1), 16), re.sub(r"\s+", " ", match.group(2).strip())))
    return lines
