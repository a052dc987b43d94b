//! Import and export of uses as lines of JSON. A line is `{"query": TEXT, "tool": NAME,
//! "parameters": JSON, "result": TEXT or JSON, "helpful": true or false}`, and may have `"at"` (RFC
//! 3339) and `"source"`; further fields are ignored.

use std::{collections::HashMap, io::Write, path::Path};

use jiff::Timestamp;
use rusqlite::Row;
use serde::Deserialize;
use serde_json::Value;

use super::lines::JsonLines;
use super::{Experience, Use, error::ExperienceError, upgrade::MEMORY};
use crate::domain::{Chance, ToolName};
use crate::files::{json_file, safe_json::safe, toml_file::Problem};

/// Most uses and bytes of lines in one transaction, whichever is reached first. A transaction writes every
/// page that it changes, and the marks of lines are spread over all pages of their index.
const BATCH: usize = 20_000;
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Most KiB of pages in memory during an import, so that the pages of a transaction are written once.
const PAGES: i64 = 128 * 1024;

const EXPECTED: &str = "{\"query\": …, \"tool\": …, \"parameters\": …, \"result\": …, \
    \"helpful\": true or false}";

#[derive(Deserialize)]
#[serde(expecting = "struct Line")]
struct UseLine {
    query: String,
    tool: String,
    parameters: Value,
    result: Value,
    helpful: Value,
    #[serde(default)]
    at: Option<String>,
    #[serde(default)]
    source: Option<String>,
}

/// The result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub added: u64,
    /// Uses of lines that were in the store already.
    pub known: u64,
}

/// Distinguishes lines by their text, and equal lines by their number.
#[derive(Default)]
struct Marks(HashMap<u64, u32>);

impl Marks {
    /// The mark of the next line. It is stored, so it stays the same in every version.
    fn next(&mut self, line: &str) -> [u8; 16] {
        let text = Chance::new(0).with(line.trim().as_bytes());
        let nth = self.0.entry(text.bits()).or_default();
        *nth += 1;
        let other = Chance::new(1).with(line.trim().as_bytes()).with(&nth.to_le_bytes());
        (u128::from(text.bits()) << 64 | u128::from(other.bits())).to_le_bytes()
    }
}

impl Experience {
    /// Imports a file of lines. The whole file is checked before anything is written. `now` is the time of uses without
    /// one, `origin` their source, by which they can be removed again (see [`Prune`](super::Prune)).
    ///
    /// Lines that were imported before add nothing, even if that import was interrupted. So every line of a file is one
    /// use, however often the file is imported, and a file that has grown adds only its new lines.
    ///
    /// # Errors
    /// The first invalid line, with file, line and field; nothing was imported in that case. Or the
    /// store could not be written, see [`ExperienceError::Partly`].
    pub fn import(
        &mut self,
        path: &Path,
        origin: &str,
        now: Timestamp,
    ) -> Result<Imported, ExperienceError> {
        let mut lines = JsonLines::open(path)?;
        while let Some((number, line)) = lines.next()? {
            parse(path, number, line, origin, now)?;
        }
        self.keep_in_memory(PAGES)?;
        let mut imported = Imported::default();
        // A batch is counted as a whole.
        self.count_each_use(false)?;
        let done = self.import_checked(path, origin, now, &mut imported);
        self.count_each_use(true)?;
        // A session keeps using this store for hours.
        self.keep_in_memory(MEMORY)?;
        done.map_err(|source| match imported.added {
            0 => source,
            imported => {
                let origin = origin.to_owned();
                ExperienceError::Partly { imported, origin, source: Box::new(source) }
            }
        })?;
        Ok(imported)
    }

    /// Lets SQLite keep this many KiB of the file in memory.
    fn keep_in_memory(&self, kib: i64) -> Result<(), ExperienceError> {
        self.database.run(|connection| connection.pragma_update(None, "cache_size", -kib))
    }

