//! The side of a run: it puts sessions into the queue, and makes of each journal what it makes of one of its own.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, mpsc};
use toolyard_nats::{
    Deaths, JobPurse, JobResult, JobServer, NatsAddress, NatsError, PurseState, ResultEnd,
};

use super::failed;
use super::order::Packs;
use super::pack::Excluded;
use crate::domain::state::{Keeps, RECENT};
use crate::domain::{Event, Record, SessionEvent, State};
use crate::runner::{Elsewhere, SessionOrder};
use crate::session::{SessionError, SessionSpec};
use crate::shell::out::warn;
use crate::store::journal::{Header, Journal, new_id};

/// How often it is looked whether a job is lost, and whether its result came unheard.
const LOOK: Duration = Duration::from_secs(10);
/// Time between two tries while the server is gone.
const BETWEEN: Duration = Duration::from_millis(300);
/// The most messages of workers that a run repeats: anybody on the server can send them.
const MOST_SAID: usize = 200;
/// The tag of jobs that any worker takes.
pub const ANY: &str = "any";

/// The workers behind a server.
pub struct Machines {
    runtime: Runtime,
    server: JobServer,
    tag: String,
    packs: Packs,
    /// The jobs that are waited for.
    waited: Arc<Mutex<HashMap<String, Arc<Notify>>>>,
    /// The purse of this run.
    run: String,
    purse: OnceLock<()>,
    /// Set once it was said that there is no worker.
    lonely: OnceLock<()>,
}

impl Machines {
    /// Connects to a server. Jobs are for workers with this tag, or for all.
    ///
    /// # Errors
    /// The server cannot be used.
    pub fn connect(
        address: NatsAddress,
        tag: Option<String>,
        excluded: Excluded,
    ) -> Result<Self, SessionError> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(SessionError::failed)?;
        let connected = JobServer::connect(address, false, Arc::new(|text: &str| warn(text)));
        let server = runtime.block_on(connected).map_err(failed)?;
        let waited: Arc<Mutex<HashMap<String, Arc<Notify>>>> = Arc::default();
        let (results, own) = (server.clone(), Arc::clone(&waited));
        runtime.spawn(async move {
            let wake = |job: &str| {
                if let Some(waits) = lock(&own).get(job) {
                    waits.notify_one();
                }
            };
            // Where it fails, looking finds results as well, only later.
            while results.results(wake).await.is_err() {
                tokio::time::sleep(BETWEEN).await;
            }
        });
        let said = server.clone();
        runtime.spawn(async move {
            let told = Mutex::new(BTreeSet::new());
            let tell = |text: &str| {
                let mut told = lock(&told);
                if told.len() < MOST_SAID && told.insert(text.to_owned()) {
                    warn(text);
                }
            };
            said.said(tell).await;
        });
        let packs = Packs::without(excluded);
        let tag = tag.unwrap_or_else(|| ANY.to_owned());
        let (run, purse, lonely) = (new_id(), OnceLock::new(), OnceLock::new());
        Ok(Self { runtime, server, tag, packs, waited, run, purse, lonely })
    }

    /// Puts packed files on the server, unless they are there.
    fn put(&self, hash: &str, bytes: &[u8]) -> Result<(), SessionError> {
        self.runtime.block_on(async {
            if !self.server.has_file(hash).await.map_err(failed)? {
                self.server.put_file(hash, bytes).await.map_err(failed)?;
            }
            Ok(())
        })
    }

    /// Gives a job its part of the purse of this run, which begins with what sessions have spent before.
    fn purse(
        &self,
        session: &SessionOrder<'_>,
        job: &str,
    ) -> Result<Option<JobPurse>, SessionError> {
        let Some(share) = session.share() else { return Ok(None) };
        let purse = JobPurse { server: self.server.clone(), job: job.to_owned() };
        self.runtime.block_on(async {
            if self.purse.get().is_none() {
                let state = PurseState::new(share.most(), share.most() - share.left());
                // Another thread may make it as well; it is made once.
                JobPurse::make(&self.server, &self.run, &state).await.map_err(failed)?;
                let _ = self.purse.set(());
            }
            purse.join(&self.run).await.map_err(failed)
        })?;
        Ok(Some(purse))
    }

    /// Puts a job again that is lost, and says once that there is no worker.
    async fn put_if_lost(&self, job: &str, order: &[u8]) -> Result<(), NatsError> {
        if !self.server.put_if_lost(&self.tag, job, order).await? && self.lonely.set(()).is_ok() {
            let tag = if self.tag == ANY { String::new() } else { format!(" --tag {}", self.tag) };
            let address = &self.server.address;
            warn(&format!(
                "no worker takes the sessions; start one: toolyard worker --nats {address}{tag}"
            ));
        }
        Ok(())
    }

    /// Waits for the result of a job. `None`: the run is to end.
    async fn result(
        &self,
        job: &str,
        order: &[u8],
        mut stop: mpsc::UnboundedReceiver<crate::domain::Command>,
    ) -> Result<Option<JobResult>, SessionError> {
        let waits = Arc::new(Notify::new());
        lock(&self.waited).insert(job.to_owned(), Arc::clone(&waits));
        let mut is_put = false;
        loop {
            let looked =
                match self.server.result(job).await {
                    // What it ended with is over: it goes on now.
                    Ok(Some(JobResult {
                        end: ResultEnd::Cancelled | ResultEnd::Stopped, ..
                    })) if !is_put => self.server.forget_result(job).await.map(|()| None),
                    looked => looked,
                };
            let looked = match looked {
                Ok(None) if is_put => self.put_if_lost(job, order).await,
                Ok(None) => self.server.put(&self.tag, job, order).await,
                Ok(Some(result)) => return Ok(Some(result)),
                Err(error) => Err(error),
            };
            let wait = match looked {
                Ok(()) => {
                    is_put = true;
                    LOOK
                }
                // The server is gone, or starts.
                Err(NatsError::Failed(_)) => BETWEEN,
                Err(NatsError::WrongResult(why)) => return Err(SessionError::Without(why)),
                Err(error) => return Err(failed(error)),
            };
            tokio::select! {
                () = waits.notified() => {}
                () = tokio::time::sleep(wait) => {}
                _ = stop.recv() => {
                    let _ = self.server.take_back(&self.tag, job).await;
                    return Ok(None);
                }
            }
        }
    }

    /// Writes the journal of a job that has ended as one of this machine; returns the US dollars that it cost.
    async fn fetch(
        &self,
        spec: &SessionSpec,
        result: &JobResult,
        to: &Path,
    ) -> Result<f64, SessionError> {
        let wrong = |why: &str| {
            let JobResult { job, worker, .. } = result;
            SessionError::Without(format!(
                "the journal of job {job}, which {worker} wrote, is not used: {why}; toolyard jobs --retry {job} runs it again"
            ))
        };
        let journal = loop {
            match self.server.journal(&result.job, result.journal).await {
                Ok(journal) => break journal,
                Err(_) => tokio::time::sleep(BETWEEN).await,
            }
        };
        let (header, lines) = journal.sessions().pop().ok_or_else(|| wrong("it has no session"))?;
        let header: Header =
            serde_json::from_slice(&header).map_err(|_| wrong("it has no header"))?;
        let own = serde_json::to_value(spec.anchored()).map_err(SessionError::failed)?;
        let header = Header { spec: Some(own), continues: None, continues_id: None, ..header };
        let (mut written, mut state) = (None, State::keeping(Keeps::Tasks(RECENT)));
        let lines = str::from_utf8(&lines).map_err(|_| wrong("it is no text"))?;
        for line in lines.lines() {
            let record = Record::read(line.as_bytes()).map_err(|why| wrong(&why))?;
            let journal = match &mut written {
                Some(journal) => journal,
                None => {
                    if !is_of(spec, &record) {
                        return Err(wrong("it is of another session"));
                    }
                    written.insert(Journal::create(to, &header).map_err(SessionError::failed)?)
                }
            };
            journal.add(&record, Some(line)).map_err(SessionError::failed)?;
            state.apply(&record);
        }
        written.ok_or_else(|| wrong("it has no event"))?.flush().map_err(SessionError::failed)?;
        if let (Some(hash), Some(past)) = (&result.past, &spec.experience) {
            let bytes = self.server.file(hash).await.map_err(failed)?;
            super::pack::unpack(&bytes, past).map_err(SessionError::failed)?;
        }
        Ok(state.dollars_spent())
    }
}

