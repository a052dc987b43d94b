//! The report of one batch of training.

/// One batch. Its effect on the heads is in them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trained<N> {
    /// From 0.
    pub epoch: usize,
    /// From 0 in each epoch.
    pub batch: usize,
    /// Batches of an epoch.
    pub batches: usize,
    /// The mean over the batch, in nats, before the step.
    pub loss: f64,
    /// Norms of the gradients before clipping, if the optimiser stepped.
    pub norms: Option<N>,
}

impl<N> Trained<N> {
    /// Whether this was the last batch of its epoch: the moment to measure on dev.
    pub fn ends_epoch(&self) -> bool {
        self.batch + 1 == self.batches
    }
}
