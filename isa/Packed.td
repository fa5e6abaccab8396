// Packed arithmetic: a whole register as 64 lanes of 16 bits or 128 lanes of 8. Then 8-bit floats, which live in 32-bit lanes, and movements of data.
//
// They fill functions of custom-0 and custom-2 that Vector.td leaves free. A compare writes one mask bit a lane, 64 or 128, and clears the others.
// f16 and bf16 are computed in f32 and rounded once more: for one addition, product, quotient or root that gives the bits of rounding the exact result once, because
// f32's 24 bits are at least twice an f16's 11 plus 2 and a sum or product as small as a subnormal f16 is exact in f32. For a bf16, whose subnormals are f32's too,
// the rounding in f32 is 16 bits finer than the last one, and no quotient or product of 8-bit significands lies so near the middle of two bf16. A fused multiply-add
// needs more: lane::fma_odd.

// The lanes of a view: of `i16` 64, of `u8` 128.
class Lanes<string view> {
  int Count = !if(!or(!eq(view, "i8"), !eq(view, "u8")), 128, 64);
  string Loop = "for (int i = 0; i < " # Count # "; ++i) ";
  string Result = !if(!eq(Count, 128), "u8", "u16");
}

// ---- Integers -------------------------------------------------------------------------------------------------------
// `value` computes a lane from a and b; C++'s promotion makes both an int.
class Packed2<bits<7> funct7, string operation, string view, Timing timing, string doc, string value>
    : VVV<funct7, 1, operation # "." # view, timing, doc,
          Lanes<view>.Loop # "{ int a = vs1." # view # "[i], b = vs2." # view # "[i]; vd." # Lanes<view>.Result # "[i] = (uint" # !substr(view, 1) # "_t)(" # value # "); }">;
foreach width = [16, 8] in {
  defvar first = !if(!eq(width, 16), 64, 96);
  defvar signed = "i" # width;
  defvar unsigned = "u" # width;
  defvar last = !sub(width, 1);
  let isCommutable = 1 in {
  def VADD_I#width : Packed2<first, "vadd", signed, VSimple, "Adds.", "a + b">;
  def VSADD_I#width : Packed2<!add(first, 1), "vsadd", signed, VSimple, "Adds, signed, saturating.", "lane::saturate<int" # width # "_t>(a + b)">;
  def VSADD_U#width : Packed2<!add(first, 2), "vsadd", unsigned, VSimple, "Adds, unsigned, saturating.", "lane::saturate<uint" # width # "_t>(a + b)">;
  def VMIN_I#width : Packed2<!add(first, 3), "vmin", signed, VCompare, "The lesser, signed.", "a < b ? a : b">;
  def VMAX_I#width : Packed2<!add(first, 4), "vmax", signed, VCompare, "The greater, signed.", "a > b ? a : b">;
  def VMIN_U#width : Packed2<!add(first, 5), "vmin", unsigned, VCompare, "The lesser, unsigned.", "a < b ? a : b">;
  def VMAX_U#width : Packed2<!add(first, 6), "vmax", unsigned, VCompare, "The greater, unsigned.", "a > b ? a : b">;
  def VMUL_I#width : Packed2<!add(first, 7), "vmul", signed, VMulAdd, "Multiplies; the low half.", "a * b">;
  def VAVG_I#width : Packed2<!add(first, 8), "vavg", signed, VSimple, "The average, signed; a half rounds up.", "(a + b + 1) >> 1">;
  def VAVG_U#width : Packed2<!add(first, 9), "vavg", unsigned, VSimple, "The average, unsigned; a half rounds up.", "(a + b + 1) >> 1">;
  }
  def VSUB_I#width : Packed2<!add(first, 10), "vsub", signed, VSimple, "Subtracts.", "a - b">;
  def VSSUB_I#width : Packed2<!add(first, 11), "vssub", signed, VSimple, "Subtracts, signed, saturating.", "lane::saturate<int" # width # "_t>(a - b)">;
  def VSSUB_U#width : Packed2<!add(first, 12), "vssub", unsigned, VSimple, "Subtracts, unsigned, saturating.", "lane::saturate<uint" # width # "_t>(a - b)">;
  def VSLL_I#width : Packed2<!add(first, 13), "vsll", signed, VSimple, "Shifts left by the second, mod the lane's width.", "a << (b & " # last # ")">;
  def VSRL_I#width : VVV<!add(first, 14), 1, "vsrl." # signed, VSimple, "Shifts right by the second, mod the lane's width, filling with zeros.",
                        Lanes<signed>.Loop # "vd." # unsigned # "[i] = (uint" # width # "_t)(vs1." # unsigned # "[i] >> (vs2." # unsigned # "[i] & " # last # "));">;
  def VSRA_I#width : Packed2<!add(first, 15), "vsra", signed, VSimple, "Shifts right by the second, mod the lane's width, filling with the sign.", "a >> (b & " # last # ")">;
}
let isCommutable = 1 in {
def VMULH_I16 : Packed2<80, "vmulh", "i16", VMulAdd, "Multiplies, signed; the high half.", "(a * b) >> 16">;
def VMULH_U16 : Packed2<81, "vmulh", "u16", VMulAdd, "Multiplies, unsigned; the high half.", "((uint32_t)a * (uint32_t)b) >> 16">;
}

