"""Inside gdb: stops at every call of probe() and writes what each frame's variables are, as JSON, to the file that WALK_OUTPUT names."""
import json
import os

import gdb


def text(value, depth=2):
    """A value without addresses, which differ from build to build: pointers by what they point to."""
    try:
        if value.is_optimized_out:
            return "<optimized out>"
        kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_PTR:
            target = kind.target().strip_typedefs()
            if int(value) == 0:
                return "null"
            if target.code == gdb.TYPE_CODE_FUNC:
                block = gdb.block_for_pc(int(value))
                return "&" + str(block.function) if block else "&?"
            if target.code == gdb.TYPE_CODE_INT and target.sizeof == 1:
                return value.string(length=8, errors="replace") if depth else "..."
            if target.code == gdb.TYPE_CODE_VOID or not depth:
                return "*"
            return "*" + text(value.dereference(), depth - 1)
        if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            return "{" + ", ".join(f"{f.name}={text(value[f], depth)}" for f in kind.fields()) + "}"
        if kind.code == gdb.TYPE_CODE_ARRAY:
            low, high = kind.range()
            return "[" + ", ".join(text(value[i], depth) for i in range(low, min(high, low + 15) + 1)) + "]"
        return str(value)
    except gdb.error as error:
        return f"<error: {error}>"


def frames():
    frame = gdb.selected_frame()
    while frame is not None and frame.is_valid():
        function = frame.function()
        variables = {}
        if function is not None:
            try:
                block = frame.block()
            except RuntimeError:
                block = None
            while block is not None and not block.is_static and not block.is_global:
                for symbol in block:
                    if (symbol.is_variable or symbol.is_argument) and symbol.name not in variables:
                        try:
                            variables[symbol.name] = text(symbol.value(frame))
                        except gdb.error as error:
                            variables[symbol.name] = f"<error: {error}>"
                if block.function is not None:
                    break
                block = block.superblock
        yield {"function": frame.name(), "line": frame.find_sal().line, "inlined": frame.type() == gdb.INLINE_FRAME, "variables": variables}
        if frame.name() == "main":
            return
        frame = frame.older()


stops = []
gdb.execute("break probe", to_string=True)
while True:
    try:
        gdb.execute("continue", to_string=True)
        if gdb.selected_thread() is None:
            break
        stops.append(list(frames()))
    except gdb.error as error:
        stops.append(str(error))
        break
status = gdb.parse_and_eval("$_exitcode")
with open(os.environ["WALK_OUTPUT"], "w") as out:
    json.dump({"stops": stops, "status": str(status)}, out)
