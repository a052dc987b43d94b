//! One of a few: a strategy, a model for a role, a knob's named values.

use ratatui::{buffer::Buffer, crossterm::event::KeyCode, layout::Rect};

use super::{Reply, frame};
use crate::{
    chat::Role,
    command::Command,
    knob::Knob,
    spec::ModelSpec,
    state::State,
    ui::{
        hits::{Hits, Target},
        key::Key,
        pane::{Cx, Move},
        panes::units,
        text,
        update::Effect,
        vlist,
    },
};

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
    command: Command,
}

impl Choose {
    /// How the agent acts.
    pub fn strategy(live: &State, strategies: &[String]) -> Self {
        let choices = strategies.iter().map(|strategy| Choice {
            label: strategy.clone(),
            detail: about(strategy),
            current: *strategy == live.strategy,
            command: Command::UseStrategy { strategy: strategy.clone() },
        });
        Self::new("Strategy, from the next task on".to_owned(), choices.collect())
    }

    /// Who plays a role.
    pub fn model(live: &State, role: Role) -> Self {
        let bound = live.models.roles.get(&role).map(|role| &role.model);
        let choices = live.models.known.iter().map(|(name, model)| Choice {
            label: name.to_string(),
            detail: about_model(&model.spec),
            current: bound == Some(name),
            command: Command::BindRole { role, model: name.clone() },
        });
        Self::new(format!("Model for the {role}, from the next ask on"), choices.collect())
    }

    /// A knob's value by name.
    pub fn knob(knob: Knob, names: &[&str], value: f64) -> Self {
        let choices = names.iter().enumerate().map(|(i, name)| Choice {
            label: (*name).to_owned(),
            detail: String::new(),
            current: i as f64 == value,
            command: Command::TurnKnob { knob, value: i as f64 },
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
        match self.choices.get(self.selected) {
            Some(choice) if !choice.current => {
                Reply::Done(vec![Effect::Send(choice.command.clone())])
            }
            Some(_) | None => Reply::Close,
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

fn about(strategy: &str) -> String {
    let mut parts = strategy.split('+');
    let base = match parts.next().unwrap_or_default() {
        "direct" => "one ask, no tools",
        "react" => "every tool on every menu",
        "toolnet" => "walks the weighted graph of tools",
        "dfsdt" => "searches depth first, a new child where one led nowhere",
        "tot-dfs" => "searches depth first, the children ranked by votes",
        _ => "",
    };
    let modifiers = parts.map(|modifier| match modifier {
        "prompt" => "; is told costs and budget",
        "btp" => "; plans for the budget and holds to it",
        "reflexion" => "; reflects and tries again",
        _ => "",
    });
    std::iter::once(base).chain(modifiers).collect()
}

fn about_model(spec: &ModelSpec) -> String {
    let source = spec.source.strip_prefix("simulated: ").unwrap_or(&spec.source);
    let source = text::cut(source, 60);
    if spec.simulated {
        format!("SIMULATED MODEL  {source}")
    } else {
        format!("{source}  {}", units::price(spec))
    }
}
