"""Claude Code and Codex that log in with an account, under `toolyard watch --intercept`.

`logins.py TOOLYARD CODING NODE [WORD...]`: the program, the folder into which `scripts/sdks.sh --all` installs the coding
agents, and a node; words choose among the agents. It needs `openssl`; where it may, it runs without any network but
loopback. Logins are made up, and no real host is ever asked: accounts.py answers for every host. One line for each check
says PASS, FAIL or SKIPPED.
"""

import base64
import fcntl
import json
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

from accounts import (
    ACCOUNT, BESIDE, CLAUDE_NEW, CLAUDE_OLD, CODEX_OLD, CODEX_STALE, LATER, Provider, YEARS_AGO, pieces,
)  # fmt: skip

QUESTION = "How is the weather in Oslo?"
SUNNY = "I read: sunny in Oslo"
# Codex begins a websocket with a request for no answer.
WARM = "(prepares the next answer)"
PATIENCE = 120


class Home:
    """A home in which the agent is logged in, with a project."""

    def __init__(self, toolyard, coding, node, provider):
        self.folder = Path(tempfile.mkdtemp(prefix="login-"))
        self.toolyard, self.coding, self.provider = toolyard, coding, provider
        path = f"{Path(node).resolve().parent}:{Path(node).parent}:{os.environ['PATH']}"
        folders = ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]
        self.environment = {name: str(self.folder) for name in folders} | {
            "PATH": path, "XDG_RUNTIME_DIR": str(self.folder / "run"), "TOOLYARD_LOCAL_SERVERS": "none", "TERM": "xterm-256color",
            "LANG": "C.UTF-8", "HTTPS_PROXY": f"http://me:pwd-Kx52GnuD@127.0.0.1:{provider.server_port}",
            "SSL_CERT_FILE": str(provider.authority), "DISABLE_AUTOUPDATER": "1",
        }  # fmt: skip
        self.write("project/main.py", "print('hello')\n")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))

    def plant(self, agent, is_stale=False):
        """The login of the agent, which has to be refreshed; `is_stale`: only the endpoint knows that."""
        until = LATER if is_stale else YEARS_AGO
        if agent == "claude":
            login = {"accessToken": CLAUDE_OLD["access"], "refreshToken": CLAUDE_OLD["refresh"], "expiresAt": until * 1000,
                     "scopes": ["user:inference", "user:profile"], "subscriptionType": "pro"}  # fmt: skip
            self.write(".claude/.credentials.json", {"claudeAiOauth": login})
            account = {"accountUuid": "u-1", "emailAddress": "me@planted.example", "organizationUuid": "o-1"}
            self.write(".claude.json", {"hasCompletedOnboarding": True, "oauthAccount": account})
        else:
            old = CODEX_STALE if is_stale else CODEX_OLD
            tokens = {"id_token": old["id"], "access_token": old["access"], "refresh_token": old["refresh"], "account_id": ACCOUNT}
            when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() if is_stale else YEARS_AGO))
            login = {"auth_mode": "chatgpt", "OPENAI_API_KEY": None, "tokens": tokens, "last_refresh": when}
            self.write(".codex/auth.json", login)

    def command(self, agent):
        program = str(Path(self.coding).resolve() / "node_modules/.bin" / agent)
        if agent == "claude":
            return [program, "-p", QUESTION, "--allowedTools", "Bash", "--model", "claude-sonnet-4-5"]
        options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--model", "gpt-5"]
        return [program, "exec", *options, QUESTION]

    def run(self, name, agent, options=(), variables=None, meanwhile=None):
        """Runs the agent to its end. Its output, its code and what the endpoint got are in what is returned."""
        watch = self.watch(name, options)
        environment = self.environment | {"GOT": str(self.folder / f"{name}.got")} | (variables or {})
        before = len(self.provider.exchanges)
        files = [open(self.folder / f"{name}.{end}", "wb") for end in ("out", "err")]
        begun = time.monotonic()
        child = subprocess.Popen([*watch, *self.command(agent)], cwd=self.folder / "project", env=environment,
                                 stdin=subprocess.DEVNULL, stdout=files[0], stderr=files[1])  # fmt: skip
        if meanwhile:
            threading.Thread(target=meanwhile, daemon=True).start()
        try:
            code = child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.terminate()
            code = f"no end after {PATIENCE} s"
            child.wait(10)
        return Ran(self, name, code, time.monotonic() - begun, self.provider.exchanges[before:])

    def watch(self, name, options):
        files = [word for end in ("state", "journal", "report", "log", "html")
                 for word in (f"--{end}", str(self.folder / f"{name}.{FORMS[end]}"))]  # fmt: skip
        return [self.toolyard, "watch", "--headless", "--intercept", *files, *options, "--"]


