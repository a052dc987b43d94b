//! The screen for a running session, or for a past one.

use std::path::Path;
use std::sync::Arc;
use std::{thread, time::Duration};

use tokio::sync::mpsc;

use super::{call_commands, found_servers, out, save, screen_sweep, spec_trust};
use super::{trouble::Trouble, twin};
use crate::config::{self, Config, UiConfig};
use crate::domain::{Command, state::Keeps, state::RECENT};
use crate::program::Child;
use crate::servers;
use crate::session::{JournalChoice, SessionHandle, SessionSpec, TaskSource};
use crate::stage::DEMOS;
use crate::store::journal::{JournalError, JournalPast, JournalReader, Marker, folder};
use crate::ui::theme::detect::{self, Depth};
use crate::ui::watch_file::WatchFile;
use crate::ui::{self, Remark, screen::First, screen::Setup, symbols::Charset, tour::Tour};
use crate::ui::{theme::load::AUTO, view::ReadOnly, view::Tone};

/// The options for showing a session.
#[derive(Default)]
pub struct Show {
    /// A tour, which presses keys for the person.
    pub tour: Option<Tour>,
    /// Appearance and input, instead of the configured ones.
    pub ui: Option<UiConfig>,
    /// True if the screen begins with the offers of a first start.
    pub is_first: bool,
}

/// Opens the screen on a new session, which waits for the user. On the first start it says how to begin.
pub fn live(mut spec: SessionSpec) -> Result<ui::EndReason, Trouble> {
    let is_first = is_first_start(&spec);
    spec_trust::remember(&spec);
    found_servers::add_that_of_workspace(&mut spec, true)?;
    show(spec, Show { is_first, ..Show::default() })
}

/// Opens the screen on the samples, and says how to begin.
pub fn choosing() -> Result<ui::EndReason, Trouble> {
    let spec = SessionSpec { journal: JournalChoice::None, ..SessionSpec::default() };
    show(spec, Show { is_first: true, ..Show::default() })
}

/// Whether nothing is configured, nothing was requested, and no session is stored.
fn is_first_start(spec: &SessionSpec) -> bool {
    let is_plain = *spec == SessionSpec::default();
    let is_configured = config::default_path().is_some_and(|path| path.exists());
    let journals = config::default_journals().map(|folder| folder.read_dir());
    let has_journals = journals.is_some_and(|read| read.is_ok_and(|mut all| all.next().is_some()));
    is_plain && !is_configured && !has_journals
}

