-- The line of a file that a use was imported from, so that it is not imported twice. It is NULL for other uses, and for
-- those that were imported in an earlier format.
ALTER TABLE uses ADD COLUMN line BLOB;
CREATE UNIQUE INDEX uses_by_line ON uses (line) WHERE line IS NOT NULL;
