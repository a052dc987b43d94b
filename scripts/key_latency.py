#!/usr/bin/env python3
"""Prints how long a key takes to the screen while a session runs: from the write into a pseudo-terminal
until the palette that the key opens is read from it. Linux or macOS.

  cargo build --release && scripts/key_latency.py [PROGRAM] [--conversations N]

With N the session watches an agent with N conversations at once at full speed, at an endpoint of this script. Agent,
endpoint and this script are processes of their own, so that none of them waits for another's interpreter.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from terminal import ours, read, theirs

ROUNDS = 200
# What the palette's frame says, and no other part of the screen.
PALETTE = b"Palette"

# Each conversation calls a tool in turn, and begins again after twenty turns.
AGENT = """
import json, os, sys, threading, urllib.request
tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
def ask(messages):
    body = json.dumps({"model": "m", "tools": [tool], "messages": messages}).encode()
    head = {"content-type": "application/json"}
    return json.load(urllib.request.urlopen(urllib.request.Request(url, body, head)))["choices"][0]["message"]
def talk(number):
    while True:
        messages = [{"role": "user", "content": f"How is the weather at place {number}?"}]
        for _ in range(20):
            said = ask(messages)
            messages.append(said)
            for call in said["tool_calls"]:
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": "rain and wind"})
for number in range(int(sys.argv[1])):
    threading.Thread(target=talk, args=(number,)).start()
"""


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        call = {"id": f"c{time.monotonic_ns()}", "type": "function", "function": {"name": "weather", "arguments": '{"place": "Oslo"}'}}
        message = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        body = json.dumps({"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 512

    def handle_error(self, *_):
        """The agent of an earlier run has hung up."""


def serve(told):
    server = Server(("127.0.0.1", 0), Endpoint)
    told.send(f"http://127.0.0.1:{server.server_port}/v1")
    server.serve_forever()


def endpoint():
    """The address of an endpoint in a process of its own."""
    address, told = multiprocessing.Pipe(duplex=False)
    multiprocessing.Process(target=serve, args=(told,), daemon=True).start()
    return address.recv()


def measured(arguments, environment, first, rounds):
    """The seconds of each key, from the shortest on."""
    run = subprocess.Popen(arguments, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    try:
        if not read(first, 20):
            sys.exit("no frame came within 20 s")
        os.write(ours, b" " if first == b"SIMULATED" else b"6")
        read(b"\0", 3)
        times = []
        for _ in range(rounds):
            read(b"\0", 0.1)
            start = time.perf_counter()
            os.write(ours, b":")
            if not read(PALETTE, 5):
                sys.exit("the palette did not come within 5 s")
            times.append(time.perf_counter() - start)
            # Together with the next key, an escape would be another key.
            os.write(ours, b"\x1b")
            read(b"\0", 0.3)
        return sorted(times)
    finally:
        # It ends its agent.
        run.terminate()
        run.wait()


def keys(program, conversations, rounds=ROUNDS):
    """The seconds of each key beside an agent with this many conversations; 0: beside toolyard's own agent."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"HOME": home, "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home, "XDG_RUNTIME_DIR": home, "TERM": "xterm-256color"}
        if not conversations:
            return measured([program, "--no-journal", "--tasks-limit", "2000"], environment, b"SIMULATED", rounds)
        environment["OPENAI_BASE_URL"] = endpoint()
        agent = Path(home, "agent.py")
        agent.write_text(AGENT)
        command = [program, "watch", "--no-journal", "--", sys.executable, agent, str(conversations)]
        return measured(command, environment, b"onversation", rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", default=Path(__file__).parents[1] / "target/release/toolyard")
    parser.add_argument("--conversations", type=int, default=0)
    options = parser.parse_args()
    times = keys(options.program, options.conversations)
    middle, late = times[len(times) // 2], times[len(times) * 99 // 100]
    print(f"key to screen: median {middle * 1e3:.1f} ms, 99 of 100 within {late * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
