//! Adding uses.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Transaction, config::DbConfig, params};

use super::past_use::{StoredUse, Use};
use super::{Experience, error::ExperienceError, words::WordVectorizer};

impl Experience {
    /// Adds one use. It outlives this process from here on.
    ///
    /// # Errors
    /// The use is invalid, or the store fails; nothing is written in that case.
    pub fn add(&mut self, past: &Use) -> Result<(), ExperienceError> {
        self.add_all(std::slice::from_ref(past))
    }

    /// Adds uses in one transaction: all or none. Other sessions wait until it ends; some thousand uses at a time are
    /// not noticeable.
    ///
    /// # Errors
    /// As [`Experience::add`].
    pub fn add_all(&mut self, uses: &[Use]) -> Result<(), ExperienceError> {
        self.add_new(uses, &[]).map(drop)
    }

    /// Sets whether triggers count each use, as they do for a new connection.
    pub(super) fn count_each_use(&self, each: bool) -> Result<(), ExperienceError> {
        let trigger = DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER;
        self.database.run(|connection| connection.set_db_config(trigger, each).map(drop))
    }

    /// Adds uses like [`Experience::add_all`], but skips those of lines that were added before; returns the number of
    /// new ones. `marks` identify the lines, in the order of the uses; a use without a mark is always new.
    ///
    /// # Errors
    /// As [`Experience::add`].
    pub(super) fn add_new(
        &mut self,
        uses: &[Use],
        marks: &[[u8; 16]],
    ) -> Result<u64, ExperienceError> {
        let kept: Vec<_> = uses.iter().map(Use::kept).collect::<Result<_, _>>()?;
        self.database.write(|transaction| {
            let counts = transaction.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER)?;
            let last = "SELECT coalesce(max(id), 0) FROM uses";
            let last: Option<i64> = match counts {
                true => None,
                false => Some(transaction.query_row(last, [], |row| row.get(0))?),
            };
            let mut adder = Adder::new(&self.reader, transaction);
            let mut added = 0;
            for (at, past) in kept.iter().enumerate() {
                added += adder.add(past, marks.get(at))? as u64;
            }
            if let Some(last) = last {
                transaction.execute(include_str!("count.sql"), [last])?;
            }
            Ok(added)
        })
    }
}

/// Things with a name and an id.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Named {
    Query,
    Tool,
    Source,
}

/// Adds uses in one transaction; ids that were looked up stay valid during it.
pub(super) struct Adder<'e, 'u> {
    reader: &'e WordVectorizer,
    transaction: &'e Transaction<'e>,
    ids: HashMap<(Named, &'u str), i64>,
}

impl<'e, 'u> Adder<'e, 'u> {
    pub fn new(reader: &'e WordVectorizer, transaction: &'e Transaction<'e>) -> Self {
        Self { reader, transaction, ids: HashMap::new() }
    }

    /// The id of this query, created if necessary.
    pub fn query(&mut self, text: &'u str) -> rusqlite::Result<i64> {
        self.id(Named::Query, text)
    }

    fn add(&mut self, past: &'u StoredUse<'u>, mark: Option<&[u8; 16]>) -> rusqlite::Result<usize> {
        let query = self.query(past.query)?;
        let tool = self.id(Named::Tool, past.tool)?;
        let source = self.id(Named::Source, past.source)?;
        let StoredUse { at, helpful, parameters, result, .. } = past;
        // A failure ends the transaction, so SQLite need not note how to undo this statement alone.
        let mut insert = self.transaction.prepare_cached(
            "INSERT OR ROLLBACK INTO uses (query, tool, source, at, helpful, parameters, result, line)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (line) WHERE line IS NOT NULL DO NOTHING",
        )?;
        insert.execute(params![query, tool, source, at, helpful, parameters, result, mark])
    }

    /// The id of this name, created if necessary.
    fn id(&mut self, named: Named, name: &'u str) -> rusqlite::Result<i64> {
        if let Some(id) = self.ids.get(&(named, name)) {
            return Ok(*id);
        }
        let (select, insert) = match named {
            Named::Query => {
                ("SELECT id FROM query WHERE text = ?1", "INSERT INTO query (text) VALUES (?1)")
            }
            Named::Tool => {
                ("SELECT id FROM tool WHERE name = ?1", "INSERT INTO tool (name) VALUES (?1)")
            }
            Named::Source => {
                ("SELECT id FROM source WHERE name = ?1", "INSERT INTO source (name) VALUES (?1)")
            }
        };
        let mut select = self.transaction.prepare_cached(select)?;
        let id = match select.query_row([name], |row| row.get(0)).optional()? {
            Some(id) => id,
            None => {
                self.transaction.prepare_cached(insert)?.execute([name])?;
                let id = self.transaction.last_insert_rowid();
                if named == Named::Query {
                    index(self.transaction, self.reader, id, name)?;
                }
                id
            }
        };
        drop(select);
        self.ids.insert((named, name), id);
        Ok(id)
    }
}

/// Makes a query comparable, and searchable by each of its words.
pub(super) fn index(
    connection: &Connection,
    reader: &WordVectorizer,
    query: i64,
    text: &str,
) -> rusqlite::Result<()> {
    let words = reader.read(text);
    let mut insert =
        connection.prepare_cached("INSERT INTO words (query, vector) VALUES (?1, ?2)")?;
    insert.execute(params![query, words.to_bytes()])?;
    let mut insert =
        connection.prepare_cached("INSERT INTO word_in (word, query) VALUES (?1, ?2)")?;
    for word in words.hashes() {
        insert.execute(params![word, query])?;
    }
    Ok(())
}
