//! The journals of watched sessions over which agents run again.

use std::path::Path;

use super::SessionError;
use crate::domain::{
    By, Event, FaultEvent, FaultSpec, Record, RunEvent, SessionEvent, ToolCallEvent,
};
use crate::store::journal;

/// The contents of journals that a run over them uses.
#[derive(Debug, Default)]
pub(super) struct Rerun {
    /// Records of each session.
    pub records: Vec<Vec<Record>>,
    pub seed: Option<u64>,
    /// Faults with which the sessions began.
    pub faults: Vec<FaultSpec>,
    /// True if calls were skipped, so that they did not reach their agents.
    pub skips: bool,
    /// Remarks on the journals, for the person.
    pub notices: Vec<String>,
    /// File names of the journals, without folders.
    pub names: Vec<String>,
}

/// Whether a conversation of a watched agent begins here.
fn is_talk(record: &Record) -> bool {
    matches!(&record.event, Event::Run(RunEvent::RunOpened { guest: Some(_), .. }))
}

/// Whether a watched session was killed before any agent asked.
///
/// # Errors
/// The journal cannot be read.
pub fn is_before_all(path: &Path) -> Result<bool, SessionError> {
    let records = journal::read(path).map_err(SessionError::input)?.records;
    let is_own = |record: &Record| match &record.event {
        Event::Session(SessionEvent::SessionOpened { opening }) => !opening.watched,
        _ => false,
    };
    Ok(!records.iter().any(|record| is_talk(record) || is_own(record)))
}

impl Rerun {
    /// Reads a journal, or all journals of a folder.
    ///
    /// # Errors
    /// A journal cannot be read, or watched agents did not act in it; or there is none.
    pub fn load(path: &Path) -> Result<Self, SessionError> {
        if !path.is_dir() {
            return Self::of(path);
        }
        let io =
            |error: std::io::Error| SessionError::input(format!("{}: {error}", path.display()));
        let mut files = Vec::new();
        for entry in std::fs::read_dir(path).map_err(io)? {
            let file = entry.map_err(io)?.path();
            files.extend(Some(file).filter(|file| journal::folder::is_named(file)));
        }
        files.sort();
        let mut all = Self::default();
        for file in &files {
            let Self { records, seed, faults, notices, skips, names } = Self::of(file)?;
            all.names.extend(names);
            all.skips |= skips;
            all.records.extend(records);
            all.seed = all.seed.or(seed);
            all.faults.extend(
                faults.into_iter().filter(|it| !all.faults.contains(it)).collect::<Vec<_>>(),
            );
            all.notices.extend(notices);
        }
        if files.is_empty() {
            let why = format!("{}: no journal (*.jsonl) is in this folder", path.display());
            return Err(SessionError::input(why));
        }
        Ok(all)
    }

    fn of(path: &Path) -> Result<Self, SessionError> {
        let shown = path.display();
        let wrong = |why: String| SessionError::input(format!("{shown}: {why}"));
        let is_written = journal::is_written(path).map_err(SessionError::input)?;
        let loaded = journal::read(path).map_err(SessionError::input)?;
        let remark = loaded.remark();
        if let Some(remark) = remark.clone().filter(|_| loaded.records.is_empty()) {
            return Err(wrong(remark));
        }
        let mut notices: Vec<_> =
            remark.map(|remark| format!("{shown}: {remark}")).into_iter().collect();
        if is_written {
            notices
                .push(format!("{shown}: its session still runs; what it has so far is the record"));
        }
        let (records, program) = (loaded.records, loaded.header.program);
        let unknown = records.iter().filter(|it| matches!(it.event, Event::Unknown { .. }));
        let unknown = unknown.count();
        if unknown > 0 {
            notices.push(format!(
                "{shown}: written by toolyard {program}; this version does not know {unknown} of its events"
            ));
        }
        let opening = records.iter().find_map(|record| match &record.event {
            Event::Session(SessionEvent::SessionOpened { opening }) => Some(&**opening),
            _ => None,
        });
        let opening =
            opening.ok_or_else(|| wrong("it does not say how its session began".to_owned()))?;
        if !opening.watched {
            let why = "watched agents did not act in this session; `toolyard run --recorded` runs \
                       its own agent again";
            return Err(wrong(why.to_owned()));
        }
        let begun = records.iter().take_while(|record| !is_talk(record));
        let faults = begun.filter_map(|record| match &record.event {
            Event::Fault(FaultEvent::FaultArmed { spec, by: By::User, .. }) => Some(spec.clone()),
            _ => None,
        });
        let faults = faults.collect();
        if !records.iter().any(is_talk) {
            return Err(wrong("no request of an agent is in it".to_owned()));
        }
        let is_skip = |record: &Record| {
            matches!(record.event, Event::ToolCall(ToolCallEvent::CallSkipped { .. }))
        };
        let skips = records.iter().any(is_skip);
        let (seed, name) = (Some(opening.seed), path.file_name().unwrap_or_default());
        let names = vec![name.to_string_lossy().into_owned()];
        Ok(Self { seed, faults, skips, notices, names, records: vec![records] })
    }
}
