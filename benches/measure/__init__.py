"""The rows of the table of speed: each file has those of one subject."""
