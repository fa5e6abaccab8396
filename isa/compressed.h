// Compressed instructions (RVC), each as the 32-bit instruction it stands for: what the model executes and the disassembler shows. The
// compiler never makes them; libraries and stock toolchains do.
#pragma once
#include <cstdint>

namespace compressed {

constexpr uint32_t bits(uint32_t word, int high, int low) { return word >> low & ((1u << (high - low + 1)) - 1); }
constexpr uint32_t bit(uint32_t word, int from, int to) { return (word >> from & 1) << to; }
constexpr int32_t extend(uint32_t value, int width) { return int32_t(value << (32 - width)) >> (32 - width); }

inline uint32_t i_type(uint32_t opcode, uint32_t funct3, uint32_t rd, uint32_t rs1, int32_t imm) {
  return uint32_t(imm) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
inline uint32_t s_type(uint32_t funct3, uint32_t rs1, uint32_t rs2, uint32_t imm) {
  return bits(imm, 11, 5) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | bits(imm, 4, 0) << 7 | 0x23;
}
inline uint32_t r_type(uint32_t opcode, uint32_t funct7, uint32_t funct3, uint32_t rd, uint32_t rs1, uint32_t rs2) {
  return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
inline uint32_t b_type(uint32_t funct3, uint32_t rs1, uint32_t rs2, int32_t imm) {
  return bit(imm, 12, 31) | bits(imm, 10, 5) << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | bits(imm, 4, 1) << 8 | bit(imm, 11, 7) | 0x63;
}
inline uint32_t j_type(uint32_t rd, int32_t imm) {
  return bit(imm, 20, 31) | bits(imm, 10, 1) << 21 | bit(imm, 11, 20) | bits(imm, 19, 12) << 12 | rd << 7 | 0x6f;
}

inline constexpr uint32_t op_imm = 0x13, op_imm32 = 0x1b, op = 0x33, op32 = 0x3b, load = 0x03;

// 0 for what is none of RV64C without floats.
inline uint32_t expand(uint16_t c) {
  uint32_t rd = bits(c, 11, 7), rs2 = bits(c, 6, 2), rd_short = bits(c, 4, 2) + 8, rs1_short = bits(c, 9, 7) + 8;
  int32_t imm6 = extend(bit(c, 12, 5) | bits(c, 6, 2), 6);
  uint32_t shift = bit(c, 12, 5) | bits(c, 6, 2);
  uint32_t word_offset = bits(c, 12, 10) << 3 | bit(c, 6, 2) | bit(c, 5, 6), double_offset = bits(c, 12, 10) << 3 | bits(c, 6, 5) << 6;
  switch (bits(c, 1, 0) << 3 | bits(c, 15, 13)) {
  case 0b00'000: { // c.addi4spn
    uint32_t imm = bits(c, 12, 11) << 4 | bits(c, 10, 7) << 6 | bit(c, 6, 2) | bit(c, 5, 3);
    return imm ? i_type(op_imm, 0, rd_short, 2, int32_t(imm)) : 0;
  }
  case 0b00'010:
    return i_type(load, 2, rd_short, rs1_short, int32_t(word_offset)); // c.lw
  case 0b00'011:
    return i_type(load, 3, rd_short, rs1_short, int32_t(double_offset)); // c.ld
  case 0b00'110:
    return s_type(2, rs1_short, rd_short, word_offset); // c.sw
  case 0b00'111:
    return s_type(3, rs1_short, rd_short, double_offset); // c.sd
  case 0b01'000:
    return i_type(op_imm, 0, rd, rd, imm6); // c.addi, c.nop
  case 0b01'001:
    return rd ? i_type(op_imm32, 0, rd, rd, imm6) : 0; // c.addiw
  case 0b01'010:
    return i_type(op_imm, 0, rd, 0, imm6); // c.li
  case 0b01'011: {
    if (rd == 2) { // c.addi16sp
      int32_t imm = extend(bit(c, 12, 9) | bit(c, 6, 4) | bit(c, 5, 6) | bits(c, 4, 3) << 7 | bit(c, 2, 5), 10);
      return imm ? i_type(op_imm, 0, 2, 2, imm) : 0;
    }
    return imm6 ? uint32_t(imm6) << 12 | rd << 7 | 0x37 : 0; // c.lui
  }
  case 0b01'100: {
    uint32_t r = rs1_short;
    switch (bits(c, 11, 10)) {
    case 0:
      return i_type(op_imm, 5, r, r, int32_t(shift)); // c.srli
    case 1:
      return i_type(op_imm, 5, r, r, int32_t(shift | 0x400)); // c.srai
    case 2:
      return i_type(op_imm, 7, r, r, imm6); // c.andi
    }
    switch (bit(c, 12, 2) | bits(c, 6, 5)) {
    case 0:
      return r_type(op, 0x20, 0, r, r, rd_short); // c.sub
    case 1:
      return r_type(op, 0, 4, r, r, rd_short); // c.xor
    case 2:
      return r_type(op, 0, 6, r, r, rd_short); // c.or
    case 3:
      return r_type(op, 0, 7, r, r, rd_short); // c.and
    case 4:
      return r_type(op32, 0x20, 0, r, r, rd_short); // c.subw
    case 5:
      return r_type(op32, 0, 0, r, r, rd_short); // c.addw
    default:
      return 0;
    }
  }
  case 0b01'101: // c.j
    return j_type(0, extend(bit(c, 12, 11) | bit(c, 11, 4) | bits(c, 10, 9) << 8 | bit(c, 8, 10) | bit(c, 7, 6) | bit(c, 6, 7) |
                                bits(c, 5, 3) << 1 | bit(c, 2, 5),
                            12));
  case 0b01'110:
  case 0b01'111: // c.beqz, c.bnez
    return b_type(bits(c, 13, 13), rs1_short, 0,
                  extend(bit(c, 12, 8) | bits(c, 11, 10) << 3 | bits(c, 6, 5) << 6 | bits(c, 4, 3) << 1 | bit(c, 2, 5), 9));
  case 0b10'000:
    return i_type(op_imm, 1, rd, rd, int32_t(shift)); // c.slli
  case 0b10'010:
    return rd ? i_type(load, 2, rd, 2, int32_t(bit(c, 12, 5) | bits(c, 6, 4) << 2 | bits(c, 3, 2) << 6)) : 0; // c.lwsp
  case 0b10'011:
    return rd ? i_type(load, 3, rd, 2, int32_t(bit(c, 12, 5) | bits(c, 6, 5) << 3 | bits(c, 4, 2) << 6)) : 0; // c.ldsp
  case 0b10'100:
    if (!bit(c, 12, 0))
      return rs2 ? r_type(op, 0, 0, rd, 0, rs2) : rd ? i_type(0x67, 0, 0, rd, 0) : 0; // c.mv, c.jr
    if (rs2)
      return r_type(op, 0, 0, rd, rd, rs2);             // c.add
    return rd ? i_type(0x67, 0, 1, rd, 0) : 0x00100073; // c.jalr, c.ebreak
  case 0b10'110:
    return s_type(2, 2, rs2, bits(c, 12, 9) << 2 | bits(c, 8, 7) << 6); // c.swsp
  case 0b10'111:
    return s_type(3, 2, rs2, bits(c, 12, 10) << 3 | bits(c, 9, 7) << 6); // c.sdsp
  default:
    return 0; // c.fld and its like: floats live in the integer registers
  }
}

} // namespace compressed
