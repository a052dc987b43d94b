//! The kinds of sessions, how each is started, and how it is killed.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use toolyard::domain::{Event, Record, TaskEvent};
use toolyard::store::journal;

use super::noted::journals;
use crate::mutations::Numbers;
use crate::program::Home;
use crate::sitting::Sitting;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Run,
    Resume,
    Screen,
    Compare,
    Sweep,
    Twin,
    Program,
}

pub const NOTES: [&str; 7] =
    ["run", "--workspace", "w", "--strategy", "react", "--fresh", "--json"];
pub const PROGRAM: [&str; 7] =
    ["run", "--workspace", "w", "--strategy", "atc", "--fresh", "--json"];
pub const RESUME: [&str; 3] = ["resume", "--headless", "--json"];
pub const COMPARE: [&str; 8] = [
    "compare",
    "--json",
    "--strategies",
    "react,toolnet+btp",
    "--tasks-limit",
    "4",
    "--out",
    "kept",
];
const SCREEN: [&str; 5] = ["--workspace", "w", "--strategy", "react", "--fresh"];
const SAMPLE: [&str; 6] = ["--strategy", "toolnet", "--tasks-limit", "6", "--knob", "speed=16"];
const SAMPLE_RUN: [&str; 6] = ["run", "--strategy", "toolnet", "--tasks-limit", "6", "--json"];

/// What was seen of a session until its kill.
#[derive(Debug, Default)]
pub struct Seen {
    pub printed: Vec<Record>,
    /// The tasks that the screen showed as done.
    pub tasks_done: Option<usize>,
}

impl Kind {
    pub const ALL: [Self; 7] = [
        Self::Run,
        Self::Resume,
        Self::Screen,
        Self::Compare,
        Self::Sweep,
        Self::Twin,
        Self::Program,
    ];

    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Run | Self::Resume => &NOTES,
            Self::Compare => &COMPARE,
            Self::Program => &PROGRAM,
            Self::Screen => &SCREEN,
            Self::Sweep | Self::Twin => &SAMPLE,
        }
    }

    /// The same without a screen.
    pub fn headless(self) -> &'static [&'static str] {
        match self {
            Self::Screen => &NOTES,
            Self::Sweep | Self::Twin => &SAMPLE_RUN,
            other => other.arguments(),
        }
    }

    /// Whether each of its writes is made once.
    pub fn writes(self) -> bool {
        matches!(self, Self::Run | Self::Resume | Self::Screen | Self::Program)
    }

    /// Starts it and kills it so much later; `None` if it had ended by then.
    pub fn killed(
        self,
        home: &Home,
        arguments: &[&str],
        after: Duration,
        numbers: &mut Numbers,
    ) -> Option<Seen> {
        match self {
            Self::Screen | Self::Sweep | Self::Twin => {
                self.killed_on_screen(home, arguments, after, numbers)
            }
            Self::Run | Self::Resume | Self::Compare | Self::Program => {
                killed_headless(home, arguments, after)
            }
        }
    }

    fn killed_on_screen(
        self,
        home: &Home,
        arguments: &[&str],
        after: Duration,
        numbers: &mut Numbers,
    ) -> Option<Seen> {
        let mut sitting = Sitting::start(home, 120, 40, arguments);
        // One in four is killed while it starts.
        if numbers.below(4) > 0 {
            sitting.wait_header("PAUSED");
            match self {
                Self::Sweep => {
                    sitting.press("44");
                    sitting.wait("preview alpha");
                    sitting.press("/max_steps\r");
                    sitting.wait("max_steps:");
                    sitting.press("& ");
                }
                Self::Twin => {
                    sitting.press("0T");
                    sitting.wait("without the fault");
                    sitting.press("\r ");
                }
                _ => sitting.press(" "),
            }
        }
        thread::sleep(after);
        let header = sitting.header();
        sitting.kill(Signal::KILL);
        // It leaves the terminal as it is.
        drop(sitting);
        let words: Vec<&str> = header.split_whitespace().collect();
        let number = |word: &str| word.split_once('/').and_then(|(of, _)| of.parse::<usize>().ok());
        let tasks_done = words.windows(2).find_map(|pair| match pair[0] {
            "DONE" => number(pair[1]),
            // The task at work.
            "task" => number(pair[1]).map(|at| at.saturating_sub(1)),
            _ => None,
        });
        Some(Seen { printed: Vec::new(), tasks_done })
    }
}

fn killed_headless(home: &Home, arguments: &[&str], after: Duration) -> Option<Seen> {
    let mut command = home.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        // The last line may be cut off, and was not seen as an event then.
        let lines = lines.split(b'\n').map_while(Result::ok);
        lines.map_while(|line| Record::read(&line).ok()).collect()
    });
    let mut is_over = false;
    while start.elapsed() < after && !is_over {
        is_over = child.try_wait().unwrap().is_some();
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let printed = reader.join().unwrap();
    (!is_over).then_some(Seen { printed, tasks_done: None })
}

/// The tasks that a journal has as done; of more journals the most.
pub fn tasks_done(home: &Home) -> usize {
    let is_end =
        |record: &Record| matches!(record.event, Event::Task(TaskEvent::TaskFinished { .. }));
    let count = |path| journal::read(path).unwrap().records.iter().filter(|it| is_end(it)).count();
    journals(home).iter().map(|path| count(path)).max().unwrap_or(0)
}