FORMS = {"state": "state.json", "journal": "jsonl.zst", "report": "report.json", "log": "log", "html": "html"}


class Ran:
    """What a run left."""

    def __init__(self, home, name, code, seconds, exchanges):
        def read(end):
            path = home.folder / f"{name}.{end}"
            return path.read_text(errors="replace") if path.exists() else ""

        self.code, self.seconds, self.exchanges = code, seconds, exchanges
        self.out, self.err, self.got, self.state = read("out"), read("err"), read("got"), json.loads(read("state.json") or "{}")

    def trouble(self):
        lines = [it for it in self.err.splitlines() if re.match(r"toolyard:|ERROR|.*differ", it)]
        return f"exit {self.code}: " + " / ".join(lines[-4:])[:400]

    def models(self):
        return [it for it in self.exchanges if it["path"].split("?")[0].endswith(("/messages", "/responses")) and it["body"]]


def person(home, arguments, result):
    """Takes the session, and edits every call that is held, as `toolyard attach` does."""
    folder, until = home.folder / "run/toolyard", time.monotonic() + PATIENCE
    line = None
    while not line and time.monotonic() < until:
        time.sleep(0.02)
        for path in folder.glob("*.sock"):
            line = socket.socket(socket.AF_UNIX)
            line.connect(str(path))
    say = lambda value: line.sendall(json.dumps(value).encode() + b"\n")
    for value in ({"toolyard_attach": 1}, {"from": 0}, {"take": True}):
        say(value)
    line.settimeout(1)
    text, is_held = b"", False
    while time.monotonic() < until:
        try:
            got = line.recv(65536)
        except TimeoutError:
            if is_held:
                say({"command": "Run"})
            is_held = False
            continue
        except OSError:
            return
        if not got:
            return
        *lines, text = (text + got).split(b"\n")
        for told in map(json.loads, lines):
            event = told.get("record") or {}
            if event.get("kind") != "Held":
                continue
            at, lane = event["data"]["boundary"], event["data"]["lane"]
            edit = {"before_tool_call": {"arguments": arguments}, "after_tool_call": {"result": result}}.get(at)
            if edit:
                say({"command": {"EditCall": {"effect": lane["effect"], "edit": edit, "shown": True}}})
                is_held = True


def texts(data):
    """The texts in a file: unpacked, and what is packed in its values."""
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        data = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True).stdout
    text = data.decode(errors="replace")
    yield text
    for packed in re.findall(r'"deflate":\s*"([A-Za-z0-9+/=_-]+)"', text):
        packed = base64.b64decode(packed + "==")
        for bits in (-15, 15):
            try:
                yield zlib.decompressobj(bits).decompress(packed).decode(errors="replace")
                break
            except zlib.error:
                pass


OWN = (".claude", ".claude.json", ".codex", ".credentials", "planted", "more.sh")


def leaks(home):
    """Where a secret is in what toolyard wrote, and how many files were searched."""
    sought, found, count = pieces(), set(), 0
    for path in home.folder.rglob("*"):
        place = path.relative_to(home.folder)
        is_own = place.parts[0] in OWN or place.parts[0].startswith((".claude", "claude-"))
        if is_own or not path.is_file():
            continue
        if path.suffix in (".out", ".got"):
            # Of the agent alone.
            continue
        count += 1
        for text in texts(path.read_bytes()):
            if path.suffix == ".err":
                # The agent writes there, too.
                text = "\n".join(it for it in text.splitlines() if it.startswith("toolyard"))
            found |= {f"{name} in {place}" for piece, name in sought.items() if piece in text}
    return found, count


