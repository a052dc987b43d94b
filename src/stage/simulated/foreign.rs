//! Questions that are not known tasks. The model says so in every role that decides. It calls no tool for them, since
//! such a call would look like a decision and would earn scores.

use serde_json::json;

use super::choose::finish;
use super::request_parser::PromptReading;
use super::{Speech, reader};
use crate::domain::markers::LLM;
use crate::domain::{Evidence, EvidenceId, Plan, PlanStep, Request, Role};

/// The answer to unknown tasks.
pub(super) const REFUSAL: &str = "I am a simulated model. I only know the sample tasks.";

/// Replies in this role; `None` if the role needs no knowledge of the task.
pub(super) fn say(request: &Request, prompted: &PromptReading<'_>) -> Option<Speech> {
    let is_asked = reader::asked(prompted.account).is_some();
    match request.role {
        Role::Actor if is_asked || request.tools.is_empty() => Some(refusal()),
        Role::Actor => Some(finish(REFUSAL.to_owned())),
        Role::Planner => Some(Speech::text(plan())),
        Role::Solver => Some(refusal()),
        Role::Evaluator => Some(Speech::text(json!({ "scores": [] }).to_string())),
        Role::Programmer => Some(Speech::text(format!("```python\nprint({REFUSAL:?})\n```"))),
        Role::Reflector
        | Role::Judge
        | Role::Classifier
        | Role::Grader
        | Role::Attributor
        | Role::Prober => None,
    }
}

fn refusal() -> Speech {
    Speech::text(REFUSAL.to_owned())
}

/// A plan needs at least one call. This one calls the model, which refuses.
fn plan() -> String {
    let input = "Which tasks do you know?".to_owned();
    let evidence = vec![Evidence { id: EvidenceId(1), tool: LLM.to_owned(), input }];
    Plan { steps: vec![PlanStep { text: REFUSAL.to_owned(), evidence }] }.to_string()
}
