//! States by their texts.

use rusqlite::{Connection, OptionalExtension, params};

use super::{StateCache, StatePlace, StatesError, TextKey};

/// Bytes of a number.
const BYTES: usize = 4;

impl StateCache {
    /// The states of these texts, in their order; `None` where there is none.
    ///
    /// # Errors
    /// The cache fails.
    pub fn get(
        &mut self,
        at: &StatePlace,
        texts: &[TextKey],
    ) -> Result<Vec<Option<Vec<f32>>>, StatesError> {
        let turn = self.turn;
        self.database.run(|connection| {
            let Some(place) = at.find(connection)? else { return Ok(vec![None; texts.len()]) };
            let mut select = connection.prepare_cached(
                "SELECT id, used, numbers FROM state WHERE place = ?1 AND text = ?2",
            )?;
            let (mut found, mut older) = (Vec::with_capacity(texts.len()), Vec::new());
            for TextKey(text) in texts {
                let row = select.query_row(params![place, text], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                });
                let row: Option<(i64, i64, Vec<u8>)> = row.optional()?;
                found.push(row.and_then(|(id, used, bytes)| {
                    if used < turn {
                        older.push(id);
                    }
                    numbers(&bytes)
                }));
            }
            drop(select);
            touch(connection, turn, &older)?;
            Ok(found)
        })
    }

    /// Stores these states, all or none, replacing earlier ones of the same texts. If the cache is full, the least
    /// recently used states leave.
    ///
    /// # Errors
    /// The cache fails.
    pub fn put(
        &mut self,
        at: &StatePlace,
        states: &[(TextKey, &[f32])],
    ) -> Result<(), StatesError> {
        self.database.write(|transaction| {
            let place = at.id(transaction)?;
            let mut insert = transaction.prepare_cached(
                "INSERT OR REPLACE INTO state (place, text, used, numbers) VALUES (?1, ?2, ?3, ?4)",
            )?;
            for (TextKey(text), state) in states {
                let bytes: Vec<u8> = state.iter().flat_map(|x| x.to_le_bytes()).collect();
                insert.execute(params![place, text, self.turn, bytes])?;
            }
            drop(insert);
            prune(transaction, self.most)
        })
    }

    /// How many states there are.
    ///
    /// # Errors
    /// The cache fails.
    pub fn count(&self) -> Result<u64, StatesError> {
        self.database.run(count)
    }
}

/// Notes that these states are in use.
fn touch(connection: &Connection, turn: i64, ids: &[i64]) -> rusqlite::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let transaction = connection.unchecked_transaction()?;
    let mut update = transaction.prepare_cached("UPDATE state SET used = ?1 WHERE id = ?2")?;
    for id in ids {
        update.execute(params![turn, id])?;
    }
    drop(update);
    transaction.commit()
}

fn count(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_row("SELECT count(*) FROM state", [], |row| row.get(0))
}

/// Shrinks a cache that is too full to nine tenths of its bound.
fn prune(connection: &Connection, most: u64) -> rusqlite::Result<()> {
    let there = count(connection)?;
    if there <= most {
        return Ok(());
    }
    let leave = there - most / 10 * 9;
    connection.execute(
        "DELETE FROM state WHERE id IN (SELECT id FROM state ORDER BY used, id LIMIT ?1)",
        [leave],
    )?;
    connection.execute_batch("PRAGMA incremental_vacuum")
}

/// The numbers of a stored state; `None` if it is damaged, so that it is computed again.
fn numbers(bytes: &[u8]) -> Option<Vec<f32>> {
    let (numbers, rest) = bytes.as_chunks::<BYTES>();
    let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    (rest.is_empty() && numbers.iter().all(|x| x.is_finite())).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::cotools::{Pooling, RecipeLayer};

    fn at(layer: u32) -> StatePlace {
        StatePlace {
            model: "m".to_owned(),
            layer: RecipeLayer::After(layer),
            pooling: Pooling::Mean,
        }
    }

    fn key(text: &str) -> TextKey {
        TextKey::of(text)
    }

    #[test]
    fn a_state_belongs_to_its_text_and_place() {
        let mut cache = StateCache::in_memory().unwrap();
        cache.put(&at(1), &[(key("a"), &[1.0, -2.5]), (key("b"), &[0.0, 3.0])]).unwrap();
        let got = cache.get(&at(1), &[key("b"), key("c"), key("a")]).unwrap();
        assert_eq!(got, [Some(vec![0.0, 3.0]), None, Some(vec![1.0, -2.5])]);
        assert_eq!(cache.get(&at(2), &[key("a")]).unwrap(), [None]);
        cache.put(&at(1), &[(key("a"), &[4.0])]).unwrap();
        assert_eq!(cache.get(&at(1), &[key("a")]).unwrap(), [Some(vec![4.0])]);
        assert_eq!(cache.count().unwrap(), 2);
    }

    #[test]
    fn what_was_not_used_for_longest_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("states.db");
        let texts: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        let keys: Vec<TextKey> = texts.iter().map(|text| key(text)).collect();
        let mut first = StateCache::open(&path).unwrap();
        for key in &keys {
            first.put(&at(1), &[(key.clone(), &[1.0])]).unwrap();
        }
        drop(first);
        let mut second = StateCache::open(&path).unwrap().with_most(10);
        assert!(second.get(&at(1), &keys[..1]).unwrap()[0].is_some());
        second.put(&at(1), &[(key("new"), &[2.0])]).unwrap();
        assert_eq!(second.count().unwrap(), 9);
        let left = second.get(&at(1), &keys[..4]).unwrap();
        let left: Vec<bool> = left.iter().map(Option::is_some).collect();
        assert_eq!(left, [true, false, false, true]);
    }

    #[test]
    fn a_damaged_state_is_computed_again() {
        assert_eq!(numbers(&[0, 0, 128, 63]), Some(vec![1.0]));
        assert_eq!(numbers(&[0, 0, 128]), None);
        assert_eq!(numbers(&f32::NAN.to_le_bytes()), None);
    }
}