def screens(home, agent, variables):
    """What a terminal of 120 columns and 40 rows shows: the agent's, and that of `toolyard attach`."""
    tmux = ["tmux", "-L", f"logins-{os.getpid()}", "-f", "/dev/null"]
    run = lambda *words: subprocess.run([*tmux, *words], capture_output=True, text=True, env=home.environment).stdout
    tool, shown = TOOLS[agent], {}
    journal = str(home.folder / "screen.jsonl.zst")
    watch = [home.toolyard, "watch", "--intercept", "--break", f"{tool}:after", "--journal", journal, "--", *home.command(agent)]
    environment = home.environment | {"GOT": str(home.folder / "screen.got")} | variables
    line = shlex.join(["env", "-i", *(f"{name}={value}" for name, value in environment.items())])
    run("new-session", "-d", "-x", "120", "-y", "40", "-c", str(home.folder / "project"), f"{line} {shlex.join(watch)}; sleep 60")
    folder, until = home.folder / "run/toolyard", time.monotonic() + 20
    while not list(folder.glob("*.sock")) and time.monotonic() < until:
        time.sleep(0.05)
    run("new-window", "-c", str(home.folder), f"{line} {shlex.join([home.toolyard, 'attach'])}; sleep 60")
    for name, keys in {"calls": "6", "transcript": "2", "models": "5", "prompt": "v", "problems": "ga", "output": "gu"}.items():
        time.sleep(6 if name == "calls" else 1)
        run("send-keys", "-t", ":1", keys)
        time.sleep(1)
        shown[name] = run("capture-pane", "-p", "-t", ":1")
        run("send-keys", "-t", ":1", "Escape")
    shown["held agent"] = run("capture-pane", "-p", "-t", ":0")
    run("send-keys", "-t", ":1", "Space")
    time.sleep(5)
    shown["agent"], shown["end"] = run("capture-pane", "-p", "-S", "-", "-t", ":0"), run("capture-pane", "-p", "-t", ":1")
    run("kill-server")
    (home.folder / "screens.txt").write_text("\n".join(f"== {name}\n{text}" for name, text in shown.items()))
    return shown


TOOLS = {"claude": "Bash", "codex": "exec_command"}
RAINY = "rainy in Rome"
# What a tool does besides: it asks an opened host with a token in the address, and says what came and the agent's login.
MORE = """curl -s "https://{host}/hidden?access_token=$(cat "$HOME/planted")"
curl -s "https://me:$(cat "$HOME/planted")@{host}/hidden" >/dev/null
echo; cat "$HOME/{file}"
"""


