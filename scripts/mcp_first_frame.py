#!/usr/bin/env python3
"""Milliseconds to the first frame with eight MCP servers, two of which hang, and with none; runs alternate.

Usage: scripts/mcp_first_frame.py PROGRAM [RUNS]
"""
import fcntl, json, os, pty, select, statistics, struct, sys, tempfile, termios, time

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


def first_frame(program, arguments, home):
    begun = time.monotonic()
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.environ.update(HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, TERM="xterm-256color")
        os.execv(program, [program, *arguments])
    seen = b""
    while b"Transcript" not in seen:
        if not select.select([terminal], [], [], 20)[0]:
            raise SystemExit("no frame within 20 s")
        seen += os.read(terminal, 65536)
        # A terminal answers what the first frame waits for.
        if b"\x1b[c" in seen:
            os.write(terminal, b"\x1b[?62c")
            seen = seen.replace(b"\x1b[c", b"")
    took = (time.monotonic() - begun) * 1000
    os.write(terminal, b"qy")
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            if select.select([terminal], [], [], 0.2)[0] and not os.read(terminal, 65536):
                break
        except OSError:
            break
        if os.waitpid(pid, os.WNOHANG)[0]:
            break
    os.close(terminal)
    return took


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


main()
