#!/usr/bin/env python3
"""Prints what a long conversation costs behind `toolyard watch`: `watch_length.py [PROGRAM] [REQUESTS]`.

One conversation asks for a tool, and sends its result of 340 bytes with its whole past, again and again. Memory and CPU are
those of toolyard, headless with a journal. A body has to be read and passed on, so the CPU is told for each kilobyte of the
bodies. Build the program with `cargo build --release` first.
"""

import json
import multiprocessing
import os
import socket
import sys
import tempfile

from watch_latency import PROGRAM, Connection, serve, started

REQUESTS = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
# The most microseconds of CPU for a kilobyte.
MOST = 15
TICK = os.sysconf("SC_CLK_TCK")
FUNCTION = {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {"at": {"type": "integer"}}}}


def asked(number):
    """The turn with this number: a call and its result."""
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "look", "arguments": f'{{"at": {number}}}'}}
    text = f"Place {number} has " + f"a door {number}, a wall, and a window. " * 9
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": text[:340]},
    ]


def bodies(count):
    """Each request as bytes. Only the new part is written, since this script should cost less than what it measures."""
    tools = json.dumps([{"type": "function", "function": FUNCTION}])
    past = bytearray(f'{{"model": "m", "stream": true, "tools": {tools}, "messages": [{{"role": "user", "content": "Look around."}}'.encode())
    for number in range(count):
        past += "".join(", " + json.dumps(message) for message in asked(number)).encode()
        yield bytes(past) + b"]}"


def used(process):
    """Resident megabytes and CPU seconds."""
    with open(f"/proc/{process}/status") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return memory / 1000, (int(fields[11]) + int(fields[12])) / TICK


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    endpoint = multiprocessing.Process(target=serve, args=(listener,))
    endpoint.start()
    print(f"{PROGRAM}, one conversation")
    dearest = 0
    with tempfile.TemporaryDirectory() as folder:
        toolyard, own = started(listener.getsockname()[1], folder)
        client = Connection(own)
        sent, before = 0, used(toolyard.pid)[1]
        for number, body in enumerate(bodies(REQUESTS), 1):
            client.ask(body)
            sent += len(body)
            if number in (100, 500, 1000, 2000, 5000, REQUESTS):
                memory, cpu = used(toolyard.pid)
                each = (cpu - before) * 1e9 / sent
                dearest = max(dearest, each) if number > 100 else dearest
                journal = os.path.getsize(f"{folder}/j.jsonl") / 1e6
                line = f"{number:5} requests  {len(body) / 1000:7.0f} kB the last  {memory:6.0f} MB resident"
                print(f"{line}  {each:5.1f} µs of CPU a kB (limit {MOST})  journal {journal:.1f} MB", flush=True)
        toolyard.terminate()
        toolyard.wait()
    endpoint.kill()
    sys.exit(0 if dearest < MOST else 1)


if __name__ == "__main__":
    main()