// One source. `sub` stands where the second source would.
class Packed1<bits<5> sub, string mnemonic, Timing timing, string doc, string semantics> : VV<sub, mnemonic, timing, doc, semantics> { let Inst{31-25} = 32; }
def VABS_I16 : Packed1<0, "vabs.i16", VSimple, "Magnitude; the least integer stays.", "for (int i = 0; i < 64; ++i) { int a = vs1.i16[i]; vd.u16[i] = (uint16_t)(a < 0 ? -a : a); }">;
def VABS_I8 : Packed1<1, "vabs.i8", VSimple, "Magnitude; the least integer stays.", "for (int i = 0; i < 128; ++i) { int a = vs1.i8[i]; vd.u8[i] = (uint8_t)(a < 0 ? -a : a); }">;

// Two registers into one, the lanes of the first below, those of the second above, saturating.
class VPackSaturated<bits<7> funct7, string from, string to, string doc>
    : VVV<funct7, 2, "vpacks." # to, VConvert, doc,
          "Vector t; for (int i = 0; i < " # !if(!eq(from, "i32"), 32, 64) # "; ++i) { t." # to # "[i] = lane::saturate<" # !if(!eq(!substr(to, 0, 1), "u"), "uint", "int") # !substr(to, 1) #
          "_t>(vs1." # from # "[i]); t." # to # "[" # !if(!eq(from, "i32"), 32, 64) # " + i] = lane::saturate<" # !if(!eq(!substr(to, 0, 1), "u"), "uint", "int") # !substr(to, 1) # "_t>(vs2." # from #
          "[i]); } vd = t;">;
def VPACKS_I16 : VPackSaturated<20, "i32", "i16", "Two registers of i32 to 64 lanes of signed 16 bits, saturating.">;
def VPACKS_U16 : VPackSaturated<21, "i32", "u16", "Two registers of i32 to 64 lanes of unsigned 16 bits, saturating: below 0 gives 0.">;
def VPACKS_I8 : VPackSaturated<22, "i16", "i8", "Two registers of i16 to 128 lanes of signed 8 bits, saturating.">;
def VPACKS_U8 : VPackSaturated<23, "i16", "u8", "Two registers of i16 to 128 lanes of unsigned 8 bits, saturating: below 0 gives 0.">;

// ---- 16-bit floats --------------------------------------------------------------------------------------------------
class Half2<bits<7> funct7, string operation, string format, Timing timing, string doc, string value>
    : VVV<funct7, 0, operation # "." # format, timing, doc,
          "for (int i = 0; i < 64; ++i) { float a = fp::from_" # format # "(vs1.u16[i]), b = fp::from_" # format # "(vs2.u16[i]); vd.u16[i] = fp::to_" # format # "(" # value # "); }">;
// By their bits: `format` gives those of infinity and of the NaN.
class HalfOrder<bits<7> funct7, string operation, string format, string doc, string choice>
    : VVV<funct7, 0, operation # "." # format, VCompare, doc, "for (int i = 0; i < 64; ++i) vd.u16[i] = lane::" # choice # "16<lane::" # format # ">(vs1.u16[i], vs2.u16[i]);">;
