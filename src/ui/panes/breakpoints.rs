//! The breakpoints: where the agent stops, how often each was hit, and which one stopped the agent last.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::row::{Row, note};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::domain::breakpoint::Hits as HitCount;
use crate::domain::{BreakpointId, BreakpointState, Command, State, words::counted};
use crate::hits::{Hits, Target};
use crate::popups::BreakpointForm;
use crate::request::{Requests, World, send};
use crate::symbols::{CHOSEN, HELD, WAITING};
use crate::vlist::{self, List};
use crate::{cx::Cx, pane::PaneId, text, view::Tone, view::View};

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Breakpoints,
    when: |state, _| !state.breakpoints.is_empty(),
    most: |state, _| Some(state.breakpoints.len().max(3)),
    title,
    draw,
    list,
    filters: |_| Some("breakpoint"),
    open: |state, view| match selected(state, view) {
        Some(_) => Opened::Act(Action::Edit),
        None => Opened::Act(Action::AddBreakpoint),
    },
    why_not_remove: none,
    remove: |live, view| {
        let chosen = selected(live, view);
        chosen
            .map_or_else(Vec::new, |(breakpoint, _)| send(Command::DeleteBreakpoint { breakpoint }))
    },
    why_not_adjust: none,
    edit: |world, view| match selected(world.live, view) {
        Some((id, known)) => {
            let form = BreakpointForm::change(world.live, id, known);
            view.open(form)
        }
        None => Vec::new(),
    },
    turn,
    leave: |view| view.breakpoint = None,
    keys: &[Action::AddBreakpoint, Action::Switch, Action::Remove],
    ..PLAIN
};

fn none(state: &State, view: &View) -> Option<&'static str> {
    selected(state, view).is_none().then_some("no breakpoint is selected: B adds one")
}

/// The selected breakpoint, else the one that stopped the agent, else the first.
pub fn selected<'a>(state: &'a State, view: &View) -> Option<(BreakpointId, &'a BreakpointState)> {
    let stopped = state.control.stop.as_ref().map(|stop| stop.breakpoint);
    let wanted = [view.breakpoint, stopped, state.breakpoints.keys().next().copied()];
    let found = wanted.into_iter().flatten().find(|id| state.breakpoints.contains_key(id))?;
    state.breakpoints.get_key_value(&found).map(|(id, known)| (*id, known))
}

/// Raises or lowers the hit count by 1; without a count, every hit holds the agent.
fn turn(world: &World<'_>, view: &mut View, up: bool) -> Requests {
    let Some((id, known)) = selected(world.live, view) else { return Vec::new() };
    let by = |n: u32| if up { n.saturating_add(1) } else { n.saturating_sub(1) };
    let mut spec = known.spec.clone();
    spec.hits = match known.spec.hits {
        None if up => Some(HitCount::Exactly(2)),
        None => {
            view.tell(world.live.at, Tone::Bad, "every hit already counts: + sets a hit count");
            return Vec::new();
        }
        Some(HitCount::Exactly(n)) => Some(HitCount::Exactly(by(n))).filter(|_| by(n) > 1),
        Some(HitCount::MoreThan(n)) => Some(HitCount::MoreThan(by(n))).filter(|_| by(n) > 0),
        Some(HitCount::Every(n)) => Some(HitCount::Every(by(n))).filter(|_| by(n) > 1),
    };
    send(Command::SetBreakpoint { breakpoint: Some(id), spec: Box::new(spec), on: known.on })
}

fn title(cx: &Cx<'_>) -> Line<'static> {
    let all = &cx.state.breakpoints;
    let off = all.values().filter(|known| !known.on).count();
    let off = if off > 0 { format!(" · {off} off") } else { String::new() };
    Line::from(format!(" {}{off}", all.len()))
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let all = &state.breakpoints;
    let selected = selected(state, view).map(|(id, _)| id);
    let place = selected.and_then(|id| all.keys().position(|other| *other == id));
    List::new(
        (all.len(), place),
        |row| all.iter().nth(row),
        |(id, _), view| view.breakpoint = Some(*id),
        |(_, known)| known.spec.to_string(),
    )
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.breakpoints.is_empty() {
        return note(
            area,
            "no breakpoints: B adds one, b sets one on the selection",
            cx.theme.dim,
            buf,
        );
    }
    let rows = list(cx.state, cx.view).place;
    vlist::draw(cx, SPEC.id, (area, buf, hits), rows, |i, row| {
        let (id, known) = cx.state.breakpoints.iter().nth(i)?;
        draw_one(cx, *id, known, row);
        Some(Target::Breakpoint(*id))
    });
}

fn draw_one(cx: &Cx<'_>, id: BreakpointId, known: &BreakpointState, row: &mut Row<'_>) {
    let theme = cx.theme;
    let stopped = cx.state.control.stop.as_ref().is_some_and(|stop| stop.breakpoint == id);
    let (glyph, style) = match (stopped, known.on) {
        (true, _) => (HELD, theme.paused),
        (false, true) => (CHOSEN, theme.bad),
        (false, false) => (WAITING, theme.dim),
    };
    row.cell(glyph, 2, style).right(&id.to_string(), 3, theme.dim).gap(1);
    let counts = match (known.hits, known.stops) {
        (0, _) => "not hit".to_owned(),
        (hits, 0) => counted(hits as usize, "hit"),
        (hits, stops) => {
            format!("{}, {}", counted(hits as usize, "hit"), counted(stops as usize, "stop"))
        }
    };
    let width = row.left().saturating_sub(text::width(&counts) + 2);
    let style = if known.on { theme.text } else { theme.dim };
    row.cell(&known.spec.to_string(), width, style).gap(2).put(&counts, theme.dim);
}
