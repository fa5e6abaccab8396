// The vector unit: 32 lanes of f32 or i32, masks, and memory accesses that convert from and to narrower types.
//
// What happens in one lane beyond C++'s own operators is defined in lane.h, bit by bit. Every float result that is NaN is the canonical NaN; neg, abs,
// moves and select touch bits only. A 32-lane operation that writes a mask clears bits 32..127.

defvar lanes = "for (int i = 0; i < 32; ++i) ";

// ---- Two sources ----------------------------------------------------------------------------------------------------
class VVV<bits<7> funct7, bits<3> funct3, string mnemonic, Timing timing, string doc, string semantics, list<dag> pattern = []>
    : FormatV<OpVector, funct7, funct3, (outs VR:$vd), (ins VR:$vs1, VR:$vs2), mnemonic, "$vd, $vs1, $vs2", timing, doc, semantics, pattern> {
  bits<5> vd;
  bits<5> vs1;
  bits<5> vs2;
  let D = vd;
  let A = vs1;
  let B = vs2;
}
// `value` computes a lane from the sources' lanes a and b.
class VFloat2<bits<7> funct7, string mnemonic, Timing timing, string doc, string value, SDPatternOperator node = null_frag>
    : VVV<funct7, 0, mnemonic # ".f32", timing, doc, lanes # "{ float a = vs1.f32[i], b = vs2.f32[i]; vd.f32[i] = " # value # "; }",
          [(set v32f32:$vd, (node v32f32:$vs1, v32f32:$vs2))]>;
let isCommutable = 1 in {
def VADD_F32 : VFloat2<0, "vadd", VFloat, "Adds.", "canonical(a + b)", fadd>;
def VMUL_F32 : VFloat2<1, "vmul", VFloat, "Multiplies.", "canonical(a * b)", fmul>;
def VMIN_F32 : VFloat2<2, "vmin", VCompare, "The lesser; of a number and a NaN, the number; -0 is less than +0.", "lane::minimum_number(a, b)", fminnum>;
def VMAX_F32 : VFloat2<3, "vmax", VCompare, "The greater; of a number and a NaN, the number; -0 is less than +0.", "lane::maximum_number(a, b)", fmaxnum>;
def VMINIMUM_F32 : VFloat2<4, "vminimum", VCompare, "The lesser, or NaN if either is NaN; -0 is less than +0.", "lane::minimum(a, b)", fminimum>;
def VMAXIMUM_F32 : VFloat2<5, "vmaximum", VCompare, "The greater, or NaN if either is NaN; -0 is less than +0.", "lane::maximum(a, b)", fmaximum>;
}
def VSUB_F32 : VFloat2<6, "vsub", VFloat, "Subtracts.", "canonical(a - b)", fsub>;
def VDIV_F32 : VFloat2<7, "vdiv", VDivide, "Divides, correctly rounded.", "canonical(a / b)", fdiv>;
def VCOPYSIGN_F32 : VVV<8, 0, "vcopysign.f32", VSimple, "The first with the sign of the second.",
  lanes # "vd.u32[i] = (vs1.u32[i] & 0x7fffffffu) | (vs2.u32[i] & 0x80000000u);", [(set v32f32:$vd, (fcopysign v32f32:$vs1, v32f32:$vs2))]>;

class VInt2<bits<7> funct7, string mnemonic, Timing timing, string doc, string value, SDPatternOperator node = null_frag>
    : VVV<funct7, 1, mnemonic, timing, doc, lanes # "{ uint32_t a = vs1.u32[i], b = vs2.u32[i]; vd.u32[i] = (uint32_t)(" # value # "); }",
          [(set v32i32:$vd, (node v32i32:$vs1, v32i32:$vs2))]>;
let isCommutable = 1 in {
def VADD_I32 : VInt2<0, "vadd.i32", VSimple, "Adds.", "a + b", add>;
def VMUL_I32 : VInt2<1, "vmul.i32", VMulAdd, "Multiplies; the low half.", "a * b", mul>;
def VMULH_I32 : VInt2<2, "vmulh.i32", VMulAdd, "Multiplies, signed; the high half.", "((int64_t)(int32_t)a * (int32_t)b) >> 32", mulhs>;
def VMULH_U32 : VInt2<3, "vmulh.u32", VMulAdd, "Multiplies, unsigned; the high half.", "((uint64_t)a * b) >> 32", mulhu>;
def VMIN_I32 : VInt2<4, "vmin.i32", VCompare, "The lesser, signed.", "(int32_t)a < (int32_t)b ? a : b", smin>;
def VMAX_I32 : VInt2<5, "vmax.i32", VCompare, "The greater, signed.", "(int32_t)a > (int32_t)b ? a : b", smax>;
def VMIN_U32 : VInt2<6, "vmin.u32", VCompare, "The lesser, unsigned.", "a < b ? a : b", umin>;
def VMAX_U32 : VInt2<7, "vmax.u32", VCompare, "The greater, unsigned.", "a > b ? a : b", umax>;
def VAND : VInt2<8, "vand", VSimple, "And.", "a & b", and>;
def VOR : VInt2<9, "vor", VSimple, "Or.", "a | b", or>;
def VXOR : VInt2<10, "vxor", VSimple, "Exclusive or.", "a ^ b", xor>;
}
def VSUB_I32 : VInt2<11, "vsub.i32", VSimple, "Subtracts.", "a - b", sub>;
def VSLL_I32 : VInt2<12, "vsll.i32", VSimple, "Shifts left by the low 5 bits.", "a << (b & 31)", shl>;
def VSRL_I32 : VInt2<13, "vsrl.i32", VSimple, "Shifts right by the low 5 bits, filling with zeros.", "a >> (b & 31)", srl>;
def VSRA_I32 : VInt2<14, "vsra.i32", VSimple, "Shifts right by the low 5 bits, filling with the sign.", "(int32_t)a >> (b & 31)", sra>;
def VDIV_I32 : VInt2<15, "vdiv.i32", VDivide, "Divides, signed, towards zero; by zero gives -1, an overflow the dividend.",
                     "b == 0 ? ~0u : b == ~0u ? 0 - a : (uint32_t)((int32_t)a / (int32_t)b)", sdiv>;
def VDIV_U32 : VInt2<16, "vdiv.u32", VDivide, "Divides, unsigned; by zero gives all ones.", "b == 0 ? ~0u : a / b", udiv>;
def VREM_I32 : VInt2<17, "vrem.i32", VDivide, "Remainder, signed, with the dividend's sign; by zero gives the dividend.",
                     "b == 0 ? a : b == ~0u ? 0 : (uint32_t)((int32_t)a % (int32_t)b)", srem>;
def VREM_U32 : VInt2<18, "vrem.u32", VDivide, "Remainder, unsigned; by zero gives the dividend.", "b == 0 ? a : a % b", urem>;

