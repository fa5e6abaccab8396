// Control and status registers: the name the assembler knows, the number, and what the machine keeps there. The model faults on others.
include "llvm/TableGen/SearchableTable.td"
class ControlRegister<bits<12> number, string name, string doc> {
  bits<12> Number = number;
  string Name = name;
  string Documentation = doc;
}
def : ControlRegister<0x001, "fflags", "Accrued floating-point exceptions of the scalar unit: bits NV 16, DZ 8, OF 4, UF 2, NX 1.">;
def : ControlRegister<0x002, "frm", "Rounding mode of scalar floating-point instructions that say `dyn`; 0 at start (to nearest, ties to even).">;
def : ControlRegister<0x003, "fcsr", "frm in bits 7..5 and fflags in bits 4..0.">;
def : ControlRegister<0x300, "mstatus", "Kept, and without effect: there is one privilege level.">;
def : ControlRegister<0x301, "misa", "The RISC-V base and extensions; read only.">;
def : ControlRegister<0x304, "mie", "Kept, and without effect: there are no interrupts.">;
def : ControlRegister<0x305, "mtvec", "Kept, and without effect: a trap ends the program with a report.">;
def : ControlRegister<0x340, "mscratch", "Kept, and without effect.">;
def : ControlRegister<0x341, "mepc", "Kept, and without effect: the report names the instruction that trapped.">;
def : ControlRegister<0x342, "mcause", "Kept, and without effect: the report has the reason.">;
def : ControlRegister<0x343, "mtval", "Kept, and without effect: the report has the address or the instruction.">;
def : ControlRegister<0xB00, "mcycle", "Cycles, as cycle; read only.">;
def : ControlRegister<0xB02, "minstret", "Instructions retired, as instret; read only.">;
def : ControlRegister<0xC00, "cycle", "Cycles since the core started; in functional mode the instructions retired.">;
def : ControlRegister<0xC01, "time", "Device time in nanoseconds; in functional mode the instructions retired.">;
def : ControlRegister<0xC02, "instret", "Instructions this core has retired.">;
def : ControlRegister<0xCC0, "dgcores", "The number of cores that take part in the launch (custom, read only).">;
def : ControlRegister<0xF14, "mhartid", "This core's number, from 0.">;

def ControlRegisters : GenericTable {
  let FilterClass = "ControlRegister";
  let Fields = ["Name", "Number"];
}
def controlRegisterByNumber : SearchIndex { let Table = ControlRegisters; let Key = ["Number"]; }
def controlRegisterByName : SearchIndex { let Table = ControlRegisters; let Key = ["Name"]; }
