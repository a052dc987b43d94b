//! The screen for a running session, or for a past one.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::{out, trouble::Trouble};
use crate::app::config::{self, Config};
use crate::app::session::{Session, SessionSpec};
use crate::domain::{Command, state::RECENT};
use crate::store::journal::LoadedJournal;
use crate::ui::theme::detect::{self, Depth};
use crate::ui::{self, screen::Setup, symbols::Charset};
use crate::ui::{theme::load::AUTO, view::ReadOnly};

/// Opens the screen on a new session, which waits for the user.
pub fn live(spec: SessionSpec) -> Result<ui::EndReason, Trouble> {
    let spec = SessionSpec { paused: true, stay: true, ..spec };
    let mut prepared = spec.prepare()?.slow_enough_to_follow();
    prepared.keeps = Some(RECENT);
    expect_terminal()?;
    let config = prepared.config.clone();
    let Session { opened, title, journal, records, commands, engine } = prepared.spawn()?;
    let source = ui::Source { opened, records, commands: Some(commands.clone()) };
    // The terminal is touched only when nothing can be wrong with the session any more.
    let shown = settings(&config, title, None);
    let shown = shown.and_then(|settings| ui::run(source, settings).map_err(Trouble::failed));
    // Regardless of how the screen ended, the session must end properly.
    let _ = commands.send(Command::Stop);
    let ended = engine.join();
    let shown = shown?;
    ended?;
    if let (Some(path), ui::EndReason::ByUser) = (journal, shown) {
        out::print_line(&format!("journal: {}", path.display()))?;
    }
    Ok(shown)
}

/// Opens the screen on a journal.
pub fn past(
    loaded: LoadedJournal,
    title: String,
    config: &Config,
) -> Result<ui::EndReason, Trouble> {
    expect_terminal()?;
    let settings = settings(config, title, Some(ReadOnly::Replay))?;
    let (record, records) = mpsc::unbounded_channel();
    for past in loaded.records {
        // The receiver is alive: it is in this function.
        let _ = record.send(Arc::new(past));
    }
    let source = ui::Source { opened: loaded.header.opened, records, commands: None };
    ui::run(source, settings).map_err(Trouble::failed)
}

/// A terminal without a screen is left alone: it is not even asked for its colours.
fn expect_terminal() -> Result<(), Trouble> {
    ui::terminal::expect()
        .map_err(|error| Trouble::Failed(format!("cannot open the screen: {error}")))
}

fn settings(
    config: &Config,
    title: String,
    read_only: Option<ReadOnly>,
) -> Result<ui::Settings, Trouble> {
    let (keymap, wrong) = ui::keymap::Keymap::new(&config.ui.keys);
    let variable = |name: &str| std::env::var(name).ok();
    let depth = Depth::of(variable);
    let name = match config.ui.theme.as_str() {
        AUTO => detect::name(depth, variable),
        name => name,
    };
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
    };
    Ok(ui::Settings {
        screen,
        mouse: config.ui.mouse,
        shots,
        layouts,
        notices: wrong
            .iter()
            .map(ToString::to_string)
            .chain(ugly.iter().map(ToString::to_string))
            .collect(),
    })
}

/// Waits for Ctrl-C or a polite kill; gives the number of the signal.
pub async fn interrupted() -> i32 {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let listening = kinds.into_iter().filter_map(|kind| Some((kind, signal(kind).ok()?)));
    let mut signals: Vec<_> = listening.collect();
    let waits = signals.iter_mut().map(|(kind, signal)| {
        Box::pin(async {
            signal.recv().await;
            kind.as_raw_value()
        })
    });
    futures::future::select_all(waits).await.0
}
