#!/usr/bin/env python3
"""Prints how much longer a call of an MCP tool takes behind `toolyard mcp`: `relay_latency.py [PROGRAM] [CALLS]`.

The server is this script, which answers at once. Calls go to it directly and through a relay, by turns: of 100 bytes and of
100 kB, in a session of the relay's own with a journal, and in one of `toolyard watch`. Build the program with `cargo build
--release` first, and leave the machine alone meanwhile.
"""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# Bytes of the arguments, and the milliseconds that the median call may take longer.
SIZES = {100: 0.5, 100_000: 1.0}


def serve():
    for line in sys.stdin.buffer:
        said = json.loads(line)
        text = said["params"]["arguments"]["text"]
        result = {"content": [{"type": "text", "text": text}]}
        answer = {"jsonrpc": "2.0", "id": said["id"], "result": result}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


class Server:
    def __init__(self, before, environment):
        command = [*before, sys.executable, __file__, "--serve"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=environment, **pipes)
        self.number = 0

    def call(self, size):
        self.number += 1
        params = {"name": "echo", "arguments": {"text": "x" * size}}
        request = {"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params}
        line = json.dumps(request).encode() + b"\n"
        began = time.perf_counter()
        self.process.stdin.write(line)
        self.process.stdin.flush()
        self.process.stdout.readline()
        return (time.perf_counter() - began) * 1000


def compared(plain, relayed, size, calls):
    """The milliseconds of each call of this size, directly and through the relay."""
    times = ([], [])
    for n in range(calls + 50):
        for server, own in zip((plain, relayed), times):
            took = server.call(size)
            # The first ones warm up.
            if n >= 50:
                own.append(took)
    return times


@contextlib.contextmanager
def relays(program):
    """The server itself, and relays to it by name."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "XDG_RUNTIME_DIR": f"{home}/run", "XDG_DATA_HOME": home}
        own = Server([program, "mcp", "--journal", f"{home}/own.jsonl", "--"], environment)
        watch = [program, "watch", "--headless", "--journal", f"{home}/watch.jsonl"]
        watched = subprocess.Popen(watch, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        session = Server([program, "mcp", "--session", str(watched.pid), "--"], environment)
        yield Server([], environment), {"a session of its own": own, "a watched session": session}
        watched.terminate()
        watched.wait()


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/toolyard")
    calls = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    is_good = True
    with relays(program) as (plain, relayed):
        for name, relay in relayed.items():
            for size, most in SIZES.items():
                times = compared(plain, relay, size, calls)
                direct, behind = (statistics.median(own) for own in times)
                added, slowest = behind - direct, statistics.quantiles(times[1], n=100)[98] - direct
                is_good &= added < most
                print(f"{name}, {size} bytes: {direct:.3f} ms directly, {added:.3f} ms longer (p50), {slowest:.3f} ms (p99)")
    return 0 if is_good else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        sys.exit(main())
