-- The store of past uses, format 4; upgrade.rs converts earlier formats. Times are milliseconds since 1970, UTC.

CREATE TABLE query (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE tool (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE uses (
    -- Never reused, so that a list of uses to delete cannot match uses added later.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    query INTEGER NOT NULL,
    tool INTEGER NOT NULL,
    source INTEGER NOT NULL,
    at INTEGER NOT NULL,
    helpful INTEGER NOT NULL CHECK (helpful IN (0, 1)),
    parameters TEXT NOT NULL,
    result TEXT NOT NULL
) STRICT;
CREATE INDEX uses_by_tool ON uses (tool, at);

-- The uses of one tool for one query, as the estimates need them. Triggers keep it up to date.
CREATE TABLE past (
    query INTEGER NOT NULL,
    tool INTEGER NOT NULL,
    latest INTEGER NOT NULL,
    helpful INTEGER NOT NULL,
    unhelpful INTEGER NOT NULL,
    PRIMARY KEY (query, tool)
) STRICT, WITHOUT ROWID;
-- It has all columns, so that a tool's latest past is read from the index alone.
CREATE INDEX past_by_tool ON past (tool, latest, helpful, unhelpful);

CREATE TRIGGER use_added AFTER INSERT ON uses BEGIN
    INSERT INTO past (query, tool, latest, helpful, unhelpful)
    VALUES (new.query, new.tool, new.at, new.helpful, 1 - new.helpful)
    ON CONFLICT DO UPDATE SET
        latest = max(latest, excluded.latest),
        helpful = helpful + excluded.helpful,
        unhelpful = unhelpful + excluded.unhelpful;
END;
CREATE TRIGGER use_removed AFTER DELETE ON uses BEGIN
    UPDATE past SET
        helpful = helpful - old.helpful,
        unhelpful = unhelpful - (1 - old.helpful)
    WHERE query = old.query AND tool = old.tool;
    DELETE FROM past
    WHERE query = old.query AND tool = old.tool AND helpful + unhelpful = 0;
END;

-- A query's words as a vector of length 1: pairs of a word's hash (u32) and its weight (f32), by hash,
-- little-endian. In a table of their own, so that thousands of them are stored close together.
CREATE TABLE words (query INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT;
-- The queries that contain a word.
CREATE TABLE word_in (
    word INTEGER NOT NULL,
    query INTEGER NOT NULL,
    PRIMARY KEY (word, query)
) STRICT, WITHOUT ROWID;

-- The vector of a sample when `words` was filled, to detect a change in how words are read.
CREATE TABLE reading (sample BLOB NOT NULL) STRICT;

-- The embedding of a query by a model: a number (i8) for each dimension. Only their ratio counts.
CREATE TABLE embedding (
    query INTEGER NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (query, model)
) STRICT;
