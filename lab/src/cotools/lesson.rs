//! Queries to a retriever: for training, for choosing an epoch, and for measurements.

use std::collections::{BTreeMap, BTreeSet};

use super::split::{hold_out, some};
use crate::app::shell::trouble::Trouble;
use crate::data::{DataSet, Record};
use crate::papers::cotools::{QueryTemplate, Use};
use crate::training::{BadRecord, examples, published_examples};

/// Queries with their tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// Texts that the reader encodes.
    pub texts: Vec<String>,
    /// Texts that are compared by words.
    pub words: Vec<String>,
    /// The right tools of each query, as places in the catalogue. Any one of them is right.
    pub gold: Vec<Vec<usize>>,
}

/// The part of a set that is used for training.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// Tools that are left out.
    pub hold_out: usize,
    /// The most examples of each tool.
    pub per_tool: usize,
    /// The most examples.
    pub examples: usize,
    pub seed: u64,
}

/// Examples from a record: one for each call, or one repetition of its last call for each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallExamples {
    Each,
    /// Repetitions as in the published code.
    LastAgain,
}

impl Lesson {
    /// Adds one query.
    pub fn push(&mut self, text: String, words: String, gold: Vec<usize>) {
        self.texts.push(text);
        self.words.push(words);
        self.gold.push(gold);
    }

    pub fn len(&self) -> usize {
        self.gold.len()
    }

    /// The tool of each query that has exactly one.
    pub fn tools(&self) -> Vec<usize> {
        self.gold.iter().filter_map(|gold| gold.first().copied()).collect()
    }

    /// Questions of records. `Knowledge` is our template for any question.
    pub fn questions<'a>(records: impl IntoIterator<Item = &'a Record>, of: QueryTemplate) -> Self {
        let mut lesson = Self::default();
        for record in records {
            if let Some(tool) = record.tools.first() {
                let question = record.question();
                lesson.push(of.text(question, ""), question.to_owned(), vec![*tool]);
            }
        }
        lesson
    }

    /// The texts before the calls of records.
    ///
    /// # Errors
    /// A record does not fit its text.
    pub fn calls(
        records: &[&Record],
        data: &DataSet,
        calls: CallExamples,
        most: usize,
    ) -> Result<Self, BadRecord> {
        let mut lesson = Self::default();
        let names: Vec<&str> = data.tools.iter().map(|tool| tool.name.as_str()).collect();
        let places: BTreeMap<&str, usize> =
            names.iter().zip(0..).map(|(name, n)| (*name, n)).collect();
        for record in records {
            if lesson.len() >= most {
                break;
            }
            let tools: Vec<&str> = record.tools.iter().map(|tool| names[*tool]).collect();
            let of = match calls {
                CallExamples::Each => examples(&record.text, &record.starts, &tools)?,
                CallExamples::LastAgain => {
                    published_examples(&record.text, &record.starts, &tools)?
                }
            };
            for example in of {
                let text = match data.template {
                    QueryTemplate::Knowledge => data.template.text(example.text.trim(), ""),
                    // Their texts already have the template.
                    QueryTemplate::StepByStep | QueryTemplate::Short => example.text.to_owned(),
                };
                lesson.push(text, example.text.to_owned(), vec![places[example.tool]]);
            }
        }
        Ok(lesson)
    }

    /// Builds a lesson from training records.
    ///
    /// # Errors
    /// Nothing is left for training, or a record does not fit its text.
    pub fn of_training(
        data: &DataSet,
        of: Use,
        train: &[&Record],
        amount: Amount,
        calls: CallExamples,
    ) -> Result<Self, Trouble> {
        let held: BTreeSet<usize> =
            hold_out(train, amount.hold_out, amount.seed).into_iter().collect();
        let is_taught = |record: &&Record| {
            !record.tools.is_empty() && !record.tools.iter().any(|tool| held.contains(tool))
        };
        let records: Vec<&Record> =
            some(train, amount.seed, train.len()).into_iter().filter(is_taught).collect();
        let lesson = if of == Use::Question {
            let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
            let fits = |record: &&Record| {
                let count = counts.entry(record.tools[0]).or_default();
                *count += 1;
                *count <= amount.per_tool
            };
            let records = records.into_iter().filter(fits).take(amount.examples);
            Self::questions(records, QueryTemplate::Knowledge)
        } else {
            Self::calls(&records, data, calls, amount.examples).map_err(Trouble::usage)?
        };
        if lesson.len() == 0 {
            let text = format!("{}: no training record is left; hold out fewer tools", data.name);
            return Err(Trouble::Usage(text));
        }
        Ok(lesson)
    }

    /// The queries whose only tool is one of these.
    pub fn of_tools(self, tools: &BTreeSet<usize>) -> Self {
        let mut kept = Self::default();
        for ((text, words), gold) in self.texts.into_iter().zip(self.words).zip(self.gold) {
            if gold.iter().all(|tool| tools.contains(tool)) {
                kept.push(text, words, gold);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DataTool;

    fn set() -> DataSet {
        let tool = |name: &str| DataTool { name: name.to_owned(), description: String::new() };
        let record = |text: &str, starts: &[usize], tools: &[usize]| Record {
            text: text.to_owned(),
            starts: starts.to_vec(),
            tools: tools.to_vec(),
        };
        DataSet {
            name: "s".to_owned(),
            licence: "l".to_owned(),
            template: QueryTemplate::StepByStep,
            tools: ["a", "b", "c"].map(tool).to_vec(),
            train: vec![
                record("1+1=2 and 2+2=4", &[4, 14], &[0, 1]),
                record("3*3=9", &[4], &[2]),
                record("no call", &[], &[]),
            ],
            dev: Vec::new(),
            test: Vec::new(),
        }
    }

    const AMOUNT: Amount = Amount { hold_out: 0, per_tool: 9, examples: 9, seed: 0 };

    #[test]
    fn each_call_is_an_example_but_not_in_the_published_code() {
        let set = set();
        let records: Vec<_> = set.train.iter().collect();
        let each = Lesson::calls(&records, &set, CallExamples::Each, 9).unwrap();
        assert_eq!(each.texts, ["1+1=", "1+1=2 and 2+2=", "3*3="]);
        assert_eq!(each.tools(), [0, 1, 2]);
        let again = Lesson::calls(&records, &set, CallExamples::LastAgain, 9).unwrap();
        assert_eq!(again.tools(), [1, 1, 2]);
    }

    #[test]
    fn held_out_tools_are_in_no_example() {
        let set = set();
        let train: Vec<_> = set.train.iter().collect();
        let lesson = |hold_out| {
            let amount = Amount { hold_out, ..AMOUNT };
            Lesson::of_training(&set, Use::Here, &train, amount, CallExamples::Each)
        };
        let held = hold_out(&train, 1, 0)[0];
        let tools = lesson(1).unwrap().tools();
        assert!(!tools.contains(&held) && !tools.is_empty(), "{held} {tools:?}");
        assert!(lesson(3).unwrap_err().text().contains("hold out fewer"));
        let questions =
            Lesson::of_training(&set, Use::Question, &train, AMOUNT, CallExamples::Each).unwrap();
        let mut words = questions.words;
        words.sort();
        assert_eq!(words, ["1+1=", "3*3="]);
    }
}
