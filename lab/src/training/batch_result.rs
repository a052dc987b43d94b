//! The report of one batch of training.

/// The report of one batch. The heads already include its effect.
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

/// The heads of the epoch with the best figure on dev questions. Test questions never choose.
#[derive(Clone, Debug)]
pub struct Best<H> {
    /// Epochs that were offered.
    pub epochs: usize,
    /// The epoch from 0, its figure and its heads.
    pub best: Option<(usize, f64, H)>,
}

impl<H> Default for Best<H> {
    fn default() -> Self {
        Self { epochs: 0, best: None }
    }
}

impl<H: Clone> Best<H> {
    /// Offers the heads after another epoch, with a figure that is better if it is higher. Of equal epochs the first is
    /// kept.
    pub fn offer(&mut self, heads: &H, figure: f64) {
        if self.best.as_ref().is_none_or(|(_, best, _)| figure > *best) {
            self.best = Some((self.epochs, figure, heads.clone()));
        }
        self.epochs += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Best;

    #[test]
    fn the_first_of_the_best_epochs_is_kept() {
        let mut best = Best::default();
        for (heads, figure) in [("a", 0.5), ("b", 0.7), ("c", 0.7), ("d", f64::NAN)] {
            best.offer(&heads, figure);
        }
        assert_eq!((best.epochs, best.best), (4, Some((1, 0.7, "b"))));
    }
}