foreach format = ["f16", "bf16"] in {
  defvar first = !if(!eq(format, "f16"), 32, 48);
  defvar F = !toupper(format);
  let isCommutable = 1 in {
  def VADD_#F : Half2<first, "vadd", format, VFloat, "Adds, rounded once.", "a + b">;
  def VMUL_#F : Half2<!add(first, 1), "vmul", format, VFloat, "Multiplies, rounded once.", "a * b">;
  def VMIN_#F : HalfOrder<!add(first, 2), "vmin", format, "The lesser; of a number and a NaN, the number; -0 is less than +0.", "minimum_number">;
  def VMAX_#F : HalfOrder<!add(first, 3), "vmax", format, "The greater; of a number and a NaN, the number; -0 is less than +0.", "maximum_number">;
  def VMINIMUM_#F : HalfOrder<!add(first, 4), "vminimum", format, "The lesser, or NaN if either is NaN; -0 is less than +0.", "minimum">;
  def VMAXIMUM_#F : HalfOrder<!add(first, 5), "vmaximum", format, "The greater, or NaN if either is NaN; -0 is less than +0.", "maximum">;
  }
  def VSUB_#F : Half2<!add(first, 6), "vsub", format, VFloat, "Subtracts, rounded once.", "a - b">;
  def VDIV_#F : Half2<!add(first, 7), "vdiv", format, VDivide, "Divides, correctly rounded.", "a / b">;
}
// Of both formats: only bits are touched.
def VCOPYSIGN_16 : VVV<40, 0, "vcopysign.16", VSimple, "The first with the sign of the second: 64 lanes of f16 or bf16.",
                       "for (int i = 0; i < 64; ++i) vd.u16[i] = (uint16_t)((vs1.u16[i] & 0x7fff) | (vs2.u16[i] & 0x8000));">;
def VNEG_16 : Packed1<2, "vneg.16", VSimple, "Changes the sign: 64 lanes of f16 or bf16.", "for (int i = 0; i < 64; ++i) vd.u16[i] = (uint16_t)(vs1.u16[i] ^ 0x8000);">;
def VABS_16 : Packed1<3, "vabs.16", VSimple, "Clears the sign: 64 lanes of f16 or bf16.", "for (int i = 0; i < 64; ++i) vd.u16[i] = (uint16_t)(vs1.u16[i] & 0x7fff);">;
def VSQRT_F16 : Packed1<4, "vsqrt.f16", VDivide, "Square root, correctly rounded.", "for (int i = 0; i < 64; ++i) vd.u16[i] = fp::to_f16(std::sqrt(fp::from_f16(vs1.u16[i])));">;
def VSQRT_BF16 : Packed1<5, "vsqrt.bf16", VDivide, "Square root, correctly rounded.", "for (int i = 0; i < 64; ++i) vd.u16[i] = fp::to_bf16(std::sqrt(fp::from_bf16(vs1.u16[i])));">;
let isCommutable = 1 in {
def VFMA_F16 : VVVV<15, "vfma.f16", VMulAdd, "a * b + c, rounded once.",
                    "for (int i = 0; i < 64; ++i) vd.u16[i] = fp::to_f16(lane::fma_odd(fp::from_f16(vs1.u16[i]), fp::from_f16(vs2.u16[i]), fp::from_f16(vs3.u16[i])));">;
def VFMA_BF16 : VVVV<25, "vfma.bf16", VMulAdd, "a * b + c, rounded once.",
                     "for (int i = 0; i < 64; ++i) { double a = fp::from_bf16(vs1.u16[i]), b = fp::from_bf16(vs2.u16[i]), c = fp::from_bf16(vs3.u16[i]); vd.u16[i] = fp::to_bf16(lane::fma_odd(a, b, c)); }">;
}

// ---- Compares and select --------------------------------------------------------------------------------------------
class PackedCmp<bits<7> funct7, string mnemonic, int count, string doc, string operands, string value>
    : FormatV<OpVector, funct7, 3, (outs MR:$md), (ins VR:$vs1, VR:$vs2), mnemonic, "$md, $vs1, $vs2", VCompare, doc,
              "md.lanes<" # count # ">([&](int i) { " # operands # " return " # value # "; });"> {
  bits<3> md;
  bits<5> vs1;
  bits<5> vs2;
  let D{2-0} = md;
  let A = vs1;
  let B = vs2;
}
class IntCmp<bits<7> funct7, string operation, string view, string doc, string value>
    : PackedCmp<funct7, operation # "." # view, Lanes<view>.Count, doc, "auto a = vs1." # view # "[i], b = vs2." # view # "[i];", value>;
