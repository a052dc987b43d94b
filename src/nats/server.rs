//! A connection, the streams, and files by the hash of their content.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::object_store::{self, InfoErrorKind, ObjectStore};
use async_nats::jetstream::stream::{Compression, Config, DiscardPolicy, RetentionPolicy, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectErrorKind, Event};
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::{NatsAddress, NatsError, OLDEST};

/// How long a worker has a job without a sign of life.
pub const LEASE: Duration = Duration::from_secs(10);
/// How long a server may be gone before that is said, or before a first connection fails.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);
/// Time between two tries of what a server that starts may refuse.
pub(crate) const BETWEEN: Duration = Duration::from_millis(200);
/// How long results, journals and files are kept.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
/// The most jobs for which workers have leases.
const MOST_LEASES: i64 = 100_000;
/// Bytes of a piece of a file, at most, and those that headers may take of a message.
const CHUNK: usize = 128 << 10;
pub(crate) const HEADERS: usize = 2048;
/// The name of the store for files.
const FILES: &str = "toolyard-files";

/// Hears what a person should know.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// A server, with the streams of toolyard.
#[derive(Clone)]
pub struct JobServer {
    pub address: NatsAddress,
    pub(crate) client: Client,
    pub(crate) js: Context,
    pub(crate) jobs: Stream,
    pub(crate) journals: Stream,
    pub(crate) results: Stream,
    pub(crate) tell: Tell,
    files: ObjectStore,
}

impl JobServer {
    /// Connects, and makes the streams that are missing. `waits`: a server that does not answer yet is waited for. Later the
    /// connection comes back by itself; `tell` hears that it is gone, and that it is back.
    ///
    /// # Errors
    /// The server does not answer, is too old, has no JetStream, or has streams of these names with other settings.
    pub async fn connect(address: NatsAddress, waits: bool, tell: Tell) -> Result<Self, NatsError> {
        let (here, is_here) = watch::channel(true);
        let options = address.options()?.event_callback(move |event| {
            match event {
                Event::Connected => drop(here.send(true)),
                Event::Disconnected => drop(here.send(false)),
                _ => {}
            }
            async {}
        });
        let (began, mut told) = (Instant::now(), false);
        let shown = || address.to_string();
        let client = loop {
            let error = match options.clone().connect(address.servers.clone()).await {
                Ok(client) => break client,
                Err(error) => error,
            };
            if error.kind() == ConnectErrorKind::AuthorizationViolation {
                return Err(NatsError::Refused { address: shown() });
            }
            if began.elapsed() > SILENCE && !std::mem::replace(&mut told, true) {
                if !waits {
                    return Err(NatsError::Unreachable {
                        address: shown(),
                        why: error.to_string(),
                    });
                }
                tell(&format!("{address}: no NATS server answers; waiting"));
            }
            sleep(BETWEEN).await;
        };
        tokio::spawn(say_when_gone(is_here, address.to_string(), Arc::clone(&tell)));
        let info = client.server_info();
        if !is_new_enough(&info.version) {
            return Err(NatsError::TooOld { address: shown(), found: info.version });
        }
        let js = jetstream::new(client.clone());
        if let Err(error) = js.query_account().await {
            return Err(NatsError::NoJetStream { address: shown(), why: error.to_string() });
        }
        let stream = |name: &str, subjects: &[&str]| Config {
            name: format!("toolyard-{name}"),
            subjects: subjects.iter().map(|subject| (*subject).to_owned()).collect(),
            max_age: KEPT,
            allow_direct: true,
            compression: Some(Compression::S2),
            ..Config::default()
        };
        let jobs = Config {
            retention: RetentionPolicy::WorkQueue,
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            ..stream("jobs", &["job.*.*"])
        };
        let results =
            Config { max_messages_per_subject: 1, ..stream("results", &["result.*", "purse.*"]) };
        let mut made = Vec::new();
        for config in [jobs, stream("journals", &["journal.*"]), results] {
            made.push(expect_stream(&js, &address, config).await?);
        }
        let files = match js.get_object_store(FILES).await {
            Ok(files) => files,
            Err(_) => {
                let config = object_store::Config {
                    bucket: FILES.to_owned(),
                    max_age: KEPT,
                    ..object_store::Config::default()
                };
                let made = js.create_object_store(config).await;
                made.map_err(|error| NatsError::of("the store for files", error))?
            }
        };
        let [jobs, journals, results] = <[Stream; 3]>::try_from(made)
            .map_err(|_| NatsError::Failed("three streams".to_owned()))?;
        Ok(Self { address, client, js, jobs, journals, results, tell, files })
    }

