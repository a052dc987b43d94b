//! The embeddings of past queries, one for each query and embedding model, so that no query is paid
//! for twice. The caller does the model calls.

use rusqlite::{OptionalExtension, params};

use super::{Experience, Query, add::Adder, error::ExperienceError, past_use::identity};
use crate::domain::Embedding;

impl Query {
    /// The identity of a query: its text without surrounding white space, up to
    /// `MAX_QUERY`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same query with an embedding: past queries with an embedding of the same model are
    /// compared by it, the others by words.
    pub fn with_embedding(self, embedding: Embedding) -> Self {
        Self { embedding: Some(embedding), ..self }
    }
}

impl Experience {
    /// The stored embedding of this query by this model, if there is one.
    ///
    /// # Errors
    /// The store fails.
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
        let found = select().map_err(ExperienceError::of(&self.path))?;
        let vector = |bytes: Vec<u8>| bytes.into_iter().map(u8::cast_signed).collect();
        Ok(found.map(|bytes| Embedding::of_rounded(model, vector(bytes))))
    }

    /// Stores embeddings of queries, all or none, replacing earlier ones.
    ///
    /// # Errors
    /// The store fails.
    pub fn keep_embeddings(&mut self, all: &[(&str, Embedding)]) -> Result<(), ExperienceError> {
        let mut keep = || {
            let mut adder = Adder::new(&self.reader, self.connection.transaction()?);
            for (query, embedding) in all {
                let id = adder.query(identity(query))?;
                let bytes: Vec<u8> =
                    embedding.vector().iter().map(|number| number.cast_unsigned()).collect();
                let mut insert = adder.transaction.prepare_cached(
                    "INSERT OR REPLACE INTO embedding (query, model, vector) VALUES (?1, ?2, ?3)",
                )?;
                insert.execute(params![id, embedding.model(), bytes])?;
            }
            adder.transaction.commit()
        };
        keep().map_err(ExperienceError::of(&self.path))
    }

    /// Past queries without an embedding by this model, the latest first, `most` at most.
    ///
    /// # Errors
    /// The store fails.
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
        found.map_err(ExperienceError::of(&self.path))
    }
}
