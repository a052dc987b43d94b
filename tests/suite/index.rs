//! The index of a journal: what it saves, and what makes it new.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use toolyard::domain::state::{Keeps, RECENT};
use toolyard::domain::{Record, State};
use toolyard::store::journal::{self, Marker};
use toolyard::ui::screen::Screen;

use crate::forgetting::long;
use crate::program::{Home, unpacked};
use crate::stage::{Stage, setup};

/// A journal that has a mark, and some events behind it.
fn marked() -> (Home, PathBuf) {
    let home = Home::new();
    let lines: Vec<&str> = long().split_inclusive('\n').take(2_400).collect();
    home.write("j.jsonl", lines.concat());
    let path = home.path("j.jsonl");
    (home, path)
}

fn index_of(path: &Path) -> PathBuf {
    path.with_extension("jsonl.index")
}

/// Opens a journal at its end, and gives the event from which it was read.
fn opened(path: &Path) -> (Marker, u64) {
    let mut marker = Marker::open(path, u64::MAX).unwrap();
    let from = marker.state().n;
    while marker.read().unwrap().is_some() {}
    (marker, from)
}

static RECORDS: LazyLock<Vec<Record>> =
    LazyLock::new(|| journal::read(&marked().1).unwrap().records);

/// Every moment that is looked at is as it is when all is read from the beginning.
fn assert_whole(marker: &Marker) {
    let past = marker.past();
    let records = &*RECORDS;
    let mut whole = State::keeping(Keeps::Details(RECENT));
    for record in records {
        whole.apply(record);
        if record.n == 1_500 || record.n as usize == records.len() {
            let window = past.window(whole.n).unwrap();
            assert_eq!(window.state(whole.n, None), whole, "at {}", whole.n);
        }
    }
    // What ended before the mark has no details there; the screen reads them back.
    let state = marker.state();
    assert_eq!((state.n, state.tasks.len()), (whole.n, whole.tasks.len()));
    assert_eq!((&state.learning, &state.tools), (&whole.learning, &whole.tools));
}

#[test]
fn a_journal_opened_again_is_not_read_from_its_beginning() {
    let (_home, path) = marked();
    let (marker, from) = opened(&path);
    assert_eq!(from, 0);
    assert_whole(&marker);
    drop(marker);
    let (marker, from) = opened(&path);
    assert!(from >= 2_048, "{from}");
    assert_whole(&marker);
    // While one program has it open, another one does without it.
    let (second, from) = opened(&path);
    assert_eq!(from, 0);
    assert_whole(&second);
    drop((marker, second));
    assert_eq!(Marker::open(&path, 2_047).unwrap().state().n, 0, "no further than was asked for");
}

#[test]
fn an_index_that_does_not_fit_is_made_anew() {
    let (_home, path) = marked();
    let index = index_of(&path);
    drop(opened(&path));
    let good = fs::read(&index).unwrap();
    let is_new = |why: &str| {
        let (marker, from) = opened(&path);
        assert_eq!((from, marker.state().n), (0, RECORDS.len() as u64), "{why}");
        drop(marker);
        assert!(opened(&path).1 > 0, "{why}");
    };
    fs::remove_file(&index).unwrap();
    is_new("it was deleted");
    let text = String::from_utf8_lossy(&good[..40]).into_owned();
    let other = good.iter().copied().skip(text.find(',').unwrap());
    fs::write(&index, b"{\"toolyard_index\":99".iter().copied().chain(other).collect::<Vec<_>>())
        .unwrap();
    is_new("it is of another version");
    let journal = fs::read(&path).unwrap();
    fs::write(&path, &journal).unwrap();
    is_new("the journal was written again");
    // Its marks are now in the middle of lines.
    let moved = String::from_utf8(unpacked(&path).unwrap()).unwrap();
    let moved = moved.replacen("\"workspace\":\"", "\"workspace\":\"another ", 1);
    assert!(moved.len() > journal.len());
    fs::write(&path, moved).unwrap();
    is_new("another journal, a longer one, is there");
    fs::write(&path, &journal[..journal.len() / 4]).unwrap();
    let (marker, from) = opened(&path);
    assert_eq!(from, 0, "the journal is shorter");
    drop(marker);
    fs::write(&path, &journal).unwrap();
    drop(opened(&path));
}

