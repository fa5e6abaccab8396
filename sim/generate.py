#!/usr/bin/env python3
"""From the instruction records (`llvm-tblgen --dump-json`) to the model's decoder and handlers.

    generate.py isa.json OUT_DIR    writes decode.inc, scalar.inc, vector.inc

For `def ADDI` with the semantics `rd = rs1 + imm;` the output has

    struct ADDI : Environment { template <int length> void execute() {
        const uint64_t rs1 = core.x[op->rs1]; const int64_t imm = op->imm; uint64_t rd = 0;
        [&] { rd = rs1 + imm; }();
        core.x[op->rd] = rd; } };
    template <bool timing, int length> DG_HANDLER run_ADDI(const Op *op, Core *core, int64_t remaining, uint64_t time) {...}

and a line of the decoder that knows which bits of the word are rd, rs1 and imm. Records whose meaning, operands and cost
are the same (an atomic with and without .aq) share a handler.
"""
import json
import re
import sys
from pathlib import Path

FILES = {"GPR": "x", "VR": "v", "MR": "m"}
TYPES = {"x": "uint64_t", "v": "Vector", "m": "Mask"}
READY = {"x": "ready", "v": "vector_ready", "m": "mask_ready"}
# What compressed instructions stand for: these handlers exist for a length of 2 bytes too.
COMPRESSED = set("ADDI LW SW LD SD JAL ADDIW LUI SRLI SRAI ANDI SUB XOR OR AND SUBW ADDW BEQ BNE SLLI JALR ADD EBREAK".split())


class Operand:
    def __init__(self, name, definition, records):
        self.name = name
        record = records[definition]
        classes = record["!superclasses"]
        if "RegisterOperand" in classes:
            definition = record["RegClass"]["def"]
        self.file = FILES.get(definition)
        self.immediate = self.file is None
        self.width = record.get("Width")
        self.signed = bool(record.get("Signed", 0))