// A vector and an immediate where the second source stands.
class VVI<bits<7> funct7, bits<3> funct3, string mnemonic, Timing timing, string doc, string semantics, Constant operand = uimm5>
    : FormatV<OpVector, funct7, funct3, (outs VR:$vd), (ins VR:$vs1, operand:$imm), mnemonic, "$vd, $vs1, $imm", timing, doc, semantics> {
  bits<5> vd;
  bits<5> vs1;
  bits<5> imm;
  let D = vd;
  let A = vs1;
  let B = imm;
}
def VSLLI_I32 : VVI<32, 1, "vslli.i32", VSimple, "Shifts left.", lanes # "vd.u32[i] = vs1.u32[i] << imm;">;
def VSRLI_I32 : VVI<33, 1, "vsrli.i32", VSimple, "Shifts right, filling with zeros.", lanes # "vd.u32[i] = vs1.u32[i] >> imm;">;
def VSRAI_I32 : VVI<34, 1, "vsrai.i32", VSimple, "Shifts right, filling with the sign.", lanes # "vd.i32[i] = vs1.i32[i] >> imm;">;

// ---- Three sources --------------------------------------------------------------------------------------------------
class VVVV<bits<5> funct, string mnemonic, Timing timing, string doc, string semantics, list<dag> pattern = []>
    : FormatV4<funct, (outs VR:$vd), (ins VR:$vs1, VR:$vs2, VR:$vs3), mnemonic, "$vd, $vs1, $vs2, $vs3", timing, doc, semantics, pattern> {
  bits<5> vd;
  bits<5> vs1;
  bits<5> vs2;
  bits<5> vs3;
  let D = vd;
  let A = vs1;
  let B = vs2;
  let C = vs3;
}
class VFma<bits<5> funct, string mnemonic, string doc, string value, dag pattern>
    : VVVV<funct, mnemonic # ".f32", VMulAdd, doc, lanes # "{ float a = vs1.f32[i], b = vs2.f32[i], c = vs3.f32[i]; vd.f32[i] = canonical(" # value # "); }",
           [(set v32f32:$vd, pattern)]> { let isCommutable = 1; }
def VFMA_F32 : VFma<0, "vfma", "a * b + c, rounded once.", "std::fma(a, b, c)", (fma v32f32:$vs1, v32f32:$vs2, v32f32:$vs3)>;
def VFMS_F32 : VFma<1, "vfms", "a * b - c, rounded once.", "std::fma(a, b, -c)", (fma v32f32:$vs1, v32f32:$vs2, (fneg v32f32:$vs3))>;
def VFNMA_F32 : VFma<2, "vfnma", "-(a * b) + c, rounded once.", "std::fma(-a, b, c)", (fma (fneg v32f32:$vs1), v32f32:$vs2, v32f32:$vs3)>;
def VFNMS_F32 : VFma<3, "vfnms", "-(a * b) - c, rounded once.", "std::fma(-a, b, -c)", (fma (fneg v32f32:$vs1), v32f32:$vs2, (fneg v32f32:$vs3))>;
let isCommutable = 1 in
def VMADD_I32 : VVVV<4, "vmadd.i32", VMulAdd, "a * b + c; the low half.", lanes # "vd.u32[i] = vs1.u32[i] * vs2.u32[i] + vs3.u32[i];",
                     [(set v32i32:$vd, (add (mul v32i32:$vs1, v32i32:$vs2), v32i32:$vs3))]>;
// Permutation of two registers: indices 0..31 name lanes of the first, 32..63 of the second.
def VPERM2 : VVVV<5, "vperm2", VPermute, "Lane i of the result is lane vs3[i] mod 64 of the first two sources, one after the other.",
                  "Vector a = vs1, b = vs2, n = vs3; for (int i = 0; i < 32; ++i) vd.u32[i] = n.u32[i] & 32 ? b.u32[n.u32[i] & 31] : a.u32[n.u32[i] & 31];">;
def VSEL : FormatV4<6, (outs VR:$vd), (ins MR:$ms1, VR:$vs1, VR:$vs2), "vsel", "$vd, $ms1, $vs1, $vs2", VCompare,
                    "Where the mask is set the first, else the second; 32 lanes of 32 bits.",
                    "int8_t set[32]; ms1.spread(set); for (int i = 0; i < 32; ++i) { auto a = vs1.u32[i], b = vs2.u32[i]; vd.u32[i] = set[i] ? a : b; }", [(set v32i32:$vd, (vselect v32i1:$ms1, v32i32:$vs1, v32i32:$vs2))]> {
  bits<5> vd;
  bits<3> ms1;
  bits<5> vs1;
  bits<5> vs2;
  let D = vd;
  let A = vs1;
  let B = vs2;
  let C{2-0} = ms1;
}
def : Pat<(v32f32 (vselect v32i1:$m, v32f32:$a, v32f32:$b)), (VSEL $m, $a, $b)>;
// The window of 32 lanes that starts at lane `imm` of two registers: slides and rotates.
def VALIGN : FormatV4<7, (outs VR:$vd), (ins VR:$vs1, VR:$vs2, uimm5:$imm), "valign", "$vd, $vs1, $vs2, $imm", VPermute,
                      "Lane i of the result is lane i + imm of the sources, one after the other.",
                      "Vector a = vs1, b = vs2; for (int i = 0; i < 32; ++i) vd.u32[i] = i + imm < 32 ? a.u32[i + imm] : b.u32[i + imm - 32];"> {
  bits<5> vd;
  bits<5> vs1;
  bits<5> vs2;
  bits<5> imm;
  let D = vd;
  let A = vs1;
  let B = vs2;
  let C = imm;
}

// ---- One source -----------------------------------------------------------------------------------------------------
class VV<bits<5> sub, string mnemonic, Timing timing, string doc, string semantics, list<dag> pattern = []>
    : FormatV<OpVector, 0, 2, (outs VR:$vd), (ins VR:$vs1), mnemonic, "$vd, $vs1", timing, doc, semantics, pattern> {
  bits<5> vd;
  bits<5> vs1;
  let D = vd;
  let A = vs1;
  let B = sub;
}
class VFloat1<bits<5> sub, string mnemonic, Timing timing, string doc, string value, SDPatternOperator node = null_frag>
    : VV<sub, mnemonic # ".f32", timing, doc, lanes # "{ float a = vs1.f32[i]; vd.f32[i] = " # value # "; }", [(set v32f32:$vd, (node v32f32:$vs1))]>;
