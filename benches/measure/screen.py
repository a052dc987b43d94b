"""The screen: its first frame with many tools, and what it writes to a terminal."""

from .bench import Row, beside
from .terminal import first_frame, written
from .workspaces import many_tools

TOOLS = 16_000


def first_frames(bench):
    """Milliseconds to the first frame with 16,000 tools: the median of five starts, after one that does not count."""
    command = ["--workspace", many_tools(bench.folder / "many", TOOLS), "--fresh", "--no-journal"]

    def frame(program):
        return first_frame(program.path, command, program.home)

    bench.of_each(frame)
    yield Row(f"first frame with {TOOLS:,} tools", "ms", **beside(bench.median(frame, 5)), most=150)


def bytes_written(bench):
    """Kilobytes a second of the resilience demo at 16 times its speed, until it ends by itself."""
    command = ["demo", "resilience", "--speed", "16", "--unattended"]
    for columns, rows in ((120, 40), (200, 60)):
        found = bench.of_each(lambda program: written(program.path, command, program.home, columns, rows) / 1e3)
        yield Row(f"bytes to a terminal at 16×, {columns}x{rows}", "kB/s", **beside(found), most=20)
