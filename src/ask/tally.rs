//! The replies of several models to one request, counted: how often each choice was made, what it took and cost.

use std::{cmp::Reverse, collections::BTreeMap};

use indexmap::IndexMap;
use serde::Serialize;

use crate::choice::ReplyChoice;
use crate::domain::{Finite, ModelError, ModelErrorKind, ModelName, Reply};

/// A call, with its reply or its error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AskedReply {
    pub model: ModelName,
    /// The number of the call among those of its model, from 1.
    pub time: u32,
    pub reply: Option<Reply>,
    pub error: Option<ModelError>,
    /// The cost; `None` if nothing says it.
    pub dollars: Option<Finite>,
    pub ms: u64,
}

/// A choice, and how often each model made it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChoiceRow {
    pub choice: ReplyChoice,
    pub counts: IndexMap<ModelName, u32>,
    /// Whether the recorded reply made it.
    pub recorded: bool,
}

/// Sums over the calls of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AskedSums {
    pub replies: u32,
    /// Calls without a reply.
    pub failed: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cached: u64,
    /// Whether some tokens are estimates.
    pub estimated: bool,
    pub dollars: f64,
    /// Calls that may have cost something that nothing says.
    pub unpriced: u32,
    /// The time of all replies together.
    pub ms: u64,
}

/// All replies, counted. The order in which they came does not matter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AskTally {
    /// The most frequent choice first.
    pub choices: Vec<ChoiceRow>,
    pub models: IndexMap<ModelName, AskedSums>,
}

impl AskTally {
    /// Counts the replies of these models. The recorded reply has a row, too, but counts for none.
    pub fn of(models: &[ModelName], replies: &[AskedReply], recorded: Option<&Reply>) -> Self {
        let mut sums: IndexMap<_, _> =
            models.iter().map(|model| (model.clone(), AskedSums::default())).collect();
        let none: IndexMap<_, _> = models.iter().map(|model| (model.clone(), 0)).collect();
        let recorded = recorded.map(ReplyChoice::of);
        let mut rows: BTreeMap<_, _> =
            recorded.iter().map(|choice| (choice.clone(), none.clone())).collect();
        // Sums of amounts depend on their order by a hair.
        let mut in_order: Vec<&AskedReply> = replies.iter().collect();
        in_order.sort_by_key(|asked| (&asked.model, asked.time));
        for asked in in_order {
            sums.entry(asked.model.clone()).or_default().add(asked);
            if let Some(reply) = &asked.reply {
                let row = rows.entry(ReplyChoice::of(reply)).or_insert_with(|| none.clone());
                *row.entry(asked.model.clone()).or_default() += 1;
            }
        }
        let row = |(choice, counts)| {
            let recorded = recorded.as_ref() == Some(&choice);
            ChoiceRow { choice, counts, recorded }
        };
        let mut choices: Vec<ChoiceRow> = rows.into_iter().map(row).collect();
        choices.sort_by_key(|row| Reverse(row.counts.values().sum::<u32>()));
        Self { choices, models: sums }
    }
}