/// Shows a new session.
pub fn show(spec: SessionSpec, show: Show) -> Result<ui::EndReason, Trouble> {
    let spec = SessionSpec { paused: true, stay: true, ..spec };
    let mut prepared = spec.prepare()?.for_a_screen();
    prepared.keeps = Keeps::Tasks(RECENT);
    // A tour presses its own keys, and its journal does not outlive it.
    prepared.is_attachable = show.tour.is_none();
    expect_terminal("use `toolyard run`")?;
    let mut config = prepared.config.clone();
    let has_all_tasks = prepared.workspace.folder.is_none() && spec.tasks == TaskSource::Workspace;
    let is_sample = has_all_tasks && show.tour.is_none() && prepared.is_simulated();
    let is_tour = show.tour.is_some();
    let folder = prepared.workspace.folder.as_deref().filter(|_| !spec.fresh);
    let watches = WatchFile::read(folder.map(|folder| folder.join("watches.toml")));
    if let Some(ui) = show.ui {
        config.ui = ui;
    }
    let (came_from, origin) = (twin::origin(&prepared), Arc::new(prepared.origin()?));
    let SessionHandle { opened, title, journal, records, taken, commands, seat, engine } =
        prepared.spawn()?;
    let records = ui::Records::Live(records, taken, Arc::clone(&engine.broken));
    let twins = Some(twin::starter(Arc::clone(&origin), journal.as_deref()));
    let sweeps = Some(screen_sweep::starter(origin));
    let (sender, own) = (Some(commands.clone()), journal.clone());
    let scenarios = save::saver(Some(spec.clone()), journal.clone());
    let opened = Some(opened);
    let source = ui::SessionSource {
        opened,
        records,
        commands: sender,
        seat,
        origin: came_from,
        journal: own,
        twins,
        sweeps,
        scenarios,
        output: None,
    };
    // The terminal is touched only after every check of the session has passed.
    let shown = settings(&config, title, None).map(|mut settings| {
        settings.screen.journal = journal.as_deref().and_then(follow);
        settings.watch(watches);
        settings.screen.runs_again = is_sample;
        settings.screen.first = show.is_first.then(first);
        settings.tour = show.tour;
        settings
    });
    let shown = shown.and_then(|settings| ui::run(source, settings).map_err(Trouble::failed));
    // Regardless of how the screen ended, the session must end properly.
    let _ = commands.send(Command::Stop);
    let ended = engine.join();
    let shown = shown?;
    let ended = ended?;
    // A session that was only looked at would be the newest one for `toolyard replay`.
    let is_idle = ended.tasks_started() == 0 && ended.control.changes.undo.is_empty();
    let is_own = spec.journal == JournalChoice::Configured && spec.recorded.is_none();
    let journal = journal.filter(|path| !(is_idle && is_own && folder::delete(path).is_ok()));
    // The journal of a tour does not outlive it.
    if let (Some(path), ui::EndReason::ByUser, false) = (journal, &shown, is_tour) {
        out::print_line(format!("journal: {}", path.display()))?;
    }
    Ok(shown)
}

/// Facts for the offers of a first start.
fn first() -> First {
    let hosted = servers::hosted(&|name| std::env::var_os(name));
    let keys = hosted.iter().filter_map(|found| found.provider.key).collect();
    First { keys, folder: std::env::current_dir().unwrap_or_default() }
}

/// Records that are read ahead of the screen.
pub(super) const AHEAD: usize = 8192;
/// How often the journal of a running session is read on.
pub(super) const FOLLOW: Duration = Duration::from_millis(250);

/// Opens the screen on a journal up to this event. The screen is open while the journal is still read.
pub fn past(path: &Path, until: Option<u64>, config: &Config) -> Result<ui::EndReason, Trouble> {
    expect_terminal("add --json, or use `toolyard shot`")?;
    let settings = settings(config, path.display().to_string(), Some(ReadOnly::Replay))?;
    let (source, remark) = reading(path, until).map_err(Trouble::usage)?;
    let ended = ui::run(source, settings).map_err(Trouble::failed)?;
    match remark.get() {
        Some((Tone::Bad, error)) => Err(Trouble::Usage(error.clone())),
        Some(_) | None => Ok(ended),
    }
}

/// A journal up to this event, which a thread reads.
fn reading(path: &Path, until: Option<u64>) -> Result<(ui::SessionSource, Remark), JournalError> {
    JournalReader::open(path)?;
    let (read, records) = mpsc::channel(AHEAD);
    let (remark, journal) = (Remark::default(), path.to_owned());
    let (told, path) = (Arc::clone(&remark), path.to_owned());
    let title = path.display().to_string();
    let work = move || {
        let end = match read_to(&path, until.unwrap_or(u64::MAX), &read) {
            Ok(remark) => remark.map(|text| (Tone::Plain, format!("{title}: {text}"))),
            Err(error) => Some((Tone::Bad, error.to_string())),
        };
        // The remark is set only once.
        let _ = end.map(|end| told.set(end));
    };
    let io = |source| JournalError::Io { path: journal.clone(), source };
    thread::Builder::new().name("journal".to_owned()).spawn(work).map_err(io)?;
    let records = ui::Records::Read(records, Arc::clone(&remark));
    let (commands, journal) = (None, Some(journal));
    let scenarios = save::saver(None, journal.clone());
    let (opened, seat, twins, sweeps) = (None, None, None, None);
    let origin = journal.as_deref().and_then(twin::of_journal);
    let source = ui::SessionSource {
        opened,
        records,
        commands,
        seat,
        journal,
        twins,
        origin,
        sweeps,
        scenarios,
        output: None,
    };
    Ok((source, remark))
}

