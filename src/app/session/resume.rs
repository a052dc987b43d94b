//! A session that continues an interrupted one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{
    AGENT_IS_GONE, JournalChoice, PreparedSession, SessionError, SessionSpec, journal_chain,
};
use crate::domain::state::{Keeps, RECENT};
use crate::domain::{
    Acting, EffectId, Event, ModelName, Opening, Record, SessionEvent, State, TaskEvent, TaskId,
};
use crate::engine::{Beginning, Division, Past, Rest, is_kept};
use crate::files::json_file;
use crate::store::journal::{self, Header, folder};

/// The most journals of one session, one per resumption; more must be a cycle.
const MOST: usize = 1000;

/// Older versions left such a journal if they were killed right at the start.
const EMPTY: &str = "it has no first event, so there is nothing to continue";

impl SessionSpec {
    /// The rest of an interrupted session: its spec with the fields of this one, its past, and its open task's records.
    ///
    /// # Errors
    /// The journal cannot be read, is still being written, was already continued, or has nothing left to do; or the
    /// workspace or the models differ.
    pub(super) fn resume(&self, path: &Path) -> Result<PreparedSession, SessionError> {
        expect_interrupted(path)?;
        let found = Found::of(path)?;
        let opening = found.opening.clone().ok_or_else(|| wrong(path, EMPTY))?;
        let knows_workspace = found.header.spec.is_some();
        let spec = self.over(base(path, &found.header)?, path);
        let Found { state, rest, .. } = with_earlier(path, found)?;
        let has_begun =
            state.tasks_started() > 0 || rest.iter().any(|record| is_first_work(&record.event));
        let past = Past::of_journal(path.to_owned(), state);
        let mut prepared = spec.read()?;
        prepared.expect_same(path, &opening, knows_workspace)?;
        if has_begun || spec.stay {
            let repeats_unknown = self.repeats_unknown;
            let rest = Some(Rest { records: rest, repeats_unknown });
            prepared.beginning = Beginning::Continued { past, rest };
        }
        Ok(prepared)
    }

    /// Combines this spec with that of the interrupted session, whose events name its faults, breakpoints and tasks.
    /// Settings of this spec take precedence.
    fn over(&self, base: SessionSpec, path: &Path) -> SessionSpec {
        let mut allow = base.allow;
        allow.extend(self.allow.iter().cloned());
        SessionSpec {
            config: self.config.clone().or(base.config),
            workspace: self.workspace.clone().or(base.workspace),
            model: self.model.clone().or(base.model),
            max_dollars: self.max_dollars.or(base.max_dollars),
            allow,
            journal: JournalChoice::File(next_to(path)),
            paused: self.paused,
            stay: self.stay,
            hold: self.hold,
            keep_going: self.keep_going,
            resumed: Some(path.to_owned()),
            recorded: None,
            fork: None,
            repeats_unknown: self.repeats_unknown,
            ..base
        }
    }
}

impl PreparedSession {
    /// Checks that the models are those of the interrupted session; and the workspace, if its journal does not say
    /// where that is.
    pub(super) fn expect_same(
        &self,
        path: &Path,
        opening: &Opening,
        knows_workspace: bool,
    ) -> Result<(), SessionError> {
        if !knows_workspace && self.workspace.title != opening.workspace {
            let (was, now) = (&opening.workspace, &self.workspace.title);
            let why = format!("its session worked in {was}, not in {now}; add --workspace DIR");
            return Err(wrong(path, &why));
        }
        let gone = |model: &&ModelName| !self.config.models.contains_key(model.as_str());
        if let Some(model) = opening.roles.values().find(gone) {
            let why = format!("its model {model} is not configured; add it, or --config FILE");
            return Err(wrong(path, &why));
        }
        Ok(())
    }
}

/// A new journal beside this one: `j.2.jsonl.zst` beside `j.jsonl.zst`.
pub(super) fn next_to(path: &Path) -> PathBuf {
    let first = first_of(path);
    let stem = folder::stem(&first);
    let name = |number: u64| folder::beside(path, &format!("{stem}.{number}"));
    let names = (2..).map(name);
    names.into_iter().find(|name| !name.exists()).unwrap_or_else(|| path.to_owned())
}

