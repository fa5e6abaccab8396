// Selection of vector code beyond the patterns that stand in the records.
//
// v32f16 and v32bf16 are legal types that hold each value as the f32 of the same value: a load widens, a store narrows (exactly), fpext is
// nothing, and fptrunc rounds within the lane. So narrow floats cost what f32 costs, wherever they are kept.

def dg_mask_in : SDNode<"DGISD::MASK_IN", SDTypeProfile<1, 1, [SDTCisVT<0, v32i1>, SDTCisVT<1, i64>]>>;
def dg_mask_out : SDNode<"DGISD::MASK_OUT", SDTypeProfile<1, 1, [SDTCisVT<0, i64>, SDTCisVT<1, v32i1>]>>;
def dg_mask_first : SDNode<"DGISD::MASK_FIRST", SDTypeProfile<1, 1, [SDTCisVT<0, v32i1>, SDTCisVT<1, i64>]>>;
def dg_permute : SDNode<"DGISD::PERMUTE", SDTypeProfile<1, 2, [SDTCisVec<0>, SDTCisSameAs<0, 1>, SDTCisVT<2, v32i32>]>>;
def dg_permute2 : SDNode<"DGISD::PERMUTE2", SDTypeProfile<1, 3, [SDTCisVec<0>, SDTCisSameAs<0, 1>, SDTCisSameAs<0, 2>, SDTCisVT<3, v32i32>]>>;
def dg_broadcast_lane : SDNode<"DGISD::BROADCAST_LANE", SDTypeProfile<1, 2, [SDTCisVec<0>, SDTCisSameAs<0, 1>, SDTCisVT<2, i64>]>>;
def dg_align : SDNode<"DGISD::ALIGN", SDTypeProfile<1, 3, [SDTCisVec<0>, SDTCisSameAs<0, 1>, SDTCisSameAs<0, 2>, SDTCisVT<3, i64>]>>;
def dg_iota : SDNode<"DGISD::IOTA", SDTypeProfile<1, 0, [SDTCisVT<0, v32i32>]>>;
def dg_vclass : SDNode<"DGISD::VCLASS", SDTypeProfile<1, 1, [SDTCisVT<0, v32i32>, SDTCisVT<1, v32f32>]>>;

def AddrVector : ComplexPattern<iPTR, 2, "selectAddrVector", [], [], 10>;
def AddrElement4 : ComplexPattern<iPTR, 2, "selectAddrElement4", [], [], 10>;
def AddrElement2 : ComplexPattern<iPTR, 2, "selectAddrElement2", [], [], 10>;
def AddrElement1 : ComplexPattern<iPTR, 2, "selectAddrElement1", [], [], 10>;

// ---- Loads and stores -----------------------------------------------------------------------------------------------
// What is in memory, by its memory type.
def extload_v32f16 : PatFrag<(ops node:$p), (unindexedload node:$p)> { let IsLoad = 1; let IsAnyExtLoad = 1; let MemoryVT = v32f16; }
def extload_v32bf16 : PatFrag<(ops node:$p), (unindexedload node:$p)> { let IsLoad = 1; let IsAnyExtLoad = 1; let MemoryVT = v32bf16; }
foreach memory = [v32i8, v32i16] in {
  def anyextload_#memory : PatFrag<(ops node:$p), (unindexedload node:$p)> { let IsLoad = 1; let IsAnyExtLoad = 1; let MemoryVT = memory; }
  def sextload_#memory : PatFrag<(ops node:$p), (unindexedload node:$p)> { let IsLoad = 1; let IsSignExtLoad = 1; let MemoryVT = memory; }
  def zextload_#memory : PatFrag<(ops node:$p), (unindexedload node:$p)> { let IsLoad = 1; let IsZeroExtLoad = 1; let MemoryVT = memory; }
}
foreach memory = [v32i8, v32i16, v32f16, v32bf16] in
  def truncstore_#memory : PatFrag<(ops node:$v, node:$p), (unindexedstore node:$v, node:$p)> { let IsStore = 1; let IsTruncStore = 1; let MemoryVT = memory; }

