-- Ended tasks with their models, one per row. Without a planner, `planner` is NULL and the solver is the
-- actor. US dollars are those of known prices; `unpriced`: there was more.
CREATE TABLE IF NOT EXISTS run (
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    at INTEGER NOT NULL,
    strategy TEXT NOT NULL,
    planner TEXT,
    planner_source TEXT,
    planner_simulated INTEGER,
    solver TEXT NOT NULL,
    solver_source TEXT NOT NULL,
    solver_simulated INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    with_gold INTEGER NOT NULL,
    correct INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    dollars REAL NOT NULL,
    unpriced INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS run_by_workspace ON run (workspace);
