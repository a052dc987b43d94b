-- Counts the uses after this one, as `use_added` does for each.
INSERT INTO past (query, tool, latest, helpful, unhelpful)
SELECT query, tool, max(at), sum(helpful), sum(1 - helpful) FROM uses WHERE id > ?1 GROUP BY query, tool
ON CONFLICT DO UPDATE SET
    latest = max(latest, excluded.latest),
    helpful = helpful + excluded.helpful,
    unhelpful = unhelpful + excluded.unhelpful;
