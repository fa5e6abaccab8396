"""Inside gdb: goes from main through UNWIND_STEPS instructions, and writes those from which the way back does not lead to main and main's caller."""
import os

import gdb

gdb.execute("set backtrace past-main on")
gdb.execute("tbreak main", to_string=True)
gdb.execute("continue", to_string=True)


def way_back():
    """Names outwards; at the end main's caller as (name, pc, sp), the same wherever the program is."""
    frame, names = gdb.newest_frame(), []
    while frame is not None and frame.name() != "main" and len(names) < 60:
        names.append(frame.name())
        frame = frame.older()
    while frame is not None and frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    caller = frame.older() if frame is not None else None
    return names, caller and (caller.name(), caller.pc(), int(caller.read_register("sp")))


caller = way_back()[1]
lost, steps = [], 0
for _ in range(int(os.environ["UNWIND_STEPS"])):
    gdb.execute("stepi", to_string=True)
    if gdb.newest_frame().pc() == caller[1]:  # main has returned
        break
    steps += 1
    names, found = way_back()
    if found != caller:
        lost.append(f"{gdb.newest_frame().pc():#x}: {names}")
with open(os.environ["UNWIND_OUTPUT"], "w") as out:
    print(steps, *lost, sep="\n", file=out)
