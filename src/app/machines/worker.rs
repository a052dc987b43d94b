//! A worker: it takes jobs from the queue and runs their sessions, from where earlier workers left them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use toolyard_nats::{
    Entry, JobJournal, JobPurse, JobResult, JobServer, JournalWriter, Lease, NatsAddress,
    NatsError, ResultEnd,
};

use super::laid_job::LaidJob;
use super::look::offer;
use super::order::{Order, OrderVersion};
use super::place::ANY;
use super::worker_purse::WorkerPurse;
use super::{cache, failed, pack};
use crate::config::Config;
use crate::domain::words::clipped;
use crate::runner::{JobEnd, SessionStopper, follow};
use crate::session::{JournalChoice, PreparedSession, SessionError};
use crate::shell::litter;
use crate::shell::out::{tell, warn};
use crate::store::journal::{CopiedLine, CopyState, Header, JournalCopy, new_id};

/// After the deaths of so many different workers a job is set aside.
const DEATHS: usize = 3;
/// How long a worker waits for a job at a time, alone and beside another tag.
const WAIT: [Duration; 2] = [Duration::from_secs(30), Duration::from_secs(2)];
/// After how long a job that this worker could not run is handed out again, at most, and after how long this worker tries it
/// again.
const BACK: Duration = Duration::from_secs(15);
const AGAIN: Duration = Duration::from_secs(60);
/// Bytes of lines in one message, at most, if the server takes so many.
const MESSAGE: usize = 512 << 10;
/// The lines at the end of the journal of a job that is set aside, and the characters of each.
const TAIL: usize = 5;
const LINE: usize = 200;

/// Settings of a worker.
pub struct WorkerSettings {
    pub server: NatsAddress,
    /// Sessions at the same time.
    pub at_once: usize,
    /// Jobs with this tag are taken as well, and first.
    pub tag: Option<String>,
    /// The rules for tools, and where it finds keys.
    pub config: Config,
    /// Whether people reach its sessions from elsewhere.
    pub is_open: bool,
}

/// A worker.
pub struct Worker {
    server: JobServer,
    name: String,
    at_once: usize,
    tags: Vec<String>,
    config: Config,
    is_open: bool,
    folder: TempDir,
    number: AtomicU64,
    /// Jobs that it could not run, and since when.
    refused: Mutex<BTreeMap<String, Instant>>,
    leaving: watch::Receiver<bool>,
}

/// How a session ended here.
enum SessionEnd {
    Ended(ResultEnd),
    /// Stopped, so that it can go on elsewhere.
    StandsStill,
    Broke(String),
}

/// A job with its files, and its session if that has not ended.
struct Laid {
    job: LaidJob,
    session: Option<Box<PreparedSession>>,
}

/// How the work on a job ended.
enum Attempt {
    /// The job has a result.
    Done,
    /// The job goes back into the queue, to be handed out at once.
    Back,
    /// The job is left to other workers: why.
    Left(String),
}

impl Worker {
    /// Connects, and waits for the server if it is not there yet. It works until `leaving` is true.
    ///
    /// # Errors
    /// The server cannot be used, or the system has no folder for files.
    pub async fn new(
        settings: WorkerSettings,
        leaving: watch::Receiver<bool>,
    ) -> Result<Self, SessionError> {
        let WorkerSettings { server, at_once, tag, config, is_open } = settings;
        let connected = JobServer::connect(server, true, Arc::new(|text: &str| warn(text))).await;
        cache::clear();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(Self {
            server: connected.map_err(failed)?,
            name: format!("{host}:{}", std::process::id()),
            at_once,
            tags: tag.into_iter().chain([ANY.to_owned()]).collect(),
            config,
            is_open,
            folder: litter::folder().map_err(SessionError::failed)?,
            number: AtomicU64::new(0),
            refused: Mutex::default(),
            leaving,
        })
    }

