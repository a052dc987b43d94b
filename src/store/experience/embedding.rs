//! The embeddings of past queries, one for each query and embedding model, so that no query is paid
//! for twice. The caller does the model calls.

use rusqlite::{OptionalExtension, Row, params};

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
        self.database.run(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT vector FROM embedding
                 WHERE query = (SELECT id FROM query WHERE text = ?1) AND model = ?2",
            )?;
            let embedding = |row: &Row<'_>| {
                let bytes: Vec<u8> = row.get(0)?;
                let vector = bytes.into_iter().map(u8::cast_signed).collect();
                Ok(Embedding::of_rounded(model, vector))
            };
            select.query_row([identity(query), model], embedding).optional()
        })
    }

    /// Stores embeddings of queries, all or none, replacing earlier ones.
    ///
    /// # Errors
    /// The store fails.
    pub fn keep_embeddings(&mut self, all: &[(&str, Embedding)]) -> Result<(), ExperienceError> {
        self.database.write(|transaction| {
            let mut adder = Adder::new(&self.reader, transaction);
            for (query, embedding) in all {
                let id = adder.query(identity(query))?;
                let bytes: Vec<u8> =
                    embedding.vector().iter().map(|number| number.cast_unsigned()).collect();
                let mut insert = transaction.prepare_cached(
                    "INSERT OR REPLACE INTO embedding (query, model, vector) VALUES (?1, ?2, ?3)",
                )?;
                insert.execute(params![id, embedding.model(), bytes])?;
            }
            Ok(())
        })
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
        self.database.run(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT text FROM query WHERE NOT EXISTS
                    (SELECT 1 FROM embedding WHERE embedding.query = query.id AND model = ?1)
                 ORDER BY id DESC LIMIT ?2",
            )?;
            select.query_map(params![model, most], |row| row.get(0))?.collect()
        })
    }
}
