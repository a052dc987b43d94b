//! How alike two queries are by their meaning: the cosine of what an embedding model makes of them.
//!
//! The model is asked by whoever has a way to it; here its vectors are only kept, one for each query and
//! model, so that no query is paid for twice. Numbers are rounded to a hundredth of the largest: that
//! changes a cosine by less than 0.01, and a thousand past queries are read four times as fast.

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::{Experience, Query, add::Adder, error::ExperienceError, past_use::identity};

/// What a model made of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    model: String,
    vector: Vec<i8>,
}

impl Embedding {
    /// `None` for a vector that has no direction: without a number but 0, or with one that is none.
    pub fn new(model: impl Into<String>, vector: &[f32]) -> Option<Self> {
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let is_good = vector.iter().all(|number| number.is_finite()) && largest > 0.0;
        let round = |number: &f32| (number / largest * f32::from(i8::MAX)).round() as i8;
        is_good.then(|| Self { model: model.into(), vector: vector.iter().map(round).collect() })
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// A number for each dimension, of which only the ratio counts.
    pub fn vector(&self) -> &[i8] {
        &self.vector
    }

    /// The cosine with a stored vector, 0 to 1; a negative one counts as 0. `None` where they cannot be
    /// compared.
    pub(super) fn cosine(&self, stored: &[u8]) -> Option<f64> {
        if stored.len() != self.vector.len() {
            return None;
        }
        let (mut both, mut own, mut other) = (0_i64, 0_i64, 0_i64);
        for (one, two) in self.vector.iter().zip(stored) {
            let (one, two) = (i32::from(*one), i32::from(two.cast_signed()));
            both += i64::from(one * two);
            own += i64::from(one * one);
            other += i64::from(two * two);
        }
        let lengths = (own as f64 * other as f64).sqrt();
        (lengths > 0.0).then(|| (both as f64 / lengths).clamp(0.0, 1.0))
    }
}

impl Query {
    /// What makes two queries the same one: the text without white space around it, up to
    /// [`MAX_QUERY`](super::MAX_QUERY).
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same, compared by meaning with those past queries of which the store has what the same model
    /// made, and with the others by words.
    pub fn with_embedding(self, embedding: Embedding) -> Self {
        Self { embedding: Some(embedding), ..self }
    }
}

impl Experience {
    /// What this model made of this query, if it was kept.
    ///
    /// # Errors
    /// What the store says.
    pub fn embedding(
        &self,
        query: &str,
        model: &str,
    ) -> Result<Option<Embedding>, ExperienceError> {
        let select = || {
            let mut select = self.connection.prepare_cached(
                "SELECT vector FROM embedding
                 WHERE query = (SELECT id FROM query WHERE text = ?1) AND model = ?2",
            )?;
            let vector = |row: &rusqlite::Row<'_>| row.get::<_, Vec<u8>>(0);
            select.query_row([identity(query), model], vector).optional()
        };
        let found = select().map_err(|error| ExperienceError::of(&self.path, &error))?;
        let vector = |bytes: Vec<u8>| bytes.into_iter().map(u8::cast_signed).collect();
        Ok(found.map(|bytes| Embedding { model: model.to_owned(), vector: vector(bytes) }))
    }

    /// Keeps what models made of queries, all or none; in place of what was kept of these before.
    ///
    /// # Errors
    /// What the store says.
    pub fn keep_embeddings(&mut self, all: &[(&str, Embedding)]) -> Result<(), ExperienceError> {
        let mut keep = || {
            let immediate = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(immediate)?;
            let mut adder = Adder::new(&self.reader, transaction);
            for (query, Embedding { model, vector }) in all {
                let id = adder.query(identity(query))?;
                let bytes: Vec<u8> = vector.iter().map(|number| number.cast_unsigned()).collect();
                let mut insert = adder.transaction.prepare_cached(
                    "INSERT OR REPLACE INTO embedding (query, model, vector) VALUES (?1, ?2, ?3)",
                )?;
                insert.execute(params![id, model, bytes])?;
            }
            adder.transaction.commit()
        };
        keep().map_err(|error| ExperienceError::of(&self.path, &error))
    }

    /// Past queries of which nothing by this model is kept, the latest first, `most` at most.
    ///
    /// # Errors
    /// What the store says.
    pub fn without_embedding(
        &self,
        model: &str,
        most: u32,
    ) -> Result<Vec<String>, ExperienceError> {
        let select = || {
            let mut select = self.connection.prepare_cached(
                "SELECT text FROM query WHERE NOT EXISTS
                    (SELECT 1 FROM embedding WHERE embedding.query = query.id AND model = ?1)
                 ORDER BY id DESC LIMIT ?2",
            )?;
            select.query_map(params![model, most], |row| row.get(0))?.collect()
        };
        let found: rusqlite::Result<_> = select();
        found.map_err(|error| ExperienceError::of(&self.path, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(one: &[f32], other: &[f32]) -> Option<f64> {
        let stored = Embedding::new("m", other)?.vector;
        let stored: Vec<u8> = stored.into_iter().map(i8::cast_unsigned).collect();
        Embedding::new("m", one)?.cosine(&stored)
    }

    #[test]
    fn rounding_hardly_changes_a_cosine() {
        let vector = |seed: u64| -> Vec<f32> {
            (0..1_536).map(|n| crate::chance::Chance::new(seed + n).unit() as f32 - 0.3).collect()
        };
        for seed in 0..20 {
            let (one, other) = (vector(seed), vector(seed + 10_000));
            let dot = |a: &[f32], b: &[f32]| -> f64 {
                a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum()
            };
            let exact = dot(&one, &other) / (dot(&one, &one) * dot(&other, &other)).sqrt();
            let rounded = cosine(&one, &other).unwrap();
            assert!((exact - rounded).abs() < 0.01, "{exact} became {rounded}");
        }
        assert_eq!(cosine(&[1.0, 2.0], &[10.0, 20.0]), Some(1.0));
        assert_eq!(cosine(&[1.0, 0.0], &[-1.0, 0.0]), Some(0.0));
    }

    #[test]
    fn what_has_no_direction_is_not_compared() {
        for bad in [&[][..], &[0.0, 0.0], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0]] {
            assert_eq!(Embedding::new("m", bad), None, "{bad:?}");
        }
        assert_eq!(cosine(&[1.0, 2.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(Embedding::new("m", &[1.0, 2.0]).unwrap().cosine(&[0, 0]), None);
    }
}
