//! The forms in which the user copies a thing: as the screen shows it, as JSON, or as its path in a journal's
//! state. The state holds no secrets, so no copy does.

use serde::Serialize;
use serde_json::Value;

use super::{Inspect, Subject, program};
use crate::call_lines::Called;
use crate::domain::event::json_of;
use crate::domain::state::What;
use crate::files::safe_json::safe;
use crate::own::Selection;
use crate::panes::program_words::Variable;
use crate::papers::atc::record;
use crate::request::{Requests, ScreenRequest, World};
use crate::view::{Tone, View};

/// Columns of a text that is copied as shown.
const WIDTH: usize = 100;

/// The form of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyForm {
    /// As the screen shows it.
    Shown,
    /// As JSON.
    Value,
    /// A command that makes the call by hand.
    Command,
    /// A `jq` filter that finds the thing in the output of `toolyard replay --json --full`.
    Path,
}

/// Copies a thing in this form.
pub fn copy(subject: &Subject, form: CopyForm, world: &World<'_>, view: &mut View) -> Requests {
    if form == CopyForm::Command {
        return copy_command(subject, world, view);
    }
    let text = match form {
        CopyForm::Shown => Some(Inspect::text(subject, world.shown, &view.messages, WIDTH)),
        CopyForm::Value => value(subject, world).and_then(|value| pretty(&value)),
        CopyForm::Path => path(subject),
        CopyForm::Command => None,
    };
    match text {
        Some(text) => vec![ScreenRequest::Copy { what: subject.title(), text }],
        None => {
            let text = format!("{} exists only on this screen: y y copies it", subject.title());
            view.tell(world.live.at, Tone::Bad, text);
            Vec::new()
        }
    }
}

/// Copies the command of a call. Its builder knows endpoints and tools; the screen does not.
fn copy_command(subject: &Subject, world: &World<'_>, view: &mut View) -> Requests {
    let state = world.shown;
    let called = match subject {
        Subject::Prompt(call) => state
            .model_call(*call)
            .map(|call| Called::Model { model: call.model.clone(), request: call.request.clone() }),
        Subject::Call(call) => state.tool_call(*call).map(|call| Called::Tool {
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            workspace: state.workspace.clone(),
        }),
        Subject::Line(n) => match state.line(*n).map(|line| &line.what) {
            Some(What::ModelCall { call }) => {
                return copy_command(&Subject::Prompt(*call), world, view);
            }
            Some(What::ToolCall { call }) => {
                return copy_command(&Subject::Call(*call), world, view);
            }
            _ => None,
        },
        _ => None,
    };
    match called {
        Some(called) => vec![ScreenRequest::CopyCommand(Box::new(called))],
        None => {
            let text = format!("{} is not a call; y y copies it", subject.title());
            view.tell(world.live.at, Tone::Bad, text);
            Vec::new()
        }
    }
}

impl Subject {
    /// The subject in the forms that an external program takes.
    pub fn selection(&self, world: &World<'_>, view: &View) -> Selection {
        let (kind, name) = match self {
            Subject::Tool(tool) => ("tool", tool.to_string()),
            Subject::Prompt(call) => ("model-call", call.to_string()),
            Subject::Call(call) => ("tool-call", call.to_string()),
            Subject::Evidence(_, evidence) => ("evidence", evidence.to_string()),
            Subject::Task(task) => ("task", task.to_string()),
            Subject::Plan(task) => ("plan", task.to_string()),
            Subject::Program(task, number) => ("program", format!("{task}-{number}")),
            Subject::Compared(task, first, second) => ("calls", format!("{task}-{first}-{second}")),
            Subject::Probed(tool) => ("probing", tool.to_string()),
            Subject::Variable(_, _, name) => ("value", name.clone()),
            Subject::Line(n) => ("event", n.to_string()),
            Subject::Server(key) => ("server", key.to_string()),
            Subject::Messages => ("messages", String::new()),
            Subject::Fields => ("fields", String::new()),
            Subject::Said(said) => ("output", said.0.clone()),
        };
        Selection {
            kind,
            name,
            text: Inspect::text(self, world.shown, &view.messages, WIDTH),
            json: value(self, world).and_then(|value| pretty(&value)).unwrap_or_default(),
        }
    }
}

fn pretty(value: &Value) -> Option<String> {
    let json = serde_json::to_string_pretty(value).ok()?;
    Some(safe(&json).into_owned())
}

fn json(of: &(impl Serialize + ?Sized)) -> Option<Value> {
    Some(json_of(of))
}

/// The thing as in `replay --json --full`; for a line, its event.
fn value(subject: &Subject, world: &World<'_>) -> Option<Value> {
    let state = world.shown;
    match subject {
        Subject::Tool(tool) => json(state.tools.get(tool)?),
        Subject::Prompt(call) => json(state.model_call(*call)?),
        Subject::Call(call) => json(state.tool_call(*call)?),
        Subject::Evidence(task, id) => json(state.task(*task)?.work.evidence.get(id)?),
        Subject::Task(task) => json(state.task(*task)?),
        Subject::Plan(task) => json(state.task(*task)?.budget.plan.as_deref()?),
        Subject::Program(task, number) => json(state.program(*task, *number)?),
        Subject::Compared(task, first, second) => {
            let calls = |number: u32| {
                let way = record::way(state, state.program(*task, number)?)?;
                json(&way)
            };
            json(&[calls(*first)?, calls(*second)?])
        }
        Subject::Probed(tool) => json(state.tools.get(tool)?.learned.as_ref()?),
        Subject::Variable(task, number, name) => {
            match program::of_name(state.program(*task, *number)?, name)? {
                Variable::Set(set) => Some(set.value.clone()),
                Variable::Told(told) => told.value.clone().ok(),
            }
        }
        Subject::Server(key) => json(state.servers.get(key)?),
        Subject::Line(n) => json(&*world.history.at(*n)?),
        Subject::Messages | Subject::Fields | Subject::Said(_) => None,
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
        Subject::Program(task, number) => {
            let task = task.0.saturating_sub(1);
            format!(".tasks[{task}].programs[] | select(.number == {number})")
        }
        Subject::Variable(task, number, variable) => {
            let (task, variable) = (task.0.saturating_sub(1), name(variable)?);
            format!(
                ".tasks[{task}].programs[] | select(.number == {number}) | .values[] | \
                 select(.name == {variable}) | .value"
            )
        }
        Subject::Line(n) => format!(".transcript[] | select(.n == {n})"),
        Subject::Server(key) => format!(".servers[{}]", name(key)?),
        Subject::Probed(tool) => format!(".tools[{}].learned", name(tool.as_str())?),
        Subject::Compared(..) | Subject::Messages | Subject::Fields | Subject::Said(_) => {
            return None;
        }
    })
}
