//! Dollars for all jobs of a run, wherever they are: each reserves the price of a call before it makes it.

use std::collections::BTreeMap;
use std::fmt;

use async_nats::jetstream::message::PublishMessage;
use serde::{Deserialize, Serialize};

use super::{JobServer, NatsError};

/// The dollars of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PurseState {
    pub most: f64,
    /// What ended jobs have spent.
    spent: f64,
    /// What each other job has spent or reserved.
    open: BTreeMap<String, f64>,
}

impl PurseState {
    /// A purse of which so much is spent.
    pub fn new(most: f64, spent: f64) -> Self {
        Self { most, spent, open: BTreeMap::new() }
    }

    /// Dollars that are spent or reserved.
    pub fn taken(&self) -> f64 {
        self.spent + self.open.values().sum::<f64>()
    }

    /// Reserves `next` dollars for a job that has taken so many; `None`: an unknown price, for which something must be left.
    fn reserve(&mut self, job: &str, taken: f64, next: Option<f64>) -> Result<(), f64> {
        self.open.insert(job.to_owned(), taken);
        let all = self.taken();
        let fits = match next {
            Some(next) => all + next <= self.most,
            None => all < self.most || all == 0.0,
        };
        if !fits {
            return Err(all);
        }
        self.open.insert(job.to_owned(), taken + next.unwrap_or_default());
        Ok(())
    }

    /// Notes what a job has spent when it has ended.
    fn settle(&mut self, job: &str, spent: f64) {
        self.open.remove(job);
        self.spent += spent;
    }
}

/// A job's part of a purse.
#[derive(Clone)]
pub struct JobPurse {
    pub server: JobServer,
    pub run: String,
    pub job: String,
}

impl JobPurse {
    /// Makes the purse, unless it is there.
    ///
    /// # Errors
    /// The server does not answer.
    pub async fn make(&self, state: &PurseState) -> Result<(), NatsError> {
        match self.put(state, 0).await {
            Err(NatsError::Lost) => Ok(()),
            made => made,
        }
    }

    async fn put(&self, state: &PurseState, last: u64) -> Result<(), NatsError> {
        let payload = serde_json::to_vec(state).map_err(|error| NatsError::of("purse", error))?;
        let message = PublishMessage::build().payload(payload.into());
        let message = message.message_id(self.server.client.new_inbox());
        let message = message.expected_last_subject_sequence(last);
        self.server.publish(format!("purse.{}", self.run), message).await.map(drop)
    }

    /// The purse as it is, and the number of its message.
    ///
    /// # Errors
    /// The server does not answer, or there is no such purse.
    pub async fn get(&self) -> Result<(PurseState, u64), NatsError> {
        let subject = format!("purse.{}", self.run);
        let found = self.server.results.get_last_raw_message_by_subject(&subject).await;
        let found = found.map_err(|error| NatsError::of("the purse", error))?;
        let state = serde_json::from_slice(&found.payload);
        Ok((state.map_err(|error| NatsError::of("the purse", error))?, found.sequence))
    }

    /// Changes the purse as if nobody else did.
    async fn change<R>(
        &self,
        mut change: impl FnMut(&mut PurseState) -> R,
    ) -> Result<R, NatsError> {
        loop {
            let (mut state, last) = match self.get().await {
                Ok(found) => found,
                // The server may be gone for a while.
                Err(_) => {
                    tokio::time::sleep(super::server::BETWEEN).await;
                    continue;
                }
            };
            let changed = change(&mut state);
            match self.put(&state, last).await {
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

    /// Notes what the job has spent when it has ended.
    pub async fn settle(&self, spent: f64) {
        // Without it, what was reserved stays taken.
        let _ = self.change(|state| state.settle(&self.job, spent)).await;
    }
}

impl fmt::Debug for JobPurse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobPurse of {} in {}", self.job, self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_job_takes_what_another_has_reserved_and_a_worker_that_died_counts_once() {
        let mut purse = PurseState::new(1.0, 0.0);
        assert_eq!(purse.reserve("a", 0.0, Some(0.5)), Ok(()));
        assert_eq!(purse.reserve("b", 0.25, Some(0.5)), Err(0.75));
        assert_eq!(purse.reserve("b", 0.25, Some(0.25)), Ok(()), "all may be spent");
        // The next worker knows what was spent, and not what was reserved.
        assert_eq!(purse.reserve("a", 0.1, Some(0.1)), Ok(()));
        purse.settle("b", 0.25);
        purse.settle("a", 0.2);
        assert!((purse.taken() - 0.45).abs() < 1e-9, "{purse:?}");
    }
}
