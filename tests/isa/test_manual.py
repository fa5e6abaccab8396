"""The manual names every instruction, and draws its encoding."""
from records import BUILD, instructions


def test_every_instruction_is_in_the_manual():
    text = (BUILD / "docs/isa.md").read_text()
    for i in instructions():
        assert f"\n### `{i.record['Mnemonic']} " in text or f"\n### `{i.record['Mnemonic']}`" in text, i.name


def test_an_encoding_as_the_specification_draws_it():
    """RISC-V's B-type, whose immediate is in four pieces."""
    text = (BUILD / "docs/isa.md").read_text()
    entry = text[text.index("### `beq "):text.index("### `bne ")]
    assert "|imm[12]|imm[10:5]| rs2 | rs1 | 000 |imm[4:1]|imm[11]|1100011|" in entry
