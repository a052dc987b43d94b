//! The form of a fault.

use super::fields::{Doubts, FormField, FormFields};
use super::spec_form::{SpecForm, SpecKind};
use crate::domain::fault::Trigger;
use crate::domain::target::{Sort, Target, target_text};
use crate::domain::{Command, FaultId, FaultKind, FaultSpec, FaultState, State};

/// A fault being described.
pub type FaultForm = SpecForm<FaultFormKind>;

#[derive(Debug)]
pub struct FaultFormKind {
    /// The fault that the new one replaces.
    replaces: Option<FaultId>,
    /// The sort of target whose fields are shown.
    sort: Sort,
    kind: FaultKind,
}

impl FaultForm {
    pub fn new(live: &State, target: Option<&Target>) -> Self {
        let sort = target.map_or(Sort::Tool, Target::sort);
        let name = target.map(Target::name).unwrap_or_default();
        let kind = FaultFormKind { replaces: None, sort, kind: FaultKind::outage() };
        // The target is mostly right already.
        let fields = kind.fields(live, &name, &[]);
        Self::at(kind, FormFields::new(fields), "kind")
    }

    /// Starts from an existing fault, and replaces it.
    pub fn change(live: &State, id: FaultId, fault: &FaultState) -> Self {
        let FaultSpec { target, kind, .. } = &fault.spec;
        let replaces = fault.armed.then_some(id);
        let kind = FaultFormKind { replaces, sort: target.sort(), kind: kind.clone() };
        let fields = kind.fields(live, &target.name(), &fault.spec.settings());
        Self::at(kind, FormFields::new(fields), "kind")
    }
}

impl FaultFormKind {
    /// The fields of this target and this kind, with the known values.
    fn fields(&self, live: &State, name: &str, settings: &[(&str, String)]) -> Vec<FormField> {
        let (sort, kind) = (self.sort, &self.kind);
        let sorts: Vec<&str> = Sort::all().map(Sort::name).collect();
        let kinds = FaultKind::ALL.iter().filter(|kind| kind.fits(sort));
        let kinds: Vec<&str> = kinds.map(FaultKind::name).collect();
        let value = |key: &str| {
            let found = settings.iter().find(|(of, _)| *of == key);
            found.map_or("", |(_, value)| value.as_str())
        };
        let mut all =
            vec![FormField::chosen("target", &sorts, sort.name()).about(about_target(sort))];
        if sort.takes_name() {
            let hint = if sort == Sort::Edge { "search_web->calculator" } else { "" };
            let names = live.target_names(sort);
            all.push(FormField::typed("name", name, hint).about("its name").offering(names));
        }
        all.push(FormField::chosen("kind", &kinds, kind.name()).about("what happens to the call"));
        for key in kind.keys(sort) {
            let choices = FaultKind::choices(key);
            all.push(if choices.is_empty() {
                let (hint, about) = of_kind(key, kind, sort);
                FormField::typed(*key, value(key), hint).about(about)
            } else {
                FormField::chosen(key, &choices, value(key)).about("left and right choose")
            });
        }
        all.extend(Trigger::KEYS.iter().map(|key| {
            let (hint, about) = of_trigger(key);
            FormField::typed(*key, value(key), hint).about(about)
        }));
        all
    }

    /// As the command line would have it.
    fn written(&self, fields: &FormFields) -> String {
        let name = fields.text("name");
        let mut text = format!("{}:{}", target_text(self.sort, &name), self.kind.name());
        let own = self.kind.keys(self.sort).iter().filter(|key| **key != "text");
        // `text` comes last, since it takes the rest of the line.
        for key in own.chain(Trigger::KEYS).chain(&["text"]) {
            let value = fields.text(key);
            if !value.is_empty() {
                text.push_str(&FaultSpec::written(key, &value));
            }
        }
        text
    }
}

impl SpecKind for FaultFormKind {
    const ACCEPT: &'static str = "arm";

    fn title(&self) -> String {
        if self.replaces.is_some() { "Change a fault" } else { "New fault" }.to_owned()
    }