class VLoadPat<SDPatternOperator load, ValueType type, Instruction inst> : Pat<(type (load (AddrVector i64:$base, i64:$offset))), (inst $base, $offset)>;
class VStorePat<SDPatternOperator store, ValueType type, Instruction inst>
    : Pat<(store type:$value, (AddrVector i64:$base, i64:$offset)), (inst $value, $base, $offset)>;
foreach type = [v32f32, v32i32] in {
  def : VLoadPat<load, type, VLD_32>;
  def : VStorePat<store, type, VST_32>;
}
def : VLoadPat<load, v32f16, VLD_F16>;
def : VLoadPat<load, v32bf16, VLD_BF16>;
def : VStorePat<store, v32f16, VST_F16>;
def : VStorePat<store, v32bf16, VST_BF16>;
def : VLoadPat<extload_v32f16, v32f32, VLD_F16>;
def : VLoadPat<extload_v32bf16, v32f32, VLD_BF16>;
def : VStorePat<truncstore_v32f16, v32f32, VST_F16>;
def : VStorePat<truncstore_v32bf16, v32f32, VST_BF16>;
def : VLoadPat<anyextload_v32i8, v32i32, VLD_U8>;
def : VLoadPat<zextload_v32i8, v32i32, VLD_U8>;
def : VLoadPat<sextload_v32i8, v32i32, VLD_I8>;
def : VLoadPat<anyextload_v32i16, v32i32, VLD_U16>;
def : VLoadPat<zextload_v32i16, v32i32, VLD_U16>;
def : VLoadPat<sextload_v32i16, v32i32, VLD_I16>;
def : VStorePat<truncstore_v32i8, v32i32, VST_I8>;
def : VStorePat<truncstore_v32i16, v32i32, VST_I16>;

