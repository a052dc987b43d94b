//! The session's faults: what is armed, what has fired, and the way to a new one.

use ratatui::{buffer::Buffer, crossterm::event::KeyCode, layout::Rect};

use super::{FaultForm, Popup, Reply, frame};
use crate::domain::{Command, FaultId, FaultState, State, fault};
use crate::ui::hits::{Hits, Target};
use crate::ui::pane::{Cx, Move};
use crate::ui::{key::Key, panes::format, text, update::ScreenRequest, view::View, vlist};

pub(super) const KEYS: &str = "a: new · space: arm or disarm · e: change · esc: leave";

/// The list of faults; its last row leads to a new one.
#[derive(Debug)]
pub struct Faults {
    /// What a new fault hits, to begin with.
    target: Option<fault::Target>,
    selected: usize,
}

impl Faults {
    /// Starts at the last fault of what is selected, if it has one.
    pub fn new(live: &State, view: &View) -> Self {
        let first = || live.tools.keys().next().cloned().map(fault::Target::Tool);
        let target = view.fault_target().or_else(first);
        let of_it = |fault: &FaultState| Some(&fault.spec.target) == target.as_ref();
        let selected = live.faults.values().rposition(of_it).unwrap_or(live.faults.len());
        Self { target, selected }
    }

    pub(super) fn key(&mut self, key: Key, live: &State) -> Reply {
        let rows = live.faults.len() + 1;
        let to = match key.code {
            KeyCode::Enter | KeyCode::Char(' ') => return self.click(self.selected, live),
            KeyCode::Char('a') => return self.form(None),
            KeyCode::Char('e') => return self.form(self.fault(live)),
            KeyCode::Up | KeyCode::Char('k') => Move::Up,
            KeyCode::Down | KeyCode::Char('j') => Move::Down,
            KeyCode::Home => Move::Top,
            KeyCode::End => Move::Bottom,
            _ => return Reply::Pass,
        };
        self.selected = vlist::moved(rows, Some(self.selected), to, 2).unwrap_or(0);
        Reply::Stay
    }

    fn fault<'a>(&self, live: &'a State) -> Option<(FaultId, &'a FaultState)> {
        live.faults.iter().nth(self.selected).map(|(id, fault)| (*id, fault))
    }

    fn form(&self, of: Option<(FaultId, &FaultState)>) -> Reply {
        Reply::Open(Popup::FaultForm(match of {
            Some((id, fault)) => FaultForm::change(id, fault),
            None => FaultForm::new(self.target.as_ref()),
        }))
    }

    /// Arms or disarms what the row says; the last row opens the form.
    pub(super) fn click(&mut self, row: usize, live: &State) -> Reply {
        self.selected = row;
        match self.fault(live) {
            Some((fault, FaultState { armed: true, .. })) => {
                Reply::Keep(vec![ScreenRequest::Send(Command::DisarmFault { fault })])
            }
            Some((fault, _)) => {
                Reply::Keep(vec![ScreenRequest::Send(Command::RearmFault { fault })])
            }
            None => self.form(None),
        }
    }

    pub(super) fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let faults = &cx.live.faults;
        let rows = faults.len() + 1;
        let size = (84, u16::try_from(rows).unwrap_or(u16::MAX).clamp(4, 20));
        let inside = frame::open(cx, (area, buf, hits), "Faults", KEYS, size);
        let selected = self.selected.min(rows - 1);
        let window =
            vlist::Window::default().next(rows, usize::from(inside.height), Some(selected));
        for (y, i) in (inside.y..).zip(window.range()) {
            let line = Rect { y, height: 1, ..inside };
            let width = usize::from(line.width);
            let (label, style) = match faults.iter().nth(i) {
                Some((id, fault)) if fault.armed => (row(*id, fault, width), cx.theme.injected),
                Some((id, fault)) => (row(*id, fault, width), cx.theme.dim),
                None => ("  + new fault (a)".to_owned(), cx.theme.key),
            };
            buf.set_stringn(line.x, y, label, width, style);
            if i == selected {
                buf.set_style(line, cx.theme.selection);
            }
            hits.add(line, Target::PopupRow(i));
        }
    }
}

fn row(id: FaultId, fault: &FaultState, width: usize) -> String {
    let armed = if fault.armed { "⚡ armed   " } else { "· disarmed" };
    let fired = format!("fired {} of {}", fault.fired, format::plural(fault.seen as usize, "call"));
    let room = width.saturating_sub(fired.len() + 18);
    format!("{id:>3} {armed}  {} {fired}", text::fit(&fault.spec.to_string(), room))
}