/// The journal with which the session of this one began, by its name: `j.jsonl.zst` for `j.2.jsonl.zst`.
pub fn first_of(path: &Path) -> PathBuf {
    let stem = folder::stem(path);
    let stem = match stem.rsplit_once('.') {
        Some((stem, number)) if number.parse::<u32>().is_ok() => stem,
        _ => &stem,
    };
    folder::beside(path, stem)
}

/// The spec of the session of a journal, as far as its header has it; without one it names nothing.
///
/// # Errors
/// The journal cannot be read.
pub fn spec_of(path: &Path) -> Result<SessionSpec, SessionError> {
    let header = journal::JournalReader::open(path).map_err(SessionError::input)?.header;
    header.spec.map_or_else(|| Ok(SessionSpec::default()), read_spec)
}

/// The newest journal of a folder whose session did not end, or was stopped with tasks left.
///
/// # Errors
/// The folder cannot be read, or has none.
pub fn newest_interrupted(folder: &Path) -> Result<PathBuf, SessionError> {
    let found = folder::journals(folder).map_err(|error| wrong(folder, &error.to_string()))?;
    let newest = found.iter().find(|kept| expect_interrupted(&kept.path).is_ok());
    newest.map(|kept| kept.path.clone()).ok_or_else(|| {
        wrong(
            folder,
            "no session in it can be resumed: all have ended, are running, or were resumed",
        )
    })
}

/// # Errors
/// Why the session of a journal cannot be resumed.
fn expect_interrupted(path: &Path) -> Result<(), SessionError> {
    if journal::is_written(path).map_err(SessionError::input)? {
        let shown = path.display();
        let why = format!("it is still being written: toolyard attach {shown} shows its session");
        return Err(wrong(path, &why));
    }
    let summary = journal::Summary::of(path).map_err(SessionError::input)?;
    match summary.acting {
        None => return Err(wrong(path, EMPTY)),
        Some(Acting::Foreign) => return Err(wrong(path, AGENT_IS_GONE)),
        Some(Acting::Own(_)) => {}
    }
    if let Some(next) = journal_chain::in_turn(path, past_of) {
        let why = format!("it was resumed in {}: resume that", next.display());
        return Err(wrong(path, &why));
    }
    let header = journal::JournalReader::open(path).map_err(SessionError::input)?.header;
    if let Some(earlier) = journal_chain::by(path, &header)
        && summary.events <= past_of(&earlier)
    {
        let why = format!("it only started to continue {}: resume that", earlier.display());
        return Err(wrong(path, &why));
    }
    if let Some(spec) = header.spec.clone()
        && let Some(why) = is_before_its_moment(path, &read_spec(spec)?, summary.events)
    {
        return Err(why);
    }
    let Some(ended) = summary.ended else { return Ok(()) };
    let found = Found::of(path)?;
    if !found.rest.is_empty() || found.state.next_task().is_some() {
        return Ok(());
    }
    Err(wrong(path, &format!("its session has ended ({ended}), and no task is left")))
}

/// The number of records of this journal that a continuation copies first.
fn past_of(path: &Path) -> u64 {
    Found::of(path).map_or(u64::MAX, |found| found.state.n)
}

/// The parts of an interrupted session. Its past stays in its journal.
struct Found {
    header: Header,
    opening: Option<Opening>,
    /// The state after its past.
    state: State,
    /// The records of the tasks that were at work.
    rest: Vec<Record>,
}

