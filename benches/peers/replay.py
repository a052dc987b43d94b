"""Python's json: the lines of a journal, only parsed. Argument: the journal. Seconds of processor time an event."""

import json
import sys

from common import fastest, tell


def read():
    with open(sys.argv[1]) as lines:
        return sum(1 for line in lines if json.loads(line))


tell(None, event=fastest(read, read(), 3))