#[test]
fn a_damaged_index_changes_no_moment() {
    let (_home, path) = marked();
    let index = index_of(&path);
    drop(opened(&path));
    let good = fs::read(&index).unwrap();
    for at in (0..good.len()).step_by(good.len() / 2) {
        let mut bad = good.clone();
        bad[at] ^= 0x15;
        fs::write(&index, bad).unwrap();
        assert_whole(&opened(&path).0);
        fs::write(&index, &good[..at]).unwrap();
        assert_whole(&opened(&path).0);
    }
}

#[test]
fn a_file_of_somebody_else_is_left_alone() {
    let (home, path) = marked();
    let index = index_of(&path);
    fs::write(&index, "my notes\n").unwrap();
    assert_eq!(opened(&path).1, 0);
    assert_eq!(fs::read_to_string(&index).unwrap(), "my notes\n");
    fs::remove_file(&index).unwrap();
    home.write("other", "");
    std::os::unix::fs::symlink(home.path("other"), &index).unwrap();
    assert_eq!(opened(&path).1, 0);
    assert_eq!(home.read("other"), "");
}

#[test]
fn a_short_journal_has_no_index() {
    let home = Home::new();
    let lines: Vec<&str> = long().split_inclusive('\n').take(200).collect();
    home.write("j.jsonl", lines.concat());
    assert_eq!(opened(&home.path("j.jsonl")).1, 0);
    assert!(!index_of(&home.path("j.jsonl")).exists());
}

#[test]
fn a_screen_that_begins_at_a_mark_shows_every_moment() {
    let (_home, path) = marked();
    drop(opened(&path));
    let mut marker = Marker::open(&path, u64::MAX).unwrap();
    let mut screen = Screen::new(setup());
    screen.begin(marker.state().clone(), marker.past());
    while let Some(record) = marker.read().unwrap() {
        screen.receive(record);
    }
    screen.view.told = false;
    let mut stage = Stage::showing(screen);
    assert_eq!(stage.screen.live().n, RECORDS.len() as u64);
    assert!(stage.screen.view.tool.is_some(), "keys about tools work at once");
    stage.screen.view.moment = Some(700);
    stage.press(".");
    let shown = stage.screen.shown();
    assert!(shown.n > 700);
    assert_eq!(shown.tools, State::fold(&RECORDS[..shown.n as usize]).tools);
}

/// Nothing of a state is lost when it is written: what happens next leads to the same.
#[test]
fn a_state_is_read_as_it_was_written() {
    let home = Home::new();
    let sessions = [
        ("react+reflexion", "search_web:error"),
        ("toolnet", "calculator:garbage"),
        ("dfsdt+btp", "lookup_index:timeout"),
        ("tot-dfs", "role:actor:rate-limit:nth=2"),
        ("workers+toolnet+btp", "search_web:error:p=0.5"),
    ];
    for (at, (strategy, fault)) in sessions.iter().enumerate() {
        let name = format!("{at}.jsonl");
        let run =
            ["run", "--strategy", strategy, "--tasks-limit", "2", "--fresh", "--fault", fault];
        home.run(&[&run[..], &["--journal", &name]].concat());
        let records = journal::read(&home.path(&name)).unwrap().records;
        let mut state = State::default();
        for record in &records {
            state.apply(record);
            if record.n % 8 != 0 {
                continue;
            }
            let json = serde_json::to_string(&state).unwrap();
            let read: State = serde_json::from_str(&json).unwrap();
            assert_eq!(read, state, "{strategy} at {}", record.n);
        }
        assert!(state.tasks_done > 0, "{strategy}");
    }
}