foreach width = [16, 8] in {
  defvar first = !if(!eq(width, 16), 32, 40);
  def VCMPEQ_I#width : IntCmp<first, "vcmpeq", "i" # width, "Equal.", "a == b">;
  def VCMPNE_I#width : IntCmp<!add(first, 1), "vcmpne", "i" # width, "Not equal.", "a != b">;
  def VCMPLT_I#width : IntCmp<!add(first, 2), "vcmplt", "i" # width, "Less, signed.", "a < b">;
  def VCMPLE_I#width : IntCmp<!add(first, 3), "vcmple", "i" # width, "Less or equal, signed.", "a <= b">;
  def VCMPLT_U#width : IntCmp<!add(first, 4), "vcmplt", "u" # width, "Less, unsigned.", "a < b">;
  def VCMPLE_U#width : IntCmp<!add(first, 5), "vcmple", "u" # width, "Less or equal, unsigned.", "a <= b">;
}
class HalfCmp<bits<7> funct7, string operation, string format, string doc, string value>
    : PackedCmp<funct7, operation # "." # format, 64, doc, "float a = fp::from_" # format # "(vs1.u16[i]), b = fp::from_" # format # "(vs2.u16[i]);", value>;
foreach format = ["f16", "bf16"] in {
  defvar first = !if(!eq(format, "f16"), 48, 52);
  defvar F = !toupper(format);
  def VCMPEQ_#F : HalfCmp<first, "vcmpeq", format, "Equal; not of NaNs.", "a == b">;
  def VCMPLT_#F : HalfCmp<!add(first, 1), "vcmplt", format, "Less.", "a < b">;
  def VCMPLE_#F : HalfCmp<!add(first, 2), "vcmple", format, "Less or equal.", "a <= b">;
  def VCMPUN_#F : HalfCmp<!add(first, 3), "vcmpun", format, "Either is NaN.", "(a != a) | (b != b)">;
}
class PackedSelect<bits<5> funct, int width, int count>
    : FormatV4<funct, (outs VR:$vd), (ins MR:$ms1, VR:$vs1, VR:$vs2), "vsel." # width, "$vd, $ms1, $vs1, $vs2", VCompare,
               "Where the mask is set the first, else the second; " # count # " lanes of " # width # " bits.",
               "int8_t set[" # count # "]; ms1.spread(set); for (int i = 0; i < " # count # "; ++i) { auto a = vs1.u" # width # "[i], b = vs2.u" # width # "[i]; vd.u" # width # "[i] = set[i] ? a : b; }"> {
  bits<5> vd;
  bits<3> ms1;
  bits<5> vs1;
  bits<5> vs2;
  let D = vd;
  let A = vs1;
  let B = vs2;
  let C{2-0} = ms1;
}
def VSEL_16 : PackedSelect<21, 16, 64>;
def VSEL_8 : PackedSelect<22, 8, 128>;

