-- The cache of states, format 1. Everything in it can be computed again.

-- Where states are taken: the SHA-256 of a model's file, a layer (0: after the final norm), and of which tokens.
CREATE TABLE place (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    layer INTEGER NOT NULL,
    pooling TEXT NOT NULL,
    UNIQUE (model, layer, pooling)
) STRICT;

-- The state of a text, known by its SHA-256: numbers (f32), little-endian.
CREATE TABLE state (
    id INTEGER PRIMARY KEY,
    place INTEGER NOT NULL,
    text TEXT NOT NULL,
    -- The opening of the cache that last used it: see `turn`.
    used INTEGER NOT NULL,
    numbers BLOB NOT NULL,
    UNIQUE (place, text)
) STRICT;
CREATE INDEX state_by_use ON state (used, id);

-- How often the cache was opened.
CREATE TABLE turn (number INTEGER NOT NULL) STRICT;
INSERT INTO turn (number) VALUES (0);

-- The queries of a domain that its mean counts, and the mean as JSON.
CREATE TABLE query (
    domain TEXT NOT NULL,
    place INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (domain, place, text)
) STRICT, WITHOUT ROWID;
CREATE TABLE mean (
    domain TEXT NOT NULL,
    place INTEGER NOT NULL,
    mean TEXT NOT NULL,
    PRIMARY KEY (domain, place)
) STRICT, WITHOUT ROWID;

-- Hashes of model files, so that a start does not read them again.
CREATE TABLE model_file (
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT, WITHOUT ROWID;
