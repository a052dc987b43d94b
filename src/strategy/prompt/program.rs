//! Prompt texts of the programmer and the attributor, word for word.

use std::fmt::Write as _;

use super::{add, user};
use crate::domain::excerpt::beginning;
use crate::domain::markers::FUNCTIONS;
use crate::domain::program::{Raised, Span};
use crate::domain::result_schema::{Schema, SchemaMode};
use crate::domain::words::clipped;
use crate::domain::{
    InTask, Knob, MenuItem, Message, Prompt, Request, Role, Schemas, Strategy, Task, ToolName,
    ToolSpec, ToolState,
};
use crate::papers::atc::identifiers::{Identifiers, document};
use crate::papers::atc::literal::literal;

/// Characters of an argument in an example.
const ARGUMENT: usize = 80;
/// Characters of a text within a finding.
const SHOWN: usize = 4000;

/// The input of the programmer's prompt.
pub struct ProgrammerInput<'a> {
    pub strategy: Strategy,
    pub task: &'a Task,
    pub menu: &'a [MenuItem],
    pub names: &'a Identifiers,
    pub reflections: &'a [String],
    /// Earlier replies, each with the finding about it.
    pub turns: &'a [(String, String)],
    /// Whether the programmer may name a missing capability instead.
    pub may_lack: bool,
}

/// The request for a program (ATC, eq. 1 and 2): the task, the documents, and the earlier programs with their outcomes.
pub fn programmer(state: &InTask<'_>, asked: &ProgrammerInput<'_>) -> Request {
    let ProgrammerInput { strategy, task, menu, names, reflections, turns, may_lack } = *asked;
    let mut system = state.prompts.text(Prompt::Programmer).to_owned();
    if may_lack {
        add(&mut system, state.prompts.text(Prompt::ProgrammerLack));
    }
    if strategy.prompt {
        add(&mut system, &super::budget::told(state, menu));
    }
    let text =
        format!("{}\n\n{FUNCTIONS}{}", user(task, reflections), documents(state, menu, names));
    let mut messages = vec![Message::system(system), Message::user(text)];
    for (reply, finding) in turns {
        messages.push(Message::assistant(reply));
        messages.push(Message::user(finding.clone()));
    }
    let temperature = Some(state.knobs.get(Knob::Temperature));
    Request { temperature: temperature.map(Into::into), ..Request::new(Role::Programmer, messages) }
}

/// The documents of the offered tools; if a budget plan is enforced, with the calls that it allows.
pub(super) fn documents(state: &InTask<'_>, menu: &[MenuItem], names: &Identifiers) -> String {
    let budget = state.current_task().map(|task| &task.budget);
    let of = |item: &MenuItem| {
        let document = described(state, &item.tool, names.name(&item.tool)?)?;
        let left = budget.and_then(|budget| budget.left(item.tool.as_str()));
        let left = left.map_or_else(String::new, |left| format!("    # calls left: {left}\n"));
        Some(format!("{left}{document}"))
    };
    menu.iter().filter_map(of).collect::<Vec<_>>().join("\n\n")
}

/// The document of a tool, with its results if they are known and may be shown: as learned by probing, else from the
/// example in its manifest.
pub fn described(state: &InTask<'_>, tool: &ToolName, name: &str) -> Option<String> {
    let ToolState { spec, learned, .. } = state.tools.get(tool)?;
    let returns = match learned {
        _ if state.knobs.choice::<Schemas>() == Schemas::Off => None,
        Some(known) => {
            let arguments = known.learned.arguments.as_object().into_iter().flatten();
            let arguments: Vec<String> = arguments
                .map(|(name, value)| format!("{name}={}", clipped(&literal(value), ARGUMENT)))
                .collect();
            let example = format!("{name}({})", arguments.join(", "));
            Some(format!("{}\nExample: {example}", known.learned.schema.to_text()))
        }
        None => of_example(spec).map(|schema| schema.to_text()),
    };
    Some(document(name, spec, returns.as_deref()))
}

/// The schema of the result that a manifest has as an example.
fn of_example(spec: &ToolSpec) -> Option<Schema> {
    let example = &spec.returns.as_ref()?.example;
    let value = serde_json::from_str(example).ok()?;
    Some(Schema::of(SchemaMode::Merged, &[value]))
}

