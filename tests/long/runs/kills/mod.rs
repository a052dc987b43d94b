//! `kill -9` at any moment of every kind of session: nothing that was shown is lost, nothing is written twice, and no
//! file stands in the way of the next start, or keeps a key.

pub mod after;
mod doors;
pub mod noted;
mod started;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use self::noted::{Told, journals, notes, workspace};
use self::started::{COMPARE, Kind, NOTES, PROGRAM, RESUME};
use crate::mutations::Numbers;
use crate::program::{Home, Ran};

const KILLS: usize = 1000;
/// Each session can be resumed so often, and no test resumes it more often.
const MOST: usize = 20;

/// What happened, by kind.
#[derive(Debug, Default)]
struct Counts {
    kills: usize,
    /// Sessions that were over before the kill.
    over: usize,
    /// Kills before the first event.
    early: usize,
    printed: usize,
    writes: usize,
    unknown: usize,
}

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Session(Kind),
    Watch,
    Relay,
    Import,
}

impl What {
    fn all() -> Vec<Self> {
        let sessions = Kind::ALL.map(Self::Session);
        [&sessions[..], &[Self::Watch, Self::Relay, Self::Import]].concat()
    }

    /// One of it with one kill, or a few, and its end.
    fn round(self, whole: &Whole, numbers: &mut Numbers, counts: &mut Counts) {
        match self {
            Self::Session(kind) => round(kind, whole, numbers, counts),
            Self::Watch => doors::watch(numbers, counts),
            Self::Relay => doors::relay(numbers, counts),
            Self::Import => doors::import(numbers, counts),
        }
    }
}

/// How long each command takes, and what it prints, where nothing interrupts it.
struct Whole {
    times: BTreeMap<Kind, Duration>,
    compared: String,
}

impl Whole {
    fn measured() -> Self {
        let mut times = BTreeMap::new();
        let mut compared = String::new();
        let commands: [(Kind, &[&str]); 3] =
            [(Kind::Run, &NOTES), (Kind::Compare, &COMPARE), (Kind::Program, &PROGRAM)];
        for (kind, arguments) in commands {
            let home = Home::new();
            workspace(&home);
            let start = Instant::now();
            let printed = home.succeed(arguments);
            times.insert(kind, start.elapsed());
            match kind {
                Kind::Compare => compared = printed,
                _ => assert_eq!(notes(&home).len(), 9, "{kind:?}: {:?}", notes(&home)),
            }
        }
        Self { times, compared }
    }

    /// A moment from the first millisecond on; every second one is among the first 120.
    fn moment(&self, kind: Kind, numbers: &mut Numbers) -> Duration {
        let whole = self.times.get(&kind).or(self.times.get(&Kind::Run)).unwrap();
        let whole = usize::try_from(whole.as_millis()).unwrap();
        let most = if numbers.below(2) == 0 { 120.min(whole) } else { whole };
        Duration::from_millis(1 + u64::try_from(numbers.below(most)).unwrap())
    }
}

#[test]
fn a_session_that_is_killed_anywhere_loses_nothing_and_goes_on() {
    let (whole, kills) = (Whole::measured(), super::cases(KILLS));
    let mut counts: BTreeMap<What, Counts> = BTreeMap::new();
    let (mut numbers, all) = (Numbers(1), What::all());
    let total = |counts: &BTreeMap<What, Counts>| -> usize {
        counts.values().map(|counts| counts.kills).sum()
    };
    for what in all.iter().cycle() {
        let is_hit = |what: &What| counts.get(what).is_some_and(|counts| counts.kills > 0);
        let is_missing = !all.iter().all(is_hit);
        if total(&counts) >= kills && !is_missing {
            break;
        }
        eprintln!("{} kills, {what:?} from number {}", total(&counts), numbers.0);
        what.round(&whole, &mut numbers, counts.entry(*what).or_default());
    }
    eprintln!("{} kills", total(&counts));
    for (what, counts) in &counts {
        eprintln!("{what:?}: {counts:?}");
    }
    let hit: usize = counts.values().map(|counts| counts.unknown).sum();
    assert!(kills < KILLS || hit > 10, "some writes were hit: {hit}");
}

/// One session with one kill, or a few, and its end.
fn round(kind: Kind, whole: &Whole, numbers: &mut Numbers, counts: &mut Counts) {
    let home = Home::new();
    workspace(&home);
    // A resume of a resume: the session is killed, and what goes on with it, too.
    let wanted = if kind == Kind::Resume { 2 + numbers.below(3) } else { 1 };
    let mut kills = 0;
    while kills < wanted {
        let arguments = if journals(&home).is_empty() { kind.arguments() } else { &RESUME };
        let seen = kind.killed(&home, arguments, whole.moment(kind, numbers), numbers);
        after::expect_no_process(&home);
        let Some(seen) = seen else {
            counts.over += 1;
            break;
        };
        kills += 1;
        after::expect_kept(&home, &seen.printed);
        after::expect_readable(&home);
        let twice: Vec<_> = notes(&home).into_iter().filter(|(_, times)| *times > 1).collect();
        assert_eq!(twice, [], "after kill {kills} of {kind:?}");
        counts.early += usize::from(journals(&home).is_empty() && kind != Kind::Compare);
        counts.printed += seen.printed.len();
        if let Some(shown) = seen.tasks_done {
            let done = started::tasks_done(&home);
            assert!(done >= shown, "the screen showed {shown} tasks, the journal has {done}");
        }
    }
    counts.kills += kills;
    if kind == Kind::Compare {
        assert_eq!(home.succeed(&COMPARE), whole.compared, "as without interruption");
    } else {
        go_on(&home, kind);
        if kind.writes() {
            let (told, notes) = (Told::by(&journals(&home)), notes(&home));
            told.expect(&notes);
            counts.writes += notes.len();
            counts.unknown += told.unknown.len();
        }
    }
    after::expect_readable(&home);
    after::expect_no_process(&home);
    after::expect_tidy(&home);
}

/// The next start: the rest of the session, or a new one where no journal is left.
fn go_on(home: &Home, kind: Kind) {
    let next = if journals(home).is_empty() { kind.headless() } else { &RESUME };
    for _ in 0..MOST {
        let Ran { code, out, err } = home.run(next);
        let is_refused = out.contains("no session in it can be resumed");
        if code == 2 && is_refused && after::is_over(home) {
            // What a killed session has left is deleted by the next one that starts.
            home.run(&["run", "--strategy", "direct", "--tasks-limit", "1", "--fresh"]);
            return;
        }
        assert!(matches!(code, 0 | 1), "{kind:?}: {code} {out} {err}");
        assert!(out.contains("\"SessionEnded\""), "{kind:?}: {out} {err}");
        if next != RESUME {
            return;
        }
    }
    panic!("{kind:?}: it goes on for ever");
}