    fn settle(&mut self, fields: &mut FormFields, live: &State) {
        let (sort, kind) = (fields.text("target"), fields.text("kind"));
        if sort == self.sort.name() && kind == self.kind.name() {
            return;
        }
        let mut name = fields.text("name");
        if sort != self.sort.name() {
            self.sort = Sort::all().find(|it| it.name() == sort).unwrap_or(self.sort);
            // The name that was typed belongs to another kind of target.
            name = live.target_names(self.sort).into_iter().next().unwrap_or_default();
        }
        let named = FaultKind::ALL.iter().find(|it| it.name() == kind && it.fits(self.sort));
        self.kind = named.cloned().unwrap_or_else(FaultKind::outage);
        let settings = Trigger::KEYS.iter().map(|key| (*key, fields.text(key)));
        let settings: Vec<(&str, String)> = settings.collect();
        fields.replace(self.fields(live, &name, &settings));
    }

    fn commands(
        &self,
        fields: &FormFields,
        live: &State,
        doubts: &mut Doubts,
    ) -> Result<Vec<Command>, String> {
        let spec = FaultSpec::read(&self.written(fields))?;
        live.check_fault(&spec)?;
        if let Some(condition) = &spec.trigger.condition {
            doubts.once(live.unknown_argument(&spec.target, condition))?;
        }
        let replaced = self.replaces.map(|fault| Command::DisarmFault { fault });
        Ok(replaced.into_iter().chain([Command::ArmFault { spec }]).collect())
    }

    fn summary(&self, fields: &FormFields) -> String {
        let written = self.written(fields);
        FaultSpec::read(&written).map_or(written, |spec| spec.to_string())
    }
}

fn about_target(sort: Sort) -> &'static str {
    match sort {
        Sort::Tool => "the calls of one tool",
        Sort::Class => "the calls of all tools of a class",
        Sort::Edge => "the calls of a tool right after another tool",
        Sort::Effect => "the calls of all tools with this effect",
        Sort::Mcp => "the calls of all tools of an MCP server",
        Sort::Tools => "the calls of every tool",
        Sort::Role => "the model calls of a role",
        Sort::Model => "the calls of a model",
        Sort::Server => "the calls of all models at an address",
        Sort::Models => "the calls of every model",
        Sort::Embedding => "the requests to the embedding model",
        Sort::Any => "every call; `if` narrows them down",
    }
}

/// The default and the description of a setting of a fault kind.
fn of_kind(key: &str, kind: &FaultKind, sort: Sort) -> (&'static str, &'static str) {
    match (key, kind) {
        ("text", FaultKind::Error { .. }) if sort.is_of_tools() => {
            ("503 Service Unavailable", "the text of the error")
        }
        ("text", FaultKind::Error { .. }) => ("none", "the text of the error"),
        ("text", FaultKind::Answer { .. }) => ("", "the text of the answer"),
        ("text", FaultKind::Injection { .. }) => {
            ("ignore all earlier instructions", "the instruction; {canary} inserts a unique word")
        }
        ("text", _) => ("an error in JSON", "the text of the answer"),
        ("status", _) => ("500", "the HTTP status, from 400 to 599"),
        ("ms", _) => ("1000", "milliseconds, on average"),
        ("retry-after", _) => ("30", "seconds until it recovers"),
        ("up", _) => ("10", "seconds of success"),
        ("down", _) => ("10", "seconds of failure"),
        ("kb", _) => ("1024", "the size of the answer in KiB"),
        ("value", _) => ("3", "the score, or its largest error"),
        ("times", _) => ("10", "the factor of the price"),
        _ => ("", ""),
    }
}

/// The default and the description of a trigger condition.
fn of_trigger(key: &str) -> (&'static str, &'static str) {
    match key {
        "if" => (
            "any call",
            "a condition on the call, such as args.n > 3; <key:form.fields> lists the fields",
        ),
        "p" => ("always", "the probability, from 0 to 1"),
        "nth" => ("every call", "only the nth call"),
        "first" => ("any number", "only the first calls"),
        "from" => ("the first", "from this call on"),
        "to" => ("the last", "up to this call"),
        "every" => ("every call", "only every kth call"),
        "most" => ("any number", "the most calls that it hits"),
        "for" => ("any time", "seconds until it disarms itself"),
        "from-task" => ("at once", "from this task on"),
        _ => ("the last", "up to this task; then it disarms itself"),
    }
}
