#!/usr/bin/env python3
"""Prints what building and testing costs. Each figure is CPU seconds of Cargo and its children together, and seconds on the clock.

  scripts/edit_cost.py [TREE]          after an edit of one constant of a pane: check, a unit test, the daily program
  scripts/edit_cost.py [TREE] --cold   the program by `cargo build --release` from nothing, and the dearest crates
  scripts/edit_cost.py [TREE] --tests  `cargo test` from nothing: building, running, files, and the dearest tests

TREE is another checkout than this one. After an edit, figures are medians of three; the tree is built first, and the file is
restored at the end. The crates must be there already. `--cold` and `--tests` build in a folder of their own.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONSTANT = re.compile(r"^(const \w+: usize = )(\d+);", re.MULTILINE)
# A unit test of the screen, which says nothing of the constant.
TEST = "text::tests"
EDITS = 3
DEAREST = 20
# With this variable, Cargo runs this script instead of the compiler, and it adds a line to that file.
LOG = "EDIT_COST_LOG"


def cpu(command, tree, **environment):
    """Runs a command and returns its CPU and wall seconds, and its output."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False, env=os.environ | environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    if TEST in command and "test result: ok. 0 passed" in done.stdout:
        sys.exit(f"{' '.join(command)} ran no test")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return used, time.monotonic() - begun, done.stdout


def said(name, used, took):
    print(f"{name}: {used:.1f} s of CPU, {took:.1f} s on {os.cpu_count()} cores", flush=True)


def compile_and_log():
    """Runs the compiler for Cargo, and notes what it cost."""
    code = subprocess.call(sys.argv[1:], close_fds=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if "--crate-name" in sys.argv:
        name = sys.argv[sys.argv.index("--crate-name") + 1]
        with open(os.environ[LOG], "a", encoding="utf-8") as log:
            log.write(f"{used.ru_utime + used.ru_stime:.2f} {name}\n")
    sys.exit(code)


def edits(tree):
    """What an edit costs, after the rest is built."""
    file = tree / "src/ui/panes/tasks.rs"
    crate = ["-p", "toolyard-ui"] if (tree / "src/ui/Cargo.toml").exists() else []
    commands = {
        "cargo check": ["cargo", "check", "--locked"],
        "a test of the crate": ["cargo", "test", "--locked", *crate, "--lib", TEST],
        "the daily program": ["cargo", "build", "--locked", "--profile", "daily", "--bin", "toolyard"],
    }
    text = file.read_text(encoding="utf-8")
    if not CONSTANT.search(text):
        sys.exit(f"{file} has no constant to edit")
    try:
        for name, command in commands.items():
            cpu(command, tree)
            figures = []
            for edit in range(1, EDITS + 1):
                # Another value each time: Cargo and the compiler must not know it already.
                change = lambda found: f"{found[1]}{int(found[2]) + edit};"
                file.write_text(CONSTANT.sub(change, text, count=1), encoding="utf-8")
                figures.append(cpu(command, tree)[:2])
            said(name, *(statistics.median(column) for column in zip(*figures)))
    finally:
        file.write_text(text, encoding="utf-8")


def cold(tree):
    """The program from nothing."""
    with tempfile.TemporaryDirectory() as target:
        log = Path(target, "crates.log")
        command = ["cargo", "build", "--release", "--locked", "--bin", "toolyard"]
        wrapper = {"RUSTC_WRAPPER": str(Path(__file__).resolve()), LOG: str(log)}
        used, took, _ = cpu(command, tree, CARGO_TARGET_DIR=target, **wrapper)
        said("cargo build --release from nothing", used, took)
        size = Path(target, "release/toolyard").stat().st_size
        print(f"the program: {size / 1e6:.1f} MB")
        crates = {}
        for line in log.read_text().splitlines():
            seconds, name = line.split()
            crates[name] = crates.get(name, 0) + float(seconds)
        for name, seconds in sorted(crates.items(), key=lambda crate: -crate[1])[:DEAREST]:
            print(f"{seconds:7.1f} s  {name}")


def tests(tree):
    """The tests from nothing."""
    with tempfile.TemporaryDirectory() as target:
        # As in `.ci/run`.
        environment = {"CARGO_TARGET_DIR": target, "CARGO_INCREMENTAL": "0", "CARGO_PROFILE_DEV_DEBUG": "0"}
        said("building all tests from nothing", *cpu(["cargo", "test", "--locked", "--no-run"], tree, **environment)[:2])
        files = sum(path.lstat().st_size for path in Path(target).rglob("*") if path.is_file())
        print(f"files: {files / 1e9:.1f} GB")
        # The option is unstable, and a variable allows it, of which the compiler must not know.
        timed = ["--", "-Zunstable-options", "--report-time"]
        host = re.search("^host: (.*)$", cpu(["rustc", "-vV"], tree)[2], re.MULTILINE)[1]
        environment[f"CARGO_TARGET_{host.upper().replace('-', '_')}_RUNNER"] = "env RUSTC_BOOTSTRAP=1"
        used, took, out = cpu(["cargo", "test", "--locked", *timed], tree, **environment)
        said("running them", used, took)
        found = re.findall(r"^test (\S+) .*<([\d.]+)s>$", out, re.MULTILINE)
        for name, seconds in sorted(found, key=lambda test: -float(test[1]))[:DEAREST]:
            print(f"{float(seconds):7.1f} s  {name}")


def main():
    if LOG in os.environ:
        compile_and_log()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--tests", action="store_true")
    options = parser.parse_args()
    tree = options.tree.resolve()
    (cold if options.cold else tests if options.tests else edits)(tree)


if __name__ == "__main__":
    main()