    fn import_checked(
        &mut self,
        path: &Path,
        origin: &str,
        now: Timestamp,
        imported: &mut Imported,
    ) -> Result<(), ExperienceError> {
        let mut lines = JsonLines::open(path)?;
        let (mut batch, mut marks, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut marker = Marks::default();
        loop {
            let line = lines.next()?;
            if line.is_none() || batch.len() == BATCH || bytes >= BATCH_BYTES {
                let added = self.add_new(&batch, &marks)?;
                imported.added += added;
                imported.known += batch.len() as u64 - added;
                batch.clear();
                marks.clear();
                bytes = 0;
            }
            let Some((number, line)) = line else { return Ok(()) };
            bytes += line.len();
            batch.push(parse(path, number, line, origin, now)?);
            marks.push(marker.next(line));
        }
    }

    /// Writes all uses as lines, in the order in which they were added; returns their number. Uses
    /// that other sessions add meanwhile are left out.
    ///
    /// # Errors
    /// The store fails, or [`ExperienceError::Write`].
    pub fn export(&self, out: &mut dyn Write) -> Result<u64, ExperienceError> {
        let failed = |error: rusqlite::Error| self.database.error(error);
        let select = self.database.connection.prepare(
            "SELECT query.text, tool.name, uses.parameters, uses.result, uses.helpful, uses.at,
                 source.name
             FROM uses JOIN query ON query.id = uses.query JOIN tool ON tool.id = uses.tool
                 JOIN source ON source.id = uses.source
             ORDER BY uses.id",
        );
        let mut select = select.map_err(failed)?;
        let mut rows = select.query([]).map_err(failed)?;
        let mut exported = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            let past = read_use(row).map_err(failed)?;
            write_line(&past, out)?;
            exported += 1;
        }
        Ok(exported)
    }
}

fn parse(
    path: &Path,
    number: usize,
    text: &str,
    origin: &str,
    now: Timestamp,
) -> Result<Use, ExperienceError> {
    let file = path.display().to_string();
    let bad = |field: &str, text: String| Problem::of_line(&file, number, field, text);
    let line: UseLine = json_file::read_line(&file, number, text, EXPECTED)?;
    let at = match &line.at {
        None => now,
        Some(text) => text.parse().map_err(|_| {
            let example = "a time such as 2026-11-21T12:00:00Z";
            bad("at", format!("expected {example}, found {text:?}"))
        })?,
    };
    let helpful = match &line.helpful {
        Value::Bool(helpful) => *helpful,
        other => match other.as_u64() {
            Some(score @ (0 | 1)) => score == 1,
            _ => {
                return Err(bad("helpful", format!("expected true or false, found {other}")).into());
            }
        },
    };
    let result = match line.result {
        Value::String(text) => text,
        value => value.to_string(),
    };
    let past = Use {
        query: line.query,
        tool: line.tool.into(),
        parameters: line.parameters,
        result,
        helpful,
        at,
        source: line.source.unwrap_or_else(|| origin.to_owned()),
    };
    match past.check() {
        Ok(_) => Ok(past),
        Err(ExperienceError::BadUse { field, why }) => Err(bad(field, why).into()),
        Err(error) => Err(error),
    }
}

fn read_use(row: &Row<'_>) -> rusqlite::Result<Use> {
    let parameters: String = row.get(2)?;
    Ok(Use {
        query: row.get(0)?,
        tool: ToolName::from(row.get::<_, String>(1)?),
        // The stored text was JSON when it was written; a text edited by hand is returned unchanged.
        parameters: serde_json::from_str(&parameters).unwrap_or(Value::String(parameters)),
        result: row.get(3)?,
        helpful: row.get(4)?,
        at: Timestamp::from_millisecond(row.get(5)?).unwrap_or(Timestamp::UNIX_EPOCH),
        source: row.get(6)?,
    })
}

fn write_line(past: &Use, out: &mut dyn Write) -> std::io::Result<()> {
    out.write_all(safe(&serde_json::to_string(past)?).as_bytes())?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_an_import_no_more_of_the_file_is_in_memory_than_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("uses.jsonl");
        std::fs::write(
            &path,
            r#"{"query":"q","tool":"t","parameters":{},"result":"r","helpful":true}"#,
        )
        .unwrap();
        let mut store = Experience::open(&folder.path().join("e.sqlite")).unwrap();
        let imported = store.import(&path, "test", Timestamp::UNIX_EPOCH).unwrap();
        let kept: i64 = store
            .database
            .connection
            .pragma_query_value(None, "cache_size", |row| row.get(0))
            .unwrap();
        assert_eq!((imported.added, kept), (1, -MEMORY));
    }
}
