//! What holds after a kill.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use toolyard::domain::Record;
use toolyard::store::journal;

use super::noted::journals;
use crate::program::{Home, text, unpacked};

/// How long a child of a killed program may live.
const LAST: Duration = Duration::from_secs(2);

/// No process that was started here is left.
pub fn expect_no_process(home: &Home) {
    let start = Instant::now();
    loop {
        let left = processes(&home.path(""));
        if left.is_empty() {
            return;
        }
        assert!(start.elapsed() < LAST, "processes outlived the kill: {left:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The command lines of processes with this home.
fn processes(home: &Path) -> Vec<String> {
    let variable = format!("HOME={}", home.display());
    let variable = variable.trim_end_matches('/');
    let has_home = |process: &Path| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|it| it == variable.as_bytes())
    };
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let ours = all.filter(|process| has_home(process));
    ours.map(|process| fs::read_to_string(process.join("cmdline")).unwrap_or_default())
        // One that has just ended is named no more.
        .filter(|line| !line.is_empty())
        .collect()
}

/// Each event that was printed is in the newest journal.
pub fn expect_kept(home: &Home, printed: &[Record]) {
    let Some(last) = printed.last() else { return };
    let newest = journals(home).pop().unwrap_or_else(|| panic!("no journal has {last:?}"));
    let kept = journal::read(&newest).unwrap().records;
    for record in printed {
        let at = usize::try_from(record.n).unwrap() - 1;
        assert_eq!(kept.get(at), Some(record), "{} of {} events", record.n, kept.len());
    }
}

/// Each journal has an event, and what reads the newest one works without its name.
pub fn expect_readable(home: &Home) {
    let journals = journals(home);
    for path in &journals {
        let first = journal::JournalReader::open(path).unwrap().next();
        assert!(matches!(first, Some(Ok(_))), "{}: {first:?}", path.display());
        home.succeed(&["replay", text(path), "--json"]);
    }
    if !journals.is_empty() {
        home.succeed(&["replay", "--json"]);
        home.succeed(&["report"]);
        let ran = home.run(&["sessions"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    }
}

/// Every session has ended in some journal, so there is nothing to resume.
pub fn is_over(home: &Home) -> bool {
    let has_end = |path: &PathBuf| {
        let read = journal::read(path).unwrap();
        read.records.last().is_some_and(|record| record.event.kind() == "SessionEnded")
    };
    journals(home).iter().any(has_end)
}

/// Nothing is left but documented files.
pub fn expect_tidy(home: &Home) {
    let mut folders = vec![home.path("")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_hidden = name.starts_with('.') && !path.is_dir() && !name.ends_with(".lock");
            let is_left = is_hidden || name.ends_with(".new") || name.ends_with(".sock");
            assert!(!is_left, "{} is left", path.display());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
}

/// No file here has one of these keys, but for those that a person has written.
pub fn expect_no_key(home: &Home, keys: &[&str], but: &[&str]) {
    let mut folders = vec![home.path("")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let kind = fs::symlink_metadata(&path).unwrap().file_type();
            let is_known = but.iter().any(|name| path.ends_with(name));
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && !is_known {
                let bytes = unpacked(&path).unwrap();
                let has = |key: &&&str| bytes.windows(key.len()).any(|it| it == key.as_bytes());
                let found = keys.iter().find(has);
                assert!(found.is_none(), "{} has {found:?}", path.display());
            }
        }
    }
}