impl AskedSums {
    fn add(&mut self, asked: &AskedReply) {
        if let Some(reply) = &asked.reply {
            self.replies += 1;
            // An endpoint may report any number.
            self.tokens_in = self.tokens_in.saturating_add(reply.usage.tokens_in);
            self.tokens_out = self.tokens_out.saturating_add(reply.usage.tokens_out);
            self.cached = self.cached.saturating_add(reply.usage.cached);
            self.estimated |= reply.usage.estimated;
            self.ms = self.ms.saturating_add(asked.ms);
        }
        self.failed += u32::from(asked.error.is_some());
        self.dollars += asked.dollars.map_or(0.0, f64::from);
        // An endpoint charges no refusal, but maybe a part of an answer.
        let may_cost = asked.error.as_ref().is_none_or(|error| {
            error.kind == ModelErrorKind::Cancelled || !error.partial.is_empty()
        });
        self.unpriced += u32::from(may_cost && asked.dollars.is_none());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::domain::{ToolCall, Usage};

    const MODELS: [&str; 3] = ["a", "b", "c"];

    fn models() -> Vec<ModelName> {
        MODELS.map(ModelName::from).to_vec()
    }

    /// Replies with one of a few calls, with a text, or failed, each at a place of its own.
    fn replies() -> impl Strategy<Value = Vec<AskedReply>> {
        let one = (0..MODELS.len(), 0..6u8, 0..2000u64, proptest::option::of(0.0..0.5f64));
        proptest::collection::vec(one, 0..40).prop_map(|all| {
            let reply =
                |(at, (model, kind, tokens, dollars)): (usize, (usize, u8, u64, Option<f64>))| {
                    let call = |x: u8| ToolCall {
                        id: at.to_string(),
                        tool: "look".into(),
                        arguments: json!({"x": x, "y": {"b": 1, "a": [x]}}),
                    };
                    let calls = match kind {
                        0..3 => vec![call(kind)],
                        3 => vec![call(at as u8 % 2), call(1 - at as u8 % 2)],
                        _ => Vec::new(),
                    };
                    let usage = Usage { tokens_in: tokens, tokens_out: 1, ..Usage::default() };
                    let reply = Reply { calls, usage, ..Reply::of_text("I look.") };
                    let (reply, error) = match kind {
                        5 => (None, Some(ModelError::new(ModelErrorKind::Endpoint, "HTTP 500"))),
                        _ => (Some(reply), None),
                    };
                    let dollars = dollars.filter(|_| error.is_none()).map(Finite::from);
                    let (model, time) = (MODELS[model].into(), at as u32 + 1);
                    AskedReply { model, time, reply, error, dollars, ms: tokens }
                };
            all.into_iter().enumerate().map(reply).collect()
        })
    }

    fn shuffled() -> impl Strategy<Value = (Vec<AskedReply>, Vec<AskedReply>)> {
        replies().prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle()))
    }

    proptest! {
        /// The order in which replies come changes no figure, each reply is in one row, and the sums are those of the replies.
        #[test]
        fn replies_are_counted_once_in_whatever_order_they_come((replies, other) in shuffled()) {
            let recorded = Reply::of_text("The recorded one.");
            let tally = AskTally::of(&models(), &replies, Some(&recorded));
            prop_assert_eq!(&tally, &AskTally::of(&models(), &other, Some(&recorded)));
            prop_assert_eq!(tally.choices.iter().filter(|row| row.recorded).count(), 1);
            let is_made = |row: &ChoiceRow| row.counts.values().any(|n| *n > 0);
            prop_assert!(tally.choices.iter().all(|row| row.recorded || is_made(row)));
            prop_assert!(tally.models.keys().eq(&models()));
            for (model, sums) in &tally.models {
                let own: Vec<_> = replies.iter().filter(|reply| reply.model == *model).collect();
                let chosen: u32 = tally.choices.iter().map(|row| row.counts[model]).sum();
                prop_assert_eq!(chosen, sums.replies);
                prop_assert_eq!((sums.replies + sums.failed) as usize, own.len());
                let tokens = own.iter().filter_map(|it| it.reply.as_ref());
                prop_assert_eq!(sums.tokens_in, tokens.map(|it| it.usage.tokens_in).sum::<u64>());
                let dollars: f64 = own.iter().filter_map(|it| it.dollars).map(f64::from).sum();
                prop_assert!((sums.dollars - dollars).abs() < 1e-9);
                let unpriced = own.iter().filter(|it| it.reply.is_some() && it.dollars.is_none());
                prop_assert_eq!(sums.unpriced as usize, unpriced.count());
            }
        }
    }

    #[test]
    fn a_call_that_was_cut_off_may_cost_something_and_a_refused_one_does_not() {
        let unpriced = |kind, partial: &str| {
            let error = ModelError { partial: partial.to_owned(), ..ModelError::new(kind, "no") };
            let (reply, dollars) = (None, None);
            let asked = AskedReply {
                model: "a".into(),
                time: 1,
                reply,
                error: Some(error),
                dollars,
                ms: 1,
            };
            AskTally::of(&models(), &[asked], None).models["a"].unpriced
        };
        assert_eq!(unpriced(ModelErrorKind::Cancelled, ""), 1);
        assert_eq!(unpriced(ModelErrorKind::Connection, "It is"), 1);
        assert_eq!(unpriced(ModelErrorKind::Refused, ""), 0);
    }
}
