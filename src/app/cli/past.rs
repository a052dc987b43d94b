//! Commands that read a journal: its state, its report, a picture of it.

use std::{io, path::Path};

use super::journal_args::{ReplayArgs, ShotArgs};
use super::{ConfigArgs, live, out, sessions, trouble::Trouble};
use crate::domain::{Record, State, state::Keeps, state::RECENT, tokens};
use crate::net::known::without_known;
use crate::store::journal::{JournalReader, Marker};
use crate::store::{import::write_private, json_store};
use crate::ui::twin::{Twin, TwinKind};
use crate::ui::{self, layout::Layout, pane::PaneId};
use crate::{config::Config, report::live_report::Folded};

/// The state after this event of a journal, or after the last one, and a remark on the journal's end. Reads no further
/// than the event. `take` gets each event with the state after it.
pub fn load(
    path: &Path,
    at: Option<u64>,
    keeps: Keeps,
    mut take: impl FnMut(&State, &Record) -> io::Result<()>,
) -> Result<(State, Option<String>), Trouble> {
    let mut reader = JournalReader::open(path).map_err(Trouble::usage)?;
    let most = at.map_or(usize::MAX, |at| usize::try_from(at).unwrap_or(usize::MAX));
    let mut state = State::keeping(keeps);
    for record in reader.by_ref().take(most) {
        let record = record.map_err(Trouble::usage)?;
        state.apply(&record);
        take(&state, &record).map_err(Trouble::failed)?;
    }
    match at.filter(|at| *at > state.n) {
        Some(at) => Err(no_such_moment(path, at, state.n)),
        None => Ok((state, reader.remark())),
    }
}

/// The state after this event, from the nearest mark of the journal's index. Missing marks up to there are made.
fn moment(path: &Path, at: u64) -> Result<State, Trouble> {
    let mut marker = Marker::open(path, at).map_err(Trouble::usage)?;
    while marker.state().n < at {
        if marker.read().map_err(Trouble::usage)?.is_none() {
            return Err(no_such_moment(path, at, marker.state().n));
        }
    }
    match marker.state() {
        state if state.has_recent() => Ok(state.clone()),
        _ => Ok(load(path, Some(at), Keeps::Details(RECENT), |_, _| Ok(()))?.0),
    }
}

fn no_such_moment(path: &Path, at: u64, last: u64) -> Trouble {
    Trouble::Usage(format!("{}: --at {at}: the journal ends at event {last}", path.display()))
}

/// `toolyard replay`: prints and saves what was requested; opens the screen if nothing was.
pub fn replay(args: &ReplayArgs) -> Result<ui::EndReason, Trouble> {
    let journal = match &args.journal {
        Some(journal) => sessions::named(journal, &args.config),
        None => sessions::newest(&args.config)?,
    };
    if args.json || args.report.is_some() {
        return tell(args, &journal).map(|()| ui::EndReason::ByUser);
    }
    let mut reader = JournalReader::open(&journal).map_err(Trouble::usage)?;
    let first = reader.next().transpose().map_err(Trouble::usage)?;
    let last = reader.go_behind(args.at.unwrap_or(0)).map_err(Trouble::usage)?;
    if let Some(at) = args.at.filter(|at| *at > last) {
        return Err(no_such_moment(&journal, at, last));
    }
    warn_of_prompts(&journal, &State::fold(first.iter()));
    let config = Config::find(args.config.config.as_deref()).map_err(Trouble::usage)?;
    live::past(&journal, args.at, &config)
}

/// Prints and saves what was requested.
fn tell(args: &ReplayArgs, journal: &Path) -> Result<(), Trouble> {
    let keeps = if args.full { Keeps::All } else { Keeps::Details(RECENT) };
    let folded = args.report.as_ref().map(|_| Folded::whole());
    let mut folded = folded.transpose().map_err(Trouble::failed)?;
    let take = |state: &State, record: &Record| {
        folded.as_mut().map_or(Ok(()), |folded| folded.take(state, record))
    };
    let (state, remark) = match args.at {
        Some(at) if !args.full && args.report.is_none() => (moment(journal, at)?, None),
        _ => load(journal, args.at, keeps, take)?,
    };
    if let Some(remark) = remark.filter(|_| !args.json) {
        out::warn(&format!("{}: {remark}", journal.display()));
    }
    if !args.json {
        warn_of_prompts(journal, &state);
    }
    if let Some((path, folded)) = args.report.as_ref().zip(folded) {
        let report = folded.report(&state).map_err(Trouble::failed)?;
        json_store::save(path, &report).map_err(Trouble::failed)?;
    }
    if args.json {
        out::print_pretty(&state)?;
    }
    Ok(())
}

