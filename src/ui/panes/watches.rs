//! The watches: expressions, their values, and the curves of these.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::glyph;
use super::row::{Row, note};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::action::Action;
use crate::domain::State;
use crate::hits::{Hits, Target};
use crate::popups::WatchEntry;
use crate::request::ScreenRequest;
use crate::vlist::{self, List};
use crate::watch::{self, Watch};
use crate::{cx::Cx, pane::PaneId, view::Tone, view::View};

/// Columns of a curve.
const CURVE: usize = 24;
/// Columns of an expression before there is room for a curve.
const NAME: usize = 18;
/// Columns of a value.
const VALUE: usize = 12;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Watches,
    when: |_, view| !view.watches.is_empty(),
    most: |_, view| Some(view.watches.len().max(3)),
    title: |cx| Line::from(format!(" {}", cx.view.watches.len())),
    draw,
    list,
    filters: |_| Some("watch"),
    open: |_, view| match selected(view) {
        Some(_) => Opened::Act(Action::Edit),
        None => Opened::Act(Action::AddWatch),
    },
    why_not_remove: none,
    remove: |_, view| match selected(view) {
        Some(at) => {
            view.watches.remove(at);
            vec![ScreenRequest::SaveWatches]
        }
        None => Vec::new(),
    },
    why_not_adjust: none,
    edit: |_, view| match selected(view) {
        Some(at) => {
            let entry = WatchEntry::change(at, &view.watches[at]);
            view.open(entry)
        }
        None => Vec::new(),
    },
    turn: |world, view, _| {
        view.tell(world.live.at, Tone::Bad, "a watch has no steps: e edits it");
        Vec::new()
    },
    leave: |view| view.watch = None,
    keys: &[Action::AddWatch, Action::Remove],
    ..PLAIN
};

fn none(_: &State, view: &View) -> Option<&'static str> {
    view.watches.is_empty().then_some("no watch selected: W adds one")
}

fn selected(view: &View) -> Option<usize> {
    let last = view.watches.len().checked_sub(1)?;
    Some(view.watch.unwrap_or(0).min(last))
}

fn list<'a>(_: &'a State, view: &View) -> List<'a> {
    let texts: Vec<String> =
        view.watches.iter().map(|watch| watch.expression.text().to_owned()).collect();
    List::new(
        (texts.len(), selected(view)),
        Some,
        |row, view| view.watch = Some(row),
        move |row| texts.get(row).cloned().unwrap_or_default(),
    )
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.view.watches.is_empty() {
        return note(area, "no watches: W adds one, such as spent / budget", cx.theme.dim, buf);
    }
    let rows = (cx.view.watches.len(), selected(cx.view));
    vlist::draw(cx, SPEC.id, (area, buf, hits), rows, |i, row| {
        draw_one(cx, cx.view.watches.get(i)?, row);
        Some(Target::Watch(i))
    });
}

fn draw_one(cx: &Cx<'_>, watch: &Watch, row: &mut Row<'_>) {
    let curve = row.left().saturating_sub(NAME + VALUE + 2).min(CURVE);
    let name = row.left().saturating_sub(VALUE + curve + 2);
    row.cell(watch.expression.text(), name, cx.theme.text).gap(1);
    let (shown, style) = match watch::value(&watch.expression, cx.state) {
        Ok(answer) => (answer.shown(), cx.theme.accent),
        Err(why) => (why, cx.theme.dim),
    };
    row.cell(&shown, VALUE, style).gap(1);
    let values = watch.until(cx.state.n);
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    row.put(&glyph::spark(values, curve, (least, most)), cx.theme.dim);
}
