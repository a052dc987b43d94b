//! Upgrades a store of an earlier format to this one, one format at a time.

use std::path::Path;

use rusqlite::Connection;

use super::error::ExperienceError;
use crate::sqlite::create_private;

/// The format of `schema.sql`, stored in the file as `user_version`; the first was 1.
pub(super) const VERSION: i64 = 4;

/// The step from each format to the next, from 1 on.
///
/// Early files of format 1 have no table `reading`, later ones do.
const STEPS: [&str; VERSION as usize - 1] = [
    "CREATE TABLE IF NOT EXISTS reading (sample BLOB NOT NULL) STRICT",
    include_str!("runs.sql"),
    include_str!("line.sql"),
];

/// Keeps a copy of a store of an earlier format beside it, for an earlier version of the program; an older copy stays.
pub(super) fn keep_copy(
    connection: &Connection,
    path: &Path,
    version: i64,
) -> Result<(), ExperienceError> {
    let beside = |end: &str| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".format-{version}{end}"));
        path.with_file_name(name)
    };
    let (copy, new) = (beside(""), beside(&format!(".{}.new", std::process::id())));
    if copy.exists() {
        return Ok(());
    }
    let failed = ExperienceError::of(&copy);
    let io = |source| ExperienceError::Io { path: copy.clone(), source };
    // SQLite would take a relative path that begins with "file:" for a URI.
    let name = Path::new(".").join(&new);
    let name = name.to_str().ok_or_else(|| ExperienceError::Failed {
        path: copy.clone(),
        why: "the path is not UTF-8, which SQLite requires; choose another one".to_owned(),
    })?;
    create_private(&new);
    connection.execute("VACUUM INTO ?1", [name]).map_err(failed)?;
    std::fs::rename(&new, &copy).map_err(io)
}

/// Applies all steps from this format on. Call it in a transaction: a file always has one complete
/// format.
pub(super) fn upgrade(connection: &Connection, from: i64) -> rusqlite::Result<()> {
    let done = usize::try_from(from - 1).unwrap_or(usize::MAX);
    for step in STEPS.iter().skip(done) {
        connection.execute_batch(step)?;
    }
    connection.pragma_update(None, "user_version", VERSION)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::VERSION;
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
        assert_eq!(number(&path, "PRAGMA user_version"), VERSION);
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
        assert_eq!(number(&path, "PRAGMA user_version"), VERSION);
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
            assert_eq!(number(&path, "PRAGMA user_version"), VERSION);
            assert_eq!(number(&path, "SELECT count(*) FROM reading"), 1);
        }
    }
}