// ---- Lanes ----------------------------------------------------------------------------------------------------------
def VIOTA_I16 : FormatV<OpVector, 34, 5, (outs VR:$vd), (ins), "viota.i16", "$vd", VSimple, "Lane i of 16 bits becomes i.", "for (int i = 0; i < 64; ++i) vd.u16[i] = (uint16_t)i;"> {
  bits<5> vd;
  let D = vd;
  let isReMaterializable = 1;
}
def VIOTA_I8 : FormatV<OpVector, 35, 5, (outs VR:$vd), (ins), "viota.i8", "$vd", VSimple, "Lane i of 8 bits becomes i.", "for (int i = 0; i < 128; ++i) vd.u8[i] = (uint8_t)i;"> {
  bits<5> vd;
  let D = vd;
  let isReMaterializable = 1;
}
// The number of the lane: in a register, or 6 or 7 bits, of which the function field's low bits are the upper ones.
class PackedExtract<bits<7> funct7, int width, dag index, string assembly, string doc, string lane>
    : FormatV<OpVector, funct7, 5, (outs GPR:$rd), !con((ins VR:$vs1), index), "vextract." # width, assembly, VScalarMove, doc, "rd = (int64_t)vs1.i" # width # "[" # lane # "];"> {
  bits<5> rd;
  bits<5> vs1;
  let D = rd;
  let A = vs1;
}
def VEXTRACT_16_X : PackedExtract<36, 16, (ins GPR:$rs2), "$rd, $vs1, $rs2", "A lane of 16 bits, sign-extended; its number, mod 64, in a register.", "rs2 & 63"> { bits<5> rs2; let B = rs2; }
def VEXTRACT_8_X : PackedExtract<37, 8, (ins GPR:$rs2), "$rd, $vs1, $rs2", "A lane of 8 bits, sign-extended; its number, mod 128, in a register.", "rs2 & 127"> { bits<5> rs2; let B = rs2; }
def VEXTRACT_16_I : PackedExtract<40, 16, (ins uimm6:$imm), "$rd, $vs1, $imm", "A lane of 16 bits, sign-extended.", "imm"> {
  bits<6> imm;
  let B = imm{4-0};
  let Inst{25} = imm{5};
}
def VEXTRACT_8_I : PackedExtract<44, 8, (ins uimm7:$imm), "$rd, $vs1, $imm", "A lane of 8 bits, sign-extended.", "imm"> {
  bits<7> imm;
  let B = imm{4-0};
  let Inst{26-25} = imm{6-5};
}
let Constraints = "$vd = $vs1" in {
class PackedInsert<bits<7> funct7, int width, dag index, string assembly, string doc, string lane>
    : FormatV<OpVector, funct7, 5, (outs VR:$vd), !con((ins VR:$vs1, GPR:$rs1), index), "vinsert." # width, assembly, VScalarMove, doc,
              "vd.u" # width # "[" # lane # "] = (uint" # width # "_t)rs1;"> {
  bits<5> vd;
  bits<5> rs1;
  let D = vd;
  let A = rs1;
}
def VINSERT_16_X : PackedInsert<38, 16, (ins GPR:$rs2), "$vd, $rs1, $rs2", "Replaces a lane of 16 bits; its number, mod 64, in a register.", "rs2 & 63"> { bits<5> rs2; let B = rs2; }
def VINSERT_8_X : PackedInsert<39, 8, (ins GPR:$rs2), "$vd, $rs1, $rs2", "Replaces a lane of 8 bits; its number, mod 128, in a register.", "rs2 & 127"> { bits<5> rs2; let B = rs2; }
def VINSERT_16_I : PackedInsert<42, 16, (ins uimm6:$imm), "$vd, $rs1, $imm", "Replaces a lane of 16 bits.", "imm"> {
  bits<6> imm;
  let B = imm{4-0};
  let Inst{25} = imm{5};
}
def VINSERT_8_I : PackedInsert<48, 8, (ins uimm7:$imm), "$vd, $rs1, $imm", "Replaces a lane of 8 bits.", "imm"> {
  bits<7> imm;
  let B = imm{4-0};
  let Inst{26-25} = imm{6-5};
}
}
def VPERM_16 : VVV<52, 5, "vperm.16", VPermute, "Lane i of 16 bits of the result is lane vs2[i] mod 64 of the first.",
                   "Vector a = vs1, n = vs2; for (int i = 0; i < 64; ++i) vd.u16[i] = a.u16[n.u16[i] & 63];">;
def VPERM_8 : VVV<53, 5, "vperm.8", VPermute, "Byte i of the result is byte vs2[i] mod 128 of the first.",
                  "Vector a = vs1, n = vs2; for (int i = 0; i < 128; ++i) vd.u8[i] = a.u8[n.u8[i] & 127];">;

// Lanes chosen by a mask go to, or come from, the low lanes, in their order.
class VCompression<bits<7> funct7, string mnemonic, string doc, string step>
    : FormatV<OpVector, funct7, 5, (outs VR:$vd), (ins VR:$vs1, MR:$ms1), mnemonic, "$vd, $vs1, $ms1", VPermute, doc,
              "Vector t = {}; int n = 0; for (int i = 0; i < 32; ++i) if (ms1.get(i)) " # step # " vd = t;"> {
  bits<5> vd;
  bits<5> vs1;
  bits<3> ms1;
  let D = vd;
  let A = vs1;
  let B{2-0} = ms1;
}
def VCOMPRESS_32 : VCompression<54, "vcompress.32", "The lanes of 32 bits whose mask bit is set, in the low lanes; the others 0.", "t.u32[n++] = vs1.u32[i];">;
def VEXPAND_32 : VCompression<55, "vexpand.32", "The low lanes of 32 bits, in the lanes whose mask bit is set; the others 0.", "t.u32[i] = vs1.u32[n++];">;

