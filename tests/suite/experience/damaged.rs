//! Files that are no store, or not one that can be read.

use toolyard::store::database::DatabaseFault;

use super::*;

fn opened(path: &Path) -> ExperienceError {
    match Experience::open(path) {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error,
    }
}

fn fault(error: &ExperienceError) -> &DatabaseFault {
    match error {
        ExperienceError::Database(error) => &error.fault,
        error => panic!("not of the database: {error:?}"),
    }
}

fn file(name: &str, bytes: &[u8]) -> (TempDir, std::path::PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let text = "dear diary, ".repeat(1_000);
    let (_folder, path) = file("diary.txt", text.as_bytes());
    let error = opened(&path);
    assert!(matches!(fault(&error), DatabaseFault::NoDatabase), "{error:?}");
    assert!(error.to_string().contains("not a SQLite database"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_folder_and_a_missing_file_are_said_to_be_such() {
    let folder = TempDir::new().unwrap();
    assert!(matches!(fault(&opened(folder.path())), DatabaseFault::Failed(_)));
    let missing = folder.path().join("none.sqlite");
    let error = Experience::open_existing(&missing).err().unwrap();
    assert!(matches!(error, ExperienceError::Missing { .. }), "{error:?}");
    assert!(!missing.exists());
}

#[test]
fn the_database_of_another_program_is_refused_and_left_alone() {
    let (_folder, path) = file("other.sqlite", b"");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE letters (text TEXT)").unwrap();
    assert!(matches!(fault(&opened(&path)), DatabaseFault::Foreign(_)));
    let tables = "SELECT count(*) FROM sqlite_schema";
    assert_eq!(other.query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
}

#[test]
fn a_store_of_a_later_version_is_not_touched() {
    let (_folder, path) = file("new.sqlite", b"");
    drop(Experience::open(&path).unwrap());
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update(None, "user_version", 7).unwrap();
    let error = opened(&path);
    assert!(matches!(fault(&error), DatabaseFault::TooNew { found: 7, .. }), "{error:?}");
    assert!(error.to_string().contains("use a newer toolyard"), "{error}");
}

#[test]
fn a_damaged_store_says_so_and_does_not_panic() {
    let (_folder, path) = file("bad.sqlite", b"");
    let mut store = Experience::open(&path).unwrap();
    let uses: Vec<_> = (0..500).map(|n| past(&format!("query{n}"), "t", true)).collect();
    store.add_all(&uses).unwrap();
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    // All but the page that says what the file is.
    bytes[8_192..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    let damage = |store: &Experience| -> Result<(), ExperienceError> {
        store.history(&store.query("query1"), &["t".into()], Same::Counts)?;
        store.summary()?;
        store.export(&mut Vec::new())?;
        Ok(())
    };
    let error = Experience::open(&path).and_then(|store| damage(&store)).unwrap_err();
    assert!(matches!(fault(&error), DatabaseFault::Damaged(_)), "{error:?}");
    assert!(error.to_string().contains("damaged"), "{error}");
}