def VMOV : VV<0, "vmov", VSimple, "Copies a register.", "vd = vs1;"> { let isMoveReg = 1; }
def VNEG_F32 : VV<1, "vneg.f32", VSimple, "Changes the sign.", lanes # "vd.u32[i] = vs1.u32[i] ^ 0x80000000u;", [(set v32f32:$vd, (fneg v32f32:$vs1))]>;
def VABS_F32 : VV<2, "vabs.f32", VSimple, "Clears the sign.", lanes # "vd.u32[i] = vs1.u32[i] & 0x7fffffffu;", [(set v32f32:$vd, (fabs v32f32:$vs1))]>;
def VSQRT_F32 : VFloat1<3, "vsqrt", VDivide, "Square root, correctly rounded.", "canonical(std::sqrt(a))", fsqrt>;
def VFLOOR_F32 : VFloat1<4, "vfloor", VConvert, "Rounds to an integer, down.", "canonical(std::floor(a))", ffloor>;
def VCEIL_F32 : VFloat1<5, "vceil", VConvert, "Rounds to an integer, up.", "canonical(std::ceil(a))", fceil>;
def VTRUNC_F32 : VFloat1<6, "vtrunc", VConvert, "Rounds to an integer, towards zero.", "canonical(std::trunc(a))", ftrunc>;
def VRINT_F32 : VFloat1<7, "vrint", VConvert, "Rounds to an integer, to nearest even.", "canonical(lane::round_even(a))", froundeven>;
def VROUND_F32 : VFloat1<8, "vround", VConvert, "Rounds to an integer, to nearest, ties away from zero.", "canonical(std::round(a))", fround>;
def VRCP_F32 : VFloat1<9, "vrcp", VTranscendental, "1 / a, correctly rounded.", "canonical(1.0f / a)">;
def VRSQRT_F32 : VFloat1<10, "vrsqrt", VTranscendental, "1 / sqrt(a), each step rounded: within 1.5 ulp.", "canonical(1.0f / std::sqrt(a))">;
def VEXP2_F32 : VFloat1<11, "vexp2", VTranscendental, "2 to the power of a; see lane.h.", "lane::exp2(a)", fexp2>;
def VLOG2_F32 : VFloat1<12, "vlog2", VTranscendental, "Binary logarithm; see lane.h.", "lane::log2(a)", flog2>;
def VTANH_F32 : VFloat1<13, "vtanh", VTranscendental, "Hyperbolic tangent; see lane.h.", "lane::tanh(a)", ftanh>;
def VNOT : VV<14, "vnot", VSimple, "Complement.", lanes # "vd.u32[i] = ~vs1.u32[i];", [(set v32i32:$vd, (vnot v32i32:$vs1))]>;
def VABS_I32 : VV<15, "vabs.i32", VSimple, "Magnitude; the least integer stays.", lanes # "vd.u32[i] = vs1.i32[i] < 0 ? 0u - vs1.u32[i] : vs1.u32[i];",
                  [(set v32i32:$vd, (abs v32i32:$vs1))]>;
def VCVT_I32_F32 : VV<16, "vcvt.i32.f32", VConvert, "To a signed integer, towards zero, saturating; NaN gives 0.", lanes # "vd.i32[i] = lane::to_i32(vs1.f32[i]);",
                      [(set v32i32:$vd, (fp_to_sint v32f32:$vs1))]>;
def VCVT_U32_F32 : VV<17, "vcvt.u32.f32", VConvert, "To an unsigned integer, towards zero, saturating; NaN gives 0.", lanes # "vd.u32[i] = lane::to_u32(vs1.f32[i]);",
                      [(set v32i32:$vd, (fp_to_uint v32f32:$vs1))]>;
def VCVTN_I32_F32 : VV<18, "vcvtn.i32.f32", VConvert, "To a signed integer, to nearest even, saturating; NaN gives 0.",
                       lanes # "vd.i32[i] = lane::to_i32(lane::round_even(vs1.f32[i]));">;
def VCVT_F32_I32 : VV<19, "vcvt.f32.i32", VConvert, "From a signed integer.", lanes # "vd.f32[i] = (float)vs1.i32[i];", [(set v32f32:$vd, (sint_to_fp v32i32:$vs1))]>;
def VCVT_F32_U32 : VV<20, "vcvt.f32.u32", VConvert, "From an unsigned integer.", lanes # "vd.f32[i] = (float)vs1.u32[i];", [(set v32f32:$vd, (uint_to_fp v32i32:$vs1))]>;
def VCLZ_I32 : VV<21, "vclz.i32", VConvert, "Counts leading zeros; 32 for 0.", lanes # "vd.u32[i] = vs1.u32[i] ? __builtin_clz(vs1.u32[i]) : 32;", [(set v32i32:$vd, (ctlz v32i32:$vs1))]>;
def VPOPC_I32 : VV<22, "vpopc.i32", VConvert, "Counts ones.", lanes # "vd.u32[i] = __builtin_popcount(vs1.u32[i]);", [(set v32i32:$vd, (ctpop v32i32:$vs1))]>;
def VCLASS_F32 : VV<23, "vclass.f32", VCompare, "As fclass.s, in each lane.", lanes # "vd.u32[i] = fp::classify32(vs1.f32[i]);">;
// f32 lanes that hold what a narrower float can hold.
def VROUND_F16 : VV<24, "vround.f16", VConvert, "To the nearest f16, ties to even, kept as f32.", lanes # "vd.f32[i] = fp::from_f16(fp::to_f16(vs1.f32[i]));",
                    [(set v32f16:$vd, (fpround v32f32:$vs1))]>;
def VROUND_BF16 : VV<25, "vround.bf16", VConvert, "To the nearest bf16, ties to even, kept as f32.", lanes # "vd.f32[i] = fp::from_bf16(fp::to_bf16(vs1.f32[i]));",
                     [(set v32bf16:$vd, (fpround v32f32:$vs1))]>;

