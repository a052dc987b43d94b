//! Agent loops: one file per paper, each close to its paper. A strategy acts only through its
//! [`Context`], so every strategy can be stepped, recorded, broken and budgeted without code of its
//! own.

use toolyard_domain as domain;
use toolyard_papers as papers;

use crate::domain::{Base, Caveat, InTask, Knob, Outcome, Reply, Strategy, Task, TaskEvent};
use crate::papers::{calls, grading};

pub mod act;
pub mod array;
pub mod atc;
pub mod classify;
pub mod close;
pub mod context;
pub mod cotools;
pub mod dfsdt;
pub mod direct;
pub mod evaluate;
mod finish;
pub mod grade;
pub mod json;
pub mod judge;
pub mod menu;
pub mod planner_loop;
pub mod preview;
pub mod prompt;
pub mod reflexion;
pub mod scoring;
mod search;
pub mod tot_dfs;
pub mod trajectory;
mod work;

pub use context::{
    AskSpec, Before, CallResult, CallSpec, Context, Observation, ProgramHost, Sought,
};
pub use trajectory::{Trajectory, TrajectoryTurn};

/// How a task ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    pub outcome: Outcome,
    pub answer: Option<String>,
    /// Caveats about the answer.
    pub caveats: Vec<Caveat>,
}

impl Ending {
    pub fn answered(text: impl Into<String>) -> Self {
        Self { outcome: Outcome::Answered, answer: Some(text.into()), caveats: Vec::new() }
    }

    pub fn without_answer(outcome: Outcome) -> Self {
        Self { outcome, answer: None, caveats: Vec::new() }
    }

    /// The ending with the caveat of this reply.
    fn of(mut self, reply: &Reply) -> Self {
        if self.outcome == Outcome::Answered {
            self.caveats.extend(Caveat::of(&reply.finish));
        }
        self
    }

    /// The ending of a reply to which tools were offered. `has_called`: the agent has called any of them.
    fn marked(mut self, reply: &Reply, has_called: bool) -> Self {
        if self.outcome == Outcome::Answered && reply.calls.is_empty() && !has_called {
            self.caveats.push(Caveat::WithoutCall);
        }
        self
    }

    /// Whether the task at work was done right: by its answer, or by its calls, as the task requires; `None` if nobody
    /// knows what is right. A missing answer counts as wrong.
    pub fn is_correct(&self, state: &InTask<'_>, task: &Task) -> Option<bool> {
        let score = state.current_task().and_then(|task| calls::of_task(state, task));
        if let Some(score) = score {
            return Some(score.is_right());
        }
        task.gold.as_ref()?;
        let is_right = |given: &str| task.golds().any(|gold| grading::is_correct(given, gold));
        Some(self.answer.as_deref().is_some_and(is_right))
    }

    /// Whether the task was done right, for agents that learn from it; `None` if nobody knows that, or if the knob
    /// `gold_feedback` is off.
    fn feedback(&self, state: &InTask<'_>, task: &Task) -> Option<bool> {
        let is_told = state.knobs.is_on(Knob::GoldFeedback);
        is_told.then(|| self.is_correct(state, task)).flatten()
    }
}

/// Works on one task until it has an answer, gives up, or runs out of steps and attempts.
pub async fn perform(ctx: &impl Context, strategy: Strategy, task: &Task) -> Ending {
    if let Some(probe) = &task.probe {
        return atc::probe(ctx, probe).await;
    }
    let mut reflections = Vec::new();
    for number in 1.. {
        let (trajectory, ending) = match strategy.base {
            Base::Direct => direct::answer(ctx, task, &reflections).await,
            Base::React | Base::ToolNet => {
                Box::pin(act::act(ctx, strategy.base, task, &reflections)).await
            }
            Base::Dfsdt => dfsdt::search(ctx, task, &reflections).await,
            Base::TotDfs => tot_dfs::search(ctx, task, &reflections).await,
            Base::Cotools => Box::pin(cotools::act(ctx, task, &reflections)).await,
            Base::Atc => Box::pin(atc::act(ctx, strategy, task, &reflections)).await,
            Base::Rewoo | Base::Workers => {
                Box::pin(planner_loop::act(ctx, strategy, task, &reflections)).await
            }
        };
        if strategy.learns() {
            evaluate::evaluate(ctx, task, &trajectory, &ending).await;
        }
        let (tries, feedback) =
            ctx.state(|state| (state.knobs.count(Knob::Tries), ending.feedback(state, task)));
        let is_done = ending.outcome == Outcome::Answered && feedback != Some(false);
        if !strategy.reflexion || number >= tries || is_done {
            return ending;
        }
        match reflexion::reflect(ctx, task, &trajectory, &ending).await {
            Ok(reflection) => reflexion::keep(&mut reflections, reflection),
            Err(_) => return ending,
        }
        let number = u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1);
        let reflections = reflections.clone();
        ctx.say(|task| TaskEvent::TryStarted { task, number, reflections });
    }
    Ending::without_answer(Outcome::OutOfSteps)
}
