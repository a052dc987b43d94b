"""A provider of models with accounts, for logins.py: every host of Claude Code and Codex behind one proxy, and made-up logins.

The scripted answers are those of endpoint.py.
"""

import base64
import hashlib
import json
import ssl
import struct
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import endpoint as scripted

HOSTS = ["*.anthropic.com", "*.claude.com", "*.claude.ai", "claude.com", "claude.ai", "chatgpt.com", "*.chatgpt.com",
         "*.openai.com", "openai.com", "*.github.com", "*.githubusercontent.com"]  # fmt: skip
YEARS_AGO, LATER = 1_600_000_000, 4_000_000_000
ACCOUNT = "acc-7d1f3b5a9c2e4680"


def jwt(name, **claims):
    """A token in three parts, each with something of its own that can be sought."""
    part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    claims = {"email": f"{name}@planted.example", "jti": f"jti-{name}-Rk38VnbE5cT1", **claims}
    return ".".join([part({"alg": "none", "kid": f"kid-{name}"}), part(claims), part(f"sig-{name}-Zt81KqvB3mN6")])


def of_account(name, expires):
    auth = {"chatgpt_plan_type": "plus", "chatgpt_user_id": "user-Q1", "chatgpt_account_id": ACCOUNT}
    return jwt(name, exp=expires, iat=YEARS_AGO, **{"https://api.openai.com/auth": auth})


# The logins before and after their refresh, and the cookie and the address's token of the endpoint.
CLAUDE_OLD = {"access": "sk-ant-oat01-OldAcc7Gq2aLpW9xR4dKs", "refresh": "sk-ant-ort01-OldRef8Wq3bMsX5zT7fJm"}
CLAUDE_NEW = {"access": "sk-ant-oat01-NewAcc5Hd7Fk1Lb6Vo3Pz", "refresh": "sk-ant-ort01-NewRefKx52GnuD9rL4vB"}
CODEX_OLD = {"id": of_account("oldid", YEARS_AGO), "access": of_account("oldaccess", YEARS_AGO), "refresh": "rt-OldUw05YcXe2sJ9aPqT"}
CODEX_STALE = {"id": of_account("staleid", LATER), "access": of_account("staleaccess", LATER), "refresh": CODEX_OLD["refresh"]}
CODEX_NEW = {"id": of_account("newid", LATER), "access": of_account("newaccess", LATER), "refresh": "rt-NewJy62MxdS4fA9nGzR"}
BESIDE = {"cookie": "ck-83hTzWq0LmVb5YnC", "query": "qt-Bn47RkXs9DpLw2Ae"}
LOGINS = {"old": CLAUDE_OLD, "new": CLAUDE_NEW, "Codex's old": CODEX_OLD, "Codex's stale": CODEX_STALE, "Codex's new": CODEX_NEW, "beside": BESIDE}
SECRETS = {f"{whose} {kind}": value for whose, login in LOGINS.items() for kind, value in login.items()}


def pieces():
    """Texts by which each secret is known: pieces of it and of each part of a token, plain and in base64."""
    found = {}
    for name, value in SECRETS.items():
        for part in value.split("."):
            for at in range(0, max(1, len(part) - 19), 7):
                piece = part[at:at + 20]
                # This is how the head of any such token begins.
                if not piece.startswith("eyJhbGciOiAibm9u"):
                    found[piece] = name
        for offset in range(3):
            text = base64.b64encode(b"x" * offset + value.encode()).decode()
            found[text[8:32]] = f"{name} in base64"
    return found


class Provider(ThreadingHTTPServer):
    """The proxy, and all hosts behind it."""

    daemon_threads = True

    def __init__(self, folder, has_sockets=True):
        self.context, self.authority = certificates(folder)
        self.exchanges, self.has_sockets, self.lock = [], has_sockets, threading.Lock()
        self.is_offline, self.has_models = False, True
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        """A client that has gone is no error."""

    def noted(self, host, path, headers, body, **more):
        with self.lock:
            self.exchanges.append({"host": host, "path": path, "headers": headers, "body": body, **more})
            return len(self.exchanges)

    def to(self, host, path):
        return [it for it in self.exchanges if it["host"] == host and it["path"].split("?")[0].endswith(path)]


