//! Ended tasks with their models: one row each, summed up by pair.

use jiff::Timestamp;
use rusqlite::{Row, params};

use super::{Experience, error::ExperienceError};
use crate::domain::{ModelName, Pair, PairTally, Player};

impl Experience {
    /// Adds the result of a task of this workspace.
    ///
    /// # Errors
    /// The store fails; nothing is written in that case.
    pub fn add_run(
        &mut self,
        workspace: &str,
        at: Timestamp,
        run: &PairTally,
    ) -> Result<(), ExperienceError> {
        let Pair { strategy, planner, solver } = &run.pair;
        let planner = planner.as_ref();
        // SQLite counts to 2^63; no task comes near.
        let count = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        let row = params![
            workspace,
            at.as_millisecond(),
            strategy.to_string(),
            planner.map(|planner| planner.model.as_str()),
            planner.map(|planner| planner.source.as_str()),
            planner.map(|planner| planner.simulated),
            solver.model.as_str(),
            solver.source,
            solver.simulated,
            count(run.tasks),
            count(run.with_gold),
            count(run.correct),
            count(run.tokens_in),
            count(run.tokens_out),
            count(run.steps),
            run.dollars.map_or(0.0, f64::from),
            count(run.unpriced),
        ];
        self.database.run(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT INTO run (workspace, at, strategy, planner, planner_source,
                    planner_simulated, solver, solver_source, solver_simulated, tasks, with_gold,
                    correct, tokens_in, tokens_out, steps, dollars, unpriced)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
            )?;
            insert.execute(row).map(drop)
        })
    }

    /// The results of all tasks of this workspace, by planner/solver pair, in order of the first
    /// task.
    ///
    /// # Errors
    /// The store fails.
    pub fn pairs(&self, workspace: &str) -> Result<Vec<PairTally>, ExperienceError> {
        self.database.run(|connection| {
            // `total` never overflows; `sum` would return an error. Earlier versions kept any cost that an endpoint
            // reported: an impossible cost counts as unknown.
            let mut select = connection.prepare_cached(
            "SELECT strategy, planner, planner_source, planner_simulated, solver, solver_source,
                solver_simulated, total(tasks), total(with_gold), total(correct), total(tokens_in),
                total(tokens_out), total(steps), total(CASE WHEN dollars < 1e9 THEN dollars END),
                total(CASE WHEN dollars < 1e9 THEN unpriced ELSE tasks END)
             FROM run WHERE workspace = ?1
             GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY min(id)",
        )?;
            select.query_map([workspace], tally)?.filter_map(Result::transpose).collect()
        })
    }
}

/// `None` for a strategy that only another version knows.
fn tally(row: &Row<'_>) -> rusqlite::Result<Option<PairTally>> {
    let Ok(strategy) = row.get::<_, String>(0)?.parse() else { return Ok(None) };
    // Whole numbers far below 2^53, except for false reports of endpoints, which saturate.
    let count = |column: usize| row.get::<_, f64>(column).map(|sum| sum as u64);
    let model: Option<String> = row.get(1)?;
    let planner = match model {
        Some(model) => {
            let source = row.get::<_, Option<String>>(2)?.unwrap_or_default();
            let simulated = row.get::<_, Option<bool>>(3)?.unwrap_or(false);
            Some(Player { model: model.into(), source, simulated })
        }
        None => None,
    };
    let solver = Player {
        model: ModelName::from(row.get::<_, String>(4)?),
        source: row.get(5)?,
        simulated: row.get(6)?,
    };
    Ok(Some(PairTally {
        pair: Pair { strategy, planner, solver },
        tasks: count(7)?,
        with_gold: count(8)?,
        correct: count(9)?,
        tokens_in: count(10)?,
        tokens_out: count(11)?,
        steps: count(12)?,
        dollars: Some(row.get::<_, f64>(13)?.into()),
        unpriced: count(14)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::strategy::Base;

    fn run(planner: Option<&str>, solver: &str, correct: u64) -> PairTally {
        let player = |model: &str| Player {
            model: model.into(),
            source: format!("at {model}"),
            simulated: model == "sim",
        };
        PairTally {
            pair: Pair {
                strategy: Base::Workers.into(),
                planner: planner.map(player),
                solver: player(solver),
            },
            tasks: 1,
            with_gold: 1,
            correct,
            tokens_in: 1000,
            tokens_out: 50,
            steps: 3,
            dollars: Some(0.25.into()),
            unpriced: 0,
        }
    }

    #[test]
    fn runs_outlive_the_session_and_are_summed_up_by_pair_and_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.sqlite");
        let mut store = Experience::open(&path).unwrap();
        let first = run(Some("sim"), "big", 1);
        for (workspace, run) in [
            ("here", first.clone()),
            ("here", run(None, "big", 1)),
            ("here", run(Some("sim"), "big", 0)),
            ("there", first.clone()),
        ] {
            store.add_run(workspace, Timestamp::UNIX_EPOCH, &run).unwrap();
        }
        drop(store);
        let store = Experience::open_existing(&path).unwrap();
        let pairs = store.pairs("here").unwrap();
        assert_eq!(pairs.len(), 2, "{pairs:?}");
        let both = PairTally {
            tasks: 2,
            with_gold: 2,
            tokens_in: 2000,
            tokens_out: 100,
            steps: 6,
            dollars: Some(0.5.into()),
            ..first.clone()
        };
        assert_eq!(pairs[0], both);
        assert_eq!(pairs[1].pair.planner, None);
        assert_eq!(store.pairs("there").unwrap(), [first]);
        assert_eq!(store.pairs("nowhere").unwrap(), []);
    }

    #[test]
    fn a_strategy_that_only_another_version_knows_is_left_out() {
        let mut store = Experience::private().unwrap();
        for _ in 0..2 {
            store.add_run("here", Timestamp::UNIX_EPOCH, &run(None, "big", 1)).unwrap();
        }
        store
            .database
            .connection
            .execute("UPDATE run SET strategy = 'magic' WHERE id = 1", [])
            .unwrap();
        let pairs = store.pairs("here").unwrap();
        assert_eq!((pairs.len(), pairs[0].tasks), (1, 1));
    }

    #[test]
    fn numbers_that_an_endpoint_made_up_do_no_harm() {
        let mut store = Experience::private().unwrap();
        let mad = PairTally { tokens_in: u64::MAX, ..run(None, "big", 1) };
        for _ in 0..3 {
            store.add_run("here", Timestamp::UNIX_EPOCH, &mad).unwrap();
        }
        assert_eq!(store.pairs("here").unwrap()[0].tokens_in, u64::MAX);
        store.add_run("here", Timestamp::UNIX_EPOCH, &run(None, "big", 1)).unwrap();
        store
            .database
            .connection
            .execute("UPDATE run SET dollars = 9e999 WHERE id < 3", [])
            .unwrap();
        let pairs = store.pairs("here").unwrap();
        assert_eq!((pairs[0].dollars, pairs[0].unpriced), (Some(0.5.into()), 2));
    }
}
