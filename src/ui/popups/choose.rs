//! One of a few: a strategy, the class of a tool, a knob's named values.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Around, Popup, Pressed, Reply, Value, frame, pick::Pick};
use crate::domain::{ClassAssignment, ClassedBy, Command, Knob, State, Strategy, ToolName};
use crate::ui::action::{Action, Layer};
use crate::ui::panes::{format, row::Row};
use crate::ui::symbols::CHOSEN;
use crate::ui::{cx::Cx, hits::Hits, keymap::Hint, text};

/// A few things to choose from.
#[derive(Debug)]
pub struct Choose {
    title: String,
    choices: Vec<Choice>,
    pick: Pick,
}

#[derive(Debug)]
struct Choice {
    label: String,
    detail: String,
    /// It is what holds now.
    current: bool,
    does: Does,
}

/// What comes of choosing.
#[derive(Debug)]
enum Does {
    Send(Command),
    /// A name for the class of this tool is typed.
    Type(ToolName, Option<ClassAssignment>),
}

impl Choose {
    /// How the agent acts.
    pub fn strategy(live: &State) -> Self {
        let choices = Strategy::all().map(|strategy| Choice {
            label: strategy.to_string(),
            detail: strategy.doc(),
            current: strategy == live.strategy,
            does: Does::Send(Command::UseStrategy { strategy }),
        });
        Self::new("Strategy, from the next task on".to_owned(), choices.collect())
    }

    /// Of which class a tool is: one of those configured, none, or any other name.
    pub fn class(live: &State, tool: &ToolName) -> Self {
        let now = live.tools.get(tool).and_then(|tool| tool.class.as_ref());
        let choice = |detail: &str, class: &str, domain: Option<&str>| {
            let class = ClassAssignment {
                class: class.to_owned(),
                domain: domain.map(str::to_owned),
                by: ClassedBy::User,
            };
            Choice {
                label: class.name(),
                detail: detail.to_owned(),
                current: now
                    .is_some_and(|now| (&now.class, &now.domain) == (&class.class, &class.domain)),
                does: Does::Send(Command::SetClass { tool: tool.clone(), class: Some(class) }),
            }
        };
        let mut choices = Vec::new();
        for (name, class) in &live.workers.classes.0 {
            choices.push(choice(&class.description, name, None));
            let domains = class.domains.iter();
            choices.extend(domains.map(|(domain, about)| choice(about, name, Some(domain))));
        }
        choices.push(Choice {
            label: "none".to_owned(),
            detail: "the next plan that needs it classifies it again".to_owned(),
            current: now.is_none(),
            does: Does::Send(Command::SetClass { tool: tool.clone(), class: None }),
        });
        choices.push(Choice {
            label: "another…".to_owned(),
            detail: "any other name".to_owned(),
            current: choices.iter().all(|choice| !choice.current),
            does: Does::Type(tool.clone(), now.cloned()),
        });
        let said = now.map_or_else(String::new, |now| format!(", {}", format::said(now.by)));
        Self::new(format!("Class of {tool}{said}"), choices)
    }

    /// A knob's value by name.
    pub fn knob(knob: Knob, names: &[&str], value: f64) -> Self {
        let choices = names.iter().enumerate().map(|(i, name)| Choice {
            label: (*name).to_owned(),
            detail: String::new(),
            current: i as f64 == value,
            does: Does::Send(Command::TurnKnob { knob, value: i as f64 }),
        });
        Self::new(format!("{}: {}", knob.spec().name, knob.spec().doc), choices.collect())
    }

    fn new(title: String, choices: Vec<Choice>) -> Self {
        let selected = choices.iter().position(|choice| choice.current).unwrap_or(0);
        Self { title, choices, pick: Pick::at(selected) }
    }
}

impl Popup for Choose {
    fn layer(&self) -> Layer {
        Layer::List
    }

    fn hints(&self) -> &'static [Hint] {
        &[(&[Action::Accept], "choose"), (&[Action::Leave], "leave")]
    }

    fn key(&mut self, pressed: Pressed, around: &mut Around<'_>) -> Reply {
        if pressed.is(Action::Accept) || pressed.is(Action::Toggle) {
            return self.click(self.pick.row, around);
        }
        self.pick.key(pressed, self.choices.len())
    }

    fn click(&mut self, row: usize, _: &mut Around<'_>) -> Reply {
        let Some(Choice { does, current, .. }) = self.choices.get(row) else { return Reply::Close };
        match does {
            Does::Type(tool, now) => {
                Reply::Replace(Box::new(Value::class(tool.clone(), now.as_ref())))
            }
            Does::Send(_) if *current => Reply::Close,
            Does::Send(command) => Reply::send(command.clone()),
        }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let widest = |text: fn(&Choice) -> &str| {
            self.choices.iter().map(|choice| text::width(text(choice))).max().unwrap_or(0)
        };
        let labels = widest(|choice| &choice.label).min(32);
        let details = widest(|choice| &choice.detail);
        let width = (labels + details + 6).max(text::width(&self.title) + 2).max(36);
        let size = (width, self.choices.len());
        let inside = frame::open(cx, (area, buf, hits), &self.title, &self.legend(cx), size);
        self.pick.draw(cx, (inside, buf, hits), self.choices.len(), |i, line, buf| {
            let choice = &self.choices[i];
            let mark = if choice.current { CHOSEN } else { " " };
            let text = format!("{mark} {}  {}", text::fit(&choice.label, labels), choice.detail);
            Row::new(line, buf).put(&text, cx.theme.text);
        });
    }
}
