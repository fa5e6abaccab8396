"""Writes the ISA manual (Markdown) from the records' JSON dump: manual.py ISA.JSON LANE.H OUT.MD

One entry an instruction: its assembly, its encoding drawn bit by bit, what it does in words and in C++, and what it costs. The names that
the C++ uses are explained in isa/README.md; nothing here is written by hand twice."""
import json, re, sys

CHAPTERS = [  # title, predicate over (record, major opcode, file)
    ("Scalar base", "Scalar.td", "RV64IMA with Zicsr, Zfinx, Zdinx, Zba and Zbb: encodings and meaning as the RISC-V specifications have them. "
     "Floats live in the integer registers."),
    ("Vectors and masks", "Vector.td", "32 registers `v0`..`v31` of 1024 bits and 8 mask registers `m0`..`m7` of one bit a lane. Arithmetic rounds to nearest even, raises no "
     "flags and keeps subnormals; every NaN result is the canonical one. Memory accesses are to LM only, and want no alignment; 128 bytes aligned to 128 are fastest."),
    ("Packed lanes", "Packed.td", "A whole register as 64 lanes of 16 bits or 128 lanes of 8; conversions of 8-bit floats; lanes moved by masks, indices and for transposition. "
     "A compare writes 64 or 128 mask bits and clears the others."),
    ("Engines", "Engine.td", "Commands to the tensor engine, the drain and the DMA queues, flags, and scalar conversions of 16-bit floats. The descriptors stand in `isa/commands.h`."),
    ("Hardware loops", "Loop.td", "A counted loop ends in one branch, which the fetch unit executes beside the instructions that issue."),
]


def runs(bits):
    """The encoding as fields from bit 31 down: (high, low, text)."""
    fields = []
    for i in reversed(range(32)):
        b = bits[i]
        if isinstance(b, int):
            if fields and fields[-1][2] == "fixed":
                fields[-1][1], fields[-1][3] = i, fields[-1][3] + str(b)
            else:
                fields.append([i, i, "fixed", str(b)])
        else:
            variable, index = b["var"], b.get("index", 0)
            if fields and fields[-1][2] == variable and fields[-1][4] == index + 1:
                fields[-1][1], fields[-1][4] = i, index
            else:
                fields.append([i, i, variable, index, index])
    for high, low, kind, *rest in fields:
        if kind == "fixed":
            yield high, low, rest[0]
        else:
            top, bottom = rest
            whole = bottom == 0 and not any(isinstance(b, dict) and b["var"] == kind and b.get("index", 0) > top for b in bits)
            yield high, low, kind if whole else f"{kind}[{top}]" if top == bottom else f"{kind}[{top}:{bottom}]"


def drawn(bits):
    fields = list(runs(bits))
    places = [f"{high}" if high == low else f"{high} {low}" for high, low, _ in fields]
    widths = [max(len(place), len(text)) for place, (_, _, text) in zip(places, fields)]
    line = " ".join(place.center(width) for place, width in zip(places, widths))
    cells = "|".join(text.center(width) for (_, _, text), width in zip(fields, widths))
    return f"     {line}\n    |{cells}|"


def wrapped(code):
    """One statement a line, blocks indented."""
    out, depth, parens, line = [], 0, 0, ""
    for c in code:
        line += c
        parens += (c == "(") - (c == ")")
        if c == "{":
            out.append("    " * depth + line.strip())
            depth, line = depth + 1, ""
        elif c == "}":
            body = line[:-1].strip()
            if body:
                out.append("    " * depth + body)
            depth, line = depth - 1, ""
            out.append("    " * depth + "}")
        elif c == ";" and parens == 0:
            out.append("    " * depth + line.strip())
            line = ""
    if line.strip():
        out.append("    " * depth + line.strip())
    return "\n".join(out)


def entry(name, record):
    operands = re.sub(r"\$\{?(\w+)\}?", r"\1", record["AsmString"].replace("$rm", "[, $rm]")).replace("\t", " ")
    unit = record["ExecutionUnit"]["def"].removeprefix("Unit").lower()
    unit = {"ab": "vector pipe A or B", "a": "vector pipe A", "b": "vector pipe B", "fetch": "fetch unit"}.get(unit, f"{unit} unit")
    occupancy = f", the unit busy for {record['Occupancy']}" if record["Occupancy"] > 1 else ""
    code = record["Semantics"]
    code = wrapped(code) if "md.lanes" not in code and len(code) > 100 else code
    code = "\n".join("    " + line for line in code.splitlines())
    return (f"### `{operands}`\n\n{record['Documentation']}\n\n{drawn(record['Inst'])}\n\n{code}\n\n"
            f"{unit}, result after {record['Latency']} cycle{'s' if record['Latency'] > 1 else ''}{occupancy}\n")


def main(source, lane, out):
    records = json.load(open(source))
    order = lambda name: int(records[name]["!locs"][-1].rsplit(":", 1)[1]) if records[name]["!locs"] else 0
    names = records["!instanceof"]["DougongInst"]
    file = lambda name: records[name]["!locs"][-1].rsplit(":", 1)[0].rsplit("/", 1)[-1]
    text = ["# The Dougong instruction set\n\nGenerated from the records in `isa/`. The address map is in `isa/machine_layout.h`; the names that the "
            "definitions in C++ use are explained in `isa/README.md`.\n"]
    for title, source_file, words in CHAPTERS:
        chapter = [n for n in names if file(n) == source_file]
        text.append(f"## {title}\n\n{words}\n")
        text += [entry(n, records[n]) for n in sorted(chapter, key=lambda n: (order(n), n))]
    rest = [n for n in names if file(n) not in [c[1] for c in CHAPTERS]]
    if rest:
        sys.exit(f"manual.py: no chapter for {', '.join(rest)}")
    text.append("## Control and status registers\n\n| number | name | |\n|---|---|---|\n" + "\n".join(
        f"| 0x{n:03X} | `{r['Name']}` | {r['Documentation']} |" for n, r in sorted(
            (r["Number"] if isinstance(r["Number"], int) else sum(b << i for i, b in enumerate(r["Number"])), r)
            for r in (records[name] for name in records["!instanceof"]["ControlRegister"]))) + "\n")
    text.append("## One lane\n\nWhat `lane::` names in the definitions above: `isa/lane.h`.\n\n" + "".join("    " + line for line in open(lane)))
    open(out, "w").write("\n".join(text))


main(*sys.argv[1:])