    /// Works until the end. Sessions that run then stand still, and go on elsewhere.
    pub async fn work(self) {
        let (name, address) = (&self.name, &self.server.address);
        tell(format!(
            "toolyard worker: {name} takes jobs from {address}, {} at once\n",
            self.at_once
        ));
        let own = Arc::new(self);
        let mut slots = JoinSet::new();
        for _ in 0..own.at_once {
            slots.spawn(Arc::clone(&own).take_jobs());
        }
        while slots.join_next().await.is_some() {}
        own.server.close().await;
    }

    async fn take_jobs(self: Arc<Self>) {
        let mut leaving = self.leaving.clone();
        let wait = if self.tags.len() == 1 { WAIT[0] } else { WAIT[1] };
        loop {
            for tag in &self.tags {
                let taken = tokio::select! {
                    biased;
                    _ = leaving.wait_for(|leaving| *leaving) => return,
                    taken = self.server.take(tag, wait) => taken,
                };
                match taken {
                    Ok(Some(lease)) => {
                        if self.has_refused(&lease.job) {
                            self.leave(&lease).await;
                        } else {
                            self.work_on(&lease).await;
                        }
                        break;
                    }
                    Ok(None) => {}
                    // The server is gone, or starts.
                    Err(_) => tokio::time::sleep(Duration::from_millis(500)).await,
                }
            }
        }
    }