class Instruction:
    def __init__(self, name, record, records):
        self.name, self.record = name, record
        self.semantics = record["Semantics"].strip()
        self.mnemonic = record["Mnemonic"]
        self.unit = record["ExecutionUnit"]["def"].removeprefix("Unit").lower()
        self.occupancy = record["Occupancy"]
        # Of the outputs in their order; the last one's is that of those that follow.
        self.latencies = [records[write["def"]]["Latency"] for write in record["SchedRW"]]
        self.outs = self.operands(record["OutOperandList"], records)
        ins = self.operands(record["InOperandList"], records)
        self.bits = record["Inst"]
        encoded = {bit["var"] for bit in self.bits if isinstance(bit, dict)}
        tied = dict(re.findall(r"\$(\w+)\s*=\s*\$(\w+)", record["Constraints"].replace(" ", "")))
        tied |= {b: a for a, b in tied.items()}
        names = {o.name for o in self.outs}
        self.read_outs = set()  # outputs whose old value is read too
        self.ins = []
        for o in ins:
            if o.name in names:
                self.read_outs.add(o.name)
            elif tied.get(o.name) in names:
                self.read_outs.add(tied[o.name])
            else:
                self.ins.append(o)
        for o in self.outs + self.ins:
            if o.name not in encoded:
                sys.exit(f"{name}: operand ${o.name} is not encoded")
        self.place()

    @staticmethod
    def operands(dag, records):
        return [Operand(arg[1], arg[0]["def"], records) for arg in dag["args"]]

    def place(self):
        """Which field of Op holds which operand."""
        free = ["rd", "rs1", "rs2", "rs3"]
        self.field = {}
        for o in self.outs + self.ins:
            if o.immediate:
                continue
            first = "rd" if o in self.outs and "rd" in free else next(f for f in free if f != "rd" or len(free) == 1)
            free.remove(first)
            self.field[o.name] = first
        immediates = sorted((o for o in self.ins if o.immediate), key=lambda o: -o.width)
        for i, o in enumerate(immediates):
            if i == 0:
                self.field[o.name] = "imm"
            elif o.width <= 8 and not o.signed and free:
                self.field[o.name] = free.pop()
            else:
                sys.exit(f"{self.name}: no place in Op for immediate ${o.name}")

    # ---- what kind of instruction ----
    def uses(self, word):
        return re.search(rf"\b{word}\b", self.semantics) is not None

    @property
    def vector(self):
        return any(o.file in ("v", "m") for o in self.outs + self.ins)

    @property
    def jumps(self):
        return self.uses("jump")

    @property
    def conditional(self):
        return self.jumps and self.uses("if")

    @property
    def leaves(self):
        """May need or change what handlers keep in registers."""
        return re.search(r"\bcore\.(?!reservation\b)", self.semantics) is not None

    # ---- code ----
    def bindings(self):
        before, after = [], []
        for o in self.outs:
            where = f"core.{o.file}[op->{self.field[o.name]}]"
            if o.file == "x":
                # An output that is a source too (post-increment) is read under its own name.
                start = where.replace(f"op->{self.field[o.name]}", f"op->{self.field[o.name]} & 31") if o.name in self.read_outs else "0"
                before.append(f"uint64_t {o.name} = {start};")
            else:
                before.append(f"{TYPES[o.file]} {o.name} = {where};")
            after.append(f"{where} = {o.name};")
        for o in self.ins:
            if not self.uses(o.name):
                continue
            field = self.field[o.name]
            if o.file == "x":
                before.append(f"const uint64_t {o.name} = core.x[op->{field}];")
            elif o.file:
                # A copy where memory is written, which for all the host's compiler knows might be the register.
                reference = "" if self.record["mayStore"] else "&"
                before.append(f"const {TYPES[o.file]} {reference}{o.name} = core.{o.file}[op->{field}];")
            elif o.name == "rm":
                before.append(f"const int rm = rounding(op->{field});")
            else:
                before.append(f"const int64_t {o.name} = op->{field};")
        for o in self.outs + self.ins:
            if self.uses(o.name + "_number"):
                before.append(f"const unsigned {o.name}_number = op->{self.field[o.name]} & 31;")
        if self.uses("pc") or self.uses("next"):
            before.append("const uint64_t pc = core.pc_of(op), next = pc + length; (void)pc, (void)next;")
        return before, after

    def struct(self):
        before, after = self.bindings()
        return (f"struct {self.name} : Environment {{\n  using Environment::Environment;\n  template <int length> DG_MEMBER void execute() {{\n"
                f"    {' '.join(before)}\n    [&]() __attribute__((always_inline)) {{ {self.semantics} }}();\n    {' '.join(after)}\n  }}\n}};\n")

    def needed(self):
        sources = [f"core->{READY[o.file]}[op->{self.field[o.name]}]" for o in self.ins if o.file]
        sources += [f"core->{READY[o.file]}[op->{self.field[o.name]}]" for o in self.outs if o.name in self.read_outs]
        expression = "uint64_t(0)"
        for source in sources:
            expression = source if expression == "uint64_t(0)" else f"std::max({expression}, {source})"
        return expression

    def handler(self):
        memory = self.unit == "memory"
        # The end of a hardware loop takes no issue slot: what follows may issue with it.
        loop_end = self.unit == "fetch"
        issue = "core->issue_free" if loop_end else f"core->issue<unit_{self.unit}, {self.occupancy}>"
        step = "" if loop_end else " + core->issue_step"
        lines = [f"template <bool timing, int length> DG_HANDLER run_{self.name}(const Op *op, Core *core, int64_t remaining, uint64_t time) {{",
                 f"  {self.name} e(op, core);", "  uint64_t at = 0;",
                 f"  if constexpr (timing) at = {issue}(time, {self.needed()});"]
        if self.vector:
            lines.append("  ++core->count.vector_instructions;")
        if self.leaves:
            lines.append("  core->op = op + length / 2, core->remaining = remaining - 1;")
            lines.append("  if constexpr (timing) core->time = at + core->issue_step;")
            lines.append("  core->at = op;")
        lines.append("  e.template execute<length>();")
        lines.append("  if constexpr (timing) {")
        lines.append(f"    time = at{step};")
        extra = ""
        if memory and not self.leaves:
            if self.vector and (self.record["mayLoad"] or self.record["mayStore"]):
                lines.append("    [[maybe_unused]] uint64_t extra = 0;")
                if self.occupancy == 1:
                    lines.append("    if ((e.address & 127) + e.accessed > 128) extra = cycle, core->unit_free[unit_memory] += cycle;")
                extra = " + extra"
            elif not self.vector and (self.record["mayLoad"] or self.record["mayStore"]):
                lines.append(f"    [[maybe_unused]] uint64_t extra = core->data_delay(e.address, {'true' if self.record['mayStore'] else 'false'}, at);")
                extra = " + extra"
        why = "memory" if memory else "vector" if self.vector else "scalar"
        for o, latency in zip(self.outs, self.latencies + self.latencies[-1:] * len(self.outs)):
            late = "" if o.file == "x" and o.name in self.read_outs else extra  # an address does not wait for memory
            lines.append(f"    core->{READY[o.file]}[op->{self.field[o.name]}] = cycle_of(at) + {latency} * cycle{late} + cause(Stall::{why});")
        lines.append("  }")
        if self.leaves:
            lines.append("  if constexpr (timing) time = core->time;")
            lines.append("  if (core->state != Core::State::running) [[unlikely]] return;")
        if self.jumps:
            test = "if (e.jumped) " if self.conditional else ""
            lines.append(f"  {test}{{")
            lines.append("    const Op *to;")
            lines.append("    uint64_t offset = e.target - core->code_begin;")
            lines.append("    if constexpr (timing) {")
            if loop_end:
                lines.append("      time = core->loop_back(at, e.target);")
            elif self.conditional:
                lines.append("      time = core->branch_taken(at, core->pc_of(op), e.target);")
            elif self.uses("rs1"):
                lines.append("      time = core->jump_indirect(at, core->pc_of(op), e.target, op->rd, op->rs1, core->pc_of(op) + length);")
            else:
                lines.append("      time = core->jump_direct(at, e.target, op->rd, core->pc_of(op) + length);")
            lines.append("    }")
            lines.append("    if (offset < core->code_bytes) [[likely]] to = core->ops + offset / 2;")
            lines.append("    else if (!(to = core->enter(op, e.target, remaining - 1, time))) return;")
            lines.append("    if (remaining <= 1) [[unlikely]] { core->op = to, core->remaining = remaining - 1, core->time = time; return; }")
            lines.append("    [[clang::musttail]] return to->run(to, core, remaining - 1, time);")
            lines.append("  }")
            if self.conditional and not loop_end:
                lines.append("  if constexpr (timing) time = core->branch_not_taken(at, core->pc_of(op));")
        if not self.jumps or self.conditional:
            lines.append("  const Op *following = op + length / 2;")
            lines.append("  [[clang::musttail]] return following->run(following, core, remaining - 1, time);")
        lines.append("}")
        return "\n".join(lines) + "\n"

    def identity(self):
        return (self.semantics, self.unit, tuple(self.latencies), self.occupancy, self.record["mayLoad"], self.record["mayStore"],
                tuple((o.name, o.file, self.field[o.name]) for o in self.outs + self.ins), tuple(sorted(self.read_outs)))

    def mask_and_value(self):
        mask = sum(1 << i for i, b in enumerate(self.bits) if not isinstance(b, dict) and not self.record["Ignored"][i])
        value = sum(1 << i for i, b in enumerate(self.bits) if b == 1)
        return mask, value

    def runs(self, operand):
        """(low bit of the operand, low bit of the word, count) of each contiguous piece."""
        places = sorted((b["index"], i) for i, b in enumerate(self.bits) if isinstance(b, dict) and b["var"] == operand)
        pieces = []
        for index, word in places:
            if pieces and pieces[-1][0] + pieces[-1][2] == index and pieces[-1][1] + pieces[-1][2] == word:
                pieces[-1][2] += 1
            else:
                pieces.append([index, word, 1])
        return pieces

    def decode(self):
        parts = []
        for o in self.outs + self.ins:
            pieces = " | ".join(f"(word >> {w} & {(1 << n) - 1:#x}u) << {i}" if i else f"(word >> {w} & {(1 << n) - 1:#x}u)" for i, w, n in self.runs(o.name))
            if o.immediate and o.signed:
                pieces = f"int32_t(({pieces}) << {32 - o.width}) >> {32 - o.width}"
            elif o.immediate and self.field[o.name] == "imm":
                pieces = f"int32_t({pieces})"
            elif not o.immediate and o.file == "x" and o in self.outs:
                pieces = f"sink({pieces})"
            elif o.file == "m":
                pieces = f"({pieces}) & 7"
            parts.append(f"op.{self.field[o.name]} = {pieces};")
        return " ".join(parts)


