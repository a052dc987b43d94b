//! A fault being described, field by field. The fields make up the same text that the command line
//! takes, and that text is what is checked: one grammar, one set of errors.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Around, Popup, Pressed, Reply, entry::Entry, frame};
use crate::domain::fault::{self, Sort};
use crate::domain::{Command, FaultId, FaultKind, FaultSpec, FaultState, State};
use crate::ui::action::{Action, Layer};
use crate::ui::hits::{Hits, Target};
use crate::ui::panes::row::Row;
use crate::ui::{cx::Cx, key::Key, keymap::Hint, request::ScreenRequest, text};

/// What is asked for, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Sort,
    /// The target's name, if it has one.
    Name,
    Kind,
    Probability,
    Nth,
    FromTask,
    /// The number of those kinds that have one, such as a latency's milliseconds.
    Number,
    /// An error's text.
    Text,
}

const FIELDS: [Field; 8] = [
    Field::Sort,
    Field::Name,
    Field::Kind,
    Field::Probability,
    Field::Nth,
    Field::FromTask,
    Field::Number,
    Field::Text,
];

impl Field {
    /// One of a few, which are gone through; the other fields are typed.
    fn is_choice(self) -> bool {
        matches!(self, Field::Sort | Field::Kind)
    }
}

/// Cells for the fields' names.
const LABEL: u16 = 13;

/// A fault being described.
#[derive(Debug)]
pub struct FaultForm {
    /// The fault that the new one replaces.
    replaces: Option<FaultId>,
    sort: Sort,
    kind: FaultKind,
    /// What is typed in each field.
    typed: [Entry; FIELDS.len()],
    /// The field that has the keyboard.
    at: Field,
    error: Option<String>,
}

impl FaultForm {
    pub fn new(target: Option<&fault::Target>) -> Self {
        let mut form = Self {
            replaces: None,
            sort: target.map_or(Sort::Tool, fault::Target::sort),
            kind: FaultKind::crash(),
            typed: FIELDS.map(|_| Entry::line("")),
            // The target is mostly right already.
            at: Field::Kind,
            error: None,
        };
        form.set(Field::Name, target.map_or("", fault::Target::name));
        form
    }

    /// Starts from a fault that is there, and replaces it.
    pub fn change(id: FaultId, fault: &FaultState) -> Self {
        let FaultSpec { target, kind, trigger } = &fault.spec;
        let (number, text) = match kind {
            FaultKind::Error { status, text } => (status.map(|n| n.to_string()), text.clone()),
            FaultKind::Latency { ms } => (Some(ms.to_string()), None),
            FaultKind::RateLimit { retry_after } => (Some(retry_after.to_string()), None),
            FaultKind::Timeout
            | FaultKind::Empty
            | FaultKind::Garbage
            | FaultKind::CutStream
            | FaultKind::BrokenArguments => (None, None),
        };
        let mut form = Self {
            replaces: fault.armed.then_some(id),
            kind: kind.clone(),
            ..Self::new(Some(target))
        };
        for (field, value) in [
            (Field::Probability, trigger.probability.map(|p| p.to_string())),
            (Field::Nth, trigger.nth.map(|n| n.to_string())),
            (Field::FromTask, trigger.from_task.map(|n| n.to_string())),
            (Field::Number, number),
            (Field::Text, text),
        ] {
            form.set(field, value.as_deref().unwrap_or_default());
        }
        form
    }

    /// The fields that this target and this kind have.
    fn fields(&self) -> Vec<Field> {
        let has = |field: &Field| match field {
            Field::Name => self.sort != Sort::Embedding,
            Field::Number => self.number_key().is_some(),
            Field::Text => matches!(self.kind, FaultKind::Error { .. }),
            Field::Sort | Field::Kind | Field::Probability | Field::Nth | Field::FromTask => true,
        };
        FIELDS.into_iter().filter(has).collect()
    }

    fn typed(&self, field: Field) -> &Entry {
        &self.typed[field as usize]
    }

    fn set(&mut self, field: Field, text: &str) {
        self.typed[field as usize].set(text);
    }

    /// What is typed into now.
    fn entry_mut(&mut self) -> Option<&mut Entry> {
        (!self.at.is_choice()).then(|| &mut self.typed[self.at as usize])
    }

