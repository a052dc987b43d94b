//! Bytes both ways between a person and the session of a job.

use std::time::Duration;

use async_nats::{Client, Subscriber};
use bytes::BytesMut;
use futures::{Stream, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::{JobServer, NatsError};

/// How long a worker may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a message, at most.
const MESSAGE: usize = 32 << 10;
/// The beginning of subjects that only one side listens to.
const INBOX: &str = "_INBOX.";

/// An end of a tunnel. An empty message closes it.
pub struct Tunnel {
    client: Client,
    to: String,
    from: Subscriber,
}

impl JobServer {
    /// A tunnel to the session of a job.
    ///
    /// # Errors
    /// No worker offers one.
    pub async fn dial(&self, job: &str) -> Result<Tunnel, NatsError> {
        let own = self.client.new_inbox();
        let from = self.client.subscribe(own.clone()).await;
        let from = from.map_err(|error| NatsError::of("attach", error))?;
        let asked = self.client.request(format!("attach.{job}"), own.into());
        let nobody = || {
            NatsError::Failed(format!(
                "job {job}: no worker with --control runs it now; toolyard follow shows what there is of it"
            ))
        };
        let answer = timeout(PATIENCE, asked).await.map_err(|_| nobody())?.map_err(|_| nobody())?;
        let to = String::from_utf8_lossy(&answer.payload).into_owned();
        Ok(Tunnel { client: self.client.clone(), to, from })
    }

    /// The tunnels that others dial to the session of this job.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn dialled(
        &self,
        job: &str,
    ) -> Result<impl Stream<Item = Tunnel> + use<>, NatsError> {
        let asked = self.client.subscribe(format!("attach.{job}")).await;
        let asked = asked.map_err(|error| NatsError::of("attach", error))?;
        let client = self.client.clone();
        Ok(asked.filter_map(move |message| {
            let client = client.clone();
            async move {
                let to = String::from_utf8(message.payload.to_vec()).ok();
                // Nobody leads this side to a stream.
                let to = to.filter(|to| to.starts_with(INBOX))?;
                let own = client.new_inbox();
                let from = client.subscribe(own.clone()).await.ok()?;
                client.publish(message.reply?, own.into()).await.ok()?;
                Some(Tunnel { client, to, from })
            }
        }))
    }
}

impl Tunnel {
    /// Carries the bytes of a connection until one side ends.
    pub async fn carry(mut self, mut line: impl AsyncRead + AsyncWrite + Unpin) {
        let mut bytes = BytesMut::with_capacity(MESSAGE);
        loop {
            tokio::select! {
                read = line.read_buf(&mut bytes) => {
                    if !read.is_ok_and(|read| read > 0) {
                        break;
                    }
                    if self.client.publish(self.to.clone(), bytes.split().freeze()).await.is_err() {
                        return;
                    }
                    bytes.reserve(MESSAGE);
                }
                message = self.from.next() => {
                    let Some(message) = message.filter(|message| !message.payload.is_empty()) else {
                        return;
                    };
                    if line.write_all(&message.payload).await.is_err() {
                        break;
                    }
                }
            }
        }
        let _ = self.client.publish(self.to, "".into()).await;
    }
}
