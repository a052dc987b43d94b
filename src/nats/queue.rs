//! Jobs that wait, and how they ended.

use std::collections::VecDeque;
use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, pull::OrderedConfig};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{DirectGetErrorKind, LastRawMessageErrorKind};
use async_nats::jetstream::{self, AckKind};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep, timeout};

use super::journal::Entry;
use super::server::{BETWEEN, LEASE, SILENCE};
use super::{JobServer, NatsError};

/// How long the server may take to say that it has a message, before that is sent again.
const PATIENCE: Duration = Duration::from_secs(3);
/// Words of a server about a second job with the same id.
const THERE_ALREADY: &str = "per subject";

/// Workers that took a job and are gone, and why sessions broke off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deaths {
    pub workers: Vec<String>,
    pub causes: VecDeque<String>,
}

/// A job that a worker has.
pub struct Lease {
    pub job: String,
    pub tag: String,
    pub payload: Bytes,
    /// How often it was handed out, from 1.
    pub tries: u32,
    message: jetstream::Message,
}

impl Lease {
    /// Keeps the job for another lease.
    pub async fn prolong(&self) {
        // The next one comes soon.
        let _ = self.message.ack_with(AckKind::Progress).await;
    }

    /// Removes the job from the queue.
    pub async fn done(&self) {
        // Whoever gets it again finds its result.
        let _ = timeout(PATIENCE, self.message.double_ack()).await;
    }

    /// Gives the job back, to be handed out after this time.
    pub async fn back(&self, after: Duration) {
        let _ = self.message.ack_with(AckKind::Nak(Some(after))).await;
    }
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobResult {
    pub job: String,
    pub worker: String,
    /// The version of toolyard that ran it.
    pub version: String,
    pub end: ResultEnd,
    /// The last message of its journal.
    pub journal: u64,
    /// The hash of the file of its past uses, if it keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub past: Option<String>,
    /// The tag of the job, and the job itself where its result is enough to try it again.
    pub tag: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
}

/// Kinds of ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultEnd {
    /// The session has ended by itself.
    Done,
    /// The session was stopped before its tasks had ended, as by the limit of dollars. It can go on.
    Stopped,
    /// Set aside, since its workers died. With the end of its journal.
    Dead {
        deaths: Deaths,
        tail: String,
    },
    Cancelled,
}

/// A job as `toolyard jobs` lists it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedJob {
    pub job: String,
    #[serde(flatten)]
    pub state: JobState,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum JobState {
    Waiting,
    Running {
        worker: String,
    },
    Ended {
        worker: String,
        end: ResultEnd,
    },
    /// With a result that cannot be used: why.
    Wrong {
        why: String,
    },
}

impl JobServer {
    /// Sends a message to a stream until the server has it. Its id makes it one message, however often it is sent.
    pub(crate) async fn publish(
        &self,
        subject: String,
        message: PublishMessage,
    ) -> Result<u64, NatsError> {
        let (began, mut is_told) = (Instant::now(), false);
        loop {
            let send = self.js.send_publish(subject.clone(), message.clone());
            let send = async { send.await?.await };
            let error = match timeout(PATIENCE, send).await {
                Ok(Ok(ack)) => return Ok(ack.sequence),
                Ok(Err(error)) => error,
                Err(_) => continue,
            };
            match error.kind() {
                PublishErrorKind::WrongLastSequence => return Err(NatsError::Lost),
                PublishErrorKind::MaxPayloadExceeded => {
                    let most = self.client.max_payload();
                    return Err(NatsError::TooLong { what: subject, most });
                }
                _ if error.to_string().contains(THERE_ALREADY) => {
                    return Err(NatsError::Failed(error.to_string()));
                }
                // It may be starting, or without room on its disk.
                _ => {
                    if began.elapsed() > SILENCE && !std::mem::replace(&mut is_told, true) {
                        (self.tell)(&format!(
                            "{}: the server takes no messages: {error}; trying again",
                            self.address
                        ));
                    }
                    sleep(BETWEEN).await;
                }
            }
        }
    }

    /// Puts a job into the queue, unless it is there.
    ///
    /// # Errors
    /// The job is too long for a message.
    pub async fn put(&self, tag: &str, job: &str, order: &[u8]) -> Result<(), NatsError> {
        // The result of a job that is set aside has it, too.
        let most = self.client.max_payload() / 4 * 3;
        if order.len() > most {
            let what = format!(
                "job {job}: the settings and tasks of its session have {} bytes",
                order.len()
            );
            return Err(NatsError::TooLong { what, most });
        }
        let message = PublishMessage::build().payload(Bytes::copy_from_slice(order));
        let message = message.message_id(self.client.new_inbox());
        match self.publish(format!("job.{tag}.{job}"), message).await {
            Err(NatsError::Failed(why)) if why.contains(THERE_ALREADY) => Ok(()),
            put => put.map(drop),
        }
    }