/// The sessions of the folder for journals.
fn library(config: &Config) -> Option<ui::Library> {
    let folder = config.session.journals.clone().or_else(config::default_journals)?;
    let open = |path: &Path| {
        let read = reading(path, None).map(|(source, _)| source);
        read.map_err(|error| error.to_string())
    };
    Some(ui::Library { folder, open })
}

/// Reads a journal up to this event, from the last mark before it, until the receiver is gone. Returns a remark on the
/// journal's end, if there is one.
fn read_to(
    path: &Path,
    until: u64,
    read: &mpsc::Sender<ui::JournalItem>,
) -> Result<Option<String>, JournalError> {
    let mut marker = Marker::open(path, until)?;
    let mut next = ui::JournalItem::Begin(Box::new(marker.state().clone()), marker.past());
    // Reading ends with the screen.
    while read.blocking_send(next).is_ok() && marker.state().n < until {
        let Some(record) = marker.read()? else { return Ok(marker.remark()) };
        next = ui::JournalItem::Record(record);
    }
    Ok(None)
}

/// Reads the journal of a session that has just begun, so that any moment of it can be looked at.
pub(super) fn follow(path: &Path) -> Option<JournalPast> {
    let mut marker = Marker::open_new(path).ok()?;
    let past = marker.past();
    let read = move || {
        // Its own session wrote it; if it cannot be read, there is no past beyond the memory.
        while let Ok(read) = marker.read() {
            if read.is_none() {
                thread::sleep(FOLLOW);
            }
        }
    };
    thread::Builder::new().name("journal".to_owned()).spawn(read).ok()?;
    Some(past)
}

/// Fails if no screen can be shown; the terminal is then left alone, even without a query for its colours.
pub(super) fn expect_terminal(instead: &str) -> Result<(), Trouble> {
    ui::terminal::expect(instead)
        .map_err(|error| Trouble::Failed(format!("cannot open the screen: {error}")))
}

/// The settings of a screen: its look, and the things that it can reach.
pub(super) fn settings(
    config: &Config,
    title: String,
    read_only: Option<ReadOnly>,
) -> Result<ui::ScreenSettings, Trouble> {
    let (keymap, wrong) = ui::keymap::Keymap::with(&config.ui.keys, &config.ui.commands);
    let variable = |name: &str| std::env::var(name).ok();
    let depth = Depth::of(variable);
    let is_auto = config.ui.theme == AUTO;
    let name = if is_auto { detect::guess(depth, variable) } else { &config.ui.theme };
    let (themes, ugly) = ui::theme::load::all(name, None, depth);
    let shots = match &config.ui.shots {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().map_err(Trouble::failed)?,
    };
    let layouts = ui::layout::LayoutFile::read(config::default_layouts());
    let screen = Setup {
        title,
        read_only,
        keymap,
        themes,
        charset: config.ui.symbols.unwrap_or_else(|| Charset::of(variable)),
        layouts: layouts.saved.clone(),
        journal: None,
        demos: DEMOS,
        commands: config.ui.commands.clone(),
        ..Setup::default()
    };
    Ok(ui::ScreenSettings {
        screen,
        asks_ground: is_auto && detect::can_ask(depth, variable),
        terminal: detect::kind(variable),
        mouse: config.ui.mouse,
        shots,
        layouts,
        watches: WatchFile::default(),
        library: library(config),
        tour: None,
        alerts: config.ui.alerts.clone(),
        as_command: call_commands::commands(config),
        interpreter: || Box::<Child>::default(),
        notices: wrong
            .iter()
            .map(ToString::to_string)
            .chain(ugly.iter().map(ToString::to_string))
            .collect(),
    })
}