// One step of a transposition. Blocks of 2^imm bytes; with imm = 7 a block is a register. With e = 2^imm / (bytes of an element): after steps of e = 1, 2, 4, ... on rows that lie e apart
// a square matrix, one row a register, is transposed.
class VTransposition<bits<5> funct, string mnemonic, string doc, string small, string large>
    : FormatV4<funct, (outs VR:$vd), (ins VR:$vs1, VR:$vs2, uimm3:$imm), mnemonic, "$vd, $vs1, $vs2, $imm", VPermute, doc,
              "Vector a = vs1, b = vs2; if (imm < 3) { int s = 8 << imm; uint64_t even = ~0ull / ((1ull << s) + 1); for (int i = 0; i < 16; ++i) vd.u64[i] = " # small #
              "; } else { int w = 1 << (imm - 3); for (int i = 0; i < 16; ++i) vd.u64[i] = " # large # "; }"> {
  bits<5> vd;
  bits<5> vs1;
  bits<5> vs2;
  bits<3> imm;
  let D = vd;
  let A = vs1;
  let B = vs2;
  let C{2-0} = imm;
}
def VTRNLO : VTransposition<23, "vtrnlo", "Blocks of 2^imm bytes: even block i is block i of the first, odd block i is block i - 1 of the second.",
                            "(a.u64[i] & even) | (b.u64[i] & even) << s", "i & w ? b.u64[i - w] : a.u64[i]">;
def VTRNHI : VTransposition<24, "vtrnhi", "Blocks of 2^imm bytes: odd block i is block i of the second, even block i is block i + 1 of the first; with imm = 7 the result is the second.",
                            "((a.u64[i] >> s) & even) | (b.u64[i] & ~even)", "i & w || w == 16 ? b.u64[i] : a.u64[i + w]">;

// Interleaving, and the inverse: `imm` chooses the lower or upper halves, the even or odd lanes. It is the function field's low bit.
class VInterleaving<bits<7> funct7, string mnemonic, string doc, int half, string semantics>
    : FormatV<OpVector, funct7, 5, (outs VR:$vd), (ins VR:$vs1, VR:$vs2, uimm1:$imm), mnemonic, "$vd, $vs1, $vs2, $imm", VPermute, doc,
              "Vector a = vs1, b = vs2; for (int i = 0; i < " # half # "; ++i) { " # semantics # " }"> {
  bits<5> vd;
  bits<5> vs1;
  bits<5> vs2;
  bits<1> imm;
  let D = vd;
  let A = vs1;
  let B = vs2;
  let Inst{25} = imm;
}
foreach n = [0, 1, 2] in {
  defvar width = !shl(8, n);
  defvar half = !sra(64, n);
  defvar view = "u" # width;
  def VZIP_#width : VInterleaving<!add(56, !mul(2, n)), "vzip." # width,
                                  "Lanes of the sources in turn, one of the first, one of the second: those of the lower halves (0) or the upper (1).", half,
                                  "vd." # view # "[2 * i] = a." # view # "[" # half # " * imm + i]; vd." # view # "[2 * i + 1] = b." # view # "[" # half # " * imm + i];">;
  def VUNZIP_#width : VInterleaving<!add(62, !mul(2, n)), "vunzip." # width, "The even (0) or odd (1) lanes of the first, then those of the second.", half,
                                    "vd." # view # "[i] = a." # view # "[2 * i + imm]; vd." # view # "[" # half # " + i] = b." # view # "[2 * i + imm];">;
}

// ---- 8-bit floats: the low 8 bits of a 32-bit lane -------------------------------------------------------------------
def VCVT_F32_F8E4M3 : Packed1<6, "vcvt.f32.f8e4m3", VConvert, "From the E4M3 in the low 8 bits of each lane; exact.", lanes # "vd.f32[i] = fp::from_f8e4m3((uint8_t)vs1.u32[i]);">;
def VCVT_F32_F8E5M2 : Packed1<7, "vcvt.f32.f8e5m2", VConvert, "From the E5M2 in the low 8 bits of each lane; exact.", lanes # "vd.f32[i] = fp::from_f8e5m2((uint8_t)vs1.u32[i]);">;
def VCVT_F8E4M3_F32 : Packed1<8, "vcvt.f8e4m3.f32", VConvert,
                              "To E4M3, to nearest even, in the low 8 bits of each lane, the others 0. There is no infinity: what rounds beyond 448 is NaN, 0x7f as every NaN result.",
                              lanes # "vd.u32[i] = fp::to_f8e4m3(vs1.f32[i]);">;
def VCVT_F8E5M2_F32 : Packed1<9, "vcvt.f8e5m2.f32", VConvert,
                              "To E5M2, to nearest even, in the low 8 bits of each lane, the others 0. What rounds beyond 57344 is infinity; a NaN result is 0x7e.",
                              lanes # "vd.u32[i] = fp::to_f8e5m2(vs1.f32[i]);">;
