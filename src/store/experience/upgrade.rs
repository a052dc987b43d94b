//! The kind of database that a store of past uses is, with the step from each of its formats to the next.

use crate::database::DatabaseKind;

/// How much of the file is kept in memory, in KiB: the words of some 50,000 queries fit.
pub(super) const MEMORY: i64 = 16 * 1024;

/// The kind of a store's file; the mark is "tyex".
pub(super) static KIND: DatabaseKind = DatabaseKind {
    name: "a store of past uses",
    mark: 0x7479_6578,
    steps: &[
        include_str!("schema.sql"),
        // Early files of format 1 have no such table, later ones do.
        "CREATE TABLE IF NOT EXISTS reading (sample BLOB NOT NULL) STRICT",
        include_str!("runs.sql"),
        include_str!("line.sql"),
    ],
    memory: MEMORY,
    if_no_database: "choose another file, or move this one away",
    if_too_new: "use a newer toolyard",
    if_damaged: "move it away and import an export of it, or recover the data with `sqlite3 FILE .recover`",
};

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::KIND;
    use crate::experience::{Experience, Same, Use};

    fn one_use(path: &Path) {
        let past = Use {
            query: "weather in Paris".to_owned(),
            tool: "forecast".into(),
            parameters: serde_json::Value::Null,
            result: String::new(),
            helpful: true,
            at: jiff::Timestamp::UNIX_EPOCH,
            source: String::new(),
        };
        Experience::open(path).unwrap().add(&past).unwrap();
    }

    fn number(path: &Path, sql: &str) -> i64 {
        Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Undoes the last step.
    const LINE: &str = "DROP INDEX uses_by_line; ALTER TABLE uses DROP COLUMN line";

    #[test]
    fn an_earlier_format_is_kept_as_a_copy() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("e.sqlite");
        one_use(&path);
        let copy = folder.path().join("e.sqlite.format-3");
        assert!(!copy.exists());
        let old = Connection::open(&path).unwrap();
        old.execute_batch(&format!("{LINE}; PRAGMA user_version = 3")).unwrap();
        drop(old);
        one_use(&path);
        assert_eq!(number(&path, "PRAGMA user_version"), KIND.version());
        assert_eq!(number(&path, "SELECT count(*) FROM uses"), 2);
        assert_eq!(number(&copy, "PRAGMA user_version"), 3);
        assert_eq!(number(&copy, "SELECT count(*) FROM uses"), 1);
    }

    #[test]
    fn files_of_the_second_format_get_room_for_runs() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("e.sqlite");
        one_use(&path);
        let old = Connection::open(&path).unwrap();
        old.execute_batch(&format!("{LINE}; DROP TABLE run; PRAGMA user_version = 2")).unwrap();
        drop(old);
        let store = Experience::open_existing(&path).unwrap();
        assert_eq!(store.pairs("anywhere").unwrap(), []);
        assert_eq!(number(&path, "PRAGMA user_version"), KIND.version());
        assert_eq!(number(&path, "SELECT count(*) FROM uses"), 1);
    }

    #[test]
    fn files_of_the_first_format_are_brought_up_whether_or_not_they_know_how_words_were_read() {
        for lacks in ["DROP TABLE reading", ""] {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("e.sqlite");
            one_use(&path);
            let old = Connection::open(&path).unwrap();
            old.execute_batch(&format!("{LINE}; {lacks}; PRAGMA user_version = 1")).unwrap();
            drop(old);
            let store = Experience::open_existing(&path).unwrap();
            let query = store.query("the weather of Paris");
            let history = store.history(&query, &["forecast".into()], Same::Counts).unwrap();
            assert!(history[0].past[0].similarity > 0.99, "{history:?}");
            assert_eq!(number(&path, "PRAGMA user_version"), KIND.version());
            assert_eq!(number(&path, "SELECT count(*) FROM reading"), 1);
        }
    }
}