// Widening: `imm` chooses which part of the register's narrow lanes. Narrowing: one after the other.
class VWiden<bits<7> funct7, dag part, string mnemonic, string doc, string semantics>
    : FormatV<OpVector, funct7, 2, (outs VR:$vd), !con((ins VR:$vs1), part), mnemonic, "$vd, $vs1, $imm", VConvert, doc,
              "Vector t; for (int i = 0; i < 32; ++i) " # semantics # " vd = t;"> {
  bits<5> vd;
  bits<5> vs1;
  let D = vd;
  let A = vs1;
}
class VWiden2<bits<7> funct7, string mnemonic, string doc, string semantics> : VWiden<funct7, (ins uimm1:$imm), mnemonic, doc, semantics> {
  bits<1> imm;
  let B{0} = imm;
}
class VWiden4<bits<7> funct7, string mnemonic, string doc, string semantics> : VWiden<funct7, (ins uimm2:$imm), mnemonic, doc, semantics> {
  bits<2> imm;
  let B{1-0} = imm;
}
def VWIDEN_F16 : VWiden2<1, "vwiden.f16", "32 lanes of f16, the lower (0) or upper (1), to f32.", "t.f32[i] = fp::from_f16(vs1.u16[32 * imm + i]);">;
def VWIDEN_BF16 : VWiden2<2, "vwiden.bf16", "32 lanes of bf16, the lower (0) or upper (1), to f32.", "t.f32[i] = fp::from_bf16(vs1.u16[32 * imm + i]);">;
def VWIDEN_I16 : VWiden2<3, "vwiden.i16", "32 lanes of i16, the lower (0) or upper (1), sign-extended to i32.", "t.i32[i] = vs1.i16[32 * imm + i];">;
def VWIDEN_U16 : VWiden2<4, "vwiden.u16", "32 lanes of i16, the lower (0) or upper (1), zero-extended to i32.", "t.u32[i] = vs1.u16[32 * imm + i];">;
def VWIDEN_I8 : VWiden4<5, "vwiden.i8", "32 lanes of i8, quarter 0 to 3, sign-extended to i32.", "t.i32[i] = vs1.i8[32 * imm + i];">;
def VWIDEN_U8 : VWiden4<6, "vwiden.u8", "32 lanes of i8, quarter 0 to 3, zero-extended to i32.", "t.u32[i] = vs1.u8[32 * imm + i];">;
class VPack<bits<7> funct7, string mnemonic, string doc, string semantics>
    : VVV<funct7, 2, mnemonic, VConvert, doc, "Vector t; " # semantics # " vd = t;">;
def VPACK_F16 : VPack<16, "vpack.f16", "Two registers of f32 to 64 lanes of f16, to nearest even.",
                      lanes # "{ t.u16[i] = fp::to_f16(vs1.f32[i]); t.u16[32 + i] = fp::to_f16(vs2.f32[i]); }">;
def VPACK_BF16 : VPack<17, "vpack.bf16", "Two registers of f32 to 64 lanes of bf16, to nearest even.",
                       lanes # "{ t.u16[i] = fp::to_bf16(vs1.f32[i]); t.u16[32 + i] = fp::to_bf16(vs2.f32[i]); }">;
def VPACK_I16 : VPack<18, "vpack.i16", "Two registers of i32 to 64 lanes of i16, the low halves.", lanes # "{ t.u16[i] = (uint16_t)vs1.u32[i]; t.u16[32 + i] = (uint16_t)vs2.u32[i]; }">;
def VPACK_I8 : VPack<19, "vpack.i8", "Two registers of i16 to 128 lanes of i8, the low halves.",
                     "for (int i = 0; i < 64; ++i) { t.u8[i] = (uint8_t)vs1.u16[i]; t.u8[64 + i] = (uint8_t)vs2.u16[i]; }">;

// ---- Compares -------------------------------------------------------------------------------------------------------
class VCmp<bits<7> funct7, string mnemonic, string type, string doc, string value, dag pattern>
    : FormatV<OpVector, funct7, 3, (outs MR:$md), (ins VR:$vs1, VR:$vs2), mnemonic, "$md, $vs1, $vs2", VCompare, doc,
              "md.lanes([&](int i) { auto a = vs1." # type # "[i], b = vs2." # type # "[i]; return " # value # "; });", [(set v32i1:$md, pattern)]> {
  bits<3> md;
  bits<5> vs1;
  bits<5> vs2;
  let D{2-0} = md;
  let A = vs1;
  let B = vs2;
}
def VCMPEQ_F32 : VCmp<0, "vcmpeq.f32", "f32", "Equal; not of NaNs.", "a == b", (setoeq v32f32:$vs1, v32f32:$vs2)>;
def VCMPLT_F32 : VCmp<1, "vcmplt.f32", "f32", "Less.", "a < b", (setolt v32f32:$vs1, v32f32:$vs2)>;
def VCMPLE_F32 : VCmp<2, "vcmple.f32", "f32", "Less or equal.", "a <= b", (setole v32f32:$vs1, v32f32:$vs2)>;
def VCMPUN_F32 : VCmp<3, "vcmpun.f32", "f32", "Either is NaN.", "(a != a) | (b != b)", (setuo v32f32:$vs1, v32f32:$vs2)>;
def VCMPEQ_I32 : VCmp<4, "vcmpeq.i32", "i32", "Equal.", "a == b", (seteq v32i32:$vs1, v32i32:$vs2)>;
def VCMPNE_I32 : VCmp<5, "vcmpne.i32", "i32", "Not equal.", "a != b", (setne v32i32:$vs1, v32i32:$vs2)>;
def VCMPLT_I32 : VCmp<6, "vcmplt.i32", "i32", "Less, signed.", "a < b", (setlt v32i32:$vs1, v32i32:$vs2)>;
def VCMPLE_I32 : VCmp<7, "vcmple.i32", "i32", "Less or equal, signed.", "a <= b", (setle v32i32:$vs1, v32i32:$vs2)>;
def VCMPLT_U32 : VCmp<8, "vcmplt.u32", "u32", "Less, unsigned.", "a < b", (setult v32i32:$vs1, v32i32:$vs2)>;
def VCMPLE_U32 : VCmp<9, "vcmple.u32", "u32", "Less or equal, unsigned.", "a <= b", (setule v32i32:$vs1, v32i32:$vs2)>;

// ---- Masks: all 128 bits --------------------------------------------------------------------------------------------
class MMM<bits<7> funct7, string mnemonic, string doc, string value, dag pattern>
    : FormatV<OpVector, funct7, 4, (outs MR:$md), (ins MR:$ms1, MR:$ms2), mnemonic, "$md, $ms1, $ms2", MaskLogic, doc,
              "for (int i = 0; i < 2; ++i) { uint64_t a = ms1.bits[i], b = ms2.bits[i]; md.bits[i] = " # value # "; }", [(set v32i1:$md, pattern)]> {
  bits<3> md;
  bits<3> ms1;
  bits<3> ms2;
  let D{2-0} = md;
  let A{2-0} = ms1;
  let B{2-0} = ms2;
}
let isCommutable = 1 in {
def MAND : MMM<0, "mand", "And.", "a & b", (and v32i1:$ms1, v32i1:$ms2)>;
def MOR : MMM<1, "mor", "Or.", "a | b", (or v32i1:$ms1, v32i1:$ms2)>;
def MXOR : MMM<2, "mxor", "Exclusive or.", "a ^ b", (xor v32i1:$ms1, v32i1:$ms2)>;
}
def MANDN : MMM<3, "mandn", "And with the complement of the second.", "a & ~b", (and v32i1:$ms1, (vnot v32i1:$ms2))>;
def MORN : MMM<4, "morn", "Or with the complement of the second.", "a | ~b", (or v32i1:$ms1, (vnot v32i1:$ms2))>;
class MM<bits<7> funct7, string mnemonic, string doc, string semantics, list<dag> pattern = []>
    : FormatV<OpVector, funct7, 4, (outs MR:$md), (ins MR:$ms1), mnemonic, "$md, $ms1", MaskLogic, doc, semantics, pattern> {
  bits<3> md;
  bits<3> ms1;
  let D{2-0} = md;
  let A{2-0} = ms1;
}
def MNOT : MM<5, "mnot", "Complement.", "for (int i = 0; i < 2; ++i) md.bits[i] = ~ms1.bits[i];", [(set v32i1:$md, (vnot v32i1:$ms1))]>;
def MMOV : MM<6, "mmov", "Copies a mask.", "md = ms1;"> { let isMoveReg = 1; }

