//! The mean of the distinct queries of each domain.

use rusqlite::{Connection, OptionalExtension, params};

use super::{StateCache, StatePlace, StatesError, TextKey};
use crate::database::DatabaseFault;
use crate::papers::cotools::RunningMean;

/// Queries of a domain after which its mean hardly moves; later ones are not counted.
const MOST_QUERIES: u64 = 10_000;

impl StateCache {
    /// The mean of the queries of this domain so far.
    ///
    /// # Errors
    /// The cache fails, or its mean is damaged.
    pub fn mean(&self, domain: &str, at: &StatePlace) -> Result<RunningMean, StatesError> {
        let found: Result<_, StatesError> = self.database.run(|connection| {
            let place = at.find(connection)?;
            place.map_or(Ok(None), |place| kept(connection, domain, place))
        });
        let Some(mean) = found? else { return Ok(RunningMean::default()) };
        serde_json::from_str(&mean).map_err(|error| {
            let why = format!("the mean of `{domain}`: {error}");
            self.database.error(DatabaseFault::Damaged(why)).into()
        })
    }

    /// The mean of the queries before this one. The query counts from now on, with its state, unless it was asked before.
    ///
    /// # Errors
    /// The cache fails, or the state has another width than those before.
    pub fn ask(
        &mut self,
        domain: &str,
        at: &StatePlace,
        query: &TextKey,
        state: &[f32],
    ) -> Result<RunningMean, StatesError> {
        // A write keeps other sessions waiting, so a known query, or one beyond the bound, writes nothing.
        let before = self.mean(domain, at)?;
        if before.count() >= MOST_QUERIES || self.knows(domain, at, query)? {
            return Ok(before);
        }
        let unfit = |why: String| StatesError::Unfit { domain: domain.to_owned(), why };
        let database = &self.database;
        let failed = |error: rusqlite::Error| StatesError::from(database.error(error));
        let transaction = database.connection.unchecked_transaction().map_err(failed)?;
        let place = at.id(&transaction).map_err(failed)?;
        let insert = "INSERT OR IGNORE INTO query (domain, place, text) VALUES (?1, ?2, ?3)";
        let new = transaction.execute(insert, params![domain, place, query.0]).map_err(failed)?;
        // Since the mean was read, another session may have added this query, or others.
        if new == 0 {
            return Ok(before);
        }
        let mut mean: RunningMean = match kept(&transaction, domain, place).map_err(failed)? {
            Some(mean) => serde_json::from_str(&mean).map_err(|error| unfit(error.to_string()))?,
            None => RunningMean::default(),
        };
        mean.add(state).map_err(|error| unfit(error.to_string()))?;
        let text = serde_json::to_string(&mean).map_err(|error| unfit(error.to_string()))?;
        let replace = "INSERT OR REPLACE INTO mean (domain, place, mean) VALUES (?1, ?2, ?3)";
        transaction.execute(replace, params![domain, place, text]).map_err(failed)?;
        transaction.commit().map_err(failed)?;
        Ok(before)
    }

    /// Whether a query of this domain was asked before.
    ///
    /// # Errors
    /// The cache fails.
    pub fn knows(
        &self,
        domain: &str,
        at: &StatePlace,
        query: &TextKey,
    ) -> Result<bool, StatesError> {
        self.database.run(|connection| {
            let Some(place) = at.find(connection)? else { return Ok(false) };
            let mut select = connection.prepare_cached(
                "SELECT 1 FROM query WHERE domain = ?1 AND place = ?2 AND text = ?3",
            )?;
            select.exists(params![domain, place, query.0])
        })
    }
}

fn kept(connection: &Connection, domain: &str, place: i64) -> rusqlite::Result<Option<String>> {
    let mut select =
        connection.prepare_cached("SELECT mean FROM mean WHERE domain = ?1 AND place = ?2")?;
    select.query_row(params![domain, place], |row| row.get(0)).optional()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::cotools::{Pooling, RecipeLayer};

    #[test]
    fn a_query_that_is_asked_twice_counts_once() {
        let mut cache = StateCache::in_memory().unwrap();
        let at =
            StatePlace { model: "m".to_owned(), layer: RecipeLayer::Final, pooling: Pooling::End };
        assert_eq!(cache.mean("d", &at).unwrap(), RunningMean::default());
        for (text, x) in [("a", 1.0), ("a", 9.0), ("b", 2.0), ("c", 3.0), ("d", 4.0)] {
            cache.ask("d", &at, &TextKey::of(text), &[x]).unwrap();
        }
        let before = cache.ask("d", &at, &TextKey::of("e"), &[5.0]).unwrap();
        assert_eq!((before.count(), before.mean()), (4, None));
        let mean = cache.mean("d", &at).unwrap();
        assert_eq!((mean.count(), mean.mean()), (5, Some([3.0].as_slice())));
        assert_eq!(cache.ask("d", &at, &TextKey::of("e"), &[9.0]).unwrap(), mean);
        assert_eq!(cache.mean("other", &at).unwrap().count(), 0);
        assert!(cache.ask("d", &at, &TextKey::of("f"), &[1.0, 2.0]).is_err());
        assert_eq!(cache.mean("d", &at).unwrap(), mean, "a state that does not fit is not counted");
    }
}
