//! What a person copies of a thing: as the screen shows it, as JSON, or as its path in a journal's state. The state
//! holds no secrets, so no copy does.

use serde::Serialize;
use serde_json::Value;

use super::{Inspect, Subject};
use crate::files::safe_json::safe;
use crate::ui::request::{Requests, ScreenRequest, World};
use crate::ui::view::{Tone, View};

/// Columns of a text that is copied as it is shown.
const WIDTH: usize = 100;

/// In which form something is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As the screen shows it.
    Shown,
    /// As JSON.
    Value,
    /// A filter of `jq` that finds it in what `toolyard replay --json` prints.
    Path,
}

/// Copies this.
pub fn copy(subject: &Subject, form: Form, world: &World<'_>, view: &mut View) -> Requests {
    let text = match form {
        Form::Shown => Some(Inspect::text(subject, world.shown, &view.messages, WIDTH)),
        Form::Value => value(subject, world).and_then(|value| pretty(&value)),
        Form::Path => path(subject),
    };
    match text {
        Some(text) => vec![ScreenRequest::Copy { what: subject.title(), text }],
        None => {
            let text = format!("{} is only in this screen: y y copies it", subject.title());
            view.tell(world.live.at, Tone::Bad, text);
            Vec::new()
        }
    }
}

fn pretty(value: &Value) -> Option<String> {
    let json = serde_json::to_string_pretty(value).ok()?;
    Some(safe(&json).into_owned())
}

fn json(of: &(impl Serialize + ?Sized)) -> Option<Value> {
    serde_json::to_value(of).ok()
}

/// The thing as `replay --json` has it; a line as its event.
fn value(subject: &Subject, world: &World<'_>) -> Option<Value> {
    let state = world.shown;
    match subject {
        Subject::Tool(tool) => json(state.tools.get(tool)?),
        Subject::Prompt(call) => json(state.model_call(*call)?),
        Subject::Call(call) => json(state.tool_call(*call)?),
        Subject::Evidence(task, id) => json(state.task(*task)?.work.evidence.get(id)?),
        Subject::Task(task) => json(state.task(*task)?),
        Subject::Plan(task) => json(state.task(*task)?.budget.plan.as_deref()?),
        Subject::Line(n) => json(&*world.history.at(*n)?),
        Subject::Messages => None,
    }
}

fn path(subject: &Subject) -> Option<String> {
    let name = |name: &str| serde_json::to_string(name).ok();
    Some(match subject {
        Subject::Tool(tool) => format!(".tools[{}]", name(tool.as_str())?),
        Subject::Prompt(call) => format!(".asks[] | select(.id == {call})"),
        Subject::Call(call) => format!(".calls[] | select(.id == {call})"),
        Subject::Evidence(task, id) => {
            format!(
                ".tasks[{}].work.evidence[{}]",
                task.0.saturating_sub(1),
                name(&json(id)?.to_string())?
            )
        }
        Subject::Task(task) => format!(".tasks[{}]", task.0.saturating_sub(1)),
        Subject::Plan(task) => format!(".tasks[{}].budget.plan", task.0.saturating_sub(1)),
        Subject::Line(n) => format!(".transcript[] | select(.n == {n})"),
        Subject::Messages => return None,
    })
}
