//! Tools that helped before in similar queries: candidates that no description would find.
//!
//! Past queries are matched by words, then compared by embedding where one exists. To stay in
//! milliseconds at any size, rare words are followed first: a word in more than [`MOST_HAVING`]
//! past queries contributes only the latest of them, and only the best [`MOST_COMPARED`] matches
//! are compared. The others share only common words with the query.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::{Experience, Query, Same, error::ExperienceError, history::own_id};
use crate::domain::{Embedding, ToolName};
use crate::papers::btp::candidates::HelpfulTool;

/// Most past queries found by one word.
const MOST_HAVING: u32 = 512;
/// Most words of a query that are followed.
const MOST_FOLLOWED: usize = 48;
/// Most past queries that are compared.
const MOST_COMPARED: usize = 512;
/// Most past queries whose tools are candidates.
const NEAREST: usize = 32;
/// Below this similarity a past query says nothing about which tools could help.
const ALIKE: f64 = 0.3;

impl Experience {
    /// At most `k` of the wanted tools that helped in the most similar past queries: first by the
    /// most similar query in which they helped, then by the number of such queries, then by name.
    ///
    /// # Errors
    /// The store fails.
    pub fn helped(
        &self,
        query: &Query,
        k: usize,
        same: Same,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<HelpfulTool>, ExperienceError> {
        let found: Result<_, ExperienceError> =
            self.database.run(|connection| tools_of(connection, &self.nearest(query, same)?));
        let mut found = found?;
        found.retain(|helped| wanted(helped.tool.as_str()));
        found.sort_by(|one, other| {
            other
                .similarity
                .total_cmp(&one.similarity)
                .then_with(|| other.queries.cmp(&one.queries))
                .then_with(|| one.tool.cmp(&other.tool))
        });
        found.truncate(k);
        Ok(found)
    }

    /// The most similar past queries with their similarity, the most similar first.
    fn nearest(&self, query: &Query, same: Same) -> rusqlite::Result<Vec<(i64, f64)>> {
        let connection = &self.database.connection;
        let own = own_id(connection, query)?;
        let mut select = connection.prepare_cached(
            "SELECT words.vector, embedding.vector FROM words
                LEFT JOIN embedding ON embedding.query = words.query AND embedding.model = ?2
             WHERE words.query = ?1",
        )?;
        let model = query.embedding.as_ref().map(Embedding::model);
        let mut near = Vec::new();
        for id in leads(connection, query)? {
            if own == Some(id) {
                continue;
            }
            let similarity = |row: &rusqlite::Row<'_>| {
                let embedding = row.get_ref(1)?.as_blob_or_null()?;
                Ok(query.similarity(row.get_ref(0)?.as_blob()?, embedding))
            };
            near.push((id, select.query_row(params![id, model], similarity)?));
        }
        near.extend(own.filter(|_| same == Same::Counts).map(|own| (own, 1.0)));
        near.retain(|(_, similarity)| *similarity >= ALIKE);
        near.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| other.0.cmp(&one.0)));
        near.truncate(NEAREST);
        Ok(near)
    }
}

/// The past queries that are worth comparing.
fn leads(connection: &Connection, query: &Query) -> rusqlite::Result<Vec<i64>> {
    let mut select = connection
        .prepare_cached("SELECT query FROM word_in WHERE word = ?1 ORDER BY query DESC LIMIT ?2")?;
    let mut leads: HashMap<i64, f32> = HashMap::new();
    for (word, weight) in query.words.heaviest(MOST_FOLLOWED) {
        let having = select.query_map(params![word, MOST_HAVING], |row| row.get(0))?;
        let having = having.collect::<rusqlite::Result<Vec<i64>>>()?;
        // The rarer a word, the more it tells.
        let worth = weight / (having.len() as f32).sqrt();
        for query in having {
            *leads.entry(query).or_default() += worth;
        }
    }
    let mut leads: Vec<_> = leads.into_iter().collect();
    leads
        .sort_unstable_by(|one, other| other.1.total_cmp(&one.1).then_with(|| other.0.cmp(&one.0)));
    leads.truncate(MOST_COMPARED);
    Ok(leads.into_iter().map(|(query, _)| query).collect())
}

fn tools_of(connection: &Connection, near: &[(i64, f64)]) -> rusqlite::Result<Vec<HelpfulTool>> {
    let mut select = connection.prepare_cached(
        "SELECT tool.name FROM past JOIN tool ON tool.id = past.tool
         WHERE past.query = ?1 AND past.helpful > 0",
    )?;
    let mut found: HashMap<String, HelpfulTool> = HashMap::new();
    for (query, similarity) in near {
        for name in select.query_map([query], |row| row.get::<_, String>(0))? {
            let name = name?;
            let tool = ToolName::new(&name);
            let first = HelpfulTool { tool, similarity: *similarity, queries: 0 };
            // The nearest come first, so the first similarity is the highest.
            found.entry(name).or_insert(first).queries += 1;
        }
    }
    Ok(found.into_values().collect())
}