    /// Whether it could not run this job a short while ago.
    fn has_refused(&self, job: &str) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.retain(|_, since| since.elapsed() < AGAIN);
        refused.contains_key(job)
    }

    fn refuse(&self, job: &str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.insert(job.to_owned(), Instant::now());
    }

    /// Leaves a job to the others. It comes back at no regular time, so that it does not come to the same worker each time.
    async fn leave(&self, lease: &Lease) {
        let random = u64::from_str_radix(&new_id(), 16).unwrap_or_default() % 1024;
        let longest = BACK.min(Duration::from_secs(1 << lease.tries.min(6)));
        lease.back(longest.mul_f64(0.25 + random as f64 / 1366.0)).await;
    }

    async fn work_on(&self, lease: &Lease) {
        let attempt = {
            let work = self.attempt(lease);
            let beat = async {
                loop {
                    tokio::time::sleep(JobServer::beat()).await;
                    lease.prolong().await;
                }
            };
            tokio::select! {
                attempt = work => attempt,
                () = beat => return,
            }
        };
        let say = |text: &str| format!("worker {}: job {}: {text}", self.name, lease.job);
        match attempt {
            Ok(Attempt::Done) => lease.done().await,
            Err(NatsError::Lost) => {
                warn(&say("another worker has it, or it was cancelled"));
            }
            Ok(Attempt::Back) => lease.back(Duration::ZERO).await,
            Ok(Attempt::Left(why)) => {
                warn(&say(&why));
                self.server.say(&say(&why)).await;
                self.refuse(&lease.job);
                self.leave(lease).await;
            }
            Err(error) => {
                warn(&say(&error.to_string()));
                lease.back(Duration::from_secs(1)).await;
            }
        }
    }

    async fn attempt(&self, lease: &Lease) -> Result<Attempt, NatsError> {
        let job = &lease.job;
        let back = |why: String| Ok(Attempt::Left(why));
        let own = env!("CARGO_PKG_VERSION");
        match serde_json::from_slice::<OrderVersion>(&lease.payload) {
            Ok(OrderVersion { version }) if version != own => {
                return back(format!(
                    "it is of toolyard {version}, and this is {own}; left to others"
                ));
            }
            Ok(_) => {}
            Err(error) => {
                return back(format!("it is no job: {error}; toolyard jobs --cancel {job}"));
            }
        }
        let order: Order = match serde_json::from_slice(&lease.payload) {
            Ok(order) => order,
            Err(error) => {
                return back(format!("it is no job: {error}; toolyard jobs --cancel {job}"));
            }
        };
        if self.server.result(job).await?.is_some() {
            return Ok(Attempt::Done);
        }
        let journal = self.server.journal(job, 0).await?;
        // A worker that cannot write its disk fails at every job, so it counts once.
        let gone: BTreeSet<_> = journal.deaths.workers.iter().collect();
        if gone.len() >= DEATHS {
            self.put_aside(lease, journal).await?;
            return Ok(Attempt::Done);
        }
        let mut writer = self.server.claim(job, journal.last, &self.name).await?;
        let laid = match self.lay(&order, &journal).await {
            Ok(laid) => laid,
            Err(why) => {
                writer.append(Entry::Left).await?;
                return back(why);
            }
        };
        let end = match laid.session {
            None => SessionEnd::Ended(ResultEnd::Done),
            Some(prepared) => self.session(lease, *prepared, &mut writer).await?,
        };
        let (end, past, broke) = match end {
            SessionEnd::Ended(end) => match laid.job.past() {
                Ok(past) => (end, past, None),
                Err(why) => (end, None, Some(why)),
            },
            SessionEnd::StandsStill => {
                writer.append(Entry::Left).await?;
                return Ok(Attempt::Back);
            }
            SessionEnd::Broke(why) => (ResultEnd::Done, None, Some(why)),
        };
        if let Some(why) = broke {
            writer.append(Entry::Broke(why.clone())).await?;
            return back(why);
        }
        if let Some((hash, bytes)) = &past {
            self.server.put_file(hash, bytes).await?;
        }
        let past = past.map(|(hash, _)| hash);
        self.put_result(lease, end, writer.last, past).await?;
        Ok(Attempt::Done)
    }

    /// Writes the result of a job, unless it has one.
    async fn put_result(
        &self,
        lease: &Lease,
        end: ResultEnd,
        journal: u64,
        past: Option<String>,
    ) -> Result<(), NatsError> {
        // What was set aside can be tried again by its result alone.
        let is_aside = matches!(end, ResultEnd::Dead { .. });
        let order = String::from_utf8_lossy(&lease.payload).into_owned();
        let result = JobResult {
            job: lease.job.clone(),
            worker: self.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            end,
            journal,
            past,
            tag: lease.tag.clone(),
            order: is_aside.then_some(order),
        };
        self.server.put_result(&lease.job, &result).await.map(drop)
    }

    /// Sets a job aside, with the end of its journal.
    async fn put_aside(&self, lease: &Lease, journal: JobJournal) -> Result<(), NatsError> {
        let lines = journal.sessions().pop().map(|(_, lines)| lines).unwrap_or_default();
        let lines = String::from_utf8_lossy(&lines).into_owned();
        let lines: Vec<&str> = lines.lines().collect();
        let tail = &lines[lines.len().saturating_sub(TAIL)..];
        let tail: Vec<_> = tail.iter().map(|line| clipped(line, LINE)).collect();
        let tail = tail.join("\n");
        let deaths = journal.deaths;
        self.put_result(lease, ResultEnd::Dead { deaths, tail }, journal.last, None).await
    }

    /// Lays the files of a job, and prepares its session.
    async fn lay(&self, order: &Order, journal: &JobJournal) -> Result<Laid, String> {
        let mut packs = Vec::new();
        for (place, hash) in &order.packs {
            packs.push((place.clone(), self.pack(hash).await?));
        }
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.path().join(number.to_string());
        let (order, sessions) = (order.clone(), journal.sessions());
        let config = self.config.clone();
        let lay = move || {
            let job = LaidJob::lay(folder, &order, packs, sessions)?;
            let session = job.prepare(&config)?.map(Box::new);
            Ok(Laid { job, session })
        };
        tokio::task::spawn_blocking(lay).await.map_err(|error| error.to_string())?
    }

    /// Packed files, from the cache of this machine if it has them.
    async fn pack(&self, hash: &str) -> Result<Vec<u8>, String> {
        if let Some(bytes) = cache::get(hash) {
            return Ok(bytes);
        }
        let bytes = self.server.file(hash).await.map_err(|error| error.to_string())?;
        if pack::hash(&bytes) != hash {
            return Err(format!("its files {hash} have other bytes than their name says"));
        }
        cache::put(hash, &bytes);
        Ok(bytes)
    }

    /// Runs a session on a thread of its own, whose journal goes to the server line by line.
    async fn session(
        &self,
        lease: &Lease,
        mut prepared: PreparedSession,
        writer: &mut JournalWriter,
    ) -> Result<SessionEnd, NatsError> {
        let after = prepared.beginning.past().map_or(0, |past| past.state().n);
        let (sent, lines) = mpsc::unbounded_channel();
        let (state, kept) = watch::channel(CopyState::default());
        prepared.copy = Some(JournalCopy::new(sent, kept, after));
        let purse = JobPurse { server: self.server.clone(), job: lease.job.clone() };
        let share = purse.run().await?.map(|_| WorkerPurse::share(purse));
        prepared.purse.clone_from(&share);
        prepared.is_attachable = self.is_open;
        let journal = prepared.spec().journal.clone();
        let stop = Arc::new(SessionStopper::default());
        let (tell, mut ended) = oneshot::channel();
        let own = Arc::clone(&stop);
        let work = move || {
            let ran = follow(prepared, Vec::new(), &own, |_| true);
            if let (Ok(ran), Some(share)) = (&ran, &share) {
                share.settle(ran.state.dollars_spent());
            }
            let end = ran.map(|ran| JobEnd::of(ran.state, None));
            // The receiver may be gone.
            let _ = tell.send(end);
        };
        let started = std::thread::Builder::new().name("session".to_owned()).spawn(work);
        started.map_err(|error| NatsError::Failed(error.to_string()))?;
        let mut leaving = self.leaving.clone();
        let leave = async {
            if leaving.wait_for(|leaving| *leaving).await.is_ok() {
                stop.stop();
            }
            std::future::pending::<()>().await;
        };
        let offer = async {
            if let (true, JournalChoice::File(journal)) = (self.is_open, journal)
                && let Err(error) = offer(&self.server, &lease.job, &journal).await
            {
                tracing::info!(%error, "nobody reaches the session");
            }
            std::future::pending::<()>().await;
        };
        let copied = tokio::select! {
            copied = copy(writer, lines, after, &state) => copied,
            () = leave => Ok(()),
            () = offer => Ok(()),
        };
        if let Err(error) = copied {
            let why = error.to_string();
            state.send_modify(|state| state.lost = Some(why));
            stop.stop();
            // Its tools end before another worker's begin, as far as that is in our hands.
            let _ = ended.await;
            return Err(error);
        }
        Ok(match (&mut ended).await {
            Ok(Ok(Ok(JobEnd::Stopped))) if *self.leaving.borrow() => SessionEnd::StandsStill,
            Ok(Ok(Ok(JobEnd::Done(_)))) => SessionEnd::Ended(ResultEnd::Done),
            Ok(Ok(_)) => SessionEnd::Ended(ResultEnd::Stopped),
            Ok(Err(error)) => SessionEnd::Broke(error.to_string()),
            Err(_) => SessionEnd::Broke("its thread panicked".to_owned()),
        })
    }
}

