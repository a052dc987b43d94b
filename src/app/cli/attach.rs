//! `toolyard attach`: the screen of a session that runs elsewhere on this machine. `toolyard follow`: the screen of a
//! journal that another program writes.

use std::path::{Path, PathBuf};
use std::{iter, thread};

use super::away::Away;
use super::journal_args::{AttachArgs, FollowArgs};
use super::live::{self, FOLLOW};
use super::{live_journal, out, runtime::runtime, save, sessions, trouble::Trouble, twin};
use crate::config::Config;
use crate::domain::{Event, SessionEvent};
use crate::files::safe_json::safe;
use crate::serve::relay_socket::{SocketScan, find};
use crate::serve::{self, AttachError, Attached};
use crate::store::journal::folder::JournalFile;
use crate::store::journal::{self, JournalError, JournalReader, Summary};
use crate::ui::{self, view::ReadOnly, view::Tone};

/// Shows a session that runs elsewhere, and controls it if no other screen does.
///
/// # Errors
/// The session does not run, or nobody can attach to it.
pub fn attach(args: &AttachArgs) -> Result<ui::EndReason, Trouble> {
    let away = args.session.as_deref().map(Away::open).transpose()?.flatten();
    let journal = match &args.session {
        Some(_) if away.is_some() => {
            away.as_ref().map(Away::controlled).transpose()?.unwrap_or_default()
        }
        Some(session) => named(session, &args.config.config)?,
        None => match newest_attachable()? {
            Some(journal) => journal,
            None => newest_running(&sessions::folder_of(&args.config)?)?,
        },
    };
    let config = Config::find(args.config.config.as_deref()).map_err(Trouble::usage)?;
    // This reports a file that is not a journal, or is one of another version.
    let summary = Summary::of(&journal).map_err(Trouble::usage)?;
    let Attached { hello, seat, commands, grown } =
        serve::attach(&journal, !args.watch).map_err(|error| not_attached(error, &summary))?;
    live::expect_terminal("use `toolyard follow`")?;
    let pause = live_journal::by_session(grown, &journal);
    let (records, _) = live_journal::records(&journal, pause).map_err(Trouble::failed)?;
    let settings = live::settings(&config, hello.title, Some(ReadOnly::Watching))?;
    let source = ui::SessionSource {
        opened: Some(hello.opened),
        records,
        commands: Some(commands),
        seat: Some(seat),
        twins: None,
        origin: twin::of_journal(&journal),
        sweeps: None,
        scenarios: save::saver(None, Some(journal.clone())),
        journal: Some(journal),
        output: None,
    };
    ui::run(source, settings).map_err(Trouble::failed)
}

/// A journal by its path, or by its name in the folder for journals.
fn named(session: &Path, config: &Option<PathBuf>) -> Result<PathBuf, Trouble> {
    if session.exists() {
        return Ok(session.to_owned());
    }
    let args = super::ConfigArgs { config: config.clone() };
    let folder = sessions::folder_of(&args)?;
    let named = journal::folder::names(&session.to_string_lossy()).map(PathBuf::from);
    let names = iter::once(session.to_owned()).chain(named).map(|name| folder.join(name));
    names.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let (session, folder) = (session.display(), folder.display());
        Trouble::Usage(format!(
            "{session}: no such journal, here or in {folder}; toolyard sessions lists them"
        ))
    })
}

/// The journal of the newest session of this user to which a screen can attach, in whatever folder it is.
fn newest_attachable() -> Result<Option<PathBuf>, Trouble> {
    let SocketScan { running, others, .. } = runtime()?.block_on(find());
    let all = running.into_iter().map(|session| session.hello).chain(others);
    let newest = all.max_by(|a, b| (&a.opened, a.pid).cmp(&(&b.opened, b.pid)));
    Ok(newest.map(|hello| hello.journal.into()))
}

