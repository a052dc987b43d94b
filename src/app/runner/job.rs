//! A job: one session as in `toolyard run`, in its own folder. It continues an earlier part if there is one.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{fs, io::ErrorKind};

use serde::{Deserialize, Serialize};

use super::job_lock::JobLock;
use super::{Followed, Runner};
use crate::domain::{Event, Outcome, Record, SessionEvent, State, TaskEvent};
use crate::engine::{self, Beginning, DOLLARS_REACHED, MODEL_UNUSABLE, PurseShare};
use crate::session::{JournalChoice, SessionError, SessionSpec};
use crate::store::experience::Experience;
use crate::store::journal::{self, folder};

/// Most parts of one session: each interruption leaves one.
const MOST_PARTS: u32 = 10_000;

/// The job's input. It is plain data, so that it can run elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The index of the combination.
    pub of: usize,
    pub folder: PathBuf,
    pub seed: u64,
    /// Strategy, knobs and tasks; the rest is decided here.
    pub spec: SessionSpec,
    /// The past uses at its start, which stay unchanged.
    pub base: Option<PathBuf>,
    /// Write a journal, from which it can continue later.
    pub is_kept: bool,
    /// Keep its past uses in a file, which later sessions may begin with.
    pub keeps_past: bool,
}

/// How a job ended.
#[derive(Debug)]
pub enum JobEnd {
    /// All its tasks are done.
    Done(Box<State>),
    Stopped,
    /// Without a result, while others may have one: why. The limit of dollars ended it, or it could not end elsewhere.
    Without(String),
}

impl JobEnd {
    /// How the session with this last state ended; `why`: what it said of that.
    ///
    /// # Errors
    /// A model cannot be used.
    pub fn of(state: State, why: Option<String>) -> Result<Self, SessionError> {
        if state.tasks.iter().all(|task| is_final(task.outcome())) {
            return Ok(Self::Done(Box::new(state)));
        }
        if let Some((model, error)) = state.unusable_model() {
            return Err(SessionError::failed(format!("{MODEL_UNUSABLE}: {model}: {error}")));
        }
        let why = why.filter(|why| why.starts_with(DOLLARS_REACHED));
        Ok(why.map_or(Self::Stopped, Self::Without))
    }
}

impl Job {
    /// The file of the session's past uses.
    pub fn experience(&self) -> PathBuf {
        self.folder.join(format!("seed-{}.sqlite", self.seed))
    }

    /// The journal of part `number`, from 1. Each part begins with everything before it.
    fn part(&self, number: u32) -> PathBuf {
        let number = if number == 1 { String::new() } else { format!(".{number}") };
        let names = folder::names(&format!("seed-{}{number}", self.seed));
        let [new, older] = names.map(|name| self.folder.join(name));
        if older.exists() { older } else { new }
    }