class Trial:
    """One agent with one kind of login."""

    def __init__(self, name, agent, made, has_sockets=True, is_stale=False, variables=None):
        self.name, self.agent, self.is_stale, self.variables, self.is_well = name, agent, is_stale, variables or {}, True
        self.place = Path(tempfile.mkdtemp(prefix="provider-"))
        self.provider = Provider(self.place, has_sockets)
        self.home = Home(*made, self.provider)
        if not variables:
            self.home.plant(agent, is_stale)

    def check(self, what, is_well, why=""):
        print(f"{'PASS' if is_well else 'FAIL'} {self.name}: {what}" + ("" if is_well else f" ({why})"), flush=True)
        self.is_well &= bool(is_well)

    def run(self, name, options=(), **more):
        return self.home.run(name, self.agent, options, self.variables, **more)

    def all(self):
        tool, hosts = TOOLS[self.agent], {"claude": ("api.anthropic.com", "platform.claude.com"), "codex": ("chatgpt.com", "auth.openai.com")}
        host, login = hosts[self.agent]
        self.first, logged = "first", ["--log-level", "trace"]
        ran = self.run(self.first, logged)
        self.check("it runs to its end", ran.code == 0 and SUNNY in ran.out, ran.trouble())
        state, models = ran.state, ran.models()
        asks, calls = state.get("asks") or [], state.get("calls") or []
        tasks = [it["task"]["text"] for it in state.get("tasks") or [] if it["task"]["text"] != WARM]
        self.check("each model call is seen", len(asks) == len(models) > 1, f"{len(asks)} of {len(models)}")
        hidden = sorted(set(re.findall(r'.{0,25}\[key\]', self.journal(self.first))))
        self.check("nothing is hidden that is no secret", not hidden, " ".join(hidden)[:300])
        self.check("the task is the question", [it for it in tasks if QUESTION in it] == tasks != [], f"{[it[:60] for it in tasks]}")
        if self.is_stale:
            self.refused(ran)
            return self.leaves()
        seen = [(it["tool"], "sunny in Oslo" in json.dumps(it["phase"])) for it in calls]
        self.check("the call and its result are seen", seen == [(tool, True)], f"{seen}")
        odd = [it for it in ran.err.splitlines() if "not understood" in it]
        self.check("everything in its requests is understood", not odd, " / ".join(odd))
        sockets = [it for it in ran.exchanges if it.get("socket")]
        if self.agent == "codex":
            told = f"{len(sockets)} handshakes, {len([it for it in models if it.get('frame')])} frames"
            print(f"INFO {self.name}: websocket: {told}", flush=True)
        unread = (state.get("watched") or {}).get("unread") or {}
        if self.variables:
            print(f"SKIPPED {self.name}: refresh: such a login has none", flush=True)
        else:
            refreshes = self.provider.to(login, "/oauth/token")
            is_unread = f"CONNECT {login}:443" in unread and not any("oauth/token" in it for it in unread)
            self.check("the refresh passes unread", len(refreshes) > 0 and is_unread, f"{len(refreshes)}, {list(unread)}")
        ran = self.run("fault", ["--fault", f"{tool}:error"])
        read = "503" in ran.out and any("503 Service Unavailable" in it["body"] for it in ran.models())
        self.check("a fault is what the model reads", ran.code == 0 and read, f"{ran.out[-80:]} {ran.trouble()}")
        ran = self.run("hold", ["--break", f"{tool}:after", "--hold", "5"])
        held = [(end - begin) / 1e6 for it in ran.state.get("calls") or [] for begin, end in it["holds"]]
        self.check("a breakpoint holds it", ran.code == 0 and SUNNY in ran.out and held and held[0] >= 4.9, f"{held} {ran.trouble()}")
        given = {"cmd" if self.agent == "codex" else "command": 'echo Rome >> "$GOT"; echo sunny in Rome'}
        edits = ["--break", f"{tool}:before", "--break", f"{tool}:after", "--hold", "60"]
        ran = self.run("edit", edits, meanwhile=lambda: person(self.home, given, RAINY))
        is_edited = ran.got.split() == ["Rome"] and f"I read: {RAINY}" in ran.out
        self.check("arguments and a result are edited", ran.code == 0 and is_edited, f"{ran.got!r} {ran.out[-80:]!r} {ran.trouble()}")
        self.replay()
        self.hostile(host)
        if self.agent == "codex":
            self.chosen()
        self.leaves()

    def journal(self, name):
        path = self.home.folder / f"{name}.jsonl.zst"
        return "".join(texts(path.read_bytes())) if path.exists() else ""

    def replay(self):
        record = ["--recorded", str(self.home.folder / f"{self.first}.jsonl.zst"), "--strict"]
        ran = self.run("again", record)
        asked = len(ran.models())
        is_well = ran.code == 0 and SUNNY in ran.out and not asked
        self.check("its record answers it, and nobody asks the model", is_well, f"{asked} asked, {ran.trouble()}")
        self.provider.has_models = False
        ran = self.run("refused", record)
        self.check("its record answers it where the login is refused", ran.code == 0 and SUNNY in ran.out, ran.trouble())
        if self.agent == "codex":
            print(f"SKIPPED {self.name}: without a network: it asks about its account first", flush=True)
        else:
            self.provider.is_offline = True
            ran = self.run("offline", record)
            self.check("its record answers it without a network", ran.code == 0 and SUNNY in ran.out, ran.trouble())
        self.provider.is_offline, self.provider.has_models = False, True

    def refused(self, ran):
        """The endpoint refused the login at first."""
        refreshes = [it for it in ran.exchanges if it["path"].endswith("/oauth/token")]
        self.check("it refreshes the login that was refused", len(refreshes) == 1, len(refreshes))
        if self.agent == "codex":
            frames = [it for it in ran.models() if it.get("frame")]
            self.check("it goes on by its websocket", len(frames) == len(ran.models()), f"{len(frames)} of {len(ran.models())}")

    def chosen(self):
        """A key in the environment is not what Codex uses by itself."""
        ran = self.home.run("chosen", self.agent, [], {"OPENAI_API_KEY": "sk-Planted83hTzWq0LmVb5YnC12"})
        hosts = {it["host"] for it in ran.models()}
        self.check("it uses its login beside a key in the environment", hosts == {"chatgpt.com"}, hosts)

    def hostile(self, host):
        file = {"claude": ".claude/.credentials.json", "codex": ".codex/auth.json"}[self.agent]
        self.home.write("planted", BESIDE["query"])
        self.home.write("more.sh", MORE.format(host=host, file=file))
        ran = self.run("hostile")
        hidden = self.provider.to(host, "/hidden")
        is_asked = any(BESIDE["query"] in it["path"] for it in hidden)
        self.check("a tool says tokens, and asks with one in an address", ran.code == 0 and is_asked, f"{len(hidden)} {ran.trouble()}")
        (self.home.folder / "more.sh").unlink()

    def leaves(self):
        if shutil.which("tmux"):
            shown = screens(self.home, self.agent, self.variables)
            is_shown = "INTERCEPTING" in shown["calls"] and TOOLS[self.agent] in shown["calls"] and "I read: sunny" in shown["agent"]
            self.check("the screen shows it", is_shown, self.home.folder / "screens.txt")
        else:
            print(f"SKIPPED {self.name}: the screen: there is no tmux", flush=True)
        self.home.write("control", CODEX_OLD["refresh"])
        self.check("the search finds a secret", len(leaks(self.home)[0]) > 0)
        (self.home.folder / "control").unlink()
        found, count = leaks(self.home)
        self.check(f"no secret is in {count} files", not found and count > 5, "; ".join(sorted(found))[:1500])
        left = [path.name for path in (self.home.folder / "run/toolyard").glob("*")]
        self.check("nothing of the sessions is left", not left, left)


