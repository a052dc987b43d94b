//! The session's faults: armed ones, fired ones, and a row for a new one.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{FaultForm, Popup, PopupKeys, Pressed, Reply, frame, pick::Pick};
use crate::action::{Action, KeyLayer};
use crate::domain::fault::Preset;
use crate::domain::{Command, FaultId, FaultSpec, FaultState, State, Target, words::counted};
use crate::panes::row::{self, Row};
use crate::papers::agent_verdict;
use crate::symbols::{INJECTED, WAITING};
use crate::{
    cx::Cx, hits::Hits, keymap::Hint, request::World, text, twin::TwinKind, view::View,
    window::Window,
};

/// Columns of the list.
const WIDTH: usize = 84;
/// Lines about the selected row.
const BELOW: usize = 4;

/// The list of faults; below them a row for a new one, and rows for preset faults.
#[derive(Debug)]
pub struct FaultList {
    /// The initial target of a new fault.
    target: Option<Target>,
    pick: Pick,
}

impl FaultList {
    /// Starts at the last fault on the selected target, else at the last armed one.
    pub fn new(live: &State, view: &View) -> Self {
        let first = || live.tools.keys().next().cloned().map(Target::Tool);
        let target = view.fault_target(live).or_else(first);
        let of_it = |fault: &FaultState| Some(&fault.spec.target) == target.as_ref();
        let find = |is: &dyn Fn(&FaultState) -> bool| live.faults.values().rposition(is);
        let selected = find(&of_it).or_else(|| find(&|fault| fault.armed));
        let selected = selected.unwrap_or(live.faults.len());
        Self { target, pick: Pick { row: selected, ..Pick::default() } }
    }

    fn fault<'a>(&self, live: &'a State) -> Option<(FaultId, &'a FaultState)> {
        live.faults.iter().nth(self.pick.row).map(|(id, fault)| (*id, fault))
    }

    fn form(&self, live: &State, of: Option<(FaultId, &FaultState)>) -> Reply {
        Reply::Open(Box::new(match of {
            Some((id, fault)) => FaultForm::change(live, id, fault),
            None => FaultForm::new(live, self.target.as_ref()),
        }))
    }

    /// The effect of the selected fault, and the agent's reaction; for a new fault, its effect if armed.
    fn about(&self, cx: &Cx<'_>) -> String {
        let live = cx.live;
        let Some((id, fault)) = self.fault(live) else {
            let preset = self.preset(live, self.pick.row).map(|spec| spec.sentence());
            return preset.unwrap_or_else(|| "any target, trigger and kind".to_owned());
        };
        let twin = cx.view.twin.as_ref().filter(|twin| twin.kind == TwinKind::Unbroken);
        let without = twin.map(|twin| twin.laps.as_slice());
        match agent_verdict::verdict(live, (id, fault), &live.laps_with_current(), without) {
            Some(verdict) => verdict,
            // No agent has seen hits of calls made by a person.
            None if fault.fired > 0 => fault.spec.sentence(),
            None => format!("{}; no hits yet", fault.spec.sentence()),
        }
    }

    /// The preset fault that a row below the list arms.
    fn preset(&self, live: &State, row: usize) -> Option<FaultSpec> {
        let at = row.checked_sub(live.faults.len() + 1)?;
        Preset::ALL.get(at)?.spec(live.favourite())
    }
}

impl Popup for FaultList {
    fn keys(&self) -> PopupKeys {
        const HINTS: &[Hint] = &[
            (&[Action::Add], "new"),
            (&[Action::Toggle], "arm or disarm"),
            (&[Action::Edit], "change"),
            (&[Action::Leave], "leave"),
        ];
        (KeyLayer::List, HINTS)
    }

    fn key(&mut self, pressed: Pressed, world: &World<'_>, view: &mut View) -> Reply {
        match pressed.action {
            Some(Action::Accept | Action::Toggle) => self.click(self.pick.row, world, view),
            Some(Action::Add) => self.form(world.live, None),
            Some(Action::Edit) => self.form(world.live, self.fault(world.live)),
            _ => self.pick.key(pressed, rows(world.live)),
        }
    }

    /// Arms or disarms the fault of this row, or opens the form.
    fn click(&mut self, row: usize, world: &World<'_>, _: &mut View) -> Reply {
        self.pick.row = row;
        match self.fault(world.live) {
            Some((fault, of)) if of.armed => Reply::Keep(Command::DisarmFault { fault }),
            Some((fault, _)) => Reply::Keep(Command::RearmFault { fault }),
            None => match self.preset(world.live, row) {
                Some(spec) => Reply::Keep(Command::ArmFault { spec }),
                None => self.form(world.live, None),
            },
        }
    }

    fn window(&mut self) -> Option<&mut Window> {
        Some(&mut self.pick.window)
    }

    fn prepare(&mut self, cx: &Cx<'_>, area: Rect) {
        let total = rows(cx.live);
        self.pick.fit(total, height(total).min(room(area)));
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
        let faults = &cx.live.faults;
        let shown = height(rows(cx.live)).min(room(area));
        let size = (WIDTH, shown + 1 + BELOW);
        let inside = frame::open(cx, (area, buf, hits), "Faults", &self.legend(cx), size);
        let (list, below) = row::split(inside, u16::try_from(shown).unwrap_or(u16::MAX));
        let said = self.about(cx);
        let lines = text::wrap(&said, usize::from(inside.width));
        row::lines(row::split(below, 1).1, lines, cx.theme.dim, buf);
        self.pick.draw(cx, (list, buf, hits), |i, line, buf| {
            let (label, style) = match faults.iter().nth(i) {
                Some((id, fault)) => {
                    let style = if fault.armed { cx.theme.injected } else { cx.theme.dim };
                    (line_of(*id, fault, usize::from(line.width)), style)
                }
                None if i == faults.len() => ("  + new fault".to_owned(), cx.theme.key),
                None => {
                    let preset = Preset::ALL[i - faults.len() - 1];
                    let what = self.preset(cx.live, i).map(|spec| spec.to_string());
                    let what = what.unwrap_or_else(|| "no tools".to_owned());
                    (format!("  + {:<21} {what}", preset.name()), cx.theme.key)
                }
            };
            Row::new(line, buf).put(&label, style);
        });
    }
}

/// The number of rows: faults, the new one, and presets.
fn rows(live: &State) -> usize {
    live.faults.len() + 1 + Preset::ALL.len()
}

/// Lines of the box for this many rows.
fn height(rows: usize) -> usize {
    rows.clamp(4, 20)
}

/// Lines for the rows on a screen of this size.
fn room(area: Rect) -> usize {
    usize::from(area.height).saturating_sub(BELOW + 3).max(1)
}

fn line_of(id: FaultId, fault: &FaultState, width: usize) -> String {
    let armed =
        if fault.armed { format!("{INJECTED} armed   ") } else { format!("{WAITING} disarmed") };
    let hit = format!("hit {} of {}", fault.fired, counted(fault.seen, "call"));
    let room = width.saturating_sub(hit.len() + 18);
    format!("{id:>3} {armed}  {} {hit}", text::fit(&fault.spec.to_string(), room))
}
