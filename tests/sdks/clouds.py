"""Agents of real SDKs that no variable leads, and what answers them: Bedrock, Vertex AI and OpenAI behind one proxy.

    clouds.py serve CERTIFICATE KEY LOG    prints its port; ends with its input
    clouds.py ask KIND whole|stream        asks for the weather in two cities, and prints the answer
    clouds.py post KIND                    says hello to a provider whose address is in the code, and prints the answer

The endpoint checks the signature, or the token, of each request.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import ssl
import struct
import subprocess
import sys
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, urlsplit

MODEL = "us.anthropic.claude-sonnet-4-20250514-v1:0"
REGION = "us-east-1"
TOKEN = "token-of-vertex-Zx81"
PATIENCE = 3
CITIES = ["Porto", "Lisbon"]
TASK = "What is the weather in Porto and in Lisbon?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def weather(city):
    """The weather in a city."""
    return f"rain in {city}"


def is_signed(handler, body):
    """Whether the signature of a request is right for what arrived."""
    scheme, _, rest = handler.headers["authorization"].partition(" ")
    if scheme == "Bearer":
        return rest == TOKEN
    parts = dict(part.strip().split("=", 1) for part in rest.split(","))
    _, date, region, service, _ = parts["Credential"].split("/")
    names = parts["SignedHeaders"].split(";")
    if not all(name in handler.headers for name in names):
        return False
    url = urlsplit(handler.path)
    headers = "".join(f"{name}:{' '.join(handler.headers[name].split())}\n" for name in names)
    # A path is escaped once more than it is sent.
    lines = [handler.command, quote(url.path), url.query, headers, ";".join(names), hashlib.sha256(body).hexdigest()]
    request = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    scope = f"{date}/{region}/{service}/aws4_request"
    text = "\n".join([scheme, handler.headers["x-amz-date"], scope, request])
    key = b"AWS4" + os.environ["AWS_SECRET_ACCESS_KEY"].encode()
    for word in [date, region, service, "aws4_request"]:
        key = hmac.digest(key, word.encode(), "sha256")
    return hmac.compare_digest(hmac.digest(key, text.encode(), "sha256").hex(), parts["Signature"])


def frame(message, name, payload):
    """A message of an event stream."""
    headers = b""
    for key, value in [(f":{message}-type", name), (":content-type", "application/json"), (":message-type", message)]:
        headers += struct.pack("!B", len(key)) + key.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
    head = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    head += struct.pack("!I", zlib.crc32(head))
    return head + headers + payload + struct.pack("!I", zlib.crc32(head + headers + payload))


def results(body):
    """The texts of the results in the last message."""
    found = []
    for block in body["messages"][-1]["content"] if isinstance(body["messages"][-1]["content"], list) else []:
        result = block.get("toolResult") or (block if block.get("type") == "tool_result" else None)
        for part in (result or {}).get("content") or []:
            found.append(part if isinstance(part, str) else part.get("text") or json.dumps(part))
        if isinstance((result or {}).get("content"), str):
            found[-len(result["content"]) :] = [result["content"]]
    return found


def blocks(body):
    """What the model says: text, and calls as pairs of id and arguments."""
    said = results(body)
    return ("So: " + "; ".join(said), []) if said else ("I will look. ", list(enumerate(CITIES)))


def converse(body, streams):
    text, calls = blocks(body)
    usage = {"inputTokens": 31, "outputTokens": 17, "totalTokens": 48}
    reason = "tool_use" if calls else "end_turn"
    used = [{"toolUseId": f"tooluse_{at}", "name": "weather", "input": {"city": city}} for at, city in calls]
    if not streams:
        content = [{"text": text}] + [{"toolUse": call} for call in used]
        message = {"content": content, "role": "assistant"}
        return json.dumps({"metrics": {"latencyMs": 5}, "output": {"message": message}, "stopReason": reason, "usage": usage}).encode()
    events = [("messageStart", {"role": "assistant"})]
    events += [("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": it}}) for it in [text[:4], text[4:]]]
    events += [("contentBlockStop", {"contentBlockIndex": 0})]
    for at, call in enumerate(used, 1):
        start = {"toolUse": {"name": call["name"], "toolUseId": call["toolUseId"]}}
        given = json.dumps(call["input"])
        events += [("contentBlockStart", {"contentBlockIndex": at, "start": start})]
        pieces = [given[:5], given[5:]]
        events += [("contentBlockDelta", {"contentBlockIndex": at, "delta": {"toolUse": {"input": it}}}) for it in pieces]
        events += [("contentBlockStop", {"contentBlockIndex": at})]
    events += [("messageStop", {"stopReason": reason}), ("metadata", {"metrics": {"latencyMs": 5}, "usage": usage})]
    return [frame("event", name, json.dumps({**event, "p": "abcdefg"}).encode()) for name, event in events]


def messages(body, streams):
    """An answer of Anthropic's Messages, or its events."""
    text, calls = blocks(body)
    usage = {"input_tokens": 31, "output_tokens": 17}
    reason = "tool_use" if calls else "end_turn"
    message = {"id": "msg_bdrk_1", "type": "message", "role": "assistant", "model": "claude", "stop_sequence": None}
    used = [{"type": "tool_use", "id": f"toolu_{at}", "name": "weather", "input": {"city": city}} for at, city in calls]
    if not streams:
        content = [{"type": "text", "text": text}, *used]
        return json.dumps({**message, "content": content, "stop_reason": reason, "usage": usage}).encode()
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events = [{"type": "message_start", "message": start}]
    for at, block in enumerate([{"type": "text", "text": text}, *used]):
        is_text = block["type"] == "text"
        empty = {**block, "text": ""} if is_text else {**block, "input": {}}
        whole = text if is_text else json.dumps(block["input"])
        events += [{"type": "content_block_start", "index": at, "content_block": empty}]
        for piece in [whole[:4], whole[4:]]:
            delta = {"type": "text_delta", "text": piece} if is_text else {"type": "input_json_delta", "partial_json": piece}
            events += [{"type": "content_block_delta", "index": at, "delta": delta}]
        events += [{"type": "content_block_stop", "index": at}]
    events += [{"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}]
    return events + [{"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 31}}]


def invoke(body, streams):
    events = messages(body, streams)
    if not streams:
        return events
    chunks = [{"bytes": base64.b64encode(json.dumps(it).encode()).decode(), "p": "abcd"} for it in events]
    return [frame("event", "chunk", json.dumps(chunk).encode()) for chunk in chunks]


def vertex(body, streams):
    events = messages(body, streams)
    return [f"event: {it['type']}\ndata: {json.dumps(it)}\n\n".encode() for it in events] if streams else events


def chat(body, _):
    text = f"Hello, {body['messages'][0]['content']}."
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({"id": "c-1", "object": "chat.completion", "choices": [choice]}).encode()


def service(path):
    """What answers a request to this path, whether as a stream, and the type of one."""
    if path.endswith("/chat/completions"):
        return chat, False, ""
    if "/publishers/" in path:
        return vertex, "streamRawPredict" in path, "text/event-stream"
    return (converse if "/converse" in path else invoke), path.endswith("stream"), "application/vnd.amazon.eventstream"


class Clouds(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_CONNECT(self):
        """Every host is this one."""
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        self.wfile.flush()
        self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        write, streams, kind = service(self.path)
        answer = write(json.loads(body), streams)
        sent = b"".join(answer) if streams else answer
        with self.server.lock, open(self.server.log, "a") as log:
            is_right = is_signed(self, body)
            line = {"path": self.path, "signed": is_right, "body": body.decode()}
            log.write(json.dumps(line) + "\n")
        if not is_right:
            answer, streams = b'{"message":"The request signature we calculated does not match"}', False
        self.send_response(200 if is_right else 403)
        self.send_header("content-type", kind if streams else "application/json")
        self.send_header("x-amzn-requestid", "r-1")
        if streams:
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            # Frames are cut anywhere.
            for at in range(0, len(sent), 61):
                piece = sent[at : at + 61]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            return self.wfile.write(b"0\r\n\r\n")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that refuses the certificate, or has gone, is no error."""


def serve(certificate, key, log):
    server = Server(("127.0.0.1", 0), Clouds)
    server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.tls.load_cert_chain(certificate, key)
    server.log, server.lock = log, threading.Lock()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


def limits():
    """How long a client of Amazon's waits for the next bytes."""
    from botocore.config import Config

    return Config(read_timeout=PATIENCE, retries={"total_max_attempts": 4, "mode": "standard"})


def ask_converse(streams):
    import boto3

    client = boto3.client("bedrock-runtime", region_name=REGION, config=limits())
    messages = [{"role": "user", "content": [{"text": TASK}]}]
    spec = {"name": "weather", "description": "The weather.", "inputSchema": {"json": SCHEMA}}
    while True:
        asked = {"modelId": MODEL, "messages": messages, "toolConfig": {"tools": [{"toolSpec": spec}]}}
        if streams:
            content = joined(client.converse_stream(**asked)["stream"])
        else:
            content = client.converse(**asked)["output"]["message"]["content"]
        messages.append({"role": "assistant", "content": content})
        calls = [block["toolUse"] for block in content if "toolUse" in block]
        if not calls:
            return content[-1]["text"]
        given = [{"toolUseId": it["toolUseId"], "content": [{"text": weather(**it["input"])}]} for it in calls]
        messages.append({"role": "user", "content": [{"toolResult": it} for it in given]})


def joined(events):
    """The content of a stream, from its deltas."""
    content = {}
    for event in events:
        start, delta = event.get("contentBlockStart"), event.get("contentBlockDelta")
        if start:
            content[start["contentBlockIndex"]] = {"toolUse": {**start["start"]["toolUse"], "input": ""}}
        if delta and "text" in delta["delta"]:
            block = content.setdefault(delta["contentBlockIndex"], {"text": ""})
            block["text"] += delta["delta"]["text"]
        elif delta:
            content[delta["contentBlockIndex"]]["toolUse"]["input"] += delta["delta"]["toolUse"]["input"]
    for block in content.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    return [block for _, block in sorted(content.items())]


def ask_anthropic(streams):
    from anthropic import AnthropicBedrock

    return ask_messages(AnthropicBedrock(aws_region=REGION, timeout=PATIENCE), MODEL, streams)


def ask_vertex(streams):
    from anthropic import AnthropicVertex

    client = AnthropicVertex(region="us-east5", project_id="p", access_token=TOKEN, timeout=PATIENCE)
    return ask_messages(client, "claude-sonnet-4@20250514", streams)


def ask_messages(client, model, streams):
    messages = [{"role": "user", "content": TASK}]
    tools = [{"name": "weather", "description": "The weather.", "input_schema": SCHEMA}]
    while True:
        asked = {"model": model, "max_tokens": 99, "messages": messages, "tools": tools}
        if streams:
            with client.messages.stream(**asked) as stream:
                answer = stream.get_final_message()
        else:
            answer = client.messages.create(**asked)
        messages.append({"role": "assistant", "content": [block.to_dict() for block in answer.content]})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return answer.content[-1].text
        given = [{"type": "tool_result", "tool_use_id": it.id, "content": weather(**it.input)} for it in calls]
        messages.append({"role": "user", "content": given})


def ask_langchain(streams):
    from langchain_aws import ChatBedrockConverse
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool

    model = ChatBedrockConverse(model=MODEL, region_name=REGION, config=limits()).bind_tools([tool(weather)])
    messages = [HumanMessage(TASK)]
    while True:
        if streams:
            answer = None
            for piece in model.stream(messages):
                answer = piece if answer is None else answer + piece
        else:
            answer = model.invoke(messages)
        messages.append(answer)
        if not answer.tool_calls:
            return answer.text if isinstance(answer.text, str) else answer.text()
        messages += [ToolMessage(weather(**it["args"]), tool_call_id=it["id"]) for it in answer.tool_calls]


def ask_strands(streams):
    from strands import Agent, tool
    from strands.models import BedrockModel

    model = BedrockModel(model_id=MODEL, region_name=REGION, streaming=streams, boto_client_config=limits())
    return str(Agent(model=model, tools=[tool(weather)], callback_handler=None)(TASK)).strip()


URL = "https://api.openai.com/v1/chat/completions"
HEADERS = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}


def post(kind):
    """Posts a request as this client does."""
    body = json.dumps({"model": "gpt-5-mini", "messages": [{"role": "user", "content": kind}]})
    match kind:
        case "curl":
            headers = [word for name, value in HEADERS.items() for word in ("-H", f"{name}: {value}")]
            return subprocess.run(["curl", "-s", URL, *headers, "-d", body], capture_output=True, check=True).stdout
        case "requests":
            import requests

            return requests.post(URL, data=body, headers=HEADERS).content
        case "httpx":
            import httpx

            return httpx.post(URL, content=body, headers=HEADERS).content
        case "aiohttp":
            return asyncio.run(post_async(body))
        case "fetch" | "undici":
            code = f"fetch({json.dumps(URL)}, {{method: 'POST', headers: {json.dumps(HEADERS)}, body: {json.dumps(body)}}})"
            get = "const { fetch } = require('undici'); " if kind == "undici" else ""
            code = f"{get}{code}.then(it => it.text()).then(console.log)"
            return subprocess.run([os.environ["NODE"], "-e", code], capture_output=True, check=True).stdout


async def post_async(body):
    import aiohttp

    async with aiohttp.ClientSession(trust_env=True) as session:
        async with session.post(URL, data=body, headers=HEADERS) as answer:
            return await answer.read()


KINDS = {
    "converse": ask_converse,
    "anthropic": ask_anthropic,
    "langchain": ask_langchain,
    "strands": ask_strands,
    "vertex": ask_vertex,
}

if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", certificate, key, log]:
            serve(certificate, key, log)
        case ["ask", kind, form]:
            print(KINDS[kind](form == "stream"))
        case ["post", kind]:
            print(json.loads(post(kind))["choices"][0]["message"]["content"])
        case _:
            sys.exit(__doc__)