// Between masks and scalar registers: what is counted, searched or tested, is there.
class MaskToScalar<bits<7> funct7, string mnemonic, string doc, string semantics>
    : FormatV<OpVector, funct7, 4, (outs GPR:$rd), (ins MR:$ms1), mnemonic, "$rd, $ms1", VScalarMove, doc, semantics> {
  bits<5> rd;
  bits<3> ms1;
  let D = rd;
  let A{2-0} = ms1;
}
def MTOX : MaskToScalar<16, "mtox", "The low 64 bits of a mask.", "rd = ms1.bits[0];">;
def MTOXH : MaskToScalar<17, "mtoxh", "The high 64 bits of a mask.", "rd = ms1.bits[1];">;
def MTOXW : MaskToScalar<18, "mtoxw", "The low 32 bits of a mask, zero-extended: the lanes of a 32-lane operation.", "rd = (uint32_t)ms1.bits[0];">;
class ScalarToMask<bits<7> funct7, string mnemonic, string doc, string semantics>
    : FormatV<OpVector, funct7, 4, (outs MR:$md), (ins GPR:$rs1), mnemonic, "$md, $rs1", VScalarMove, doc, semantics> {
  bits<3> md;
  bits<5> rs1;
  let D{2-0} = md;
  let A = rs1;
}
def XTOM : ScalarToMask<20, "xtom", "Sets the low 64 bits of a mask, clears the others.", "md.bits[0] = rs1; md.bits[1] = 0;">;
def MFIRST : ScalarToMask<21, "mfirst", "Sets the first rs1 (unsigned) bits of a mask, at most 128, clears the others.",
                          "uint64_t n = rs1; md.bits[0] = n >= 64 ? ~0ull : (1ull << n) - 1; md.bits[1] = n >= 128 ? ~0ull : n <= 64 ? 0 : (1ull << (n - 64)) - 1;">;
def XTOMH : FormatV<OpVector, 22, 4, (outs MR:$md), (ins MR:$ms1, GPR:$rs1), "xtomh", "$md, $ms1, $rs1", VScalarMove,
                    "A mask with its high 64 bits replaced.", "md.bits[0] = ms1.bits[0]; md.bits[1] = rs1;"> {
  bits<3> md;
  bits<3> ms1;
  bits<5> rs1;
  let D{2-0} = md;
  let A{2-0} = ms1;
  let B = rs1;
}

// ---- Between vectors and scalar registers, permutation, reduction ---------------------------------------------------
class VX<bits<7> funct7, string mnemonic, string doc, string semantics, list<dag> pattern = []>
    : FormatV<OpVector, funct7, 5, (outs VR:$vd), (ins GPR:$rs1), mnemonic, "$vd, $rs1", VScalarMove, doc, semantics, pattern> {
  bits<5> vd;
  bits<5> rs1;
  let D = vd;
  let A = rs1;
}
def VSPLAT_32 : VX<0, "vsplat.32", "The low 32 bits in every 32-bit lane.", "uint32_t a = (uint32_t)rs1; for (int i = 0; i < 32; ++i) vd.u32[i] = a;",
                   [(set v32f32:$vd, (splat_vector f32:$rs1))]>;
def VSPLAT_16 : VX<1, "vsplat.16", "The low 16 bits in every 16-bit lane.", "uint16_t a = (uint16_t)rs1; for (int i = 0; i < 64; ++i) vd.u16[i] = a;">;
def VSPLAT_8 : VX<2, "vsplat.8", "The low 8 bits in every byte.", "uint8_t a = (uint8_t)rs1; for (int i = 0; i < 128; ++i) vd.u8[i] = a;">;
def VIOTA : FormatV<OpVector, 3, 5, (outs VR:$vd), (ins), "viota.i32", "$vd", VSimple, "Lane i becomes i.", lanes # "vd.i32[i] = i;"> {
  bits<5> vd;
  let D = vd;
  let isReMaterializable = 1;
}
class VExtract<bits<7> funct7, dag source, string assembly, string doc, string semantics>
    : FormatV<OpVector, funct7, 5, (outs GPR:$rd), !con((ins VR:$vs1), source), "vextract.32", assembly, VScalarMove, doc, semantics> {
  bits<5> rd;
  bits<5> vs1;
  let D = rd;
  let A = vs1;
}
def VEXTRACT_I : VExtract<4, (ins uimm5:$imm), "$rd, $vs1, $imm", "A lane of 32 bits, sign-extended.", "rd = (int64_t)vs1.i32[imm];"> { bits<5> imm; let B = imm; }
def VEXTRACT_X : VExtract<5, (ins GPR:$rs2), "$rd, $vs1, $rs2", "A lane of 32 bits, sign-extended; its number, mod 32, in a register.",
                          "rd = (int64_t)vs1.i32[rs2 & 31];"> { bits<5> rs2; let B = rs2; }
// The destination is the source but for one lane.
let Constraints = "$vd = $vs1" in {
class VInsert<bits<7> funct7, dag index, string assembly, string doc, string semantics>
    : FormatV<OpVector, funct7, 5, (outs VR:$vd), !con((ins VR:$vs1, GPR:$rs1), index), "vinsert.32", assembly, VScalarMove, doc, semantics> {
  bits<5> vd;
  bits<5> rs1;
  let D = vd;
  let A = rs1;
}
def VINSERT_I : VInsert<6, (ins uimm5:$imm), "$vd, $rs1, $imm", "Replaces a lane of 32 bits.", "vd.u32[imm] = (uint32_t)rs1;"> { bits<5> imm; let B = imm; }
def VINSERT_X : VInsert<7, (ins GPR:$rs2), "$vd, $rs1, $rs2", "Replaces a lane of 32 bits; its number, mod 32, in a register.",
                        "vd.u32[rs2 & 31] = (uint32_t)rs1;"> { bits<5> rs2; let B = rs2; }
}
def VPERM : VVV<8, 5, "vperm", VPermute, "Lane i of the result is lane vs2[i] mod 32 of the first.", "Vector a = vs1, n = vs2; for (int i = 0; i < 32; ++i) vd.u32[i] = a.u32[n.u32[i] & 31];">;
def VBCAST : VVI<9, 5, "vbcast.32", VPermute, "One lane of 32 bits in every lane.", "uint32_t a = vs1.u32[imm]; for (int i = 0; i < 32; ++i) vd.u32[i] = a;">;