fn warn_of_prompts(journal: &Path, state: &State) {
    let changed: Vec<_> = state.prompts.changed().collect();
    if !changed.is_empty() {
        out::warn(&format!(
            "{}: recorded with prompts that differ from the built-in ones: {}",
            journal.display(),
            changed.join(", ")
        ));
    }
}

/// `toolyard shot`: a picture of one moment.
pub fn shot(args: &ShotArgs) -> Result<(), Trouble> {
    let size = parse_size(&args.size)?;
    expect_svg(&args.out)?;
    // A picture shows the last tasks.
    let mut twin = (args.pane == Some(PaneId::Twin)).then(|| Twin::new(TwinKind::Origin));
    if let Some(twin) = &mut twin {
        super::twin::whole(&args.journal, twin)?;
    }
    let state = match (args.at, &mut twin) {
        (Some(at), None) => moment(&args.journal, at)?,
        (at, twin) => {
            let note = |state: &State, record: &Record| {
                twin.iter_mut().for_each(|twin| twin.note(state, record));
                Ok(())
            };
            load(&args.journal, at, Keeps::Details(RECENT), note)?.0
        }
    };
    let config = Config::find(args.config.config.as_deref()).map_err(Trouble::usage)?;
    let name = args.theme.as_ref().unwrap_or(&config.ui.theme);
    let (theme, ugly) = ui::theme::load::find(name, None);
    if let Some(problem) = ugly.first().filter(|_| args.theme.is_some()) {
        // A picture in another theme than the requested one is useless.
        return Err(Trouble::usage(problem));
    }
    for warning in &ugly {
        out::warn(&warning.to_string());
    }
    // A picture is drawn once, so its counts wait for the vocabulary.
    tokens::load();
    let view = ui::view::View {
        focus: args.pane.unwrap_or_else(|| Layout::first_pane(state.acting())),
        zoom: args.pane,
        twin,
        ..ui::view::View::default()
    };
    let drawn = ui::shot::drawn(&state, size, &theme, view);
    let svg = ui::shot::svg(&drawn, &theme);
    write_private(&args.out, &without_known(&svg)).map_err(Trouble::failed)?;
    if args.ink {
        let share = 100.0 * ui::shot::ink(&drawn, &theme);
        out::print_line(format!("{} {} ink {share:.1} %", args.out.display(), args.size))?;
    }
    Ok(())
}

/// Refuses names of other picture formats. SVG needs no fonts here, and other programs convert it.
fn expect_svg(path: &Path) -> Result<(), Trouble> {
    const OTHERS: [&str; 7] = ["png", "jpg", "jpeg", "gif", "webp", "bmp", "pdf"];
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase);
    let Some(ending) = ending.filter(|ending| OTHERS.contains(&ending.as_str())) else {
        return Ok(());
    };
    let svg = path.with_extension("svg");
    let (svg, path) = (svg.display(), path.display());
    Err(Trouble::Usage(format!(
        "--out {path}: a picture is written as SVG; write --out {svg}, and convert it: rsvg-convert --format \
         {ending} --output {path} {svg}"
    )))
}

/// Columns and rows, such as `160x48`.
fn parse_size(text: &str) -> Result<(u16, u16), Trouble> {
    let range = 20..=1000;
    let sides = text.split_once('x').and_then(|(columns, rows)| {
        let side = |text: &str| text.parse::<u16>().ok();
        Some((side(columns)?, side(rows)?))
    });
    sides.filter(|(columns, rows)| range.contains(columns) && (5..=1000).contains(rows)).ok_or_else(
        || Trouble::Usage(format!("--size {text}: expected COLSxROWS, from 20x5 to 1000x1000")),
    )
}

/// `toolyard keys`: every action with its keys.
pub fn keys(args: &ConfigArgs) -> Result<(), Trouble> {
    let config = Config::find(args.config.as_deref()).map_err(Trouble::usage)?;
    let (keymap, wrong) = ui::keymap::Keymap::new(&config.ui.keys);
    out::print(ui::keytable::markdown(&keymap))?;
    for error in &wrong {
        // Unknown keys and actions were refused before; these errors are about default keys that moved to another
        // action.
        out::warn(&error.to_string());
    }
    Ok(())
}
