//! The journal of a job: what its workers have written, one after another. Each message names the last one before it, so
//! that a worker whose job another one has taken writes nothing more.

use std::collections::VecDeque;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{DeliverPolicy, pull::OrderedConfig};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::DirectGetErrorKind;
use bytes::Bytes;
use futures::{Stream, StreamExt};
use tokio::time::{Instant, sleep};

use super::server::{BETWEEN, HEADERS};
use super::{Deaths, JobServer, NatsError};

/// The headers of a message: what it is, the worker, and the number of events before it that still count.
const KIND: &str = "Toolyard-Kind";
const WORKER: &str = "Toolyard-Worker";
const AFTER: &str = "Toolyard-After";
/// How long another copy of a stream may be behind.
const BEHIND: Duration = Duration::from_secs(10);
/// The most causes that are kept.
const CAUSES: usize = 3;

/// A message of a journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A worker has taken the job.
    Claim(String),
    /// A session begins with this header, after so many events of the one before.
    Begin { after: u64, header: Bytes },
    /// Lines, or a part of one that is too long for a message.
    Lines(Bytes),
    /// The worker gave the job back, and the session can go on elsewhere.
    Left,
    /// The session broke off: why.
    Broke(String),
    /// A person tries the job again, or has cancelled it: what workers did before counts as no death.
    Again,
}

impl Entry {
    fn of(headers: &HeaderMap, payload: Bytes) -> Self {
        let text = |name| headers.get(name).map(|value| value.as_str().to_owned());
        match text(KIND).as_deref() {
            Some("claim") => Self::Claim(text(WORKER).unwrap_or_default()),
            Some("begin") => {
                let after = text(AFTER).and_then(|after| after.parse().ok());
                Self::Begin { after: after.unwrap_or_default(), header: payload }
            }
            Some("left") => Self::Left,
            Some("broke") => Self::Broke(String::from_utf8_lossy(&payload).into_owned()),
            Some("again") => Self::Again,
            _ => Self::Lines(payload),
        }
    }

    fn message(self, worker: &str) -> PublishMessage {
        let (kind, after, payload) = match self {
            Self::Claim(_) => ("claim", None, Bytes::new()),
            Self::Begin { after, header } => ("begin", Some(after), header),
            Self::Lines(lines) => ("lines", None, lines),
            Self::Left => ("left", None, Bytes::new()),
            Self::Broke(why) => ("broke", None, why.into()),
            Self::Again => ("again", None, Bytes::new()),
        };
        let message = PublishMessage::build().payload(payload);
        let message = message.header(KIND, kind).header(WORKER, worker);
        match after {
            Some(after) => message.header(AFTER, after.to_string().as_str()),
            None => message,
        }
    }
}

/// A session of a job: the first one, or one that went on after another.
#[derive(Clone, Debug, Default, PartialEq)]
struct Part {
    header: Bytes,
    /// The events of the part before with which it begins.
    after: u64,
    lines: Vec<u8>,
}

/// The journal of a job, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobJournal {
    /// The number of the last message, for the next one.
    pub last: u64,
    pub deaths: Deaths,
    parts: Vec<Part>,
}

impl JobJournal {
    /// Adds a message.
    fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Claim(worker) => self.deaths.workers.push(worker),
            Entry::Begin { after, header } => {
                self.parts.push(Part { header, after, ..Part::default() });
            }
            Entry::Lines(lines) => {
                if let Some(part) = self.parts.last_mut() {
                    part.lines.extend_from_slice(&lines);
                }
            }
            Entry::Left => drop(self.deaths.workers.pop()),
            Entry::Broke(why) => {
                self.deaths.causes.push_back(why);
                self.deaths.causes.truncate(CAUSES);
            }
            Entry::Again => self.deaths = Deaths::default(),
        }
    }

    /// The whole journal of each session, without a line that was cut: its header, and the lines of its events.
    pub fn sessions(&self) -> Vec<(Bytes, Vec<u8>)> {
        let mut all: Vec<(Bytes, Vec<u8>)> = Vec::new();
        for part in &self.parts {
            let mut lines = match all.last() {
                Some((_, before)) => first(before, part.after).to_vec(),
                None => Vec::new(),
            };
            // One that only began to go on adds nothing.
            let whole = part.lines.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            if whole == 0 && !all.is_empty() {
                continue;
            }
            lines.extend_from_slice(&part.lines[..whole]);
            all.push((part.header.clone(), lines));
        }
        all
    }
}

/// The first so many lines.
fn first(lines: &[u8], count: u64) -> &[u8] {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let Some(last) = count.checked_sub(1) else { return &[] };
    let ends = lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let end = ends.map(|(at, _)| at + 1).nth(last);
    &lines[..end.unwrap_or(lines.len())]
}

/// Writes a job's journal as the only one that does so.
pub struct JournalWriter {
    server: JobServer,
    job: String,
    worker: String,
    /// The number of the last message.
    pub last: u64,
    /// A text that no other writer has, and the messages of this one.
    id: (String, u64),
}

