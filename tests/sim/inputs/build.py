"""build.py SOURCE.c OUT: OUT.host by the host's compiler, OUT.elf and OUT.compressed.elf for the device by stock clang and lld, so that
the model is tested against a toolchain that is not ours."""
import glob
import subprocess
import sys
from pathlib import Path

source, out = sys.argv[1:]
llvm, picolibc = "/usr/lib/llvm-22/bin", "/usr/lib/picolibc/riscv64-unknown-elf"
library = f"{picolibc}/lib/release/rv64im/lp64"
script = Path(__file__).resolve().parents[3] / "backend" / "device" / "program.ld"
strict = ["-O2", "-fwrapv", "-ffp-contract=off", "-fno-builtin"]


def run(*command):
    subprocess.run(command, check=True)


run(f"{llvm}/clang", *strict, source, "-o", f"{out}.host")
for name, march in (("elf", "rv64ima_zicsr_zfinx_zdinx_zba_zbb"), ("compressed.elf", "rv64imac_zicsr_zfinx_zdinx")):
    run(f"{llvm}/clang", "--target=riscv64-unknown-elf", f"-march={march}", "-mabi=lp64", "-mcmodel=medany", "-g", *strict, "-isystem", f"{picolibc}/include", "-c", source, "-o", f"{out}.o")
    run(f"{llvm}/ld.lld", "--defsym=__call_exitprocs=_fini", "-T", script, f"{library}/crt0-semihost.o", f"{out}.o", "--start-group", f"{library}/libc.a", f"{library}/libm.a", f"{library}/libsemihost.a",
        *glob.glob("/usr/lib/gcc/riscv64-unknown-elf/*/rv64im/lp64/libgcc.a"), "--end-group", "-o", f"{out}.{name}")
