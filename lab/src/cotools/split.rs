//! Splits a set into records for training, records for choosing the epoch, and records for figures. Only text and seed
//! decide, so training and measuring agree without a list.

use crate::data::{DataSet, Record};
use crate::domain::Chance;
use crate::papers::cotools::Use;
use crate::training::shuffled;

/// The share of dev questions for choosing the epoch, if a set has questions to train on.
const CHOOSE_DEV: f64 = 0.2;
/// The share of training records for choosing the epoch otherwise.
const CHOOSE_TRAIN: f64 = 0.1;
/// The share of records for figures, if a set has only dev records.
const LEAVE: f64 = 0.3;

/// Parts of a set without a common record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Split<'a> {
    pub train: Vec<&'a Record>,
    pub choice: Vec<&'a Record>,
    pub left: Vec<&'a Record>,
}

/// The parts of a set for this use.
pub fn split(data: &DataSet, of: Use, seed: u64) -> Split<'_> {
    let draw =
        |record: &Record| Chance::new(seed).with(b"split").with(record.text.as_bytes()).unit();
    let (train, dev) = (data.train.iter(), data.dev.iter());
    if data.train.is_empty() {
        let (left, rest): (Vec<_>, Vec<_>) = dev.partition(|record| draw(record) < LEAVE);
        let (choice, train) =
            rest.into_iter().partition(|record| draw(record) < LEAVE + CHOOSE_TRAIN);
        return Split { train, choice, left };
    }
    if of == Use::Question {
        let (choice, left) = dev.partition(|record| draw(record) < CHOOSE_DEV);
        return Split { train: train.collect(), choice, left };
    }
    let (choice, train) = train.partition(|record| draw(record) < CHOOSE_TRAIN);
    Split { train, choice, left: dev.collect() }
}

/// At most `most` records, in an order that only the seed decides.
pub fn some<'a>(records: &[&'a Record], seed: u64, most: usize) -> Vec<&'a Record> {
    let order = shuffled(0..records.len(), Chance::new(seed).with(b"some"));
    order.into_iter().take(most).map(|place| records[place]).collect()
}

/// Random tools of training records that training leaves out, so that heads must generalise to them.
pub fn hold_out(records: &[&Record], count: usize, seed: u64) -> Vec<usize> {
    let mut tools: Vec<usize> =
        records.iter().flat_map(|record| record.tools.iter().copied()).collect();
    tools.sort_unstable();
    tools.dedup();
    let order = shuffled(0..tools.len(), Chance::new(seed).with(b"hold out"));
    let mut held: Vec<usize> = order.into_iter().take(count).map(|place| tools[place]).collect();
    held.sort_unstable();
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::cotools::QueryTemplate;

    fn set(train: usize, dev: usize) -> DataSet {
        let records = |name: &str, count: usize| {
            let record = |n: usize| Record {
                text: format!("{name} {n}"),
                starts: vec![0],
                tools: vec![n % 5],
            };
            (0..count).map(record).collect()
        };
        DataSet {
            name: "s".to_owned(),
            licence: "l".to_owned(),
            template: QueryTemplate::Knowledge,
            tools: Vec::new(),
            train: records("train", train),
            dev: records("dev", dev),
            test: Vec::new(),
        }
    }

    #[test]
    fn the_parts_of_a_set_have_no_common_record() {
        for of in [Use::Question, Use::Here, Use::Judge] {
            for (train, dev) in [(200, 100), (0, 300)] {
                let set = set(train, dev);
                let Split { train, choice, left } = split(&set, of, 7);
                let mut all: Vec<&str> =
                    train.iter().chain(&choice).chain(&left).map(|of| of.text.as_str()).collect();
                all.sort_unstable();
                all.dedup();
                assert_eq!(all.len(), set.train.len() + set.dev.len(), "{of:?}");
                assert!(!train.is_empty() && !choice.is_empty() && !left.is_empty());
                let again = split(&set, of, 7);
                assert_eq!(again.left, left);
            }
        }
    }

    #[test]
    fn held_out_tools_are_some_of_training() {
        let set = set(20, 1);
        let records: Vec<_> = set.train.iter().collect();
        let held = hold_out(&records, 2, 3);
        assert!(held.len() == 2 && held.iter().all(|tool| *tool < 5), "{held:?}");
        assert_eq!(hold_out(&records, 2, 3), held);
        assert_eq!(hold_out(&records, 99, 3).len(), 5);
        assert_eq!(some(&records, 1, 3).len(), 3);
    }
}
