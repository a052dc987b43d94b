//! SDKs and frameworks of today behind toolyard, as a table: what of each path is seen, and what can be done with it.
//! `scripts/sdks.sh --all` installs them.
//!
//! `TOOLYARD_FRAMEWORKS` names those that are tried, as `ai, messages|crewai`: by how names in the table begin. Without it
//! all are. What is expected is in `tests/data/frameworks.txt`; `TOOLYARD_FRAMEWORKS_WRITE=1` writes it there.

mod cells;
mod endpoint;
mod rows;
mod runs;
mod table;

#[path = "../../slow/watched/tap.rs"]
mod tap;

use std::sync::Mutex;
use std::thread;

use rows::{FRAMEWORKS, Path1};
use table::Row;

use crate::watched::http;

/// Agents that run at once.
const AT_ONCE: usize = 2;

#[test]
fn frameworks_behave_behind_toolyard_as_the_table_says() {
    let mut paths: Vec<Path1> = Vec::new();
    for framework in FRAMEWORKS {
        match framework.paths() {
            Some(of_it) => paths.extend(of_it),
            None => eprintln!(
                "SKIPPED: {} is not in target/sdks: run scripts/sdks.sh --all",
                framework.name
            ),
        }
    }
    if let Ok(names) = std::env::var("TOOLYARD_FRAMEWORKS") {
        let names: Vec<&str> = names.split('|').collect();
        paths.retain(|path| names.iter().any(|name| path.name().starts_with(name)));
    }
    let queue = Mutex::new(paths.iter().enumerate());
    let rows: Mutex<Vec<(usize, Row)>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some((at, path)) = queue.lock().unwrap().next() else { break };
                    let row = cells::row(path);
                    eprintln!("{row}");
                    rows.lock().unwrap().push((at, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|(at, _)| *at);
    table::check(rows.into_iter().map(|(_, row)| row).collect());
}
