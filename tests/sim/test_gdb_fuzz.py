"""The gdb stub under mutated requests: it answers or refuses, and neither ends nor hangs. 200 streams, 10,000 with DOUGONG_LONG."""
import os
import pathlib
import random
import re
import socket
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("DOUGONG_BUILD", pathlib.Path(__file__).parents[2] / "build")).resolve()
SERVER = os.environ.get("DOUGONG_GDB_SERVER", f"{BUILD}/bin/dougong sim").split()  # another build of it, such as a sanitized one
INPUTS = pathlib.Path(__file__).parent / "inputs"
SANITIZER = 99  # its exit status when it has found something
STREAMS, SHARDS = (10_000, 4) if os.environ.get("DOUGONG_LONG") else (200, 1)

REQUESTS = [b"qSupported:multiprocess+;swbreak+", b"QStartNoAckMode", b"?", b"g", b"p20", b"p21", b"p41", b"P5=8877665544332211", b"P21=" + b"01" * 128, b"P41=" + b"ff" * 16, b"P20=0000008000000000",
            b"m80000000,40", b"m10000000,100", b"m18000000,8", b"x80000000,20", b"M10000000,4:01020304", b"X10000000,3:ab}\x03", b"M80000000,4:13000000", b"Z0,80000010,4", b"z0,80000010,4",
            b"Z2,10000000,8", b"Z2,80003000,4", b"z2,10000000,8", b"Z0,8ffffff0,4", b"s", b"vCont;s:1", b"vCont;s:1;c", b"vCont;r80000000,80000040:1;c:-1", b"vCont;c", b"c", b"C05", b"S05",
            b"vCont?", b"Hg2", b"Hc0", b"T1", b"T7", b"qC", b"qfThreadInfo", b"qsThreadInfo", b"qXfer:features:read:target.xml:0,fff", b"qXfer:threads:read::0,1000", b"qRcmd,656e67696e6573",
            b"qRcmd,68656c70", b"qRcmd,6d656d6f7279", b"qRcmd,636f726573", b"qAttached", b"qOffsets", b"bs", b"bc", b"vMustReplyEmpty", b"G" + b"00" * 4488]
NUMBERS = [b"0", b"1", b"-1", b"7fffffff", b"80000000", b"ffffffff", b"7fffffffffffffff", b"ffffffffffffffff", b"fffffffffffffffe", b"10000000000000000", b"10000000", b"103fffff", b"18000000", b"zz", b""]


def mutated(chance):
    """A request, as it is or damaged."""
    body = chance.choice(REQUESTS)
    for _ in range(chance.choice([0, 0, 1, 1, 2, 5])):
        kind = chance.randrange(6)
        at = chance.randrange(len(body) + 1)
        if kind == 0:
            body = body[:at] + bytes([chance.randrange(256)]) + body[at + 1:]
        elif kind == 1:
            body = body[:at] + body[at + chance.randrange(8):]
        elif kind == 2:
            body = body[:at] + bytes(chance.choice(b":;,=#$}*0f\x03\x00") for _ in range(3)) + body[at:]
        elif kind == 3:
            other = chance.choice(REQUESTS)
            body = body[:at] + other[chance.randrange(len(other) + 1):]
        else:
            numbers = list(re.finditer(rb"[0-9a-f]+", body))
            if numbers:
                found = chance.choice(numbers)
                body = body[:found.start()] + chance.choice(NUMBERS) + body[found.end():]
    return body


def packet(body, chance):
    wrong = chance.randrange(40) == 0
    framed = b"$" + body + b"#" + f"{(sum(body) + wrong) % 256:02x}".encode()
    return framed[:chance.randrange(len(framed))] if chance.randrange(60) == 0 else framed


def answered(connection):
    """Waits until the stub has answered a plain question behind everything else; False if it has closed the connection, as it does at the program's end."""
    received = b""
    connection.sendall(b"#00\x03$qC#b4" * 2)
    while not re.search(rb"\$QC[0-9a-f]+#", received[-4096:]):
        more = connection.recv(65536)
        if not more:
            return False
        received += more
    return True


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    out = tmp_path_factory.mktemp("fuzz") / "lanes.elf"
    subprocess.run([BUILD / "bin" / "dougong-cc", "-g", "-O2", INPUTS / "lanes.c", "-o", out], check=True)
    return out


@pytest.mark.parametrize("shard", range(SHARDS))
def test_mutated_requests(program, shard, tmp_path):
    chance = random.Random(f"gdb {shard}")
    model = None
    log = tmp_path / "stderr"

    def started():
        errors = open(log, "wb")
        options = chance.choice([[], [], ["--timing"]])
        process = subprocess.Popen([*SERVER, "--gdb", "0", "--max-instructions", "30000", *options, program], stdout=subprocess.DEVNULL, stderr=errors,
                                   env=os.environ | {"ASAN_OPTIONS": f"exitcode={SANITIZER}", "UBSAN_OPTIONS": f"halt_on_error=1:exitcode={SANITIZER}"})
        while not (found := re.search(rb"target remote :(\d+)", log.read_bytes())):
            assert process.poll() is None, log.read_bytes()
        return process, int(found.group(1))

    for number in range(STREAMS // SHARDS):
        if model is None or model.poll() is not None:
            model, port = started()
        stream = b"".join(packet(mutated(chance), chance) for _ in range(chance.randrange(1, 30)))
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                connection.sendall(stream)
                alive = chance.randrange(4) == 0 or answered(connection)  # some leave at once
        except TimeoutError:
            model.kill()
            pytest.fail(f"stream {number} of shard {shard} is not answered: {stream!r}")
        except (ConnectionResetError, BrokenPipeError, ConnectionRefusedError):
            alive = False
        if not alive:
            try:
                status = model.wait(timeout=30)
            except subprocess.TimeoutExpired:
                model.kill()
                pytest.fail(f"stream {number} of shard {shard}: the connection has ended, and the program goes on: {stream!r}")
            assert status >= 0 and status != SANITIZER, f"stream {number} of shard {shard}: status {status}: {log.read_text()[-3000:]}: {stream!r}"
    if model.poll() is None:
        model.kill()
        model.wait()
