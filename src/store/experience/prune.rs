//! Deletes past uses.

use jiff::Timestamp;
use rusqlite::{Connection, Transaction};

use super::{Experience, error::ExperienceError, words::Words};
use crate::domain::ToolName;

/// Most uses in one transaction, so that sessions need not wait for all.
const BATCH: usize = 2_000;

/// Selects the uses to delete: those that match all of the given filters. Without filters, all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prune {
    /// Uses from before this moment.
    pub before: Option<Timestamp>,
    /// Uses from this moment on.
    pub since: Option<Timestamp>,
    /// Uses that are not among the latest `keep` of their tool.
    pub keep: Option<u32>,
    /// Uses of this tool.
    pub tool: Option<ToolName>,
    /// Uses from this session or import.
    pub source: Option<String>,
}

/// The number of deleted uses and queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneSummary {
    pub uses: u64,
    /// Queries without any remaining use.
    pub queries: u64,
}

impl Experience {
    /// The number of uses that [`Experience::prune`] would delete.
    ///
    /// # Errors
    /// The store fails.
    pub fn would_prune(&self, what: &Prune) -> Result<u64, ExperienceError> {
        self.database.run(|connection| Ok(chosen(connection, what)?.len() as u64))
    }

    /// Deletes uses, and queries without remaining uses, and frees the space. Other sessions may
    /// continue meanwhile.
    ///
    /// # Errors
    /// The store fails. Uses deleted before that stay deleted; the rest is unchanged.
    pub fn prune(&mut self, what: &Prune) -> Result<PruneSummary, ExperienceError> {
        let pruned = take_out(&mut self.database.connection, what);
        Ok(pruned.map_err(|error| self.database.error(error))?)
    }
}

fn take_out(connection: &mut Connection, what: &Prune) -> rusqlite::Result<PruneSummary> {
    let uses = chosen(connection, what)?;
    let uses = in_batches(connection, &uses, |transaction, id| {
        transaction.prepare_cached("DELETE FROM uses WHERE id = ?1")?.execute([id])
    })?;
    let unused = "SELECT id FROM query
        WHERE NOT EXISTS (SELECT 1 FROM past WHERE past.query = query.id)";
    let unused: Vec<i64> =
        connection.prepare(unused)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let queries = in_batches(connection, &unused, forget)?;
    // Sources stay: they are few, and finding unused ones would require reading all uses.
    connection.execute_batch(
        "DELETE FROM tool WHERE NOT EXISTS (SELECT 1 FROM uses WHERE uses.tool = tool.id)",
    )?;
    // The pragma frees one page for each row that it returns.
    let mut freeing = connection.prepare("PRAGMA incremental_vacuum")?;
    let mut freed = freeing.query([])?;
    while freed.next()?.is_some() {}
    Ok(PruneSummary { uses, queries })
}

/// The ids of the selected uses.
fn chosen(connection: &Connection, what: &Prune) -> rusqlite::Result<Vec<i64>> {
    // Without a source all columns come from the index, which is much faster.
    let source = if what.source.is_some() { "source" } else { "NULL" };
    let mut select = connection.prepare(&format!(
        "SELECT id, tool, at, {source} IS (SELECT id FROM source WHERE name = ?2) FROM uses
         WHERE ?1 IS NULL OR tool = (SELECT id FROM tool WHERE name = ?1)
         ORDER BY tool DESC, at DESC, id DESC"
    ))?;
    let tool = what.tool.as_ref().map(ToolName::as_str);
    let mut rows = select.query((tool, &what.source))?;
    let mut chosen = Vec::new();
    let (mut of, mut rank) = (None, 0);
    while let Some(row) = rows.next()? {
        let tool: Option<i64> = row.get(1)?;
        rank = if of == tool { rank + 1 } else { 1 };
        of = tool;
        let at: i64 = row.get(2)?;
        let is_before = what.before.is_none_or(|before| at < before.as_millisecond());
        let is_since = what.since.is_none_or(|since| at >= since.as_millisecond());
        let is_beyond = what.keep.is_none_or(|keep| rank > u64::from(keep));
        let is_from = what.source.is_none() || row.get(3)?;
        if is_before && is_since && is_beyond && is_from {
            chosen.push(row.get(0)?);
        }
    }
    Ok(chosen)
}

/// Deletes each of these, some thousand per transaction; returns how many still existed.
fn in_batches(
    connection: &mut Connection,
    ids: &[i64],
    take: impl Fn(&Transaction<'_>, i64) -> rusqlite::Result<usize>,
) -> rusqlite::Result<u64> {
    let mut gone = 0;
    for batch in ids.chunks(BATCH) {
        let transaction = connection.transaction()?;
        for id in batch {
            gone += take(&transaction, *id)?;
        }
        transaction.commit()?;
    }
    Ok(gone as u64)
}

/// Deletes a query, unless it was used again in the meantime.
fn forget(transaction: &Transaction<'_>, query: i64) -> rusqlite::Result<usize> {
    let gone = transaction
        .prepare_cached(
            "DELETE FROM query
             WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM past WHERE past.query = ?1)",
        )?
        .execute([query])?;
    if gone == 0 {
        return Ok(0);
    }
    let vector: Vec<u8> = transaction
        .prepare_cached("DELETE FROM words WHERE query = ?1 RETURNING vector")?
        .query_row([query], |row| row.get(0))?;
    let mut having =
        transaction.prepare_cached("DELETE FROM word_in WHERE word = ?1 AND query = ?2")?;
    for (word, _) in Words::stored(&vector) {
        having.execute((word, query))?;
    }
    transaction.prepare_cached("DELETE FROM embedding WHERE query = ?1")?.execute([query])?;
    Ok(gone)
}