    /// Puts a job again that is lost: it is in no queue, or in one that never hands it out (nats-server#7680). False: nobody
    /// takes jobs with this tag.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn put_if_lost(&self, tag: &str, job: &str, order: &[u8]) -> Result<bool, NatsError> {
        if let Some(sequence) = self.waiting(tag, job).await? {
            let consumer = self.consumer(tag).await?;
            let info = consumer.get_info().await.map_err(|error| NatsError::of("the queue", error));
            let info = info?;
            if info.num_pending > 0 || info.num_ack_pending > 0 {
                return Ok(info.num_ack_pending > 0 || info.num_waiting > 0);
            }
            let _ = self.jobs.delete_message(sequence).await;
        }
        self.put(tag, job, order).await.map(|()| true)
    }

    /// The number of a job's message in the queue; `None`: it is not there.
    async fn waiting(&self, tag: &str, job: &str) -> Result<Option<u64>, NatsError> {
        let subject = format!("job.{tag}.{job}");
        match self.jobs.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => Ok(Some(message.sequence)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(NatsError::of("the queue", error)),
        }
    }

    /// Takes a job from the queue unless a worker has begun it.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn take_back(&self, tag: &str, job: &str) -> Result<(), NatsError> {
        if self.journal(job, 0).await?.last == 0
            && let Some(sequence) = self.waiting(tag, job).await?
        {
            let _ = self.jobs.delete_message(sequence).await;
        }
        Ok(())
    }

    /// Takes the next job with this tag, and waits for one for so long.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn take(&self, tag: &str, wait: Duration) -> Result<Option<Lease>, NatsError> {
        let failed = |error: String| NatsError::of("the queue", error);
        let consumer = self.consumer(tag).await?;
        let batch = consumer.fetch().max_messages(1).expires(wait).messages().await;
        let mut batch = batch.map_err(|error| failed(error.to_string()))?;
        let Some(message) = batch.next().await else { return Ok(None) };
        let message = message.map_err(|error| failed(error.to_string()))?;
        let job = message.subject.rsplit('.').next().unwrap_or_default().to_owned();
        let tries = message.info().map_or(1, |info| info.delivered);
        Ok(Some(Lease {
            job,
            tag: tag.to_owned(),
            payload: message.payload.clone(),
            tries: u32::try_from(tries).unwrap_or(1).max(1),
            message,
        }))
    }

    /// Writes the result of a job. False: it has one.
    ///
    /// # Errors
    /// The result is too long for a message.
    pub async fn put_result(&self, job: &str, result: &JobResult) -> Result<bool, NatsError> {
        let payload = serde_json::to_vec(result).map_err(|error| NatsError::of("result", error))?;
        let message = PublishMessage::build().payload(payload.into());
        let message = message.message_id(self.client.new_inbox()).expected_last_subject_sequence(0);
        match self.publish(format!("result.{job}"), message).await {
            Ok(_) => Ok(true),
            Err(NatsError::Lost) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The result of a job, if it has one. What is no result of this version, or of this job, is an error that names it.
    ///
    /// # Errors
    /// The server does not answer, or the result is wrong.
    pub async fn result(&self, job: &str) -> Result<Option<JobResult>, NatsError> {
        let found = self.results.direct_get_last_for_subject(format!("result.{job}")).await;
        let message = match found {
            Ok(message) => message,
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(NatsError::of("a result", error)),
        };
        let again = format!("toolyard jobs --retry {job} removes it");
        let read: Result<JobResult, _> = serde_json::from_slice(&message.payload);
        match read {
            Ok(result) if result.job == job => Ok(Some(result)),
            Ok(result) => Err(NatsError::WrongResult(format!(
                "the result of job {job} says that it is of {}, and is not used; worker: {}; {again}",
                result.job, result.worker
            ))),
            Err(error) => Err(NatsError::WrongResult(format!(
                "the result of job {job} is of another version, or none: {error}; {again}"
            ))),
        }
    }

    /// Calls this with the id of each job that gets a result from now on, until the server is gone for good.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn results(&self, mut hear: impl FnMut(&str)) -> Result<(), NatsError> {
        let config = OrderedConfig {
            filter_subject: "result.*".to_owned(),
            deliver_policy: DeliverPolicy::New,
            headers_only: true,
            ..OrderedConfig::default()
        };
        let failed = |error: String| NatsError::of("results", error);
        let made = self.results.create_consumer(config).await;
        let consumer = made.map_err(|error| failed(error.to_string()))?;
        let messages = consumer.messages().await.map_err(|error| failed(error.to_string()))?;
        let each = messages.try_for_each(|message| {
            hear(message.subject.strip_prefix("result.").unwrap_or_default());
            futures::future::ready(Ok(()))
        });
        each.await.map_err(|error| failed(error.to_string()))
    }

    /// All jobs that are known.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn list(&self) -> Result<Vec<ListedJob>, NatsError> {
        let failed = |error: String| NatsError::of("the jobs", error);
        let mut ids: Vec<String> = Vec::new();
        for (stream, subjects) in [(&self.results, "result.*"), (&self.jobs, "job.*.*")] {
            let found = stream.info_with_subjects(subjects).await;
            let found = found.map_err(|error| failed(error.to_string()))?;
            let all: Vec<_> =
                found.try_collect().await.map_err(|error| failed(error.to_string()))?;
            ids.extend(
                all.iter().filter_map(|(subject, _)| Some(subject.rsplit_once('.')?.1.to_owned())),
            );
        }
        ids.sort_unstable();
        ids.dedup();
        let mut jobs = Vec::new();
        for job in ids {
            let state = match self.result(&job).await {
                Ok(Some(result)) => JobState::Ended { worker: result.worker, end: result.end },
                Ok(None) => match self.worker_of(&job).await {
                    Some(worker) => JobState::Running { worker },
                    None => JobState::Waiting,
                },
                Err(NatsError::WrongResult(why)) => JobState::Wrong { why },
                Err(error) => return Err(error),
            };
            jobs.push(ListedJob { job, state });
        }
        Ok(jobs)
    }

    /// The tag and the order of a job that waits or runs; `None`: there is none.
    async fn order(&self, job: &str) -> Result<Option<(String, Bytes)>, NatsError> {
        let found = self.jobs.info_with_subjects(format!("job.*.{job}")).await;
        let mut found = found.map_err(|error| NatsError::of("the queue", error))?;
        let Some(Ok((subject, _))) = found.next().await else { return Ok(None) };
        let message = self.jobs.get_last_raw_message_by_subject(&subject).await;
        let message = message.map_err(|error| NatsError::of("the queue", error))?;
        let tag = subject.split('.').nth(1).unwrap_or_default();
        Ok(Some((tag.to_owned(), message.payload)))
    }

    /// Cancels a job: nobody begins it, and who runs it loses it.
    ///
    /// # Errors
    /// It has ended, or there is no such job.
    pub async fn cancel(&self, job: &str) -> Result<(), NatsError> {
        let Some((tag, order)) = self.order(job).await? else {
            return Err(NatsError::Failed(format!("job {job} neither waits nor runs")));
        };
        let result = JobResult {
            job: job.to_owned(),
            worker: self.worker_of(job).await.unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            end: ResultEnd::Cancelled,
            journal: 0,
            past: None,
            order: Some(String::from_utf8_lossy(&order).into_owned()),
            tag: tag.clone(),
        };
        if !self.put_result(job, &result).await? {
            return Err(NatsError::Failed(format!("job {job} has ended")));
        }
        self.write_over(job, Entry::Again).await?;
        if let Some(sequence) = self.waiting(&tag, job).await? {
            let _ = self.jobs.delete_message(sequence).await;
        }
        Ok(())
    }

    /// Removes what a job ended with, so that it runs again: from where its journal ends. One that was done loses its
    /// journal, too, and runs when it is asked for again.
    ///
    /// # Errors
    /// It has no result.
    pub async fn retry(&self, job: &str) -> Result<(), NatsError> {
        let result = match self.result(job).await {
            Ok(None) => return Err(NatsError::Failed(format!("job {job} has not ended"))),
            Err(NatsError::WrongResult(_)) => None,
            found => found?,
        };
        if matches!(result, None | Some(JobResult { end: ResultEnd::Done, .. })) {
            self.forget_journal(job).await?;
        }
        self.forget_result(job).await?;
        if let Some(JobResult { tag, order: Some(order), .. }) = result {
            self.put(&tag, job, order.as_bytes()).await?;
        }
        Ok(())
    }

    /// Removes the journal of a job.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn forget_journal(&self, job: &str) -> Result<(), NatsError> {
        let purged = self.journals.purge().filter(format!("journal.{job}")).await;
        purged.map(drop).map_err(|error| NatsError::of("a journal", error))
    }

    /// Removes the result of a job.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn forget_result(&self, job: &str) -> Result<(), NatsError> {
        self.write_over(job, Entry::Again).await?;
        let purged = self.results.purge().filter(format!("result.{job}")).await;
        purged.map(drop).map_err(|error| NatsError::of("a result", error))
    }

    /// Tells those who wait for a job, or for any.
    pub async fn say(&self, text: &str) {
        let _ = self.client.publish("toolyard.said", text.to_owned().into()).await;
    }

    /// Calls this with what workers say from now on.
    pub async fn said(&self, hear: impl Fn(&str)) {
        let Ok(mut said) = self.client.subscribe("toolyard.said").await else { return };
        while let Some(message) = said.next().await {
            hear(&String::from_utf8_lossy(&message.payload));
        }
    }

    /// The time between two signs of life.
    pub const fn beat() -> Duration {
        Duration::from_millis(LEASE.as_millis() as u64 / 4)
    }
}
