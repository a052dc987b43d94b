//! A fault being described, field by field. The fields make up the same text that the command line
//! takes, and that text is what is checked: one grammar, one set of errors.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Keys, Popup, Pressed, Reply, entry::Entry, frame};
use crate::domain::fault::{self, Sort};
use crate::domain::{Command, FaultId, FaultKind, FaultSpec, FaultState, State};
use crate::ui::action::{Action, Layer};
use crate::ui::hits::{Hits, Target};
use crate::ui::panes::row::{self, Row};
use crate::ui::{
    cx::Cx, key::Key, keymap::Hint, request::ScreenRequest, request::World, text, view::View,
};

/// A field of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Sort,
    Kind,
    /// What is typed, by its place in [`TYPED`].
    Typed(usize),
}

/// What is typed: its key where the fault is written, its label, and what holds where nothing is typed. A text takes
/// all that follows it where the fault is written, so it comes last.
const TYPED: [(&str, &str, &str); 10] = [
    ("", "name", ""),
    ("p", "probability", "always"),
    ("nth", "nth call", "every call"),
    ("first", "first calls", "any number"),
    ("from-task", "from task", "at once"),
    ("to-task", "to task", "the last"),
    ("status", "HTTP status", "500"),
    ("ms", "milliseconds", "1000"),
    ("retry-after", "retry after", "30 seconds"),
    ("text", "text", "none"),
];

/// The place of the target's name, and of the first setting that only some kinds have.
const NAME: usize = 0;
const OF_KIND: usize = 6;

/// The most fields that a fault has.
const FIELDS: u16 = 10;
/// Cells for the fields' names.
const LABEL: u16 = 13;

/// A fault being described.
#[derive(Debug)]
pub struct FaultForm {
    /// The fault that the new one replaces.
    replaces: Option<FaultId>,
    sort: Sort,
    kind: FaultKind,
    typed: [Entry; TYPED.len()],
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
        form.typed[NAME].set(target.map_or("", fault::Target::name));
        form
    }

    /// Starts from a fault that is there, and replaces it.
    pub fn change(id: FaultId, fault: &FaultState) -> Self {
        let mut form = Self {
            replaces: fault.armed.then_some(id),
            kind: fault.spec.kind.clone(),
            ..Self::new(Some(&fault.spec.target))
        };
        let settings = fault.spec.settings();
        for ((key, ..), entry) in TYPED.iter().zip(&mut form.typed).skip(NAME + 1) {
            let value = settings.iter().find(|(of, _)| of == key);
            entry.set(value.map_or("", |(_, value)| value));
        }
        form
    }

    /// The fields that this target and this kind have, in order.
    fn fields(&self) -> Vec<Field> {
        let takes = |at: &usize| self.kind.takes(TYPED[*at].0, self.sort);
        let settings = (NAME + 1..TYPED.len()).filter(takes).map(Field::Typed);
        let name = (self.sort != Sort::Embedding).then_some(Field::Typed(NAME));
        [Field::Sort].into_iter().chain(name).chain([Field::Kind]).chain(settings).collect()
    }

    /// What a field is called, and what is chosen in it or holds where nothing is typed.
    fn words(&self, field: Field) -> (&'static str, &'static str) {
        match field {
            Field::Sort => ("target", self.sort.name()),
            Field::Kind => ("kind", self.kind.name()),
            Field::Typed(at) => match TYPED[at] {
                ("text", label, _) if matches!(self.sort, Sort::Tool | Sort::Class) => {
                    (label, "503 Service Unavailable")
                }
                (_, label, hint) => (label, hint),
            },
        }
    }

    fn name(&self) -> String {
        self.typed[NAME].text().trim().to_owned()
    }

    /// What is typed into now.
    fn entry_mut(&mut self) -> Option<&mut Entry> {
        if let Field::Typed(at) = self.at { self.typed.get_mut(at) } else { None }
    }

    /// As the command line would have it.
    fn written(&self) -> String {
        let target = fault::target_text(self.sort, &self.name());
        let mut text = format!("{target}:{}", self.kind.name());
        for ((key, ..), entry) in TYPED.iter().zip(&self.typed).skip(NAME + 1) {
            let value = entry.text();
            if !value.trim().is_empty() && self.kind.takes(key, self.sort) {
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
        match self.at {
            Field::Typed(at) if at != NAME => self.typed[at].key(key),
            Field::Typed(_) | Field::Sort | Field::Kind => self.turn(by, live),
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
                self.typed[NAME].set(first.as_ref().map_or("", fault::Target::name));
                if !self.kind.fits(self.sort) {
                    self.set_kind(FaultKind::crash());
                }
            }
            Field::Typed(NAME) => {
                let mut names = live.fault_targets();
                names.retain(|target| target.sort() == self.sort);
                let names: Vec<&str> = names.iter().map(fault::Target::name).collect();
                if !names.is_empty() {
                    self.typed[NAME].set(next(&names, &self.name().as_str(), by));
                }
            }
            Field::Kind => {
                let kinds = FaultKind::ALL.iter().filter(|kind| kind.fits(self.sort));
                let kinds: Vec<&str> = kinds.map(FaultKind::name).collect();
                let name = next(&kinds, &self.kind.name(), by);
                let kind = FaultKind::ALL.iter().find(|kind| kind.name() == name);
                self.set_kind(kind.cloned().unwrap_or_else(FaultKind::crash));
            }
            Field::Typed(_) => {}
        }
    }

    fn set_kind(&mut self, kind: FaultKind) {
        self.kind = kind;
        self.typed[OF_KIND..].iter_mut().for_each(|entry| entry.set(""));
    }

    fn draw_field(&self, cx: &Cx<'_>, field: Field, line: Rect, buf: &mut Buffer) {
        let (label, hint) = self.words(field);
        let on = field == self.at;
        let label_style = if on { cx.theme.accent } else { cx.theme.text };
        let mark = if on { "> " } else { "  " };
        Row::new(line, buf).put(&format!("{mark}{label}"), label_style);
        let x = (line.x + LABEL + 2).min(line.right());
        let value = Rect { x, width: line.right() - x, ..line };
        let Field::Typed(at) = field else {
            return row::note(value, &format!("< {hint} >"), label_style, buf);
        };
        let text = self.typed[at].text();
        if on {
            self.typed[at].draw(cx, value, buf);
        }
        match (text.is_empty(), on) {
            (true, _) => {
                _ = Row::new(value, buf).gap(if on { 2 } else { 0 }).put(hint, cx.theme.dim)
            }
            (false, true) => {}
            (false, false) => row::note(value, &text, cx.theme.text, buf),
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
        let Some(field) = self.fields().get(row).copied() else { return Reply::Stay };
        if field == self.at && self.entry_mut().is_none() {
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
        let inside = frame::open(cx, (area, buf, hits), title, &self.legend(cx), (72, 13));
        for ((row, field), line) in self.fields().into_iter().enumerate().zip(inside.rows()) {
            self.draw_field(cx, field, line, buf);
            hits.add(line, Target::PopupRow(row));
        }
        let below = row::split(inside, FIELDS + 1).1;
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