    /// The consumer of jobs with this tag.
    pub(crate) async fn consumer(&self, tag: &str) -> Result<PullConsumer, NatsError> {
        let name = format!("workers-{tag}");
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: format!("job.{tag}.*"),
            ack_policy: AckPolicy::Explicit,
            ack_wait: LEASE,
            max_ack_pending: MOST_LEASES,
            ..pull::Config::default()
        };
        let made = self.jobs.get_or_create_consumer(&name, config).await;
        made.map_err(|error| NatsError::of("the queue", error))
    }

    /// Whether the server has a file with this hash.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn has_file(&self, hash: &str) -> Result<bool, NatsError> {
        match self.files.info(hash).await {
            Ok(info) => Ok(!info.deleted),
            Err(error) if error.kind() == InfoErrorKind::NotFound => Ok(false),
            Err(error) => Err(NatsError::of("a file", error)),
        }
    }

    /// Puts a file there, by its hash.
    ///
    /// # Errors
    /// The server does not take it.
    pub async fn put_file(&self, hash: &str, mut bytes: &[u8]) -> Result<(), NatsError> {
        let most = self.client.max_payload().saturating_sub(HEADERS).min(CHUNK);
        let about = object_store::ObjectMetadata {
            name: hash.to_owned(),
            chunk_size: Some(most),
            ..object_store::ObjectMetadata::default()
        };
        let put = self.files.put(about, &mut bytes).await;
        put.map(drop).map_err(|error| NatsError::of("a file was not taken", error))
    }

    /// The file with this hash.
    ///
    /// # Errors
    /// It is not there.
    pub async fn file(&self, hash: &str) -> Result<Vec<u8>, NatsError> {
        let mut bytes = Vec::new();
        let got = self.files.get(hash).await.map_err(|error| NatsError::of("a file", error));
        let read = got?.read_to_end(&mut bytes).await;
        read.map_err(|error| NatsError::of("a file", error))?;
        Ok(bytes)
    }

    /// Waits until all that was sent has left.
    pub async fn close(&self) {
        let _ = timeout(SILENCE, self.client.flush()).await;
    }
}

/// Says when the server is gone for long, and when it is back.
async fn say_when_gone(mut here: watch::Receiver<bool>, address: String, tell: Tell) {
    loop {
        if here.wait_for(|here| !here).await.is_err() {
            return;
        }
        if timeout(SILENCE, here.wait_for(|here| *here)).await.is_ok() {
            continue;
        }
        tell(&format!("{address}: the server is gone; waiting until it is back"));
        if here.wait_for(|here| *here).await.is_err() {
            return;
        }
        tell(&format!("{address}: the server is back"));
    }
}

fn is_new_enough(version: &str) -> bool {
    let parts = |text: &str| -> Vec<u32> {
        let number = |part: &str| part.split('-').next().and_then(|part| part.parse().ok());
        text.split('.').map_while(number).collect()
    };
    parts(version) >= parts(OLDEST)
}

/// The stream with these settings, which is made where it is missing.
async fn expect_stream(
    js: &Context,
    address: &NatsAddress,
    config: Config,
) -> Result<Stream, NatsError> {
    let made = js.get_or_create_stream(config.clone()).await;
    let stream = made.map_err(|error| NatsError::of(&format!("stream {}", config.name), error))?;
    let found = &stream.cached_info().config;
    let said = |it: &Config| {
        let Config { subjects, retention, discard, max_messages_per_subject: most, .. } = it;
        let most = if *most < 1 { -1 } else { *most };
        format!("subjects {subjects:?}, retention {retention:?}, discard {discard:?}, max_msgs_per_subject {most}")
            .to_lowercase()
    };
    // Where copies of it are, and how long it keeps messages, is the business of whoever runs the server.
    match (said(found), said(&config)) {
        (found, needed) if found != needed => Err(NatsError::OtherSettings {
            address: address.to_string(),
            stream: config.name,
            found,
            needed,
        }),
        _ if !found.allow_direct => Err(NatsError::OtherSettings {
            address: address.to_string(),
            stream: config.name,
            found: "allow_direct off".to_owned(),
            needed: "allow_direct on".to_owned(),
        }),
        _ => Ok(stream),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_servers_are_numbers() {
        for (version, is_new) in [
            ("2.10.0", true),
            ("2.9.24", false),
            ("2.15.1", true),
            ("3.0.0-RC.1", true),
            ("", false),
        ] {
            assert_eq!(is_new_enough(version), is_new, "{version}");
        }
    }
}
