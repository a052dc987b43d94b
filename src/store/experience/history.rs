//! The past of each candidate tool, as the estimates need it (BTP, section 2.2).

use rusqlite::{Connection, OptionalExtension, params};

use super::{Experience, error::ExperienceError, past_use::identity, words::Words};
use crate::domain::{Embedding, ToolName};
use crate::papers::btp::candidates::QueryUses;

/// Most past queries of a tool that are compared, the latest first. The estimates weigh each past
/// use with e^sim, which is between 1 and 2.72, so they are almost averages; a sample of this size
/// is off by 0.016 (one standard deviation) at most. Without a limit, a popular tool would make
/// planning slower with every session.
pub const MOST_PAST: u32 = 1_000;

/// A query, ready to be compared with past ones.
#[derive(Clone, Debug)]
pub struct Query {
    pub(super) text: String,
    pub(super) words: Words,
    pub(super) embedding: Option<Embedding>,
}

/// Whether past uses of the identical query count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// Past uses of the identical query count: a repeated query profits from the first time.
    Counts,
    /// Past uses of the identical query are left out, so that no benchmark task knows its own answer.
    LeftOut,
}

/// The past of one tool for one query.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    pub tool: ToolName,
    /// The past queries in which the tool was used, the latest first; at most [`MOST_PAST`].
    pub past: Vec<QueryUses>,
}

impl Experience {
    /// Makes a query comparable, by its words; see also [`Query::with_embedding`].
    pub fn query(&self, text: &str) -> Query {
        let text = identity(text);
        Query { words: self.reader.read(text), embedding: None, text: text.to_owned() }
    }

    /// The past of each of these tools for this query, in their order. The time is proportional to
    /// the number of tools and at most [`MOST_PAST`] past queries for each, regardless of the
    /// store's size.
    ///
    /// # Errors
    /// The store fails.
    pub fn history(
        &self,
        query: &Query,
        tools: &[ToolName],
        same: Same,
    ) -> Result<Vec<History>, ExperienceError> {
        self.database.run(|connection| {
            let own = own_id(connection, query)?;
            let of = |tool: &ToolName| {
                let past = past_of(connection, query, tool, own, same)?;
                Ok(History { tool: tool.clone(), past })
            };
            tools.iter().map(of).collect()
        })
    }
}

impl Query {
    /// Similarity to a past query: by embedding if both have one of the same model, else by words.
    pub(super) fn similarity(&self, words: &[u8], embedding: Option<&[u8]>) -> f64 {
        let own = self.embedding.as_ref();
        let by_meaning = own.zip(embedding).and_then(|(own, other)| own.cosine(other));
        by_meaning.unwrap_or_else(|| self.words.cosine(words))
    }
}

/// The id of this query, if it is in the store.
pub(super) fn own_id(connection: &Connection, query: &Query) -> rusqlite::Result<Option<i64>> {
    let mut select = connection.prepare_cached("SELECT id FROM query WHERE text = ?1")?;
    select.query_row([&query.text], |row| row.get(0)).optional()
}

fn past_of(
    connection: &Connection,
    query: &Query,
    tool: &ToolName,
    own: Option<i64>,
    same: Same,
) -> rusqlite::Result<Vec<QueryUses>> {
    let mut select = connection.prepare_cached(
        "SELECT past.query, past.helpful, past.unhelpful, words.vector, embedding.vector
         FROM past CROSS JOIN words ON words.query = past.query
            LEFT JOIN embedding ON embedding.query = past.query AND embedding.model = ?4
         WHERE past.tool = (SELECT id FROM tool WHERE name = ?1) AND past.query IS NOT ?2
         ORDER BY past.latest DESC LIMIT ?3",
    )?;
    let left_out = own.filter(|_| same == Same::LeftOut);
    let model = query.embedding.as_ref().map(Embedding::model);
    let mut rows = select.query(params![tool.as_str(), left_out, MOST_PAST, model])?;
    let mut past = Vec::new();
    while let Some(row) = rows.next()? {
        let is_same = own == Some(row.get(0)?);
        let similarity = if is_same {
            1.0
        } else {
            query.similarity(row.get_ref(3)?.as_blob()?, row.get_ref(4)?.as_blob_or_null()?)
        };
        past.push(QueryUses { similarity, helpful: row.get(1)?, unhelpful: row.get(2)? });
    }
    Ok(past)
}
