//! The fields that expressions know: what a person sees, by the names that the screen uses.

/// Where a field exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// At every moment of a session.
    Session,
    /// At a call: before or after it.
    Call,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    Text,
    /// A whole number.
    Count,
    /// A number with decimals.
    Amount,
    Flag,
    /// Keys and values of any JSON.
    Json,
    /// A value for each name, as in `score.search_web` or `score["search_web"]`.
    Amounts,
    Counts,
    Texts,
    /// A value for each pair of names, as in `weight.search_web.calculator`.
    Edges,
}

impl FieldType {
    pub fn name(self) -> &'static str {
        match self {
            FieldType::Text => "string",
            FieldType::Count => "int",
            FieldType::Amount => "double",
            FieldType::Flag => "bool",
            FieldType::Json => "map",
            FieldType::Amounts => "double by name",
            FieldType::Counts => "int by name",
            FieldType::Texts => "string by name",
            FieldType::Edges => "double by two names",
        }
    }
}

/// Declaration of a field.
#[derive(Debug)]
pub struct FieldSpec {
    pub name: &'static str,
    pub kind: FieldType,
    pub scope: Scope,
    pub doc: &'static str,
}

impl FieldSpec {
    pub fn named(name: &str) -> Option<&'static FieldSpec> {
        FIELDS.iter().find(|field| field.name == name)
    }

    /// The fields that exist in a scope. A call has all of them.
    pub fn in_scope(scope: Scope) -> impl Iterator<Item = &'static FieldSpec> {
        FIELDS.iter().filter(move |field| scope == Scope::Call || field.scope == Scope::Session)
    }
}

const fn session(name: &'static str, kind: FieldType, doc: &'static str) -> FieldSpec {
    FieldSpec { name, kind, scope: Scope::Session, doc }
}

const fn call(name: &'static str, kind: FieldType, doc: &'static str) -> FieldSpec {
    FieldSpec { name, kind, scope: Scope::Call, doc }
}

use FieldType::{Amount, Amounts, Count, Counts, Edges, Flag, Json, Text, Texts};

/// Every field, in the order in which the help shows them.
pub const FIELDS: &[FieldSpec] = &[
    session("task", Count, "the number of the current task, or of the last one"),
    session("run", Count, "the number of the run that works on it"),
    session("question", Text, "the text of that task"),
    session("step", Count, "the number of its step"),
    session("place", Text, "the agent's current tool, or start"),
    session("strategy", Text, "the strategy of the task"),
    session("budget", Amount, "credits that the task may spend (B)"),
    session("spent", Amount, "credits spent"),
    session("left", Amount, "credits left"),
    session("dollars", Amount, "dollars spent in the session"),
    session("done", Count, "ended tasks"),
    session("right", Count, "tasks with a right answer"),
    session("running", Count, "calls in flight"),
    session("faults", Count, "armed faults"),
    session("score", Amounts, "the score of a tool"),
    session("weight", Edges, "the weight of an edge, from 0 to 1"),
    session("uses", Counts, "uses left of a tool in this task"),
    session("calls", Counts, "runs of a tool in this session"),
    session("failed", Counts, "failures of a tool in this session"),
    session("evidence", Texts, "a piece of evidence of the plan, as in evidence.E1"),
    session("knob", Amounts, "the value of a knob, as in knob.alpha"),
    call("call", Count, "the number of the call"),
    call("kind", Text, "tool, model or embedding"),
    call("when", Text, "before or after"),
    call("tool", Text, "the called tool, or nothing"),
    call("role", Text, "the role of the model call, or nothing"),
    call("model", Text, "the called model, or nothing"),
    call("class", Text, "the class of the tool, or nothing"),
    call("effect", Text, "read, idempotent, write or unknown"),
    call("from", Text, "the previous tool in this task, or start"),
    call("finds", Text, "the evidence that it finds, or nothing"),
    call("args", Json, "the arguments of a tool call, as in args.query"),
    call("prompt", Text, "all text that the model sees"),
    call("result", Text, "the result, as the agent sees it"),
    call("ok", Flag, "whether it ended without an error"),
    call("trouble", Text, "the kind of error, as in breakpoints, or nothing"),
    call("error", Text, "the text of its error, or nothing"),
    call("ms", Count, "run time in milliseconds, without time held"),
    call("tokens_in", Count, "input tokens of the model"),
    call("tokens_out", Count, "output tokens of the model"),
    call("injected", Flag, "whether a fault caused its outcome"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_field_is_declared_once() {
        let names: BTreeSet<_> = FIELDS.iter().map(|field| field.name).collect();
        assert_eq!(names.len(), FIELDS.len());
    }
}
