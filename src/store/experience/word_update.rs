//! Re-reads all queries after a change in how words are read.
//!
//! Stored vectors contain stems and hashes of another crate. After an update that changes them,
//! they would silently match nothing; so the store remembers how a sample was read.

use rusqlite::{Connection, OptionalExtension};

use super::{add::index, words::WordVectorizer};

/// A sample with stems, stop words, camel case, digits and letters beyond ASCII.
const SAMPLE: &str =
    "Which of the restaurants in München are opening at 10 p.m., says getOpeningHours?";

/// Ensures that all queries are stored as this reader reads them.
pub(super) fn reread(connection: &mut Connection, reader: &WordVectorizer) -> rusqlite::Result<()> {
    let sample = reader.read(SAMPLE).to_bytes();
    if is_read_so(connection, &sample)? {
        return Ok(());
    }
    let transaction = connection.transaction()?;
    // Another session may have done it in the meantime.
    if !is_read_so(&transaction, &sample)? {
        transaction.execute_batch("DELETE FROM words; DELETE FROM word_in; DELETE FROM reading")?;
        let mut select = transaction.prepare("SELECT id, text FROM query")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            index(&transaction, reader, row.get(0)?, row.get_ref(1)?.as_str()?)?;
        }
        drop(rows);
        drop(select);
        transaction.execute("INSERT INTO reading (sample) VALUES (?1)", [&sample])?;
    }
    transaction.commit()
}

fn is_read_so(connection: &Connection, sample: &[u8]) -> rusqlite::Result<bool> {
    let select = "SELECT sample FROM reading";
    let kept: Option<Vec<u8>> = connection.query_row(select, [], |row| row.get(0)).optional()?;
    Ok(kept.as_deref() == Some(sample))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use tempfile::TempDir;

    use crate::experience::{Experience, Same, Use};

    #[test]
    fn queries_that_were_read_otherwise_are_read_anew() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("e.sqlite");
        let mut store = Experience::open(&path).unwrap();
        let past = Use {
            query: "weather in Paris".to_owned(),
            tool: "forecast".into(),
            parameters: serde_json::Value::Null,
            result: String::new(),
            helpful: true,
            at: Timestamp::UNIX_EPOCH,
            source: String::new(),
        };
        store.add(&past).unwrap();
        let stale = "UPDATE reading SET sample = x'00'; UPDATE words SET vector = x'00';
            DELETE FROM word_in";
        store.database.connection.execute_batch(stale).unwrap();
        let like = |store: &Experience| {
            let query = store.query("the weather of Paris");
            let history = store.history(&query, &["forecast".into()], Same::Counts).unwrap();
            let helped = store.helped(&query, 1, Same::Counts, |_| true).unwrap();
            (history[0].past[0].similarity, helped.len())
        };
        assert_eq!(like(&store), (0.0, 0));
        drop(store);
        let (similarity, helped) = like(&Experience::open(&path).unwrap());
        assert!((similarity - 1.0).abs() < 1e-6 && helped == 1, "{similarity}, {helped}");
    }
}
