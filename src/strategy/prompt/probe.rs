//! Prompt texts of the prober, word for word.

use super::add;
use super::program::documents;
use crate::domain::markers::FUNCTIONS;
use crate::domain::{
    InTask, Knob, MenuItem, Message, Prompt, Request, Role, ToolName, ToolSpec, ToolState,
};
use crate::papers::atc::identifiers::{Identifiers, document};

/// The most places that are listed for one tool.
const PLACES: usize = 4;

/// The input of the prober's prompt.
pub struct ProberInput<'a> {
    /// The tool that is probed; the first of the menu.
    pub tool: &'a ToolName,
    /// The probed tool, and the tools whose results its program may use.
    pub menu: &'a [MenuItem],
    pub names: &'a Identifiers,
    /// Earlier replies for this tool, each with the finding about it.
    pub turns: &'a [(String, String)],
}

/// The request for a question and a program that show what a tool returns.
pub fn prober(state: &InTask<'_>, asked: &ProberInput<'_>) -> Request {
    let ProberInput { tool, menu, names, turns } = *asked;
    let filled = [("{function}", names.name(tool).unwrap_or_default())];
    let mut system = state.prompts.filled(Prompt::Prober, &filled);
    if menu.len() > 1 {
        add(&mut system, &state.prompts.filled(Prompt::ProberHelpers, &filled));
    }
    let text = format!("{FUNCTIONS}{}", documents(state, menu, names));
    let mut messages = vec![Message::system(system), Message::user(text)];
    for (reply, finding) in turns {
        messages.push(Message::assistant(reply));
        messages.push(Message::user(finding.clone()));
    }
    with_temperature(state, messages)
}

/// The request for the tools that can help to call another one. Each is shown with the places where its result has a
/// value with the name of an argument.
pub fn select(
    state: &InTask<'_>,
    tool: &ToolName,
    known: &[ToolName],
    names: &Identifiers,
) -> Request {
    let name = names.name(tool).unwrap_or_default();
    let own = state.tools.get(tool).map(|tool| &tool.spec);
    let wanted: Vec<&str> = own.map(|spec| required(spec).collect()).unwrap_or_default();
    let line = |known: &ToolName| {
        let ToolState { spec, learned, .. } = state.tools.get(known)?;
        let first = spec.description.lines().next().unwrap_or_default();
        let needs: Vec<&str> = required(spec).collect();
        let places = learned.iter().flat_map(|known| {
            wanted.iter().flat_map(|argument| known.learned.schema.find_argument(argument))
        });
        let has: Vec<String> = places.take(PLACES).collect();
        let has = if has.is_empty() { String::new() } else { format!("; has {}", has.join(", ")) };
        Some(format!("- {}({}): {first}{has}", names.name(known)?, needs.join(", ")))
    };
    let list = known.iter().filter_map(line).collect::<Vec<_>>().join("\n");
    let own = own.map(|spec| document(name, spec, None));
    let text = format!("{}\n\n{FUNCTIONS}{list}", own.unwrap_or_default());
    let system = state.prompts.filled(Prompt::ProberSelect, &[("{function}", name)]);
    with_temperature(state, vec![Message::system(system), Message::user(text)])
}

fn required(spec: &ToolSpec) -> impl Iterator<Item = &str> {
    spec.parameters["required"].as_array().into_iter().flatten().filter_map(|name| name.as_str())
}

fn with_temperature(state: &InTask<'_>, messages: Vec<Message>) -> Request {
    let temperature = Some(state.knobs.get(Knob::Temperature));
    Request { temperature: temperature.map(Into::into), ..Request::new(Role::Prober, messages) }
}