/// The known facts about a program's failure.
pub struct Finding<'a> {
    pub program: &'a str,
    /// The error; `None` if the program ran, but all its calls returned an error, an empty or a null result.
    pub error: Option<&'a Raised>,
    /// Further errors that keep the program from running.
    pub more: &'a [Raised],
    pub printed: &'a str,
    /// The place of a missing key.
    pub elsewhere: Option<String>,
    /// The tool to blame: its name, its document, and the shape of its result.
    pub blamed: Option<Blamed>,
}

/// A blamed tool, as the next prompt describes it.
pub struct Blamed {
    pub name: String,
    pub document: String,
    pub returned: Option<String>,
}

/// The programmer's next turn: what is wrong with its program, and what may help.
pub fn finding(state: &InTask<'_>, found: &Finding<'_>) -> String {
    let mut text = match found.error {
        Some(error) => format!("The program failed:\n\n{}", failure(found.program, error)),
        None => {
            let why =
                "The program ran, but all that its calls returned was an error, empty or null";
            format!("{why}:\n\n{}", numbered(found.program, None))
        }
    };
    for other in found.more {
        let _ = write!(text, "\n\nIt would also fail:\n\n{}", failure(found.program, other));
    }
    if let Some(elsewhere) = &found.elsewhere {
        add(&mut text, elsewhere);
    }
    if let Some(Blamed { name, document, returned }) = &found.blamed {
        let what = if found.error.is_some() { "The error" } else { "The answer" };
        add(&mut text, &format!("{what} comes from {name}. Its document:\n\n{document}"));
        if let Some(returned) = returned {
            add(
                &mut text,
                &format!("What it really returned:\n{}", beginning(returned, SHOWN, None)),
            );
        }
    }
    if !found.printed.trim().is_empty() {
        let when = if found.error.is_some() { "Printed before that" } else { "It printed" };
        add(&mut text, &format!("{when}:\n{}", beginning(found.printed.trim(), SHOWN, None)));
    }
    add(&mut text, state.prompts.text(Prompt::ProgrammerAgain));
    text
}

/// The numbered program with a caret under the failing expression, and the error.
pub fn failure(program: &str, error: &Raised) -> String {
    let mut text = numbered(program, error.span);
    let _ = write!(text, "\n\n{}", error.summary());
    for more in [&error.hint, &error.had].into_iter().flatten() {
        let _ = write!(text, " ({more})");
    }
    text
}

/// The lines with their numbers; below the line of the span, carets mark its expression.
fn numbered(program: &str, span: Option<Span>) -> String {
    let mut lines = Vec::new();
    for (number, line) in (1_u32..).zip(program.lines()) {
        lines.push(format!("{number:>4}  {line}").trim_end().to_owned());
        if let Some(span) = span.filter(|span| span.line == number) {
            let end = if span.end_line == span.line { span.end_column } else { u32::MAX };
            let width = line.chars().count() as u32 + 1;
            let end = end.min(width).max(span.column + 1);
            let mark = "~".repeat((end - span.column) as usize);
            lines.push(format!("{}{mark}", " ".repeat(span.column as usize + 5)));
        }
    }
    lines.join("\n")
}

/// The request for the name of the tool that is to blame.
pub fn attributor(
    state: &InTask<'_>,
    task: &Task,
    (menu, names): (&[MenuItem], &Identifiers),
    program: &str,
    error: &Raised,
) -> Request {
    let tools = menu.iter().filter_map(|item| {
        let spec = &state.tools.get(&item.tool)?.spec;
        let first = spec.description.lines().next().unwrap_or_default();
        Some(format!("- {}: {first}", names.name(&item.tool)?))
    });
    let tools = tools.collect::<Vec<_>>().join("\n");
    let text = format!(
        "{}\n\n{FUNCTIONS}{tools}\n\nThe program:\n\n{}",
        user(task, &[]),
        failure(program, error)
    );
    let system = state.prompts.text(Prompt::Attributor).to_owned();
    Request::new(Role::Attributor, vec![Message::system(system), Message::user(text)])
}
