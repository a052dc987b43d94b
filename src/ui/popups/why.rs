//! The origin of a program's value: the path back through variables to the calls that made it. Each step leads to its
//! place.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{Inspect, Popup, PopupKeys, Pressed, Reply, Subject, frame, pick::Pick};
use crate::action::{Action, KeyLayer};
use crate::domain::program::Set;
use crate::domain::state::ProgramState;
use crate::domain::{EffectId, State, TaskId};
use crate::panes::row::{self, Row};
use crate::panes::{inline_json, program_words::shown};
use crate::papers::atc::blame::{FlowStep, ways};
use crate::papers::atc::identifiers::Identifiers;
use crate::papers::atc::record;
use crate::symbols::LEADS;
use crate::{
    cx::Cx, hits::Hits, keymap::Hint, pane::PaneId, request::World, text::clean, view::View,
    window::Window,
};

/// Columns of the box, if the screen has as many.
const WIDTH: usize = 100;
/// Cells of a name, and of a line's number.
const NAME: usize = 24;
const LINE: usize = 10;
/// Cells of a value.
const VALUE: usize = 60;

/// A step of a path.
#[derive(Debug)]
struct ProvenanceStep {
    /// Whether the step is the first of its path.
    begins: bool,
    name: String,
    line: u32,
    /// The value at this step, or the call.
    said: String,
    call: Option<EffectId>,
}

/// The paths of a value.
#[derive(Debug)]
pub struct Why {
    program: (TaskId, u32),
    line: u32,
    /// The text of the line.
    text: String,
    places: Vec<ProvenanceStep>,
    pick: Pick,
}

impl Why {
    /// The paths to the value of a line; if the program failed in this line, to the failing expression. `shown`: the
    /// program with its values at the moment looked at.
    pub fn of(
        state: &State,
        (task, number): (TaskId, u32),
        shown: Option<&ProgramState>,
        line: u32,
    ) -> Self {
        let program = shown.or_else(|| state.program(task, number));
        let at = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        let text = program.and_then(|program| program.text.lines().nth(at)).unwrap_or_default();
        let text = clean(text.trim()).into_owned();
        let places = program.map_or_else(Vec::new, |program| places(state, program, line));
        Self { program: (task, number), line, text, places, pick: Pick::default() }
    }

    fn open(&self, state: &State, view: &mut View) -> Reply {
        let Some(place) = self.places.get(self.pick.row) else { return Reply::Close };
        if let Some(call) = place.call {
            view.choose_call(state, call);
            return Reply::Replace(Box::new(Inspect::new(Subject::Call(call))));
        }
        view.program = Some(self.program);
        view.program_line = Some(place.line);
        view.go_to(PaneId::Program);
        Reply::Close
    }
}

fn places(state: &State, program: &ProgramState, line: u32) -> Vec<ProvenanceStep> {
    let names = Identifiers::of(state.tools.keys());
    let tools: Vec<&str> = state.tools.keys().filter_map(|tool| names.name(tool)).collect();
    let error = program.error().filter(|error| error.line() == Some(line));
    let failed = error.and_then(|error| error.span);
    let way = record::way(state, program).unwrap_or_default();
    let made = |step: &FlowStep| {
        let tool = names.tool(&step.name);
        way.iter().rev().find(|call| call.line == Some(step.line) && Some(&call.tool) == tool)
    };
    let place = |begins: bool, step: &FlowStep| {
        let call = made(step);
        let value = |set: &Set| shown(&set.value, VALUE);
        let said = match call {
            Some(call) => {
                format!("{LEADS} ({})", inline_json::arguments(&call.arguments, VALUE))
            }
            None => {
                let set = program.values_of(step.line).filter(|set| set.name == step.name);
                set.last().map(value).unwrap_or_default()
            }
        };
        let (name, said) = (clean(&step.name).into_owned(), clean(&said).into_owned());
        ProvenanceStep { begins, name, line: step.line, said, call: call.map(|call| call.id) }
    };
    let all = ways(&program.text, line, failed, &tools);
    all.iter().flat_map(|way| way.iter().enumerate().map(|(i, step)| place(i == 0, step))).collect()
}

impl Popup for Why {
    fn keys(&self) -> PopupKeys {
        const HINTS: &[Hint] = &[
            (&[Action::Accept], "go there, or open the call"),
            (&[Action::Down, Action::Up], "step"),
            (&[Action::Leave], "leave"),
        ];
        (KeyLayer::List, HINTS)
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Accept) => self.open(world.shown, view),
            _ => self.pick.key(pressed, self.places.len()),
        }
    }

    fn click(&mut self, row: usize, world: &World<'_>, view: &mut View) -> Reply {
        if self.pick.row == row {
            return self.open(world.shown, view);
        }
        self.pick.row = row;
        Reply::Stay
    }

    fn window(&mut self) -> Option<&mut Window> {
        Some(&mut self.pick.window)
    }

    fn prepare(&mut self, _: &Cx<'_>, area: Rect) {
        let room = usize::from(area.height).saturating_sub(7).max(1);
        self.pick.fit(self.places.len(), self.places.len().clamp(1, room));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let (_, number) = self.program;
        let title = format!("Why: line {} of program {number}", self.line);
        let width = usize::from(area.width).saturating_sub(8).clamp(20, WIDTH);
        let size = (width, self.pick.window.rows.max(1) + 2);
        let inside = frame::open(cx, (area, buf, hits), &title, &self.legend(cx), size);
        let (head, list) = row::split(inside, 2);
        row::note(head, &self.text, cx.theme.title, buf);
        if self.places.is_empty() {
            let words = "this value comes from no tool call";
            return row::note(list, words, cx.theme.dim, buf);
        }
        self.pick.draw(cx, (list, buf, hits), |i, line, buf| {
            let ProvenanceStep { begins, name, line: at, said, call } = &self.places[i];
            let mut row = Row::new(line, buf);
            let style = if call.is_some() { cx.theme.accent } else { cx.theme.text };
            row.gap(1).cell(if *begins { "from" } else { "  in" }, 5, cx.theme.dim);
            row.cell(name, NAME, style).gap(1);
            row.cell(&format!("line {at}"), LINE, cx.theme.dim).gap(1);
            row.put(said, if call.is_some() { cx.theme.text } else { cx.theme.dim });
        });
    }
}
