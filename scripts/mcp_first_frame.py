#!/usr/bin/env python3
"""Milliseconds to the first frame with eight MCP servers, two of which hang, and with none; runs alternate.

Usage: scripts/mcp_first_frame.py PROGRAM [RUNS]
"""
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "benches"))

from measure.terminal import first_frame  # noqa: E402 (it is found by the line above)

SERVER = r"""
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    answer = {"jsonrpc": "2.0", "id": message.get("id")}
    if method == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        answer["result"] = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    if "id" in message:
        print(json.dumps(answer), flush=True)
"""


def main():
    program = os.path.abspath(sys.argv[1])
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with tempfile.TemporaryDirectory() as home:
        servers = {f"s{n}": {"command": sys.executable, "args": ["-c", SERVER]} for n in range(6)}
        servers |= {f"hangs{n}": {"command": "sleep", "args": ["1000"]} for n in range(2)}
        file = os.path.join(home, "mcp.json")
        with open(file, "w") as out:
            json.dump({"mcpServers": servers}, out)
        workspace = os.path.join(home, "w")
        os.makedirs(os.path.join(workspace, "tools"))
        plain = ["--workspace", workspace, "--no-journal"]
        took = {"none": [], "eight": []}
        for _ in range(runs):
            took["none"].append(first_frame(program, plain, home))
            took["eight"].append(first_frame(program, [*plain, "--mcp", file], home))
    for name, times in took.items():
        print(f"{name:>5}: p50 {statistics.median(times):.0f} ms, most {max(times):.0f} ms")


if __name__ == "__main__":
    main()