/// The newest running session of the folder, to which nobody can attach.
fn newest_running(folder: &Path) -> Result<PathBuf, Trouble> {
    let found = sessions::found(folder)?;
    let is_running = |kept: &JournalFile| journal::is_written(&kept.path).unwrap_or(false);
    found.into_iter().find(is_running).map(|kept| kept.path).ok_or_else(|| {
        let folder = folder.display();
        Trouble::Usage(format!(
            "no running session in {folder}; toolyard replay shows the newest journal, and toolyard resume \
             continues a session that did not end"
        ))
    })
}

/// Why nobody can attach, with what to do instead.
fn not_attached(error: AttachError, session: &Summary) -> Trouble {
    let path = session.path.display();
    match error {
        AttachError::NoSocket(_) if session.ended.is_some() => Trouble::Usage(format!(
            "{path}: its session has ended; toolyard replay {path} shows it"
        )),
        AttachError::NoSocket(_) if session.running => Trouble::Failed(format!(
            "{path}: cannot attach to its session: it is a twin, a scenario or part of a comparison, or has no socket; \
             toolyard follow {path} shows it"
        )),
        AttachError::NoSocket(_) => Trouble::Usage(format!(
            "{path}: its session does not run on this machine; toolyard resume {path} continues it, and toolyard \
             follow {path} follows another machine"
        )),
        other => Trouble::failed(other),
    }
}

/// Shows a journal while it grows, or prints its events as they come.
///
/// # Errors
/// The file cannot be read, or is not a journal of a known version.
pub fn follow(args: &FollowArgs) -> Result<ui::EndReason, Trouble> {
    let mut away = Away::open(&args.journal)?;
    let path = &away.as_ref().map_or_else(|| args.journal.clone(), Away::journal);
    let pause = away.as_mut().map_or_else(live_journal::by_time, Away::pause);
    if args.json {
        return print(path, pause).map(|()| ui::EndReason::ByUser);
    }
    let config = Config::find(args.config.config.as_deref()).map_err(Trouble::usage)?;
    let header = begun(path)?.header;
    live::expect_terminal("use `toolyard follow`")?;
    let (records, remark) = live_journal::records(path, pause).map_err(Trouble::failed)?;
    let settings =
        live::settings(&config, args.journal.display().to_string(), Some(ReadOnly::Following))?;
    let source = ui::SessionSource {
        opened: Some(header.opened),
        records,
        commands: None,
        seat: None,
        twins: None,
        origin: twin::of_journal(path),
        sweeps: None,
        scenarios: save::saver(None, Some(path.clone())),
        journal: Some(path.clone()),
        output: None,
    };
    let ended = ui::run(source, settings).map_err(Trouble::failed)?;
    match remark.get() {
        Some((Tone::Bad, error)) => Err(Trouble::Usage(error.clone())),
        Some(_) | None => Ok(ended),
    }
}

/// Opens a journal once its header is complete, which may take a moment for a new journal.
fn begun(path: &Path) -> Result<JournalReader, Trouble> {
    loop {
        let reader = JournalReader::open(path).map_err(Trouble::usage)?;
        if !reader.header.opened.is_empty() {
            return Ok(reader);
        }
        thread::sleep(FOLLOW);
    }
}

/// Prints every event as a line of JSON, until the session has ended.
fn print(path: &Path, mut pause: live_journal::Pause) -> Result<(), Trouble> {
    let mut reader = begun(path)?;
    let mut next = || -> Result<_, JournalError> {
        loop {
            if let Some(record) = reader.next().transpose()? {
                return Ok(Some(record));
            }
            reader.look_again();
            reader.expect_same()?;
            if !pause() {
                return Ok(None);
            }
        }
    };
    while let Some(record) = next().map_err(Trouble::usage)? {
        let json = serde_json::to_string(&record).map_err(Trouble::failed)?;
        let is_end = matches!(record.event, Event::Session(SessionEvent::SessionEnded { .. }));
        if !out::print_if_read(&format!("{}\n", safe(&json)))? || is_end {
            return Ok(());
        }
    }
    Ok(())
}