/// Sends the lines of a journal to the server as they come, until the journal is closed.
async fn copy(
    writer: &mut JournalWriter,
    mut lines: mpsc::UnboundedReceiver<CopiedLine>,
    after: u64,
    state: &watch::Sender<CopyState>,
) -> Result<(), NatsError> {
    while let Some(mut line) = lines.recv().await {
        let (mut bytes, mut last) = (Vec::new(), 0);
        loop {
            if line.n == 0 {
                // The spec has paths of this machine. Each reader has a spec of its own.
                let header = serde_json::from_str::<Header>(&line.json)
                    .and_then(|header| serde_json::to_vec(&Header { spec: None, ..header }));
                let header = header.map_err(|error| NatsError::Failed(error.to_string()))?.into();
                writer.append(Entry::Begin { after, header }).await?;
            } else {
                bytes.extend_from_slice(line.json.as_bytes());
                bytes.push(b'\n');
                last = line.n;
            }
            match lines.try_recv() {
                Ok(next) if bytes.len() < MESSAGE => line = next,
                Ok(next) => {
                    writer.lines(std::mem::take(&mut bytes)).await?;
                    line = next;
                }
                Err(_) => break,
            }
        }
        writer.lines(bytes).await?;
        state.send_modify(|state| state.last = state.last.max(last));
    }
    Ok(())
}
