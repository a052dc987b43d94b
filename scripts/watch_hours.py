#!/usr/bin/env python3
"""Prints the memory of `toolyard watch` each minute for hours: `watch_hours.py [PROGRAM] [--hours H]`.

An agent makes ten requests a second, in conversations of twenty turns. Beside it a hostile one has a new key in each
request, a past that grows, streams that are cut, and odd events; it hangs up in the middle of some answers. Both ask an
endpoint of this script. The exit code is 1 if memory at the end is not within 10 % of that after ten minutes, or if a
request of the agent failed. A run of less than twenty minutes compares with that after the half. Linux only. Build the
program with `cargo build --release` first.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RATE = 10
HOSTILE_RATE = 2
TURNS = 20
# Bytes of a hostile past, after which another one begins.
LONGEST = 300_000
MINUTE = 60
WARM = 10 * MINUTE
MOST = 0.10

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    text = json.dumps({"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice]})
    return f"data: {text}\n\n".encode()


ODD = [
    b"\n\n\n\n",
    b": nothing\n\n",
    b"data:\n\n",
    b"event: unheard\ndata: {\"type\":\"unheard\"}\n\n",
    b"data: \xff\xfe\n\n",
    b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\n\n",
    b"data: " + b"x" * 200_000 + b"\n\n",
    b"data: x\n" * 20_000 + b"\n",
]


async def request(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
    return await reader.readexactly(length)


async def endpoint(reader, writer):
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            body = await request(reader)
            is_hostile = b"hostile" in body
            call = {"index": 0, "id": f"c{random.random()}", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
            parts = [event({"role": "assistant", "content": "So it is. "}), event({"tool_calls": [call]}), event({}, "tool_calls")]
            if is_hostile:
                parts.insert(random.randrange(len(parts)), random.choice(ODD))
            writer.write(HEAD)
            for part in parts:
                if is_hostile and random.random() < 0.1:
                    return writer.close()
                writer.write(chunk(part))
                await writer.drain()
            writer.write(chunk(b"data: [DONE]\n\n") + LAST)
            await writer.drain()
    writer.close()


async def ask(port, messages, headers="", hangs_up=False):
    """The call that the answer has; none: it was cut."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    try:
        body = json.dumps({"model": "m", "stream": True, "tools": [TOOL], "messages": messages}).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}content-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        if hangs_up:
            await reader.read(200)
            return None
        answer = await reader.readuntil(LAST)
        found = re.search(rb'"id": "(c[^"]*)"', answer)
        return found and found[1].decode()
    finally:
        writer.close()


def turn(messages, call):
    """The past with the call of an answer and its result."""
    function = {"name": "weather", "arguments": "{}"}
    messages.append({"role": "assistant", "content": "So it is. ", "tool_calls": [{"id": call, "type": "function", "function": function}]})
    messages.append({"role": "tool", "tool_call_id": call, "content": f"rain {random.random()} " + "and wind " * 30})


async def agent(port, counts):
    number = 0
    while True:
        messages = [{"role": "user", "content": f"How is it, number {number}?"}]
        for _ in range(TURNS):
            begun = time.monotonic()
            try:
                call = await ask(port, messages)
            except (OSError, asyncio.IncompleteReadError):
                call = None
            counts["agent" if call else "failed"] += 1
            turn(messages, call or "none")
            await asyncio.sleep(max(0, 1 / RATE - (time.monotonic() - begun)))
        number += 1


async def hostile(port, counts):
    while True:
        messages = [{"role": "user", "content": f"hostile {random.random()}"}]
        while len(json.dumps(messages)) < LONGEST:
            key = random.randbytes(24).hex()
            headers = f"x-session-token: {key}\r\nauthorization: Bearer {key[::-1]}\r\n"
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                call = await ask(port, messages, headers, hangs_up=random.random() < 0.1)
                turn(messages, call or "c1")
            messages.append({"role": "user", "content": "More. " * random.randrange(500)})
            counts["hostile"] += 1
            await asyncio.sleep(1 / HOSTILE_RATE)


def resident(process):
    """Megabytes of resident memory."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s*(\d+)", status)[1]) / 1000


async def watched(program, seconds, folder):
    """Whether all is well."""
    server = await asyncio.start_server(endpoint, "127.0.0.1", 0, limit=1 << 22)
    port = server.sockets[0].getsockname()[1]
    environment = {**os.environ, "HOME": folder, "XDG_DATA_HOME": folder, "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}
    command = [program, "watch", "--headless", "--journal", f"{folder}/j.jsonl"]
    toolyard = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        own = next(int(found[1]) for line in toolyard.stderr if (found := re.search(r"OPENAI_BASE_URL=http://127.0.0.1:(\d+)", line)))
        # Its further lines must not fill the pipe.
        drained = asyncio.get_running_loop().run_in_executor(None, toolyard.stderr.read)
        counts = {"agent": 0, "hostile": 0, "failed": 0}
        tasks = [asyncio.create_task(work(own, counts)) for work in (agent, hostile)]
        begun, first, mark = time.monotonic(), None, min(WARM, seconds / 2)
        while (passed := time.monotonic() - begun) < seconds:
            to_mark = mark - passed if passed < mark else MINUTE
            await asyncio.sleep(max(0.1, min(MINUTE - passed % MINUTE, seconds - passed, to_mark)))
            if any(task.done() for task in tasks):
                await asyncio.gather(*tasks)
            passed, memory = time.monotonic() - begun, resident(toolyard.pid)
            if first is None and passed >= mark:
                first = memory
            size = os.path.getsize(f"{folder}/j.jsonl") / 1e6
            print(f"{passed / MINUTE:6.1f} min  {memory:6.1f} MB resident  {counts['agent']} and {counts['hostile']} requests, {counts['failed']} failed, journal {size:.1f} MB", flush=True)
    finally:
        toolyard.terminate()
        toolyard.wait()
    for task in tasks:
        task.cancel()
    lines = await drained
    grown = memory / first - 1
    is_steady = abs(grown) <= MOST
    print(f"memory at the end beside that after {mark / MINUTE:.1f} min: {grown:+.1%} (limit {MOST:.0%}): {'steady' if is_steady else 'not steady'}")
    return is_steady and not counts["failed"] and "panicked" not in lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", default="target/release/toolyard")
    parser.add_argument("--hours", type=float, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        is_well = asyncio.run(watched(os.path.abspath(options.program), options.hours * 60 * MINUTE, folder))
    sys.exit(0 if is_well else 1)


main()
