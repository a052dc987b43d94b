//! A fault being described, field by field. The fields make up the same text that the command line
//! takes, and that text is what is checked: one grammar, one set of errors.

use ratatui::{buffer::Buffer, layout::Rect};
use strum::VariantArray;

use super::{Keys, Popup, Pressed, Reply, entry::Entry, frame};
use crate::domain::fault::{self, Sort};
use crate::domain::{Command, FaultId, FaultKind, FaultSpec, FaultState, State};
use crate::ui::action::{Action, Layer};
use crate::ui::hits::{Hits, Target};
use crate::ui::panes::row::{self, Row};
use crate::ui::{
    cx::Cx, key::Key, keymap::Hint, request::ScreenRequest, request::World, text, view::View,
};

/// What is asked for, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
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
    /// An error's text. It takes all that follows it where the fault is written, so it comes last.
    Text,
}

/// What is known about a field.
struct About {
    label: &'static str,
    /// What it is called where the fault is written; empty: it has its place there.
    key: &'static str,
    /// What is chosen, or what holds where nothing is typed.
    hint: &'static str,
}

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
    typed: [Entry; Field::VARIANTS.len()],
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
            typed: Default::default(),
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

    /// What is known about a field; `None`: this target or this kind has no such field.
    fn about(&self, field: Field) -> Option<About> {
        let is_for_tools = matches!(self.sort, Sort::Tool | Sort::Class);
        let (label, key, hint) = match (field, &self.kind) {
            (Field::Sort, _) => ("target", "", self.sort.name()),
            (Field::Name, _) if self.sort == Sort::Embedding => return None,
            (Field::Name, _) => ("name", "", ""),
            (Field::Kind, kind) => ("kind", "", kind.name()),
            (Field::Probability, _) => ("probability", "p", "always"),
            (Field::Nth, _) => ("nth call", "nth", "every call"),
            (Field::FromTask, _) => ("from task", "from-task", "at once"),
            (Field::Number, FaultKind::Error { .. }) if is_for_tools => return None,
            (Field::Number, FaultKind::Error { .. }) => ("HTTP status", "status", "500"),
            (Field::Number, FaultKind::Latency { .. }) => ("milliseconds", "ms", "1000"),
            (Field::Number, FaultKind::RateLimit { .. }) => {
                ("retry after", "retry-after", "30 seconds")
            }
            (Field::Text, FaultKind::Error { .. }) if is_for_tools => {
                ("text", "text", "503 Service Unavailable")
            }
            (Field::Text, FaultKind::Error { .. }) => ("text", "text", "none"),
            (Field::Number | Field::Text, _) => return None,
        };
        Some(About { label, key, hint })
    }

    /// The fields that this target and this kind have.
    fn fields(&self) -> impl Iterator<Item = (Field, About)> {
        Field::VARIANTS.iter().filter_map(|field| Some((*field, self.about(*field)?)))
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

    /// As the command line would have it.
    fn written(&self) -> String {
        let target = fault::target_text(self.sort, self.typed(Field::Name).text().trim());
        let mut text = format!("{target}:{}", self.kind.name());
        for (field, About { key, .. }) in self.fields().filter(|(_, it)| !it.key.is_empty()) {
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
        let fields: Vec<Field> = self.fields().map(|(field, _)| field).collect();
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

    fn draw_field(
        &self,
        cx: &Cx<'_>,
        (field, About { label, hint, .. }): (Field, About),
        line: Rect,
        buf: &mut Buffer,
    ) {
        let on = field == self.at;
        let label_style = if on { cx.theme.accent } else { cx.theme.text };
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
    fn keys(&self) -> Keys {
        const HINTS: &[Hint] = &[
            (&[Action::Up, Action::Down], "field"),
            (&[Action::Left, Action::Right], "choose"),
            (&[Action::Accept], "arm"),
            (&[Action::Leave], "leave"),
        ];
        (Layer::Form, HINTS)
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, _: &mut View) -> Reply {
        let live = world.live;
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

    fn click(&mut self, row: usize, world: &World<'_>, _: &mut View) -> Reply {
        let Some((field, _)) = self.fields().nth(row) else { return Reply::Stay };
        if field == self.at && field.is_choice() {
            self.turn(1, world.live);
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
        for ((row, field), line) in self.fields().enumerate().zip(inside.rows()) {
            self.draw_field(cx, field, line, buf);
            hits.add(line, Target::PopupRow(row));
        }
        let below = row::split(inside, Field::VARIANTS.len() as u16 + 1).1;
        let (said, style) = match &self.error {
            Some(error) => (error.clone(), cx.theme.warn),
            None => (self.written(), cx.theme.dim),
        };
        let lines = text::wrap(&said, usize::from(inside.width));
        row::lines(below, lines, style, buf);
    }
}

/// The choice so many places further on, going round; from what is no choice, as from the first.
fn next<T: PartialEq + Copy>(choices: &[T], now: &T, by: isize) -> T {
    let at = choices.iter().position(|choice| choice == now).unwrap_or(0);
    choices[(at + choices.len()).saturating_add_signed(by) % choices.len()]
}
