"""Python's json: the lines of a journal, only parsed, against `toolyard replay`, which folds them too. Processor
time of both."""

import json
import tempfile
import time

from common import processor, show

TASKS = 2_000

with tempfile.TemporaryDirectory() as folder:
    journal = f"{folder}/session.jsonl"
    # Some tasks fail, which is exit code 1.
    processor("run", "--fresh", "--tasks-limit", str(TASKS), "--journal", journal, codes=(0, 1))
    theirs, ours = [], []
    for _ in range(3):
        ours.append(processor("replay", journal, "--json"))
        start = time.process_time()
        with open(journal) as lines:
            events = sum(1 for line in lines if json.loads(line))
        theirs.append(time.process_time() - start)
show(f"an event of {events:,} in a journal", "Python", min(theirs) / events, min(ours) / events)
