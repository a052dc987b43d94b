//! The amount of experience per tool.

use rusqlite::{Connection, Row};
use serde::Serialize;

use super::{Experience, error::ExperienceError};
use crate::domain::ToolName;

/// The content of the store in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    pub uses: u64,
    /// Different queries.
    pub queries: u64,
    /// By uses, the most used first, then by name.
    pub tools: Vec<ToolSummary>,
}

/// The experience with one tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolSummary {
    pub tool: ToolName,
    pub uses: u64,
    /// Uses with a helpful result.
    pub helpful: u64,
    /// Different queries in which it was used.
    pub queries: u64,
}

impl Experience {
    /// Counts the content. It reads all of `past`: half a second for millions of uses.
    ///
    /// # Errors
    /// The store fails.
    pub fn summary(&self) -> Result<Summary, ExperienceError> {
        self.database.run(count)
    }
}

fn count(connection: &Connection) -> rusqlite::Result<Summary> {
    let mut select = connection.prepare_cached(
        "SELECT tool.name, sum(helpful + unhelpful) AS uses, sum(helpful), count(*)
             FROM past JOIN tool ON tool.id = past.tool GROUP BY past.tool
             ORDER BY uses DESC, tool.name",
    )?;
    let of_tool = |row: &Row<'_>| {
        let tool = ToolName::from(row.get::<_, String>(0)?);
        Ok(ToolSummary { tool, uses: row.get(1)?, helpful: row.get(2)?, queries: row.get(3)? })
    };
    let tools: Vec<_> = select.query_map([], of_tool)?.collect::<rusqlite::Result<_>>()?;
    // Queries that were only embedded were not used.
    let count = "SELECT count(DISTINCT query) FROM past";
    let queries = connection.query_row(count, [], |row| row.get(0))?;
    Ok(Summary { uses: tools.iter().map(|tool| tool.uses).sum(), queries, tools })
}
