// The registers. Assembly prints the ABI names of x0..x31 and also reads the plain ones.
class DougongReg<bits<5> number, string name, list<string> alternatives = []> : Register<name, alternatives> {
  let Namespace = "Dougong";
  let HWEncoding{4-0} = number;
}
let Namespace = "Dougong" in def XName : RegAltNameIndex;

class XReg<bits<5> number, string abi> : DougongReg<number, abi, ["x" # !cast<int>(number)]>, DwarfRegNum<[!cast<int>(number)]> {
  let RegAltNameIndices = [XName];
}
def X0 : XReg<0, "zero">;
def X1 : XReg<1, "ra">;
def X2 : XReg<2, "sp">;
def X3 : XReg<3, "gp">;
def X4 : XReg<4, "tp">;
def X5 : XReg<5, "t0">;
def X6 : XReg<6, "t1">;
def X7 : XReg<7, "t2">;
def X8 : XReg<8, "s0">;
def X9 : XReg<9, "s1">;
foreach i = 0-7 in def X#!add(i, 10) : XReg<!add(i, 10), "a" # i>;
foreach i = 2-11 in def X#!add(i, 16) : XReg<!add(i, 16), "s" # i>;
foreach i = 3-6 in def X#!add(i, 25) : XReg<!add(i, 25), "t" # i>;

// DWARF numbers of v0..v31 are those of RISC-V's vector registers; the masks take custom ones.
foreach i = 0-31 in def V#i : DougongReg<i, "v" # i>, DwarfRegNum<[!add(i, 96)]>;
foreach i = 0-7 in def M#i : DougongReg<i, "m" # i>, DwarfRegNum<[!add(i, 3072)]>;

// Floats, f16 and bf16 included, live in the integer registers (Zfinx, Zdinx). Order: what a caller need not save comes first.
def GPR : RegisterClass<"Dougong", [i64, f64, f32, f16, bf16], 64,
    (add (sequence "X%u", 10, 17), (sequence "X%u", 5, 7), (sequence "X%u", 28, 31), (sequence "X%u", 8, 9), (sequence "X%u", 18, 27),
         X1, X0, X2, X3, X4)> {
  let Size = 64;
}
// 1024 bits (of 32 narrow lanes, the low part); memory accesses want 16-byte alignment only.
def VR : RegisterClass<"Dougong", [v32f32, v32i32, v32f16, v32bf16, v32i16, v32i8, v64f16, v64bf16, v64i16, v128i8, v16i64, v16f64], 128, (sequence "V%u", 0, 31)> {
  let Size = 1024;
}
// One bit a lane: lane i of an operation on 32 lanes is bit i.
def MR : RegisterClass<"Dougong", [v32i1, v64i1, v128i1], 128, (sequence "M%u", 0, 7)> {
  let Size = 128;
}
