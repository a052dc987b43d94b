#!/usr/bin/env python3
"""Prints how much later the first byte of a streamed answer comes behind `toolyard watch`: `watch_latency.py [PROGRAM] [REQUESTS]`.

Each request goes to the same endpoint on this machine, once directly and once through toolyard, by turns, over one
connection each. Requests are of 1 kB, 80 kB and 400 kB. Ten of them are one conversation, which grows. Build the program
with `cargo build --release` first, and leave the machine alone meanwhile.
"""

import json
import multiprocessing
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

# Kilobytes of a request, and the milliseconds that its first byte may come later.
SIZES = {1: 0.5, 80: 0.5, 400: 2.0}
TURNS = 10
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def event(data):
    text = f"data: {data}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(text), text)


def chunk(choices, **more):
    return event(json.dumps({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more}))


FIRST = chunk([{"index": 0, "delta": {"role": "assistant", "content": "So it is."}, "finish_reason": None}])
REST = (
    chunk([{"index": 0, "delta": {}, "finish_reason": "stop"}])
    + chunk([], usage={"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13})
    + event("[DONE]")
    + b"0\r\n\r\n"
)


def serve(listener):
    """Answers on one connection after the other, each in a process of its own."""
    while True:
        client, _ = listener.accept()
        if os.fork() == 0:
            answer(client)
            os._exit(0)


def answer(client):
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    kept = bytearray()
    while True:
        while (end := kept.find(b"\r\n\r\n")) < 0:
            read = client.recv(1 << 20)
            if not read:
                return
            kept += read
        length = int(re.search(rb"(?i)content-length: *(\d+)", kept[:end])[1])
        while len(kept) < end + 4 + length:
            kept += client.recv(1 << 20)
        del kept[: end + 4 + length]
        client.sendall(HEAD + FIRST)
        client.sendall(REST)


def bodies(kilobytes, count):
    """Requests of about this size, in conversations that grow."""
    properties = {"city": {"type": "string", "description": "The city."}}
    function = {"name": "get_weather", "description": "The weather.", "parameters": {"type": "object", "properties": properties}}
    tools = [{"type": "function", "function": function}]
    text = "The quick brown fox jumps over \"the\" lazy dog.\n" * 20
    for number in range(count):
        if number % TURNS == 0:
            messages = [{"role": "system", "content": f"Conversation {number}."}]
            while sum(len(message["content"]) for message in messages) < kilobytes * 1000 - 2000:
                messages += [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
        messages += [{"role": "user", "content": f"Question {number}: how is it?"}]
        body = {"model": "m", "stream": True, "tools": tools, "messages": messages}
        yield json.dumps(body).encode()
        messages += [{"role": "assistant", "content": "So it is."}]


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.times = []

    def ask(self, body):
        head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: */*\r\n"
        head += b"authorization: Bearer sk-test-0123456789abcdef\r\ncontent-type: application/json\r\n"
        request = head + b"content-length: %d\r\n\r\n" % len(body) + body
        start, kept = time.perf_counter(), b""
        self.socket.sendall(request)
        while b"data:" not in kept:
            kept += self.expect()
        self.times.append((time.perf_counter() - start) * 1000)
        while not kept.endswith(b"0\r\n\r\n"):
            kept += self.expect()

    def expect(self):
        read = self.socket.recv(1 << 16)
        if not read:
            sys.exit("the connection ended")
        return read


def started(program, port, folder):
    """toolyard before the endpoint, and the port where it listens."""
    folders = {"HOME": folder, "XDG_RUNTIME_DIR": f"{folder}/run", "XDG_DATA_HOME": folder}
    environment = {**os.environ, **folders, "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}
    arguments = [program, "watch", "--headless", "--journal", f"{folder}/j.jsonl"]
    toolyard = subprocess.Popen(arguments, env=environment, stderr=subprocess.PIPE, text=True)
    for line in toolyard.stderr:
        if found := re.search(r"OPENAI_BASE_URL=http://127.0.0.1:(\d+)", line):
            break
    else:
        sys.exit("toolyard did not start")
    # Its further lines must not fill the pipe.
    reader = multiprocessing.Process(target=lambda: [None for _ in toolyard.stderr], daemon=True)
    reader.start()
    return toolyard, int(found[1])


def compared(program, kilobytes, requests):
    """The milliseconds to each first byte, directly and through toolyard; and the bytes of the journal."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    endpoint = multiprocessing.Process(target=serve, args=(listener,))
    endpoint.start()
    with tempfile.TemporaryDirectory() as folder:
        toolyard, own = started(program, port, folder)
        direct, through = Connection(port), Connection(own)
        for body in bodies(kilobytes, requests + TURNS):
            direct.ask(body)
            through.ask(body)
        toolyard.terminate()
        toolyard.wait()
        size = os.path.getsize(f"{folder}/j.jsonl")
    endpoint.kill()
    # The first ones warm up.
    return direct.times[TURNS:], through.times[TURNS:], size


def told(times):
    cuts = statistics.quantiles(times, n=100)
    return f"{cuts[49]:7.2f} {cuts[89]:7.2f} {cuts[98]:7.2f}"


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "target/release/toolyard"
    requests = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    is_fast = True
    print(f"{program}, {requests} requests of each size; milliseconds to the first byte: p50, p90, p99")
    for kilobytes, most in SIZES.items():
        direct, through, size = compared(program, kilobytes, requests)
        added = statistics.median(through) - statistics.median(direct)
        is_fast &= added < most
        print(f"{kilobytes:4} kB  direct {told(direct)}   through toolyard {told(through)}   added at p50 {added:5.2f} (limit {most})   journal {size / 1e6:.1f} MB")
    sys.exit(0 if is_fast else 1)


if __name__ == "__main__":
    main()