// Lanes i and i + 16 first, then i and i + 8, ... to one.
class VReduction<bits<7> funct7, string mnemonic, string type, string doc, string step, string result>
    : FormatV<OpVector, funct7, 5, (outs GPR:$rd), (ins VR:$vs1), mnemonic, "$rd, $vs1", VReduce, doc # " Pairwise: lanes i and i + 16, then i and i + 8, ...",
              "Vector t = vs1; for (int n = 16; n; n /= 2) for (int i = 0; i < n; ++i) { auto a = t." # type # "[i], b = t." # type # "[i + n]; t." # type # "[i] = " # step #
              "; } rd = " # result # ";"> {
  bits<5> rd;
  bits<5> vs1;
  let D = rd;
  let A = vs1;
}
class VReduceFloat<bits<7> funct7, string mnemonic, string doc, string step>
    : VReduction<funct7, mnemonic # ".f32", "f32", doc, step, "bits(canonical(t.f32[0]))">;
class VReduceInt<bits<7> funct7, string mnemonic, string type, string doc, string step, SDPatternOperator node = null_frag>
    : VReduction<funct7, mnemonic, type, doc, step, "(int64_t)t.i32[0]"> { let Pattern = [(set i64:$rd, (node v32i32:$vs1))]; }
def VREDSUM_F32 : VReduceFloat<16, "vredsum", "Sum.", "a + b">;
def VREDMUL_F32 : VReduceFloat<17, "vredmul", "Product.", "a * b">;
def VREDMIN_F32 : VReduceFloat<18, "vredmin", "Least, as vmin.", "lane::minimum_number(a, b)">;
def VREDMAX_F32 : VReduceFloat<19, "vredmax", "Greatest, as vmax.", "lane::maximum_number(a, b)">;
def VREDMINIMUM_F32 : VReduceFloat<20, "vredminimum", "Least, as vminimum.", "lane::minimum(a, b)">;
def VREDMAXIMUM_F32 : VReduceFloat<21, "vredmaximum", "Greatest, as vmaximum.", "lane::maximum(a, b)">;
def VREDSUM_I32 : VReduceInt<22, "vredsum.i32", "u32", "Sum.", "a + b">;
def VREDMUL_I32 : VReduceInt<23, "vredmul.i32", "u32", "Product.", "a * b">;
def VREDMIN_I32 : VReduceInt<24, "vredmin.i32", "i32", "Least, signed.", "a < b ? a : b">;
def VREDMAX_I32 : VReduceInt<25, "vredmax.i32", "i32", "Greatest, signed.", "a > b ? a : b">;
def VREDMIN_U32 : VReduceInt<26, "vredmin.u32", "u32", "Least, unsigned.", "a < b ? a : b">;
def VREDMAX_U32 : VReduceInt<27, "vredmax.u32", "u32", "Greatest, unsigned.", "a > b ? a : b">;
def VREDAND : VReduceInt<28, "vredand", "u32", "And.", "a & b">;
def VREDOR : VReduceInt<29, "vredor", "u32", "Or.", "a | b">;
def VREDXOR : VReduceInt<30, "vredxor", "u32", "Exclusive or.", "a ^ b">;
class VReduceInOrder<bits<7> funct7, string mnemonic, string doc, string step>
    : FormatV<OpVector, funct7, 5, (outs GPR:$rd), (ins GPR:$rs1, VR:$vs2), mnemonic, "$rd, $rs1, $vs2", VReduceOrdered, doc,
              "float a = f32(rs1); for (int i = 0; i < 32; ++i) a = a " # step # " vs2.f32[i]; rd = bits(canonical(a));"> {
  bits<5> rd;
  bits<5> rs1;
  bits<5> vs2;
  let D = rd;
  let A = rs1;
  let B = vs2;
}
def VREDOSUM_F32 : VReduceInOrder<32, "vredosum.f32", "Adds lane 0, then lane 1, ... to a start value.", "+">;
def VREDOMUL_F32 : VReduceInOrder<33, "vredomul.f32", "Multiplies a start value by lane 0, then lane 1, ...", "*">;

// ---- Memory (LM only) -----------------------------------------------------------------------------------------------
// How 32 lanes of an element type lie in memory, and what becomes of them in a register.
class Element<string name, int bytes, string read, string write> {
  string Name = name;
  int Bytes = bytes;
  string Read = read;   // the lane of `t`, a Vector, from x, the element
  string Write = write; // x from the lane of `t`
}
def E32 : Element<"32", 4, "t.u32[i] = x", "x = t.u32[i]">;
def EF16 : Element<"f16", 2, "t.f32[i] = fp::from_f16(x)", "x = fp::to_f16(t.f32[i])">;
def EBF16 : Element<"bf16", 2, "t.f32[i] = fp::from_bf16(x)", "x = fp::to_bf16(t.f32[i])">;
def EI16 : Element<"i16", 2, "t.i32[i] = (int16_t)x", "x = (uint16_t)t.u32[i]">;
def EU16 : Element<"u16", 2, "t.u32[i] = x", "">;
def EI8 : Element<"i8", 1, "t.i32[i] = (int8_t)x", "x = (uint8_t)t.u32[i]">;
def EU8 : Element<"u8", 1, "t.u32[i] = x", "">;