// ---- Splats ---------------------------------------------------------------------------------------------------------
// Of an element that is known to lie in LM, since it is loaded through address space 1, one load. (Of another, a scalar load and a splat: it may be
// in DRAM, where vector instructions do not reach.)
def local_load : PatFrag<(ops node:$p), (unindexedload node:$p)> { let IsLoad = 1; let IsNonExtLoad = 1; let AddressSpaces = [1]; }
class LocalExtension<ValueType memory> : PatFrag<(ops node:$p), (unindexedload node:$p)> { let IsLoad = 1; let MemoryVT = memory; let AddressSpaces = [1]; }
foreach memory = [i8, i16, i32] in {
  let IsSignExtLoad = 1 in def local_sextload_#memory : LocalExtension<memory>;
  let IsZeroExtLoad = 1 in def local_zextload_#memory : LocalExtension<memory>;
  let IsAnyExtLoad = 1 in def local_extload_#memory : LocalExtension<memory>;
}
class BroadcastPat<dag element, ValueType type, Instruction inst> : Pat<(type (splat_vector element)), (inst $base, $offset)>;
def : BroadcastPat<(f32 (local_load (AddrElement4 i64:$base, i64:$offset))), v32f32, VLDB_32>;
foreach load = ["sextload", "zextload", "extload"] in {
  defvar narrow = !if(!eq(load, "sextload"), "VLDB_I", "VLDB_U");
  def : BroadcastPat<(i64 (!cast<PatFrag>("local_" # load # "_i32") (AddrElement4 i64:$base, i64:$offset))), v32i32, VLDB_32>;
  def : BroadcastPat<(i64 (!cast<PatFrag>("local_" # load # "_i16") (AddrElement2 i64:$base, i64:$offset))), v32i32, !cast<Instruction>(narrow # 16)>;
  def : BroadcastPat<(i64 (!cast<PatFrag>("local_" # load # "_i8") (AddrElement1 i64:$base, i64:$offset))), v32i32, !cast<Instruction>(narrow # 8)>;
}
foreach pair = ["f16:F16", "bf16:BF16"] in {
  defvar scalar = !cast<ValueType>(!substr(pair, 0, !find(pair, ":")));
  defvar broadcast = !cast<Instruction>("VLDB_" # !substr(pair, !add(!find(pair, ":"), 1)));
  def : BroadcastPat<(f32 (fpextend (scalar (local_load (AddrElement2 i64:$base, i64:$offset))))), v32f32, broadcast>;
  def : BroadcastPat<(scalar (local_load (AddrElement2 i64:$base, i64:$offset))), !cast<ValueType>("v32" # scalar), broadcast>;
}
def : Pat<(v32i32 (splat_vector i64:$a)), (VSPLAT_32 $a)>;
def : Pat<(v32f16 (splat_vector f16:$a)), (VSPLAT_32 (FCVT_S_H $a))>;
def : Pat<(v32bf16 (splat_vector bf16:$a)), (VSPLAT_32 (FCVT_S_BF16 $a))>;
def : Pat<(v32i32 (dg_iota)), (VIOTA)>;

// ---- The same register under another type ---------------------------------------------------------------------------------
def : Pat<(v32i32 (bitconvert v32f32:$a)), (COPY_TO_REGCLASS $a, VR)>;
def : Pat<(v32f32 (bitconvert v32i32:$a)), (COPY_TO_REGCLASS $a, VR)>;
foreach type = [v32f16, v32bf16] in {
  def : Pat<(v32f32 (fpextend type:$a)), (COPY_TO_REGCLASS $a, VR)>;
  def : Pat<(type (vselect v32i1:$m, type:$a, type:$b)), (VSEL $m, $a, $b)>;
  def : Pat<(type (fneg type:$a)), (VNEG_F32 $a)>;
  def : Pat<(type (fabs type:$a)), (VABS_F32 $a)>;
}

// ---- Arithmetic -----------------------------------------------------------------------------------------------------
def : Pat<(v32f32 (fminimumnum v32f32:$a, v32f32:$b)), (VMIN_F32 $a, $b)>;
def : Pat<(v32f32 (fmaximumnum v32f32:$a, v32f32:$b)), (VMAX_F32 $a, $b)>;
foreach round = ["frint", "fnearbyint"] in def : Pat<(v32f32 (!cast<SDNode>(round) v32f32:$a)), (VRINT_F32 $a)>;
def : Pat<(v32i32 (fp_to_sint_sat v32f32:$a, i32)), (VCVT_I32_F32 $a)>;
def : Pat<(v32i32 (fp_to_uint_sat v32f32:$a, i32)), (VCVT_U32_F32 $a)>;
def : Pat<(v32i32 (lrint v32f32:$a)), (VCVTN_I32_F32 $a)>;
def : Pat<(v32i32 (dg_vclass v32f32:$a)), (VCLASS_F32 $a)>;
def : Pat<(v32i32 (shl v32i32:$a, (v32i32 (splat_vector (i64 uimm5:$n))))), (VSLLI_I32 $a, uimm5:$n)>;
def : Pat<(v32i32 (srl v32i32:$a, (v32i32 (splat_vector (i64 uimm5:$n))))), (VSRLI_I32 $a, uimm5:$n)>;
def : Pat<(v32i32 (sra v32i32:$a, (v32i32 (splat_vector (i64 uimm5:$n))))), (VSRAI_I32 $a, uimm5:$n)>;

// Compares that do not care about NaN take the quiet ones.
def : Pat<(v32i1 (seteq v32f32:$a, v32f32:$b)), (VCMPEQ_F32 $a, $b)>;
def : Pat<(v32i1 (setlt v32f32:$a, v32f32:$b)), (VCMPLT_F32 $a, $b)>;
def : Pat<(v32i1 (setle v32f32:$a, v32f32:$b)), (VCMPLE_F32 $a, $b)>;

// ---- Masks ----------------------------------------------------------------------------------------------------------
def : Pat<(v32i1 (dg_mask_in i64:$a)), (XTOM $a)>;
def : Pat<(i64 (dg_mask_out v32i1:$m)), (MTOXW $m)>;
def : Pat<(v32i1 (dg_mask_first i64:$n)), (MFIRST $n)>;
def : Pat<(v32i1 immAllZerosV), (XTOM (i64 X0))>;
def : Pat<(v32i1 immAllOnesV), (XTOM (ADDI (i64 X0), -1))>;

// ---- Lanes ----------------------------------------------------------------------------------------------------------
def : Pat<(f32 (vector_extract v32f32:$a, (i64 uimm5:$n))), (VEXTRACT_I $a, uimm5:$n)>;
def : Pat<(f32 (vector_extract v32f32:$a, i64:$n)), (VEXTRACT_X $a, $n)>;
def : Pat<(i64 (vector_extract v32i32:$a, (i64 uimm5:$n))), (VEXTRACT_I $a, uimm5:$n)>;
def : Pat<(i64 (vector_extract v32i32:$a, i64:$n)), (VEXTRACT_X $a, $n)>;
def : Pat<(v32f32 (vector_insert v32f32:$a, f32:$s, (i64 uimm5:$n))), (VINSERT_I $a, $s, uimm5:$n)>;
def : Pat<(v32f32 (vector_insert v32f32:$a, f32:$s, i64:$n)), (VINSERT_X $a, $s, $n)>;
def : Pat<(v32i32 (vector_insert v32i32:$a, i64:$s, (i64 uimm5:$n))), (VINSERT_I $a, $s, uimm5:$n)>;
def : Pat<(v32i32 (vector_insert v32i32:$a, i64:$s, i64:$n)), (VINSERT_X $a, $s, $n)>;
foreach type = [v32f32, v32i32, v32f16, v32bf16] in {
  def : Pat<(type (dg_permute type:$a, v32i32:$n)), (VPERM $a, $n)>;
  def : Pat<(type (dg_permute2 type:$a, type:$b, v32i32:$n)), (VPERM2 $a, $b, $n)>;
  def : Pat<(type (dg_broadcast_lane type:$a, timm:$n)), (VBCAST $a, timm:$n)>;
  def : Pat<(type (dg_align type:$a, type:$b, timm:$n)), (VALIGN $a, $b, timm:$n)>;
}

// ---- Reductions -----------------------------------------------------------------------------------------------------
def SDTReduceInt : SDTypeProfile<1, 1, [SDTCisVT<0, i64>, SDTCisVT<1, v32i32>]>;
def SDTReduceFloat : SDTypeProfile<1, 1, [SDTCisVT<0, f32>, SDTCisVT<1, v32f32>]>;
def SDTReduceOrdered : SDTypeProfile<1, 2, [SDTCisVT<0, f32>, SDTCisVT<1, f32>, SDTCisVT<2, v32f32>]>;
foreach pair = ["ADD:SUM_I32", "MUL:MUL_I32", "SMIN:MIN_I32", "SMAX:MAX_I32", "UMIN:MIN_U32", "UMAX:MAX_U32", "AND:AND", "OR:OR", "XOR:XOR"] in {
  defvar colon = !find(pair, ":");
  defvar node = !substr(pair, 0, colon);
  def dg_reduce_#node : SDNode<"ISD::VECREDUCE_" # node, SDTReduceInt>;
  def : Pat<(i64 (!cast<SDNode>("dg_reduce_" # node) v32i32:$a)), (!cast<Instruction>("VRED" # !substr(pair, !add(colon, 1))) $a)>;
}
foreach pair = ["FADD:SUM", "FMUL:MUL", "FMIN:MIN", "FMAX:MAX", "FMINIMUM:MINIMUM", "FMAXIMUM:MAXIMUM"] in {
  defvar colon = !find(pair, ":");
  defvar node = !substr(pair, 0, colon);
  def dg_reduce_#node : SDNode<"ISD::VECREDUCE_" # node, SDTReduceFloat>;
  def : Pat<(f32 (!cast<SDNode>("dg_reduce_" # node) v32f32:$a)), (!cast<Instruction>("VRED" # !substr(pair, !add(colon, 1)) # "_F32") $a)>;
}
def dg_reduce_seq_fadd : SDNode<"ISD::VECREDUCE_SEQ_FADD", SDTReduceOrdered>;
def dg_reduce_seq_fmul : SDNode<"ISD::VECREDUCE_SEQ_FMUL", SDTReduceOrdered>;
def : Pat<(f32 (dg_reduce_seq_fadd f32:$start, v32f32:$a)), (VREDOSUM_F32 $start, $a)>;
def : Pat<(f32 (dg_reduce_seq_fmul f32:$start, v32f32:$a)), (VREDOMUL_F32 $start, $a)>;

// The reciprocal is correctly rounded, so it is the quotient of one.
def one_f32 : PatLeaf<(f32 fpimm), [{ return N->isExactlyValue(1.0); }]>;
def : Pat<(v32f32 (fdiv (v32f32 (splat_vector one_f32)), v32f32:$a)), (VRCP_F32 $a)>;