impl Found {
    /// # Errors
    /// The journal cannot be read.
    fn of(path: &Path) -> Result<Self, SessionError> {
        let open = || journal::JournalReader::open(path).map_err(SessionError::input);
        let mut division = Division::default();
        for record in open()? {
            division.take(&record.map_err(SessionError::input)?.event);
        }
        let (parts, mut reader) = (division.range(), open()?);
        let (mut state, mut rest) = (State::keeping(Keeps::Tasks(RECENT)), Vec::new());
        let mut opening = None;
        for (at, record) in reader.by_ref().take(parts.end).enumerate() {
            let record = record.map_err(SessionError::input)?;
            if let (Event::Session(SessionEvent::SessionOpened { opening: own }), None) =
                (&record.event, &opening)
            {
                opening = Some((**own).clone());
            }
            if at < parts.start {
                state.apply(&record);
            } else if is_kept(&record.event) {
                rest.push(record);
            }
        }
        Ok(Self { header: reader.header, opening, state, rest })
    }
}

/// The parts of a session. If it was resumed before with the same task at work, the task's earlier records count, too:
/// the session may have been interrupted before the task came as far again.
fn with_earlier(path: &Path, mut found: Found) -> Result<Found, SessionError> {
    let mut header = found.header.clone();
    let mut at = path.to_owned();
    for _ in 0..MOST {
        let Some(name) = &header.continues else { return Ok(found) };
        at = journal_chain::by(&at, &header).ok_or_else(|| {
            let why = format!(
                "it continues the journal {name}, which is missing from its folder: put it back"
            );
            wrong(path, &why)
        })?;
        let earlier = Found::of(&at)?;
        header = earlier.header;
        match task_of(&earlier.rest) {
            Some(task) if !has_ended(&found.state, task) => {
                found.rest = joined(found.rest, earlier.rest);
            }
            // It was interrupted before it began the task again: what the task had come to is in the one before.
            None => {}
            Some(_) => return Ok(found),
        }
    }
    Err(wrong(path, "its journals continue each other in a circle"))
}

/// The task that these records work on.
fn task_of(rest: &[Record]) -> Option<TaskId> {
    rest.iter().find_map(|record| match &record.event {
        Event::Task(TaskEvent::TaskStarted { task }) => Some(*task),
        _ => None,
    })
}

/// Whether a task has ended in a past, which has no task at work.
fn has_ended(past: &State, task: TaskId) -> bool {
    usize::try_from(task.0).is_ok_and(|number| number <= past.tasks_done)
}

/// The records of a task; for a call that an earlier attempt took further, those of that attempt.
fn joined(rest: Vec<Record>, earlier: Vec<Record>) -> Vec<Record> {
    if rest.is_empty() {
        return earlier;
    }
    let (own, before) = (reached(&rest), reached(&earlier));
    let is_earlier = |id: &EffectId| own.get(id) < before.get(id);
    let of = |record: &Record| record.event.effect().map(|effect| effect.id);
    let kept = rest.into_iter().filter(|record| of(record).is_none_or(|id| !is_earlier(&id)));
    let more = earlier.into_iter().filter(|record| of(record).is_some_and(|id| is_earlier(&id)));
    kept.chain(more).collect()
}

/// How far a call has come in the records of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    Requested,
    /// The call may have changed something. This still holds if a later attempt was interrupted before it started the
    /// call.
    Started,
    Ended,
}

fn reached(records: &[Record]) -> BTreeMap<EffectId, Reached> {
    let mut all = BTreeMap::new();
    for record in records {
        let Some(effect) = record.event.effect() else { continue };
        let now = match &record.event {
            event if event.is_end() => Reached::Ended,
            event if event.is_start() => Reached::Started,
            _ => Reached::Requested,
        };
        let most = all.entry(effect.id).or_insert(now);
        *most = now.max(*most);
    }
    all
}

/// The spec of the interrupted session; if the journal does not have it, a spec from its events.
pub(super) fn base(path: &Path, header: &Header) -> Result<SessionSpec, SessionError> {
    if let Some(spec) = &header.spec {
        return read_spec(spec.clone());
    }
    let mut spec = SessionSpec::default();
    spec.take_from(path, drop)?;
    Ok(spec)
}

fn read_spec(spec: serde_json::Value) -> Result<SessionSpec, SessionError> {
    json_file::read_part(spec)
        .map_err(|why| SessionError::input(format!("the journal's spec: {why}")))
}

