//! Prompt texts, word for word.

mod budget;
pub mod lack;
mod offer;
pub mod planner_prompts;
pub mod probe;
pub mod program;
mod result;
pub mod search;
pub mod writer;

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use super::{Ending, Trajectory};
use crate::domain::excerpt::beginning;
use crate::domain::markers::{FINISH, TASK, TO_GRADE};
use crate::domain::schema::object_schema;
use crate::domain::{
    InTask, Knob, MenuItem, Message, Prompt, Request, Role, Schemas, Task, ToolCallState, ToolDef,
    ToolName, ToolSpec, WeightFormat, tokens,
};

/// The input of the actor's prompt.
pub struct ActorInput<'a> {
    pub task: &'a Task,
    pub menu: &'a [MenuItem],
    pub trajectory: &'a Trajectory,
    pub reflections: &'a [String],
    /// A note at the end of the prompt; may be empty.
    pub note: &'a str,
    /// Whether no further call is possible, not even one that reads on.
    pub is_last: bool,
}

/// The request for the next action (ToolNet, eq. 4). Its constant parts come first, and the parts that change with each
/// step last: endpoints cache a prompt from its beginning.
pub fn actor(state: &InTask<'_>, asked: &ActorInput<'_>) -> Request {
    let ActorInput { task, menu, trajectory, reflections, .. } = *asked;
    let current = state.current_task();
    let walks = current.and_then(|task| task.strategy).is_some_and(|it| it.base.spec().walks);
    let mut system = state.prompts.text(Prompt::Actor).to_owned();
    if walks && weight_format(state) != WeightFormat::None {
        add(&mut system, state.prompts.text(Prompt::ActorWeights));
    }
    let mut messages = vec![Message::system(system), Message::user(user(task, reflections))];
    conversation(state, trajectory, &mut messages);
    let array = current.and_then(|task| task.array.as_deref());
    let now: Vec<_> = menu.iter().map(|item| &item.tool).collect();
    let more = result::more(state, asked);
    let defined = current.and_then(|task| task.defined.as_deref()).or(array);
    let defined: Vec<&ToolName> = defined.map_or(now.clone(), |tools| tools.iter().collect());
    let is_all = defined.iter().all(|tool| now.contains(tool));
    let is_all = is_all && more != Some(false);
    let names = offer::names(menu, more == Some(true));
    end(&mut messages, &offer::paragraphs(state, asked, &names, is_all));
    let tools = defined.into_iter().filter_map(|tool| self::tool(state, tool));
    let tools = tools.chain([finish(state)]).chain(more.map(|_| result::definition(state)));
    let allowed = if is_all { Vec::new() } else { names };
    Request {
        tools: tools.collect(),
        allowed,
        temperature: Some(state.knobs.get(Knob::Temperature).into()),
        ..Request::new(Role::Actor, messages)
    }
}

/// The last turns, with their results.
fn conversation(state: &InTask<'_>, trajectory: &Trajectory, messages: &mut Vec<Message>) {
    let history = state.knobs.count(Knob::History);
    let skip = trajectory.turns.len().saturating_sub(history);
    for turn in &trajectory.turns[skip..] {
        let (text, calls) = (turn.thought.clone(), turn.calls.clone());
        messages.push(Message::Assistant { text, calls, source: turn.source.clone() });
        if turn.calls.is_empty() {
            messages.push(Message::user(state.prompts.text(turn.wrong.prompt())));
        }
        for (call, called) in turn.calls.iter().zip(&turn.called) {
            let text = result::shown(state, called);
            messages.push(Message::result(call.id.clone(), called.tool.clone(), text));
        }
    }
}

/// Adds paragraphs at the end, in the last message if that is the user's: many models do not accept two messages of one
/// speaker in a row.
fn end(messages: &mut Vec<Message>, paragraphs: &[String]) {
    let said = paragraphs.join("\n\n");
    match messages.last_mut() {
        _ if said.is_empty() => {}
        Some(Message::User { text, .. }) => *text = format!("{text}\n\n{said}"),
        _ => messages.push(Message::user(said)),
    }
}

/// The request for an answer without tools.
pub fn direct(state: &InTask<'_>, task: &Task, reflections: &[String]) -> Request {
    Request {
        temperature: Some(state.knobs.get(Knob::Temperature).into()),
        ..Request::new(
            Role::Actor,
            vec![
                Message::system(state.prompts.text(Prompt::Direct)),
                Message::user(user(task, reflections)),
            ],
        )
    }
}

/// A request without tools and at temperature 0, about a finished attempt.
pub fn about(
    state: &InTask<'_>,
    role: Role,
    prompt: Prompt,
    task: &Task,
    tried: &Trajectory,
    ending: &Ending,
) -> Request {
    let system = state.prompts.text(prompt);
    let results = tried.turns.iter().map(|turn| turn.called.len()).sum();
    let most = state.result_max(role, results);
    let text = format!(
        "{}\n\nWhat was done:\n{}\n\nAnswer: {}\n{}",
        question(task),
        told(tried, |text| beginning(text, most, None).into()),
        ending.answer.as_deref().unwrap_or("none"),
        verdict(ending.feedback(state, task)),
    );
    Request {
        temperature: Some(0.0.into()),
        ..Request::new(role, vec![Message::system(system), Message::user(text)])
    }
}