    fn is_for_tools(&self) -> bool {
        matches!(self.sort, Sort::Tool | Sort::Class)
    }

    /// The key of the kind's number, its name, and what holds where none is given.
    fn number_key(&self) -> Option<(&'static str, &'static str, &'static str)> {
        match self.kind {
            FaultKind::Error { .. } if self.is_for_tools() => None,
            FaultKind::Error { .. } => Some(("status", "HTTP status", "500")),
            FaultKind::Latency { .. } => Some(("ms", "milliseconds", "1000")),
            FaultKind::RateLimit { .. } => Some(("retry-after", "retry after", "30 seconds")),
            FaultKind::Timeout
            | FaultKind::Empty
            | FaultKind::Garbage
            | FaultKind::CutStream
            | FaultKind::BrokenArguments => None,
        }
    }

    /// As the command line would have it.
    fn written(&self) -> String {
        let target = fault::target_text(self.sort, self.typed(Field::Name).text().trim());
        let mut text = format!("{target}:{}", self.kind.name());
        let keys = [("p", Field::Probability), ("nth", Field::Nth), ("from-task", Field::FromTask)];
        let number = self.number_key().map(|(key, ..)| (key, Field::Number));
        let of_error =
            matches!(self.kind, FaultKind::Error { .. }).then_some(("text", Field::Text));
        // The text of an error takes all that follows it, so it comes last.
        for (key, field) in keys.into_iter().chain(number).chain(of_error) {
            let value = self.typed(field).text();
            if !value.trim().is_empty() {
                text.push_str(&format!(":{key}={}", value.trim()));
            }
        }
        text
    }

    fn spec(&self, live: &State) -> Result<FaultSpec, String> {
        let spec = FaultSpec::read(&self.written())?;
        spec.target.among(&live.fault_targets())?;
        Ok(spec)
    }

    fn walk(&mut self, by: isize) {
        let fields = self.fields();
        let at = fields.iter().position(|field| *field == self.at).unwrap_or(0);
        let to = at.saturating_add_signed(by).min(fields.len() - 1);
        self.at = fields[to];
    }

    fn arm(&mut self, live: &State) -> Reply {
        let spec = match self.spec(live) {
            Ok(spec) => spec,
            Err(error) => {
                self.error = Some(error);
                return Reply::Stay;
            }
        };
        let replaced = self.replaces.map(|fault| Command::DisarmFault { fault });
        let commands = replaced.into_iter().chain([Command::ArmFault { spec }]);
        Reply::Done(commands.map(ScreenRequest::Send).collect())
    }

    /// Left and right choose among what is offered, and move in other text.
    fn choose(&mut self, key: Key, by: isize, live: &State) {
        if self.at.is_choice() || self.at == Field::Name {
            self.turn(by, live);
        } else {
            self.typed[self.at as usize].key(key);
        }
    }

    /// Takes the next choice of the field, if it is one of choices.
    fn turn(&mut self, by: isize, live: &State) {
        self.error = None;
        match self.at {
            Field::Sort => {
                self.sort = next(&Sort::all().collect::<Vec<_>>(), &self.sort, by);
                // What was typed for another kind of target is no name here.
                let first = live.fault_targets().into_iter().find(|it| it.sort() == self.sort);
                self.set(Field::Name, first.as_ref().map_or("", fault::Target::name));
                if !self.kind.fits(self.sort) {
                    self.set_kind(FaultKind::crash());
                }
            }
            Field::Name => {
                let mut names = live.fault_targets();
                names.retain(|target| target.sort() == self.sort);
                let names: Vec<&str> = names.iter().map(fault::Target::name).collect();
                if !names.is_empty() {
                    self.set(Field::Name, next(&names, &self.typed(Field::Name).text().trim(), by));
                }
            }
            Field::Kind => {
                let kinds = FaultKind::ALL.iter().filter(|kind| kind.fits(self.sort));
                let kinds: Vec<&str> = kinds.map(FaultKind::name).collect();
                let name = next(&kinds, &self.kind.name(), by);
                let kind = FaultKind::ALL.iter().find(|kind| kind.name() == name);
                self.set_kind(kind.cloned().unwrap_or_else(FaultKind::crash));
            }
            Field::Probability | Field::Nth | Field::FromTask | Field::Number | Field::Text => {}
        }
    }

