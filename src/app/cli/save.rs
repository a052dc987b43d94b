//! Saves the session on the screen as a scenario, in the working directory.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{env, thread};

use crate::domain::state::{Keeps, RECENT};
use crate::domain::words::counted;
use crate::domain::{Event, SessionEvent, State};
use crate::net::known::without_known;
use crate::scenario::{Observed, Scenario, saved};
use crate::session::SessionSpec;
use crate::store::journal::JournalReader;
use crate::ui::scenario::SaveScenario;

/// Most scenarios of one day in one folder.
const MOST_A_DAY: u32 = 1000;

/// The beginning of a saved file.
const HEAD: &str = "\
# A scenario. Run it and check it: toolyard run --scenario FILE
# [expect] describes what happened in the session; change it to your expectations.
";

/// Saves a session that began with this spec; the spec of a replay is read from its journal.
pub fn saver(began: Option<SessionSpec>, journal: Option<PathBuf>) -> SaveScenario {
    Box::new(move |live, tell| {
        let known = match &journal {
            Some(path) => ScenarioSource::Journal(path.clone(), live.n),
            None => ScenarioSource::of(live)?,
        };
        let began = began.clone();
        // The screen may be gone already.
        let work = move || drop(tell.send(save(began, known)));
        let started = thread::Builder::new().name("scenario".to_owned()).spawn(work);
        started.map(drop).map_err(|error| error.to_string())
    })
}

/// The source of the whole session.
enum ScenarioSource {
    /// A journal up to this event.
    Journal(PathBuf, u64),
    State(Box<State>),
}

impl ScenarioSource {
    /// Returns the state of the screen; fails if it has already forgotten tasks.
    fn of(live: &State) -> Result<Self, String> {
        let gone = live.tasks.gone() + live.bare_tasks().len();
        if gone > 0 {
            let tasks = counted(gone, "task");
            return Err(format!(
                "the session has no journal, and its first {tasks} are no longer in memory"
            ));
        }
        Ok(ScenarioSource::State(Box::new(live.clone())))
    }
}

fn save(began: Option<SessionSpec>, known: ScenarioSource) -> Result<PathBuf, String> {
    let (of_journal, state, observed) = match known {
        ScenarioSource::State(state) => {
            let observed = Observed::of(&state);
            (None, *state, observed)
        }
        ScenarioSource::Journal(path, until) => read(&path, until)?,
    };
    let began = match (began, of_journal) {
        (Some(began), _) => began,
        (None, Some(read)) => read?,
        (None, None) => return Err("the start of the session is unknown".to_owned()),
    };
    let scenario = saved(&began, &state, &observed)?;
    let folder = env::current_dir().map_err(|error| error.to_string())?;
    write(&folder, &scenario)
}

/// The spec that a session began with.
type Began = Result<SessionSpec, String>;

/// Reads a session up to this event.
fn read(path: &Path, until: u64) -> Result<(Option<Began>, State, Observed), String> {
    let mut reader = JournalReader::open(path).map_err(|error| error.to_string())?;
    let mut state = State::keeping(Keeps::Details(RECENT));
    let (mut began, mut observed) = (None, Observed::default());
    while state.n < until
        && let Some(record) = reader.next()
    {
        let record = record.map_err(|error| error.to_string())?;
        if let Event::Session(SessionEvent::SessionOpened { opening }) = &record.event {
            began.get_or_insert_with(|| SessionSpec::of_opening(opening));
        }
        state.apply(&record);
        observed.take(&state, &record);
    }
    Ok((began, state, observed))
}

/// Writes the scenario to a new file of this folder.
fn write(folder: &Path, scenario: &Scenario) -> Result<PathBuf, String> {
    let text = format!("{HEAD}\n{}", scenario.to_toml()?);
    // The saved file must be readable again.
    Scenario::parse("the scenario", &text).map_err(|problems| problems.to_string())?;
    let day = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    new_file(folder, &format!("scenario-{day}"), &without_known(&text))
        .map_err(|error| format!("{}: {error}", folder.display()))
}

/// Writes a text to the first of `NAME-1.toml`, `NAME-2.toml` and so on that does not exist. The file is written
/// completely or not at all.
fn new_file(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let mut builder = tempfile::Builder::new();
    let mut file = builder.prefix(".scenario-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    for number in 1..=MOST_A_DAY {
        let path = folder.join(format!("{name}-{number}.toml"));
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => file = taken.file,
            Err(failed) => return Err(failed.error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
