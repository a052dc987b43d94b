//! What moved the weights last, and what they were before: the trend that the graph shows. Weights are
//! derived, so those of before are derived again, from the scores, knobs and pins of before.

use crate::{
    domain::{
        command::Command,
        graph::{Pins, Scores},
        id::{TaskId, ToolName},
        knob::Knob,
        state::{State, What},
    },
    papers::toolnet::Weights,
};

/// How far back an evaluation is looked for, in lines of the transcript: with learning frozen there may
/// be none for hours.
const LINES: usize = 4096;

/// What moved the weights last.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The evaluation of this task.
    Evaluation(TaskId),
    /// The user turned alpha or beta, from this value.
    Knob(Knob, f64),
    /// The user set the score of a tool.
    Score(ToolName),
    /// The user pinned a weight, or let it go.
    Pin,
}

/// How things stood before that.
#[derive(Debug)]
pub struct Since {
    pub cause: Cause,
    scores: Option<Scores>,
    pins: Option<Pins>,
    alpha: Option<f64>,
    beta: Option<f64>,
}

impl Since {
    /// `None` where nothing has moved a weight yet.
    pub fn of(state: &State) -> Option<Self> {
        let evaluation = last_evaluation(state);
        let n = evaluation.map_or(0, |(n, _)| n);
        let later = state.control.undo.iter().rev().take_while(|undoable| undoable.n > n);
        later
            .filter_map(|undoable| Self::intervention(state, &undoable.back))
            .next()
            .or_else(|| evaluation.and_then(|(_, task)| Self::evaluation(state, task)))
    }

    fn nothing(cause: Cause) -> Self {
        Self { cause, scores: None, pins: None, alpha: None, beta: None }
    }

    fn evaluation(state: &State, task: TaskId) -> Option<Self> {
        let mut scores = state.learning.scores.clone();
        for verdict in &state.task(task)?.verdicts {
            // A sum that is no score (out of range) leaves the tool as it is now: no trend for it.
            let _ = scores.add(verdict.tool.clone(), -f64::from(verdict.score));
        }
        Some(Self { scores: Some(scores), ..Self::nothing(Cause::Evaluation(task)) })
    }

    /// From the command that takes the intervention back.
    fn intervention(state: &State, back: &Command) -> Option<Self> {
        match back {
            Command::TurnKnob { knob: knob @ Knob::Alpha, value } => {
                Some(Self { alpha: Some(*value), ..Self::nothing(Cause::Knob(*knob, *value)) })
            }
            Command::TurnKnob { knob: knob @ Knob::Beta, value } => {
                Some(Self { beta: Some(*value), ..Self::nothing(Cause::Knob(*knob, *value)) })
            }
            Command::SetScore { tool, score } => {
                let mut scores = state.learning.scores.clone();
                scores.set(tool.clone(), *score).ok()?;
                Some(Self { scores: Some(scores), ..Self::nothing(Cause::Score(tool.clone())) })
            }
            Command::PinWeight { from, to, weight } => {
                let mut pins = state.learning.pins.clone();
                pins.set(from.clone(), to.clone(), *weight).ok()?;
                Some(Self { pins: Some(pins), ..Self::nothing(Cause::Pin) })
            }
            Command::UnpinWeight { from, to } => {
                let mut pins = state.learning.pins.clone();
                pins.remove(from.as_str(), to.as_str());
                Some(Self { pins: Some(pins), ..Self::nothing(Cause::Pin) })
            }
            // Everything else moves no weight, or moves it from where it is and takes nothing back.
            Command::TurnKnob { .. }
            | Command::TurnKnobBy { .. }
            | Command::AddScore { .. }
            | Command::AddUses { .. }
            | Command::Run
            | Command::Pause
            | Command::Step
            | Command::StepTask
            | Command::Stop
            | Command::Cancel(_)
            | Command::QueueTask { .. }
            | Command::UseStrategy { .. }
            | Command::BindRole { .. }
            | Command::ProbeModels
            | Command::ForgetScore { .. }
            | Command::ArmFault { .. }
            | Command::DisarmFault { .. }
            | Command::RearmFault { .. }
            | Command::SetUses { .. }
            | Command::PauseLane(_)
            | Command::ResumeLane(_)
            | Command::SetClass { .. }
            | Command::SwitchTool { .. }
            | Command::ReloadTools
            | Command::Undo => None,
        }
    }

    /// The weights of before.
    pub fn weights<'a>(&'a self, state: &'a State) -> Weights<'a> {
        Weights {
            graph: &state.learning.graph,
            scores: self.scores.as_ref().unwrap_or(&state.learning.scores),
            pins: self.pins.as_ref().unwrap_or(&state.learning.pins),
            alpha: self.alpha.unwrap_or_else(|| state.knobs.get(Knob::Alpha)),
            beta: self.beta.unwrap_or_else(|| state.knobs.get(Knob::Beta)),
        }
    }
}

impl Cause {
    /// In words: `task 12`, `β was 0.50`.
    pub fn words(&self) -> String {
        match self {
            Cause::Evaluation(task) => format!("task {task}"),
            Cause::Knob(knob, was) => {
                let spec = knob.spec();
                format!("{} was {}", spec.symbol, spec.show(*was))
            }
            Cause::Score(tool) => format!("score of {tool} edited"),
            Cause::Pin => "a weight pinned".to_owned(),
        }
    }
}

/// The last evaluation that changed scores: its event and its task.
fn last_evaluation(state: &State) -> Option<(u64, TaskId)> {
    state.transcript.iter().rev().take(LINES).find_map(|line| match line.what {
        What::Evaluated { learned: true } => Some((line.n, line.task?)),
        What::Evaluated { learned: false }
        | What::TaskStarted
        | What::TryStarted { .. }
        | What::Step { .. }
        | What::Ask { .. }
        | What::Call { .. }
        | What::TaskFinished
        | What::BudgetPlanned { .. }
        | What::Plan { .. }
        | What::Told { .. }
        | What::Newer { .. } => None,
    })
}
