"""An endpoint whose model has two files written, one after the other, and then says so. It speaks Anthropic Messages and OpenAI
Responses, both as streams. `edits.py` prints its address, and then a line for each request that it answers.
"""

import itertools
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FILES = ["first.txt", "second.txt"]
DONE = "Both files are written."
numbers = itertools.count(1)


def events(all_events):
    return "".join(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in all_events)


def messages(body):
    """Claude Code writes with its tool Write, which wants the whole path."""
    blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
    written = sum(block.get("type") == "tool_result" for block in blocks)
    if "Write" not in [tool["name"] for tool in body.get("tools", [])]:
        block = {"type": "text", "text": "A title"}
    elif written < len(FILES):
        folder = re.search(r"working directory: ([^\s\\]+)", json.dumps(body))[1]
        path = f"{folder}/{FILES[written]}"
        block = {"type": "tool_use", "id": f"toolu_{written}", "name": "Write",
                 "input": {"file_path": path, "content": "by the agent\n"}}
    else:
        block = {"type": "text", "text": DONE}
    usage = {"input_tokens": 10, "output_tokens": 5}
    stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
    message = {"id": f"msg_{next(numbers)}", "type": "message", "role": "assistant", "model": body["model"],
               "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}
    if not body.get("stream"):
        return json.dumps(message), "application/json"
    if block["type"] == "text":
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return events([
        ("message_start", {"message": {**message, "content": [], "stop_reason": None}}),
        ("content_block_start", {"index": 0, "content_block": empty}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}),
        ("message_stop", {}),
    ]), "text/event-stream"


def responses(body):
    """Codex runs commands by a program for its tool exec."""
    written = sum(item["type"].endswith("_call_output") for item in body["input"])
    if written < len(FILES):
        program = f'await tools.exec_command({{cmd: "echo by the agent > {FILES[written]}"}})'
        item = {"type": "custom_tool_call", "id": f"ctc_{written}", "call_id": f"call_{written}", "name": "exec",
                "namespace": "functions", "input": program, "status": "completed"}
    else:
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": DONE, "annotations": []}]}
    response = {"id": f"resp_{next(numbers)}", "object": "response", "model": body["model"]}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
             "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return events([
        ("response.created", {"response": {**response, "status": "in_progress", "output": []}}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": {**response, "status": "completed", "output": [item], "usage": usage}}),
    ]), "text/event-stream"


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, text, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_HEAD(self):
        self.answer("", "text/plain")

    def do_GET(self):
        self.answer('{"data": [], "models": []}', "application/json")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.split("?")[0]
        print(path, flush=True)
        kinds = {"/v1/messages": messages, "/v1/responses": responses}
        self.answer(*(kinds[path](body) if path in kinds else ('{"input_tokens": 10}', "application/json")))


server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    sys.exit(0)
