//! The entry for a number: a score, a weight, a knob; or for the name of a class.

use super::entry_popup::{Accepted, EntryKind, EntryLook, EntryPopup};
use super::{PopupKeys, Pressed, Reply, entry::TextEntry};
use crate::action::{Action, KeyLayer};
use crate::domain::{ClassAssignment, ClassedBy, Command, Knob, Scores, ToolName};
use crate::{cx::Cx, keymap::Hint, request::World, text, view::View};

/// The thing whose value is entered.
#[derive(Clone, Debug)]
enum For {
    Score(ToolName),
    Weight(ToolName, ToolName),
    Knob(Knob),
    /// How many more times the tool may be used.
    Uses(ToolName),
    /// A class and perhaps a domain, with a slash between them.
    Class(ToolName),
}

/// The entry for a number or a name.
pub type ValueEntry = EntryPopup<NamedValue>;

#[derive(Debug)]
pub struct NamedValue {
    what: For,
    title: String,
    doc: String,
    /// Whether a key has changed the value by a step.
    stepped: bool,
}

impl ValueEntry {
    pub fn score(tool: ToolName, score: f64) -> Self {
        let title = format!("Score of {tool}");
        let doc = "any number; the evaluator adds to it";
        Self::new(For::Score(tool), title, doc, &score.to_string())
    }

    pub fn weight(from: ToolName, to: ToolName, weight: f64) -> Self {
        let title = format!("Pin the weight {from} → {to}");
        let doc = "from 0 to 1 (the screen may show 0.25 as 25); stays until you unpin it";
        Self::new(For::Weight(from, to), title, doc, &format!("{weight:.3}"))
    }

    pub fn knob(knob: Knob, value: f64) -> Self {
        let spec = knob.spec();
        let title = format!("{} ({})", spec.name, spec.symbol);
        let doc = format!("{}; {}", spec.range(), spec.doc);
        Self::new(For::Knob(knob), title, &doc, &spec.show(value))
    }

    /// An entry for how many more times a tool may be used.
    pub fn uses(tool: ToolName, uses: u32) -> Self {
        let title = format!("Uses left of {tool}");
        let doc = "a whole number: how often this task may still use the tool; the plan adapts";
        Self::new(For::Uses(tool), title, doc, &uses.to_string())
    }

    pub fn class(tool: ToolName, now: Option<&ClassAssignment>) -> Self {
        let title = format!("Class of {tool}");
        let doc = "a name, or `class / domain`; tools of one class and domain run in parallel; \
                   empty: the next plan classifies it";
        let now = now.map_or_else(String::new, ClassAssignment::name);
        Self::new(For::Class(tool), title, doc, &now)
    }

    fn new(what: For, title: String, doc: &str, value: &str) -> Self {
        let mut entry = TextEntry::line(value);
        entry.fresh = true;
        Self { kind: NamedValue { what, title, doc: doc.to_owned(), stepped: false }, entry }
    }
}

impl NamedValue {
    /// Whether the value stays as set while values around it are computed.
    fn is_pin(&self) -> bool {
        matches!(self.what, For::Weight(..) | For::Uses(_))
    }

    fn command(&self, text: &str) -> Result<Command, String> {
        let number = || text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let wrong = |expected: &str| format!("`{}` is not {expected}", text.trim());
        match &self.what {
            For::Score(tool) => {
                let score = number().filter(|score| score.abs() <= Scores::MAX);
                let score = score.ok_or_else(|| wrong("a score: expected a number such as -3"))?;
                Ok(Command::SetScore { tool: tool.clone(), score })
            }
            For::Weight(from, to) => {
                let weight = number().filter(|weight| (0.0..=1.0).contains(weight));
                let weight = weight.ok_or_else(|| wrong("a number from 0 to 1"))?;
                Ok(Command::PinWeight { from: from.clone(), to: to.clone(), weight })
            }
            For::Uses(tool) => {
                let uses =
                    text.trim().parse().map_err(|_| wrong("a whole number of at least 0"))?;
                Ok(Command::SetUses { tool: tool.clone(), uses })
            }
            For::Class(tool) => {
                let (class, domain) = match text.split_once('/') {
                    Some((class, domain)) => (class.trim(), Some(domain.trim())),
                    None => (text.trim(), None),
                };
                if domain == Some("") || domain.is_some() && class.is_empty() {
                    return Err(wrong("a class, or a class and a domain as in `Search / Hotels`"));
                }
                let class = (!class.is_empty()).then(|| ClassAssignment {
                    class: class.to_owned(),
                    domain: domain.map(str::to_owned),
                    by: ClassedBy::User,
                });
                Ok(Command::SetClass { tool: tool.clone(), class })
            }
            For::Knob(knob) => {
                knob.spec().parse(text).map(|value| Command::TurnKnob { knob: *knob, value })
            }
        }
    }

    fn step(&mut self, entry: &mut TextEntry, steps: i32) {
        let Ok(value) = entry.text().trim().parse::<f64>() else { return };
        let by = f64::from(steps);
        let stepped = match &self.what {
            For::Score(_) => (value + by).to_string(),
            For::Weight(..) => format!("{:.3}", (value + by * 0.05).clamp(0.0, 1.0)),
            For::Uses(_) => (value + by).max(0.0).to_string(),
            For::Knob(knob) => knob.spec().show(knob.spec().turned(value, steps)),
            For::Class(_) => return,
        };
        entry.set(&stepped);
        (entry.fresh, self.stepped) = (true, true);
    }
}

impl EntryKind for NamedValue {
    fn keys(&self) -> PopupKeys {
        const HINTS: &[Hint] = &[
            (&[Action::Accept], "set"),
            (&[Action::Up, Action::Down], "by one step"),
            (&[Action::Leave], "leave"),
        ];
        (KeyLayer::Form, HINTS)
    }

    fn accept(&mut self, entry: &TextEntry, _: &World<'_>, _: &mut View) -> Accepted {
        // Pinning a value where it is has an effect; setting a number to itself has none.
        if entry.fresh && !self.stepped && !self.is_pin() {
            return Ok(Reply::Close);
        }
        self.command(&entry.text()).map(Reply::send)
    }

    fn other_key(&mut self, entry: &mut TextEntry, pressed: Pressed) -> Reply {
        match pressed.action {
            Some(Action::Up) => self.step(entry, 1),
            Some(Action::Down) => self.step(entry, -1),
            _ => entry.key(pressed.key),
        }
        Reply::Stay
    }

    fn look(&self, _: &str, _: &Cx<'_>) -> EntryLook<'_> {
        let width = text::width(&self.doc).clamp(46, 76);
        let rows = text::wrap(&self.doc, width).count();
        let (title, note) = (self.title.as_str().into(), self.doc.as_str().into());
        EntryLook { title, size: (width, rows + 4), note }
    }
}
