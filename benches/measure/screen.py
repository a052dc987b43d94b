"""The screen: its first frame, what it costs while nothing happens, and what it draws while much does."""

from .bench import Row, beside
from .terminal import drawn, first_frame, idle
from .workspaces import many_tools

TOOLS = 16_000


def first_frames(bench):
    """Milliseconds to the first frame, of the demo and with 16,000 tools, after a start that does not count."""
    many = ["--workspace", many_tools(bench.folder / "many", TOOLS), "--fresh", "--no-journal"]
    for what, command, most in (("of the demo", ["--no-journal"], 25), (f"with {TOOLS:,} tools", many, 150)):

        def frame(program, command=command):
            return first_frame(program.path, command, program.home)

        bench.of_each(frame)
        yield Row(f"first frame {what}", "ms", **beside(bench.turns(frame, 5)), most=most)

    def still(program):
        return idle(program.path, ["--no-journal"], program.home) * 100

    yield Row("CPU of an idle screen", "%", **beside(bench.turns(still, 1 if bench.quick else 3)), most=0.1)


def moves(bench):
    """The resilience demo at 16 times its speed, until it ends by itself, on a terminal that takes all at once."""
    command = ["demo", "resilience", "--speed", "16", "--unattended"]
    for columns, rows in ((120, 40), (200, 60)):

        def figures(program, size=(columns, rows)):
            return drawn(program.path, command, program.home, *size)

        found, size = bench.turns(figures, 1 if bench.quick else 3), f"{columns}x{rows}"
        yield Row(f"frames of the resilience demo at 16×, {size}", "a second", **beside(found, lambda one: one["frames"]), least=25)
        yield Row("bytes of a frame", "kB", **beside(found, lambda one: one["of a frame"] / 1e3))
        yield Row("bytes of all", "kB/s", **beside(found, lambda one: one["bytes"] / 1e3))
        yield Row("CPU of it", "%", **beside(found, lambda one: one["cpu"] * 100))
