//! The purse of a run for a session, which does not know that it is elsewhere.

use std::sync::{Arc, mpsc};

use tokio::runtime::Handle;
use toolyard_nats::JobPurse;

use crate::engine::{PurseShare, SharedPurse};

/// A part of a purse on a server. The thread of a session waits for each answer.
#[derive(Debug)]
pub struct WorkerPurse {
    purse: JobPurse,
    runtime: Handle,
}

impl WorkerPurse {
    /// The part of a job, from within the runtime that reaches the server.
    pub fn share(purse: JobPurse) -> PurseShare {
        PurseShare::of(Arc::new(Self { purse, runtime: Handle::current() }), 0)
    }

    fn wait<R: Send + 'static>(&self, ask: impl Future<Output = R> + Send + 'static) -> Option<R> {
        let (tell, told) = mpsc::sync_channel(1);
        self.runtime.spawn(async move { drop(tell.send(ask.await)) });
        told.recv().ok()
    }
}

impl SharedPurse for WorkerPurse {
    fn reserve(&self, _: usize, taken: f64, next: Option<f64>) -> Result<(), f64> {
        let purse = self.purse.clone();
        let reserved = self.wait(async move { purse.reserve(taken, next).await });
        reserved.unwrap_or(Err(f64::INFINITY))
    }

    fn taken(&self) -> f64 {
        let purse = self.purse.clone();
        let found = self.wait(async move { purse.state().await });
        found.and_then(Result::ok).map_or(0.0, |state| state.taken())
    }

    fn most(&self) -> f64 {
        let purse = self.purse.clone();
        let found = self.wait(async move { purse.state().await });
        found.and_then(Result::ok).map_or(0.0, |state| state.most)
    }

    fn settle(&self, _: usize, spent: f64) {
        let purse = self.purse.clone();
        self.wait(async move { purse.settle(spent).await });
    }
}
