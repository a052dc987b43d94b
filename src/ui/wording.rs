//! What a person is told of an event that makes a line of its own: in words, and who made it where somebody
//! intervened. State keeps the event; only the screen and the command line word it.

use crate::domain::{
    BudgetEvent, By, ChangeEvent, Classed, ControlEvent, EmbeddingEvent, Event, FaultEvent,
    GraphEvent, ModelCallEvent, ModelError, Origin, PlanEvent, SearchEvent, SessionEvent,
    TaskEvent,
};

/// The words for an event, and who made it if it is an intervention. Empty for one that makes no line.
pub fn told(event: &Event) -> (Option<By>, String) {
    match event {
        Event::Session(event) => (None, session(event)),
        Event::Task(TaskEvent::TasksQueued { by, .. }) => {
            (Some(*by), "a task was queued".to_owned())
        }
        Event::ModelCall(ModelCallEvent::ModelCallRetried { attempt, wait_ms, why, .. }) => {
            (None, format!("try {attempt} failed ({why}); again in {wait_ms} ms"))
        }
        Event::Embedding(event) => (None, embedding(event)),
        Event::Fault(FaultEvent::FaultArmed { fault, spec, by }) => {
            (Some(*by), format!("fault {fault} armed: {spec}"))
        }
        Event::Fault(FaultEvent::FaultDisarmed { fault, by }) => {
            (Some(*by), format!("fault {fault} disarmed"))
        }
        Event::Budget(event) => budget(event),
        Event::Plan(event) => plan(event),
        Event::Search(SearchEvent::NodeClosed { node, how, .. }) => {
            (None, format!("step {node} leads nowhere: {}", how.name()))
        }
        Event::Graph(event) => graph(event),
        Event::Change(event) => change(event),
        Event::Control(ControlEvent::LanePaused { lane, by }) => {
            (Some(*by), format!("{lane} paused"))
        }
        Event::Control(ControlEvent::LaneResumed { lane, by }) => {
            (Some(*by), format!("{lane} resumed"))
        }
        Event::Unknown { kind, .. } => {
            (None, format!("event of unknown kind {kind} (a newer version wrote this journal)"))
        }
        Event::Task(_)
        | Event::ModelCall(_)
        | Event::ToolCall(_)
        | Event::Fault(_)
        | Event::Search(_)
        | Event::Control(_) => (None, String::new()),
    }
}

/// Where an outcome comes from, where that has to be said: not live, and not marked as injected.
pub fn origin(origin: Origin) -> Option<&'static str> {
    match origin {
        Origin::Live | Origin::Injected => None,
        Origin::Recorded => Some("recorded"),
        Origin::Person => Some("by a person"),
        Origin::Reused => Some("reused"),
        Origin::Provider => Some("by the provider"),
    }
}

/// Fields that a newer version wrote.
pub fn newer(fields: &[String]) -> String {
    format!("unknown fields {} (a newer version wrote this journal)", fields.join(", "))
}

/// That past tasks are compared by their words, and why.
pub fn not_embedded(error: &ModelError) -> String {
    format!("the task was not embedded ({error}); past tasks are compared by their words")
}

fn session(event: &SessionEvent) -> String {
    match event {
        SessionEvent::CommandRefused { command, why } => format!("cannot {command}: {why}"),
        SessionEvent::Noticed { text } => text.clone(),
        SessionEvent::SessionEnded { why } => format!("session ended: {why}"),
        SessionEvent::SessionOpened { .. }
        | SessionEvent::ToolsAdded { .. }
        | SessionEvent::ToolsRemoved { .. }
        | SessionEvent::PairsLoaded { .. }
        | SessionEvent::ModelsProbed { .. }
        | SessionEvent::ModelReached { .. } => String::new(),
    }
}

fn embedding(event: &EmbeddingEvent) -> String {
    match event {
        EmbeddingEvent::EmbeddingFinished { usage, .. } => {
            format!("the task was embedded, {} tokens", usage.tokens_in)
        }
        EmbeddingEvent::EmbeddingFailed { error, .. } => not_embedded(error),
        EmbeddingEvent::EmbeddingRequested { .. } | EmbeddingEvent::EmbeddingStarted { .. } => {
            String::new()
        }
    }
}

fn budget(event: &BudgetEvent) -> (Option<By>, String) {
    match event {
        BudgetEvent::ToolBlacklisted { tool, why, .. } => {
            (None, format!("{tool} is blacklisted for this task: {why}"))
        }
        BudgetEvent::SummaryStarted { why, .. } => (None, format!("closing: {why}")),
        BudgetEvent::UsesSet { tool, uses, was, by, .. } => {
            (Some(*by), format!("uses left of {tool}: {was} → {uses}"))
        }
        BudgetEvent::Judged { .. } | BudgetEvent::BudgetPlanned { .. } => (None, String::new()),
    }
}

fn plan(event: &PlanEvent) -> (Option<By>, String) {
    match event {
        PlanEvent::ToolsClassified { tools } => {
            let said: Vec<_> =
                tools.iter().map(|(tool, class)| format!("{tool} {}", class.class)).collect();
            (None, format!("sorted into classes: {}", said.join(", ")))
        }
        PlanEvent::ToolClassSet { tool, class, by, .. } => {
            let class = class.as_ref().map_or_else(|| "none".to_owned(), Classed::name);
            (Some(*by), format!("class of {tool}: {class}"))
        }
        PlanEvent::PlanRefused { why, .. } => (None, format!("the plan could not be used: {why}")),
        PlanEvent::EvidenceFound { evidence, nulled: Some(nulled), saved, .. } => {
            let text =
                format!("{evidence} reaches the solver as null ({nulled}), {saved} tokens saved");
            (None, text)
        }
        PlanEvent::EvidenceFound { .. } | PlanEvent::PlanWritten { .. } => (None, String::new()),
    }
}

fn graph(event: &GraphEvent) -> (Option<By>, String) {
    match event {
        GraphEvent::ScoreSet { tool, score, was, by } => {
            (Some(*by), format!("score of {tool}: {was} → {score}"))
        }
        GraphEvent::WeightPinned { from, to, weight, by, .. } => {
            (Some(*by), format!("weight {from} → {to} pinned at {weight:.2}"))
        }
        GraphEvent::WeightUnpinned { from, to, by, .. } => {
            (Some(*by), format!("weight {from} → {to} no longer pinned"))
        }
        GraphEvent::EdgeExplored { from, to } => (None, format!("new edge {from} → {to}")),
        GraphEvent::EvaluationRefused { why, .. } => (None, format!("evaluation refused: {why}")),
        GraphEvent::GraphLoaded { .. } | GraphEvent::Evaluated { .. } => (None, String::new()),
    }
}

fn change(event: &ChangeEvent) -> (Option<By>, String) {
    match event {
        ChangeEvent::KnobTurned { knob, value, was, by } => {
            let spec = knob.spec();
            let text = format!("{}: {} → {}", spec.name, spec.show(*was), spec.show(*value));
            (Some(*by), text)
        }
        ChangeEvent::RoleBound { role, model, was, by } => {
            (Some(*by), format!("{role}: {was} → {model}"))
        }
        ChangeEvent::StrategyChosen { strategy, was, by } => {
            (Some(*by), format!("strategy: {was} → {strategy}"))
        }
        ChangeEvent::ToolSwitched { tool, on, by } => {
            let how = if *on { "back on the menu" } else { "off the menu" };
            (Some(*by), format!("{tool} {how}"))
        }
    }
}
