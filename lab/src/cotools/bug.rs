//! The price of a fault in the published code: it appends one dictionary for all calls of a record, so that all of them
//! become its last call.

use std::sync::Arc;

use serde::Serialize;

use super::answer::{Question, answer};
use super::args::Means;
use super::lesson::{Amount, CallExamples};
use super::measure::TRAINED;
use super::train::{RetrieverPlan, teach};
use crate::app::shell::trouble::Trouble;
use crate::app::encoder::Encoder;
use crate::data::DataSet;
use crate::papers::cotools::{MIX, Recipe, Use};
use crate::training::Figures;

/// The number of calls used for training.
const CALLS: usize = 400;

/// Heads from our examples and from the published ones, measured on the same calls, which neither has seen.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BugPrice {
    pub ours: Figures,
    pub published: Figures,
}

/// # Errors
/// Texts cannot be read.
pub fn price(encoder: &mut Encoder, data: &DataSet, limit: usize) -> Result<BugPrice, Trouble> {
    let mut figures = |calls: CallExamples| {
        let amount = Amount { hold_out: 0, per_tool: usize::MAX, examples: CALLS, seed: 0 };
        let plan =
            RetrieverPlan { of: Use::Here, recipe: Recipe::Ours, amount, epochs: None, calls };
        let taught = teach(encoder, data, plan, &mut |_| Ok(()))?;
        let question = Question {
            of: Use::Here,
            heads: Some(Arc::new(taught.heads)),
            means: Means::Heads,
            weight: MIX,
            is_named: false,
            limit: Some(limit),
        };
        let answer = answer(encoder, data, &question)?;
        let rows = answer.measured.first().map(|measured| measured.rows.as_slice());
        let row = rows.unwrap_or_default().iter().find(|row| row.by == TRAINED);
        Ok::<_, Trouble>(row.map_or_else(Figures::default, |row| row.figures))
    };
    Ok(BugPrice {
        ours: figures(CallExamples::Each)?,
        published: figures(CallExamples::LastAgain)?,
    })
}

impl BugPrice {
    /// The difference in points of top-1.
    pub fn points(&self) -> f64 {
        100.0 * (self.ours.top_1 - self.published.top_1)
    }

    pub fn text(&self) -> String {
        format!(
            "The shared dictionary of the published code: top-1 {:.1} with each call as an example, {:.1} with the last \
             call of a record again and again; it costs {:.1} points on {} calls\n",
            100.0 * self.ours.top_1,
            100.0 * self.published.top_1,
            self.points(),
            self.ours.questions
        )
    }
}
