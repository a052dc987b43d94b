#!/usr/bin/env python3
"""Prints how long 200 streams at once take behind `toolyard watch`, with and without one held request: `watch_held.py [PROGRAM]`.

Each stream has 20 chunks in two seconds. Build the program with `cargo build --release` first, and leave the machine alone.
"""

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "target/release/toolyard"
STREAMS, CHUNKS, PAUSE, ROUNDS = 200, 20, 0.1, 3
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(text):
    data = f"data: {text}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(data), data)


def delta(content, finish=None):
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return chunk(json.dumps({"id": "x", "model": "m", "choices": [choice]}))


async def read_message(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    return await reader.readexactly(int(length[1])) if length else b""


async def endpoint(reader, writer):
    try:
        while True:
            await read_message(reader)
            writer.write(HEAD)
            for number in range(CHUNKS):
                writer.write(delta(f"{number} "))
                await writer.drain()
                await asyncio.sleep(PAUSE)
            writer.write(delta("", "stop") + chunk("[DONE]") + b"0\r\n\r\n")
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass


async def ask(port, number):
    """Seconds until the stream has ended."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    message = {"role": "user", "content": f"Count, number {number}."}
    body = json.dumps({"model": "m", "stream": True, "messages": [message]}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n"
    begun = asyncio.get_running_loop().time()
    writer.write(head % len(body) + body)
    await reader.readuntil(b"0\r\n\r\n")
    writer.close()
    return asyncio.get_running_loop().time() - begun


async def one_round(port, arguments):
    environment = {**os.environ, "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}
    command = [PROGRAM, "watch", "--headless", "--no-journal", *arguments]
    toolyard = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    own = next(found[1] for line in toolyard.stderr if (found := re.search(r"OPENAI_BASE_URL=http://127.0.0.1:(\d+)", line)))
    drained = asyncio.get_running_loop().run_in_executor(None, toolyard.stderr.read)
    # The first request is the held one, if any is.
    first = asyncio.create_task(ask(own, 0))
    await asyncio.sleep(0.3)
    times = await asyncio.gather(*(ask(own, number) for number in range(1, STREAMS)))
    first.cancel()
    toolyard.terminate()
    await drained
    return times


async def main():
    server = await asyncio.start_server(endpoint, "127.0.0.1", 0, backlog=1024)
    port = server.sockets[0].getsockname()[1]
    p99 = {}
    for name, arguments in {"none held": [], "one held": ["--break", "models:before:hits=1", "--hold", "60"]}.items():
        times = [time for _ in range(ROUNDS) for time in await one_round(port, arguments)]
        p99[name] = statistics.quantiles(times, n=100)[98]
        print(f"{name}: {len(times)} streams of {CHUNKS * PAUSE:.0f} s, p50 {statistics.median(times):.3f} s, p99 {p99[name]:.3f} s")
    print(f"p99 with one held: {p99['one held'] / p99['none held'] - 1:+.1%} (limit 10 %)")


asyncio.run(main())