def isolated():
    """Starts this again without any network but loopback, if that is possible."""
    if os.environ.get("LOGINS_ISOLATED"):
        line = socket.socket()
        flags = struct.unpack("16sh14x", fcntl.ioctl(line, 0x8913, struct.pack("16sh14x", b"lo", 0)))[1]
        return fcntl.ioctl(line, 0x8914, struct.pack("16sh14x", b"lo", flags | 1))
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    if shutil.which("unshare") and subprocess.run([*unshare, "true"], capture_output=True).returncode == 0:
        words = [*unshare, sys.executable, *sys.argv]
        os.execvpe(words[0], words, os.environ | {"LOGINS_ISOLATED": "1"})
    print("SKIPPED a network of its own: there is no unshare", flush=True)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    isolated()
    made, words = [str(Path(it).absolute()) for it in sys.argv[1:4]], sys.argv[4:]
    if not Path(made[1], "done").exists():
        return print("SKIPPED logins: the coding agents are not installed")
    token = {"CLAUDE_CODE_OAUTH_TOKEN": CLAUDE_NEW["access"]}
    trials = {
        "claude-file": lambda name: Trial(name, "claude", made),
        "claude-variable": lambda name: Trial(name, "claude", made, variables=token),
        "claude-stale": lambda name: Trial(name, "claude", made, is_stale=True),
        "codex-socket": lambda name: Trial(name, "codex", made),
        "codex-http": lambda name: Trial(name, "codex", made, has_sockets=False),
        "codex-stale": lambda name: Trial(name, "codex", made, is_stale=True),
    }
    for name, trial in trials.items():
        if not words or name in words:
            trial = trial(name)
            trial.all()
            # What failed stays for a look.
            if trial.is_well:
                shutil.rmtree(trial.home.folder)
            shutil.rmtree(trial.place)


if __name__ == "__main__":
    main()
