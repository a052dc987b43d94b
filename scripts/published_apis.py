#!/usr/bin/env python3
"""Imports published descriptions of APIs, calls every tool once, and checks what a server gets.

    scripts/published_apis.py FOLDER [--toolyard PROGRAM] [--only NAME] [--workers N] [--verbose]

FOLDER has descriptions of APIs: OpenAPI 3, Swagger 2.0 and Postman collections, in JSON or YAML. They are not a part of
this repository; their publishers have them in public repositories. Without FOLDER the variable TOOLYARD_APIS names it,
and without both nothing is done.

The requests are read by openapi-core, which knows nothing of toolyard: it finds the operation in the published file,
decodes path, query, headers, cookies and body by it, and validates them. What it decodes must be the arguments of the
call. Files in other forms become OpenAPI 3 by swagger2openapi and postman-to-openapi.

    pip install openapi-core qs-codec rstr
    npm install --prefix FOLDER/.npm yaml swagger2openapi @scalar/postman-to-openapi
"""

import argparse
import collections
import concurrent.futures
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib

try:
    from published_apis_check import Checker
    from published_apis_values import Values
except ImportError as missing:
    sys.exit(f"SKIPPED: {missing}; install it as the first lines of this file say")


class Echo(http.server.BaseHTTPRequestHandler):
    """Keeps each request by the first part of its path, which tells calls apart."""

    seen = {}

    def answer(self):
        length = int(self.headers.get("content-length") or 0)
        _, call, rest = self.path.split("/", 2)
        # The library reads headers as Latin-1, and they are UTF-8.
        headers = [(name, value.encode("latin-1").decode()) for name, value in self.headers.items()]
        Echo.seen[call] = (self.command, "/" + rest, headers, self.rfile.read(length))
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"{}")

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


def imported(program, file, folder, base):
    """The manifests of a file, and the number of its operations."""
    command = [program, "import", "openapi", str(file), "--out", str(folder), "--base", base]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return [], done.stderr
    paths = sorted((folder / "tools").glob("*.toml"))
    return [(path, tomllib.loads(path.read_text())) for path in paths], done.stderr


def called(program, folder, number, manifest, arguments, port):
    """Calls one tool, in a workspace of its own, and returns what the server got of it."""
    own = folder / f"one-{number}"
    (own / "tools").mkdir(parents=True)
    text = manifest[0].read_text().replace(f"http://127.0.0.1:{port}/x", f"http://127.0.0.1:{port}/c{number}", 1)
    (own / "tools" / manifest[0].name).write_text(text)
    environment = dict(os.environ)
    for words in text.split("${")[1:]:
        environment[words.split("}")[0]] = "a-key-of-the-test"
    command = [program, "tools", "call", manifest[1]["name"], json.dumps(arguments), "--workspace", str(own)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    shutil.rmtree(own)
    return Echo.seen.pop(f"c{number}", None), done.stderr


def try_file(options, file, port):
    """Counts of a file: operations, tools, tools whose call was right; and what was wrong."""
    checker = Checker(file, pathlib.Path(options.folder) / ".npm")
    wrong = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        manifests, said = imported(options.toolyard, file, folder / "all", f"http://127.0.0.1:{port}/x")
        if not manifests:
            return len(checker.operations), 0, 0, [said.strip()]

        def one(number, manifest):
            source = manifest[1]["source"]
            arguments = Values(manifest[1]["parameters"]).arguments()
            request, errors = called(options.toolyard, folder, number, manifest, arguments, port)
            if request is None:
                return f"{source['operation']}: not sent: {errors.strip()}"
            why = checker.check(source, request, arguments)
            return why and f"{source['operation']}: {why}"

        with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
            answers = pool.map(lambda pair: one(*pair), enumerate(manifests))
            wrong = [answer for answer in answers if answer]
    return len(checker.operations), len(manifests), len(manifests) - len(wrong), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("TOOLYARD_APIS"))
    parser.add_argument("--toolyard", default="target/release/toolyard")
    parser.add_argument("--only", default="")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not options.folder:
        print("SKIPPED: name a folder of descriptions of APIs, or set TOOLYARD_APIS")
        return 0
    options.toolyard = str(pathlib.Path(options.toolyard).resolve())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    total = collections.Counter()
    print(f"{'file':<32} {'operations':>10} {'imported':>9} {'right':>6}")
    for file in sorted(pathlib.Path(options.folder).iterdir()):
        if file.suffix not in (".json", ".yaml", ".yml") or options.only not in file.name:
            continue
        operations, tools, right, wrong = try_file(options, file, server.server_port)
        total.update(operations=operations, tools=tools, right=right)
        print(f"{file.name:<32} {operations:>10} {tools:>9} {right:>6}", flush=True)
        for line in wrong if options.verbose else wrong[:3]:
            print(f"    {line[:400]}")
    operations, tools, right = total["operations"], total["tools"], total["right"]
    print(f"{'all':<32} {operations:>10} {tools:>9} {right:>6}")
    return 0 if tools >= 0.97 * operations and right == tools else 1


if __name__ == "__main__":
    sys.exit(main())
