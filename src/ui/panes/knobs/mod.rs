//! The knobs that can be turned during a run: the meaning of each, its place in its range, its default, and when a
//! change takes effect.

mod groups;
mod preview;
mod rows;
mod sweep;

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use self::groups::listed;
use self::rows::{draw_knob, effective, is_changed};
use super::row::{self, split};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::change;
use crate::domain::knob::KNOBS;
use crate::domain::{Matter, State};
use crate::hits::{Hits, Target};
use crate::request::{Requests, ScreenRequest, World};
use crate::strategy::preview::Preview;
use crate::vlist::{self, List};
use crate::{action::Action, text, view::View};
use crate::{cx::Cx, pane::PaneId, window::Move};

/// Below this height the list needs every line.
const WITH_DOC: u16 = 7;
/// The most lines about the selected knob.
const DOC: usize = 5;
/// From this width on the preview stands beside the list.
const WIDE: u16 = 72;
/// The least and the most columns of the list beside the preview.
const LIST: (u16, u16) = (36, 46);
/// The most lines of a preview below the list, and the least lines of the list above it.
const BELOW: (u16, u16) = (5, 4);
/// The lines of a sweep below the list: its head, a sentence and the keys of two lines each, and the heights.
const SWEEP: u16 = 6;
/// Below this height, a preview beside the list leaves its room to a sweep.
const LOW: u16 = 12;
/// From this width on preview and sweep stand beside each other.
const BOTH: u16 = 76;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Knobs,
    // Few knobs act on a watched agent: its key finds them.
    when: |state, _| state.watched.is_none(),
    most: |state, view| Some(listed(state, view).len() + 3),
    title,
    draw,
    list,
    filters: |_| Some("knob"),
    go,
    open,
    why_not_remove,
    remove,
    why_not_adjust: |state, view| state.cannot(Matter::Knob(view.knob())),
    edit: |world, view| change::set_knob(world.live, view),
    turn,
    keys: &[Action::Less, Action::More, Action::Sweep, Action::NextView, Action::Learning],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let changed = KNOBS.iter().filter(|spec| is_changed(cx.state, spec)).count();
    match changed {
        0 => Line::default(),
        n => Line::from(format!(" · {n} changed")),
    }
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let all = listed(state, view);
    let selected = all.iter().position(|row| row.spec.knob == view.knob());
    List::new(
        (all.len(), selected),
        move |row| all.get(row).map(|row| row.spec),
        |spec, view| view.knob = Some(spec.knob),
        |spec| format!("{}\n{}", spec.name, spec.doc),
    )
}

/// Opens an entry for any value, or for the better value that a sweep has found.
fn open(state: &State, view: &View) -> Opened {
    let better = view.read_only.is_none() && change::best(state, view).is_some();
    Opened::Act(if better { Action::UseBest } else { Action::Edit })
}

fn sweeps(view: &View) -> bool {
    view.sweep.as_ref().is_some_and(|sweep| !sweep.over)
}

fn why_not_remove(state: &State, view: &View) -> Option<&'static str> {
    if sweeps(view) { None } else { (PLAIN.why_not_remove)(state, view) }
}

fn remove(live: &State, view: &mut View) -> Requests {
    if sweeps(view) { vec![ScreenRequest::EndSweep] } else { change::cancel(live, view) }
}

/// Shows the preview of one step less on the left key, and of one step more on the right key.
fn go(_: &State, view: &mut View, to: Move) -> bool {
    match to {
        Move::Left => view.ahead.is_less = true,
        Move::Right => view.ahead.is_less = false,
        _ => return false,
    }
    true
}

/// Turns the knob; the preview follows in the same direction.
fn turn(_: &World<'_>, view: &mut View, up: bool) -> Requests {
    view.ahead.is_less = !up;
    change::turn(view.knob(), if up { 1 } else { -1 })
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let acts = cx.state.cannot(Matter::Knob(cx.view.knob())).is_none();
    let Some(ahead) = cx.view.ahead.preview().filter(|_| acts) else {
        return draw_list(cx, area, buf, hits);
    };
    if area.width >= WIDE {
        let width = (area.width * 2 / 5).clamp(LIST.0, LIST.1);
        let list = Rect { width, ..area };
        draw_list(cx, list, buf, hits);
        let beside = Rect { x: list.right() + 2, width: area.width - width - 2, ..area };
        return draw_beside(cx, ahead, beside, buf);
    }
    let sweep = cx.view.sweep.as_ref().filter(|sweep| sweep.scope.knob == cx.view.knob());
    let last = if sweep.is_some() { SWEEP } else { 0 };
    let room = if cx.focused { area.height.saturating_sub(BELOW.1) } else { 0 };
    let (list, below) = split(area, area.height - room.min(BELOW.0 + last));
    draw_list(cx, list, buf, hits);
    let (above, last) = split(below, below.height.saturating_sub(last).max(2));
    preview::draw_below(cx, ahead, above, buf);
    if let Some(sweep) = sweep.filter(|_| !last.is_empty()) {
        sweep::draw_below(cx, sweep, last, buf);
    }
}

/// Draws the preview, and the sweep beside or below it.
fn draw_beside(cx: &Cx<'_>, ahead: &Preview, area: Rect, buf: &mut Buffer) {
    let Some(sweep) = &cx.view.sweep else { return preview::draw(cx, ahead, area, buf) };
    if area.height < LOW {
        let (above, below) = split(area, 2);
        preview::draw_below(cx, ahead, above, buf);
        return sweep::draw_below(cx, sweep, below, buf);
    }
    if area.width >= BOTH {
        let width = area.width / 2 - 1;
        preview::draw(cx, ahead, Rect { width, ..area }, buf);
        let right = Rect { x: area.x + width + 2, width: area.width - width - 2, ..area };
        return sweep::draw(cx, sweep, right, buf);
    }
    let rows = (area.height * 3 / 5).clamp(area.height.min(6), area.height.min(16));
    let (above, below) = split(area, area.height - rows);
    preview::draw(cx, ahead, split(above, above.height.saturating_sub(1)).0, buf);
    sweep::draw(cx, sweep, below, buf);
}

fn draw_list(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let all = listed(cx.state, cx.view);
    let mut doc: Vec<String> = text::wrap(&doc(cx), usize::from(area.width)).take(DOC).collect();
    let more = KNOBS.len() - all.len();
    if more > 0 && cx.state.watched.is_none() {
        doc.push(cx.keymap.fill(&format!("{more} more: <key:next-view> lists all")).into_owned());
    }
    // The line above the description is empty.
    let is_low = area.height < WITH_DOC && usize::from(area.height) < all.len() + 2;
    let below = if is_low { 0 } else { doc.len() as u16 + 1 };
    let (list, below) = split(area, area.height - below.min(area.height / 2));
    let rows = self::list(cx.state, cx.view).place;
    vlist::draw(cx, SPEC.id, (list, buf, hits), rows, |i, row| {
        let knob = all.get(i)?;
        let is_first = i == 0 || all[i - 1].group != knob.group;
        draw_knob(cx, if is_first { knob.group } else { "" }, knob.spec, row);
        Some(Target::Knob(knob.spec.knob))
    });
    row::lines(split(below, 1).1, doc, cx.theme.dim, buf);
}

fn doc(cx: &Cx<'_>) -> String {
    let spec = cx.view.knob().spec();
    format!(
        "{}: {}. Takes {}; default {}; takes effect {}.",
        spec.name,
        spec.doc,
        spec.range(),
        spec.show(spec.default),
        effective(spec.takes).1,
    )
}