impl JobServer {
    /// Reads the journal of a job, up to this message if that comes soon.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn journal(&self, job: &str, until: u64) -> Result<JobJournal, NatsError> {
        let (subject, mut journal) = (format!("journal.{job}"), JobJournal::default());
        let began = Instant::now();
        loop {
            let next = Some(journal.last + 1);
            match self.journals.direct_get_next_for_subject(&subject, next).await {
                Ok(message) => {
                    journal.last = message.sequence;
                    journal.take(Entry::of(&message.headers, message.payload));
                }
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => {
                    // Another copy of the stream may be behind.
                    if journal.last >= until || began.elapsed() > BEHIND {
                        return Ok(journal);
                    }
                    sleep(BETWEEN).await;
                }
                Err(error) => return Err(NatsError::of("a journal", error)),
            }
        }
    }

    /// The messages of a job's journal, from the first one on, as they come.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn entries(
        &self,
        job: &str,
    ) -> Result<impl Stream<Item = Result<Entry, NatsError>> + use<>, NatsError> {
        let config = OrderedConfig {
            filter_subject: format!("journal.{job}"),
            deliver_policy: DeliverPolicy::All,
            ..OrderedConfig::default()
        };
        let made = self.journals.create_consumer(config).await;
        let consumer = made.map_err(|error| NatsError::of("a journal", error))?;
        let messages = consumer.messages().await;
        let messages = messages.map_err(|error| NatsError::of("a journal", error))?;
        Ok(messages.map(|message| {
            let message = message.map_err(|error| NatsError::of("a journal", error))?;
            let headers = message.headers.clone().unwrap_or_default();
            Ok(Entry::of(&headers, message.payload.clone()))
        }))
    }

    /// Takes a job whose journal ends with this message.
    ///
    /// # Errors
    /// [`NatsError::Lost`]: another worker was faster.
    pub async fn claim(
        &self,
        job: &str,
        last: u64,
        worker: &str,
    ) -> Result<JournalWriter, NatsError> {
        let mut writer = JournalWriter {
            server: self.clone(),
            job: job.to_owned(),
            worker: worker.to_owned(),
            last,
            id: (self.client.new_inbox(), 0),
        };
        writer.append(Entry::Claim(worker.to_owned())).await?;
        Ok(writer)
    }

    /// Writes into a job's journal, whoever writes it: its worker loses the job.
    pub(crate) async fn write_over(&self, job: &str, entry: Entry) -> Result<(), NatsError> {
        let message = entry.message("").message_id(self.client.new_inbox());
        self.publish(format!("journal.{job}"), message).await.map(drop)
    }

    /// The worker that wrote last into the journal of a job, if it has it still.
    pub(crate) async fn worker_of(&self, job: &str) -> Option<String> {
        let last =
            self.journals.direct_get_last_for_subject(format!("journal.{job}")).await.ok()?;
        let worker = last.headers.get(WORKER)?.as_str().to_owned();
        let entry = Entry::of(&last.headers, Bytes::new());
        (!matches!(entry, Entry::Left | Entry::Again | Entry::Broke(_))).then_some(worker)
    }
}

impl JournalWriter {
    /// Adds a message, and waits until the server has it.
    ///
    /// # Errors
    /// [`NatsError::Lost`]: another worker has the job.
    pub async fn append(&mut self, entry: Entry) -> Result<(), NatsError> {
        self.id.1 += 1;
        let message = entry.message(&self.worker);
        let message = message.expected_last_subject_sequence(self.last);
        let message = message.message_id(format!("{}-{}", self.id.0, self.id.1));
        self.last = self.server.publish(format!("journal.{}", self.job), message).await?;
        Ok(())
    }

    /// Adds lines, in as many messages as they need.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub async fn lines(&mut self, lines: Vec<u8>) -> Result<(), NatsError> {
        let most = self.server.client.max_payload().saturating_sub(HEADERS).max(1);
        let mut rest = VecDeque::from([Bytes::from(lines)]);
        while let Some(mut lines) = rest.pop_front().filter(|lines| !lines.is_empty()) {
            let next = lines.split_off(most.min(lines.len()));
            rest.push_back(next);
            self.append(Entry::Lines(lines)).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(entries: Vec<Entry>) -> JobJournal {
        let mut journal = JobJournal::default();
        entries.into_iter().for_each(|entry| journal.take(entry));
        journal
    }

    fn begin(after: u64, header: &'static str) -> Entry {
        Entry::Begin { after, header: header.into() }
    }

    #[test]
    fn each_session_has_the_past_of_the_one_before() {
        let lines = |text: &'static str| Entry::Lines(text.into());
        let journal = journal(vec![
            Entry::Claim("a".into()),
            begin(0, "A"),
            lines("1\n2\n3"),
            lines("x\n4\ncut"),
            Entry::Claim("b".into()),
            // It died before it wrote a line.
            begin(3, "B"),
            Entry::Claim("c".into()),
            begin(2, "C"),
            lines("5\n"),
        ]);
        let text = |lines: &[u8]| String::from_utf8(lines.to_vec()).unwrap();
        let all = journal.sessions();
        let all: Vec<_> = all.iter().map(|(head, lines)| (&head[..], text(lines))).collect();
        let expected = [(&b"A"[..], "1\n2\n3x\n4\n"), (b"C", "1\n2\n5\n")];
        assert_eq!(all, expected.map(|(head, lines)| (head, lines.to_owned())));
        assert_eq!(journal.deaths.workers, ["a", "b", "c"]);
    }

    #[test]
    fn who_gives_a_job_back_has_not_died_and_a_person_forgives_all() {
        let claim = |name: &str| Entry::Claim(name.into());
        let broke = || Entry::Broke("disk full".into());
        let before = vec![claim("a"), broke(), claim("b"), Entry::Left];
        let found = journal(before.clone()).deaths;
        assert_eq!((found.workers, found.causes), (vec!["a".into()], ["disk full".into()].into()));
        let after = before.into_iter().chain([Entry::Again]).collect();
        assert_eq!(journal(after).deaths, Deaths::default());
    }
}
