#!/usr/bin/env python3
"""Counts lines of code: without comments, blank lines and tests.

  scripts/lines.py [FOLDER]

FOLDER is a checkout; without it, the one of this script. Prints the lines of each room and of all. What stands behind
`#[cfg(test)]` is a test: an item to its end, or a file.
"""

import re
import sys
from pathlib import Path

MODULE = re.compile(r"(?:pub(?:\(\w+\))? )?mod (\w+);")


def split(text):
    """The lines of a file that count, and the names of the files that are tests."""
    count, tests = 0, set()
    lines = iter(text.splitlines())
    for line in lines:
        plain = line.strip()
        if plain.startswith("#[cfg(test)]"):
            first = next(lines, "")
            if module := MODULE.match(first.strip()):
                tests.add(module[1])
            elif not first.rstrip().endswith((";", "}")):
                # To the brace that stands as far left as the item.
                end = first[: len(first) - len(first.lstrip())] + "}"
                next((line for line in lines if line == end), None)
        else:
            count += bool(plain) and not plain.startswith("//")
    return count, tests


def rooms(root):
    """The lines of each room, of the folder `src` itself, and of the laboratory."""
    counts, skipped = {}, set()
    files = {}
    for path in sorted([*(root / "src").rglob("*.rs"), *(root / "lab" / "src").rglob("*.rs")]):
        files[path], tests = split(path.read_text(encoding="utf-8"))
        # A module lies beside `mod.rs` or `lib.rs`, else in a folder named as its parent.
        own = path.parent if path.name in ("mod.rs", "lib.rs", "main.rs") else path.with_suffix("")
        skipped |= {own / name for name in tests}
    for path, count in files.items():
        if not skipped.isdisjoint({path.with_suffix(""), *path.parents}):
            continue
        parts = path.relative_to(root).parts
        room = parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]
        counts[room] = counts.get(room, 0) + count
    return counts


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    counts = rooms(root)
    for room, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        print(f"{count:8,} {room}")
    print(f"{sum(counts.values()):8,} all, {sum(counts.values()) - counts.get('lab', 0):,} without the laboratory")


if __name__ == "__main__":
    main()
