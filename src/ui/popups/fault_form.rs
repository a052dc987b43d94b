//! A fault being described, field by field. The fields make up the same text that the command line
//! takes, and that text is what is checked: one grammar, one set of errors.

use ratatui::{buffer::Buffer, layout::Rect};

use super::fields::{Doubts, FormField, FormFields};
use super::{Inspect, Popup, PopupKeys, Pressed, Reply, Subject, frame};
use crate::action::{Action, KeyLayer};
use crate::domain::fault::Trigger;
use crate::domain::target::{Sort, Target, target_text};
use crate::domain::{Command, FaultId, FaultKind, FaultSpec, FaultState, State};
use crate::hits::Hits;
use crate::panes::row;
use crate::window::Window;
use crate::{cx::Cx, keymap::Hint, request::ScreenRequest, request::World, text, view::View};

/// Columns of the form.
const WIDTH: usize = 76;
/// Lines about the selected field and the fault, or for what is wrong.
const BELOW: usize = 4;

/// A fault being described.
#[derive(Debug)]
pub struct FaultForm {
    /// The fault that the new one replaces.
    replaces: Option<FaultId>,
    /// The sort of target that the fields are for.
    sort: Sort,
    kind: FaultKind,
    fields: FormFields,
    error: Option<String>,
    doubts: Doubts,
}

impl FaultForm {
    pub fn new(live: &State, target: Option<&Target>) -> Self {
        let sort = target.map_or(Sort::Tool, Target::sort);
        let name = target.map(Target::name).unwrap_or_default();
        let mut form = Self {
            replaces: None,
            sort,
            kind: FaultKind::outage(),
            fields: FormFields::default(),
            error: None,
            doubts: Doubts::default(),
        };
        form.rebuild(live, &name, &[]);
        // The target is mostly right already.
        form.fields.go_to("kind");
        form
    }

    /// Starts from a fault that is there, and replaces it.
    pub fn change(live: &State, id: FaultId, fault: &FaultState) -> Self {
        let FaultSpec { target, kind, .. } = &fault.spec;
        let mut form = Self::new(live, Some(target));
        form.replaces = fault.armed.then_some(id);
        form.kind = kind.clone();
        form.rebuild(live, &target.name(), &fault.spec.settings());
        form
    }

    /// Makes the fields of this target and this kind, with what is known of their values.
    fn rebuild(&mut self, live: &State, name: &str, settings: &[(&str, String)]) {
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
        self.fields.replace(all);
    }

    /// As the command line would have it.
    fn written(&self) -> String {
        let name = self.fields.text("name");
        let mut text = format!("{}:{}", target_text(self.sort, &name), self.kind.name());
        let own = self.kind.keys(self.sort).iter().filter(|key| **key != "text");
        // A text takes all that follows it.
        for key in own.chain(Trigger::KEYS).chain(&["text"]) {
            let value = self.fields.text(key);
            let value = if *key == "if" { value.replace(':', "\\:") } else { value };
            if !value.is_empty() {
                text.push_str(&format!(":{key}={value}"));
            }
        }
        text
    }

    /// The same in short, where it is right already.
    fn shown(&self) -> String {
        let written = self.written();
        FaultSpec::read(&written).map_or(written, |spec| spec.to_string())
    }

    fn arm(&mut self, live: &State) -> Reply {
        let read = FaultSpec::read(&self.written());
        let spec = read.and_then(|spec| {
            live.check_fault(&spec)?;
            if let Some(condition) = &spec.trigger.condition {
                self.doubts.once(live.unknown_argument(&spec.target, condition))?;
            }
            Ok(spec)
        });
        match spec {
            Ok(spec) => {
                let replaced = self.replaces.map(|fault| Command::DisarmFault { fault });
                let commands = replaced.into_iter().chain([Command::ArmFault { spec }]);
                Reply::Done(commands.map(ScreenRequest::Send).collect())
            }
            Err(error) => {
                self.fields.blame(&error);
                self.error = Some(error);
                Reply::Stay
            }
        }
    }

    /// Another target or another kind has other fields.
    fn settle(&mut self, live: &State) {
        self.error = None;
        let (sort, kind) = (self.fields.text("target"), self.fields.text("kind"));
        if sort == self.sort.name() && kind == self.kind.name() {
            return;
        }
        let mut name = self.fields.text("name");
        if sort != self.sort.name() {
            self.sort = Sort::all().find(|it| it.name() == sort).unwrap_or(self.sort);
            // What was typed for another kind of target is no name here.
            name = live.target_names(self.sort).into_iter().next().unwrap_or_default();
        }
        let named = FaultKind::ALL.iter().find(|it| it.name() == kind && it.fits(self.sort));
        self.kind = named.cloned().unwrap_or_else(FaultKind::outage);
        let settings = Trigger::KEYS.iter().map(|key| (*key, self.fields.text(key)));
        let settings: Vec<(&str, String)> = settings.collect();
        self.rebuild(live, &name, &settings);
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

impl Popup for FaultForm {
    fn keys(&self) -> PopupKeys {
        const HINTS: &[Hint] = &[
            (&[Action::Accept], "arm"),
            (&[Action::Up, Action::Down], "field"),
            (&[Action::Left, Action::Right], "choose"),
            (&[Action::Leave], "leave"),
        ];
        (KeyLayer::Form, HINTS)
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, _: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.arm(world.live),
            Some(Action::Fields) => return Reply::Open(Box::new(Inspect::new(Subject::Fields))),
            _ => self.fields.key(pressed),
        }
        self.settle(world.live);
        Reply::Stay
    }

    fn click(&mut self, row: usize, world: &World<'_>, _: &mut View) -> Reply {
        self.fields.click(row);
        self.settle(world.live);
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.error = None;
        self.fields.paste(text);
    }

    fn window(&mut self) -> Option<&mut Window> {
        Some(&mut self.fields.window)
    }

    fn prepare(&mut self, _: &Cx<'_>, area: Rect) {
        self.fields.fit(rows(self.fields.count(), area));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let title = if self.replaces.is_some() { "Change a fault" } else { "New fault" };
        let rows = rows(self.fields.count(), area);
        let size = (WIDTH, rows + BELOW);
        let inside = frame::open(cx, (area, buf, hits), title, &self.legend(cx), size);
        let (list, below) = row::split(inside, u16::try_from(rows).unwrap_or(u16::MAX));
        self.fields.draw(cx, list, buf, hits);
        let width = usize::from(inside.width);
        let (said, style) = match &self.error {
            Some(error) => {
                (cx.keymap.fill(error).lines().map(str::to_owned).collect(), cx.theme.warn)
            }
            None => {
                (vec![cx.keymap.fill(self.fields.about()).into_owned(), self.shown()], cx.theme.dim)
            }
        };
        let lines: Vec<String> = said.iter().flat_map(|said| text::wrap(said, width)).collect();
        row::lines(below, lines, style, buf);
    }
}

/// Lines for the fields on a screen of this size.
fn rows(fields: usize, area: Rect) -> usize {
    fields.min(usize::from(area.height).saturating_sub(BELOW + 2)).max(1)
}
