"""A terminal for the measurements: it takes what a program draws, and answers what the program asks."""

import fcntl
import os
import pty
import resource
import select
import signal
import statistics
import struct
import termios
import time
from pathlib import Path

from peers.common import Failed, surroundings

# What a program asks for, and what a terminal says: the place of the cursor, and its kind.
ANSWERS = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62c"}
# How a frame begins.
FRAME = b"\x1b[?2026h"
# Seconds until the first frames are over, and seconds that an idle screen is measured.
SETTLE, IDLE = 2, 10


class Terminal:
    def __init__(self, program, arguments, home, columns=120, rows=40, colours=""):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            try:
                os.chdir(home)
                os.execve(program, [program, *arguments], surroundings(home) | {"COLORTERM": colours})
            finally:
                os._exit(127)

    def read(self, seconds):
        """What the program has written, at the latest after some seconds; nothing at its end."""
        if not select.select([self.file], [], [], seconds)[0]:
            raise Failed(f"nothing on the terminal for {seconds} s")
        try:
            seen = os.read(self.file, 65536)
        except OSError:
            return b""
        for asked, answer in ANSWERS.items():
            if asked in seen:
                os.write(self.file, answer)
        return seen

    def close(self, keys=b""):
        """Ends the program by its keys, or else by a signal. Returns its exit code, negative for a signal."""
        try:
            os.write(self.file, keys)
            while keys and self.read(5):
                pass
        except (OSError, Failed):
            pass
        for _ in range(20):
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                break
            time.sleep(0.1)
        else:
            os.kill(self.pid, signal.SIGTERM)
            _, status = os.waitpid(self.pid, 0)
        os.close(self.file)
        return os.waitstatus_to_exitcode(status)


def first_frame(program, arguments, home):
    """Milliseconds until the screen shows its transcript."""
    begun = time.monotonic()
    terminal = Terminal(program, arguments, home)
    try:
        seen = b""
        while b"Transcript" not in seen:
            more = terminal.read(20)
            if not more:
                raise Failed("the program ended before its first frame")
            seen += more
        return (time.monotonic() - begun) * 1000
    finally:
        terminal.close(b"qy")


def drawn(program, arguments, home, columns, rows):
    """What a program draws until it ends: bytes a second, frames a second by the median time between two, and its CPU as a part
    of all the time."""
    begun, count, frames = time.monotonic(), 0, []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    terminal = Terminal(program, arguments, home, columns, rows, "truecolor")
    try:
        while more := terminal.read(60):
            count += len(more)
            frames += [time.monotonic()] * more.count(FRAME)
        took = time.monotonic() - begun
    finally:
        code = terminal.close()
    if code != 0:
        raise Failed(f"`{arguments[0]}` ended with {code}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    gap = statistics.median(later - one for one, later in zip(frames, frames[1:]))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"bytes": count / took, "frames": 1 / gap, "cpu": cpu / took, "of a frame": count / len(frames)}


def idle(program, arguments, home):
    """The CPU of a screen to which nothing happens, as a part of the time."""
    terminal = Terminal(program, arguments, home, columns=200, rows=60)
    try:
        wait(terminal, SETTLE)
        before = milliseconds(terminal.pid)
        wait(terminal, IDLE)
        return (milliseconds(terminal.pid) - before) / 1000 / IDLE
    finally:
        terminal.close(b"qy")


def wait(terminal, seconds):
    """Takes what the program draws, so that it never waits for its terminal."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        try:
            if not terminal.read(left):
                raise Failed("the program ended")
        except Failed:
            return


def milliseconds(pid):
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")


def peak(program, arguments, home, keys):
    """Megabytes of resident memory that a program has at most, from its keys until its screen changes no more."""
    terminal = Terminal(program, arguments, home)
    try:
        seen = b""
        while b"Transcript" not in seen:
            seen += terminal.read(20)
        os.write(terminal.file, keys)
        try:
            while terminal.read(5):
                pass
        except Failed:
            pass
        with open(f"/proc/{terminal.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024 / 1e6
    finally:
        terminal.close(b"qy")
