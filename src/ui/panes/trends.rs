//! The trends of scores, and the cause of the last change of weights. Weights are derived, so earlier weights are
//! computed again from the earlier scores, knobs and pins.

use std::borrow::Cow;

use super::glyph;
use crate::domain::{Knob, Knobs, Pins, Scores, State, ToolName, state::Cause};
use crate::papers::toolnet::Weights;

/// How many scores of a tool are shown.
pub const SCORES: usize = 8;

/// The least and the greatest shown score of all tools, so that trends in several rows can be compared. The range
/// includes 0, where every tool begins.
pub fn score_scale(state: &State) -> (f64, f64) {
    let shown = state.learning.history.values().flat_map(|points| points.iter().rev().take(SCORES));
    shown.fold((0.0, 0.0), |(low, high): (f64, f64), point| {
        (low.min(*point.score), high.max(*point.score))
    })
}

/// The last scores of a tool; empty for a tool that was never scored.
pub fn scores(state: &State, tool: &ToolName, scale: (f64, f64)) -> String {
    let Some(points) = state.learning.history.get(tool) else { return String::new() };
    let scores = [0.0].into_iter().chain(points.iter().map(|point| *point.score));
    glyph::spark(scores, SCORES, scale)
}

/// The scores, pins and knobs before the last change of weights.
#[derive(Debug)]
pub struct Since<'a> {
    state: &'a State,
    cause: Cause,
    scores: Cow<'a, Scores>,
    pins: Cow<'a, Pins>,
    knobs: Cow<'a, Knobs>,
}

impl<'a> Since<'a> {
    /// `None` if no weight has changed yet.
    pub fn of(state: &'a State) -> Option<Self> {
        let cause = state.last_move()?;
        let mut scores = Cow::Borrowed(&state.learning.scores);
        let mut pins = Cow::Borrowed(&state.learning.pins);
        let mut knobs = Cow::Borrowed(&state.knobs);
        // A value out of range keeps its present value and shows no trend.
        match &cause {
            Cause::Evaluation { task } => {
                for verdict in &state.task(*task)?.verdicts {
                    let delta = -f64::from(verdict.score);
                    let _ = scores.to_mut().add(verdict.tool.clone(), delta);
                }
            }
            Cause::Knob { knob, was } => knobs.to_mut().set(*knob, *was),
            Cause::Score { tool, was } => {
                let _ = scores.to_mut().set(tool.clone(), *was);
            }
            Cause::Pin { from, to, was: Some(was) } => {
                let _ = pins.to_mut().set(from.clone(), to.clone(), *was);
            }
            Cause::Pin { from, to, was: None } => {
                pins.to_mut().remove(from.as_str(), to.as_str());
            }
        }
        Some(Self { state, cause, scores, pins, knobs })
    }

    /// The weights before the change.
    pub fn weights(&self) -> Weights<'_> {
        Weights {
            graph: &self.state.learning.graph,
            scores: &self.scores,
            pins: &self.pins,
            alpha: self.knobs.get(Knob::Alpha),
            beta: self.knobs.get(Knob::Beta),
        }
    }

    /// The cause of the change, in words: `task 12`, `β was 0.50`.
    pub fn words(&self) -> String {
        match &self.cause {
            Cause::Evaluation { task } => format!("task {task}"),
            Cause::Knob { knob, was } => {
                let spec = knob.spec();
                format!("{} was {}", spec.symbol, spec.show(*was))
            }
            Cause::Score { tool, .. } => format!("score of {tool} edited"),
            Cause::Pin { .. } => "a weight pinned".to_owned(),
        }
    }
}