impl Elsewhere for Machines {
    fn run(&self, session: &SessionOrder<'_>, journal: &Path) -> Result<bool, SessionError> {
        let order = self.packs.order(session, |hash, bytes| self.put(hash, &bytes))?;
        let (job, text) = order.written()?;
        let purse = self.purse(session, &job)?;
        let (tell, stop) = mpsc::unbounded_channel();
        session.runner.stop.reach(tell);
        self.runtime.block_on(async {
            let waited = self.result(&job, &text, stop).await;
            lock(&self.waited).remove(&job);
            let Some(result) = waited? else { return Ok(false) };
            match &result.end {
                ResultEnd::Done | ResultEnd::Stopped => {
                    let spent = self.fetch(session.spec, &result, journal).await?;
                    if let Some(purse) = purse {
                        purse.settle(spent).await;
                    }
                    Ok(true)
                }
                ResultEnd::Cancelled => {
                    Err(SessionError::Without(format!("job {job} was cancelled")))
                }
                ResultEnd::Dead { deaths, .. } => Err(SessionError::Without(said(&job, deaths))),
            }
        })
    }
}

fn said(job: &str, deaths: &Deaths) -> String {
    let Deaths { workers, causes } = deaths;
    let causes: Vec<_> = causes.iter().map(|why| format!(": {why}")).collect();
    format!(
        "job {job} is set aside, since {} workers ended in it ({}){}; toolyard jobs --retry {job} tries it again",
        workers.len(),
        workers.join(", "),
        causes.concat()
    )
}

/// Whether a journal that begins with this record is one of this session.
fn is_of(spec: &SessionSpec, first: &Record) -> bool {
    match &first.event {
        Event::Session(SessionEvent::SessionOpened { opening }) => {
            spec.seed.is_none_or(|seed| seed == opening.seed || spec.fork.is_some())
        }
        _ => false,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
