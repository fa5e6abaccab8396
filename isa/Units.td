// Who executes an instruction, and for how long. The model's timing (sim/) and the compiler's schedule (backend/) both come from here.
//
// An in-order core issues, in a cycle, at most one instruction to each of: the scalar unit (branches too), vector pipe A
// (multiply-add, divide, transcendental), vector pipe B (min/max, convert, logic, permute, reduce), the memory unit (loads, stores, engine
// commands). Simple vector arithmetic goes to whichever pipe is free. The fetch unit ends hardware loops (Loop.td) beside them, and takes no issue slot.
class Unit<string name> { string Name = name; }
def UnitScalar : Unit<"scalar">;
def UnitA : Unit<"a">;
def UnitB : Unit<"b">;
def UnitAB : Unit<"ab">;
def UnitMemory : Unit<"memory">;
def UnitFetch : Unit<"fetch">;

// What an instruction costs: its result can be used `latency` cycles after issue; the unit takes no other instruction for `occupancy` cycles.
class Timing<Unit unit, int latency, int occupancy = 1> : SchedWrite {
  Unit ExecutionUnit = unit;
  int Latency = latency;
  int Occupancy = occupancy;
}
def Alu : Timing<UnitScalar, 1>;
def Branch : Timing<UnitScalar, 1>;
def LoopEnd : Timing<UnitFetch, 1>;
def Csr : Timing<UnitScalar, 1>;
def Multiply : Timing<UnitScalar, 3>;
def Divide : Timing<UnitScalar, 20, 20>;
def Float : Timing<UnitScalar, 4>;
def FloatMove : Timing<UnitScalar, 1>;
def FloatDivide : Timing<UnitScalar, 15, 12>;
def FloatDivide64 : Timing<UnitScalar, 25, 22>;
def Load : Timing<UnitMemory, 3>;
def Store : Timing<UnitMemory, 1>;
def Atomic : Timing<UnitMemory, 8, 4>;
def Command : Timing<UnitMemory, 4, 2>;
def VSimple : Timing<UnitAB, 2>;     // integer add, logic, shift, move
def VFloat : Timing<UnitAB, 4>;      // f32 add and multiply
def VMulAdd : Timing<UnitA, 4>;
def VTranscendental : Timing<UnitA, 12, 4>;
def VDivide : Timing<UnitA, 20, 16>;
def VCompare : Timing<UnitB, 2>;     // min, max, compare, select
def VConvert : Timing<UnitB, 3>;
def VPermute : Timing<UnitB, 3>;
def VReduce : Timing<UnitB, 12, 5>;
def VReduceOrdered : Timing<UnitB, 128, 128>;
def VScalarMove : Timing<UnitB, 3>;  // between vector or mask and scalar registers
def MaskLogic : Timing<UnitB, 1>;
def VLoad : Timing<UnitMemory, 4>;
def VStore : Timing<UnitMemory, 1>;
def VAddress : Timing<UnitMemory, 1>; // the address register that a load moves on: known before the data
def VGather : Timing<UnitMemory, 12, 8>;
def VScatter : Timing<UnitMemory, 8, 8>;

// The schedule's view: an in-order machine with these ports.
def DougongModel : SchedMachineModel {
  let IssueWidth = 4;
  let MicroOpBufferSize = 0;
  let LoadLatency = 3;
  let MispredictPenalty = 4;
  let PostRAScheduler = 1;
  let CompleteModel = 0;
}
let SchedModel = DougongModel in {
  let BufferSize = 0 in {
    def PortScalar : ProcResource<1>;
    def PortA : ProcResource<1>;
    def PortB : ProcResource<1>;
    def PortMemory : ProcResource<1>;
  }
  def PortAB : ProcResGroup<[PortA, PortB]> { let BufferSize = 0; }

  def : WriteRes<LoopEnd, []> { let NumMicroOps = 0; }
  def : WriteRes<VAddress, []> { let NumMicroOps = 0; }
  foreach timing = [Alu, Branch, Csr, Multiply, Divide, Float, FloatMove, FloatDivide, FloatDivide64, Load, Store, Atomic, Command, VSimple, VFloat,
                    VMulAdd, VTranscendental, VDivide, VCompare, VConvert, VPermute, VReduce, VReduceOrdered, VScalarMove, MaskLogic, VLoad,
                    VStore, VGather, VScatter] in
    def : WriteRes<timing, [!cast<ProcResourceKind>(!cond(!eq(timing.ExecutionUnit.Name, "scalar"): "PortScalar", !eq(timing.ExecutionUnit.Name, "a"): "PortA",
                                                          !eq(timing.ExecutionUnit.Name, "b"): "PortB", !eq(timing.ExecutionUnit.Name, "ab"): "PortAB",
                                                          true: "PortMemory"))]> {
      let Latency = timing.Latency;
      let ReleaseAtCycles = [timing.Occupancy];
    }
}