/// Why the session of a fork cannot be resumed: it was killed before its moment, so that its changes are not made.
fn is_before_its_moment(path: &Path, spec: &SessionSpec, events: u64) -> Option<SessionError> {
    let fork = spec.fork.as_ref().filter(|fork| events <= fork.at)?;
    let why = format!(
        "it was killed before event {}, where it was to go its own way: fork {} again",
        fork.at,
        fork.of.display()
    );
    Some(wrong(path, &why))
}

fn is_first_work(event: &Event) -> bool {
    matches!(event, Event::Task(TaskEvent::TaskStarted { .. }))
}

pub(super) fn wrong(path: &Path, why: &str) -> SessionError {
    SessionError::input(format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ConsentEvent, EffectClass, EffectRef, ToolCallEvent, ToolOutput};

    fn effect(id: u32) -> EffectRef {
        EffectRef::new(EffectId(id), EffectClass::Write)
    }

    /// The events of one call, up to its request, its start or its end.
    fn call(id: u32, upto: Reached) -> Vec<Record> {
        let requested = ToolCallEvent::ToolCallRequested {
            effect: effect(id),
            task: TaskId(1),
            step: 1,
            tool: "note".into(),
            arguments: serde_json::json!({}),
            evidence: None,
            by: crate::domain::By::Engine,
            wire_id: None,
        };
        let output = ToolOutput::of("noted").into();
        let events: [Event; 3] = [
            requested.into(),
            ToolCallEvent::ToolCallStarted { effect: effect(id) }.into(),
            ToolCallEvent::ToolCallFinished { effect: effect(id), output }.into(),
        ];
        let events = events.into_iter().take(upto as usize + 1);
        events.map(|event| Record::new(u64::from(id), 0, event)).collect()
    }

    /// A journal with these events, which continues the one with this header.
    fn written(path: &Path, earlier: Option<&Header>, events: Vec<Event>) -> Header {
        let mut header = Header::at(jiff::Timestamp::UNIX_EPOCH);
        header.continues_id = earlier.and_then(|earlier| earlier.id.clone());
        header.continues = earlier.map(|_| "another.jsonl.zst".to_owned());
        let mut journal = journal::Journal::create(path, &header).unwrap();
        for (n, event) in (1..).zip(events) {
            journal.append(&Record::new(n, 0, event)).unwrap();
        }
        header
    }

    #[test]
    fn sessions_that_were_killed_before_they_began_their_task_again_lose_nothing_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let told = |text: &str| Event::from(SessionEvent::Noticed { text: text.to_owned() });
        let begun = Event::from(TaskEvent::TaskStarted { task: TaskId(1) });
        let call = call(1, Reached::Ended).into_iter().map(|record| record.event);
        let first = [told("past"), begun].into_iter().chain(call).collect();
        let first = written(&path("j.jsonl.zst"), None, first);
        let again = || vec![told("past"), told("resumed")];
        let second = written(&path("j.2.jsonl.zst"), Some(&first), again());
        let last = path("j.3.jsonl.zst");
        written(&last, Some(&second), again());
        let found = with_earlier(&last, Found::of(&last).unwrap()).unwrap();
        assert_eq!(task_of(&found.rest), Some(TaskId(1)));
        assert_eq!(reached(&found.rest).get(&EffectId(1)), Some(&Reached::Ended));
    }

    #[test]
    fn a_call_that_has_started_in_any_attempt_is_not_taken_for_one_that_has_not() {
        let mut again = call(1, Reached::Requested);
        again.push(Record::new(2, 0, ConsentEvent::OutcomeUnknown { effect: effect(1) }));
        for second in [call(1, Reached::Requested), again] {
            let joined = joined(second, call(1, Reached::Started));
            assert!(joined.iter().any(|record| record.event.is_start()), "{joined:?}");
        }
        let ended = call(1, Reached::Ended);
        assert_eq!(joined(call(1, Reached::Started), ended.clone()), ended);
        assert_eq!(joined(ended.clone(), call(1, Reached::Started)), ended);
        let both = joined(call(2, Reached::Requested), ended.clone());
        assert_eq!(both, [call(2, Reached::Requested), ended].concat());
    }
}
