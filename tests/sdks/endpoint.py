"""An endpoint of five wires for agents that ask for the weather: `endpoint.py LOG` prints its port, and goes on until its
input ends. `endpoint.py LOG silent` says no text beside calls.

It calls the tool for the weather of two cities, if the request offers one, and then says what it read of their results:
in text, by a call that the client forces, or in the form of a schema. Each exchange is a line of JSON in LOG.
"""

import itertools
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from other_wires import SHOWN, gemini, gemini_offered, gemini_read, ollama, pieces

CITIES = ["Oslo", "Rome \u00e9"]
TOOLS = ("get_weather", "weather")
# The tools by which coding agents run commands.
SHELLS = ("Bash", "exec_command", "shell_command", "shell")
IS_SILENT = "silent" in sys.argv[2:]
NUMBERS, LOCK = itertools.count(1), threading.Lock()
CHAT, RESPONSES, MESSAGES, GEMINI, OLLAMA = "chat", "responses", "messages", "gemini", "ollama"
PATHS = {
    "/v1/chat/completions": CHAT,
    "/v1/responses": RESPONSES,
    "/v1/messages": MESSAGES,
    "/api/chat": OLLAMA,
}


def texts(value):
    """The texts of content, which is a text or a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(texts(part) for part in value)
    if isinstance(value, dict):
        return texts(next((value[key] for key in ("text", "content", "output") if key in value), ""))
    return ""


def offered(wire, body):
    """The tools of a request, as names with schemas."""
    if wire == GEMINI:
        return gemini_offered(body)
    found = {}
    for tool in body.get("tools") or []:
        it = tool.get("function", tool)
        if "name" in it:
            found[it["name"]] = it.get("parameters") or it.get("input_schema") or {}
    return found


def spoken(body):
    """The messages of a request."""
    said = body.get("messages") or body.get("input") or []
    return [{"role": "user", "content": said}] if isinstance(said, str) else said


def read(wire, body):
    """What the model reads of the results of its calls."""
    if wire == GEMINI:
        return gemini_read(body)
    found = []
    for message in spoken(body):
        kind = message.get("type")
        if message.get("role") == "tool":
            found.append(texts(message["content"]))
        elif kind == "function_call_output":
            found.append(texts(message["output"]))
        elif message.get("role") == "user":
            parts = message["content"] if isinstance(message["content"], list) else []
            found += [texts(it.get("content")) for it in parts if it.get("type") == "tool_result"]
            # Results as text: of smolagents, and of the agents of DSPy.
            said = texts(message["content"])
            found += re.findall(r"\[\[ ## observation_\d+ ## \]\]\s*(.+)", said)
            found += said.split("Observation:")[-1].split("\n") if said.startswith("Observation:") else []
    return [it for it in found if it]


def filled(schema, text, root=None):
    """A value of this schema that says the text."""
    root = root or schema
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].lstrip("#/").split("/"):
            target = target[step]
        return filled(target, text, root)
    for of in ("anyOf", "oneOf", "allOf"):
        if of in schema:
            return filled(next(it for it in schema[of] if it.get("type") != "null"), text, root)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "string")
    kind = next(it for it in kind if it != "null") if isinstance(kind, list) else kind
    kind = kind.lower()
    if kind == "object":
        return {name: filled(it, text, root) for name, it in schema.get("properties", {}).items()}
    if kind == "array":
        return [filled(schema.get("items", {}), text, root)]
    return {"integer": 21, "number": 21.5, "boolean": True}.get(kind, text)


def form(wire, body):
    """The schema that a text must have."""
    if wire == CHAT:
        return ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    if wire == RESPONSES:
        return ((body.get("text") or {}).get("format") or {}).get("schema")
    of = body.get("output_format") or (body.get("output_config") or {}).get("format") or {}
    return of.get("schema")


def fields(body, results, said):
    """What DSPy wants as text: the fields that its first message names."""
    system = body.get("instructions") or texts(spoken(body)[0]["content"])
    asked = texts(spoken(body)[-1]["content"]).rsplit("Respond with", 1)[-1]
    names = re.findall(r"`\[\[ ## (\w+) ## \]\]`", asked) or re.findall(r"\[\[ ## (\w+) ## \]\]", system)
    values = {
        "next_thought": "I look.",
        "next_tool_name": "finish" if len(results) else "get_weather",
        "next_tool_args": "{}" if len(results) else json.dumps({"city": CITIES[0]}),
        "completed": "",
    }
    return "\n\n".join(f"[[ ## {name} ## ]]\n{values.get(name, said)}" for name in dict.fromkeys(names))


def reply(wire, body):
    """The text and the calls of the answer."""
    tools, results = offered(wire, body), read(wire, body)
    said = "I read: " + " | ".join(results)
    weather = next((name for name in TOOLS if name in tools), None)
    if weather and not results:
        choice = body.get("tool_choice") or "auto"
        kind = choice.get("type") if isinstance(choice, dict) else choice
        is_one = body.get("parallel_tool_calls") is False or "disable_parallel_tool_use" in choice
        count = 1 if is_one or (kind != "auto" and len(tools) == 1) else 2
        return "" if IS_SILENT else "I look.", [(weather, {"city": city}) for city in CITIES[:count]]
    shell = next((name for name in SHELLS if name in tools), None)
    if shell and results:
        # Without what shells say beside it.
        return "I read: " + " | ".join(re.findall(r"\w+ in [A-Z]\w+|503 .*", "\n".join(results))), []
    if shell:
        return "I look.", [(shell, command(tools[shell]))]
    others = [name for name in tools if name != weather]
    if others:
        name = next((it for it in others if it.startswith("final")), others[0])
        return "", [(name, filled(tools[name], said))]
    schema = form(wire, body)
    if schema:
        return json.dumps(filled(schema, said)), []
    if "[[ ## " in texts((spoken(body) or [{}])[-1].get("content")):
        return fields(body, results, said), []
    return said, []


def command(schema):
    """A command that tells the weather, as this schema of a shell wants it."""
    line = f'echo {CITIES[0]} >> "$GOT"; echo sunny in {CITIES[0]}'
    name = "cmd" if "cmd" in schema["properties"] else "command"
    is_list = schema["properties"][name].get("type") == "array"
    return {name: ["bash", "-c", line] if is_list else line}


def event(data, name=None):
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(data)}\n\n"


def chat(number, body, text, calls):
    head = {"id": f"chatcmpl-{number}", "created": 1, "model": body["model"], "system_fingerprint": "fp_1"}
    read = body["tokens"]
    usage = {"prompt_tokens": read, "completion_tokens": 12, "total_tokens": read + 12}
    listed = [
        {"id": f"call_{number}_{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for at, (name, given) in enumerate(calls)
    ]
    ended = "tool_calls" if calls else "stop"
    if not body.get("stream"):
        message = {"role": "assistant", "content": text or None, "refusal": None, "annotations": []}
        message |= {"tool_calls": listed} if calls else {}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": ended}
        return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    wants = (body.get("stream_options") or {}).get("include_usage")
    more = {"usage": None} if wants else {}

    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return event({**head, "object": "chat.completion.chunk", "choices": [choice], **more})

    events = [chunk({"role": "assistant", "content": ""})]
    events += [chunk({"content": piece}) for piece in pieces(text)] if text else []
    for at, call in enumerate(listed):
        function = call["function"]
        events.append(chunk({"tool_calls": [{"index": at, **call, "function": {**function, "arguments": ""}}]}))
        for piece in pieces(function["arguments"]):
            events.append(chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]}))
    events.append(chunk({}, ended))
    if wants:
        events.append(event({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}))
    return [*events, "data: [DONE]\n\n"]


def responses(number, body, text, calls):
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
    output = []
    if text:
        message = {"id": f"msg_{number}", "type": "message", "status": "completed", "role": "assistant"}
        output.append({**message, "content": [part]})
    for at, (name, given) in enumerate(calls):
        call = {"id": f"fc_{number}_{at}", "type": "function_call", "status": "completed", "name": name}
        output.append({**call, "call_id": f"call_{number}_{at}", "arguments": json.dumps(given)})
    read = body["tokens"]
    counted = {"input_tokens": read, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 12}
    counted["total_tokens"] = read + 12
    whole = {
        "id": f"resp_{number}", "object": "response", "created_at": 1, "status": "completed", "error": None,
        "incomplete_details": None, "instructions": body.get("instructions"), "metadata": {}, "model": body["model"],
        "output": output, "parallel_tool_calls": True, "temperature": 1.0, "top_p": 1.0, "tool_choice": "auto",
        "tools": [], "usage": {**counted, "output_tokens_details": {"reasoning_tokens": 0}},
    }  # fmt: skip
    if not body.get("stream"):
        return whole
    events, count = [], itertools.count()

    def add(kind, **more):
        events.append(event({"type": kind, "sequence_number": next(count), **more}, kind))

    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    add("response.created", response=begun)
    add("response.in_progress", response=begun)
    for at, item in enumerate(output):
        empty = {"content": []} if item["type"] == "message" else {"arguments": ""}
        add("response.output_item.added", output_index=at, item={**item, "status": "in_progress", **empty})
        place = {"item_id": item["id"], "output_index": at}
        if item["type"] == "message":
            place["content_index"] = 0
            add("response.content_part.added", **place, part={**part, "text": ""})
            for piece in pieces(text):
                add("response.output_text.delta", **place, delta=piece, logprobs=[])
            add("response.output_text.done", **place, text=text, logprobs=[])
            add("response.content_part.done", **place, part=part)
        else:
            for piece in pieces(item["arguments"]):
                add("response.function_call_arguments.delta", **place, delta=piece)
            given = {"arguments": item["arguments"], "name": item["name"]}
            add("response.function_call_arguments.done", **place, **given)
        add("response.output_item.done", output_index=at, item=item)
    add("response.completed", response=whole)
    return events


def messages(number, body, text, calls):
    content = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}_{at}", "name": name, "input": given}
        for at, (name, given) in enumerate(calls)
    ]
    usage = {"input_tokens": body["tokens"], "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 12}
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body["model"]}
    ended = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    if not body.get("stream"):
        return {**head, "content": content, **ended, "usage": usage}
    started = {**head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}
    events = [("message_start", {"message": started})]
    for at, block in enumerate(content):
        is_text = block["type"] == "text"
        empty = {"text": ""} if is_text else {"input": {}}
        events.append(("content_block_start", {"index": at, "content_block": {**block, **empty}}))
        for piece in pieces(text if is_text else json.dumps(block["input"])):
            delta = {"type": "text_delta", "text": piece}
            delta = delta if is_text else {"type": "input_json_delta", "partial_json": piece}
            events.append(("content_block_delta", {"index": at, "delta": delta}))
        events.append(("content_block_stop", {"index": at}))
    events.append(("message_delta", {"delta": ended, "usage": {"output_tokens": 12}}))
    events.append(("message_stop", {}))
    return [event({"type": kind, **data}, kind) for kind, data in events]


class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that has gone is no error."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.answer_with(404, json.dumps({"error": {"message": "Nothing is here.", "type": "not_found"}}), "")

    def do_POST(self):
        sent = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        path = self.path.split("?")[0]
        wire = PATHS.get(path) or (GEMINI if "enerateContent" in path else None)
        if not wire:
            known = next((it for end, it in ASIDE.items() if path.endswith(end)), None)
            nothing = {"error": {"message": "Nothing is here.", "type": "not_found"}}
            return self.answer_with(200 if known else 404, json.dumps(known or nothing), sent)
        body = json.loads(sent)
        if wire == GEMINI:
            body["model"], does = path.split("/")[-1].split(":")
            body["stream"] = does.startswith("stream")
        with LOCK:
            number = next(NUMBERS)
        # As many as a text of this length usually has.
        body["tokens"] = len(sent) // 4
        text, calls = reply(wire, body)
        said, kind = WRITERS[wire](number, body, text, calls), "application/json"
        if isinstance(said, list):
            kind = "application/x-ndjson" if wire == OLLAMA else "text/event-stream"
        elif not isinstance(said, str):
            said = json.dumps(said)
        self.answer_with(200, said, sent, kind, {"calls": len(calls), "read": read(wire, body)})

    def answer_with(self, status, body, sent, kind="application/json", known=None):
        whole = "".join(body)
        with LOCK, open(sys.argv[1], "a", encoding="utf-8") as log:
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = {"path": self.path, "headers": headers, "request": sent}
            print(json.dumps({**asked, **(known or {}), "answer": whole}), file=log)
        self.send_response(status)
        self.send_header("content-type", kind)
        if isinstance(body, str):
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())
            return
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for piece in body:
            self.wfile.write(f"{len(piece.encode()):x}\r\n".encode() + piece.encode() + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")


# What is answered beside models' answers.
ASIDE = {"count_tokens": {"input_tokens": 30}, "/api/show": SHOWN}
WRITERS = {CHAT: chat, RESPONSES: responses, MESSAGES: messages, GEMINI: gemini, OLLAMA: ollama}

if __name__ == "__main__":
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
