//! Dollars for all jobs of a run, wherever they are: each reserves the price of a call before it makes it.

use std::collections::BTreeMap;
use std::fmt;

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use serde::{Deserialize, Serialize};

use super::{JobServer, NatsError};

/// The dollars of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PurseState {
    pub most: f64,
    /// Dollars that were spent before the run, by sessions that do not run again.
    before: f64,
    /// Dollars that each job has spent or reserved.
    jobs: BTreeMap<String, f64>,
}

impl PurseState {
    /// A purse of which so much is spent.
    pub fn new(most: f64, before: f64) -> Self {
        Self { most, before, jobs: BTreeMap::new() }
    }

    /// Dollars that are spent or reserved.
    pub fn taken(&self) -> f64 {
        self.before + self.jobs.values().sum::<f64>()
    }

    /// Reserves `next` dollars for a job that has taken so many; `None`: an unknown price, for which something must be left.
    fn reserve(&mut self, job: &str, taken: f64, next: Option<f64>) -> Result<(), f64> {
        self.settle(job, taken);
        let all = self.taken();
        let fits = match next {
            Some(next) => all + next <= self.most,
            None => all < self.most || all == 0.0,
        };
        if !fits {
            return Err(all);
        }
        self.settle(job, taken + next.unwrap_or_default());
        Ok(())
    }

    /// Notes what a job has spent, however often.
    fn settle(&mut self, job: &str, spent: f64) {
        self.jobs.insert(job.to_owned(), spent);
    }
}

/// A job's part of the purse of the run that asked for it last.
#[derive(Clone)]
pub struct JobPurse {
    pub server: JobServer,
    pub job: String,
}

impl JobPurse {
    /// Makes the purse of a run.
    ///
    /// # Errors
    /// The server does not take it.
    pub async fn make(server: &JobServer, run: &str, state: &PurseState) -> Result<(), NatsError> {
        match put(server, run, state, 0).await {
            Err(NatsError::Lost) => Ok(()),
            made => made,
        }
    }

    /// Gives the job a part of the purse of this run, and of no other, with what it has taken before.
    ///
    /// # Errors
    /// The server does not take it.
    pub async fn join(&self, run: &str) -> Result<(), NatsError> {
        let before = match self.get().await {
            Ok((_, of, _)) if of == run => return Ok(()),
            Ok((state, ..)) => state.jobs.get(&self.job).copied(),
            Err(_) => None,
        };
        let message = PublishMessage::build().payload(run.to_owned().into());
        let message = message.message_id(self.server.client.new_inbox());
        self.server.publish(format!("purse.of-{}", self.job), message).await?;
        match before {
            Some(before) => self.change(|state| state.settle(&self.job, before)).await,
            None => Ok(()),
        }
    }

    /// The run of whose purse the job has a part; `None`: of none.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn run(&self) -> Result<Option<String>, NatsError> {
        let subject = format!("purse.of-{}", self.job);
        match self.server.results.get_last_raw_message_by_subject(&subject).await {
            Ok(found) => Ok(Some(String::from_utf8_lossy(&found.payload).into_owned())),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(NatsError::of("the purse", error)),
        }
    }

    /// The purse as it is, its run, and the number of its message.
    ///
    /// # Errors
    /// The server does not answer, or there is no purse.
    async fn get(&self) -> Result<(PurseState, String, u64), NatsError> {
        let run = self.run().await?;
        let run = run.ok_or_else(|| NatsError::Failed("no purse".to_owned()))?;
        let subject = format!("purse.{run}");
        let found = self.server.results.get_last_raw_message_by_subject(&subject).await;
        let found = found.map_err(|error| NatsError::of("the purse", error))?;
        let state = serde_json::from_slice(&found.payload);
        Ok((state.map_err(|error| NatsError::of("the purse", error))?, run, found.sequence))
    }

    /// The purse as it is.
    ///
    /// # Errors
    /// The server does not answer, or there is no purse.
    pub async fn state(&self) -> Result<PurseState, NatsError> {
        Ok(self.get().await?.0)
    }

    /// Changes the purse as if nobody else did.
    async fn change<R>(
        &self,
        mut change: impl FnMut(&mut PurseState) -> R,
    ) -> Result<R, NatsError> {
        loop {
            let (mut state, run, last) = match self.get().await {
                Ok(found) => found,
                // The server may be gone for a while.
                Err(_) => {
                    tokio::time::sleep(super::server::BETWEEN).await;
                    continue;
                }
            };
            let changed = change(&mut state);
            match put(&self.server, &run, &state, last).await {
                Err(NatsError::Lost) => {}
                put => return put.map(|()| changed),
            }
        }
    }

    /// Reserves dollars for the next call.
    ///
    /// # Errors
    /// All jobs together would have more than there is: the dollars that they have.
    pub async fn reserve(&self, taken: f64, next: Option<f64>) -> Result<(), f64> {
        let reserved = self.change(|state| state.reserve(&self.job, taken, next)).await;
        reserved.unwrap_or(Err(f64::INFINITY))
    }

    /// Notes what the job has spent.
    pub async fn settle(&self, spent: f64) {
        // Without it, what was reserved stays taken.
        let _ = self.change(|state| state.settle(&self.job, spent)).await;
    }
}

async fn put(
    server: &JobServer,
    run: &str,
    state: &PurseState,
    last: u64,
) -> Result<(), NatsError> {
    let payload = serde_json::to_vec(state).map_err(|error| NatsError::of("purse", error))?;
    let message = PublishMessage::build().payload(payload.into());
    let message = message.message_id(server.client.new_inbox());
    let message = message.expected_last_subject_sequence(last);
    server.publish(format!("purse.{run}"), message).await.map(drop)
}

impl fmt::Debug for JobPurse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobPurse of {}", self.job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_job_takes_what_another_has_reserved_and_nothing_counts_twice() {
        let mut purse = PurseState::new(1.0, 0.0);
        assert_eq!(purse.reserve("a", 0.0, Some(0.5)), Ok(()));
        assert_eq!(purse.reserve("b", 0.25, Some(0.5)), Err(0.75));
        assert_eq!(purse.reserve("b", 0.25, Some(0.25)), Ok(()), "all may be spent");
        // The next worker knows what was spent, and not what was reserved.
        assert_eq!(purse.reserve("a", 0.1, Some(0.1)), Ok(()));
        for _ in 0..2 {
            purse.settle("b", 0.25);
            purse.settle("a", 0.2);
        }
        assert!((purse.taken() - 0.45).abs() < 1e-9, "{purse:?}");
    }
}
