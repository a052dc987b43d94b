//! One of a few: a strategy, the class of a tool, a knob's named values.

use ratatui::{buffer::Buffer, crossterm::event::KeyCode, layout::Rect};

use super::{Popup, Reply, Value, frame};
use crate::domain::{Classed, ClassedBy, Command, Knob, State, Strategy, ToolName};
use crate::ui::hits::{Hits, Target};
use crate::ui::pane::{Cx, Move};
use crate::ui::{key::Key, panes::format, text, update::ScreenRequest, vlist};

pub(super) const KEYS: &str = "enter: choose · esc: leave";

/// A few things to choose from.
#[derive(Debug)]
pub struct Choose {
    title: String,
    choices: Vec<Choice>,
    selected: usize,
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
    Type(ToolName, Option<Classed>),
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
            let class = Classed {
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
            detail: "the next plan that needs it has it sorted anew".to_owned(),
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
        Self { title, choices, selected }
    }

    pub(super) fn key(&mut self, key: Key) -> Reply {
        let to = match key.code {
            KeyCode::Enter | KeyCode::Char(' ') => return self.chosen(),
            KeyCode::Up | KeyCode::Char('k') => Move::Up,
            KeyCode::Down | KeyCode::Char('j') => Move::Down,
            KeyCode::Home => Move::Top,
            KeyCode::End => Move::Bottom,
            _ => return Reply::Pass,
        };
        self.selected = vlist::moved(self.choices.len(), Some(self.selected), to, 2).unwrap_or(0);
        Reply::Stay
    }

    fn chosen(&self) -> Reply {
        match self.choices.get(self.selected).map(|choice| (&choice.does, choice.current)) {
            Some((Does::Type(tool, now), _)) => {
                Reply::Replace(Popup::Value(Value::class(tool.clone(), now.as_ref())))
            }
            Some((Does::Send(command), false)) => {
                Reply::Done(vec![ScreenRequest::Send(command.clone())])
            }
            Some((Does::Send(_), true)) | None => Reply::Close,
        }
    }

    pub(super) fn click(&mut self, row: usize) -> Reply {
        self.selected = row;
        self.chosen()
    }

    pub(super) fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let label = |choice: &Choice| text::width(&choice.label);
        let labels = self.choices.iter().map(label).max().unwrap_or(0).min(32);
        let detail = |choice: &Choice| text::width(&choice.detail);
        let details = self.choices.iter().map(detail).max().unwrap_or(0);
        let width = (labels + details + 6).max(text::width(&self.title) + 2).max(36);
        let size = (
            u16::try_from(width).unwrap_or(u16::MAX),
            u16::try_from(self.choices.len()).unwrap_or(u16::MAX),
        );
        let inside = frame::open(cx, (area, buf, hits), &self.title, KEYS, size);
        let window = vlist::Window::default().next(
            self.choices.len(),
            usize::from(inside.height),
            Some(self.selected),
        );
        for (y, i) in (inside.y..).zip(window.range()) {
            let choice = &self.choices[i];
            let line = Rect { y, height: 1, ..inside };
            let mark = if choice.current { "● " } else { "○ " };
            let text = format!("{mark}{}  {}", text::fit(&choice.label, labels), choice.detail);
            let width = usize::from(line.width);
            buf.set_stringn(line.x, y, text::cut(&text, width), width, cx.theme.text);
            if i == self.selected {
                buf.set_style(line, cx.theme.selection);
            }
            hits.add(line, Target::PopupRow(i));
        }
    }
}