def certificates(folder):
    """The server's side of TLS, and the file of the authority that signed for it."""
    run = lambda *words: subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)
    (folder / "names").write_text("subjectAltName=" + ",".join(f"DNS:{it}" for it in HOSTS))
    new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    run(*new, "-x509", "-days", "9", "-subj", "/CN=trial", "-keyout", "ca.key", "-out", "ca.pem",
        "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=keyCertSign")  # fmt: skip
    run(*new, "-subj", "/CN=all", "-keyout", "key.pem", "-out", "all.csr")
    run("x509", "-req", "-in", "all.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "9",
        "-extfile", "names", "-out", "all.pem")  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "all.pem", folder / "key.pem")
    return context, folder / "ca.pem"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    host = ""

    def log_message(self, *_):
        pass

    def do_CONNECT(self):
        """From now on this connection is one to the host."""
        self.host = self.path.rsplit(":", 1)[0]
        self.server.noted("proxy", self.host, {}, "")
        if self.server.is_offline:
            return self.say(502, "{}")
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        self.connection = self.server.context.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.close_connection = False

    def do_GET(self):
        if self.headers.get("upgrade", "").lower() == "websocket":
            return self.serve_socket() if self.server.has_sockets else self.say(404, "{}")
        self.server.noted(self.host, self.path, dict(self.headers), "")
        known = next((it for end, it in KNOWN.items() if self.path.split("?")[0].endswith(end)), None)
        self.say(200 if known else 404, json.dumps(known or {"error": {"message": "Nothing is here."}}))

    def do_POST(self):
        sent = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "zstd":
            sent = subprocess.run(["zstd", "-dc"], input=sent, capture_output=True, check=True).stdout
        sent, path = sent.decode(errors="replace"), self.path.split("?")[0]
        number = self.server.noted(self.host, self.path, dict(self.headers), sent)
        if path.endswith("/oauth/token"):
            return self.say(200, json.dumps(refreshed(self.host)))
        wire = {"/v1/messages": scripted.MESSAGES, "/responses": scripted.RESPONSES}
        wire = next((it for end, it in wire.items() if path.endswith(end)), None)
        if not wire:
            known = next((it for end, it in scripted.ASIDE.items() if path.endswith(end)), None)
            return self.say(200 if known else 404, json.dumps(known or {"error": {"message": "Nothing is here."}}))
        if not is_logged_in(self.headers) or not self.server.has_models:
            error = {"type": "authentication_error", "message": "The login has expired."}
            return self.say(401, json.dumps({"type": "error", "error": error}))
        said = answer(wire, json.loads(sent), number)
        is_list = isinstance(said, list)
        self.say(200, "".join(said) if is_list else json.dumps(said), "text/event-stream" if is_list else "application/json")

    def say(self, status, text, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("set-cookie", f"session={BESIDE['cookie']}; Secure; HttpOnly")
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def serve_socket(self):
        """A websocket of Responses."""
        self.server.noted(self.host, self.path, dict(self.headers), "", socket=True)
        if not is_logged_in(self.headers) or not self.server.has_models:
            return self.say(401, "{}")
        key = self.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("upgrade", "websocket")
        self.send_header("connection", "Upgrade")
        self.send_header("sec-websocket-accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.send_header("set-cookie", f"session={BESIDE['cookie']}; Secure; HttpOnly")
        self.end_headers()
        self.close_connection = True
        while (text := self.frame()) is not None:
            body = json.loads(text) if text else {}
            if body.get("type") != "response.create":
                continue
            number = self.server.noted(self.host, self.path, dict(self.headers), text, frame=True)
            is_warm = body.get("generate") is False
            for event in empty(number, body) if is_warm else answer(scripted.RESPONSES, {**body, "stream": True}, number):
                self.give(0x81, event.split("data: ", 1)[1].strip().encode())

    def frame(self):
        """The text of the next frame; None at the end."""
        text = b""
        while True:
            head = self.rfile.read(2)
            if len(head) < 2:
                return None
            length = head[1] & 127
            if length > 125:
                size = 2 if length == 126 else 8
                length = int.from_bytes(self.rfile.read(size), "big")
            mask = self.rfile.read(4) if head[1] & 128 else bytes(4)
            data = self.rfile.read(length)
            data = (int.from_bytes(data, "big") ^ int.from_bytes((mask * (length // 4 + 1))[:length], "big")).to_bytes(length, "big")
            kind = head[0] & 15
            if kind == 8:
                return None
            if kind == 9:
                self.give(0x8A, data)
            if kind < 3:
                text += data
                if head[0] & 128:
                    return text.decode()

    def give(self, first, data):
        size = len(data)
        length = bytes([size]) if size < 126 else struct.pack(">BH", 126, size) if size < 65536 else struct.pack(">BQ", 127, size)
        self.wfile.write(bytes([first]) + length + data)


# What agents ask beside models' answers.
KNOWN = {
    "/api/oauth/profile": {"account": {"uuid": "u-1", "email": "me@planted.example", "has_claude_pro": True},
                           "organization": {"uuid": "o-1", "organization_type": "claude_pro"}},
    # Without it Codex asks no model.
    "/wham/accounts/check": {"accounts": [{"id": ACCOUNT, "workspace_backend_origin": "NO_CONSTRAINT",
                             "account_routing_override": "NO_CONSTRAINT", "plan_type": "plus", "structure": "personal"}],
                             "account_ordering": [ACCOUNT], "default_account_id": ACCOUNT},
    "/hidden": {"token": BESIDE["query"]},
}  # fmt: skip


def is_logged_in(headers):
    """Only the new tokens count."""
    return headers.get("authorization") in [f"Bearer {it['access']}" for it in (CLAUDE_NEW, CODEX_NEW)]


def refreshed(host):
    new = CODEX_NEW if "openai" in host else CLAUDE_NEW
    said = {"token_type": "Bearer", "access_token": new["access"], "refresh_token": new["refresh"], "expires_in": 28800}
    said |= {"id_token": new["id"]} if "id" in new else {"scope": "user:inference user:profile"}
    return said | {"account": {"uuid": "u-1", "email_address": "me@planted.example"}, "organization": {"uuid": "o-1"}}


def answer(wire, body, number):
    """As the endpoint of the other tests; its command does more where the trial says so."""
    body["tokens"] = len(json.dumps(body)) // 4
    text, calls = scripted.reply(wire, body)
    for _, given in calls:
        name = next((it for it in ("cmd", "command") if it in given), None)
        if name:
            given[name] += '; [ ! -f "$HOME/more.sh" ] || . "$HOME/more.sh"'
    return scripted.WRITERS[wire](number, body, text, calls)


def empty(number, body):
    """The answer to a request that only warms the websocket."""
    events = scripted.responses(number, {**body, "stream": True, "tokens": 1}, "", [])
    return events