class ElementText<Element e> {
  string Type = !cond(!eq(e.Bytes, 4): "uint32_t", !eq(e.Bytes, 2): "uint16_t", true: "uint8_t");
  string Into = !if(!eq(e.Name, "32"), "32 bits a lane", e.Name # " to " # !if(!or(!eq(e.Name, "f16"), !eq(e.Name, "bf16")), "f32", "i32"));
  string From = !cond(!eq(e.Name, "32"): "32 bits a lane", !eq(e.Name, "f16"): "f32 to f16, to nearest even", !eq(e.Name, "bf16"): "f32 to bf16, to nearest even",
                      true: "the low bits of i32 to " # e.Name);
  // One element at p, to or from lane i of t.
  string ReadAt = Type # " x; std::memcpy(&x, p, sizeof x); " # e.Read # ";";
  string WriteAt = Type # " " # e.Write # "; std::memcpy(p, &x, sizeof x);";
  int All = !mul(e.Bytes, 32);
}

class VectorLoad<bits<5> funct, Element e>
    : FormatVM<funct, (outs VR:$vd), (ins GPR:$rs1, vdistance:$imm), "vld." # e.Name, "$vd, ${imm}(${rs1})", VLoad, "Loads 32 elements: " # ElementText<e>.Into # ".",
               !if(!eq(e.Name, "32"), "std::memcpy(&vd, vector_bytes(rs1 + imm, 128), 128);",
                   "const uint8_t *p = vector_bytes(rs1 + imm, " # ElementText<e>.All # "); Vector t; for (int i = 0; i < 32; ++i, p += " # e.Bytes # ") { " # ElementText<e>.ReadAt # " } vd = t;")> {
  bits<5> vd;
  bits<14> imm;
  let D = vd;
  let Distance = imm{13-4};
  let mayLoad = 1;
}
class VectorBroadcast<bits<5> funct, Element e, Constant distance>
    : FormatVM<funct, (outs VR:$vd), (ins GPR:$rs1, distance:$imm), "vldb." # e.Name, "$vd, ${imm}(${rs1})", VLoad, "Loads one element into every lane: " # ElementText<e>.Into # ".",
               "const uint8_t *p = vector_bytes(rs1 + imm, " # e.Bytes # "); Vector t; for (int i = 0; i < 32; ++i) { " # ElementText<e>.ReadAt # " } vd = t;"> {
  bits<5> vd;
  let D = vd;
  let mayLoad = 1;
}
class VectorStore<bits<5> funct, Element e>
    : FormatVM<funct, (outs), (ins VR:$vs1, GPR:$rs1, vdistance:$imm), "vst." # e.Name, "$vs1, ${imm}(${rs1})", VStore, "Stores 32 elements: " # ElementText<e>.From # ".",
               !if(!eq(e.Name, "32"), "std::memcpy(vector_bytes_mut(rs1 + imm, 128), &vs1, 128);",
                   "uint8_t *p = vector_bytes_mut(rs1 + imm, " # ElementText<e>.All # "); const Vector &t = vs1; for (int i = 0; i < 32; ++i, p += " # e.Bytes # ") { " # ElementText<e>.WriteAt # " }")> {
  bits<5> vs1;
  bits<14> imm;
  let D = vs1;
  let Distance = imm{13-4};
  let mayStore = 1;
}

def VLD_32 : VectorLoad<0, E32>;
def VLD_F16 : VectorLoad<1, EF16>;
def VLD_BF16 : VectorLoad<2, EBF16>;
def VLD_I16 : VectorLoad<3, EI16>;
def VLD_U16 : VectorLoad<4, EU16>;
def VLD_I8 : VectorLoad<5, EI8>;
def VLD_U8 : VectorLoad<6, EU8>;
def VLDB_32 : VectorBroadcast<8, E32, distance4> { bits<12> imm; let Distance = imm{11-2}; }
def VLDB_F16 : VectorBroadcast<9, EF16, distance2> { bits<11> imm; let Distance = imm{10-1}; }
def VLDB_BF16 : VectorBroadcast<10, EBF16, distance2> { bits<11> imm; let Distance = imm{10-1}; }
def VLDB_I16 : VectorBroadcast<11, EI16, distance2> { bits<11> imm; let Distance = imm{10-1}; }
def VLDB_U16 : VectorBroadcast<12, EU16, distance2> { bits<11> imm; let Distance = imm{10-1}; }
def VLDB_I8 : VectorBroadcast<13, EI8, distance1> { bits<10> imm; let Distance = imm; }
def VLDB_U8 : VectorBroadcast<14, EU8, distance1> { bits<10> imm; let Distance = imm; }
def VST_32 : VectorStore<16, E32>;
def VST_F16 : VectorStore<17, EF16>;
def VST_BF16 : VectorStore<18, EBF16>;
def VST_I16 : VectorStore<19, EI16>;
def VST_I8 : VectorStore<20, EI8>;

// After the access the address register has moved on by the distance. The access is at the old address.
let Constraints = "$rs1 = $rs1_in" in {
class VectorLoadOn<bits<5> funct, Element e>
    : FormatVM<funct, (outs VR:$vd, GPR:$rs1), (ins GPR:$rs1_in, vdistance:$imm), "vldp." # e.Name, "$vd, (${rs1}), $imm", VLoad,
               "Loads 32 elements: " # ElementText<e>.Into # "; then adds to rs1, which the next cycle may use.",
               "const uint8_t *p = vector_bytes(rs1, " # ElementText<e>.All # "); Vector t; for (int i = 0; i < 32; ++i, p += " # e.Bytes # ") { " # ElementText<e>.ReadAt # " } vd = t; rs1 = rs1 + imm;"> {
  bits<5> vd;
  bits<14> imm;
  let D = vd;
  let Distance = imm{13-4};
  let mayLoad = 1;
  let SchedRW = [VLoad, VAddress];
}
class VectorStoreOn<bits<5> funct, Element e>
    : FormatVM<funct, (outs GPR:$rs1), (ins VR:$vs1, GPR:$rs1_in, vdistance:$imm), "vstp." # e.Name, "$vs1, (${rs1}), $imm", VStore,
               "Stores 32 elements: " # ElementText<e>.From # "; then adds to rs1, which the next cycle may use.",
               "uint8_t *p = vector_bytes_mut(rs1, " # ElementText<e>.All # "); const Vector &t = vs1; for (int i = 0; i < 32; ++i, p += " # e.Bytes # ") { " # ElementText<e>.WriteAt # " } rs1 = rs1 + imm;"> {
  bits<5> vs1;
  bits<14> imm;
  let D = vs1;
  let Distance = imm{13-4};
  let mayStore = 1;
}
}
def VLDP_32 : VectorLoadOn<24, E32>;
def VLDP_F16 : VectorLoadOn<25, EF16>;
def VLDP_BF16 : VectorLoadOn<26, EBF16>;
def VLDP_I16 : VectorLoadOn<27, EI16>;
def VLDP_U16 : VectorLoadOn<28, EU16>;
def VLDP_I8 : VectorLoadOn<29, EI8>;
def VLDP_U8 : VectorLoadOn<30, EU8>;
def VSTP_32 : VectorStoreOn<31, E32>;
def VSTP_F16 : VectorStoreOn<15, EF16>;
def VSTP_BF16 : VectorStoreOn<21, EBF16>;
def VSTP_I8 : VectorStoreOn<22, EI8>;
// Its fields are the others', one place to the right under custom-0, whose functions 10xxxxx:110 they fill: custom-1 is full.
// | 31 10 30 | 29 distance 20 | 19 rs1 15 | 14 110 12 | 11 D 7 | 6 opcode 0 |
def VSTP_I16 : VectorStoreOn<0, EI16> {
  let Opcode = OpVector.Value;
  let Inst{31-30} = 0b10;
  let Inst{29-20} = Distance;
  let Inst{14-12} = 6;
}

