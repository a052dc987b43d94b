//! How an agent acts: one file per paper's loop, each reading like its paper. A strategy can do
//! nothing by itself but through its [`Context`], so every one, present and future, can be stepped,
//! recorded, broken and budgeted without a line of its own.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{answer, event::Outcome, knob::Knob, spec::Task};

pub mod act;
pub mod context;
pub mod direct;
pub mod evaluate;
pub mod menu;
pub mod prompt;
pub mod reflexion;
pub mod trajectory;

pub use context::{Called, Context, Observation};
pub use trajectory::{Trajectory, Turn};

/// A loop and its modifiers, written `toolnet+reflexion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Strategy {
    pub base: Base,
    /// Reflect on a failed try and try again (Reflexion).
    pub reflexion: bool,
}

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// One ask, no tools: what the model knows by itself.
    Direct,
    /// Thought, call, observation, with every tool offered and no weights (Yao et al. 2022).
    React,
    /// The same loop, walking a weighted graph of tools that an evaluator keeps teaching.
    ToolNet,
}

impl Base {
    pub const ALL: [Base; 3] = [Base::Direct, Base::React, Base::ToolNet];

    pub fn name(self) -> &'static str {
        match self {
            Base::Direct => "direct",
            Base::React => "react",
            Base::ToolNet => "toolnet",
        }
    }
}

impl Strategy {
    /// Every combination, in the order in which people are offered them.
    pub fn all() -> impl Iterator<Item = Strategy> {
        [false, true].into_iter().flat_map(|reflexion| {
            Base::ALL.into_iter().map(move |base| Strategy { base, reflexion })
        })
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reflexion = if self.reflexion { "+reflexion" } else { "" };
        f.pad(&format!("{}{reflexion}", self.base.name()))
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Strategy::all().find(|strategy| strategy.to_string() == text).ok_or_else(|| {
            let known: Vec<_> = Strategy::all().map(|strategy| strategy.to_string()).collect();
            format!("there is no strategy `{text}`; expected one of {}", known.join(", "))
        })
    }
}

impl TryFrom<String> for Strategy {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Strategy> for String {
    fn from(strategy: Strategy) -> Self {
        strategy.to_string()
    }
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    pub outcome: Outcome,
    pub answer: Option<String>,
}

impl Ending {
    pub fn answered(text: impl Into<String>) -> Self {
        Self { outcome: Outcome::Answered, answer: Some(text.into()) }
    }

    pub fn without_answer(outcome: Outcome) -> Self {
        Self { outcome, answer: None }
    }

    /// Whether the answer is right; `None` where no gold answer is known. No answer is never right.
    pub fn is_correct(&self, task: &Task) -> Option<bool> {
        let gold = task.gold.as_deref()?;
        Some(self.answer.as_deref().is_some_and(|given| answer::is_correct(given, gold)))
    }

    /// Ended with an answer that is not known to be wrong.
    fn is_solved(&self, task: &Task) -> bool {
        self.outcome == Outcome::Answered && self.is_correct(task) != Some(false)
    }
}

/// Works on one task until it has an answer, gives up, or runs out of steps and tries.
pub async fn perform(ctx: &impl Context, strategy: Strategy, task: &Task) -> Ending {
    let mut reflections = Vec::new();
    for number in 1.. {
        let (trajectory, ending) = match strategy.base {
            Base::Direct => direct::answer(ctx, task, &reflections).await,
            Base::React | Base::ToolNet => act::act(ctx, strategy.base, task, &reflections).await,
        };
        if strategy.base == Base::ToolNet {
            evaluate::evaluate(ctx, task, &trajectory, &ending).await;
        }
        let tries = ctx.state(|state| state.knobs.count(Knob::Tries));
        let last = !strategy.reflexion || number >= tries || ending.is_solved(task);
        if last {
            return ending;
        }
        match reflexion::reflect(ctx, task, &trajectory, &ending).await {
            Ok(reflection) => reflexion::keep(&mut reflections, reflection),
            Err(_) => return ending,
        }
        let number = u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
        ctx.try_started(number, &reflections);
    }
    Ending::without_answer(Outcome::OutOfSteps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_read_what_they_write() {
        for strategy in Strategy::all() {
            assert_eq!(strategy.to_string().parse(), Ok(strategy));
        }
        assert!("react+magic".parse::<Strategy>().unwrap_err().contains("toolnet+reflexion"));
    }
}
