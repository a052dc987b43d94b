//! The screen on a session that runs, or on one that has run.

use std::{sync::Arc, thread};

use tokio::sync::mpsc;

use super::{out, prepared::Prepared, trouble::Trouble};
use crate::{
    app::config::Config,
    domain::{command::Command, event::Record, strategy::Strategy},
    engine,
    store::journal::{Header, Loaded},
    ui,
};

/// Opens the screen on a new session. The engine has a thread of its own, so that neither waits for
/// the other; the two share nothing but two channels.
pub fn live(prepared: Prepared) -> Result<ui::Ended, Trouble> {
    let mut prepared = prepared.for_the_screen();
    let settings = settings(&prepared.config)?;
    let (command, commands) = mpsc::unbounded_channel();
    let (record, records) = mpsc::unbounded_channel();
    let source = ui::Source {
        opened: Header::at(jiff::Timestamp::now()).opened,
        records,
        commands: Some(command.clone()),
        title: prepared.title().to_owned(),
    };
    let journal = prepared.take_journal()?;
    let path = journal.as_ref().map(|journal| journal.path().to_owned());
    let engine = thread::Builder::new().name("engine".to_owned()).spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Trouble::failed)?;
        runtime.block_on(async {
            let setup = prepared.build(journal)?;
            let listener = Box::new(move |seen: &Arc<Record>| {
                // A screen that is gone has said so by a `Stop`.
                let _ = record.send(Arc::clone(seen));
            });
            engine::run(setup, commands, listener).await.map_err(Trouble::unwritten)
        })
    });
    let engine = engine.map_err(Trouble::failed)?;
    let shown = ui::run(source, settings).map_err(Trouble::failed);
    // However the screen ended, the session must end properly too.
    let _ = command.send(Command::Stop);
    let ended = engine.join().map_err(|_| Trouble::Failed("the engine panicked".to_owned()))?;
    let shown = shown?;
    ended?;
    if let (Some(path), ui::Ended::ByUser) = (path, shown) {
        out::print_line(&format!("journal: {}", path.display()))?;
    }
    Ok(shown)
}

/// Opens the screen on a journal.
pub fn past(loaded: Loaded, title: String, config: &Config) -> Result<ui::Ended, Trouble> {
    let settings = settings(config)?;
    let (record, records) = mpsc::unbounded_channel();
    for past in loaded.records {
        // The receiver is alive: it is in this function.
        let _ = record.send(Arc::new(past));
    }
    let source = ui::Source { opened: loaded.header.opened, records, commands: None, title };
    ui::run(source, settings).map_err(Trouble::failed)
}

fn settings(config: &Config) -> Result<ui::Settings, Trouble> {
    let (keymap, wrong) = ui::keymap::Keymap::new(&config.ui.keys);
    let (themes, ugly) = ui::theme::load::all(&config.ui.theme, None, colours());
    let shots = match &config.ui.shots {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().map_err(Trouble::failed)?,
    };
    Ok(ui::Settings {
        keymap,
        themes,
        strategies: Strategy::all().map(|strategy| strategy.to_string()).collect(),
        mouse: config.ui.mouse,
        shots,
        notices: wrong
            .iter()
            .map(ToString::to_string)
            .chain(ugly.iter().map(ToString::to_string))
            .collect(),
    })
}

/// Whether the user wants colours (<https://no-color.org>).
pub fn colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Waits for Ctrl-C or a polite kill.
pub async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let mut signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
        let waits = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures::future::select_all(waits).await;
    }
    #[cfg(not(unix))]
    {
        let _ = tokio::signal::ctrl_c().await;
    }
}
