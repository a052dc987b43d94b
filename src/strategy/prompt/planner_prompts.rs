//! Prompt texts of planner, workers, solver and classifier, word for word.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde_json::Value;

use super::{add, user, weight_format};
use crate::domain::markers::{EVIDENCE, LLM, QUESTION, TOOLS};
use crate::domain::{
    InTask, Knob, MenuItem, MenuReason, Message, Prompt, Request, Role, Strategy, Task, ToolName,
    WeightFormat,
};
use crate::papers::plan::{OfferedTool, PlanTools};

/// An answer of the planner that could not be used.
pub struct RefusedPlan {
    pub text: String,
    pub why: String,
}

/// The input of the planner's prompt.
pub struct PlannerInput<'a> {
    pub strategy: Strategy,
    pub task: &'a Task,
    pub menu: &'a [MenuItem],
    pub reflections: &'a [String],
    pub refused: Option<&'a RefusedPlan>,
    /// Whether the planner may name a missing capability instead.
    pub may_lack: bool,
}

/// The request for a plan; repeated with the faults of the first one.
pub fn planner(state: &InTask<'_>, asked: &PlannerInput<'_>) -> Request {
    let PlannerInput { strategy, task, menu, reflections, refused, may_lack } = *asked;
    let mut system = state.prompts.text(Prompt::Planner).to_owned();
    let how = match strategy.base.spec().by_class {
        true => Prompt::PlannerTogether,
        false => Prompt::PlannerAlone,
    };
    add(&mut system, state.prompts.text(how));
    let structured = state.models.of(Role::Planner).is_some_and(|model| model.spec.structured);
    if may_lack {
        add(&mut system, state.prompts.text(Prompt::PlannerLack));
    }
    if structured {
        add(&mut system, state.prompts.text(Prompt::PlannerJson));
    }
    if strategy.prompt {
        add(&mut system, &super::budget::told(state, menu));
    }
    let text = format!("{}\n\n{TOOLS}{}", user(task, reflections), tools(state, menu, strategy));
    let mut messages = vec![Message::system(system), Message::user(text)];
    if let Some(refused) = refused {
        messages.push(Message::assistant(&refused.text));
        let why = [("{why}", refused.why.as_str())];
        messages.push(Message::user(state.prompts.filled(Prompt::PlannerAgain, &why)));
    }
    let names = menu.iter().map(|item| item.tool.as_str()).chain([LLM]);
    Request {
        schema: structured.then(|| crate::papers::plan::schema(names)),
        ..plain(state, Role::Planner, messages)
    }
}

/// The tools that a plan may call, including the model.
pub fn offered(state: &InTask<'_>, menu: &[MenuItem]) -> PlanTools {
    let tool = |item: &MenuItem| {
        let spec = state.tools.get(&item.tool).map(|tool| &tool.spec);
        let names = spec.and_then(|spec| spec.parameters["properties"].as_object());
        let parameters: Vec<String> =
            names.into_iter().flat_map(|names| names.keys().cloned()).collect();
        let takes_nothing = names.is_some_and(serde_json::Map::is_empty);
        OfferedTool { name: item.tool.to_string(), parameters, takes_nothing }
    };
    let tools = menu.iter().filter(|item| item.why != MenuReason::Finish).map(tool);
    let parameters = vec!["question".to_owned()];
    let model = OfferedTool { name: LLM.to_owned(), parameters, takes_nothing: false };
    PlanTools::new(tools.chain([model]))
}

/// The tools by class, one per line, including the model.
fn tools(state: &InTask<'_>, menu: &[MenuItem], strategy: Strategy) -> String {
    // Tools without a class come first: below a heading they would seem to belong to that class.
    let mut classes: IndexMap<String, Vec<&MenuItem>> =
        IndexMap::from([(String::new(), Vec::new())]);
    for item in menu.iter().filter(|item| item.why != MenuReason::Finish) {
        let class = state.tools.get(&item.tool).and_then(|tool| tool.class.as_ref());
        let heading = match class.filter(|_| strategy.base.spec().by_class) {
            Some(class) => match &class.domain {
                Some(domain) => format!("{} / {domain}", class.class),
                None => class.class.clone(),
            },
            None => String::new(),
        };
        classes.entry(heading).or_default().push(item);
    }
    let mut text = String::new();
    for (class, items) in &classes {
        if !class.is_empty() {
            let _ = writeln!(text, "{class}:");
        }
        for item in items {
            line(&mut text, state, item);
        }
    }
    let _ = write!(
        text,
        "- {LLM}(question): answers a question about evidence that is named in it, such as \
         {LLM}[In which year was that, given #E1? The year only.]"
    );
    text
}

fn line(text: &mut String, state: &InTask<'_>, item: &MenuItem) {
    let Some(spec) = state.tools.get(&item.tool).map(|tool| &tool.spec) else { return };
    let format = weight_format(state);
    let weight = item.weight.filter(|_| format != WeightFormat::None);
    let weight = weight.map(|weight| format!(" [weight {}]", format.show(*weight)));
    let budget = state.current_task().map(|task| &task.budget);
    let uses = budget.and_then(|budget| budget.left(item.tool.as_str()));
    let uses = uses.map(|uses| format!(" (calls left: {uses})"));
    let _ = writeln!(
        text,
        "- {}({}):{}{} {}",
        spec.name,
        parameters(&spec.parameters),
        weight.unwrap_or_default(),
        uses.unwrap_or_default(),
        spec.description.split_whitespace().collect::<Vec<_>>().join(" "),
    );
}

/// The names of a tool's arguments; optional ones with a question mark.
fn parameters(schema: &Value) -> String {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name))
    };
    let names = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| if required(name) { name.clone() } else { format!("{name}?") });
    names.collect::<Vec<_>>().join(", ")
}

/// The request for the answer.
pub fn solver(state: &InTask<'_>, task: &Task, reflections: &[String], worklog: &str) -> Request {
    let text = format!("{}\n\n{EVIDENCE}{worklog}", user(task, reflections));
    plain(
        state,
        Role::Solver,
        vec![Message::system(state.prompts.text(Prompt::Solver)), Message::user(text)],
    )
}

/// The request to a model for a piece of evidence.
pub fn worker(state: &InTask<'_>, task: &Task, question: &str) -> Request {
    let text = format!("{}\n\n{QUESTION}{question}", super::question(task));
    plain(
        state,
        Role::Actor,
        vec![Message::system(state.prompts.text(Prompt::Worker)), Message::user(text)],
    )
}

/// The request for the classes of tools.
pub fn classifier(state: &InTask<'_>, tools: &[ToolName]) -> Request {
    let mut text = "Classes:\n".to_owned();
    for (name, class) in &state.workers.classes.0 {
        let _ = writeln!(text, "- {name}: {}", class.description);
        for (domain, description) in &class.domains {
            let _ = writeln!(text, "  - {domain}: {description}");
        }
    }
    let _ = write!(text, "\n{TOOLS}");
    for tool in tools.iter().filter_map(|tool| state.tools.get(tool)) {
        let description = tool.spec.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "- {}: {description}", tool.spec.name);
    }
    let system = Message::system(state.prompts.text(Prompt::Classifier));
    let mut request = plain(state, Role::Classifier, vec![system, Message::user(text)]);
    request.temperature = Some(0.0.into());
    request
}

fn plain(state: &InTask<'_>, role: Role, messages: Vec<Message>) -> Request {
    Request {
        temperature: Some(state.knobs.get(Knob::Temperature).into()),
        ..Request::new(role, messages)
    }
}
