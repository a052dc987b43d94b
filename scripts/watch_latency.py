#!/usr/bin/env python3
"""Prints how much later the first byte of a streamed answer comes behind `toolyard watch`: `watch_latency.py [PROGRAM] [REQUESTS]`.

Each request goes to the same endpoint on this machine, once directly and once through toolyard, by turns, over one
connection each. Requests are of 1 kB, 80 kB and 400 kB, and of the wires of OpenAI chat, Gemini and Ollama. Ten of them are
one conversation, which grows. Build the program with `cargo build --release` first, and leave the machine alone meanwhile.
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
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ntransfer-encoding: chunked\r\n\r\n"
TEXT = "So it is."
FUNCTION = {
    "name": "get_weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "The city."}}},
}


def chunk(text):
    return b"%x\r\n%s\r\n" % (len(text), text)


def event(value):
    return chunk(b"data: %s\n\n" % json.dumps(value).encode())


def line(value):
    return chunk(json.dumps(value).encode() + b"\n")


def of_chat(choices, **more):
    return event({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **more})


def of_gemini(text, **more):
    content = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0, **more}
    return event({"candidates": [content], "modelVersion": "m", "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4}})


def of_ollama(text, **more):
    return line({"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": text}, **more})


class Chat:
    name, variable, base, path, kind = "chat", "OPENAI_BASE_URL", "/v1", "/v1/chat/completions", b"text/event-stream"
    first = of_chat([{"index": 0, "delta": {"role": "assistant", "content": TEXT}, "finish_reason": None}])
    rest = (
        of_chat([{"index": 0, "delta": {}, "finish_reason": "stop"}])
        + of_chat([], usage={"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13})
        + chunk(b"data: [DONE]\n\n")
    )

    def body(messages):
        messages = [{"role": role, "content": text} for role, text in messages]
        return {"model": "m", "stream": True, "tools": [{"type": "function", "function": FUNCTION}], "messages": messages}


class Gemini:
    name, variable, base, kind = "gemini", "GOOGLE_GEMINI_BASE_URL", "", b"text/event-stream"
    path = "/v1beta/models/m:streamGenerateContent?alt=sse"
    first, rest = of_gemini(TEXT), of_gemini("", finishReason="STOP")

    def body(messages):
        named = {"assistant": "model", "system": "user"}
        contents = [{"role": named.get(role, role), "parts": [{"text": text}]} for role, text in messages]
        return {"contents": contents, "tools": [{"functionDeclarations": [FUNCTION]}]}


class Ollama:
    name, variable, base, path, kind = "ollama", "OLLAMA_HOST", "", "/api/chat", b"application/x-ndjson"
    first = of_ollama(TEXT, done=False)
    rest = of_ollama("", done=True, done_reason="stop", prompt_eval_count=9, eval_count=4)
    body = Chat.body


def serve(listener, wire):
    """Answers on one connection after the other, each in a process of its own."""
    while True:
        client, _ = listener.accept()
        if os.fork() == 0:
            answer(client, wire)
            os._exit(0)


def answer(client, wire):
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
        client.sendall(HEAD % wire.kind + wire.first)
        client.sendall(wire.rest + b"0\r\n\r\n")


def bodies(wire, kilobytes, count):
    """Requests of about this size, in conversations that grow."""
    text = "The quick brown fox jumps over \"the\" lazy dog.\n" * 20
    for number in range(count):
        if number % TURNS == 0:
            messages = [("system", f"Conversation {number}.")]
            while sum(len(text) for _, text in messages) < kilobytes * 1000 - 2000:
                messages += [("user", text), ("assistant", text)]
        messages += [("user", f"Question {number}: how is it?")]
        yield json.dumps(wire.body(messages)).encode()
        messages += [("assistant", TEXT)]


class Connection:
    def __init__(self, port, path):
        self.path = path.encode()
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.times = []

    def ask(self, body):
        head = b"POST %s HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: */*\r\n" % self.path
        head += b"authorization: Bearer sk-test-0123456789abcdef\r\ncontent-type: application/json\r\n"
        request = head + b"content-length: %d\r\n\r\n" % len(body) + body
        start, kept = time.perf_counter(), b""
        self.socket.sendall(request)
        while TEXT.encode() not in kept:
            kept += self.expect()
        self.times.append((time.perf_counter() - start) * 1000)
        while not kept.endswith(b"0\r\n\r\n"):
            kept += self.expect()

    def expect(self):
        read = self.socket.recv(1 << 16)
        if not read:
            sys.exit("the connection ended")
        return read


def started(program, wire, port, folder):
    """toolyard before the endpoint, and the port where it listens."""
    folders = {"HOME": folder, "XDG_RUNTIME_DIR": f"{folder}/run", "XDG_DATA_HOME": folder}
    environment = {**os.environ, **folders, wire.variable: f"http://127.0.0.1:{port}{wire.base}"}
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


def compared(program, wire, kilobytes, requests):
    """The milliseconds to each first byte, directly and through toolyard; and the bytes of the journal."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    endpoint = multiprocessing.Process(target=serve, args=(listener, wire))
    endpoint.start()
    with tempfile.TemporaryDirectory() as folder:
        toolyard, own = started(program, wire, port, folder)
        direct, through = Connection(port, wire.path), Connection(own, wire.path)
        for body in bodies(wire, kilobytes, requests + TURNS):
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
    for wire in [Chat, Gemini, Ollama]:
        for kilobytes, most in SIZES.items():
            direct, through, size = compared(program, wire, kilobytes, requests)
            added = statistics.median(through) - statistics.median(direct)
            is_fast &= added < most
            print(f"{wire.name:6} {kilobytes:3} kB  direct {told(direct)}   through toolyard {told(through)}   added at p50 {added:5.2f} (limit {most})   journal {size / 1e6:.1f} MB", flush=True)
    sys.exit(0 if is_fast else 1)


if __name__ == "__main__":
    main()
