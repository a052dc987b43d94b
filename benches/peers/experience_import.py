"""Python with SQLite and its full-text search: an import of past uses. Arguments: their file, and how often."""

import json
import sqlite3
import sys
import tempfile

from common import fastest, tell


def load(lines, path):
    """The least that finds past uses by tool and by words: one table, one index, and the queries by words."""
    store = sqlite3.connect(path)
    store.executescript(
        """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
        CREATE TABLE query (id INTEGER PRIMARY KEY, text TEXT UNIQUE);
        CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'porter');
        CREATE TABLE uses (query INTEGER, tool TEXT, parameters TEXT, result TEXT, helpful INTEGER);
        CREATE INDEX by_tool ON uses (tool);
        """
    )
    queries = {}
    for line in lines:
        use = json.loads(line)
        text = use["query"]
        if text not in queries:
            queries[text] = store.execute("INSERT INTO query (text) VALUES (?)", [text]).lastrowid
            store.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", [queries[text], text])
        row = [queries[text], use["tool"], json.dumps(use["parameters"]), use["result"], use["helpful"]]
        store.execute("INSERT INTO uses VALUES (?, ?, ?, ?, ?)", row)
    store.commit()
    store.close()


def run():
    with tempfile.TemporaryDirectory() as folder, open(sys.argv[1]) as lines:
        load(lines, f"{folder}/uses.sqlite")


tell(None, run=fastest(run, repeats=int(sys.argv[2])))
