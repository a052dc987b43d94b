//! Looking into a session that runs elsewhere: its journal grows in a file here, as if it ran on this machine.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use futures::StreamExt;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use toolyard_nats::{Entry, JobServer, NatsAddress, NatsError};

use super::failed;
use crate::serve;
use crate::session::SessionError;
use crate::shell::litter;
use crate::shell::out::warn;

/// A session of another machine.
pub struct Look {
    /// The file in which its journal grows.
    pub journal: PathBuf,
    /// Signals that it has grown.
    pub grown: Receiver<()>,
    server: JobServer,
    job: String,
    runtime: Runtime,
    _folder: TempDir,
}

/// Whether a text is the address of a job, and no file.
pub fn is_address(text: &Path) -> bool {
    text.to_str().is_some_and(|text| text.starts_with("nats://") || text.starts_with("tls://"))
}

impl Look {
    /// Opens the journal of the job with this address, once it has an event.
    ///
    /// # Errors
    /// The server cannot be used, or no worker has begun the job.
    pub fn open(address: &Path) -> Result<Self, SessionError> {
        let text = address.to_string_lossy();
        let (address, job) = NatsAddress::with_job(&text).map_err(SessionError::input)?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(SessionError::failed)?;
        let folder = litter::folder().map_err(SessionError::failed)?;
        let journal = folder.path().join(format!("{job}.jsonl"));
        let (wake, grown) = sync_channel(1);
        let server = runtime.block_on(async {
            let tell = Arc::new(|text: &str| warn(text));
            let server = JobServer::connect(address, false, tell).await.map_err(failed)?;
            if server.journal(&job, 0).await.map_err(failed)?.sessions().is_empty() {
                let text = format!(
                    "{server}: no worker has begun a job {job}; toolyard jobs lists them",
                    server = server.address
                );
                return Err(SessionError::failed(text));
            }
            let entries = server.entries(&job).await.map_err(failed)?;
            let mut file = GrowingFile::new(&journal).map_err(SessionError::failed)?;
            tokio::spawn(async move {
                let mut entries = std::pin::pin!(entries);
                while let Some(Ok(entry)) = entries.next().await {
                    if file.take(entry, &wake).is_err() {
                        return;
                    }
                }
            });
            Ok::<_, SessionError>(server)
        })?;
        grown.recv().map_err(SessionError::failed)?;
        Ok(Self { journal, grown, server, job, runtime, _folder: folder })
    }

    /// Opens a socket beside the journal, by which screens reach the session where it runs.
    ///
    /// # Errors
    /// No worker offers it, or there is no place for a socket.
    pub fn control(&self) -> Result<(), SessionError> {
        let first = self.runtime.block_on(self.server.dial(&self.job)).map_err(failed)?;
        let _within = self.runtime.enter();
        let listener = serve::listen_for(&self.journal).map_err(SessionError::failed)?;
        let (server, job) = (self.server.clone(), self.job.clone());
        self.runtime.spawn(async move {
            let mut next = Some(first);
            while let Ok((line, _)) = listener.accept().await {
                let tunnel = match next.take() {
                    Some(tunnel) => Ok(tunnel),
                    None => server.dial(&job).await,
                };
                match tunnel {
                    Ok(tunnel) => drop(tokio::spawn(tunnel.carry(line))),
                    Err(error) => tracing::info!(%error, "the session is not reached"),
                }
            }
        });
        Ok(())
    }
}

/// The file of a journal that comes in pieces.
struct GrowingFile {
    file: File,
    path: PathBuf,
}

impl GrowingFile {
    fn new(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::create(path)?, path: path.to_owned() })
    }

    fn take(&mut self, entry: Entry, grown: &SyncSender<()>) -> io::Result<()> {
        match entry {
            Entry::Begin { after, header } => {
                // What came behind that event does not count any more. Who has read it is told that the file was cut.
                let text = std::fs::read(&self.path)?;
                let kept = usize::try_from(after).unwrap_or(usize::MAX);
                let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
                let lines = lines.iter().skip(1).take(kept).copied();
                let whole =
                    [&header[..], b"\n"].into_iter().chain(lines).collect::<Vec<_>>().concat();
                self.file = File::create(&self.path)?;
                self.file.write_all(&whole)?;
            }
            Entry::Lines(lines) => {
                self.file.write_all(&lines)?;
                // One signal is enough, however much has come.
                let _ = grown.try_send(());
            }
            Entry::Claim(_) | Entry::Left | Entry::Broke(_) | Entry::Again => {}
        }
        Ok(())
    }
}

/// Carries the screens that dial to the session with this journal, as long as it runs.
///
/// # Errors
/// The server does not answer.
pub async fn offer(server: &JobServer, job: &str, journal: &Path) -> Result<(), NatsError> {
    let mut dialled = std::pin::pin!(server.dialled(job).await?);
    while let Some(tunnel) = dialled.next().await {
        match serve::dial(journal).await {
            Ok(line) => drop(tokio::spawn(tunnel.carry(line))),
            Err(error) => tracing::info!(%error, "a screen does not reach the session"),
        }
    }
    Ok(())
}
