//! The order of examples in training.

use std::ops::Range;

use crate::domain::Chance;

/// The batches of all epochs. Each epoch has a different order, which only the seed determines.
#[derive(Clone, Debug)]
pub struct Batches {
    examples: usize,
    size: usize,
    epochs: usize,
    chance: Chance,
    epoch: usize,
    batch: usize,
    order: Vec<usize>,
}

/// A batch of examples, processed together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// From 0.
    pub epoch: usize,
    /// From 0 in each epoch.
    pub batch: usize,
    /// Batches of an epoch.
    pub batches: usize,
    /// Numbers of the examples.
    pub examples: Vec<usize>,
}

impl Batches {
    /// A size of 0 counts as 1.
    pub fn new(examples: usize, size: usize, epochs: usize, chance: Chance) -> Self {
        let size = size.max(1);
        Self { examples, size, epochs, chance, epoch: 0, batch: 0, order: Vec::new() }
    }

    /// Batches of an epoch.
    pub fn per_epoch(&self) -> usize {
        self.examples.div_ceil(self.size)
    }

    /// The share of all batches that are left when the latest begins: from 1 to just above 0.
    pub fn left(&self) -> f64 {
        let all = (self.per_epoch() * self.epochs).max(1);
        let begun = self.epoch * self.per_epoch() + self.batch;
        (all - begun.saturating_sub(1).min(all)) as f64 / all as f64
    }
}

impl Iterator for Batches {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        let batches = self.per_epoch();
        if self.batch == batches {
            (self.epoch, self.batch) = (self.epoch + 1, 0);
        }
        if self.epoch >= self.epochs || batches == 0 {
            return None;
        }
        if self.batch == 0 {
            let chance = self.chance.with(&(self.epoch as u64).to_le_bytes());
            self.order = shuffled(0..self.examples, chance);
        }
        let start = self.batch * self.size;
        let examples = self.order[start..self.examples.min(start + self.size)].to_vec();
        self.batch += 1;
        Some(Batch { epoch: self.epoch, batch: self.batch - 1, batches, examples })
    }
}

/// Shuffles these numbers (Fisher and Yates).
pub fn shuffled(numbers: Range<usize>, chance: Chance) -> Vec<usize> {
    let mut order: Vec<usize> = numbers.collect();
    for i in (1..order.len()).rev() {
        let draw = chance.with(&(i as u64).to_le_bytes()).unit();
        order.swap(i, ((draw * (i + 1) as f64) as usize).min(i));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_epoch_has_every_example_once_in_another_order() {
        let batches: Vec<_> = Batches::new(10, 4, 3, Chance::new(1)).collect();
        assert_eq!(batches, Batches::new(10, 4, 3, Chance::new(1)).collect::<Vec<_>>());
        assert_eq!(batches.len(), 9);
        let mut orders = Vec::new();
        for epoch in batches.chunks(3) {
            let sizes = epoch.iter().map(|batch| batch.examples.len());
            assert!(sizes.eq([4, 4, 2]));
            let order: Vec<_> = epoch.iter().flat_map(|batch| batch.examples.clone()).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..10));
            orders.push(order);
        }
        assert!(orders[0] != orders[1] && orders[1] != orders[2] && orders[0] != orders[2]);
    }

    #[test]
    fn nothing_gives_no_batches() {
        assert_eq!(Batches::new(0, 4, 3, Chance::new(1)).count(), 0);
        assert_eq!(Batches::new(5, 4, 0, Chance::new(1)).count(), 0);
        assert_eq!(Batches::new(5, 0, 1, Chance::new(1)).count(), 5);
    }
}