// A whole mask: 16 bytes.
def MLD : FormatVM<7, (outs MR:$md), (ins GPR:$rs1, vdistance:$imm), "mld", "$md, ${imm}(${rs1})", VLoad, "Loads a mask: 16 bytes.",
                   "std::memcpy(md.bits, vector_bytes(rs1 + imm, 16), 16);"> {
  bits<3> md;
  bits<14> imm;
  let D{2-0} = md;
  let Distance = imm{13-4};
  let mayLoad = 1;
}
def MST : FormatVM<23, (outs), (ins MR:$ms1, GPR:$rs1, vdistance:$imm), "mst", "$ms1, ${imm}(${rs1})", VStore, "Stores a mask: 16 bytes.",
                   "std::memcpy(vector_bytes_mut(rs1 + imm, 16), ms1.bits, 16);"> {
  bits<3> ms1;
  bits<14> imm;
  let D{2-0} = ms1;
  let Distance = imm{13-4};
  let mayStore = 1;
}

// Lanes whose mask bit is clear keep the destination's value, and their memory is not touched.
let Constraints = "$vd = $vd_in", mayLoad = 1 in {
class VectorMaskedLoad<bits<7> funct7, Element e>
    : FormatV<OpVector, funct7, 6, (outs VR:$vd), (ins VR:$vd_in, GPR:$rs1, MR:$ms1), "vldm." # e.Name, "$vd, (${rs1}), $ms1", VLoad,
              "Loads the 32 elements whose mask bit is set: " # ElementText<e>.Into # ".",
              "Vector t = vd; for (int i = 0; i < 32; ++i) if (ms1.get(i)) { const uint8_t *p = vector_bytes(rs1 + i * " # e.Bytes # ", " # e.Bytes # "); " # ElementText<e>.ReadAt # " } vd = t;"> {
  bits<5> vd;
  bits<5> rs1;
  bits<3> ms1;
  let D = vd;
  let A = rs1;
  let B{2-0} = ms1;
}
class VectorMaskedGather<bits<5> funct, Element e>
    : FormatV4<funct, (outs VR:$vd), (ins VR:$vd_in, GPR:$rs1, VR:$vs2, MR:$ms1), "vgatherm." # e.Name, "$vd, (${rs1}), $vs2, $ms1", VGather,
               "Loads elements at rs1 plus lane i of vs2, signed bytes, where the mask bit is set: " # ElementText<e>.Into # ".",
               "Vector t = vd; for (int i = 0; i < 32; ++i) if (ms1.get(i)) { const uint8_t *p = vector_bytes(rs1 + (int64_t)vs2.i32[i], " # e.Bytes # "); " # ElementText<e>.ReadAt # " } vd = t;"> {
  bits<5> vd;
  bits<5> rs1;
  bits<5> vs2;
  bits<3> ms1;
  let D = vd;
  let A = rs1;
  let B = vs2;
  let C{2-0} = ms1;
}
}
class VectorGather<bits<7> funct7, Element e>
    : FormatV<OpVector, funct7, 7, (outs VR:$vd), (ins GPR:$rs1, VR:$vs2), "vgather." # e.Name, "$vd, (${rs1}), $vs2", VGather,
              "Loads elements at rs1 plus lane i of vs2, signed bytes: " # ElementText<e>.Into # ".",
              "Vector t; for (int i = 0; i < 32; ++i) { const uint8_t *p = vector_bytes(rs1 + (int64_t)vs2.i32[i], " # e.Bytes # "); " # ElementText<e>.ReadAt # " } vd = t;"> {
  bits<5> vd;
  bits<5> rs1;
  bits<5> vs2;
  let D = vd;
  let A = rs1;
  let B = vs2;
  let mayLoad = 1;
}
let mayStore = 1 in {
class VectorMaskedStore<bits<7> funct7, Element e>
    : FormatV<OpVector, funct7, 6, (outs), (ins VR:$vs1, GPR:$rs1, MR:$ms1), "vstm." # e.Name, "$vs1, (${rs1}), $ms1", VStore,
              "Stores the 32 elements whose mask bit is set: " # ElementText<e>.From # ".",
              "const Vector &t = vs1; for (int i = 0; i < 32; ++i) if (ms1.get(i)) { uint8_t *p = vector_bytes_mut(rs1 + i * " # e.Bytes # ", " # e.Bytes # "); " # ElementText<e>.WriteAt # " }"> {
  bits<5> vs1;
  bits<5> rs1;
  bits<3> ms1;
  let D = vs1;
  let A = rs1;
  let B{2-0} = ms1;
}
class VectorScatter<bits<7> funct7, Element e>
    : FormatV<OpVector, funct7, 7, (outs), (ins VR:$vs1, GPR:$rs1, VR:$vs2), "vscatter." # e.Name, "$vs1, (${rs1}), $vs2", VScatter,
              "Stores elements at rs1 plus lane i of vs2, signed bytes, lane 0 first: " # ElementText<e>.From # ".",
              "const Vector &t = vs1; for (int i = 0; i < 32; ++i) { uint8_t *p = vector_bytes_mut(rs1 + (int64_t)vs2.i32[i], " # e.Bytes # "); " # ElementText<e>.WriteAt # " }"> {
  bits<5> vs1;
  bits<5> rs1;
  bits<5> vs2;
  let D = vs1;
  let A = rs1;
  let B = vs2;
}
class VectorMaskedScatter<bits<5> funct, Element e>
    : FormatV4<funct, (outs), (ins VR:$vs1, GPR:$rs1, VR:$vs2, MR:$ms1), "vscatterm." # e.Name, "$vs1, (${rs1}), $vs2, $ms1", VScatter,
               "Stores elements at rs1 plus lane i of vs2, signed bytes, where the mask bit is set, lane 0 first: " # ElementText<e>.From # ".",
               "const Vector &t = vs1; for (int i = 0; i < 32; ++i) if (ms1.get(i)) { uint8_t *p = vector_bytes_mut(rs1 + (int64_t)vs2.i32[i], " # e.Bytes # "); " # ElementText<e>.WriteAt # " }"> {
  bits<5> vs1;
  bits<5> rs1;
  bits<5> vs2;
  bits<3> ms1;
  let D = vs1;
  let A = rs1;
  let B = vs2;
  let C{2-0} = ms1;
}
}
defvar readable = [E32, EF16, EBF16, EI16, EU16, EI8, EU8];
defvar writable = [E32, EF16, EBF16, EI16, EI8];
foreach n = !range(readable) in {
  defvar e = readable[n];
  defvar N = !toupper(e.Name);
  def VLDM_#N : VectorMaskedLoad<n, e>;
  def VGATHER_#N : VectorGather<n, e>;
  def VGATHERM_#N : VectorMaskedGather<!add(8, n), e>;
}
foreach n = !range(writable) in {
  defvar e = writable[n];
  defvar N = !toupper(e.Name);
  def VSTM_#N : VectorMaskedStore<!add(16, n), e>;
  def VSCATTER_#N : VectorScatter<!add(16, n), e>;
  def VSCATTERM_#N : VectorMaskedScatter<!add(16, n), e>;
}