def main():
    records, out = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    instructions = [Instruction(n, records[n], records) for n in sorted(records["!instanceof"]["DougongInst"])]
    leaders, index = {}, {}
    for i in instructions:
        leader = leaders.setdefault(i.identity(), i)
        index[i.name] = leader
        if i.name in COMPRESSED and leader is not i:
            sys.exit(f"{i.name} is what a compressed instruction stands for and must lead its group")
    scalar = [i for i in leaders.values() if not i.vector]
    vector = [i for i in leaders.values() if i.vector]

    banner = f"// Generated by sim/generate.py from the records in isa/. Do not edit.\n"
    def write(name, text):
        path = out / name
        if not path.exists() or path.read_text() != banner + text:
            path.write_text(banner + text)

    number = {i.name: n for n, i in enumerate(scalar)} | {i.name: n for n, i in enumerate(vector)}
    write("scalar.inc", "\n".join(i.struct() + i.handler() for i in scalar)
          + f"\nconst ScalarHandlers scalar_handlers[{len(scalar)}] = {{\n"
          + "".join("  {run_%s<false, 4>, run_%s<true, 4>, %s},\n" % (i.name, i.name,
                    f"run_{i.name}<false, 2>, run_{i.name}<true, 2>" if i.name in COMPRESSED else "nullptr, nullptr") for i in scalar) + "};\n")
    write("vector.inc", "\n".join(i.struct() + i.handler() for i in vector)
          + f"\nconst VectorHandlers vector_handlers[{max(1, len(vector))}] = {{\n"
          + "".join(f"  {{run_{i.name}<false, 4>, run_{i.name}<true, 4>}},\n" for i in vector) + "};\n")

    majors = {}
    for i in instructions:
        majors.setdefault(i.mask_and_value()[1] & 127, []).append(i)
    text = "switch (word & 127) {\n"
    for major, group in sorted(majors.items()):
        text += f"case {major:#x}:\n"
        for i in sorted(group, key=lambda i: (-bin(i.mask_and_value()[0]).count("1"), i.name)):
            mask, value = i.mask_and_value()
            leader = index[i.name]
            text += f"  if ((word & {mask:#010x}u) == {value:#010x}u) {{ {i.decode()} return found({'true' if leader.vector else 'false'}, {number[leader.name]}); }}  // {i.mnemonic}\n"
        text += "  break;\n"
    write("decode.inc", text + "}\n")


main()
