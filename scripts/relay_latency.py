#!/usr/bin/env python3
"""Prints how much longer a call of an MCP tool takes behind `toolyard mcp`: `relay_latency.py [PROGRAM] [CALLS]`.

The server is this script, which answers at once. Calls go to it directly and through a relay, by turns: of 100 bytes and of
100 kB, in a session of the relay's own with a journal, and in one of `toolyard watch`. Build the program with `cargo build
--release` first, and leave the machine alone meanwhile.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

# Bytes of the arguments, and the milliseconds that the median call may take longer.
SIZES = {100: 1.0, 100_000: 4.0}


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


def compare(name, plain, relayed, calls):
    is_good = True
    for size, most in SIZES.items():
        times = ([], [])
        for n in range(calls + 50):
            for server, own in zip((plain, relayed), times):
                took = server.call(size)
                if n >= 50:
                    own.append(took)
        direct, behind = (statistics.median(own) for own in times)
        added, slowest = behind - direct, statistics.quantiles(times[1], n=100)[98] - direct
        is_good &= added < most
        print(f"{name}, {size} bytes: {direct:.3f} ms directly, {added:.3f} ms longer (p50), {slowest:.3f} ms (p99)")
    return is_good


def main():
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/toolyard")
    calls = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "XDG_RUNTIME_DIR": f"{home}/run", "XDG_DATA_HOME": home}
        plain = Server([], environment)
        journal = ["--journal", f"{home}/own.jsonl"]
        own = Server([program, "mcp", *journal, "--"], environment)
        is_good = compare("a session of its own", plain, own, calls)
        watch = [program, "watch", "--headless", "--journal", f"{home}/watch.jsonl"]
        watched = subprocess.Popen(watch, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        session = ["--session", str(watched.pid)]
        is_good &= compare("a watched session", plain, Server([program, "mcp", *session, "--"], environment), calls)
        watched.terminate()
        watched.wait()
    return 0 if is_good else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        sys.exit(main())