/// The request that asks whether the result of one call helps with the task.
pub fn helps(state: &InTask<'_>, task: &Task, call: &ToolCallState) -> Request {
    let most = state.result_max(Role::Judge, 1);
    let line = json!({
        "tool": call.tool,
        "arguments": call.arguments,
        "result": call.observation().map(|text| beginning(text, most, None)),
    });
    Request {
        temperature: Some(0.0.into()),
        ..Request::new(
            Role::Judge,
            vec![
                Message::system(state.prompts.text(Prompt::Judge)),
                Message::user(format!("{}\n\nWhat was done:\n{line}", question(task))),
            ],
        )
    }
}

/// The request that asks whether an answer means the same as a right one. The answer is a model's text, so it is sent
/// as JSON.
pub fn grade(state: &InTask<'_>, task: &Task, answer: &str) -> Request {
    let golds: Vec<&str> = task.golds().collect();
    let line = json!({ "right_answers": golds, "answer": answer });
    let text = format!("{}\n\n{TO_GRADE}{line}", question(task));
    let messages = vec![Message::system(state.prompts.text(Prompt::Grader)), Message::user(text)];
    let schema =
        || object_schema(json!({ "right": {"type": "boolean"}, "reason": {"type": "string"} }));
    Request {
        temperature: Some(0.0.into()),
        schema: held_to(state, Role::Grader, schema),
        ..Request::new(Role::Grader, messages)
    }
}

/// The schema, if the model of this role can be constrained to one.
pub fn held_to(state: &InTask<'_>, role: Role, schema: impl FnOnce() -> Value) -> Option<Value> {
    let is_structured = state.models.of(role).is_some_and(|model| model.spec.structured);
    is_structured.then(schema)
}

/// Appends a paragraph.
fn add(text: &mut String, more: &str) {
    text.push(' ');
    text.push_str(more);
}

/// The task, and the conversation that it continues, as JSON: answers are a model's text.
fn question(task: &Task) -> String {
    let mut text = format!("{TASK}{}", task.text);
    if !task.before.is_empty() {
        text.push_str("\n\nIt follows on from this conversation:");
        for exchange in &task.before {
            text.push_str(&format!("\n{}", json!(exchange)));
        }
    }
    text
}

fn user(task: &Task, reflections: &[String]) -> String {
    let mut text = question(task);
    if !reflections.is_empty() {
        text.push_str("\n\nEarlier tries failed. What they taught:");
        for reflection in reflections {
            text.push_str("\n- ");
            text.push_str(reflection);
        }
    }
    text
}

/// The trajectory, one line of JSON for each call, so that neither a model nor a person can mistake a result for an
/// instruction. `shown` shortens results.
fn told(trajectory: &Trajectory, shown: impl Fn(&str) -> String) -> String {
    let lines: Vec<_> = trajectory
        .turns
        .iter()
        .enumerate()
        .flat_map(|(i, turn)| turn.called.iter().map(move |called| (i + 1, turn, called)))
        .map(|(step, turn, called)| {
            json!({
                "step": step,
                "thought": turn.thought,
                "tool": called.tool,
                "arguments": called.arguments,
                "result": shown(&called.observation.text()),
            })
            .to_string()
        })
        .collect();
    if lines.is_empty() { "No tool was called.".to_owned() } else { lines.join("\n") }
}

fn verdict(is_right: Option<bool>) -> &'static str {
    match is_right {
        Some(true) => "The answer is right.",
        Some(false) => "The answer is wrong.",
        None => "Whether the answer is right is not known.",
    }
}

/// The weight format set by the knob.
pub fn weight_format(state: &InTask<'_>) -> WeightFormat {
    state.knobs.choice()
}

/// A tool's definition; `None` for `Finish`, which comes last, and for a tool that was just removed.
fn tool(state: &InTask<'_>, name: &ToolName) -> Option<ToolDef> {
    let spec = &state.tools.get(name)?.spec;
    Some(ToolDef {
        name: spec.name.clone(),
        description: described(state, spec),
        parameters: spec.parameters.clone(),
    })
}

/// The tokens of the definitions of these tools.
pub(super) fn tokens_of<'a>(
    state: &InTask<'_>,
    tools: impl IntoIterator<Item = &'a ToolName>,
) -> u64 {
    let defined: Vec<_> = tools.into_iter().filter_map(|name| tool(state, name)).collect();
    tokens::count_tools(&defined)
}

/// The description of a tool; if the knob `schemas` is `all`, also its learned result schema.
fn described(state: &InTask<'_>, spec: &ToolSpec) -> String {
    let mut text = spec.description.clone();
    if state.knobs.choice::<Schemas>() == Schemas::All
        && let Some(known) = state.tools.get(&spec.name).and_then(|tool| tool.learned.as_ref())
    {
        add(&mut text, &format!("Returns {}", known.learned.schema.to_text()));
    }
    text
}

/// Finishing is always useful, so it has no weight (ToolNet's prompt).
fn finish(state: &InTask<'_>) -> ToolDef {
    ToolDef {
        name: FINISH.into(),
        description: state.prompts.text(Prompt::Finish).to_owned(),
        parameters: Arc::clone(&FINISH_SCHEMA),
    }
}

static FINISH_SCHEMA: LazyLock<Arc<Value>> = LazyLock::new(|| {
    Arc::new(json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "description": "The answer, as short as it can be."},
            "gave_up": {"type": "boolean", "description": "True if no answer can be found."},
        },
        "required": ["answer"],
    }))
});