    fn set_kind(&mut self, kind: FaultKind) {
        self.kind = kind;
        self.set(Field::Number, "");
        self.set(Field::Text, "");
    }

    fn draw_field(&self, cx: &Cx<'_>, field: Field, on: bool, line: Rect, buf: &mut Buffer) {
        let label_style = if on { cx.theme.accent } else { cx.theme.text };
        let (label, hint) = match field {
            Field::Sort => ("target", self.sort.name()),
            Field::Name => ("name", ""),
            Field::Kind => ("kind", self.kind.name()),
            Field::Probability => ("probability", "always"),
            Field::Nth => ("nth call", "every call"),
            Field::FromTask => ("from task", "at once"),
            Field::Number => match self.number_key() {
                Some((_, label, hint)) => (label, hint),
                None => return,
            },
            Field::Text if self.is_for_tools() => ("text", "503 Service Unavailable"),
            Field::Text => ("text", "none"),
        };
        let mark = if on { "> " } else { "  " };
        Row::new(line, buf).put(&format!("{mark}{label}"), label_style);
        let x = (line.x + LABEL + 2).min(line.right());
        let value = Rect { x, width: line.right() - x, ..line };
        let text = self.typed(field).text();
        if field.is_choice() {
            Row::new(value, buf).put(&format!("< {hint} >"), label_style);
        } else if on {
            self.typed(field).draw(cx, value, buf);
            if text.is_empty() {
                Row::new(value, buf).gap(2).put(hint, cx.theme.dim);
            }
        } else if text.is_empty() {
            Row::new(value, buf).put(hint, cx.theme.dim);
        } else {
            Row::new(value, buf).put(&text, cx.theme.text);
        }
    }
}

impl Popup for FaultForm {
    fn layer(&self) -> Layer {
        Layer::Form
    }

    fn hints(&self) -> &'static [Hint] {
        &[
            (&[Action::Up, Action::Down], "field"),
            (&[Action::Left, Action::Right], "choose"),
            (&[Action::Accept], "arm"),
            (&[Action::Leave], "leave"),
        ]
    }

    fn key(&mut self, pressed: Pressed, around: &mut Around<'_>) -> Reply {
        let live = around.live;
        match pressed.action {
            Some(Action::Leave) => return Reply::Close,
            Some(Action::Accept) => return self.arm(live),
            Some(Action::Up) => self.walk(-1),
            Some(Action::Down) => self.walk(1),
            Some(Action::Left) => self.choose(pressed.key, -1, live),
            Some(Action::Right) => self.choose(pressed.key, 1, live),
            _ => {
                self.error = None;
                if let Some(entry) = self.entry_mut() {
                    entry.key(pressed.key);
                } else if pressed.key.types() == Some(' ') {
                    self.turn(1, live);
                }
            }
        }
        Reply::Stay
    }

    fn click(&mut self, row: usize, around: &mut Around<'_>) -> Reply {
        let Some(field) = self.fields().get(row).copied() else { return Reply::Stay };
        if field == self.at && field.is_choice() {
            self.turn(1, around.live);
        }
        self.at = field;
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        if let Some(entry) = self.entry_mut() {
            entry.paste(text);
        }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let title = if self.replaces.is_some() { "Change a fault" } else { "A new fault" };
        let inside = frame::open(cx, (area, buf, hits), title, &self.legend(cx), (72, 12));
        let fields = self.fields().into_iter().enumerate();
        for ((row, field), y) in fields.zip(inside.y..inside.bottom()) {
            let line = Rect { y, height: 1, ..inside };
            self.draw_field(cx, field, field == self.at, line, buf);
            hits.add(line, Target::PopupRow(row));
        }
        let below = inside.y + FIELDS.len() as u16 + 1;
        let (said, style) = match &self.error {
            Some(error) => (error.clone(), cx.theme.warn),
            None => (self.written(), cx.theme.dim),
        };
        let lines = text::wrap(&said, usize::from(inside.width));
        frame::write(lines, style, frame::rest(inside, below), buf);
    }
}

/// The choice so many places further on, going round; from what is no choice, as from the first.
fn next<T: PartialEq + Copy>(choices: &[T], now: &T, by: isize) -> T {
    let at = choices.iter().position(|choice| choice == now).unwrap_or(0);
    choices[(at + choices.len()).saturating_add_signed(by) % choices.len()]
}