    /// US dollars that its earlier parts have spent. Elsewhere, a session that has not ended counts them itself.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn spent(&self, runner: &Runner) -> Result<f64, SessionError> {
        let (records, _) = self.found()?;
        let state = State::fold(&records);
        let is_counted = runner.elsewhere.is_none() || is_done(&records, &state);
        Ok(if is_counted { state.dollars_spent() } else { 0.0 })
    }

    /// Runs the session, or the rest of it, as the only one that does so now.
    ///
    /// # Errors
    /// Faults in the settings or in the files of the folder; or a model cannot be used.
    pub fn run(&self, runner: &Runner, share: Option<PurseShare>) -> Result<JobEnd, SessionError> {
        if !self.is_kept {
            return self.run_alone(runner, share, |_| ());
        }
        let lock = self.folder.join(format!("seed-{}.lock", self.seed));
        let Some(lock) = JobLock::take(&lock, &runner.stop)? else { return Ok(JobEnd::Stopped) };
        let end = self.run_alone(runner, share, |_| ())?;
        if let JobEnd::Done(_) = end {
            lock.done();
        }
        Ok(end)
    }

    /// Runs the session, or the rest of it; `hear` gets each record, from the first one on.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_alone(
        &self,
        runner: &Runner,
        share: Option<PurseShare>,
        mut hear: impl FnMut(&Record) + 'static,
    ) -> Result<JobEnd, SessionError> {
        let (records, parts) = self.found()?;
        let before = State::fold(&records);
        if is_done(&records, &before) {
            records.iter().for_each(hear);
            return Ok(JobEnd::Done(Box::new(before)));
        }
        if runner.stop.is_stopped() {
            return Ok(JobEnd::Stopped);
        }
        if self.keeps_past {
            self.lay_base()?;
        }
        let spec = self.session(parts + 1);
        let mut prepared = spec.prepare()?;
        // A fork goes on from its moment each time. Elsewhere, a session goes on by itself.
        if self.spec.fork.is_none() && runner.elsewhere.is_none() {
            prepared.beginning = Beginning::after(engine::resumable(records));
        }
        prepared.purse.clone_from(&share);
        let why = Rc::new(RefCell::new(None));
        let ended = Rc::clone(&why);
        let hears = move |record: &Record| {
            hear(record);
            if let Event::Session(SessionEvent::SessionEnded { why, .. }) = &record.event {
                *ended.borrow_mut() = Some(why.clone());
            }
            true
        };
        let state = match runner.follow(&spec, prepared, hears) {
            Ok(Some(Followed { state, .. })) => state,
            Ok(None) => return Ok(JobEnd::Stopped),
            Err(SessionError::Without(why)) => return Ok(JobEnd::Without(why)),
            Err(error) => return Err(error),
        };
        if let Some(share) = share {
            share.settle(state.dollars_spent());
        }
        JobEnd::of(state, why.take())
    }

    /// The spec of this part: the session knows no other past than its base.
    fn session(&self, part: u32) -> SessionSpec {
        let kept = self.is_kept.then(|| JournalChoice::File(self.part(part)));
        let mut fork = self.spec.fork.clone();
        if let Some(fork) = &mut fork {
            fork.seed = Some(self.seed);
        }
        SessionSpec {
            fork,
            seed: Some(self.seed),
            journal: kept.unwrap_or(JournalChoice::None),
            fresh: true,
            experience: self.keeps_past.then(|| self.experience()),
            leak_guard: true,
            ..self.spec.clone()
        }
    }

    /// The session's records so far, and the number of parts.
    fn found(&self) -> Result<(Vec<Record>, u32), SessionError> {
        let mut best = Vec::new();
        for number in 1..MOST_PARTS {
            let path = self.part(number);
            if !path.exists() {
                return Ok((best, number - 1));
            }
            let records = match journal::read(&path) {
                Ok(loaded) => loaded.records,
                Err(error) => return Err(SessionError::input(error)),
            };
            // A part that was killed while it restored the previous one has fewer finished tasks.
            if finished(&records) >= finished(&best) {
                best = records;
            }
        }
        let text = format!("{}: too many interrupted parts of this session", self.folder.display());
        Err(SessionError::input(text))
    }

    /// Removes its journals: what they have is not the result of this job.
    ///
    /// # Errors
    /// One of them cannot be removed.
    pub fn forget(&self) -> Result<(), SessionError> {
        let parts =
            (1..MOST_PARTS).map(|number| self.part(number)).take_while(|part| part.exists());
        parts.collect::<Vec<_>>().iter().try_for_each(fs::remove_file).map_err(SessionError::failed)
    }

    /// Copies the past uses of the base to where the session will find them. The session's own are written again when
    /// it continues.
    fn lay_base(&self) -> Result<(), SessionError> {
        let own = self.experience();
        for end in ["", "-wal", "-shm"] {
            let mut file = own.clone().into_os_string();
            file.push(end);
            match fs::remove_file(&file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    let text = format!("{}: {error}", Path::new(&file).display());
                    return Err(SessionError::failed(text));
                }
                Ok(()) | Err(_) => {}
            }
        }
        let Some(base) = &self.base else { return Ok(()) };
        fs::create_dir_all(&self.folder).map_err(SessionError::failed)?;
        let base = Experience::open_existing(base).map_err(SessionError::input)?;
        base.copy_to(&own).map_err(SessionError::input)
    }
}

/// Whether nothing is left to do: the session recorded its end, so its past uses are saved, too.
pub fn is_done(records: &[Record], state: &State) -> bool {
    let said = matches!(
        records.last().map(|last| &last.event),
        Some(Event::Session(SessionEvent::SessionEnded { .. }))
    );
    said && state.tasks.iter().all(|task| is_final(task.outcome()))
}

/// Whether a task with this outcome has been worked on to its end, good or bad.
fn is_final(outcome: Option<Outcome>) -> bool {
    outcome.is_some_and(|outcome| outcome != Outcome::Stopped)
}

fn finished(records: &[Record]) -> usize {
    let is_finished = |record: &&Record| match &record.event {
        Event::Task(TaskEvent::TaskFinished { outcome, .. }) => is_final(Some(*outcome)),
        _ => false,
    };
    records.iter().filter(is_finished).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_the_same_after_it_went_over_a_wire() {
        let spec = SessionSpec {
            strategy: Some("workers+btp".parse().unwrap()),
            faults: vec!["a:timeout".parse().unwrap()],
            knobs: [(crate::domain::knob::Knob::Budget, 0.1 + 0.2)].into(),
            ..SessionSpec::default()
        };
        let (base, folder) = (Some("base.sqlite".into()), "out/workers".into());
        let job =
            Job { of: 3, folder, seed: u64::MAX, spec, base, is_kept: true, keeps_past: true };
        let text = serde_json::to_string(&job).unwrap();
        assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job, "{text}");
    }
}
