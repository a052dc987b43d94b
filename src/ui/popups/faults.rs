//! The session's faults: what is armed, what has fired, and the way to a new one.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{FaultForm, Keys, Popup, Pressed, Reply, frame, pick::Pick};
use crate::domain::{Command, FaultId, FaultState, State, fault, words::counted};
use crate::ui::action::{Action, Layer};
use crate::ui::panes::row::Row;
use crate::ui::symbols::{INJECTED, WAITING};
use crate::ui::{
    cx::Cx, hits::Hits, keymap::Hint, request::World, text, view::View, window::Window,
};

/// The list of faults; its last row leads to a new one.
#[derive(Debug)]
pub struct Faults {
    /// What a new fault hits, to begin with.
    target: Option<fault::Target>,
    pick: Pick,
}

impl Faults {
    /// Starts at the last fault of what is selected, if it has one.
    pub fn new(live: &State, view: &View) -> Self {
        let first = || live.tools.keys().next().cloned().map(fault::Target::Tool);
        let target = view.fault_target(live).or_else(first);
        let of_it = |fault: &FaultState| Some(&fault.spec.target) == target.as_ref();
        let selected = live.faults.values().rposition(of_it).unwrap_or(live.faults.len());
        Self { target, pick: Pick { row: selected, ..Pick::default() } }
    }

    fn fault<'a>(&self, live: &'a State) -> Option<(FaultId, &'a FaultState)> {
        live.faults.iter().nth(self.pick.row).map(|(id, fault)| (*id, fault))
    }

    fn form(&self, of: Option<(FaultId, &FaultState)>) -> Reply {
        Reply::Open(Box::new(match of {
            Some((id, fault)) => FaultForm::change(id, fault),
            None => FaultForm::new(self.target.as_ref()),
        }))
    }
}

impl Popup for Faults {
    fn keys(&self) -> Keys {
        const HINTS: &[Hint] = &[
            (&[Action::Add], "new"),
            (&[Action::Toggle], "arm or disarm"),
            (&[Action::Edit], "change"),
            (&[Action::Leave], "leave"),
        ];
        (Layer::List, HINTS)
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Accept | Action::Toggle) => self.click(self.pick.row, world, view),
            Some(Action::Add) => self.form(None),
            Some(Action::Edit) => self.form(self.fault(world.live)),
            _ => self.pick.key(pressed, world.live.faults.len() + 1),
        }
    }

    /// Arms or disarms what the row says; the last row opens the form.
    fn click(&mut self, row: usize, world: &World<'_>, _: &mut View) -> Reply {
        self.pick.row = row;
        match self.fault(world.live) {
            Some((fault, of)) if of.armed => Reply::Keep(Command::DisarmFault { fault }),
            Some((fault, _)) => Reply::Keep(Command::RearmFault { fault }),
            None => self.form(None),
        }
    }

    fn window(&mut self) -> Option<&mut Window> {
        Some(&mut self.pick.window)
    }

    fn prepare(&mut self, cx: &Cx<'_>, area: Rect) {
        let total = cx.live.faults.len() + 1;
        self.pick.fit(total, height(total).min(area.height.saturating_sub(2).into()));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let faults = &cx.live.faults;
        let size = (84, height(faults.len() + 1));
        let inside = frame::open(cx, (area, buf, hits), "Faults", &self.legend(cx), size);
        self.pick.draw(cx, (inside, buf, hits), |i, line, buf| {
            let (label, style) = match faults.iter().nth(i) {
                Some((id, fault)) => {
                    let style = if fault.armed { cx.theme.injected } else { cx.theme.dim };
                    (row(*id, fault, usize::from(line.width)), style)
                }
                None => ("  + new fault".to_owned(), cx.theme.key),
            };
            Row::new(line, buf).put(&label, style);
        });
    }
}

/// Lines of the box for so many rows.
fn height(rows: usize) -> usize {
    rows.clamp(4, 20)
}

fn row(id: FaultId, fault: &FaultState, width: usize) -> String {
    let armed =
        if fault.armed { format!("{INJECTED} armed   ") } else { format!("{WAITING} disarmed") };
    let fired = format!("fired {} of {}", fault.fired, counted(fault.seen, "call"));
    let room = width.saturating_sub(fired.len() + 18);
    format!("{id:>3} {armed}  {} {fired}", text::fit(&fault.spec.to_string(), room))
}
